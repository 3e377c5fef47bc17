/* The inside of gls_fixels. */
#ifndef GLS_WEIGHTS_FIXELS_H
#define GLS_WEIGHTS_FIXELS_H

#include <glslines/fixels.h>

#include "util/output_file.h"
#include "weights/segment.h"

#define GLS_FIXEL_BLOCK 64 /* voxels that a thread takes at once */
#define GLS_NO_FIXEL UINT32_MAX

typedef struct gls_fixel_voxel {
    uint32_t first; /* fixel */
    uint8_t count;
    uint8_t table; /* of the block's tables */
} gls_fixel_voxel;

struct gls_fixels {
    gls_grid grid;
    gls_fixel_voxel *voxel; /* of the grid */
    size_t n_blocks;
    uint8_t **table; /* of each block; NULL where it has none */
    size_t n, n_voxels;
    gls_fixel *fixel;
};

/* gls_fixels_write() as part of a group. */
gls_status gls_fixels_put(const gls_fixels *fixels, const char *directory, const gls_fixel_values *values, size_t n,
                          bool overwrite, gls_output_group *group);

/* The fixel of a direction of the sphere, or GLS_NO_FIXEL. */
static inline uint32_t gls_fixel_at(const gls_fixels *f, size_t voxel, unsigned direction)
{
    const gls_fixel_voxel *v = &f->voxel[voxel];
    if (v->count == 0) return GLS_NO_FIXEL;
    int lobe = gls_lobe_of(f->table[voxel / GLS_FIXEL_BLOCK] + (size_t)v->table * GLS_LOBE_TABLE, direction);
    return lobe == GLS_NO_LOBE ? GLS_NO_FIXEL : v->first + (uint32_t)lobe;
}

#endif
