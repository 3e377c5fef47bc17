/* Peaks of sampled functions on a sphere, and their refinement between the vertices. */
#include <math.h>
#include <stdlib.h>

#include <glslines/peaks.h>
#include <glslines/sh.h>

#include "dwi/odf_parts.h"

gls_peak_options gls_peak_options_default(void)
{
    return (gls_peak_options){.size = sizeof(gls_peak_options), .relative_threshold = 0.25, .min_separation_angle = 45};
}

/* Whether no neighbour of vertex v has a larger value and at least one has a smaller one. */
static bool is_maximum(const gls_sphere *sphere, const double *value, size_t v)
{
    bool above_one = false;
    for (uint32_t i = sphere->first[v]; i < sphere->first[v + 1]; i++) {
        double other = value[sphere->neighbour[i]];
        if (other > value[v]) return false;
        if (other < value[v]) above_one = true;
    }
    return above_one;
}

/* Comparison for qsort_r(): vertices by falling value; equal values by index. user: the values. */
static int stronger_first(const void *a, const void *b, void *user)
{
    const double *value = user;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (value[x] != value[y]) return value[x] > value[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Whether the cosine of the angle between vertex v and each of the n accepted peaks is at most max_cosine. On an
 * antipodal sphere angles are between lines. */
static bool is_separate(const gls_sphere *sphere, uint32_t v, const uint32_t *accepted, size_t n, double max_cosine)
{
    const double *x = sphere->vertex[v];
    for (size_t i = 0; i < n; i++) {
        const double *y = sphere->vertex[accepted[i]];
        double cosine = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        if (sphere->antipodal) cosine = fabs(cosine);
        if (cosine > max_cosine) return false;
    }
    return true;
}

size_t gls_peaks_find(const gls_sphere *sphere, const double *value, const gls_peak_options *options, uint32_t *peak,
                      size_t capacity)
{
    /* vertices that are local maxima; accepted peaks move to the front */
    uint32_t list[GLS_SPHERE_MAX_DIRECTIONS];
    size_t n_maxima = 0, n_peaks = 0;
    const gls_peak_options defaults = gls_peak_options_default();
    if (!options) options = &defaults;
    /* find the local maxima, and the smallest value of all vertices */
    double minimum = 0;
    for (size_t v = 0; v < sphere->n; v++) {
        if (v == 0 || value[v] < minimum) minimum = value[v];
        if (is_maximum(sphere, value, v)) list[n_maxima++] = (uint32_t)v;
    }
    if (n_maxima == 0) return 0;
    /* From strong to weak, a maximum becomes a peak if it is high enough over the smallest value (over 0 if that is
     * negative) and far enough from the stronger peaks: the rule of DIPY's peak_directions. */
    qsort_r(list, n_maxima, sizeof *list, stronger_first, (void *)value);
    if (value[list[0]] < 0) return 0;
    if (minimum < 0) minimum = 0;
    double threshold = options->relative_threshold * (value[list[0]] - minimum),
           max_cosine = cos(M_PI / 180 * options->min_separation_angle);
    for (size_t m = 0; m < n_maxima; m++) {
        uint32_t v = list[m];
        /* a single maximum is a peak whatever the options say */
        if (n_maxima > 1 && (value[v] - minimum < threshold || !is_separate(sphere, v, list, n_peaks, max_cosine)))
            continue;
        list[n_peaks] = v;
        if (n_peaks < capacity) peak[n_peaks] = v;
        n_peaks++;
    }
    return n_peaks;
}

enum { NEWTON_STEPS = 6, MAX_COUNT = (GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2 };
#define STEP 1e-3     /* step of the differences in Newton's method, in radians */
#define MAX_MOVE 0.05 /* longest step of Newton's method, in radians */

/* Value of an SH function of even order along v, of which only the direction counts. */
static double amplitude(int order, const double *sh, const double v[3])
{
    const size_t n = gls_sh_count(order);
    double basis[MAX_COUNT], sum = 0;
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])v, 1, basis);
    for (size_t j = 0; j < n; j++) sum += basis[j] * sh[j];
    return sum;
}

/* Value at the point u + a p + b q of the tangent plane at u, projected onto the sphere. */
static double at(int order, const double *sh, const double u[3], const double p[3], const double q[3], double a,
                 double b)
{
    const double v[3] = {u[0] + a * p[0] + b * q[0], u[1] + a * p[1] + b * q[1], u[2] + a * p[2] + b * q[2]};
    return amplitude(order, sh, v);
}

double gls_peak_climb(int order, const double *sh, double u[3])
{
    const double h = STEP;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        /* p, q: orthonormal basis of the tangent plane at u */
        double p[3] = {fabs(u[0]) < 0.9 ? 0 : -u[2], fabs(u[0]) < 0.9 ? u[2] : 0, fabs(u[0]) < 0.9 ? -u[1] : u[0]};
        double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int i = 0; i < 3; i++) p[i] /= norm;
        const double q[3] = {u[1] * p[2] - u[2] * p[1], u[2] * p[0] - u[0] * p[2], u[0] * p[1] - u[1] * p[0]};
        /* gradient and Hessian by finite differences */
        double f = at(order, sh, u, p, q, 0, 0), fa = at(order, sh, u, p, q, h, 0), fb = at(order, sh, u, p, q, 0, h);
        double ga = at(order, sh, u, p, q, -h, 0), gb = at(order, sh, u, p, q, 0, -h);
        double fab = at(order, sh, u, p, q, h, h);
        double da = (fa - ga) / (2 * h), db = (fb - gb) / (2 * h);
        double haa = (fa + ga - 2 * f) / (h * h), hbb = (fb + gb - 2 * f) / (h * h);
        double hab = (fab - fa - fb + f) / (h * h), det = haa * hbb - hab * hab;
        /* Newton's step goes to a maximum only where the Hessian is negative definite. */
        if (!(det > 0 && haa < 0)) break;
        double a = -(hbb * da - hab * db) / det, b = -(haa * db - hab * da) / det, length = hypot(a, b);
        double scale = length > MAX_MOVE ? MAX_MOVE / length : 1;
        for (int i = 0; i < 3; i++) u[i] += scale * (a * p[i] + b * q[i]);
        norm = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int i = 0; i < 3; i++) u[i] /= norm;
    }
    return amplitude(order, sh, u);
}
