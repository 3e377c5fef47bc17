/* Functions that kinds of sinks share: names of files in the values of options, names of options, and the point of a
 * streamline that is nearest to its seed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/sink_files.h"
#include "sinks/sinks.h"
#include "util/numbers.h"
#include "util/status.h"

gls_status gls_sink_reads(gls_run_sink *sink, const char *text, size_t length)
{
    GLS_REQUIRE(sink->n_inputs < GLS_SINK_MAX_INPUTS);
    char *name = gls_names_copy(text, length);
    if (!name) return gls_no_memory();
    sink->input[sink->n_inputs++] = name;
    return GLS_OK;
}

gls_status gls_sink_reads_images(gls_run_sink *sink, const char *text, size_t length)
{
    char *list = strndup(text, length), *rest = list;
    /* number of inputs before the images of this option */
    const size_t before = sink->n_inputs;
    gls_status status = list ? GLS_OK : gls_no_memory();
    for (char *image; list && !status && (image = gls_names_next(&rest, ','));) {
        if (!*image || sink->n_inputs - before == GLS_SINK_MAX_IMAGES)
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "--%s: \"%s\": must name images as IMAGE or IMAGE,IMAGE, %d images at most; inside a "
                              "name write \\, and \\: for a comma and a colon",
                              sink->kind->role, text, GLS_SINK_MAX_IMAGES);
        else if (!(sink->input[sink->n_inputs++] = strdup(image)))
            status = gls_no_memory();
    }
    free(list);
    return status;
}

gls_status gls_sink_writes(gls_run_sink *sink, const gls_run_sinks *sinks, const char *text)
{
    /* \: becomes a colon, \, a comma */
    char *path = gls_names_copy(text, strlen(text));
    sink->output = path && sinks->shard->count > 0 ? gls_shard_name(path, sinks->shard) : path;
    if (sink->output != path) free(path);
    return sink->output ? GLS_OK : gls_no_memory();
}

const char *gls_sink_option(const gls_run_sink *sink, char name[64])
{
    snprintf(name, 64, "%s", sink->kind->role);
    for (char *c = name; *c; c++) *c = *c == '_' ? '-' : *c;
    return name;
}

gls_status gls_sink_check_select(const gls_run_sink *sink, const gls_run_sinks *sinks)
{
    char name[64];
    if (!sinks->options->shard || sinks->options->track.select == 0) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT,
                    "--%s: not with --select and --shard together, because a shard also counts streamlines that are "
                    "not selected: leave out one of the three",
                    gls_sink_option(sink, name));
}

gls_status gls_sink_takes_pair(gls_run_sink *sink, const gls_run_sinks *sinks, const char *text, const char *form)
{
    char name[64];
    /* split at the last colon, because paths may contain colons */
    const char *colon = gls_names_last(text, ':');
    if (!colon || colon == text || !colon[1])
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--%s: \"%s\": must be %s, two names with a colon between them; inside a name write \\: for a colon",
            gls_sink_option(sink, name), text, form);
    sink->wanted = true;
    gls_status status = gls_sink_reads(sink, text, (size_t)(colon - text));
    return status ? status : gls_sink_writes(sink, sinks, colon + 1);
}

gls_run_sink *gls_sink_find(gls_run_sinks *sinks, const gls_sink_kind *kind)
{
    for (size_t i = 0; i < sinks->n; i++)
        if (sinks->sink[i].kind == kind && sinks->sink[i].wanted) return &sinks->sink[i];
    return NULL;
}

uint64_t gls_seed_point(const gls_streamlines *s, size_t i, const float seed[3])
{
    uint64_t best = s->offset[i];
    /* squared distances in float are exact enough: a seed differs from its point by rounding at most */
    float smallest = INFINITY;
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) {
        float square = 0;
        for (int a = 0; a < 3; a++) square += (s->point[p][a] - seed[a]) * (s->point[p][a] - seed[a]);
        if (square >= smallest) continue;
        smallest = square;
        best = p;
    }
    return best;
}
