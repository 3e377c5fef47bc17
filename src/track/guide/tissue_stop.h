/* The guide for tissue (ACT, or maps of good and bad ends), together with the stop map and regions: plan, textures and
 * definitions of glsl/guide/tissue.glsl, and the verdict on whole streamlines, which needs both half-streamlines. */
#ifndef GLS_TRACK_GUIDE_TISSUE_STOP_H
#define GLS_TRACK_GUIDE_TISSUE_STOP_H

#include "track/guide/guide.h"

extern const gls_guide_kind gls_guide_tissue; /* the stop map, regions if the input has any, and tissue */

#endif
