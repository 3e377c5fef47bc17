/* Filters and bundles by regions whose images lie in another space than the streamlines. Each function is that of the
 * public interface without _in, to which `space` adds a transform from the space of streamlines to that of the images,
 * as for gls_rois_create(); borrowed while regions are added. NULL: both spaces are the same. */
#ifndef GLS_TRACTS_OTHER_SPACE_H
#define GLS_TRACTS_OTHER_SPACE_H

#include <glslines/bundles.h>
#include <glslines/select.h>

#include "transform/transform.h"

gls_status gls_selection_create_in(const gls_select_options *options, const gls_transform *space,
                                   gls_selection **selection);
gls_status gls_filter_crop_create_in(const char *region, const gls_crop_options *options, const gls_transform *space,
                                     const gls_sink *next, gls_sink *filter);
gls_status gls_bundles_read_in(const char *path, const gls_bundles_options *options, const gls_transform *space,
                               gls_bundles **bundles);

#endif
