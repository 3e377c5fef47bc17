/* Parts that the methods of estimating responses share: the fit of zonal coefficients, scores of voxels, files. */
#ifndef GLS_DWI_RESPONSE_PARTS_H
#define GLS_DWI_RESPONSE_PARTS_H

#include <glslines/msmt.h>
#include <glslines/responses.h>

#include "util/output_file.h"

/* Order of responses of white matter, as in MRtrix3. */
#define GLS_RESPONSE_ORDER 10

/* --- A response from voxels whose fibre directions are known (Smith et al. 2017, amp2response of MRtrix3). */

/* Voxels and their fibre directions. */
typedef struct gls_fibres {
    const size_t *voxel;     /* n indices of voxels in the grid */
    const double (*axis)[3]; /* n unit vectors along the voxel axes; NULL for isotropic tissues */
    size_t n;
} gls_fibres;

/* Computes zonal coefficients of the signal of every shell. b0, and with order 0 every shell, gets one coefficient,
 * from the mean signal. The other shells get the coefficients up to `order`, by least squares under the conditions that
 * the signal is nowhere negative and never decreases from the fibre to the equator. only: index of a shell, for a
 * response of this shell alone; GLS_NO_SHELL: all shells. */
gls_status gls_amp2response(const gls_image *dwi, const gls_gradients *gradients, const gls_fibres *fibres, int order,
                            size_t only, gls_tissue_response **response);

/* --- Writing responses together with other files. */

/* Like gls_response_write(), but as part of a group unless group is NULL. An existing file is an error unless
 * overwrite. */
gls_status gls_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                      const gls_response *response);
/* Like gls_tissue_response_write(), but as part of a group unless group is NULL. An existing file is an error unless
 * overwrite. */
gls_status gls_tissue_response_write_grouped(const char *path, bool overwrite, gls_output_group *group,
                                             const gls_tissue_response *response);

/* Fewest voxels of a reliable response. */
enum { GLS_RESPONSE_MIN_VOXELS = 30 };
/* Warns of responses of white matter, grey matter and CSF that come from fewer voxels. remedy: what to do. */
void gls_responses_doubt(const gls_tissue_response *const response[3], const char *remedy);

#endif
