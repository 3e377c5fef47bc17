/* Seeds from lists and files, and random or regular seeds in the voxels of a region. */
#ifndef GLS_TRACK_SEEDS_H
#define GLS_TRACK_SEEDS_H

#include <stdint.h>

/* The float nearest to `position` that rounds to `centre` under any rule for ties. */
float gls_seed_inside_voxel(double position, int32_t centre);

#endif
