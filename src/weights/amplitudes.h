/* FODs sampled at the directions of gls_lobe_sphere. */
#ifndef GLS_WEIGHTS_AMPLITUDES_H
#define GLS_WEIGHTS_AMPLITUDES_H

#include <stddef.h>

#include <glslines/common.h>

#define GLS_AMPLITUDE_STRIDE 1288 /* directions in whole vectors */
#define GLS_AMPLITUDE_VOXELS 4    /* that are sampled together */

/* rows[j * GLS_AMPLITUDE_STRIDE + i]: coefficient j of tournier07 at direction i; from aligned_alloc, 32 bytes. */
gls_status gls_amplitudes_matrix(int order, float **rows);

/* out[v * GLS_AMPLITUDE_STRIDE + i] of GLS_AMPLITUDE_VOXELS voxels, whose n coefficients lie at sh[v * n]. Rounds after
 * every operation, in the order of coefficients: the same on all processors. out is aligned to 32 bytes. */
void gls_amplitudes_sample(const float *rows, size_t n, const float *sh, float *out);

#endif
