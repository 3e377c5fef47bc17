/* `glslines sample`: values of images along streamlines, as a table, as columns, or as a track scalar file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/density.h>
#include <glslines/filters.h>
#include <glslines/sample.h>

#include "tools/chain.h"
#include "tools/fixel_folder.h"
#include "tools/tract_results.h"
#include "tools/tsf.h"
#include "tools/writer.h"
#include "tractogram/tck.h"
#include "tracts/sample_set.h"
#include "util/status.h"

/* values of --like, in the order of its choices */
enum { LIKE_NONE, LIKE_MRTRIX, LIKE_DIPY };

/* State of `glslines sample`. */
typedef struct sampling {
    /* files, sidecar and message of the command */
    gls_tract_run *run;
    const gls_sample_cli *o;
    /* path of the tractogram */
    const char *tracks;
    const char *const *path; /* paths of images */
    size_t n_images;
    /* images, statistics and columns */
    gls_sample_set set;
    gls_transform transform; /* chain of --transform, empty without */
    /* numbers of points and streamlines that were sampled, and of those without a value */
    gls_sample_counts counts;
    gls_filter_counts copied; /* counts for --trx: taken: all streamlines; kept: those written */
    double *total;            /* length (mm) of all streamlines in each voxel, for --fraction */
    /* the table of --output */
    gls_sample_rows table;
} sampling;

/* Whether values are weighted by voxel, as in tcksample -precise. */
static bool is_precise(const gls_sample_cli *o)
{
    return o->like == LIKE_MRTRIX && o->by == GLS_SAMPLE_BY_VOXEL;
}

/* Takes the statistics that the options name; if they name none, but a table or a column needs one, the mean. */
static gls_status choose_stats(sampling *s)
{
    const gls_sample_cli *o = s->o;
    gls_sample_set *set = &s->set;
    gls_status status = gls_sample_set_choose(set, &o->stat);
    if (!status && set->n_stats == 0 && ((!o->to_dpv && !o->tsf) || o->output || o->to_dps))
        set->stat[set->n_stats++] = GLS_TRACK_MEAN;
    return status;
}

/* Reads the images, and names the columns of their values. */
static gls_status read_images(sampling *s)
{
    const gls_sample_names names = {s->o->to_dps, s->o->to_dpv};
    gls_status status = gls_sample_set_read(&s->set, s->path, s->n_images, &s->transform, s->o->nearest,
                                            s->o->to_dpv || s->o->tsf, &names);
    if (!status && s->o->tsf && s->set.image[0]->n_volumes > 1)
        status = gls_fail(GLS_ERR_ARGUMENT, "--tsf: %s has %zu volumes, but a track scalar file holds one", s->path[0],
                          s->set.image[0]->n_volumes);
    return status;
}

/* Makes a sink that writes a column as track scalars of the tractogram. GLS_ERR_INPUT: the tractogram is no TCK file,
 * or has no timestamp. */
static gls_status create_scalars(gls_tract_run *run, const char *path, const gls_tractogram_info *info,
                                 const char *column, gls_sink *sink)
{
    const char *stamp = NULL;
    for (size_t k = 0; k < info->n_header; k++)
        if (info->format == GLS_FORMAT_TCK && strcmp(info->header[k].key, "timestamp") == 0)
            stamp = info->header[k].value;
    if (!stamp || !*stamp || strchr(stamp, '\n') || strlen(stamp) >= GLS_TCK_STAMP)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: a track scalar file belongs to a TCK file with a timestamp, but the tractogram is no TCK "
                        "file or has no timestamp",
                        path);
    return gls_tract_tsf_create(run, path, stamp, column, 0, sink);
}

/* Makes the sinks behind the sampler: table, tractogram, track scalars. */
static gls_status create_outputs(sampling *s, const gls_tractogram_info *info, gls_sink *sink)
{
    gls_sink all[3];
    size_t n = 0;
    gls_grid grid;
    gls_status status = GLS_OK;
    /* the table of --output; all outputs are in one group and get their names together */
    if (s->o->output) {
        status = gls_sample_rows_begin(&s->table, &s->set, s->o->output, s->run->files.force, &s->run->files.group);
        if (!status) all[n++] = gls_sample_rows_sink(&s->table);
    }
    /* a tractogram with the samples as columns; streamlines without points or with a coordinate that is not finite are
     * left out of it */
    if (s->o->trx && !status) {
        gls_tract_output output = {.path = s->o->trx, .info = info};
        gls_tractogram_format format;
        status = gls_tractogram_format_parse(s->o->trx, &format);
        if (!status && (gls_tract_needs_grid(format) || info->has_grid || s->run->options.reference)) {
            status = gls_tract_grid_choose(s->run, s->tracks, info, s->o->trx, &grid);
            output.grid = &grid;
        }
        if (!status) status = gls_tract_writer_create(s->run, &output, &all[n]);
        if (!status) {
            const gls_sink next = all[n];
            status = gls_filter_valid_create(&s->copied, &next, &all[n]);
            n++;
        }
    }
    /* track scalars hold one column: that of the values at points, the last one */
    if (s->o->tsf && !status) {
        status = create_scalars(s->run, s->o->tsf, info, s->set.name[s->set.n_columns - 1], &all[n]);
        if (!status) n++;
    }
    /* all outputs receive the same batches */
    if (!status) status = gls_sink_tee(all, n, sink);
    for (size_t k = 0; k < n && status; k++) gls_sink_abort(&all[k]);
    return status;
}

/* Sums the length of all streamlines in each voxel, mm, in a first pass over the file; only with --fraction. Requires
 * all images on one grid. */
static gls_status measure_total(sampling *s)
{
    gls_density_options options = gls_density_options_default();
    gls_tractogram_reader *reader = NULL;
    gls_density *density = NULL;
    const gls_grid *grid = &s->set.image[0]->grid;
    if (!s->o->fraction) return GLS_OK;
    for (size_t i = 1; i < s->n_images; i++)
        if (memcmp(grid->dim, s->set.image[i]->grid.dim, sizeof grid->dim) != 0 ||
            memcmp(grid->affine, s->set.image[i]->grid.affine, sizeof grid->affine) != 0)
            return gls_fail(GLS_ERR_ARGUMENT, "--fraction: the grids of %s and %s differ: give images on one grid",
                            s->path[0], s->path[i]);
    /* use the mapping that passes through voxels as the sampler does */
    options.mapping = is_precise(s->o) ? GLS_DENSITY_PRECISE : GLS_DENSITY_LENGTH;
    s->total = malloc(gls_grid_voxels(grid) * sizeof *s->total);
    gls_status status = s->total ? gls_density_create(grid, &options, &density) : GLS_ERR_MEMORY;
    if (!s->total) return gls_fail(status, "out of memory for a map");
    if (!status) status = gls_tract_open(s->run, s->tracks, false, &reader);
    gls_sink sink = {0};
    if (!status) sink = gls_density_sink(density);
    status = gls_tract_pump(s->run, reader, &sink, status);
    if (!status) gls_density_get(density, s->total);
    gls_tractogram_reader_close(reader);
    gls_density_destroy(density);
    return status;
}

/* Samples all streamlines, on their way to table, columns or scalar file. */
static gls_status sample_all(sampling *s)
{
    gls_sample_options options = gls_sample_options_default();
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    options.nearest = s->o->nearest;
    options.edge = s->o->like == LIKE_DIPY ? GLS_EDGE_ZERO : (gls_sample_edge)s->o->edge;
    options.outside_zero = s->o->outside || s->o->like == LIKE_MRTRIX;
    options.keep_not_finite = s->o->like == LIKE_MRTRIX;
    options.total = s->total;
    options.weight = s->o->like == LIKE_DIPY ? GLS_SAMPLE_BY_POINT
                     : is_precise(s->o)      ? GLS_SAMPLE_BY_SPLINE
                                             : (gls_sample_weight)s->o->by;
    gls_status status = gls_tract_open(s->run, s->tracks, false, &reader);
    if (!status) status = create_outputs(s, gls_tractogram_reader_info(reader), &sink);
    gls_sink next = sink;
    if (!status) status = gls_filter_sample_create(s->set.column, s->set.n_columns, &options, &s->counts, &next, &sink);
    status = gls_tract_pump(s->run, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return gls_sample_rows_end(&s->table, status);
}

/* Brings the values of fixels to the points of all streamlines. */
static gls_status sample_fixels(sampling *s)
{
    const gls_sample_cli *o = s->o;
    const char *path = s->path[0], *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    gls_fixel_folder folder = {.n = 0};
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    float *value = NULL;
    s->set.name = calloc(1, sizeof *s->set.name);
    gls_status status = directory && s->set.name ? GLS_OK : gls_no_memory();
    if (!status) status = gls_fixel_folder_read(&folder, s->run, directory);
    if (!status) status = gls_fixel_folder_values(&folder, path, &value);
    if (!status && !(s->set.name[s->set.n_columns++] = strdup(o->to_dpv ? o->to_dpv : "fixel")))
        status = gls_no_memory();
    if (!status) status = gls_tract_open(s->run, s->tracks, false, &reader);
    if (!status) status = create_outputs(s, gls_tractogram_reader_info(reader), &sink);
    const gls_sink next = sink;
    if (!status) status = gls_fixel_filter(&folder, value, o->angle, s->set.name[0], &next, &sink);
    status = gls_tract_pump(s->run, reader, &sink, status);
    if (!status) gls_tract_run_message(s->run, "%s: values of %zu fixels at points", s->tracks, folder.n);
    gls_tractogram_reader_close(reader);
    gls_fixel_folder_finish(&folder);
    free(value);
    free(directory);
    return status;
}

/* Checks options beside --fixels. */
static gls_status check_fixels(const gls_sample_cli *o, size_t n_images)
{
    if (!o->fixels) return GLS_OK;
    if (n_images > 1) return gls_fail(GLS_ERR_ARGUMENT, "--fixels: takes one IMAGE, but %zu were given", n_images);
    if ((!o->to_dpv && !o->tsf) || o->output || o->to_dps || o->stat.n > 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--fixels: gives values at points: give --tsf, or --trx and --to-dpv, and none of "
                        "--output, --to-dps and --stat-tck");
    if (o->by || o->nearest || o->edge || o->outside || o->like || o->fraction || o->transform.n > 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--fixels: not with --by, --interp, --edge, --outside, --like, --fraction and "
                        "--transform, which belong to images");
    return GLS_OK;
}

/* Checks combinations of options. */
static gls_status check(const gls_sample_cli *o, size_t n_images)
{
    if (!o->output && !o->trx && !o->tsf)
        return gls_fail(GLS_ERR_ARGUMENT, "sample: needs an output: --output, --trx or --tsf");
    if ((o->to_dps || o->to_dpv) && !o->trx) return gls_fail(GLS_ERR_ARGUMENT, "--to-dps and --to-dpv need --trx");
    if (o->to_dps && (n_images > 1 || o->stat.n > 1))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--to-dps: names one column, of one image and one statistic, but there are %zu images and %d statistics",
            n_images, o->stat.n > 0 ? o->stat.n : 1);
    if (o->tsf && n_images > 1)
        return gls_fail(GLS_ERR_ARGUMENT, "--tsf: takes one image, but %zu were given", n_images);
    if (o->fraction && o->by != GLS_SAMPLE_BY_VOXEL) return gls_fail(GLS_ERR_ARGUMENT, "--fraction: needs --by voxel");
    if (o->like && (o->edge || o->outside))
        return gls_fail(GLS_ERR_ARGUMENT, "--like excludes --edge and --outside: leave out either --like or these two");
    if (o->like == LIKE_DIPY && o->by)
        return gls_fail(GLS_ERR_ARGUMENT, "--like dipy excludes --by: leave out one of them");
    if (o->like == LIKE_MRTRIX && o->by == GLS_SAMPLE_BY_POINT)
        return gls_fail(GLS_ERR_ARGUMENT, "--like mrtrix excludes --by vertex");
    return GLS_OK;
}

gls_status gls_tract_sample(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_sample_cli *o = options;
    sampling s = {.run = run, .o = o, .tracks = file[0], .path = file + 1, .n_images = n - 1};
    /* inputs and outputs are noted before any is opened, so that no output replaces an input */
    gls_status status = check(o, n - 1);
    if (!status) status = check_fixels(o, n - 1);
    if (!status) status = gls_tract_run_reads_all(run, file, n);
    if (!status) status = gls_tract_run_reads(run, run->options.reference);
    if (!status) status = gls_chain_note(run, &o->transform);
    if (!status) status = gls_tract_run_writes_all(run, GLS_PATHS(o->output, o->trx, o->tsf));
    if (!status && o->fixels) {
        status = sample_fixels(&s);
        gls_sample_set_finish(&s.set);
        return status;
    }
    if (!status) status = choose_stats(&s);
    if (!status) status = gls_chain_read(run, &o->transform, &s.transform);
    if (!status) status = read_images(&s);
    if (!status) status = measure_total(&s);
    if (!status) status = sample_all(&s);
    /* counts for the sidecar, warnings, and the message for the user */
    if (!status) {
        const gls_sample_counts *c = &s.counts;
        gls_tract_run_count(run, "read", c->streamlines);
        gls_tract_run_count(run, "points", c->points);
        gls_tract_run_count(run, "outside", c->outside);
        gls_tract_run_count(run, "without_value", c->without_value);
        gls_tract_run_count(run, "not_finite", c->not_finite);
        gls_sample_warn(c, file[0]);
        gls_tract_warn_left_out(o->trx, &s.copied);
        gls_tract_run_message(run, "%s: %" PRIu64 " streamlines",
                              o->output ? o->output
                              : o->trx  ? o->trx
                                        : o->tsf,
                              c->streamlines);
    }
    gls_sample_set_finish(&s.set);
    gls_transform_finish(&s.transform);
    free(s.total);
    return status;
}
