/* Parts that the methods of estimating responses share: candidate voxels, the fit of zonal coefficients, files. */
#ifndef GLS_DWI_RESPONSE_PARTS_H
#define GLS_DWI_RESPONSE_PARTS_H

#include <glslines/msmt.h>
#include <glslines/responses.h>

#include "util/output_file.h"

/* --- Candidate voxels for single bundles, with scores and axes. */

/* Order of responses of white matter, as in MRtrix3. */
#define GLS_RESPONSE_ORDER 10

/* Candidates. voxel: n indices in the order of the grid, each with a score (the higher, the more the voxel looks like a
 * single bundle) and an axis along the voxel axes. rank: positions in these arrays, the highest score first.
 * gls_candidates_start() makes the arrays with n = 0; its caller fills them. */
typedef struct gls_candidates {
    size_t n, *voxel, *rank;
    double *score, (*axis)[3];
} gls_candidates;

/* Allocates memory for n candidates. Call gls_candidates_finish() even after a failure. */
gls_status gls_candidates_start(gls_candidates *c, size_t n);
/* Frees the arrays of the candidates. */
void gls_candidates_finish(gls_candidates *c);
/* Sorts by falling score; equal scores in the order of the grid. */
void gls_candidates_rank(gls_candidates *c);
/* Returns GLS_ERR_INPUT if n is below 30, too few voxels for a response. */
gls_status gls_candidates_check(size_t n);
/* Response of the n best candidates, by gls_amp2response(). */
gls_status gls_candidates_respond(const gls_image *dwi, const gls_gradients *gradients, const gls_candidates *c,
                                  size_t n, int order, size_t shell, gls_tissue_response **response);
/* Makes an image of the n best candidates. voxels may be NULL. */
gls_status gls_candidates_mark(const gls_grid *grid, const gls_candidates *c, size_t n, gls_image **voxels);

/* Index and b-value of the shell at b-value `asked`; 0: the highest shell. */
gls_status gls_responses_choose_shell(const gls_gradients *gradients, double asked, size_t *which, double *bval);

/* --- A response from voxels whose fibre directions are known (Smith et al. 2017, amp2response of MRtrix3). */

/* Voxels and their fibre directions. */
typedef struct gls_fibres {
    const size_t *voxel;     /* n indices of voxels in the grid */
    const double (*axis)[3]; /* n unit vectors along the voxel axes; NULL for isotropic tissues */
    size_t n;
} gls_fibres;

/* Computes zonal coefficients of the signal of every shell by least squares, of order 0 for b0 and of order `order` for
 * the other shells, under the conditions that the signal is nowhere negative and never decreases from the fibre to the
 * equator. only: index of a shell, for a response of this shell alone; GLS_NO_SHELL: all shells. */
gls_status gls_amp2response(const gls_image *dwi, const gls_gradients *gradients, const gls_fibres *fibres, int order,
                            size_t only, gls_tissue_response **response);

/* Erodes the mask `erode` times, or fewer times if too few voxels would be left. *safe: one byte for each voxel, from
 * malloc. */
gls_status gls_responses_safe_mask(const gls_image *mask, int erode, uint8_t **safe);

/* Scores how much each of n voxels looks like a single bundle of white matter: fits the signal with a sharp response
 * and that of CSF, and divides the largest amplitude of the ODF, of SH order `order`, by the sum of the densities of
 * white matter and CSF. */
gls_status gls_dhollander_score(const gls_image *dwi, const gls_gradients *gradients,
                                const gls_responses_options *options, const size_t *voxel, size_t n,
                                const gls_tissue_response *csf, int order, double *score);

/* --- Writing responses together with other files. */

/* Like gls_response_write(), but as part of a group unless group is NULL. An existing file is an error unless
 * overwrite. */
gls_status gls_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                      const gls_response *response);
/* Like gls_tissue_response_write(), but as part of a group. */
gls_status gls_tissue_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                             const gls_tissue_response *response);

#endif
