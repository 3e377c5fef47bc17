/* `glslines segment`: finds bundles by a table of rules. The first pass decides which streamlines belong to which
 * bundle, the second pass writes the tractogram, a file for each bundle, and tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/select.h>
#include <glslines/bundles.h>
#include <glslines/filters.h>

#include "image/reorient.h"
#include "tools/bundle_files.h"
#include "tools/chain.h"
#include "tools/streamline_weights.h"
#include "tools/tract_results.h"
#include "tools/writer.h"
#include "tracts/bundle_summary.h"
#include "tracts/shape.h"
#include "util/status.h"
#include "util/text.h"

/* --- The two passes over the streamlines. */

/* State of `glslines segment`. */
typedef struct segmentation {
    /* files, sidecar and message of the command */
    gls_tract_run *run;
    const gls_segment_cli *o;
    /* path of the tractogram */
    const char *tracks;
    /* the bundles: their rules, members and nodes */
    gls_bundles *bundles;
    /* number of bundles */
    size_t n;
    /* whether a grid is known, on which volumes are measured */
    bool has_grid;
    /* grid of the volumes */
    gls_grid grid;
    gls_bundle_stats **volume; /* one for each bundle; NULL: no grid, or no --table */
    /* number of flipped streamlines of each bundle, for dpg */
    uint32_t *turned;
    /* the numbers of flipped streamlines as a value of each group, n_flipped */
    gls_group_data *dpg;
    const gls_column **group; /* for each bundle, the column that says which streamlines of a batch are members */
    gls_bundle_files files;
    uint64_t recognized;     /* streamlines in any bundle */
    gls_filter_counts valid; /* with --invalid drop, of each pass */
} segmentation;

/* Adds --invalid in front of a sink, which it takes: so both passes count the same streamlines. */
static gls_status drop_invalid(segmentation *s, gls_sink *sink)
{
    const gls_sink next = *sink;
    return s->o->invalid ? gls_filter_valid_create(&s->valid, &next, sink) : GLS_OK;
}

/* First pass: reads the rules and decides which streamlines belong to which bundle. */
static gls_status collect(segmentation *s, const char *rules)
{
    gls_bundles_options options = gls_bundles_options_default();
    gls_tractogram_reader *reader = NULL;
    const gls_segment_cli *o = s->o;
    gls_tract_weights weights = {0};
    gls_transform space;
    gls_grid grid;
    gls_status status = gls_chain_read(s->run, &o->transform, &space);
    if (!status) status = gls_tract_weights_open(&weights, o->weights, s->run, s->tracks, false);
    if (!status && s->run->options.reference) {
        status = gls_grid_read(s->run->options.reference, &grid);
        /* Rules may name tractograms as regions; these are turned into masks on this grid. Images keep their own
         * grids. */
        options.grid = &grid;
    }
    options.weights = weights.column;
    options.folder = o->folder;
    options.unique = o->unique;
    options.clean = o->clean;
    options.cleaning = (gls_clean_options){o->clean_distance, o->clean_length_z, o->clean_rounds,
                                           o->clean_min,      o->clean_core,     o->clean_length};
    if (!status) status = gls_tract_bundles_read(s->run, rules, &options, &space, &s->bundles);
    gls_transform_finish(&space);
    if (!status) status = gls_tract_open(s->run, s->tracks, o->invalid, &reader);
    gls_sink sink = {0};
    if (!status) sink = gls_bundles_sink(s->bundles);
    if (!status) status = drop_invalid(s, &sink);
    if (!status) status = gls_tract_weights_sink(&weights, gls_tractogram_reader_info(reader), s->tracks, &sink);
    status = gls_tract_pump(s->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    gls_tract_weights_close(&weights);
    return status ? status : gls_bundles_complete(s->bundles);
}

/* Counts streamlines in any bundle, and adds members to the volume of their bundles. */
static gls_status add_up(void *user, const gls_streamlines *in)
{
    segmentation *s = user;
    gls_status status = GLS_OK;
    /* groups are looked up once for a batch */
    for (size_t k = 0; k < s->n; k++) s->group[k] = gls_column_find(in->group, in->n_groups, s->dpg[k].group);
    for (size_t i = 0; i < in->n && !status; i++) {
        bool any = false;
        for (size_t k = 0; k < s->n && !status; k++) {
            if (!gls_column_value(s->group[k], i)) continue;
            any = true;
            if (s->volume)
                status = gls_bundle_stats_add(s->volume[k], in->point + in->offset[i],
                                              (size_t)(in->offset[i + 1] - in->offset[i]), 1);
        }
        s->recognized += any;
    }
    return status;
}

/* Chooses the grid, and makes what the second pass needs for each bundle. */
static gls_status prepare(segmentation *s, const gls_tractogram_info *info)
{
    gls_status status = GLS_OK;
    s->n = gls_bundles_count(s->bundles);
    s->has_grid = info->has_grid || s->run->options.reference;
    /* the output for which a grid is chosen; NULL: none */
    const char *needs = s->o->output ? s->o->output : s->o->each;
    if (s->has_grid || needs)
        status = gls_tract_grid_choose(s->run, s->tracks, info, needs ? needs : "the volume", &s->grid);
    s->turned = calloc(s->n, sizeof *s->turned);
    s->dpg = calloc(s->n, sizeof *s->dpg);
    s->group = calloc(s->n, sizeof *s->group);
    if (s->has_grid && s->o->table) s->volume = calloc(s->n, sizeof *s->volume);
    if (!s->turned || !s->dpg || !s->group || (s->has_grid && s->o->table && !s->volume)) return gls_no_memory();
    for (size_t k = 0; k < s->n && !status; k++) {
        gls_bundle_info b = gls_bundles_get(s->bundles, k);
        s->turned[k] = (uint32_t)b.turned;
        s->dpg[k] = (gls_group_data){b.name, {"n_flipped", GLS_TYPE_UINT32, 1, &s->turned[k]}};
        if (s->volume) status = gls_bundle_stats_create(&s->grid, 0, &s->volume[k]);
    }
    return status;
}

/* Makes the files of the bundles that have streamlines. */
static gls_status open_files(segmentation *s, const gls_tractogram_info *info)
{
    const char **name = malloc((s->n + 1) * sizeof *name);
    size_t n = 0;
    if (!name) return gls_no_memory();
    for (size_t k = 0; k < s->n; k++) {
        const gls_bundle_info bundle = gls_bundles_get(s->bundles, k);
        if (bundle.count > 0) name[n++] = bundle.name;
    }
    gls_status status = gls_bundle_files_create(s->run, s->o->each, name, n, &s->grid, info, &s->files);
    free(name);
    return status;
}

/* Second pass: writes the tractogram and the file of each bundle, and counts streamlines and volumes. */
static gls_status write(segmentation *s)
{
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0}, *all = NULL;
    gls_filter_counts valid;
    size_t n = 0;
    gls_status status = gls_tract_open(s->run, s->tracks, s->o->invalid, &reader);
    const gls_tractogram_info *info = status ? NULL : gls_tractogram_reader_info(reader);
    if (!status) status = prepare(s, info);
    if (!status && !(all = calloc(s->n + 2, sizeof *all))) status = gls_no_memory();
    if (!status && s->o->each) status = open_files(s, info);
    for (size_t k = 0; k < s->files.n && !status; k++) all[n++] = s->files.sink[k];
    if (!status && s->o->output) {
        gls_tract_output output = {.path = s->o->output, .grid = &s->grid, .info = info, .dpg = s->dpg, .n_dpg = s->n};
        status = gls_tract_writer_create(s->run, &output, &all[n]);
        gls_sink next = all[n];
        if (!status) status = gls_filter_valid_create(&valid, &next, &all[n]);
        n += !status;
    }
    if (!status) all[n++] = (gls_sink){.append = add_up, .user = s};
    if (!status) status = gls_sink_tee(all, n, &sink);
    for (size_t k = 0; k < n && status; k++) gls_sink_abort(&all[k]);
    gls_sink next = sink;
    /* the filter flips members and adds groups; all outputs receive the streamlines that the filter passes on */
    if (!status)
        status = gls_bundles_filter(s->bundles, s->o->keep_all ? GLS_BUNDLES_REST_KEPT : GLS_BUNDLES_REST_DROPPED,
                                    &next, &sink);
    if (!status) status = drop_invalid(s, &sink);
    status = gls_tract_pump(s->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    free(all);
    return status;
}

/* Writes --table. The volume is NaN without a grid. */
static gls_status write_table(segmentation *s)
{
    if (!s->o->table) return GLS_OK;
    double *volume = malloc(s->n * sizeof *volume);
    if (!volume) return gls_no_memory();
    for (size_t k = 0; k < s->n; k++) volume[k] = s->volume ? gls_bundle_stats_shape(s->volume[k]).volume : 0.0 / 0.0;
    gls_status status =
        gls_bundle_table_write(s->bundles, volume, s->o->table, s->run->files.force, &s->run->files.group);
    free(volume);
    return status;
}

/* Writes the table of --counts. */
static gls_status write_counts(const segmentation *s)
{
    const size_t n = gls_bundles_count(s->bundles);
    gls_bundle_count *bundle = malloc((n + 1) * sizeof *bundle);
    if (!bundle) return gls_no_memory();
    for (size_t k = 0; k < n; k++) {
        const gls_bundle_info info = gls_bundles_get(s->bundles, k);
        bundle[k] = (gls_bundle_count){info.name, info.count};
    }
    gls_status status = gls_bundle_counts_write(s->run, s->o->counts, bundle, n, s->recognized);
    free(bundle);
    return status;
}

gls_status gls_tract_segment(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_segment_cli *o = options;
    segmentation s = {.run = run, .o = o, .tracks = file[0]};
    if (!o->output && !o->table && !o->each && !o->counts)
        return gls_fail(GLS_ERR_ARGUMENT, "segment: needs an output: --output, --table, --each or --counts");
    gls_status status = gls_bundle_files_check(o->each);
    if (!status) status = gls_tract_run_reads_all(run, file, n);
    if (!status)
        status = gls_tract_run_reads_all(run, GLS_PATHS(run->options.reference, gls_tract_weights_file(o->weights)));
    if (!status) status = gls_chain_note(run, &o->transform);
    if (!status) status = gls_tract_run_writes(run, o->output);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->table, o->counts));
    /* two passes: collect() finds the bundles of each streamline, write() writes the streamlines */
    if (!status) status = collect(&s, file[1]);
    if (!status) status = write(&s);
    if (!status) status = write_table(&s);
    if (!status && o->counts) status = write_counts(&s);
    /* counts of bundles for the sidecar */
    uint64_t members = 0, empty = 0;
    for (size_t k = 0; k < s.n && !status; k++) {
        gls_bundle_info b = gls_bundles_get(s.bundles, k);
        members += b.count;
        empty += b.count == 0;
        gls_tract_run_count(run, b.name, b.count);
    }
    if (!status) {
        uint64_t total = gls_bundles_streamlines(s.bundles);
        if (o->invalid) gls_tract_run_count(run, "invalid", s.valid.taken - s.valid.kept);
        gls_tract_run_count(run, "read", total);
        /* if all bundles are empty, the regions are probably in another space */
        if (empty == s.n && total > 0)
            gls_log(GLS_LOG_WARNING,
                    "%s: no bundle has a streamline: are its regions in the space of %s? --transform brings those of a "
                    "template",
                    file[1], file[0]);
        gls_tract_run_message(run, "%s: %" PRIu64 " streamlines in %zu bundles, %" PRIu64 " of them empty",
                              run->files.n_outputs > 0 ? run->files.output[0] : o->each, members, s.n, empty);
    }
    for (size_t k = 0; s.volume && k < s.n; k++) gls_bundle_stats_destroy(s.volume[k]);
    gls_bundle_files_finish(&s.files);
    gls_bundles_destroy(s.bundles);
    free(s.volume);
    free(s.turned);
    free(s.dpg);
    free(s.group);
    return status;
}
