#include "dwi/odf_parts.h"

#include <glslines/sh.h>

#include <math.h>

enum { NEWTON_STEPS = 6, MAX_COUNT = (GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2 };
#define STEP 1e-3     /* radians, of the differences in Newton's method */
#define MAX_MOVE 0.05 /* radians */

static double amplitude(int order, const double *sh, const double v[3])
{
    double basis[MAX_COUNT], sum = 0;
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])v, 1, basis);
    for (size_t j = 0; j < gls_sh_count(order); j++) sum += basis[j] * sh[j];
    return sum;
}

/* Amplitude at a point of the tangent plane. */
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
        double p[3] = {fabs(u[0]) < 0.9 ? 0 : -u[2], fabs(u[0]) < 0.9 ? u[2] : 0, fabs(u[0]) < 0.9 ? -u[1] : u[0]};
        double norm = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        for (int i = 0; i < 3; i++) p[i] /= norm;
        const double q[3] = {u[1] * p[2] - u[2] * p[1], u[2] * p[0] - u[0] * p[2], u[0] * p[1] - u[1] * p[0]};
        double f = at(order, sh, u, p, q, 0, 0), fa = at(order, sh, u, p, q, h, 0), fb = at(order, sh, u, p, q, 0, h);
        double ga = at(order, sh, u, p, q, -h, 0), gb = at(order, sh, u, p, q, 0, -h);
        double fab = at(order, sh, u, p, q, h, h);
        double da = (fa - ga) / (2 * h), db = (fb - gb) / (2 * h);
        double haa = (fa + ga - 2 * f) / (h * h), hbb = (fb + gb - 2 * f) / (h * h);
        double hab = (fab - fa - fb + f) / (h * h), det = haa * hbb - hab * hab;
        if (!(det > 0 && haa < 0)) break;
        double a = -(hbb * da - hab * db) / det, b = -(haa * db - hab * da) / det, length = hypot(a, b);
        double scale = length > MAX_MOVE ? MAX_MOVE / length : 1;
        for (int i = 0; i < 3; i++) u[i] += scale * (a * p[i] + b * q[i]);
        norm = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        for (int i = 0; i < 3; i++) u[i] /= norm;
    }
    return amplitude(order, sh, u);
}
