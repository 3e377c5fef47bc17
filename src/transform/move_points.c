/* A filter of streamlines that moves points of the moving space to the fixed space, by the inverse of a transform. */
#include "transform/move_points.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"
#include "util/status.h"

typedef struct mover {
    gls_builder builder; /* first, see gls_builder_sink() */
    const gls_transform *transform;
    bool cut; /* streamlines are cut at points outside; false: they are left out */
    gls_move_counts *counts;
    /* points of the block that is moved, and whether each has a place */
    float (*point)[3];
    bool *inside;
    uint64_t capacity;
} mover;

/* Work on the points of one streamline. */
static void move_line(void *user, int thread, const gls_streamlines *s, size_t i)
{
    mover *m = user;
    (void)thread;
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) {
        const double from[3] = {s->point[p][0], s->point[p][1], s->point[p][2]};
        double to[3] = {NAN, NAN, NAN};
        m->inside[p] = gls_transform_invert(m->transform, from, to);
        for (int r = 0; r < 3; r++) m->point[p][r] = (float)to[r];
    }
}

/* Adds points from .. until - 1 of streamline i as a streamline of its own, with its seed moved, too. */
static gls_status add_piece(mover *m, const gls_streamlines *s, size_t i, uint64_t from, uint64_t until)
{
    gls_builder *b = &m->builder;
    uint64_t to;
    gls_status status = gls_builder_add(b, i, until - from, &to);
    if (status) return status;
    gls_builder_copy(b, to, from, until - from);
    memcpy(b->point[to], m->point[from], (until - from) * sizeof *b->point);
    for (size_t k = 0; k < s->n_dps; k++) {
        if (strcmp(s->dps[k].name, GLS_DPS_SEEDS) != 0 || s->dps[k].type != GLS_TYPE_FLOAT32 ||
            s->dps[k].components != 3)
            continue;
        float *seed = (float *)b->memory[k] + 3 * (b->n - 1);
        const double at[3] = {seed[0], seed[1], seed[2]};
        double moved[3] = {NAN, NAN, NAN};
        gls_transform_invert(m->transform, at, moved);
        for (int r = 0; r < 3; r++) seed[r] = (float)moved[r];
    }
    m->counts->written++;
    return GLS_OK;
}

/* Adds what is left of streamline i. */
static gls_status add_line(mover *m, const gls_streamlines *s, size_t i)
{
    const uint64_t from = s->offset[i], until = s->offset[i + 1], before = m->counts->written;
    uint64_t n_outside = 0;
    gls_status status = GLS_OK;
    for (uint64_t p = from; p < until; p++) n_outside += !m->inside[p];
    m->counts->outside += n_outside;
    if (n_outside == 0) return add_piece(m, s, i, from, until);
    for (uint64_t p = from, begin = from; p <= until && m->cut && !status; p++) {
        if (p < until && m->inside[p]) continue;
        if (p - begin >= 2) status = add_piece(m, s, i, begin, p);
        begin = p + 1;
    }
    m->counts->dropped += m->counts->written == before;
    m->counts->split += m->counts->written > before;
    return status;
}

static gls_status append(void *user, const gls_streamlines *s)
{
    mover *m = user;
    const uint64_t n = s->n > 0 ? s->offset[s->n] : 0;
    if (n > m->capacity) {
        free(m->point);
        free(m->inside);
        m->point = malloc(n * sizeof *m->point);
        m->inside = malloc(n * sizeof *m->inside);
        m->capacity = m->point && m->inside ? n : 0;
        if (m->capacity == 0) return gls_no_memory();
    }
    gls_status status = gls_builder_begin(&m->builder, s);
    if (!status && n > 0) gls_lines_parallel(s, 16, omp_get_max_threads(), move_line, m);
    m->counts->streamlines += s->n;
    m->counts->points += n;
    for (size_t i = 0; i < s->n && !status; i++)
        if (s->offset[i + 1] > s->offset[i]) status = add_line(m, s, i);
    return status ? status : gls_builder_flush(&m->builder);
}

static void discard(void *user)
{
    mover *m = user;
    gls_builder_finish(&m->builder);
    free(m->point);
    free(m->inside);
    free(m);
}

gls_status gls_filter_move_create(const gls_transform *transform, bool cut, gls_move_counts *counts,
                                  const gls_sink *next, gls_sink *filter)
{
    mover *m = calloc(1, sizeof *m);
    if (!m) return gls_no_memory();
    m->transform = transform;
    m->cut = cut;
    m->counts = counts;
    *filter = gls_builder_sink(&m->builder, next, append, discard);
    return GLS_OK;
}
