/* The stop map as every guide has it: in the first texture. */
#ifndef GLS_TRACK_GUIDE_STOP_MAP_H
#define GLS_TRACK_GUIDE_STOP_MAP_H

#include "track/guide/guide.h"

gls_status gls_stop_map_create(gls_guide *guide, gls_device *device, const gls_track_input *input);
void gls_stop_map_uniforms(const gls_track_params *params, gls_track_uniforms *uniforms);

#endif
