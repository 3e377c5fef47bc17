/* Registration of streamlines (SLR, Garyfallidis et al. 2015): the transform that brings one set of streamlines nearest
 * to another one, by the bundle minimum distance. Since 0.2.0. */
#ifndef GLSLINES_SLR_H
#define GLSLINES_SLR_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Transforms; each value is the number of parameters: 3 translations (mm), 3 rotations (degrees), 1 scale or 3, 3
 * shears (xy, xz, yz). */
typedef enum gls_slr_type {
    GLS_SLR_TRANSLATION = 3,
    GLS_SLR_RIGID = 6,
    GLS_SLR_SIMILARITY = 7,
    GLS_SLR_SCALING = 9,
    GLS_SLR_AFFINE = 12
} gls_slr_type;
/* Largest number of parameters. */
#define GLS_SLR_MAX 12

/* The measure that registration makes least. */
typedef enum gls_slr_metric {
    GLS_SLR_SYMMETRIC,  /* the bundle minimum distance, mm^2: a quarter of the square of the sum of two means, of the
                           distance of each fixed streamline from the nearest moving one, and the reverse */
    GLS_SLR_ASYMMETRIC, /* the first of these means, mm: moving streamlines that have no partner have no effect */
    GLS_SLR_SUM         /* the sum of the distances of all pairs of a fixed and a moving streamline, mm */
} gls_slr_metric;

typedef struct gls_slr_options {
    size_t size;       /* size of this struct, set by the default function */
    gls_slr_type type; /* default GLS_SLR_SIMILARITY */
    bool progressive;  /* default true: from translation on, each type begins with what the one before has found */
    bool centred; /* default true: parameters apply to streamlines whose means lie at the origin; false: as they are */
    const double *start; /* first parameters, as many as the type has; NULL, the default: those of the identity. With
                            `progressive` only NULL */
    double low[GLS_SLR_MAX], high[GLS_SLR_MAX]; /* bounds of the parameters of the type; default 35 mm, 45 degrees,
                                                   scales 0.6 to 1.4, shears 10, as DIPY's */
    uint32_t max_iterations;                    /* largest number of iterations for each type; default 100 */
    double value_tolerance;                     /* default 1e-7 */
    double gradient_tolerance;                  /* default 1e-5 */
    gls_slr_metric metric;                      /* default GLS_SLR_SYMMETRIC */
} gls_slr_options;
GLS_API gls_slr_options gls_slr_options_default(void);

typedef struct gls_slr_result {
    double matrix[4][4];           /* from moving to static world mm */
    double parameter[GLS_SLR_MAX]; /* as many as the type has */
    double before, after;          /* the metric: as the streamlines lie, and at the end */
    double stage[5];               /* the metric after 3, 6, 7, 9 and 12 parameters; NaN: as many were not sought */
    uint32_t iterations, evaluations;
    uint32_t at_bound; /* bit k is set where parameter k lies at a bound */
} gls_slr_result;

/* Finds the transform that brings `moving` to `fixed`: that with the least metric. Distances are MDF. fixed, moving: n
 * streamlines of `points` points each, world mm, finite. The result does not depend on the number of threads.
 * Memory: 12 bytes for each pair of a fixed and a moving streamline, 1.2 GB for 10,000 of each.
 * GLS_ERR_ARGUMENT: no streamlines; options that contradict each other. */
GLS_API gls_status gls_slr_find(const gls_slr_options *options, const float (*fixed)[3], size_t n_fixed,
                                const float (*moving)[3], size_t n_moving, size_t points, gls_slr_result *result);
/* The matrix of `n` parameters, without centring: translation, rotations around z, y and x, shears, scales. */
GLS_API void gls_slr_matrix(const double *parameter, size_t n, double matrix[4][4]);

#ifdef __cplusplus
}
#endif
#endif
