/* Eigenvalues and eigenvectors of symmetric 3 x 3 matrices by Jacobi rotations (Golub and Van Loan, Matrix
 * Computations). */
#include <math.h>

#include "tracts/bundle_parts.h"

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
