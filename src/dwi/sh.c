/* Real spherical harmonics in the bases of DIPY and MRtrix3. */
#include <glslines/sh.h>

#include "util/status.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

static const char *const basis_name[] = {
    [GLS_SH_DESCOTEAUX07_LEGACY] = "descoteaux07_legacy",
    [GLS_SH_DESCOTEAUX07] = "descoteaux07",
    [GLS_SH_TOURNIER07_LEGACY] = "tournier07_legacy",
    [GLS_SH_TOURNIER07] = "tournier07",
};

/* Whether the value is one of gls_sh_basis. */
static bool valid_basis(gls_sh_basis basis)
{
    return (unsigned)basis < sizeof basis_name / sizeof *basis_name;
}

size_t gls_sh_count(int order)
{
    if (order < 0 || order > GLS_SH_MAX_ORDER || order % 2 != 0) return 0;
    return (size_t)(order + 1) * (size_t)(order + 2) / 2;
}

int gls_sh_order(size_t n)
{
    for (int order = 0; order <= GLS_SH_MAX_ORDER; order += 2) {
        if (gls_sh_count(order) == n) return order;
    }
    return -1;
}

int gls_sh_degree(size_t j)
{
    int l = 0;
    while ((size_t)(l + 1) * (size_t)(l + 2) / 2 <= j) l += 2;
    return l;
}

gls_status gls_sh_basis_parse(const char *name, gls_sh_basis *basis)
{
    GLS_REQUIRE(name && basis);
    for (size_t i = 0; i < sizeof basis_name / sizeof *basis_name; i++) {
        if (strcmp(name, basis_name[i]) == 0) {
            *basis = (gls_sh_basis)i;
            return GLS_OK;
        }
    }
    return gls_fail(
        GLS_ERR_ARGUMENT,
        "unknown SH basis '%s' (there are: descoteaux07_legacy, descoteaux07, tournier07_legacy, tournier07)", name);
}

/* Factors of the recursion of Legendre functions. make_factors() fills them once, because computing their square roots
 * for every direction would take most of the time of an evaluation. */
static struct {
    double diagonal[GLS_SH_MAX_ORDER + 1], next[GLS_SH_MAX_ORDER + 1];
    double a[GLS_SH_MAX_ORDER + 1][GLS_SH_MAX_ORDER + 1], b[GLS_SH_MAX_ORDER + 1][GLS_SH_MAX_ORDER + 1];
} factor;

/* Factors of the recurrence for normalised associated Legendre functions: P_mm from P_(m-1)(m-1), P_(m+1)m from P_mm,
 * and P_lm = a (z P_(l-1)m - b P_(l-2)m). */
static void make_factors(void)
{
    for (int m = 0; m <= GLS_SH_MAX_ORDER; m++) {
        factor.diagonal[m] = m > 0 ? -sqrt((2.0 * m + 1) / (2.0 * m)) : 1;
        factor.next[m] = sqrt(2.0 * m + 3);
        for (int l = m + 2; l <= GLS_SH_MAX_ORDER; l++) {
            double l2 = (double)l * l, m2 = (double)m * m, k2 = (l - 1.0) * (l - 1.0);
            factor.a[m][l] = sqrt((4 * l2 - 1) / (l2 - m2));
            factor.b[m][l] = sqrt((k2 - m2) / (4 * k2 - 1));
        }
    }
}

/* Orthonormal associated Legendre functions with the Condon-Shortley sign: p[l][m] at z = cos(theta), s = sin(theta) >=
 * 0. */
static void legendre(int order, double z, double s, double p[GLS_SH_MAX_ORDER + 1][GLS_SH_MAX_ORDER + 1])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_factors);
    p[0][0] = sqrt(0.25 / M_PI);
    for (int m = 0; m <= order; m++) {
        if (m > 0) p[m][m] = factor.diagonal[m] * s * p[m - 1][m - 1];
        if (m < order) p[m + 1][m] = factor.next[m] * z * p[m][m];
        for (int l = m + 2; l <= order; l++)
            p[l][m] = factor.a[m][l] * (z * p[l - 1][m] - factor.b[m][l] * p[l - 2][m]);
    }
}

/* Computes the two functions of degree l and |m| = a > 0, for m = -a and m = +a, from the Legendre function p and
 * cosine and sine of a phi, in the order and with the signs and factors of each basis. */
static void basis_pair(gls_sh_basis basis, int a, double p, double cosine, double sine, double *minus, double *plus)
{
    switch (basis) {
    case GLS_SH_DESCOTEAUX07_LEGACY:
        *minus = M_SQRT2 * p * cosine;
        *plus = M_SQRT2 * p * sine;
        break;
    case GLS_SH_DESCOTEAUX07:
        *minus = (a % 2 ? -M_SQRT2 : M_SQRT2) * p * cosine;
        *plus = M_SQRT2 * p * sine;
        break;
    case GLS_SH_TOURNIER07_LEGACY:
        *minus = p * sine;
        *plus = p * cosine;
        break;
    case GLS_SH_TOURNIER07:
        *minus = M_SQRT2 * p * sine;
        *plus = M_SQRT2 * p * cosine;
        break;
    }
}

/* Evaluates degrees 0, step, 2 step, ... at n directions of any length: row i of matrix (n x count) is the basis at
 * direction i. step 2: even basis, function (l, m) at l (l + 1) / 2 + m; step 1: full basis, at l (l + 1) + m. */
static void fill_matrix(gls_sh_basis basis, int order, int step, const double (*direction)[3], size_t n, size_t count,
                        double *matrix)
{
    for (size_t i = 0; i < n; i++) {
        double x = direction[i][0], y = direction[i][1], z = direction[i][2], rho = hypot(x, y), r = hypot(rho, z);
        double p[GLS_SH_MAX_ORDER + 1][GLS_SH_MAX_ORDER + 1], cosine[GLS_SH_MAX_ORDER + 1], sine[GLS_SH_MAX_ORDER + 1];
        legendre(order, r > 0 ? z / r : 1, r > 0 ? rho / r : 0, p);
        /* cosine[m] and sine[m] of m phi by the addition theorem */
        cosine[0] = 1;
        sine[0] = 0;
        double c = rho > 0 ? x / rho : 1, s = rho > 0 ? y / rho : 0;
        for (int m = 1; m <= order; m++) {
            cosine[m] = c * cosine[m - 1] - s * sine[m - 1];
            sine[m] = s * cosine[m - 1] + c * sine[m - 1];
        }
        double *row = matrix + i * count;
        for (int l = 0; l <= order; l += step) {
            double *centre = row + l * (l + 1) / step;
            centre[0] = p[l][0];
            for (int a = 1; a <= l; a++) basis_pair(basis, a, p[l][a], cosine[a], sine[a], centre - a, centre + a);
        }
    }
}

gls_status gls_sh_matrix(gls_sh_basis basis, int order, const double (*direction)[3], size_t n, double *matrix)
{
    size_t count = gls_sh_count(order);
    GLS_REQUIRE(valid_basis(basis));
    GLS_REQUIRE(count > 0);
    GLS_REQUIRE(matrix && (direction || n == 0));
    fill_matrix(basis, order, 2, direction, n, count, matrix);
    return GLS_OK;
}

size_t gls_sh_full_count(int order)
{
    if (order < 0 || order > GLS_SH_MAX_ORDER) return 0;
    return (size_t)(order + 1) * (size_t)(order + 1);
}

int gls_sh_full_order(size_t n)
{
    for (int order = 0; order <= GLS_SH_MAX_ORDER; order++) {
        if (gls_sh_full_count(order) == n) return order;
    }
    return -1;
}

gls_status gls_sh_full_matrix(gls_sh_basis basis, int order, const double (*direction)[3], size_t n, double *matrix)
{
    size_t count = gls_sh_full_count(order);
    GLS_REQUIRE(valid_basis(basis));
    GLS_REQUIRE(count > 0);
    GLS_REQUIRE(matrix && (direction || n == 0));
    fill_matrix(basis, order, 1, direction, n, count, matrix);
    return GLS_OK;
}

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

gls_status gls_sh_convert(gls_sh_basis from, gls_sh_basis to, int order, double *coefficients)
{
    GLS_REQUIRE(valid_basis(from) && valid_basis(to));
    GLS_REQUIRE(gls_sh_count(order) > 0);
    GLS_REQUIRE(coefficients);
    bool from_tournier = from == GLS_SH_TOURNIER07 || from == GLS_SH_TOURNIER07_LEGACY;
    bool to_tournier = to == GLS_SH_TOURNIER07 || to == GLS_SH_TOURNIER07_LEGACY;
    /* functions without the factor sqrt(2) need larger coefficients */
    double scale = 1;
    if (from == GLS_SH_TOURNIER07_LEGACY && to != from) scale = M_SQRT1_2;
    if (to == GLS_SH_TOURNIER07_LEGACY && to != from) scale = M_SQRT2;
    /* the bases differ by sign, by factor sqrt(2), and by which of cosine and sine has m < 0 */
    for (int l = 2; l <= order; l += 2) {
        double *centre = coefficients + l * (l + 1) / 2;
        for (int a = 1; a <= l; a++) {
            double *minus = centre - a, *plus = centre + a;
            if (from == GLS_SH_DESCOTEAUX07 && a % 2) *minus = -*minus;
            if (from_tournier != to_tournier) swap(minus, plus);
            if (to == GLS_SH_DESCOTEAUX07 && a % 2) *minus = -*minus;
            *minus *= scale;
            *plus *= scale;
        }
    }
    return GLS_OK;
}
