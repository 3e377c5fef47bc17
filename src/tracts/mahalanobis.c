/* Mahalanobis distances of points from the centre of their cloud. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "tracts/bundle_parts.h"

/* Eigenvalues and eigenvectors of a symmetric matrix by Jacobi rotations (Golub and Van Loan, Matrix Computations). */
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

/* Pseudo-inverse of a symmetric matrix: eigenvalues below the tolerance count as 0, so that a flat cloud also has
 * distances. */
static void pseudo_inverse(const double c[3][3], double out[3][3])
{
    double a[3][3], value[3], vector[3][3];
    memcpy(a, c, sizeof a);
    gls_symmetric_decompose(a, value, vector);
    double largest = fmax(value[0], fmax(value[1], value[2])), tolerance = DBL_EPSILON * fmax(largest, 1e-6) * 3;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            out[i][j] = 0;
            for (int k = 0; k < 3; k++)
                if (value[k] > tolerance) out[i][j] += vector[i][k] * vector[j][k] / value[k];
        }
}

/* Inverts the upper triangle of c as a triangular matrix. Skips axes along which the points do not vary, where DIPY
 * fails. */
static void triangle_inverse(const double c[3][3], double out[3][3])
{
    const double least = DBL_EPSILON * fmax(c[0][0], fmax(c[1][1], c[2][2]));
    double one[3];
    memset(out, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++) out[i][i] = one[i] = c[i][i] > least ? 1 / c[i][i] : 0;
    out[0][1] = -c[0][1] * one[0] * one[1];
    out[1][2] = -c[1][2] * one[1] * one[2];
    out[0][2] = c[0][1] * c[1][2] * one[0] * one[1] * one[2] - c[0][2] * one[0] * one[2];
}

bool gls_mahalanobis(const float *point, size_t n, size_t stride, bool triangle, double *distance)
{
    double mean[3] = {0}, c[3][3] = {{0}}, inverse[3][3];
    bool flat = true;
    /* mean, then covariance with divisor n */
    for (size_t i = 0; i < n; i++)
        for (int r = 0; r < 3; r++) mean[r] += point[i * stride + (size_t)r];
    for (int r = 0; r < 3; r++) mean[r] /= (double)n;
    for (size_t i = 0; i < n; i++) {
        double d[3];
        for (int r = 0; r < 3; r++) d[r] = point[i * stride + (size_t)r] - mean[r];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) c[r][k] += d[r] * d[k];
    }
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            c[r][k] /= (double)n;
            /* tolerance of numpy.allclose() around 0, as DIPY compares */
            flat = flat && fabs(c[r][k]) <= 1e-8;
        }
    if (flat) return false;
    if (triangle)
        triangle_inverse((const double(*)[3])c, inverse);
    else
        pseudo_inverse((const double(*)[3])c, inverse);
    /* A negative sum can only come from rounding, or from the triangular matrix, which is not an inverse. */
    for (size_t i = 0; i < n; i++) {
        double d[3], sum = 0;
        for (int r = 0; r < 3; r++) d[r] = point[i * stride + (size_t)r] - mean[r];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) sum += d[r] * inverse[r][k] * d[k];
        distance[i] = sqrt(fmax(sum, 0));
    }
    return true;
}
