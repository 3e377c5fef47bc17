/* Permutation tests of a general linear model over many elements, such as the edges of connectomes: which differences
 * between subjects are larger than by chance, with the error over all elements under control. Freedman and Lane 1983;
 * the rules are those of MRtrix3's connectomestats and vectorstats. */
#ifndef GLS_TRACTS_PERMUTATION_H
#define GLS_TRACTS_PERMUTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>
#include <glslines/workflow.h>

/* One hypothesis: rows of a contrast matrix. */
typedef struct gls_hypothesis {
    const double *contrast; /* n_rows x n_columns of the design; borrowed */
    size_t n_rows;
    bool is_f; /* F-test: of one row, too, both signs count */
} gls_hypothesis;

/* A model of n subjects and n_elements measurements of each, for one hypothesis. All zero is empty. */
typedef struct gls_linear_model {
    size_t n, n_elements, n_columns, n_rows;
    bool is_f;
    double dof;       /* degrees of freedom: subjects minus columns */
    double *basis;    /* n_columns x n: orthonormal, first n_rows of what the hypothesis asks, then of the others */
    double *residual; /* n x n_elements: measurements without what the other columns explain */
    double *total;    /* for each element the sum of its squares; 0: noise alone is left, and its residual is 0 */
    double *noise;    /* for each element: a sum of squares of at most this is rounding noise; above 0 */
} gls_linear_model;

/* Effects of a model: for each element. */
typedef struct gls_effects {
    double *beta;      /* n_columns x n_elements: coefficients of the design */
    double *deviation; /* n_elements: standard deviation of the residuals; 0 if they are rounding noise */
    double *noise;     /* n_elements: standard deviation up to which they are; above 0 */
} gls_effects;

/* Methods by which values of neighbouring elements support each other. */
typedef enum gls_enhancement { GLS_ENHANCE_NONE, GLS_ENHANCE_NBS, GLS_ENHANCE_TFNBS } gls_enhancement;

typedef struct gls_enhancer {
    gls_enhancement kind;
    const int32_t (*edge)[2]; /* nodes of each element, from 0; NULL for GLS_ENHANCE_NONE; borrowed */
    size_t n_nodes;
    double threshold;          /* GLS_ENHANCE_NBS: least z of an edge */
    double dh, extent, height; /* GLS_ENHANCE_TFNBS: step of heights, exponents */
} gls_enhancer;

/* Result of the test of one hypothesis; arrays of n_elements. An element of which the columns that the hypothesis does
 * not ask for leave only rounding noise, such as one that is the same in all subjects, has the values 0 and no part in
 * null_max. One that the model explains wholly, with what is asked for, has the value of residuals as large as rounding
 * noise: about 1e14 as t. All zero is empty. */
typedef struct gls_permutation_result {
    double *statistic, *z, *enhanced; /* of the data: t or F, as a standard normal, and after enhancement */
    double *null_max;                 /* for each shuffle the largest enhanced value */
    uint64_t *below;                  /* shuffles whose value is below that of the data */
    uint64_t *contributions;          /* shuffles in which the element had the largest value */
} gls_permutation_result;

/* Prepares the model. y: n x n_elements; design: n x n_columns. GLS_ERR_INPUT: fewer subjects than columns and one, a
 * design or a contrast that is rank-deficient. Call gls_linear_model_finish() also after a failure. */
gls_status gls_linear_model_init(gls_linear_model *model, const double *y, size_t n, size_t n_elements,
                                 const double *design, size_t n_columns, const gls_hypothesis *hypothesis);
void gls_linear_model_finish(gls_linear_model *model);
/* Fits the design itself. */
gls_status gls_effects_find(gls_effects *effects, const double *y, size_t n, size_t n_elements, const double *design,
                            size_t n_columns);
void gls_effects_finish(gls_effects *effects);
/* Tests one hypothesis. permutation: n x n_shuffles, a column a shuffle, subjects from 0. Threads share the shuffles;
 * the result does not depend on their number. progress: is counted up by n_shuffles, and shown to the monitor (NULL:
 * none) on the way. GLS_ERR_CANCELLED: the monitor has asked to stop. Call gls_permutation_result_finish() also after a
 * failure. */
gls_status gls_permutation_run(const gls_linear_model *model, const gls_enhancer *enhancer, const uint32_t *permutation,
                               size_t n_shuffles, const gls_monitor *monitor, gls_progress *progress,
                               gls_permutation_result *result);
void gls_permutation_result_finish(gls_permutation_result *result);
/* Draws n_shuffles permutations of n subjects by a random seed, the first of which changes nothing. */
void gls_permutations_draw(uint64_t seed, size_t n, size_t n_shuffles, uint32_t *permutation);

#endif
