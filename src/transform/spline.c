/* Cubic B-splines (Unser 1999): a filter along each axis turns the values of an image into coefficients, and 64 of
 * these give a smooth value at any place. Splines overshoot at edges, so each value is cut to the range of the voxels
 * around. */
#include "transform/spline.h"

#include <math.h>
#include <stdlib.h>

#include "image/grid.h"
#include "util/status.h"

#define POLE (-0.26794919243112270647) /* of the filter: sqrt(3) - 2 */
#define GAIN 6.0                       /* which (1 - pole) (1 - 1 / pole) is */
/* Divisor of the stored coefficients. Along an axis a coefficient may be three times as large as the largest value, so
 * that those of large floats would be none. */
#define SCALE 32

/* Turns the n values of a line, which goes on as its mirror image beyond both ends, into coefficients. */
static void filter_line(double *line, size_t n)
{
    const size_t period = 2 * n - 2;
    double power = 1, sum = 0;
    if (n < 2) return;
    /* the sum over all mirror images begins the filter that goes forth */
    for (size_t k = 0; k < period && fabs(power) > 1e-20; k++, power *= POLE)
        sum += power * line[k < n ? k : period - k];
    line[0] = GAIN * sum / (1 - pow(POLE, (double)period));
    for (size_t k = 1; k < n; k++) line[k] = GAIN * line[k] + POLE * line[k - 1];
    line[n - 1] = POLE / (POLE * POLE - 1) * (line[n - 1] + POLE * line[n - 2]);
    for (size_t k = n - 1; k-- > 0;) line[k] = POLE * (line[k + 1] - line[k]);
}

/* Filters all lines of one volume along an axis. */
static gls_status filter_axis(float *volume, const int32_t dim[3], int axis)
{
    const size_t n = (size_t)dim[axis],
                 stride = axis == 0   ? 1
                          : axis == 1 ? (size_t)dim[0]
                                      : (size_t)dim[0] * (size_t)dim[1],
                 n_lines = (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2] / n;
    bool failed = false;
#pragma omp parallel
    {
        double *line = malloc(n * sizeof *line);
        if (!line) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (size_t l = 0; l < n_lines; l++) {
            float *first = volume + l / stride * stride * n + l % stride;
            if (!line) continue;
            for (size_t k = 0; k < n; k++) line[k] = (double)first[k * stride];
            filter_line(line, n);
            for (size_t k = 0; k < n; k++) first[k * stride] = (float)line[k];
        }
        free(line);
    }
    return failed ? gls_no_memory() : GLS_OK;
}

gls_status gls_spline_coefficients(const gls_image *image, gls_image **coefficients)
{
    const size_t n = gls_grid_voxels(&image->grid);
    gls_image *made = NULL;
    gls_status status = gls_image_allocate(&image->grid, image->n_volumes, false, &made);
    for (size_t i = 0; i < n * image->n_volumes && !status; i++) made->data[i] = image->data[i] / SCALE;
    for (size_t t = 0; t < image->n_volumes && !status; t++)
        for (int axis = 0; axis < 3 && !status; axis++) status = filter_axis(made->data + t * n, image->grid.dim, axis);
    if (status)
        gls_image_destroy(made);
    else
        *coefficients = made;
    return status;
}

/* Index of a voxel that may lie beyond the border, in the mirror image. */
static size_t mirror(int64_t k, int64_t n)
{
    const int64_t period = n > 1 ? 2 * n - 2 : 1, in = ((k % period) + period) % period;
    return (size_t)(in < n ? in : period - in);
}

void gls_spline_place_init(const int32_t dim[3], const double at[3], gls_spline_place *place)
{
    size_t stride = 1;
    for (int a = 0; a < 3; a++) {
        const double low = floor(at[a]), t = at[a] - low, u = 1 - t;
        const double weight[4] = {u * u * u / 6, (4 - 6 * t * t + 3 * t * t * t) / 6,
                                  (4 - 6 * u * u + 3 * u * u * u) / 6, t * t * t / 6};
        for (int k = 0; k < 4; k++) {
            place->weight[a][k] = weight[k];
            place->offset[a][k] = stride * mirror((int64_t)low + k - 1, dim[a]);
        }
        stride *= (size_t)dim[a];
    }
}

double gls_spline_value(const gls_spline_place *p, const float *volume, const float *coefficients)
{
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (int z = 0; z < 4; z++)
        for (int y = 0; y < 4; y++) {
            const double weight = p->weight[2][z] * p->weight[1][y];
            const size_t row = p->offset[2][z] + p->offset[1][y];
            for (int x = 0; x < 4; x++) {
                const size_t voxel = row + p->offset[0][x];
                sum += weight * p->weight[0][x] * (double)coefficients[voxel];
                least = fmin(least, (double)volume[voxel]);
                most = fmax(most, (double)volume[voxel]);
            }
        }
    return fmin(fmax(SCALE * sum, least), most);
}
