/* `glslines recognize`: finds the bundles of atlases. One pass over each model, one over the tractogram, and one that
 * writes. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>
#include <glslines/recognition.h>

#include "geometry/atlas.h"
#include "geometry/recognition_table.h"
#include "tools/bundle_files.h"
#include "tools/chain.h"
#include "tools/matrix_file.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "util/numbers.h"
#include "util/status.h"

/* State of `glslines recognize`. */
typedef struct recognising {
    gls_tract_run *run;
    const gls_recognize_cli *o;
    const char *tracks, *atlas_path;
    gls_atlas atlas;
    double map[3][4];    /* of --atlas-transform */
    gls_transform space; /* of --transform */
    gls_recognition *recognition;
    gls_bundle_files files;
} recognising;

/* Reads --atlas-transform. */
static gls_status read_map(recognising *r)
{
    const gls_recognize_cli *o = r->o;
    if (o->invert && !o->atlas_transform) return gls_fail(GLS_ERR_ARGUMENT, "--invert: needs --atlas-transform");
    if (o->transform.n > 0 && o->atlas_transform)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--transform and --atlas-transform exclude each other: leave out one of them");
    gls_status status = gls_chain_read(r->run, &o->transform, &r->space);
    if (status) return status;
    return o->atlas_transform ? gls_matrix_file_read(o->atlas_transform, o->invert, r->map) : GLS_OK;
}

/* Reads the models with the options of reading of the run. */
static gls_status read_models(recognising *r)
{
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    gls_grid reference;
    gls_status status = gls_tract_read_options(&r->run->options, &options, &reference);
    const double(*map)[4] = r->o->atlas_transform ? (const double(*)[4])r->map : NULL;
    return status ? status : gls_atlas_read(&r->atlas, &options, map, &r->space, r->recognition);
}

/* Reads models and the tractogram, and recognises. */
static gls_status collect(recognising *r)
{
    const gls_recognize_cli *o = r->o;
    gls_recognition_options options = gls_recognition_options_default();
    gls_tractogram_reader *reader = NULL;
    options.method = (gls_recognition_method)o->method;
    options.refine = o->refine;
    options.min_length = o->min_length;
    options.cluster = o->clust_thr;
    options.model_cluster = o->model_clust_thr;
    options.reduction = o->reduction_thr;
    options.vote_ratio = o->vote_ratio;
    options.local = !o->no_local;
    options.unique = o->unique;
    options.seed = o->seed;
    gls_status status = gls_atlas_list(r->atlas_path, o->config, o->threshold, &r->atlas);
    if (!status) status = gls_recognition_create(&options, &r->recognition);
    if (!status) status = read_models(r);
    if (!status) status = gls_tract_open(r->run, r->tracks, false, &reader);
    gls_sink sink = {0};
    if (!status) sink = gls_recognition_sink(r->recognition);
    status = gls_tract_pump(r->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    if (!status) status = gls_recognition_complete(r->recognition);
    return status ? status : gls_atlas_check(r->recognition, r->atlas_path, r->tracks);
}

/* --- Output. */

/* Whether a group of the input has the name of a bundle, or of the group of all streamlines without one. */
static bool replaces_groups(const gls_recognition *r, const gls_tractogram_info *info)
{
    bool found = gls_column_find(info->group, info->n_groups, GLS_GROUP_UNRECOGNIZED) != NULL;
    for (size_t k = 0; k < gls_recognition_bundles(r) && !found; k++)
        found = gls_column_find(info->group, info->n_groups, gls_recognition_bundle(r, k).name) != NULL;
    return found;
}

/* Makes a sink for --output. */
static gls_status create_output(recognising *r, const gls_grid *grid, const gls_tractogram_info *info, gls_sink *sink)
{
    gls_tract_output output = {
        .path = r->o->output,
        .grid = grid,
        .info = info,
        .added = {GLS_DPS_BUNDLE, GLS_DPS_BUNDLE_DISTANCE, GLS_DPS_BUNDLE_VOTES, GLS_DPS_BUNDLE_MARGIN},
        .drops_group_data = r->o->recognized_only || replaces_groups(r->recognition, info)};
    gls_status status = gls_tract_writer_create(r->run, &output, sink);
    if (status) return status;
    const gls_sink next = *sink;
    const gls_bundles_rest rest = r->o->recognized_only ? GLS_BUNDLES_REST_DROPPED : GLS_BUNDLES_REST_KEPT;
    status = gls_recognition_filter(r->recognition, rest, &next, sink);
    if (status) gls_sink_abort(sink);
    return status;
}

/* Makes a sink for the files of --each. */
static gls_status create_each(recognising *r, const gls_grid *grid, const gls_tractogram_info *info, gls_sink *sink)
{
    const size_t n = gls_recognition_bundles(r->recognition);
    const char **name = malloc((n + 1) * sizeof *name);
    size_t found = 0;
    if (!name) return gls_no_memory();
    for (size_t k = 0; k < n; k++) {
        const gls_recognized b = gls_recognition_bundle(r->recognition, k);
        if (b.count > 0) name[found++] = b.name;
    }
    gls_status status = gls_bundle_files_create(r->run, r->o->each, name, found, grid, info, &r->files);
    free(name);
    if (status) return status;
    status = gls_sink_tee(r->files.sink, r->files.n, sink);
    for (size_t k = 0; k < r->files.n && status; k++) gls_sink_abort(&r->files.sink[k]);
    if (status) return status;
    const gls_sink next = *sink;
    status = gls_recognition_filter(r->recognition, GLS_BUNDLES_REST_DROPPED, &next, sink);
    if (status) gls_sink_abort(sink);
    return status;
}

/* Whether an output needs a grid. */
static gls_status needs_grid(const char *path, bool *needs)
{
    gls_tractogram_format format;
    if (!path) return GLS_OK;
    gls_status status = gls_tractogram_format_parse(path, &format);
    *needs = *needs || (!status && gls_tract_needs_grid(format));
    return status;
}

/* Writes the tractograms. */
static gls_status write(recognising *r)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink all[2] = {{0}}, sink = {0};
    size_t n = 0;
    gls_grid grid;
    bool needs = false;
    const char *path = r->o->output ? r->o->output : r->o->each;
    if (!path) return GLS_OK;
    gls_status status = gls_tract_open_again(r->run, r->tracks, &reader);
    const gls_tractogram_info *info = status ? NULL : gls_tractogram_reader_info(reader);
    if (!status) status = needs_grid(r->o->output, &needs);
    if (!status) status = needs_grid(r->o->each, &needs);
    if (!status && needs) status = gls_tract_grid_choose(r->run, r->tracks, info, path, &grid);
    const gls_grid *own = needs ? &grid : NULL;
    if (!status && r->o->output) {
        status = create_output(r, own, info, &all[n]);
        n += !status;
    }
    if (!status && r->o->each) {
        status = create_each(r, own, info, &all[n]);
        n += !status;
    }
    if (!status) status = gls_sink_tee(all, n, &sink);
    for (size_t k = 0; k < n && status; k++) gls_sink_abort(&all[k]);
    status = gls_tract_pump(r->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Writes the table of --counts. */
static gls_status write_counts(const recognising *r)
{
    const size_t n = gls_recognition_bundles(r->recognition);
    gls_bundle_count *bundle = malloc((n + 1) * sizeof *bundle);
    if (!bundle) return gls_no_memory();
    for (size_t k = 0; k < n; k++) {
        const gls_recognized b = gls_recognition_bundle(r->recognition, k);
        bundle[k] = (gls_bundle_count){b.name, b.count};
    }
    gls_status status = gls_bundle_counts_write(r->run, r->o->counts, bundle, n, gls_recognition_found(r->recognition));
    free(bundle);
    return status;
}

/* Adds counts to the sidecar, and says what was found. */
static void report(const recognising *r)
{
    const gls_recognition *all = r->recognition;
    const uint64_t n = gls_recognition_streamlines(all), found = gls_recognition_found(all);
    size_t empty = 0;
    gls_tract_run_count(r->run, "streamlines", n);
    gls_tract_run_count(r->run, "recognized", found);
    gls_tract_run_count(r->run, "in_several_bundles", gls_recognition_shared(all));
    for (size_t k = 0; k < gls_recognition_bundles(all); k++) {
        const gls_recognized b = gls_recognition_bundle(all, k);
        gls_tract_run_count(r->run, b.name, b.count);
        empty += b.count == 0;
    }
    gls_tract_run_message(r->run, "%s of %s streamlines in %zu bundle%s, %zu of them empty", GLS_COUNT(found),
                          GLS_COUNT(n), gls_recognition_bundles(all), gls_recognition_bundles(all) == 1 ? "" : "s",
                          empty);
}

gls_recognize_cli gls_recognize_cli_default(void)
{
    return (gls_recognize_cli){
#define ROW GLS_ROW_DEFAULT
#include "tools/recognize.def"
#undef ROW
    };
}

gls_status gls_tract_recognize(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_recognize_cli *o = options;
    recognising r = {.run = run, .o = o, .tracks = file[0], .atlas_path = file[1]};
    (void)n;
    if (!o->output && !o->each && !o->table && !o->counts)
        return gls_fail(GLS_ERR_ARGUMENT, "recognize: needs an output: --output, --each, --table or --counts");
    gls_status status = gls_bundle_files_check(o->each);
    if (!status)
        status = gls_tract_run_reads_all(
            run, GLS_PATHS(r.tracks, r.atlas_path, o->config, o->atlas_transform, run->options.reference));
    if (!status) status = gls_chain_note(run, &o->transform);
    if (!status) status = gls_tract_run_writes(run, o->output);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->table, o->counts));
    if (!status) status = read_map(&r);
    if (!status) status = collect(&r);
    if (!status) status = write(&r);
    if (!status && o->table)
        status = gls_recognition_table_write(r.recognition, o->table, run->files.force, &run->files.group);
    if (!status && o->counts) status = write_counts(&r);
    if (!status) report(&r);
    gls_bundle_files_finish(&r.files);
    gls_recognition_destroy(r.recognition);
    gls_atlas_finish(&r.atlas);
    gls_transform_finish(&r.space);
    return status;
}
