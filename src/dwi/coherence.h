/* Warns if ODFs or peaks seem to have been read along wrong axes, or ODFs in another basis. */
#ifndef GLS_DWI_COHERENCE_H
#define GLS_DWI_COHERENCE_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/odf.h>

/* Warns if directions fit together better from voxel to voxel along other axes than those of `frame`: directions of
 * ODFs, or, where odf is NULL, of peaks as gls_peaks_append() makes them. samples: number of samples of bedpostX in
 * `peaks`; 0: none. file: where the directions were read; NULL: a fit. Coefficients from a file are also tried in other
 * bases. Says nothing of ODFs that are not harmonics of even orders. */
void gls_coherence_advise(const gls_odf_source *odf, const gls_image *peaks, uint32_t samples, gls_bvec_frame frame,
                          const gls_image *mask, const char *file);

#endif
