/* Whether the models of an atlas lie as the streamlines do, or mirrored, as happens where LPS was taken for RAS. */
#ifndef GLS_GEOMETRY_RECOGNITION_MIRROR_H
#define GLS_GEOMETRY_RECOGNITION_MIRROR_H

#include "geometry/recognition_parts.h"

/* Sets `mirror` of a recognition. centroid: of the clusters of the tractogram, n of as many points as the features of
 * the models have, which were not moved yet. */
gls_status gls_recognition_find_mirror(gls_recognition *r, const float (*centroid)[3], size_t n);

#endif
