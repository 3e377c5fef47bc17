/* The linear approximation: each streamline gets the mean, by length, of what its fixels would ask of all of theirs. */
#include <stdlib.h>

#include "weights/inside.h"

gls_status gls_weights_run_linear(gls_weights *w)
{
    const gls_weight_model *m = &w->model;
    for (size_t i = 0; i < w->rows.n_chunks; i++) {
        const gls_chunk *chunk = &w->rows.chunk[i];
#pragma omp parallel for
        for (size_t s = 0; s < chunk->n; s++) {
            double sum = 0, length = 0;
            for (uint32_t k = chunk->start[s]; k < chunk->start[s + 1]; k++) {
                uint32_t fixel = gls_chunk_fixel(chunk, k), units = chunk->entry[k] & GLS_ROW_MAX_LENGTH;
                const gls_model_constant *c = &m->constant[fixel];
                sum += (double)c->mask * (double)c->fd * units / (double)m->length[fixel];
                length += (double)c->mask * units * m->unit;
            }
            if (m->n_removed == 0) length = (double)w->rows.contribution[chunk->first + s];
            w->weight[chunk->first + s] = length > 0 ? (float)(sum / length / m->mu) : 0;
        }
    }
    return GLS_OK;
}
