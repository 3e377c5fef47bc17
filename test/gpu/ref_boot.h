/* Bootstrap tracking once more, in double and in plain loops: nothing of the library's tracker but its random numbers
 * and its rules. Include after series.h.
 *
 * Interpolates the series itself, applies gls_qball_hat() and gls_qball_fit(), and finds peaks with gls_peaks_find():
 * none of the shortcuts of the kernels. */
#ifndef GLS_TEST_REF_BOOT_H
#define GLS_TEST_REF_BOOT_H

#include <glslines/peaks.h>
#include <glslines/sh.h>

#include "util/maths.h"

typedef struct ref_boot {
    const series *s;
    const gls_qball *qball;
    const gls_track_params *params;
    double *odf_matrix; /* vertices x k */
    uint32_t max_steps;
} ref_boot;

static inline void ref_init(ref_boot *r, const series *s, const gls_qball *qball, const gls_track_params *params)
{
    *r = (ref_boot){s, qball, params, malloc(s->sphere->n * qball->k * sizeof(double)),
                    (uint32_t)(params->max_length / params->step_size * (1 + 1e-9))};
    assert_ok(gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, qball->options.sh_order, (const double(*)[3])s->sphere->vertex,
                            s->sphere->n, r->odf_matrix));
}

static inline bool ref_inside(const gls_grid *grid, const double p[3])
{
    for (int a = 0; a < 3; a++)
        if (!(p[a] >= -0.5 && p[a] < grid->dim[a] - 0.5)) return false;
    return true;
}

static inline double ref_interpolate(const gls_image *image, size_t volume, const double p[3])
{
    const int32_t *dim = image->grid.dim;
    const float *data = image->data + volume * gls_grid_voxels(&image->grid);
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        size_t index[3];
        for (int a = 0; a < 3; a++) {
            double f = floor(p[a]);
            bool upper = corner >> a & 1;
            index[a] = (size_t)(upper ? fmin(f + 1, dim[a] - 1) : fmax(f, 0));
            weight *= upper ? p[a] - f : 1 - (p[a] - f);
        }
        if (weight != 0) sum += weight * data[(index[2] * (size_t)dim[1] + index[1]) * (size_t)dim[0] + index[0]];
    }
    return sum;
}

/* Volumes are sampled on a grid of 1/1024 voxel, see glsl/base/textures.glsl. */
static inline double ref_sample(const gls_image *image, size_t volume, const double p[3])
{
    double rounded[3];
    for (int a = 0; a < 3; a++) rounded[a] = floor(fmin(fmax(p[a], 0), image->grid.dim[a] - 1) * 1024 + 0.5) / 1024;
    return ref_interpolate(image, volume, rounded);
}

/* Returns the place of the draw in the random sequence, as glsl/base/common.glsl has it. */
typedef struct ref_draw {
    uint32_t attempt, step, seed_lo, stream;
} ref_draw;

static inline void ref_indices(const ref_boot *r, ref_draw draw, uint32_t *index)
{
    uint64_t n = r->qball->n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t words[4];
        gls_philox((const uint32_t[4]){(draw.attempt << 16) + i / 8, draw.step, draw.seed_lo, draw.stream},
                   r->params->rng_seed, words);
        /* two indices from a word: what the first leaves over, as a fraction, gives the second */
        uint64_t product = n * words[i % 8 / 2];
        index[i] = (uint32_t)((i % 2 == 0 ? product : n * (uint32_t)product) >> 32);
    }
}

/* Computes SH coefficients at p: of a bootstrap sample, or of the measured signal. */
static inline void ref_coefficients(const ref_boot *r, const double p[3], ref_draw draw, bool measured,
                                    double *coefficients)
{
    const gls_qball *q = r->qball;
    double signal[SERIES_DIRECTIONS], hat[SERIES_DIRECTIONS], residual[SERIES_DIRECTIONS], s0 = 0;
    uint32_t index[SERIES_DIRECTIONS];
    for (size_t t = 0; t < SERIES_VOLUMES; t++)
        if (r->s->gradients->is_b0[t]) s0 += fmax(ref_sample(r->s->dwi, t, p), q->options.min_signal) / SERIES_B0;
    for (size_t i = 0; i < q->n; i++) signal[i] = ref_sample(r->s->dwi, q->volume[i], p);
    if (!measured) {
        gls_qball_hat(q, signal, hat, residual);
        ref_indices(r, draw, index);
        for (size_t i = 0; i < q->n; i++) signal[i] = hat[i] + residual[index[i]];
    }
    gls_qball_fit(q, signal, s0, coefficients);
}

/* Finds the peaks of an ODF, strongest first. axis: of the soft angular weighting; NULL: none. */
static inline uint32_t ref_peaks_along(const ref_boot *r, const double *coefficients, const double *axis,
                                       uint32_t *peak, uint32_t capacity)
{
    const gls_sphere *sphere = r->s->sphere;
    double odf[1024], largest = -1e300;
    for (size_t v = 0; v < sphere->n; v++) {
        odf[v] = 0;
        for (size_t j = 0; j < r->qball->k; j++) odf[v] += r->odf_matrix[v * r->qball->k + j] * coefficients[j];
        if (axis)
            odf[v] *= 1 - r->params->angular_weight + r->params->angular_weight * fabs(dot3(sphere->vertex[v], axis));
        largest = fmax(largest, odf[v]);
    }
    for (size_t v = 0; v < sphere->n; v++)
        if (odf[v] < r->params->pmf_threshold * largest) odf[v] = 0;
    gls_peak_options options = {.size = sizeof options,
                                .relative_threshold = r->params->relative_peak_threshold,
                                .min_separation_angle = r->params->min_separation_angle};
    size_t n = gls_peaks_find(sphere, odf, &options, peak, capacity);
    return (uint32_t)(n < capacity ? n : capacity);
}

static inline uint32_t ref_peaks(const ref_boot *r, const double *coefficients, uint32_t *peak, uint32_t capacity)
{
    return ref_peaks_along(r, coefficients, NULL, peak, capacity);
}

/* Makes up to five attempts. Returns false if there is no direction. */
static inline bool ref_next(const ref_boot *r, const double p[3], const double d[3], ref_draw draw, double next[3])
{
    double limit = cos(r->params->max_angle * acos(-1.0) / 180);
    for (draw.attempt = 0; draw.attempt < 5; draw.attempt++) {
        double coefficients[64], nearest = -1;
        uint32_t peak[64], n, best = 0;
        ref_coefficients(r, p, draw, false, coefficients);
        n = ref_peaks_along(r, coefficients, d, peak, 64);
        for (uint32_t i = 0; i < n; i++) {
            double c = fabs(dot3(r->s->sphere->vertex[peak[i]], d));
            if (c > nearest) {
                nearest = c;
                best = peak[i];
            }
        }
        if (nearest >= limit) {
            const double *v = r->s->sphere->vertex[best];
            double sign = dot3(v, d) < 0 ? -1 : 1;
            for (int a = 0; a < 3; a++) next[a] = sign * v[a];
            return true;
        }
        if (n > 0 && r->params->boot_retry == GLS_BOOT_RETRY_PEAK) return false;
    }
    return false;
}

/* Tracks one half from p along d. points gets its points without the seed, *n their number. */
static inline gls_end ref_half(const ref_boot *r, const double seed[3], const double first[3], bool backward,
                               uint32_t seed_lo, uint32_t stream, double (*points)[3], uint32_t *n)
{
    const gls_grid *grid = &r->s->dwi->grid;
    double p[3] = {seed[0], seed[1], seed[2]}, d[3] = {first[0], first[1], first[2]}, next[3];
    ref_draw draw = {0, 1, seed_lo, stream};
    bool joint = backward;
    *n = 0;
    for (;;) {
        bool found = ref_next(r, p, d, draw, next);
        double q[3];
        for (int a = 0; found && a < 3; a++) q[a] = p[a] + next[a] * r->params->step_size / grid->voxel_size[a];
        bool inside = found && ref_inside(grid, q),
             goes_on = inside && ref_interpolate(r->s->stop, 0, q) > r->params->stop_threshold;
        if (joint) {
            /* against the first step of the forward half if it was made, else against the initial direction */
            for (int a = 0; a < 3; a++) d[a] = goes_on ? -next[a] : -d[a];
            joint = false;
            draw.step = 1u | 0x80000000u;
            continue;
        }
        if (!goes_on) return !found ? GLS_END_NO_DIRECTION : !inside ? GLS_END_OUTSIDE : GLS_END_STOP_MAP;
        memcpy(p, q, sizeof p);
        memcpy(d, next, sizeof d);
        memcpy(points[(*n)++], q, sizeof q);
        draw.step++;
        if (*n == r->max_steps) return GLS_END_MAX_LENGTH;
    }
}

#endif
