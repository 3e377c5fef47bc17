/* Geometry of single streamlines in double precision, and the axes of a cloud of points: eigenvectors of its matrix by
 * Jacobi rotations (Golub and Van Loan, Matrix Computations). */
#include "tracts/line_geometry.h"

#include <math.h>
#include <string.h>

/* Distance of two points, mm. */
static double distance(const float *p, const float *q)
{
    double x = (double)q[0] - p[0], y = (double)q[1] - p[1], z = (double)q[2] - p[2];
    return sqrt(x * x + y * y + z * z);
}

double gls_line_length(const float (*point)[3], size_t n)
{
    double length = 0;
    for (size_t i = 1; i < n; i++) length += distance(point[i - 1], point[i]);
    return length;
}

void gls_line_resample(const float (*point)[3], size_t n, size_t m, float (*out)[3])
{
    /* all points but the last are interpolated linearly; the last point is copied, so that it is exact */
    const double step = gls_line_length(point, n) / (double)(m - 1);
    double before = 0, segment = n > 1 ? distance(point[0], point[1]) : 0;
    size_t from = 0;
    for (size_t k = 0; k + 1 < m; k++) {
        double at = (double)k * step;
        while (from + 2 < n && before + segment <= at) {
            before += segment;
            from++;
            segment = distance(point[from], point[from + 1]);
        }
        double share = segment > 0 ? fmin(fmax((at - before) / segment, 0), 1) : 0;
        const float *p = point[from], *q = point[n > 1 ? from + 1 : from];
        for (int r = 0; r < 3; r++) out[k][r] = (float)(p[r] + share * ((double)q[r] - p[r]));
    }
    memcpy(out[m - 1], point[n - 1], sizeof *out);
}

size_t gls_line_part(const float (*point)[3], size_t n, double from, double until, float (*out)[3])
{
    double at = 0;
    size_t m = 0;
    for (size_t i = 0; i + 1 < n && at < until; i++) {
        const double mm = distance(point[i], point[i + 1]), end = at + mm;
        /* of a step that overlaps the part, append the last point inside the part; of the first such step, also the
         * first point */
        if (mm > 0 && end > from) {
            const double share[] = {fmax(from - at, 0) / mm, fmin(until - at, mm) / mm};
            for (int k = m == 0 ? 0 : 1; k < 2; k++, m++)
                for (int r = 0; r < 3; r++)
                    out[m][r] = (float)(point[i][r] + share[k] * ((double)point[i + 1][r] - point[i][r]));
        }
        at = end;
    }
    /* no step overlaps the part: return the first point of the line */
    if (m == 0) memcpy(out[m++], point[0], sizeof *out);
    return m;
}

bool gls_nodes_are_backwards(const float (*node)[3], const float (*standard)[3], size_t m)
{
    double there = 0, back = 0;
    for (size_t k = 0; k < m; k++) {
        there += distance(node[k], standard[k]);
        back += distance(node[m - 1 - k], standard[k]);
    }
    return there > back;
}

bool gls_line_is_backwards(const gls_orientation *o, const double centre[3], const float (*standard)[3],
                           const float (*point)[3], size_t n)
{
    float node[GLS_ORIENT_POINTS][3];
    double there = 0, back = 0;
    if (o->axis > 0) return point[n - 1][o->axis - 1] < point[0][o->axis - 1];
    if (o->line) {
        gls_line_resample(point, n, GLS_ORIENT_POINTS, node);
        return gls_nodes_are_backwards((const float(*)[3])node, standard, GLS_ORIENT_POINTS);
    }
    for (int a = 0; a < 3; a++) {
        there += (point[0][a] - centre[a]) * (point[0][a] - centre[a]);
        back += (point[n - 1][a] - centre[a]) * (point[n - 1][a] - centre[a]);
    }
    return back < there;
}

void gls_line_reverse(float (*point)[3], size_t n)
{
    float keep[3];
    for (size_t i = 0; i < n / 2; i++) {
        memcpy(keep, point[i], sizeof keep);
        memcpy(point[i], point[n - 1 - i], sizeof keep);
        memcpy(point[n - 1 - i], keep, sizeof keep);
    }
}

void gls_symmetric_decompose(double a[3][3], double value[3], double vector[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) vector[i][j] = i == j;
    /* sweeps converge quadratically: about 6 are enough for a 3 x 3 matrix; 60 bounds the loop for values that are
     * not finite */
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = fabs(a[0][1]) + fabs(a[0][2]) + fabs(a[1][2]);
        if (off == 0) break;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a[p][q] == 0) continue;
                /* the rotation by the smaller of the two angles that make a[p][q] zero */
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                if (isinf(theta)) t = 0;
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < 3; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                    x = vector[k][p];
                    y = vector[k][q];
                    vector[k][p] = c * x - s * y;
                    vector[k][q] = s * x + c * y;
                }
                a[p][q] = a[q][p] = 0;
            }
    }
    for (int i = 0; i < 3; i++) value[i] = a[i][i];
}
