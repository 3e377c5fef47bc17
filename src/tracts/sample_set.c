/* Statistics of images along streamlines, for `glslines sample` and `track --sample`: columns and table. */
#include "tracts/sample_set.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/profile_table.h"
#include "transform/bring.h"
#include "util/status.h"
#include "util/text.h"

/* Refuses a name that no statistic has, with a list of those that there are. */
static gls_status unknown(const char *name)
{
    char list[256];
    size_t used = 0;
    for (int k = 0; k < GLS_TRACK_STATS; k++)
        used += (size_t)gls_snprintf(list + used, sizeof list - used, "%s%s",
                                     k == 0                     ? ""
                                     : k == GLS_TRACK_STATS - 1 ? " or "
                                                                : ", ",
                                     gls_track_stat_name((gls_track_stat)k));
    return gls_fail(GLS_ERR_ARGUMENT, "--stat-tck %s: must be %s", name, list);
}

gls_status gls_sample_set_choose(gls_sample_set *set, const gls_strings *stats)
{
    for (int k = 0; k < stats->n; k++) {
        int at = 0;
        /* find the statistic with this name */
        while (at < GLS_TRACK_STATS && strcmp(gls_track_stat_name((gls_track_stat)at), stats->value[k]) != 0) at++;
        if (at == GLS_TRACK_STATS) return unknown(stats->value[k]);
        for (size_t i = 0; i < set->n_stats; i++)
            if ((int)set->stat[i] == at)
                return gls_fail(GLS_ERR_ARGUMENT, "--stat-tck %s: was given twice", stats->value[k]);
        set->stat[set->n_stats++] = (gls_track_stat)at;
    }
    return GLS_OK;
}

/* Adds a column with its name. GLS_ERR_ARGUMENT: another column has this name. */
static gls_status add_column(gls_sample_set *s, const char *path, size_t image, const gls_sample_names *names,
                             bool per_vertex, gls_track_stat stat)
{
    char *short_name = gls_profile_column(path), *name = NULL;
    const char *to_dps = names ? names->to_dps : NULL, *to_dpv = names ? names->to_dpv : NULL;
    int length = -1;
    /* values at points are named after the image, statistics after image and statistic, unless the user names them */
    if (short_name && per_vertex)
        length = s->n_images > 1 ? gls_asprintf(&name, "%s_%s", to_dpv, short_name)
                                 : gls_asprintf(&name, "%s", to_dpv ? to_dpv : short_name);
    else if (short_name)
        length = to_dps ? gls_asprintf(&name, "%s", to_dps)
                        : gls_asprintf(&name, "%s_%s", short_name, gls_track_stat_name(stat));
    free(short_name);
    if (length < 0) return gls_no_memory();
    assert(name);
    /* columns of one name would hide each other in the tractogram */
    for (size_t k = 0; k < s->n_columns; k++)
        if (strcmp(s->name[k], name) == 0) {
            gls_status status = gls_fail(GLS_ERR_ARGUMENT, "%s: two columns would have the name %s: rename an image%s",
                                         path, name, names ? ", or give other names to --to-dps and --to-dpv" : "");
            free(name);
            return status;
        }
    s->name[s->n_columns] = name;
    s->column[s->n_columns++] =
        (gls_sample_column){.image = s->image[image], .name = name, .per_vertex = per_vertex, .stat = stat};
    return GLS_OK;
}

gls_status gls_sample_set_read(gls_sample_set *s, const char *const *path, size_t n, const gls_transform *transform,
                               bool nearest, bool per_vertex, const gls_sample_names *names)
{
    /* memory for all statistics and the values at points */
    const size_t max_columns = n * (GLS_TRACK_STATS + 1);
    s->n_images = n;
    s->image = calloc(n, sizeof *s->image);
    s->column = calloc(max_columns, sizeof *s->column);
    s->name = calloc(max_columns, sizeof *s->name);
    if (!s->image || !s->column || !s->name) return gls_no_memory();
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) {
        status = gls_image_read(path[i], GLS_IMAGE_ANY, &s->image[i]);
        if (!status)
            status = gls_image_bring(&s->image[i], transform, nearest ? GLS_RESAMPLE_NEAREST : GLS_RESAMPLE_LINEAR, NAN,
                                     path[i]);
        for (size_t k = 0; k < s->n_stats && !status; k++) status = add_column(s, path[i], i, names, false, s->stat[k]);
        if (!status && per_vertex) status = add_column(s, path[i], i, names, true, GLS_TRACK_MEAN);
    }
    return status;
}

void gls_sample_set_finish(gls_sample_set *s)
{
    /* after a failure, arrays may be NULL or not full */
    for (size_t k = 0; k < s->n_columns; k++) free(s->name[k]);
    for (size_t i = 0; s->image && i < s->n_images; i++) gls_image_destroy(s->image[i]);
    free(s->image);
    free(s->column);
    free(s->name);
    *s = (gls_sample_set){.n_images = 0};
}

void gls_sample_warn(const gls_sample_counts *c, const char *name)
{
    /* warn only if more than 1 % of the points are outside or not finite */
    if (c->outside * 100 > c->points)
        gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " of %" PRIu64 " samples lie outside the images%s", name, c->outside,
                c->points, c->outside == c->points ? ": are they and the streamlines in one space?" : "");
    if (c->not_finite * 100 > c->points)
        gls_log(GLS_LOG_WARNING, "%s: %" PRIu64 " of %" PRIu64 " samples lie where an image is NaN or infinite", name,
                c->not_finite, c->points);
}

/* Writes a row for each streamline. */
static gls_status append(void *user, const gls_streamlines *in)
{
    gls_sample_rows *r = user;
    const gls_sample_set *s = r->set;
    for (size_t i = 0; i < in->n; i++) {
        if (!r->plain) gls_tract_text_printf(&r->text, "%" PRIu64, r->row);
        r->row++;
        for (size_t k = 0; k < s->n_columns; k++) {
            /* values at points go to the tractogram only */
            if (s->column[k].per_vertex) continue;
            const gls_column *c = gls_column_find(in->dps, in->n_dps, s->name[k]);
            for (uint32_t t = 0; t < c->components; t++) gls_tract_text_value(&r->text, c, i * c->components + t);
        }
        gls_tract_text_end_row(&r->text);
    }
    return r->text.failed;
}

gls_status gls_sample_rows_begin(gls_sample_rows *r, const gls_sample_set *s, const char *path, bool overwrite,
                                 gls_output_group *group)
{
    const char *dot = strrchr(path, '.');
    /* .txt: numbers alone, for programs that read matrices */
    *r = (gls_sample_rows){.set = s, .plain = dot && strcmp(dot, ".txt") == 0};
    gls_status status = gls_tract_text_create(path, overwrite, group, &r->text);
    if (status || r->plain) return status;
    gls_tract_text_field(&r->text, "id");
    for (size_t k = 0; k < s->n_columns; k++) /* the correlation of both ends has one value for all volumes */
        for (size_t t = 0, n = s->column[k].stat == GLS_TRACK_ENDS_CORR ? 1 : s->column[k].image->n_volumes;
             t < n && !s->column[k].per_vertex; t++)
            gls_tract_text_component(&r->text, s->name[k], t, n);
    gls_tract_text_end_row(&r->text);
    return GLS_OK;
}

gls_sink gls_sample_rows_sink(gls_sample_rows *rows)
{
    return (gls_sink){.append = append, .user = rows};
}

gls_status gls_sample_rows_end(gls_sample_rows *rows, gls_status status)
{
    return gls_tract_text_close(&rows->text, status);
}
