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
#define STEP 1e-3       /* step of the differences in Newton's method, in radians */
#define MAX_MOVE 0.05   /* longest step of Newton's method, in radians */
#define SMALL_MOVE 1e-7 /* a step below this is the last, in radians */

/* Value, two first, two second and the mixed derivative of a function at a point, in the tangent plane. */
enum { N_DERIVATIVES = 6 };

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

/* Evaluates the basis at u and at five points near it, from whose values differences() computes derivatives: row k of
 * `basis` belongs to point k. */
static void basis_near(int order, const double u[3], double *basis)
{
    /* steps along p and q from u */
    static const int step[N_DERIVATIVES][2] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}};
    double p[3], q[3], point[N_DERIVATIVES][3];
    tangents(u, p, q);
    for (int k = 0; k < N_DERIVATIVES; k++)
        for (int i = 0; i < 3; i++) point[k][i] = u[i] + STEP * (step[k][0] * p[i] + step[k][1] * q[i]);
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])point, N_DERIVATIVES, basis);
}

/* Derivatives of a function that has these values at the points of basis_near(). */
static void differences(const double value[N_DERIVATIVES], double d[N_DERIVATIVES])
{
    const double h = STEP, f = value[0], fa = value[1], ga = value[2], fb = value[3], gb = value[4], fab = value[5];
    d[0] = f;
    d[1] = (fa - ga) / (2 * h);
    d[2] = (fb - gb) / (2 * h);
    d[3] = (fa + ga - 2 * f) / (h * h);
    d[4] = (fb + gb - 2 * f) / (h * h);
    d[5] = (fab - fa - fb + f) / (h * h);
}

void gls_peak_rows(int order, const double u[3], double *rows)
{
    const size_t n = gls_sh_count(order);
    double basis[N_DERIVATIVES * MAX_COUNT], value[N_DERIVATIVES], d[N_DERIVATIVES];
    basis_near(order, u, basis);
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < N_DERIVATIVES; k++) value[k] = basis[k * n + j];
        differences(value, d);
        for (size_t k = 0; k < N_DERIVATIVES; k++) rows[k * n + j] = d[k];
    }
}

/* Takes a step of Newton's method from u. d: derivatives at u. Returns the length of the step in radians, `longest` at
 * most; a negative number, without a step, where the function is not concave. */
static double newton_step(const double d[N_DERIVATIVES], const double u[3], double longest, double to[3])
{
    /* Newton's step goes to a maximum only where the Hessian is negative definite. */
    const double det = d[3] * d[4] - d[5] * d[5];
    if (!(det > 0 && d[3] < 0)) return -1;
    const double a = -(d[4] * d[1] - d[5] * d[2]) / det, b = -(d[3] * d[2] - d[5] * d[1]) / det, length = hypot(a, b);
    const double scale = length > longest ? longest / length : 1;
    double p[3], q[3], norm = 0;
    tangents(u, p, q);
    for (int i = 0; i < 3; i++) {
        to[i] = u[i] + scale * (a * p[i] + b * q[i]);
        norm += to[i] * to[i];
    }
    for (int i = 0; i < 3; i++) to[i] /= sqrt(norm);
    return scale * length;
}

bool gls_peak_step(int order, const double *sh, const double *rows, const double u[3], double longest, double to[3])
{
    const size_t n = gls_sh_count(order);
    double d[N_DERIVATIVES] = {0};
    for (size_t k = 1; k < N_DERIVATIVES; k++)
        for (size_t j = 0; j < n; j++) d[k] += rows[k * n + j] * sh[j];
    return newton_step(d, u, longest, to) >= 0;
}

/* Value of a function whose basis has these n values at a point. */
static double value_of(const double *basis, const double *sh, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += basis[j] * sh[j];
    return sum;
}

double gls_peak_climb(int order, const double *sh, double u[3])
{
    const size_t n = gls_sh_count(order);
    double basis[N_DERIVATIVES * MAX_COUNT], value[N_DERIVATIVES], d[N_DERIVATIVES];
    for (int step = 0; step < NEWTON_STEPS; step++) {
        basis_near(order, u, basis);
        for (size_t k = 0; k < N_DERIVATIVES; k++) value[k] = value_of(basis + k * n, sh, n);
        differences(value, d);
        const double length = newton_step(d, u, MAX_MOVE, u);
        if (length < 0) return value[0];
        if (length < SMALL_MOVE) break;
    }
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])u, 1, basis);
    return value_of(basis, sh, n);
}
