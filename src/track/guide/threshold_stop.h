/* The guide without regions or tissue: ends a half-streamline where the stop map falls to the threshold. */
#ifndef GLS_TRACK_GUIDE_THRESHOLD_STOP_H
#define GLS_TRACK_GUIDE_THRESHOLD_STOP_H

#include <glslines/track.h>

#include "track/guide/guide.h"
#include "track/shader/layout.h"

extern const gls_guide_kind gls_guide_threshold; /* the stop map, in texture 0 */
/* Sets the threshold of the stop map: `uniforms` of all guides. */
void gls_stop_map_uniforms(const gls_track_params *params, gls_track_uniforms *uniforms);
/* Whether the stop map surely ends no half-streamline inside the mask regions, or anywhere in the grid if there are
 * none. True if no value of the map is negative, and an eighth of each value there is above the threshold:
 * interpolation gives a point at least an eighth of the value of its voxel. False if a mask region is a sphere or an
 * image on another grid. */
bool gls_stop_map_is_open(const gls_track_params *params, const gls_track_input *input);

#endif
