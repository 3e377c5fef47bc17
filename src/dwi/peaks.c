/* Peaks of sampled functions on a sphere, and their refinement between the vertices. */
#include <math.h>
#include <stdlib.h>

#include <glslines/peaks.h>
#include <glslines/sh.h>

#include "dwi/peaks.h"

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

/* --- Between the vertices. */

enum { NEWTON_STEPS = 6, MAX_COUNT = (GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2 };
#define STEP 1e-3     /* step of the differences in Newton's method, in radians */
#define MAX_MOVE 0.05 /* longest step of Newton's method, in radians */

/* Makes p and q: an orthonormal basis of the tangent plane at u. */
static void tangents(const double u[3], double p[3], double q[3])
{
    const bool first = fabs(u[0]) < 0.9;
    const double across[3] = {first ? 0 : -u[2], first ? u[2] : 0, first ? -u[1] : u[0]};
    const double norm = sqrt(across[0] * across[0] + across[1] * across[1] + across[2] * across[2]);
    for (int i = 0; i < 3; i++) p[i] = across[i] / norm;
    q[0] = u[1] * p[2] - u[2] * p[1];
    q[1] = u[2] * p[0] - u[0] * p[2];
    q[2] = u[0] * p[1] - u[1] * p[0];
}

void gls_peak_rows(int order, const double u[3], double *rows)
{
    /* steps along p and q from u, of the points whose values give the differences */
    static const int step[6][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}};
    const size_t n = gls_sh_count(order);
    const double h = STEP;
    double p[3], q[3], point[6][3], basis[6 * MAX_COUNT];
    tangents(u, p, q);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++) point[k][i] = u[i] + h * (step[k][0] * p[i] + step[k][1] * q[i]);
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])point, 6, basis);
    for (size_t j = 0; j < n; j++) {
        const double f = basis[j], fa = basis[n + j], ga = basis[2 * n + j], fb = basis[3 * n + j],
                     gb = basis[4 * n + j], fab = basis[5 * n + j];
        rows[j] = f;
        rows[n + j] = (fa - ga) / (2 * h);
        rows[2 * n + j] = (fb - gb) / (2 * h);
        rows[3 * n + j] = (fa + ga - 2 * f) / (h * h);
        rows[4 * n + j] = (fb + gb - 2 * f) / (h * h);
        rows[5 * n + j] = (fab - fa - fb + f) / (h * h);
    }
}

bool gls_peak_step(int order, const double *sh, const double *rows, const double u[3], double longest, double to[3])
{
    const size_t n = gls_sh_count(order);
    double d[6] = {0}, p[3], q[3];
    for (size_t k = 1; k < 6; k++)
        for (size_t j = 0; j < n; j++) d[k] += rows[k * n + j] * sh[j];
    /* Newton's step goes to a maximum only where the Hessian is negative definite. */
    const double det = d[3] * d[4] - d[5] * d[5];
    if (!(det > 0 && d[3] < 0)) return false;
    const double a = -(d[4] * d[1] - d[5] * d[2]) / det, b = -(d[3] * d[2] - d[5] * d[1]) / det, length = hypot(a, b);
    const double scale = length > longest ? longest / length : 1;
    tangents(u, p, q);
    double norm = 0;
    for (int i = 0; i < 3; i++) {
        to[i] = u[i] + scale * (a * p[i] + b * q[i]);
        norm += to[i] * to[i];
    }
    for (int i = 0; i < 3; i++) to[i] /= sqrt(norm);
    return true;
}

double gls_peak_climb(int order, const double *sh, double u[3])
{
    const size_t n = gls_sh_count(order);
    double rows[6 * MAX_COUNT], sum = 0;
    for (int step = 0;; step++) {
        gls_peak_rows(order, u, rows);
        if (step == NEWTON_STEPS || !gls_peak_step(order, sh, rows, u, MAX_MOVE, u)) break;
    }
    for (size_t j = 0; j < n; j++) sum += rows[j] * sh[j];
    return sum;
}
