/* The volume of the bootstrap: per voxel the hat fit's coefficients, the mean b0 signal and the scaled residuals, all linear in the signal. */
#include "track/internal.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

uint32_t gls_boot_coefficient_channels(const gls_qball *qball)
{
    return (uint32_t)(qball->k + 1 + 3) / 4 * 4;
}

uint32_t gls_boot_channels(const gls_qball *qball)
{
    return gls_boot_coefficient_channels(qball) + (uint32_t)(qball->n + 3) / 4 * 4;
}

/* Work space for one slice; rows are channels or volumes, columns are voxels. */
typedef struct slice_work {
    size_t n_voxels, n_volumes;
    float *signal;   /* n_volumes x voxels: a finite copy, scaled */
    float *channels; /* channels x voxels */
    float *fit;      /* (k + 1) x n_volumes: coefficients and mean b0 from the whole series */
    float *basis;    /* n x k */
    float *texels;   /* the channels, interleaved by fours */
} slice_work;

static void work_finish(slice_work *w)
{
    free(w->signal);
    free(w->channels);
    free(w->fit);
    free(w->basis);
    free(w->texels);
}

static gls_status work_init(slice_work *w, const gls_track_input *input)
{
    const gls_qball *q = input->qball;
    *w = (slice_work){.n_voxels = (size_t)input->dwi->grid.dim[0] * (size_t)input->dwi->grid.dim[1], .n_volumes = input->dwi->n_volumes};
    w->signal = malloc(w->n_volumes * w->n_voxels * sizeof(float));
    w->channels = calloc(gls_boot_channels(q) * w->n_voxels, sizeof(float));
    w->fit = calloc((q->k + 1) * w->n_volumes, sizeof(float));
    w->basis = malloc(q->n * q->k * sizeof(float));
    w->texels = malloc(gls_boot_channels(q) * w->n_voxels * sizeof(float));
    if (!w->signal || !w->channels || !w->fit || !w->basis || !w->texels) {
        work_finish(w);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the bootstrap volume");
    }
    for (size_t j = 0; j < q->k; j++)
        for (size_t i = 0; i < q->n; i++) {
            w->fit[j * w->n_volumes + q->volume[i]] = (float)q->basis_inverse[j * q->n + i];
            w->basis[i * q->k + j] = (float)q->basis[i * q->k + j];
        }
    for (size_t t = 0; t < w->n_volumes; t++)
        if (input->gradients->is_b0[t]) w->fit[q->k * w->n_volumes + t] = 1.0f / (float)input->gradients->n_b0;
    return GLS_OK;
}

/* Residuals in the rows of the hat signal: scale, then take the mean away. */
static void finish_residuals(slice_work *w, const gls_qball *q)
{
    float *hat = w->channels + gls_boot_coefficient_channels(q) * w->n_voxels;
#pragma omp parallel for schedule(static)
    for (size_t block = 0; block < w->n_voxels; block += 256) {
        size_t n = w->n_voxels - block < 256 ? w->n_voxels - block : 256;
        float mean[256] = {0};
        for (size_t i = 0; i < q->n; i++) {
            float scale = (float)q->leverage_scale[i], *row = hat + i * w->n_voxels + block;
            const float *signal = w->signal + q->volume[i] * w->n_voxels + block;
            for (size_t v = 0; v < n; v++) {
                row[v] = (signal[v] - row[v]) * scale;
                mean[v] += row[v];
            }
        }
        for (size_t v = 0; v < n; v++) mean[v] /= (float)q->n;
        for (size_t i = 0; i < q->n; i++) {
            float *row = hat + i * w->n_voxels + block;
            for (size_t v = 0; v < n; v++) row[v] -= mean[v];
        }
    }
}

static void fill_slice(slice_work *w, const gls_track_input *input, uint32_t z, float scale)
{
    const gls_qball *q = input->qball;
    size_t volume_size = gls_grid_voxels(&input->dwi->grid);
    const float *data = input->dwi->data + z * w->n_voxels;
#pragma omp parallel for schedule(static)
    for (size_t t = 0; t < w->n_volumes; t++)
        for (size_t v = 0; v < w->n_voxels; v++) {
            float x = data[t * volume_size + v];
            w->signal[t * w->n_voxels + v] = isfinite(x) ? x * scale : 0.0f;
        }
    int voxels = (int)w->n_voxels, k = (int)q->k, n = (int)q->n;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k + 1, voxels, (int)w->n_volumes, 1.0f, w->fit, (int)w->n_volumes, w->signal, voxels, 0.0f, w->channels, voxels);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, voxels, k, 1.0f, w->basis, k, w->channels, voxels, 0.0f,
                w->channels + gls_boot_coefficient_channels(q) * w->n_voxels, voxels);
    finish_residuals(w, q);
}

gls_status gls_boot_volume_fill(gls_volume *const *volumes, size_t n_volumes, const gls_track_input *input, double scale, size_t *failed)
{
    slice_work w;
    gls_status status = work_init(&w, input);
    if (status != GLS_OK) return status;
    for (uint32_t z = 0; z < (uint32_t)input->dwi->grid.dim[2] && status == GLS_OK; z++) {
        fill_slice(&w, input, z, (float)scale);
        status = gls_volume_write_slice(volumes, n_volumes, &input->dwi->grid, z, w.channels, w.texels, failed);
    }
    work_finish(&w);
    return status;
}
