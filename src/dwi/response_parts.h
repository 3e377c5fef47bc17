/* Parts that the methods of estimating responses share: the fit of zonal coefficients, scores of voxels, files. */
#ifndef GLS_DWI_RESPONSE_PARTS_H
#define GLS_DWI_RESPONSE_PARTS_H

#include <glslines/msmt.h>
#include <glslines/responses.h>

#include "util/output_file.h"

/* Order of responses of white matter, as in MRtrix3. */
#define GLS_RESPONSE_ORDER 10

/* --- Writing responses together with other files. */

/* Fewest voxels of a reliable response. */
enum { GLS_RESPONSE_MIN_VOXELS = 30 };

#endif
