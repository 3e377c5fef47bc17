/* Slices of an image: sampling, contrast, and planes in a view. */
#include "render/scene.h"

#include <math.h>
#include <stdlib.h>

#include "render/drawing.h"
#include "util/maths.h"
#include "util/status.h"

/* Depths are offset by this, so that all are positive. */
#define DEPTH_CENTRE (INT64_C(1) << 26)

void gls_sampler_init(gls_sampler *sampler, const gls_image *image)
{
    sampler->image = image;
    gls_grid_inverse(&image->grid, sampler->to_voxel);
}

/* Trilinear value at a world position; NAN outside the voxels. */
static double sample(const gls_sampler *s, const double world[3])
{
    const int32_t *dim = s->image->grid.dim;
    double v[3], f[3], sum = 0;
    int64_t i[3];
    gls_affine_apply(s->to_voxel, world, v);
    /* positions up to half a voxel beyond the outer voxel centres have the value at those centres */
    for (int a = 0; a < 3; a++) {
        if (!(v[a] >= -0.5 && v[a] <= dim[a] - 0.5)) return NAN;
        v[a] = fmin(fmax(v[a], 0), dim[a] - 1);
        i[a] = (int64_t)v[a];
        if (i[a] > dim[a] - 2) i[a] = dim[a] > 1 ? dim[a] - 2 : 0;
        f[a] = v[a] - (double)i[a];
    }
    const size_t row = (size_t)dim[0], slice = row * (size_t)dim[1];
    const size_t step[3] = {dim[0] > 1, dim[1] > 1 ? row : 0, dim[2] > 1 ? slice : 0};
    const float *data = s->image->data + (size_t)i[2] * slice + (size_t)i[1] * row + (size_t)i[0];
    for (unsigned corner = 0; corner < 8; corner++) {
        const unsigned x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
        const double weight = (x ? f[0] : 1 - f[0]) * (y ? f[1] : 1 - f[1]) * (z ? f[2] : 1 - f[2]);
        if (weight > 0) sum += weight * data[x * step[0] + y * step[1] + z * step[2]];
    }
    return sum;
}

float gls_sampler_at(const gls_sampler *sampler, const float world[3])
{
    const double p[3] = {world[0], world[1], world[2]};
    return (float)sample(sampler, p);
}

gls_status gls_window_choose(const gls_image *image, gls_window *window, bool *flat)
{
    size_t voxels = gls_grid_voxels(&image->grid), n = 0;
    float *sorted = malloc((voxels + 1) * sizeof *sorted);
    if (!sorted) return gls_fail(GLS_ERR_MEMORY, "out of memory for the range of %zu voxels", voxels);
    for (size_t i = 0; i < voxels; i++)
        if (isfinite(image->data[i]) && image->data[i] != 0) sorted[n++] = image->data[i];
    double range[2] = {0, 1};
    if (n > 0) gls_quantiles_of_floats(sorted, n, (const double[]){0.02, 0.98}, 2, range);
    window->low = range[0];
    window->high = range[1];
    /* where some voxels are 0, as around a mask, black is at most 0 */
    if (n > 0 && n < voxels && window->low > 0) window->low = fmin(window->low, 0);
    *flat = !(window->high > window->low) || n == 0;
    if (*flat) window->high = window->low + 1;
    free(sorted);
    return GLS_OK;
}

int64_t gls_depth_of(const gls_camera *c, const double world[3])
{
    double d = 0;
    for (int a = 0; a < 3; a++) d += (world[a] - c->centre[a]) * c->toward[a];
    /* depth in sixteenths of a sample, limited so that the sum below stays positive and within 32 bits */
    double z = d * c->scale * GLS_SAMPLES * 16, most = (double)(DEPTH_CENTRE / 2);
    return DEPTH_CENTRE + llround(fmin(fmax(z, -most), most));
}

/* Intersection of the ray through a sample with the plane across axis a. Returns false if there is none, or it lies
 * beyond the borders of the plane. */
static bool meet(const gls_planes *planes, const gls_camera *c, int a, const double on[3], double world[3])
{
    if (fabs(c->toward[a]) < 1e-6) return false;
    double t = (planes->at[a] - on[a]) / c->toward[a];
    for (int k = 0; k < 3; k++) {
        world[k] = k == a ? planes->at[a] : on[k] + t * c->toward[k];
        if (world[k] < planes->low[k] || world[k] > planes->high[k]) return false;
    }
    return true;
}

/* Draws the slices into one row of samples; the nearest slice hides the slices behind it. */
static void fill_row(const gls_planes *planes, const gls_camera *c, int64_t row, uint32_t *depth, uint32_t *colour)
{
    double step = 1 / (c->scale * GLS_SAMPLES), y = (c->height * GLS_SAMPLES / 2.0 - (double)row - 0.5) * step;
    uint32_t width = c->width * GLS_SAMPLES;
    for (uint32_t i = 0; i < width; i++) {
        /* the point of the picture plane under the middle of this sample */
        double x = (i + 0.5 - width / 2.0) * step, on[3], world[3];
        for (int a = 0; a < 3; a++) on[a] = c->centre[a] + x * c->right[a] + y * c->up[a];
        depth[i] = colour[i] = 0;
        for (int a = 0; a < 3; a++) {
            if (!planes->sampler || !planes->shown[a] || !meet(planes, c, a, on, world)) continue;
            double v = sample(planes->sampler, world);
            int64_t z = planes->is_behind ? 1 : gls_depth_of(c, world);
            /* a value of 0 lies outside the mask of the image, and hides nothing */
            if (isnan(v) || v == 0 || (uint32_t)z <= depth[i]) continue;
            double grey = (v - planes->window.low) / (planes->window.high - planes->window.low);
            depth[i] = (uint32_t)z;
            colour[i] = 0xff000000u | gls_colormap_at(GLS_GREY, grey);
        }
    }
}

void gls_planes_fill(const gls_planes *planes, const gls_camera *camera, int64_t first, uint32_t rows, uint32_t *depth,
                     uint32_t *colour)
{
    size_t width = (size_t)camera->width * GLS_SAMPLES;
#pragma omp parallel for schedule(static)
    for (uint32_t row = 0; row < rows; row++)
        fill_row(planes, camera, first + row, depth + row * width, colour + row * width);
}
