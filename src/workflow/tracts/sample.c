/* glslines sample: values of images along streamlines, as a table, as columns, as a track scalar file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/density.h>
#include <glslines/filters.h>
#include <glslines/sample.h>

#include "tractogram/tractogram.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/status.h"
#include "workflow/tracts/tracts.h"
#include "workflow/tracts/writer.h"

enum { LIKE_NONE, LIKE_MRTRIX, LIKE_DIPY };

typedef struct sampling {
    gls_tract_job *job;
    const gls_sample_cli *o;
    const char *tracks;
    const char *const *path; /* of images */
    size_t n_images, n_columns, n_stats;
    gls_image **image;
    gls_track_stat stat[GLS_TRACK_STATS];
    gls_sample_column *column;
    char **name; /* of columns */
    gls_sample_counts counts;
    double *total; /* mm of all streamlines in each voxel, with --fraction */
    gls_tract_text table;
    bool plain; /* the table has numbers only */
    uint64_t row;
} sampling;

/* "dir/fa.nii.gz" -> "fa" */
static char *stem(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strndup(name, strcspn(name, "."));
}

static gls_status choose_stats(sampling *s)
{
    for (int k = 0; k < s->o->stat.n; k++) {
        int at = 0;
        while (at < GLS_TRACK_STATS && strcmp(gls_track_stat_name((gls_track_stat)at), s->o->stat.value[k]) != 0) at++;
        if (at == GLS_TRACK_STATS)
            return gls_fail(
                GLS_ERR_ARGUMENT,
                "--stat-tck %s: must be mean, median, min, max, sum, std, mean_nonzero, upper_median, ends_min, "
                "ends_max, ends_mean, ends_prod or ends_corr",
                s->o->stat.value[k]);
        for (size_t i = 0; i < s->n_stats; i++)
            if ((int)s->stat[i] == at)
                return gls_fail(GLS_ERR_ARGUMENT, "--stat-tck %s: was given twice", s->o->stat.value[k]);
        s->stat[s->n_stats++] = (gls_track_stat)at;
    }
    if (s->n_stats == 0 && !s->o->to_dpv && !s->o->tsf) s->stat[s->n_stats++] = GLS_TRACK_MEAN;
    if (s->n_stats == 0 && (s->o->output || s->o->to_dps)) s->stat[s->n_stats++] = GLS_TRACK_MEAN;
    return GLS_OK;
}

static gls_status add_column(sampling *s, size_t image, bool per_vertex, gls_track_stat stat)
{
    char *short_name = stem(s->path[image]), *name = NULL;
    const gls_sample_cli *o = s->o;
    int length = -1;
    if (short_name && per_vertex)
        length = s->n_images > 1 ? asprintf(&name, "%s_%s", o->to_dpv, short_name)
                                 : asprintf(&name, "%s", o->to_dpv ? o->to_dpv : short_name);
    else if (short_name)
        length = o->to_dps ? asprintf(&name, "%s", o->to_dps)
                           : asprintf(&name, "%s_%s", short_name, gls_track_stat_name(stat));
    free(short_name);
    if (length < 0) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < s->n_columns; k++)
        if (strcmp(s->name[k], name) == 0) {
            gls_status status =
                gls_fail(GLS_ERR_ARGUMENT, "%s: two columns have the name %s: rename an image", s->path[image], name);
            free(name);
            return status;
        }
    s->name[s->n_columns] = name;
    s->column[s->n_columns++] =
        (gls_sample_column){.image = s->image[image], .name = name, .per_vertex = per_vertex, .stat = stat};
    return GLS_OK;
}

static gls_status read_images(sampling *s)
{
    size_t most = s->n_images * (GLS_TRACK_STATS + 1);
    s->image = calloc(s->n_images, sizeof *s->image);
    s->column = calloc(most, sizeof *s->column);
    s->name = calloc(most, sizeof *s->name);
    if (!s->image || !s->column || !s->name) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    gls_status status = GLS_OK;
    for (size_t i = 0; i < s->n_images && !status; i++) {
        status = gls_image_read(s->path[i], GLS_IMAGE_ANY, &s->image[i]);
        for (size_t k = 0; k < s->n_stats && !status; k++) status = add_column(s, i, false, s->stat[k]);
        if (!status && (s->o->to_dpv || s->o->tsf)) status = add_column(s, i, true, GLS_TRACK_MEAN);
    }
    if (!status && s->o->tsf && s->image[0]->n_volumes > 1)
        status = gls_fail(GLS_ERR_ARGUMENT, "--tsf: %s has %zu volumes, a track scalar file holds one", s->path[0],
                          s->image[0]->n_volumes);
    return status;
}

static gls_status write_rows(void *user, const gls_streamlines *in)
{
    sampling *s = user;
    for (size_t i = 0; i < in->n; i++) {
        if (!s->plain) gls_tract_text_printf(&s->table, "%" PRIu64, s->row);
        s->row++;
        for (size_t k = 0; k < s->n_columns; k++) {
            if (s->column[k].per_vertex) continue;
            const gls_column *c = gls_column_find(in->dps, in->n_dps, s->name[k]);
            for (uint32_t t = 0; t < c->components; t++)
                gls_tract_text_number(&s->table, gls_column_value(c, i * c->components + t));
        }
        gls_tract_text_end_row(&s->table);
    }
    return s->table.failed;
}

static gls_status open_table(sampling *s)
{
    const char *dot = strrchr(s->o->output, '.');
    s->plain = dot && strcmp(dot, ".txt") == 0;
    gls_status status = gls_tract_text_open(s->job, s->o->output, &s->table);
    if (status || s->plain) return status;
    gls_tract_text_printf(&s->table, "id");
    for (size_t k = 0; k < s->n_columns; k++)
        for (size_t t = 0, n = s->column[k].stat == GLS_TRACK_ENDS_CORR ? 1 : s->column[k].image->n_volumes;
             t < n && !s->column[k].per_vertex; t++)
            gls_tract_text_printf(&s->table, n > 1 ? "%c%s_%zu" : "%c%s", s->table.separator, s->name[k], t);
    gls_tract_text_end_row(&s->table);
    return GLS_OK;
}

/* The sinks behind the sampler: table, tractogram, track scalars. */
static gls_status create_outputs(sampling *s, const gls_tractogram_info *info, gls_sink *sink)
{
    gls_sink all[3];
    size_t n = 0;
    gls_grid grid;
    gls_status status = GLS_OK;
    if (s->o->output) {
        status = open_table(s);
        if (!status) all[n++] = (gls_sink){.append = write_rows, .user = s};
    }
    if (s->o->trx && !status) {
        gls_tract_output output = {.path = s->o->trx, .info = info};
        gls_tractogram_format format;
        status = gls_tractogram_format_parse(s->o->trx, &format);
        if (!status && (gls_tract_needs_grid(format) || info->has_grid || s->job->options.reference)) {
            status = gls_tract_grid_choose(s->job, s->tracks, info, s->o->trx, &grid);
            output.grid = &grid;
        }
        if (!status) status = gls_tract_writer_create(s->job, &output, &all[n]);
        if (!status) n++;
    }
    if (s->o->tsf && !status) {
        status = gls_tract_scalars_create(s->job, s->o->tsf, info, s->name[s->n_columns - 1], &all[n]);
        if (!status) n++;
    }
    if (!status) status = gls_sink_tee(all, n, sink);
    for (size_t k = 0; k < n && status; k++) gls_sink_abort(&all[k]);
    return status;
}

/* The first pass of --fraction. */
static gls_status measure_total(sampling *s)
{
    gls_density_options options = gls_density_options_default();
    gls_tractogram_reader *reader = NULL;
    gls_density *density = NULL;
    const gls_grid *grid = &s->image[0]->grid;
    if (!s->o->fraction) return GLS_OK;
    for (size_t i = 1; i < s->n_images; i++)
        if (memcmp(grid->dim, s->image[i]->grid.dim, sizeof grid->dim) != 0 ||
            memcmp(grid->affine, s->image[i]->grid.affine, sizeof grid->affine) != 0)
            return gls_fail(GLS_ERR_ARGUMENT, "--fraction: the grids of %s and %s differ", s->path[0], s->path[i]);
    options.mapping = GLS_DENSITY_LENGTH;
    s->total = malloc(gls_grid_voxels(grid) * sizeof *s->total);
    gls_status status = s->total ? gls_density_create(grid, &options, &density) : GLS_ERR_MEMORY;
    if (!s->total) return gls_fail(status, "out of memory for a map");
    if (!status) status = gls_tract_open(s->job, s->tracks, false, &reader);
    gls_sink sink = {0};
    if (!status) sink = gls_density_sink(density);
    status = gls_tract_pump(s->job, reader, &sink, status);
    if (!status) gls_density_get(density, s->total);
    gls_tractogram_reader_close(reader);
    gls_density_destroy(density);
    return status;
}

static gls_status run(sampling *s)
{
    gls_sample_options options = gls_sample_options_default();
    gls_tractogram_reader *reader = NULL;
    gls_sink sink = {0};
    options.nearest = s->o->nearest;
    options.edge = s->o->like == LIKE_DIPY ? GLS_EDGE_ZERO : (gls_sample_edge)s->o->edge;
    options.outside_zero = s->o->outside || s->o->like == LIKE_MRTRIX;
    options.total = s->total;
    options.weight = s->o->like == LIKE_DIPY ? GLS_SAMPLE_BY_POINT : (gls_sample_weight)s->o->by;
    gls_status status = gls_tract_open(s->job, s->tracks, false, &reader);
    if (!status) status = create_outputs(s, gls_tractogram_reader_info(reader), &sink);
    gls_sink next = sink;
    if (!status) status = gls_filter_sample_create(s->column, s->n_columns, &options, &s->counts, &next, &sink);
    next = sink;
    gls_filter_counts valid;
    if (!status && s->o->trx) status = gls_filter_valid_create(&valid, &next, &sink);
    status = gls_tract_pump(s->job, reader, &sink, status);
    gls_tractogram_reader_close(reader);
    return gls_tract_text_close(&s->table, status);
}

static gls_status check(const gls_sample_cli *o, size_t n_images)
{
    if (!o->output && !o->trx && !o->tsf) return gls_fail(GLS_ERR_ARGUMENT, "name an output: --output, --trx or --tsf");
    if ((o->to_dps || o->to_dpv) && !o->trx) return gls_fail(GLS_ERR_ARGUMENT, "--to-dps and --to-dpv need --trx");
    if (o->to_dps && (n_images > 1 || o->stat.n > 1))
        return gls_fail(GLS_ERR_ARGUMENT, "--to-dps: one name for %zu images and %d statistics", n_images, o->stat.n);
    if (o->tsf && n_images > 1) return gls_fail(GLS_ERR_ARGUMENT, "--tsf: one image, %zu were given", n_images);
    if (o->fraction && o->by != GLS_SAMPLE_BY_VOXEL) return gls_fail(GLS_ERR_ARGUMENT, "--fraction: needs --by voxel");
    if (o->like && (o->edge || o->outside || o->by))
        return gls_fail(GLS_ERR_ARGUMENT, "--like excludes --edge, --outside and --by");
    return GLS_OK;
}

gls_status gls_tract_sample(gls_tract_job *job, const void *options, const char *const *file, size_t n)
{
    const gls_sample_cli *o = options;
    sampling s = {.job = job, .o = o, .tracks = file[0], .path = file + 1, .n_images = n - 1};
    gls_status status = check(o, n - 1);
    for (size_t i = 0; i < n && !status; i++) status = gls_tract_job_reads(job, file[i]);
    if (!status) status = gls_tract_job_reads(job, job->options.reference);
    if (!status) status = gls_tract_job_writes(job, o->output);
    if (!status) status = gls_tract_job_writes(job, o->trx);
    if (!status) status = gls_tract_job_writes(job, o->tsf);
    if (!status) status = choose_stats(&s);
    if (!status) status = read_images(&s);
    if (!status) status = measure_total(&s);
    if (!status) status = run(&s);
    if (!status) {
        const gls_sample_counts *c = &s.counts;
        gls_tract_job_count(job, "read", c->streamlines);
        gls_tract_job_count(job, "points", c->points);
        gls_tract_job_count(job, "outside", c->outside);
        gls_tract_job_count(job, "without_value", c->without_value);
        if (c->outside * 100 > c->points)
            gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " of %" PRIu64 " samples lie outside the images", file[0],
                    c->outside, c->points);
        gls_tract_job_say(job, "%s: %" PRIu64 " streamlines",
                          o->output ? o->output
                          : o->trx  ? o->trx
                                    : o->tsf,
                          c->streamlines);
    }
    for (size_t k = 0; k < s.n_columns; k++) free(s.name[k]);
    for (size_t i = 0; s.image && i < s.n_images; i++) gls_image_destroy(s.image[i]);
    free(s.total);
    free(s.image);
    free(s.column);
    free(s.name);
    return status;
}
