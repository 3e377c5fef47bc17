/* Columns for a TCK file, which cannot hold any: weights and values per streamline as text, values of points as track
 * scalar files of MRtrix3. The files are opened with the first streamlines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"
#include "workflow/tracts/tract_files.h"

/* The filter, and the files beside the TCK file. */
typedef struct side {
    gls_tract_run *run;
    gls_sink next;
    const char *tck;
    char **path; /* paths: of weights, of dps, and of each component of a dpv */
    size_t n_paths;
    bool opened, has_weights, has_dps;
    gls_tract_text weights, dps;
    size_t n_tsf;
    gls_sink *tsf; /* one for each component of a dpv */
} side;

static void discard(void *user)
{
    side *s = user;
    gls_sink_abort(&s->next);
    gls_tract_text_close(&s->weights, GLS_ERR_CANCELLED);
    gls_tract_text_close(&s->dps, GLS_ERR_CANCELLED);
    for (size_t k = 0; k < s->n_tsf; k++) gls_sink_abort(&s->tsf[k]);
    for (size_t k = 0; k < s->n_paths; k++) free(s->path[k]);
    free(s->path);
    free(s->tsf);
    free(s);
}

static bool is_weights(const gls_column *c)
{
    return strcmp(c->name, "weights") == 0 && c->components == 1;
}

/* Makes the name of a file beside the TCK file, checks it and keeps it. */
static gls_status name_file(side *s, const char *name, const char *suffix)
{
    const char *dot = strrchr(s->tck, '.');
    char *path = NULL;
    if (asprintf(&path, "%.*s_%s.%s", (int)(dot ? dot - s->tck : (long)strlen(s->tck)), s->tck, name, suffix) < 0)
        return gls_fail(GLS_ERR_MEMORY, "out of memory");
    s->path[s->n_paths++] = path;
    return gls_tract_run_writes(s->run, path);
}

/* Opens the file of one component: NAME.tsf, or NAME_0.tsf and so on. */
static gls_status open_scalars(side *s, const gls_column *c, uint32_t component)
{
    char *name = NULL;
    if (asprintf(&name, c->components > 1 ? "%s_%u" : "%s", c->name, component) < 0)
        return gls_fail(GLS_ERR_MEMORY, "out of memory");
    gls_status status = name_file(s, name, "tsf");
    free(name);
    if (!status)
        status = gls_tract_tsf_create(s->run, s->path[s->n_paths - 1], NULL, c->name, component, &s->tsf[s->n_tsf]);
    if (!status) s->n_tsf++;
    return status;
}

/* Opens a file for weights, one for other dps, and one for each component of a dpv. */
static gls_status open_files(side *s, const gls_streamlines *in)
{
    gls_status status = GLS_OK;
    s->opened = true;
    size_t capacity = 2;
    for (size_t k = 0; k < in->n_dpv; k++) capacity += in->dpv[k].components;
    s->path = calloc(capacity, sizeof *s->path);
    s->tsf = calloc(capacity, sizeof *s->tsf);
    if (!s->path || !s->tsf) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < in->n_dps; k++) {
        s->has_weights |= is_weights(&in->dps[k]);
        s->has_dps |= !is_weights(&in->dps[k]);
    }
    if (s->has_weights) status = name_file(s, "weights", "txt");
    if (s->has_weights && !status) status = gls_tract_text_open(s->run, s->path[s->n_paths - 1], &s->weights);
    if (s->has_dps && !status) status = name_file(s, "dps", "tsv");
    if (s->has_dps && !status) status = gls_tract_text_open(s->run, s->path[s->n_paths - 1], &s->dps);
    for (size_t k = 0; k < in->n_dps && s->has_dps && !status; k++) {
        const gls_column *c = &in->dps[k];
        for (uint32_t j = 0; j < c->components && !is_weights(c); j++)
            gls_tract_text_component(&s->dps, c->name, j, c->components);
    }
    if (s->has_dps && !status) gls_tract_text_end_row(&s->dps);
    for (size_t k = 0; k < in->n_dpv && !status; k++)
        for (uint32_t j = 0; j < in->dpv[k].components && !status; j++) status = open_scalars(s, &in->dpv[k], j);
    return status;
}

/* Writes the values of a block of streamlines, a row each. */
static void write_rows(side *s, const gls_streamlines *in)
{
    for (size_t i = 0; i < in->n; i++) {
        for (size_t k = 0; k < in->n_dps; k++) {
            const gls_column *c = &in->dps[k];
            gls_tract_text *text = is_weights(c) ? &s->weights : &s->dps;
            for (uint32_t j = 0; j < c->components; j++) gls_tract_text_value(text, c, i * c->components + j);
        }
        if (s->has_weights) gls_tract_text_end_row(&s->weights);
        if (s->has_dps) gls_tract_text_end_row(&s->dps);
    }
}

/* Writes columns beside the TCK file, and passes the streamlines on without them. */
static gls_status append(void *user, const gls_streamlines *in)
{
    side *s = user;
    gls_status status = s->opened || in->n == 0 ? GLS_OK : open_files(s, in);
    if (!status) write_rows(s, in);
    for (size_t k = 0; k < s->n_tsf && !status; k++) status = gls_sink_append(&s->tsf[k], in);
    gls_streamlines rest = *in;
    rest.n_dps = rest.n_dpv = 0;
    return status ? status : gls_sink_append(&s->next, &rest);
}

static gls_status finish(void *user)
{
    side *s = user;
    gls_status status = gls_sink_finish(&s->next);
    status = gls_tract_text_close(&s->weights, status);
    status = gls_tract_text_close(&s->dps, status);
    for (size_t k = 0; k < s->n_tsf && !status; k++) status = gls_sink_finish(&s->tsf[k]);
    discard(s);
    return status;
}

gls_status gls_tract_side_create(gls_tract_run *run, const char *tck, const gls_sink *next, gls_sink *sink)
{
    side *s = calloc(1, sizeof *s);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    s->run = run;
    s->tck = tck;
    s->next = *next;
    *sink = (gls_sink){append, finish, discard, s};
    return GLS_OK;
}
