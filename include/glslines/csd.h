/* Constrained spherical deconvolution of one shell (Tournier et al. 2007), and the response function that it needs. */
#ifndef GLSLINES_CSD_H
#define GLSLINES_CSD_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest SH order of responses and of spherical deconvolution. */
#define GLS_CSD_MAX_ORDER 12

/* Response function: signal of a single fibre bundle along z, in one of two forms. */
typedef struct gls_response {
    bool is_zonal;   /* true: zonal[] holds the response; false: evals and s0 do */
    double evals[2]; /* mm2/s: diffusivity along the bundle and across it, evals[0] > evals[1] > 0. An evals[0] that
                        water cannot have, above 0.006 or below 5e-5, is GLS_ERR_INPUT */
    double s0;       /* signal without diffusion weighting, raw signal units, > 0 */
    double zonal[GLS_CSD_MAX_ORDER / 2 +
                 1]; /* SH coefficients (l, m = 0) of the signal of a shell, l = 0, 2, ..., raw signal units */
    int order;       /* highest even degree in zonal */
    size_t n_voxels; /* number of voxels from which the response was estimated; 0: it was given, not estimated */
} gls_response;

typedef struct gls_response_options {
    size_t size;    /* size of this struct, set by the default function */
    int roi_radius; /* voxels; a radius r means the voxels of the cube of 2 r + 1 voxels a side around the centre of the
                       grid; a cube that does not fit is made smaller; 0: the whole grid; default 10 */
    double fa_threshold;   /* only voxels with FA above this are used, 0 <= t < 1; default 0.7 */
    size_t n_voxels;       /* 0 (default): use the threshold; otherwise use the n voxels of highest FA instead, ties by
                              position; 300 is usual */
    size_t min_voxels;     /* fewer voxels are GLS_ERR_INPUT; >= 1, default 30 */
    const gls_image *mask; /* one volume on the grid of the series; only its voxels > 0 are used; NULL (default): all
                              voxels, also noise outside the head */
} gls_response_options;
GLS_API gls_response_options gls_response_options_default(void);

/* Chooses the shell to deconvolve to sh_order and returns its b-value (mean, s/mm2). requested > 0: the shell that it
 * names, see gls_gradients_find_shell(). requested 0: the shell of at least 500 s/mm2 with most volumes; among equals
 * the nearest to 2000 .. 3000. The choice among several shells and its reason are logged. GLS_ERR_INPUT: no shell will
 * do; the message lists the shells. */
GLS_API gls_status gls_csd_choose_shell(const gls_gradients *gradients, double requested, int sh_order, double *bval);

/* Estimates a response: mean of the tensors' first two eigenvalues and of the raw b0 signal, over voxels of the central
 * cube above the FA threshold or of highest FA. gradients describes volumes volume[0 .. gradients->n - 1] of the
 * series, as from gls_gradients_select_shell(); volume NULL: all volumes in order. GLS_ERR_INPUT: too few voxels exceed
 * the threshold (the message names the largest FA), or eigenvalues that are impossible for water, as from b-values in
 * other units. */
GLS_API gls_status gls_response_estimate(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                                         const gls_response_options *options, gls_response *response);

/* Reads a response from a text file with '#' comments, in one of two forms:
 * - one row of four positive numbers: evals[0] evals[1] evals[1] s0 (mm2/s, raw signal; the order in which DIPY's
 * functions return them);
 * - MRtrix3's: a row of zonal coefficients l = 0, 2, ... for every shell. A single row is used as it is. Several rows
 * must be one for every shell of the table, b0 included; the row of the shell with bval is used. The sign of the
 * coefficient for l = 2 distinguishes the two forms: it is negative in this form, because the signal is lowest along
 * the fibres. Zeros that pad the end of a row do not count. Coefficients above order sh_order are left out (sh_order 0:
 * above GLS_CSD_MAX_ORDER).
 * GLS_ERR_INPUT names the file and the numbers: the length fits neither form or is too short for sh_order, or the
 * values make no response. gradients: the table with all shells; with NULL only single rows are accepted. */
GLS_API gls_status gls_response_read(const char *path, int sh_order, const gls_gradients *gradients, double bval,
                                     gls_response *response);
/* Writes a response in the form that it has, and replaces an existing file. dwi2fod csd of MRtrix3 reads the form with
 * zonal coefficients. */
GLS_API gls_status gls_response_write(const char *path, const gls_response *response);
/* Converts a response with eigenvalues to one with zonal coefficients, by a least-squares SH fit of order sh_order to
 * its signal at the weighted vectors of a single-shell table. Zonal coefficients are copied up to sh_order;
 * GLS_ERR_INPUT: the response has fewer. */
GLS_API gls_status gls_response_to_zonal(const gls_response *response, const gls_gradients *gradients, int sh_order,
                                         gls_response *zonal);

/* The program whose method of deconvolution is used. Both methods add to the misfit the squares of the amplitudes that
 * are too low, and repeat until the same directions have too low amplitudes twice in a row.
 * DIPY: the method of ConstrainedSphericalDeconvModel. The first solution is the unconstrained one of all orders;
 * amplitudes below tau times the mean amplitude of this solution are driven to 0. The response must have coefficients
 * up to sh_order.
 * MRTRIX: the method of MRtrix3's dwi2fod csd; with the same directions the results differ by at most 1e-6 of the
 * largest coefficient. The first solution has orders up to 4; amplitudes below 0 are driven to 0; the squared norm of
 * the coefficients has a small weight; negative signal counts as 0. A coefficient that the response lacks counts as 0;
 * the constraint alone then decides these orders. */
typedef enum gls_csd_rule { GLS_CSD_RULE_DIPY, GLS_CSD_RULE_MRTRIX } gls_csd_rule;

typedef struct gls_csd_options {
    size_t size;        /* size of this struct, set by the default function */
    gls_csd_rule rule;  /* default GLS_CSD_RULE_DIPY */
    int sh_order;       /* even, 2 .. GLS_CSD_MAX_ORDER; default 8. An order may have more coefficients than there are
                           directions; with GLS_CSD_RULE_DIPY this gives a warning */
    double lambda;      /* weight of the constraint, > 0; default 1 */
    double tau;         /* DIPY's rule: fraction of the mean amplitude below which an amplitude is driven to 0, 0 <= tau
                           < 1; default 0.1 */
    int max_iterations; /* >= 1; default 50 */
    const gls_sphere *sphere;     /* directions of the constraint along the voxel axes; NULL (default): the built-in
                                     sphere "small", with GLS_CSD_RULE_MRTRIX "repulsion600" */
    const double (*direction)[3]; /* in place of `sphere`, which must then be NULL: n_directions unit vectors along the
                                     scanner axes; default NULL */
    size_t n_directions;
} gls_csd_options;
GLS_API gls_csd_options gls_csd_options_default(void);

/* Reports progress in voxels of the mask, on the calling thread. Return false to cancel. */
typedef bool (*gls_csd_progress)(void *user, size_t done, size_t total);

/* Deconvolves every voxel where mask (NULL: all) is > 0, on all cores. dwi, gradients and volume as for
 * gls_response_estimate(); the table must hold b0 volumes and one shell. sh gets gls_sh_count(sh_order) volumes of
 * GLS_SH_DESCOTEAUX07_LEGACY coefficients along the voxel axes, 0 outside the mask and in voxels with a value that is
 * not finite (counted in a warning). Voxels that do not converge keep their last solution and are counted in the log.
 * The same data give the same bytes for any number of threads. GLS_ERR_CANCELLED if progress (may be NULL) returns
 * false. */
GLS_API gls_status gls_csd_fit(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                               const gls_image *mask, const gls_response *response, const gls_csd_options *options,
                               gls_csd_progress progress, void *progress_user, gls_image **sh);

#ifdef __cplusplus
}
#endif
#endif
