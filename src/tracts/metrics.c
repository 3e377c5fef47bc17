/* The metrics of a connectome (--metric): what the cells of a matrix hold, and how its file is named. */
#include "tracts/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "tracts/profile_table.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* Metrics without an image. */
static const gls_metric plain[] = {
    {.name = "count"},
    {.name = "weight", .weighted = true},
    {.name = "length", .scale = GLS_SCALE_LENGTH, .stat = GLS_STAT_MEAN},
    {.name = "invlength", .scale = GLS_SCALE_INVLENGTH},
    {.name = "invnodevol", .scale = GLS_SCALE_INVNODEVOL},
    {.name = "sift2", .weighted = true, .column = "sift2_weights"},
    {.name = "commit", .weighted = true, .column = "commit_weights"},
};

/* Parses one metric. */
static gls_status parse(const char *text, gls_metric *m)
{
    static const char *const words[] = {"mean:", "median:"};
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++)
        if (strcmp(text, plain[k].name) == 0) {
            *m = plain[k];
            return (m->name = gls_text_copy(text)) ? GLS_OK : gls_no_memory();
        }
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t length = strlen(words[k]);
        if (strncmp(text, words[k], length) != 0 || !text[length]) continue;
        *m = (gls_metric){.path = text + length, .stat = k == 0 ? GLS_STAT_MEAN : GLS_STAT_MEDIAN};
        char *image = gls_profile_column(m->path);
        const int printed = image ? gls_asprintf(&m->name, "%.*s_%s", (int)length - 1, text, image) : -1;
        free(image);
        return printed < 0 ? gls_no_memory() : GLS_OK;
    }
    return gls_fail(GLS_ERR_ARGUMENT, "--metric %s: must be " GLS_METRIC_NAMES, text);
}

gls_status gls_metrics_parse(const gls_strings *text, gls_metric *metric)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < text->n && !status; i++) {
        status = parse(text->value[i], &metric[i]);
        for (int k = 0; k < i && !status; k++)
            if (strcmp(metric[k].name, metric[i].name) == 0)
                status =
                    gls_fail(GLS_ERR_ARGUMENT,
                             "--metric %s: another metric has the same name for files, %s: leave out one of them%s",
                             text->value[i], metric[i].name, metric[i].path ? ", or rename an image" : "");
    }
    return status;
}

void gls_metric_choose(const gls_metric *m, const char *weights, gls_connectome_options *o)
{
    o->scale = m->scale;
    o->stat = m->stat;
    o->scale_column = m->path ? m->name : NULL;
    o->weights = m->column ? m->column : m->weighted ? weights : NULL;
}

char *gls_metric_file(const gls_metric *m, const char *file)
{
    static const char bids[] = "_relmat.tsv";
    const size_t length = strlen(file);
    char *out = NULL, value[64];
    if (length > strlen(bids) && strcmp(file + length - strlen(bids), bids) == 0) {
        /* values of BIDS have letters and digits alone */
        size_t n = 0;
        for (const char *c = m->name; *c && n + 1 < sizeof value; c++)
            if (gls_is_alnum((unsigned char)*c)) value[n++] = *c;
        value[n] = '\0';
        gls_asprintf(&out, "%.*s_meas-%s%s", (int)(length - strlen(bids)), file, value, bids);
        return out;
    }
    const char *dot = strrchr(gls_file_name(file), '.');
    const int stem = dot && dot > gls_file_name(file) ? (int)(dot - file) : (int)length;
    gls_asprintf(&out, "%.*s_%s%s", stem, file, m->name, file + stem);
    return out;
}

gls_status gls_metric_open(gls_metric *m)
{
    gls_status status = m->path ? gls_image_read(m->path, GLS_IMAGE_ANY, &m->image) : GLS_OK;
    if (!status && m->image && m->image->n_volumes > 1)
        status = gls_fail(GLS_ERR_ARGUMENT, "--metric: %s has %zu volumes, but a cell holds one value: give one volume",
                          m->path, m->image->n_volumes);
    return status;
}

gls_status gls_metrics_sink(const gls_metric *metric, size_t n, gls_sample_counts *counts, gls_sink *sink)
{
    const gls_sample_options options = gls_sample_options_default();
    const gls_sink next = *sink;
    gls_sample_column column[GLS_MAX_STRINGS];
    size_t n_columns = 0;
    for (size_t k = 0; k < n; k++)
        if (metric[k].image)
            column[n_columns++] =
                (gls_sample_column){.image = metric[k].image, .name = metric[k].name, .stat = GLS_TRACK_MEAN};
    return n_columns > 0 ? gls_filter_sample_create(column, n_columns, &options, counts, &next, sink) : GLS_OK;
}

void gls_metric_finish(gls_metric *m)
{
    free(m->name);
    gls_image_destroy(m->image);
    *m = (gls_metric){.name = NULL};
}
