/* Computes the q-ball model of every voxel as an image of SH coefficients. */
#include <glslines/qball.h>

#include "util/status.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BLOCK = 64 }; /* number of voxels read at a time: whole cache lines of every volume */

/* Inputs of the fit, and its result; all threads share them. */
typedef struct job {
    const gls_qball *qball;
    const gls_image *dwi, *mask;
    const size_t *b0;    /* indices of the b0 volumes */
    size_t n_b0, voxels; /* voxels: number of voxels of the grid */
    gls_image *sh;       /* k volumes of coefficients; threads write different voxels */
} job;

/* Values of one thread, in one allocation. signal: n x BLOCK, for the n weighted volumes; voxel: the n signals of a
 * voxel; coefficients: k; s0: mean b0 signal of each voxel of the block. */
typedef struct workspace {
    double *signal, *voxel, *coefficients;
    double s0[BLOCK];
} workspace;

/* Allocates the work space of a thread; free() frees the whole. NULL if memory runs out. */
static workspace *workspace_create(const gls_qball *q)
{
    workspace *w = malloc(sizeof *w + (q->n * (BLOCK + 1) + q->k) * sizeof(double));
    if (!w) return NULL;
    w->signal = (double *)(w + 1);
    w->voxel = w->signal + q->n * BLOCK;
    w->coefficients = w->voxel + q->n;
    return w;
}

/* Whether any voxel of the block lies in the mask. */
static bool block_in_mask(const job *j, size_t first, size_t count)
{
    if (!j->mask) return true;
    for (size_t v = first; v < first + count; v++)
        if (j->mask->data[v] > 0) return true;
    return false;
}

/* Copies the raw signals of `count` neighbouring voxels, and averages their b0 signals; a b0 signal below min_signal
 * counts as min_signal. */
static void read_block(const job *j, size_t first, size_t count, workspace *w)
{
    const gls_qball *q = j->qball;
    for (size_t v = 0; v < count; v++) w->s0[v] = 0;
    for (size_t i = 0; i < j->n_b0; i++) {
        const float *row = j->dwi->data + j->b0[i] * j->voxels + first;
        for (size_t v = 0; v < count; v++) w->s0[v] += fmax(row[v], q->options.min_signal) / (double)j->n_b0;
    }
    for (size_t i = 0; i < q->n; i++) {
        const float *row = j->dwi->data + q->volume[i] * j->voxels + first;
        for (size_t v = 0; v < count; v++) w->signal[i * BLOCK + v] = row[v];
    }
}

/* Fits the voxels of a block that lie in the mask. If a coefficient of a voxel is not finite, all coefficients of the
 * voxel stay 0. */
static void fit_block(const job *j, size_t first, size_t count, workspace *w)
{
    const gls_qball *q = j->qball;
    read_block(j, first, count, w);
    for (size_t v = 0; v < count; v++) {
        bool finite = true;
        if (j->mask && !(j->mask->data[first + v] > 0)) continue;
        for (size_t i = 0; i < q->n; i++) w->voxel[i] = w->signal[i * BLOCK + v];
        gls_qball_fit(q, w->voxel, w->s0[v], w->coefficients);
        for (size_t c = 0; c < q->k; c++) finite = finite && isfinite((float)w->coefficients[c]);
        for (size_t c = 0; c < q->k && finite; c++) j->sh->data[c * j->voxels + first + v] = (float)w->coefficients[c];
    }
}

/* Fits all blocks on all threads. GLS_ERR_MEMORY if a thread has no memory; some voxels are then not fitted. */
static gls_status fit_all(const job *j)
{
    long long blocks = (long long)((j->voxels + BLOCK - 1) / BLOCK);
    atomic_bool failed = false;
#pragma omp parallel
    {
        workspace *w = workspace_create(j->qball);
        if (!w) atomic_store(&failed, true);
#pragma omp for schedule(dynamic, 16)
        for (long long block = 0; block < blocks; block++) {
            size_t first = (size_t)block * BLOCK, count = j->voxels - first < BLOCK ? j->voxels - first : BLOCK;
            if (w && block_in_mask(j, first, count)) fit_block(j, first, count, w);
        }
        free(w);
    }
    return atomic_load(&failed) ? gls_fail(GLS_ERR_MEMORY, "out of memory for the q-ball fit of %zu voxels", j->voxels)
                                : GLS_OK;
}

gls_status gls_qball_fit_image(const gls_qball *qball, const gls_image *dwi, const gls_gradients *gradients,
                               const gls_image *mask, gls_image **sh)
{
    GLS_REQUIRE(qball && dwi && gradients && sh);
    GLS_REQUIRE_TABLE(gradients);
    if (dwi->n_volumes != gradients->n)
        return gls_fail(GLS_ERR_ARGUMENT, "the gradient table has %zu entries, the series %zu volumes", gradients->n,
                        dwi->n_volumes);
    if (qball->n + gradients->n_b0 != gradients->n || gradients->n_b0 == 0)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "the q-ball model has %zu weighted volumes, but the gradient table has %zu, or has no b0 volume", qball->n,
            gradients->n - gradients->n_b0);
    gls_status status = mask ? gls_grid_require_equal(&dwi->grid, "the series", &mask->grid, "the mask") : GLS_OK;
    if (status) return status;
    job j = {.qball = qball, .dwi = dwi, .mask = mask, .voxels = gls_grid_voxels(&dwi->grid)};
    size_t *b0 = malloc(gradients->n_b0 * sizeof *b0);
    if (!b0) return gls_fail(GLS_ERR_MEMORY, "out of memory for the q-ball fit of %zu voxels", j.voxels);
    for (size_t i = 0; i < gradients->n; i++)
        if (gradients->is_b0[i]) b0[j.n_b0++] = i;
    j.b0 = b0;
    status = gls_image_create(&dwi->grid, qball->k, &j.sh);
    if (!status) status = fit_all(&j);
    if (!status)
        *sh = j.sh;
    else
        gls_image_destroy(j.sh);
    free(b0);
    return status;
}
