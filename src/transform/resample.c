/* Resamples images by transforms: nearest, trilinear, cubic, and votes of labels. */
#include "transform/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/labels.h"
#include "transform/spline.h"
#include "util/maths.h"
#include "util/status.h"

#define MAX_LABELS 4096   /* largest number of different labels of an image */
#define MAX_LABEL 0x1p24f /* values up to this are exact, and are counted */
#define COARSER 1.5       /* voxels that are more than this factor longer are sampled several times */
#define MAX_SAMPLES 4     /* largest number of samples along an axis */
#define MAX_VOTES (8 * MAX_SAMPLES * MAX_SAMPLES * MAX_SAMPLES)

bool gls_image_has_labels(const gls_image *image)
{
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    unsigned char *seen = calloc((size_t)MAX_LABEL / 8 + 1, 1);
    size_t different = 0;
    float largest = 0;
    bool labels = seen != NULL;
    for (size_t i = 0; i < n && labels; i++) {
        const float v = image->data[i];
        labels = v >= 0 && v <= (float)GLS_LABEL_MAX && v == floorf(v);
        if (!labels) break;
        largest = fmaxf(largest, v);
        if (v > MAX_LABEL) continue;
        const size_t k = (size_t)v;
        if (!(seen[k / 8] >> (k % 8) & 1)) labels = ++different <= MAX_LABELS;
        seen[k / 8] |= (unsigned char)(1 << (k % 8));
    }
    free(seen);
    return labels && largest > 1;
}

/* The eight voxels around a point, and their shares. */
typedef struct corners {
    size_t voxel[8];
    double share[8];
} corners;

/* The voxels around a point. */
typedef union spot {
    corners eight;
    gls_spline_place spline; /* of cubic interpolation alone */
} spot;

/* Finds the eight voxels around a point in voxel coordinates, each from 0 to dim - 1. */
static void find_corners(const gls_grid *grid, const double v[3], corners *c)
{
    double share[3];
    size_t at[3];
    for (int a = 0; a < 3; a++) {
        const double low = fmin(floor(v[a]), fmax(grid->dim[a] - 2, 0));
        at[a] = (size_t)low;
        share[a] = v[a] - low;
    }
    for (int k = 0; k < 8; k++) {
        c->share[k] = 1;
        c->voxel[k] = 0;
        for (int a = 2; a >= 0; a--) {
            const int up = k >> a & 1;
            c->share[k] *= up ? share[a] : 1 - share[a];
            c->voxel[k] = c->voxel[k] * (size_t)grid->dim[a] + at[a] + (size_t)(up && share[a] > 0);
        }
    }
}

/* One call of resampling: its images and how values are computed. */
typedef struct job {
    const gls_image *moving;
    gls_image *coefficients; /* of cubic interpolation alone */
    const gls_transform *transform;
    double to_voxel[3][4];
    gls_resampling how;
    float fill;
    int samples[3];
    gls_image *made;
} job;

/* Finds the voxels around a point, world mm. Beyond the outermost centres the values are those at the border. Returns
 * false more than half a voxel beyond. */
static bool find_spot(const job *j, const double world[3], spot *s)
{
    const gls_grid *grid = &j->moving->grid;
    double v[3];
    gls_affine_apply((const double(*)[4])j->to_voxel, world, v);
    for (int a = 0; a < 3; a++) {
        if (!(v[a] >= -0.5 && v[a] <= grid->dim[a] - 0.5)) return false;
        v[a] = fmin(fmax(v[a], 0), grid->dim[a] - 1);
    }
    if (j->how == GLS_RESAMPLE_CUBIC)
        gls_spline_place_init(grid->dim, v, &s->spline);
    else
        find_corners(grid, v, &s->eight);
    return true;
}

/* The label with the most votes among `n` values; of equal ones the lowest. */
static float elect(const float *value, const double *vote, int n)
{
    float best = 0;
    double most = -1;
    for (int i = 0; i < n; i++)
        if (vote[i] > most + 1e-9 || (vote[i] > most - 1e-9 && value[i] < best)) {
            best = value[i];
            most = fmax(vote[i], most);
        }
    return best;
}

/* The samples of a voxel: the voxels around each point that lies in the image. Returns their number. */
static int sample(const job *j, const size_t at[3], spot list[MAX_SAMPLES * MAX_SAMPLES * MAX_SAMPLES])
{
    int n = 0;
    for (int z = 0; z < j->samples[2]; z++)
        for (int y = 0; y < j->samples[1]; y++)
            for (int x = 0; x < j->samples[0]; x++) {
                const int k[3] = {x, y, z};
                double p[3];
                for (int a = 0; a < 3; a++) p[a] = (double)at[a] - 0.5 + (k[a] + 0.5) / j->samples[a];
                gls_affine_apply((const double(*)[4])j->made->grid.affine, p, p);
                if (!gls_transform_apply(j->transform, p, p)) continue;
                n += find_spot(j, p, &list[n]);
            }
    return n;
}

/* The mean of n samples of one volume. */
static float average(const float *data, const spot *list, int n)
{
    double sum = 0;
    for (int s = 0; s < n; s++)
        for (int k = 0; k < 8; k++) {
            const corners *c = &list[s].eight;
            if (c->share[k] > 0) sum += c->share[k] * (double)data[c->voxel[k]];
        }
    return (float)(sum / n);
}

/* The mean of n samples of one volume by splines. */
static float average_splines(const float *data, const float *coefficients, const spot *list, int n)
{
    double sum = 0;
    for (int s = 0; s < n; s++) sum += gls_spline_value(&list[s].spline, data, coefficients);
    return (float)(sum / n);
}

/* The label with the largest share of n samples. */
static float vote(const float *data, const spot *list, int n)
{
    float value[MAX_VOTES];
    double votes[MAX_VOTES];
    int n_values = 0;
    for (int s = 0; s < n; s++)
        for (int k = 0; k < 8; k++) {
            const corners *c = &list[s].eight;
            const float v = data[c->voxel[k]];
            int i = 0;
            if (c->share[k] <= 0) continue;
            while (i < n_values && value[i] != v) i++;
            if (i == n_values) votes[n_values] = 0, value[n_values++] = v;
            votes[i] += c->share[k];
        }
    return elect(value, votes, n_values);
}

/* The value of the nearest voxel. */
static float nearest(const float *data, const corners *c)
{
    size_t best = 0;
    for (size_t k = 1; k < 8; k++)
        if (c->share[k] > c->share[best]) best = k;
    return data[c->voxel[best]];
}

/* Makes all volumes of one voxel. Returns false if it lies outside. */
static bool make_voxel(const job *j, size_t voxel, spot *list)
{
    const gls_grid *grid = &j->made->grid;
    const size_t n = gls_grid_voxels(grid), n_moving = gls_grid_voxels(&j->moving->grid),
                 at[3] = {voxel % (size_t)grid->dim[0], voxel / (size_t)grid->dim[0] % (size_t)grid->dim[1],
                          voxel / (size_t)grid->dim[0] / (size_t)grid->dim[1]};
    const int found = sample(j, at, list);
    for (size_t t = 0; t < j->moving->n_volumes; t++) {
        const float *data = j->moving->data + t * n_moving;
        float value = j->fill;
        if (found > 0 && j->how == GLS_RESAMPLE_NEAREST) value = nearest(data, &list[0].eight);
        if (found > 0 && j->how == GLS_RESAMPLE_LINEAR) value = average(data, list, found);
        if (found > 0 && j->how == GLS_RESAMPLE_CUBIC)
            value = average_splines(data, j->coefficients->data + t * n_moving, list, found);
        if (found > 0 && j->how == GLS_RESAMPLE_LABEL) value = vote(data, list, found);
        j->made->data[t * n + voxel] = value;
    }
    return found > 0;
}

gls_status gls_image_resample(const gls_image *moving, const gls_transform *transform, const gls_grid *grid,
                              gls_resampling how, float fill, gls_image **made, uint64_t *n_outside)
{
    job j = {.moving = moving, .transform = transform, .how = how, .fill = fill};
    const double edge = cbrt(fabs(gls_grid_determinant(&moving->grid)));
    uint64_t outside = 0;
    bool failed = false;
    gls_grid_inverse(&moving->grid, j.to_voxel);
    for (int a = 0; a < 3; a++) {
        const double ratio = grid->voxel_size[a] / edge;
        const bool several = how != GLS_RESAMPLE_NEAREST && ratio > COARSER;
        j.samples[a] = several ? (int)fmin(ceil(ratio), MAX_SAMPLES) : 1;
    }
    gls_status status = how == GLS_RESAMPLE_CUBIC ? gls_spline_coefficients(moving, &j.coefficients) : GLS_OK;
    if (!status) status = gls_image_allocate(grid, moving->n_volumes, false, &j.made);
    const size_t n = status ? 0 : gls_grid_voxels(grid);
#pragma omp parallel reduction(+ : outside)
    {
        spot *list = malloc(MAX_SAMPLES * MAX_SAMPLES * MAX_SAMPLES * sizeof *list);
        if (!list) {
#pragma omp atomic write
            failed = true;
        }
#pragma omp for schedule(static)
        for (size_t v = 0; v < n; v++)
            if (list) outside += !make_voxel(&j, v, list);
        free(list);
    }
    gls_image_destroy(j.coefficients);
    if (failed && !status) status = gls_no_memory();
    if (status) {
        gls_image_destroy(j.made);
        return status;
    }
    *made = j.made;
    *n_outside = outside;
    return GLS_OK;
}

void gls_image_turn_vectors(gls_image *image, const gls_transform *transform)
{
    const gls_grid *grid = &image->grid;
    const size_t n = gls_grid_voxels(grid), n_vectors = image->n_volumes / 3;
    const double step = 0.5 * fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        double at[3] = {(double)(v % (size_t)grid->dim[0]), (double)(v / (size_t)grid->dim[0] % (size_t)grid->dim[1]),
                        (double)(v / (size_t)grid->dim[0] / (size_t)grid->dim[1])};
        double derivative[3][4], back[3][4];
        gls_affine_apply(grid->affine, at, at);
        const bool known = gls_transform_derivative(transform, at, step, derivative);
        if (known) gls_affine_invert((const double(*)[4])derivative, back);
        for (size_t k = 0; k < n_vectors; k++) {
            double from[3], to[3] = {NAN, NAN, NAN};
            for (size_t r = 0; r < 3; r++) from[r] = (double)image->data[(3 * k + r) * n + v];
            if (from[0] == 0 && from[1] == 0 && from[2] == 0) continue;
            if (known) gls_affine_apply((const double(*)[4])back, from, to);
            const double was = hypot(hypot(from[0], from[1]), from[2]), is = hypot(hypot(to[0], to[1]), to[2]);
            for (size_t r = 0; r < 3; r++) image->data[(3 * k + r) * n + v] = (float)(to[r] * (is > 0 ? was / is : 0));
        }
    }
}
