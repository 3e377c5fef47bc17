/* What the ways to find voxels of single bundles share: ranked voxels with axes. */
#ifndef GLS_DWI_SINGLE_RESPONSE_H
#define GLS_DWI_SINGLE_RESPONSE_H

#include <glslines/responses.h>

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

#endif
