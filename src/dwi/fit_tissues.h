/* Tissues of multi-tissue deconvolution: responses, images, normalisation. */
#ifndef GLS_DWI_FIT_TISSUES_H
#define GLS_DWI_FIT_TISSUES_H

#include <cJSON.h>

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/workflow.h>

#include "dwi/fit_model_parts.h"

/* "wm", "gm" or "csf". */
const char *gls_tissue_name(int kind);
/* Finds out whether b-values lie on a grid, as in diffusion spectrum imaging. *shells is then the number of weighted
 * shells; it is 0 if there is no grid, or no shell of three volumes. */
gls_status gls_tissues_grid(const gls_gradients *gradients, size_t *shells);
/* Reads the responses that the options name. Without responses, chooses the tissues by the number of shells. */
gls_status gls_tissues_init(gls_tissues *tissues, const gls_model_options *options, const gls_gradients *gradients);
/* Estimates the responses or, if they are given, compares them with the signal. direction: n directions of the
 * constraint along the scanner axes; NULL: the default. */
gls_status gls_tissues_respond(gls_tissues *tissues, const gls_image *dwi, const gls_gradients *gradients,
                               const gls_image *mask, const double (*direction)[3], size_t n,
                               const gls_monitor *monitor);
/* Fits the images of all tissues, or reads them from the cache. order: SH order of white matter. on: name of the device
 * that fits; NULL: the CPU. cache and key: as for gls_fit_cache_read(); NULL: no cache. */
gls_status gls_tissues_fit(gls_tissues *tissues, const gls_image *dwi, const gls_gradients *gradients,
                           const gls_image *mask, int order, const double (*direction)[3], size_t n, const char *on,
                           const char *cache, const cJSON *key, const gls_monitor *monitor);
/* Whether images with so many voxels in the mask are normalised: unless no_normalise is set, or the mask is small and
 * normalise is not set. */
bool gls_tissues_are_normalised(const gls_model_options *options, uint64_t voxels);
/* Normalises the images in place if gls_tissues_are_normalised(). */
gls_status gls_tissues_normalise(gls_tissues *tissues, const gls_model_options *options, const gls_image *mask);
/* Makes *fractions: three volumes, the fractions of CSF, grey matter and white matter. They sum to 1 in a voxel, or are
 * 0 if no tissue has a positive density. */
gls_status gls_tissues_fractions(const gls_tissues *tissues, gls_image **fractions);
/* Adds the responses, and the result of the normalisation, to a sidecar. */
void gls_tissues_describe(cJSON *model, const gls_tissues *tissues, const gls_model_options *options);
/* Frees responses and images, except the image of white matter, which belongs to the model. */
void gls_tissues_finish(gls_tissues *tissues);

#endif
