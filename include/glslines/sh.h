/* Real spherical harmonics in the four conventions in use: of even orders, or of all orders for functions without
 * antipodal symmetry. */
#ifndef GLSLINES_SH_H
#define GLSLINES_SH_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Coefficient (l, m) has index l (l + 1) / 2 + m for even l = 0 .. order, m = -l .. l, by all conventions. Full bases,
 * with odd degrees, have other indices, see gls_sh_full_count(). */
typedef enum gls_sh_basis {
    GLS_SH_DESCOTEAUX07_LEGACY, /* DIPY's default, and the basis used inside glslines */
    GLS_SH_DESCOTEAUX07,
    GLS_SH_TOURNIER07_LEGACY, /* MRtrix 0.2 */
    GLS_SH_TOURNIER07         /* MRtrix3 */
} gls_sh_basis;

/* Largest order of spherical harmonics that images of SH coefficients may have. */
#define GLS_SH_MAX_ORDER 16

/* Number of coefficients: (order + 1)(order + 2) / 2 for an even order 0 .. GLS_SH_MAX_ORDER, else 0. */
GLS_API size_t gls_sh_count(int order);
/* The even order that has n coefficients; -1: none. */
GLS_API int gls_sh_order(size_t n);
/* Degree l of coefficient j of an even basis. */
GLS_API int gls_sh_degree(size_t j);
/* Evaluates the basis functions at n directions (of any length above 0; a zero vector counts as +z): matrix[i * count +
 * j], row-major, n x gls_sh_count(order). */
GLS_API gls_status gls_sh_matrix(gls_sh_basis basis, int order, const double (*direction)[3], size_t n, double *matrix);
/* Full bases, for functions without antipodal symmetry, have odd degrees, too: coefficient (l, m) has index l (l + 1) +
 * m for l = 0 .. order, by the same formulas. For orders 1 .. GLS_SH_MAX_ORDER their number of coefficients is never
 * that of an even basis. Number of coefficients of a full basis: (order + 1)^2 for an order 0 .. GLS_SH_MAX_ORDER, else
 * 0. */
GLS_API size_t gls_sh_full_count(int order);
/* The order of a full basis that has n coefficients; -1: none. */
GLS_API int gls_sh_full_order(size_t n);
/* Like gls_sh_matrix() for a full basis: matrix is n x gls_sh_full_count(order). */
GLS_API gls_status gls_sh_full_matrix(gls_sh_basis basis, int order, const double (*direction)[3], size_t n,
                                      double *matrix);
/* Converts coefficients from one basis to another, in place; exact. */
GLS_API gls_status gls_sh_convert(gls_sh_basis from, gls_sh_basis to, int order, double *coefficients);
/* Parses the name of a basis, such as "descoteaux07_legacy". GLS_ERR_ARGUMENT for another name. */
GLS_API gls_status gls_sh_basis_parse(const char *name, gls_sh_basis *basis);

#ifdef __cplusplus
}
#endif
#endif
