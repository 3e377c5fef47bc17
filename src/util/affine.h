/* 3x4 affine maps in double. */
#ifndef GLS_UTIL_AFFINE_H
#define GLS_UTIL_AFFINE_H

/* out = map applied to (p, 1); out may be p. */
static inline void gls_affine_apply(const double map[3][4], const double p[3], double out[3])
{
    double x = p[0], y = p[1], z = p[2];
    for (int r = 0; r < 3; r++) out[r] = map[r][0] * x + map[r][1] * y + map[r][2] * z + map[r][3];
}

static inline double gls_affine_det(const double a[3][4])
{
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

/* Inverse of a map whose determinant is not 0; out must not alias a. */
static inline void gls_affine_invert(const double a[3][4], double out[3][4])
{
    double s = 1.0 / gls_affine_det(a);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int r1 = (c + 1) % 3, r2 = (c + 2) % 3, c1 = (r + 1) % 3, c2 = (r + 2) % 3;
            out[r][c] = s * (a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1]);
        }
    }
    for (int r = 0; r < 3; r++) out[r][3] = -(out[r][0] * a[0][3] + out[r][1] * a[1][3] + out[r][2] * a[2][3]);
}

#endif
