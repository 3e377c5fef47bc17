/* Streamlines with the columns of the tracker. */
#ifndef GLS_TEST_LINES_H
#define GLS_TEST_LINES_H

#include <glslines/streamlines.h>

/* seed and seed_index may be NULL: no such column. column: room for both, as long as the streamlines are used. */
static inline gls_streamlines make_streamlines(size_t n, const uint64_t *offset, const float (*point)[3],
                                               const uint32_t *seed_index, const float (*seed)[3], gls_column column[2])
{
    gls_streamlines s = {.n = n, .offset = offset, .point = point, .dps = column};
    if (seed) column[s.n_dps++] = (gls_column){GLS_DPS_SEEDS, GLS_TYPE_FLOAT32, 3, seed};
    if (seed_index) column[s.n_dps++] = (gls_column){GLS_DPS_SEED_INDEX, GLS_TYPE_UINT32, 1, seed_index};
    return s;
}

static inline const uint32_t *seed_index_of(const gls_streamlines *s)
{
    const gls_column *c = gls_column_find(s->dps, s->n_dps, GLS_DPS_SEED_INDEX);
    return c ? (const uint32_t *)c->data : NULL;
}

static inline const float (*seed_of(const gls_streamlines *s))[3]
{
    const gls_column *c = gls_column_find(s->dps, s->n_dps, GLS_DPS_SEEDS);
    return c ? (const float(*)[3])c->data : NULL;
}

#endif
