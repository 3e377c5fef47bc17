#include "workflow/track_sample.h"

#include <stdlib.h>
#include <string.h>

#include "util/parse.h"
#include "util/status.h"
#include "util/text.h"

/* "IMAGE,IMAGE" */
static gls_status take_images(gls_track_sample *s, const char *text, size_t length)
{
    char *list = strndup(text, length), *rest = list;
    bool done = list;
    for (char *image; done && (image = gls_names_next(&rest, ','));) {
        if (!*image || s->n_images == GLS_TRACK_SAMPLE_MAX_IMAGES) {
            free(list);
            return gls_fail(
                GLS_ERR_ARGUMENT,
                "--sample: \"%s\": must be IMAGE or IMAGE,IMAGE, %d at most, and :FILE for a table (\\, and "
                "\\: are such letters in a name)",
                text, GLS_TRACK_SAMPLE_MAX_IMAGES);
        }
        done = (s->image[s->n_images] = gls_text_copy(image));
        s->n_images += done;
    }
    free(list);
    return done ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
}

gls_status gls_track_sample_take(gls_track_sample *s, const gls_job_options *o)
{
    *s = (gls_track_sample){.rows = {.text = {.output = GLS_OUTPUT_NONE}}};
    if (!o->sample && o->stat_tck.n > 0) return gls_fail(GLS_ERR_ARGUMENT, "--stat-tck: needs --sample");
    if (!o->sample) return GLS_OK;
    const char *colon = gls_names_last(o->sample, ':');
    gls_status status = take_images(s, o->sample, colon ? (size_t)(colon - o->sample) : strlen(o->sample));
    if (!status && colon && !colon[1])
        status = gls_fail(GLS_ERR_ARGUMENT, "--sample: \"%s\": no name of a file behind the colon", o->sample);
    if (!status && colon && o->shard)
        status = gls_fail(GLS_ERR_ARGUMENT, "--sample: a table not with --shard: columns of TRX files merge (--sample "
                                            "without :FILE); or merge the shards, then 'glslines sample'");
    if (!status && colon && !(s->table = gls_names_copy(colon + 1, strlen(colon + 1))))
        status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!status) status = gls_sample_set_choose(&s->set, &o->stat_tck);
    if (!status && s->set.n_stats == 0) s->set.stat[s->set.n_stats++] = GLS_TRACK_MEAN;
    return status;
}

gls_status gls_track_sample_begin(gls_track_sample *s, bool overwrite, gls_output_group *group, gls_sink *sink)
{
    const gls_sample_options options = gls_sample_options_default();
    gls_status status = gls_sample_set_read(&s->set, (const char *const *)s->image, s->n_images, false, NULL);
    if (!status && s->table) status = gls_sample_rows_begin(&s->rows, &s->set, s->table, overwrite, group);
    const gls_sink next = s->table ? gls_sample_rows_sink(&s->rows) : *sink;
    return status ? status
                  : gls_filter_sample_create(s->set.column, s->set.n_columns, &options, &s->counts, &next, sink);
}

gls_status gls_track_sample_end(gls_track_sample *s)
{
    gls_sample_warn(&s->counts, "--sample");
    return gls_sample_rows_end(&s->rows, GLS_OK);
}

void gls_track_sample_finish(gls_track_sample *s)
{
    gls_sample_rows_end(&s->rows, GLS_ERR_CANCELLED);
    gls_sample_set_finish(&s->set);
    for (size_t i = 0; i < s->n_images; i++) free(s->image[i]);
    free(s->table);
    *s = (gls_track_sample){.n_images = 0};
}
