/* Makes fields of displacements from a velocity, and measures them. */
#include "registration/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "registration/trilinear.h"
#include "registration/velocity_host.h"
#include "registration/velocity_parts.h"
#include "util/maths.h"
#include "util/status.h"

#define INVERSE_POINTS 10000 /* the inverse is tested at about so many voxels */

/* Turns displacements along the voxel axes to RAS mm, in place. */
static void to_world(const gls_grid *grid, float *u)
{
    const size_t n = gls_grid_voxels(grid);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        const double d[3] = {(double)u[i], (double)u[n + i], (double)u[2 * n + i]};
        for (size_t r = 0; r < 3; r++)
            u[r * n + i] = (float)(grid->affine[r][0] * d[0] + grid->affine[r][1] * d[1] + grid->affine[r][2] * d[2]);
    }
}

gls_status gls_velocity_fields(const gls_velocity *velocity, gls_image **forward, gls_image **back)
{
    const size_t n = gls_grid_voxels(&velocity->grid);
    float *spare = malloc(3 * n * sizeof *spare);
    gls_status status = spare ? GLS_OK : gls_no_memory();
    *forward = *back = NULL;
    if (!status) status = gls_image_allocate(&velocity->grid, 3, false, forward);
    if (!status) status = gls_image_allocate(&velocity->grid, 3, false, back);
    for (int k = 0; k < 2 && !status; k++) {
        float *u = (k == 0 ? *forward : *back)->data;
        gls_velocity_host_flow(velocity->v, velocity->grid.dim, k == 0 ? 1 : -1, GLS_VELOCITY_SQUARINGS + 1, u, spare);
        to_world(&velocity->grid, u);
    }
    free(spare);
    if (!status) return GLS_OK;
    gls_image_destroy(*forward);
    gls_image_destroy(*back);
    *forward = *back = NULL;
    return status;
}

gls_status gls_field_jacobian(const gls_image *field, gls_image **jacobian)
{
    const gls_grid *grid = &field->grid;
    const size_t n = gls_grid_voxels(grid),
                 stride[3] = {1, (size_t)grid->dim[0], (size_t)grid->dim[0] * (size_t)grid->dim[1]};
    double inverse[3][4];
    gls_grid_inverse(grid, inverse);
    gls_status status = gls_image_allocate(grid, 1, false, jacobian);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        const size_t at[3] = {i % stride[1], i / stride[1] % (size_t)grid->dim[1], i / stride[2]};
        double along[3][3], j[3][4] = {{0}}; /* change of component r for a step along voxel axis a, then in mm */
        for (int a = 0; a < 3; a++) {
            const size_t low = at[a] > 0 ? stride[a] : 0, high = at[a] + 1 < (size_t)grid->dim[a] ? stride[a] : 0;
            const int apart = (low > 0) + (high > 0);
            for (size_t r = 0; r < 3; r++)
                along[r][a] =
                    apart ? ((double)field->data[r * n + i + high] - (double)field->data[r * n + i - low]) / apart : 0;
        }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                j[r][c] = r == c;
                for (int a = 0; a < 3; a++) j[r][c] += along[r][a] * inverse[a][c];
            }
        (*jacobian)->data[i] = (float)gls_affine_det((const double(*)[4])j);
    }
    return GLS_OK;
}

/* Returns the distance, mm, between the centre of a voxel and its image under `forward` and then `back`. */
static float return_error(const gls_image *forward, const gls_image *back, const double inverse[3][4], size_t i)
{
    const gls_grid *grid = &forward->grid;
    const size_t n = gls_grid_voxels(grid), nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    const double at[3] = {(double)(i % nx), (double)(i / nx % ny), (double)(i / nx / ny)};
    double world[3], square = 0, voxel[3];
    float p[3];
    gls_affine_apply(grid->affine, at, world);
    for (size_t r = 0; r < 3; r++) world[r] += (double)forward->data[r * n + i];
    gls_affine_apply(inverse, world, voxel);
    for (int a = 0; a < 3; a++) p[a] = (float)voxel[a];
    const gls_corners c = gls_corners_at(grid->dim, p);
    for (size_t r = 0; r < 3; r++) {
        const double d = (double)forward->data[r * n + i] + (double)gls_corners_value(&c, back->data + r * n);
        square += d * d;
    }
    return (float)sqrt(square);
}

gls_status gls_field_measure(const gls_image *forward, const gls_image *back, const gls_image *jacobian,
                             const uint8_t *mask, gls_field_quality *quality)
{
    static const double lengths[3] = {0.5, 0.99, 1}, volumes[5] = {0, 0.01, 0.5, 0.99, 1};
    const size_t n = gls_grid_voxels(&forward->grid);
    float *value = malloc(n * sizeof *value);
    double inverse[3][4], sum = 0, squares = 0;
    size_t counted = 0, tested = 0;
    *quality = (gls_field_quality){.folded = 0};
    if (!value) return gls_no_memory();
    gls_grid_inverse(&forward->grid, inverse);
    for (size_t i = 0; i < n; i++) {
        if (!mask[i]) continue;
        const double x = (double)forward->data[i], y = (double)forward->data[n + i],
                     z = (double)forward->data[2 * n + i];
        value[counted++] = (float)sqrt(x * x + y * y + z * z);
    }
    gls_quantiles_of_floats(value, counted, lengths, 3, quality->displacement);
    const size_t every = counted / INVERSE_POINTS + 1;
    counted = 0;
    for (size_t i = 0; i < n; i++) {
        if (!mask[i]) continue;
        if (counted++ % every == 0) value[tested++] = return_error(forward, back, (const double(*)[4])inverse, i);
    }
    gls_quantiles_of_floats(value, tested, lengths, 3, quality->inverse);
    counted = 0;
    for (size_t i = 0; i < n; i++) {
        if (!mask[i]) continue;
        const double j = (double)jacobian->data[i], l = log(fmax(j, 1e-6));
        quality->folded += !(j > 0);
        sum += l;
        squares += l * l;
        value[counted++] = jacobian->data[i];
    }
    if (counted > 0)
        quality->log_sd = sqrt(fmax(squares / (double)counted - sum / (double)counted * (sum / (double)counted), 0));
    gls_quantiles_of_floats(value, counted, volumes, 5, quality->jacobian);
    free(value);
    return GLS_OK;
}
