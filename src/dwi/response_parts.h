/* What the estimates of responses share. */
#ifndef GLS_DWI_RESPONSE_PARTS_H
#define GLS_DWI_RESPONSE_PARTS_H

#include <glslines/msmt.h>
#include <glslines/responses.h>

#include "util/output_file.h"

/* --- What the ways to find voxels of single bundles share: ranked voxels with axes. */

#define GLS_RESPONSE_ORDER 10

/* Voxels in the order of the grid, each with a score and an axis along the voxel axes; rank: the best first. */
typedef struct gls_candidates {
    size_t n, *voxel, *rank;
    double *score, (*axis)[3];
} gls_candidates;

/* Room for n; finish() also where it fails. */
gls_status gls_candidates_start(gls_candidates *c, size_t n);
void gls_candidates_finish(gls_candidates *c);
/* By falling score, equal ones in the order of the grid. */
void gls_candidates_rank(gls_candidates *c);
/* An error if n voxels are too few for a response. */
gls_status gls_candidates_check(size_t n);
/* The response of the n best, as gls_amp2response(). */
gls_status gls_candidates_respond(const gls_image *dwi, const gls_gradients *gradients, const gls_candidates *c,
                                  size_t n, int order, size_t shell, gls_tissue_response **response);
/* An image of the n best; voxels may be NULL. */
gls_status gls_candidates_mark(const gls_grid *grid, const gls_candidates *c, size_t n, gls_image **voxels);

/* Index and b-value of the shell: the one asked for, for 0 the highest. */
gls_status gls_responses_choose_shell(const gls_gradients *gradients, double asked, size_t *which, double *bval);

/* --- A response from voxels whose fibres point along known directions (Smith et al. 2017, amp2response of MRtrix3). */

/* Voxels and what is known of them. */
typedef struct gls_fibres {
    const size_t *voxel;     /* n of the grid */
    const double (*axis)[3]; /* n unit vectors along the voxel axes; NULL for isotropic tissues */
    size_t n;
} gls_fibres;

/* Least-squares zonal coefficients of the signal of every shell, b0 to order 0 and the others to order, such that it is
 * nowhere negative and does not fall from the fibre to the equator. only: the shell (index) alone, as a response of one
 * shell, or GLS_NO_SHELL for all. */
gls_status gls_amp2response(const gls_image *dwi, const gls_gradients *gradients, const gls_fibres *fibres, int order,
                            size_t only, gls_tissue_response **response);

/* --- Parts that the estimates of responses share. */

/* The mask, eroded; fewer times where too little is left. From malloc. */
gls_status gls_responses_safe_mask(const gls_image *mask, int erode, uint8_t **safe);

/* How much each of n voxels looks like one bundle of white matter: the largest amplitude of its ODF of an order, fitted
 * with a sharp response and CSF, of the sum of both tissues. */
gls_status gls_dhollander_score(const gls_image *dwi, const gls_gradients *gradients,
                                const gls_responses_options *options, const size_t *voxel, size_t n,
                                const gls_tissue_response *csf, int order, double *score);

/* --- Responses written together with other files. */

/* gls_response_write() as part of a group, unless that is NULL; an existing file is an error unless overwrite. */
gls_status gls_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                      const gls_response *response);
/* gls_tissue_response_write() likewise. */
gls_status gls_tissue_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                             const gls_tissue_response *response);

#endif
