/* Builds the model of streamline weights from the rows: lengths in fixels, mu, excluded fixels, regularisation. */
#include "weights/weight_model.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"
#include "util/threads.h"
#include "weights/fixel_rows.h"

/* Largest number of threads that sum up entries. */
#define MAX_PARTS 64
#define MAX_PART_BYTES ((size_t)128 << 20) /* memory for the sums of all threads but the first */

void gls_weight_model_finish(gls_weight_model *m)
{
    free(m->length);
    free(m->count);
    free(m->constant);
    free(m->state);
    free(m->variation);
    *m = (gls_weight_model){0};
}

/* Sums of one thread for each fixel. */
typedef struct entry_sums {
    /* sum of lengths in each fixel, in units of the entries */
    uint64_t *length;
    /* number of entries of each fixel */
    uint32_t *count;
} entry_sums;

/* A chunk whose entries are counted, and the sums of each thread. */
typedef struct entry_counter {
    const gls_chunk *chunk;
    /* one for each thread */
    entry_sums part[MAX_PARTS];
} entry_counter;

/* Adds entries from .. until - 1 of a chunk to the sums of one thread; called by gls_parallel(). */
static void count_entries(void *user, int thread, size_t from, size_t until)
{
    const entry_counter *c = user;
    const entry_sums *sums = &c->part[thread];
    for (size_t i = from; i < until; i++) {
        const size_t fixel = gls_chunk_fixel(c->chunk, i);
        sums->length[fixel] += c->chunk->entry[i] & GLS_ROW_MAX_LENGTH;
        sums->count[fixel]++;
    }
}

/* Sums up entries on one thread, or on as many as MAX_PART_BYTES gives memory for sums of their own. */
static gls_status sum_entries(gls_weight_model *m)
{
    entry_counter c = {.part = {{m->length, m->count}}};
    const int threads = omp_get_max_threads() < MAX_PARTS ? omp_get_max_threads() : MAX_PARTS;
    int n = 1;
    /* every thread but the first needs arrays of its own */
    while (n < threads && (size_t)n * m->n * (sizeof *m->length + sizeof *m->count) < MAX_PART_BYTES) n++;
    bool room = true;
    for (int i = 1; i < n; i++) {
        c.part[i] = (entry_sums){calloc(m->n, sizeof *m->length), calloc(m->n, sizeof *m->count)};
        room &= c.part[i].length && c.part[i].count;
    }
    for (size_t i = 0; i < m->rows->n_chunks && room; i++) {
        c.chunk = &m->rows->chunk[i];
        gls_parallel(c.chunk->start[c.chunk->n], 65536, n, count_entries, &c);
    }
    /* the sums of whole numbers do not depend on how the entries were shared */
    for (int i = 1; i < n; i++) {
        for (size_t k = 0; k < m->n && room; k++) {
            m->length[k] += c.part[i].length[k];
            m->count[k] += c.part[i].count[k];
        }
        free(c.part[i].length);
        free(c.part[i].count);
    }
    return room ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels", m->n);
}

/* Whether the options leave a fixel out; if so, its mask becomes 0. */
static bool is_removed(const gls_weight_model *m, const gls_weights_options *o, size_t k)
{
    if (o->remove_untracked && m->length[k] == 0) return true;
    return o->fd_threshold > 0 && (double)m->constant[k].fd <= o->fd_threshold;
}

/* Sum over the remaining fixels of the lengths of streamlines, mm times mask. */
static double sum_lengths(const gls_weight_model *m)
{
    double sum = 0;
    for (size_t k = 0; k < m->n; k++) sum += (double)m->constant[k].mask * (double)m->length[k];
    return sum * m->unit;
}

/* Sets constants of fixels, mu and the scale of the regularisation. */
static gls_status set_scale(gls_weight_model *m, const gls_weights_options *o)
{
    const gls_rows *rows = m->rows;
    double density = 0, squares = 0, lengths = 0;
    /* FD and PM of each fixel; density and squares are sums over fixels that remain */
    for (size_t k = 0; k < m->n; k++) {
        const gls_fixel *f = &rows->fixels->fixel[k];
        gls_model_constant *c = &m->constant[k];
        *c = (gls_model_constant){.fd = f->fd, .mask = rows->mask ? rows->mask[f->voxel] : 1};
        if (rows->scale) c->fd = (float)((double)f->fd * (double)rows->scale[f->voxel]);
        if (is_removed(m, o, k)) c->mask = 0, m->n_removed++;
        density += (double)c->mask * (double)c->fd;
        squares += (double)c->mask * (double)c->fd * (double)c->fd;
    }
    /* lengths: mm in fixels that remain, times mask. Without removed fixels the contributions give the length before
     * rounding to units */
    if (m->n_removed > 0)
        lengths = sum_lengths(m);
    else
        for (size_t s = 0; s < rows->n; s++) lengths += (double)rows->contribution[s];
    if (!(lengths > 0))
        return gls_fail(GLS_ERR_EMPTY, "weights: no streamline passes through a fixel%s",
                        o->fd_threshold > 0 && m->n_removed > 0 ? " above --fd-threshold: lower it"
                                                                : ": do the tractogram and the FODs lie in one space?");
    if (!(density > 0))
        return gls_fail(GLS_ERR_EMPTY,
                        "weights: no fixel has a fibre density above 0: is the mask, or --fd-threshold, too strict?");
    /* mu times the sum of the lengths is the sum of the fibre densities; scale: the sum of PM FD^2 divided by the
     * number of streamlines */
    m->mu = density / lengths;
    m->scale = squares / (double)rows->n;
    return GLS_OK;
}

/* Sets the states of fixels, and excludes fixels with too small a density of streamlines or, unless single_visit keeps
 * them, with a single entry. */
static gls_status exclude(gls_weight_model *m, const gls_weights_options *o)
{
    const double unit = m->mu * m->unit;
    size_t used = 0;
    for (size_t k = 0; k < m->n; k++) {
        gls_model_constant *c = &m->constant[k];
        gls_model_state *s = &m->state[k];
        double density = unit * (double)m->length[k];
        *s = (gls_model_state){.density = (float)density, .unit = (float)((double)c->mask * m->unit)};
        if (m->length[k] == 0) m->n_untracked++;
        /* fixels without streamlines, or outside the mask, take no part and do not count as excluded */
        if (m->length[k] == 0 || !(c->mask > 0)) continue;
        if (m->count[k] > 1) c->per_length = (float)(1 / (double)m->length[k]);
        if (density < o->min_td_frac * (double)c->fd ||
            (m->count[k] == 1 && o->single_visit == GLS_SINGLE_VISIT_EXCLUDE)) {
            m->n_excluded++;
            continue;
        }
        s->share = (float)((double)c->mask / density);
        used++;
    }
    if (used > 0 || o->force) return GLS_OK;
    return gls_fail(GLS_ERR_EMPTY,
                    "all %zu fixels with streamlines are excluded: there are too few streamlines, or the streamlines "
                    "lie in another space than the FODs",
                    m->n_excluded);
}

/* Sets `variation` of each streamline, see gls_weight_model. */
static void set_variation(gls_weight_model *m, const gls_weights_options *o)
{
    const gls_rows *rows = m->rows;
    for (size_t i = 0; i < rows->n_chunks; i++) {
        const gls_chunk *chunk = &rows->chunk[i];
#pragma omp parallel for
        for (size_t s = 0; s < chunk->n; s++) {
            double length = (double)rows->contribution[chunk->first + s];
            /* if fixels were removed, only lengths in the remaining fixels count */
            if (m->n_removed > 0) {
                length = 0;
                for (uint32_t k = chunk->start[s]; k < chunk->start[s + 1]; k++)
                    length += (double)m->state[gls_chunk_fixel(chunk, k)].unit * (chunk->entry[k] & GLS_ROW_MAX_LENGTH);
            }
            m->variation[chunk->first + s] = length > 0 ? (float)(o->reg_tv * m->scale / length) : 0;
        }
    }
}

gls_status gls_weight_model_create(const gls_rows *rows, const gls_weights_options *o, gls_weight_model *m)
{
    const size_t n = gls_fixels_count(rows->fixels);
    *m = (gls_weight_model){.rows = rows, .n = n, .unit = gls_rows_unit(rows)};
    m->length = calloc(n, sizeof *m->length);
    m->count = calloc(n, sizeof *m->count);
    m->constant = calloc(n, sizeof *m->constant);
    m->state = calloc(n, sizeof *m->state);
    m->variation = malloc((rows->n + 1) * sizeof *m->variation);
    if (!m->length || !m->count || !m->constant || !m->state || !m->variation)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels and %zu streamlines", n, rows->n);
    gls_status status = rows->length ? GLS_OK : sum_entries(m);
    if (rows->length) {
        memcpy(m->length, rows->length, n * sizeof *m->length);
        memcpy(m->count, rows->count, n * sizeof *m->count);
    }
    if (!status) status = set_scale(m, o);
    if (!status) status = exclude(m, o);
    if (!status) set_variation(m, o);
    return status;
}
