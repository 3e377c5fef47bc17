/* The guide for regions: ends half-streamlines at the stop map and at regions, and rejects streamlines that miss or
 * enter regions. */
#ifndef GLS_TRACK_GUIDE_REGION_STOP_H
#define GLS_TRACK_GUIDE_REGION_STOP_H

#include <glslines/track.h>

#include "track/guide/guide.h"

extern const gls_guide_kind gls_guide_regions; /* the stop map, and regions in texture 1 */
/* Returns the verdict of the region in which a half-streamline ended with `end`; GLS_VERDICT_KEPT if that end does not
 * reject the streamline. */
gls_verdict gls_guide_regions_verdict_of(gls_end end);
/* Whether this is the verdict of regions that reject each streamline with a point in them. */
bool gls_guide_regions_gave(gls_verdict verdict);

#endif
