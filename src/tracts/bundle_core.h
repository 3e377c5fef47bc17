/* Operations on whole bundles: flipping streamlines to one direction, removing outliers, core lines, profiles. */
#ifndef GLS_TRACTS_BUNDLE_CORE_H
#define GLS_TRACTS_BUNDLE_CORE_H

#include <glslines/bundles.h>
#include <glslines/common.h>

#include "tracts/bundle_parts.h"

/* Flips members of a bundle so that all run in one direction. nodes: number of nodes of each streamline. */
void gls_bundle_orient(gls_bundle *bundle, uint32_t nodes);
/* Removes the outliers of a bundle. nodes: number of nodes of each streamline. */
gls_status gls_bundle_clean(gls_bundle *bundle, uint32_t nodes, const gls_clean_options *options);

#endif
