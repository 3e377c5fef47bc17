/* Constrained spherical deconvolution of one shell, for a whole series (Tournier et al. 2007). */
#ifndef GLS_DWI_CSD_H
#define GLS_DWI_CSD_H

#include <glslines/common.h>
#include <glslines/csd.h>
#include <glslines/gradients.h>
#include <glslines/sphere.h>

#include "dwi/csd_plan.h"

/* Makes the plan. harmonics: rotational harmonics of the response for l = 0, 2, ..., that is, the zonal coefficients of
 * the response divided by the coefficients of a delta along z; by MRtrix3's rule 0 beyond the order of the response.
 * sphere: directions of the constraint; the directions in `options` are not used. */
gls_status gls_csd_plan_init(gls_csd_plan *plan, const gls_gradients *gradients, const double *harmonics,
                             const gls_csd_options *options, const gls_sphere *sphere);
/* Frees the matrices of the plan. */
void gls_csd_plan_finish(gls_csd_plan *plan);

#endif
