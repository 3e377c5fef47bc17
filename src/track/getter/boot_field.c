/* The field of the bootstrap: per voxel the hat fit's coefficients, the mean b0 signal and the scaled residuals, all
 * linear in the signal. */
#include "track/getter/boot_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/odf_parts.h"
#include "util/status.h"

uint32_t gls_boot_coefficient_channels(const gls_qball *qball)
{
    return (uint32_t)(qball->k + 1 + 3) / 4 * 4;
}

uint32_t gls_boot_channels(const gls_qball *qball)
{
    return gls_boot_coefficient_channels(qball) + (uint32_t)(qball->n + 3) / 4 * 4;
}

/* Matrices in the form that the products of blocks want, rows padded. */
typedef struct boot_fill {
    const gls_track_input *input;
    gls_odf_kernel multiply;
    size_t voxels;
    float scale;
    float *fit;   /* (k + 1) x n_volumes: coefficients and mean b0 from the whole series */
    float *basis; /* n x k */
} boot_fill;

_Static_assert((int)GLS_FIELD_BLOCK == (int)GLS_ODF_BLOCK, "blocks of a field are those of the products");

static size_t padded(size_t rows)
{
    return (rows + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
}

static float *matrix(size_t rows, size_t columns)
{
    size_t bytes = (padded(rows) * columns * sizeof(float) + 63) / 64 * 64;
    float *m = aligned_alloc(64, bytes);
    if (m) memset(m, 0, bytes);
    return m;
}

static gls_status fill_init(boot_fill *f, const gls_track_input *input, double scale)
{
    const gls_qball *q = input->qball;
    size_t n_volumes = input->dwi->n_volumes;
    *f = (boot_fill){.input = input,
                     .multiply = gls_odf_kernels[gls_cpu_level()],
                     .voxels = gls_grid_voxels(&input->dwi->grid),
                     .scale = (float)scale};
    f->fit = matrix(q->k + 1, n_volumes);
    f->basis = matrix(q->n, q->k);
    if (!f->fit || !f->basis) return gls_fail(GLS_ERR_MEMORY, "out of memory for the bootstrap volume");
    for (size_t j = 0; j < q->k; j++)
        for (size_t i = 0; i < q->n; i++) {
            f->fit[j * n_volumes + q->volume[i]] = (float)q->basis_inverse[j * q->n + i];
            f->basis[i * q->k + j] = (float)q->basis[i * q->k + j];
        }
    for (size_t t = 0; t < n_volumes; t++)
        if (input->gradients->is_b0[t]) f->fit[q->k * n_volumes + t] = 1.0f / (float)input->gradients->n_b0;
    return GLS_OK;
}

/* Residuals in the rows of the hat signal: scale, then take the mean away. */
static void finish_residuals(const gls_qball *q, const float *signal, float *hat)
{
    float mean[GLS_FIELD_BLOCK] = {0};
    for (size_t i = 0; i < q->n; i++) {
        float scale = (float)q->leverage_scale[i], *row = hat + i * GLS_FIELD_BLOCK;
        const float *measured = signal + q->volume[i] * GLS_FIELD_BLOCK;
        for (size_t v = 0; v < GLS_FIELD_BLOCK; v++) {
            row[v] = (measured[v] - row[v]) * scale;
            mean[v] += row[v];
        }
    }
    for (size_t v = 0; v < GLS_FIELD_BLOCK; v++) mean[v] /= (float)q->n;
    for (size_t i = 0; i < q->n; i++)
        for (size_t v = 0; v < GLS_FIELD_BLOCK; v++) hat[i * GLS_FIELD_BLOCK + v] -= mean[v];
}

/* A finite copy of the signals, scaled; voxels past count are 0. False if all are 0. */
static bool load_signal(const boot_fill *f, size_t first, size_t count, float *signal)
{
    bool any = false;
    for (size_t t = 0; t < f->input->dwi->n_volumes; t++) {
        const float *from = f->input->dwi->data + t * f->voxels + first;
        float *to = signal + t * GLS_FIELD_BLOCK;
        int32_t found = 0;
        for (size_t v = 0; v < count; v++) {
            to[v] = from[v] - from[v] == 0 ? from[v] * f->scale : 0;
            found |= to[v] != 0;
        }
        for (size_t v = count; v < GLS_FIELD_BLOCK; v++) to[v] = 0;
        any |= found;
    }
    return any;
}

static void fill_block(const void *user, size_t first, size_t count, float *rows, float *signal)
{
    const boot_fill *f = user;
    const gls_qball *q = f->input->qball;
    size_t residuals = gls_boot_coefficient_channels(q), channels = gls_boot_channels(q);
    memset(rows, 0, channels * GLS_FIELD_BLOCK * sizeof *rows);
    if (!load_signal(f, first, count, signal)) return;
    f->multiply(f->fit, padded(q->k + 1), q->k + 1, f->input->dwi->n_volumes, signal, GLS_FIELD_BLOCK, rows,
                GLS_FIELD_BLOCK);
    f->multiply(f->basis, padded(q->n), q->n, q->k, rows, GLS_FIELD_BLOCK, rows + residuals * GLS_FIELD_BLOCK,
                GLS_FIELD_BLOCK);
    finish_residuals(q, signal, rows + residuals * GLS_FIELD_BLOCK);
}

gls_status gls_boot_field_fill(gls_field *const *fields, size_t n_fields, const gls_track_input *input, double scale,
                               size_t *failed)
{
    boot_fill f;
    gls_status status = fill_init(&f, input, scale);
    const gls_field_source source = {
        .block = fill_block, .user = &f, .n_scratch = input->dwi->n_volumes * GLS_FIELD_BLOCK};
    if (status == GLS_OK) status = gls_field_fill(fields, n_fields, &input->dwi->grid, &source, failed);
    free(f.fit);
    free(f.basis);
    return status;
}
