/* From FODs to fixels: the sphere on which FODs are sampled, the lobes of one FOD, the fixels of an image. */
#ifndef GLS_WEIGHTS_FIXEL_PARTS_H
#define GLS_WEIGHTS_FIXEL_PARTS_H

#include <stdint.h>

#include <glslines/fixels.h>

#include "util/output_file.h"

/* --- The sphere of samples: 1281 directions of a half-sphere with their mesh and the weights of an integral. */

/* 1281 = (10 * 4^4 + 2) / 2: an icosahedron subdivided four times, one vertex of each antipodal pair. */
#define GLS_LOBE_DIRECTIONS 1281
/* Largest number of neighbours of a vertex; the vertices of the icosahedron itself have five. */
#define GLS_LOBE_NEIGHBOURS 6
#define GLS_LOBE_CELLS 32 /* number of cells along each side of a face of a cube round the sphere */

/* The half-sphere on which FODs are sampled, the same for all images; made once, then read-only. */
typedef struct gls_lobe_sphere {
    double direction[GLS_LOBE_DIRECTIONS][3]; /* unit vectors; each also stands for its antipode */
    /* neighbours in the mesh, ascending; a vertex with five neighbours repeats the last one */
    uint16_t neighbour[GLS_LOBE_DIRECTIONS][GLS_LOBE_NEIGHBOURS];
    double weight[GLS_LOBE_DIRECTIONS]; /* weight of a sample in an integral over the whole sphere; the sum is 4 pi */
    uint16_t start[3][GLS_LOBE_CELLS]
                  [GLS_LOBE_CELLS]; /* index of a direction near the centre of each cell of a cube round the sphere */
} gls_lobe_sphere;

/* --- The lobes of one FOD. */

/* Entry of the table of directions for directions that belong to no lobe. */
#define GLS_NO_LOBE 15
#define GLS_LOBE_TABLE ((GLS_LOBE_DIRECTIONS + 1) / 2) /* bytes of the table of directions */

/* Index of the lobe of a direction, from a table of two directions a byte, the even one in the low four bits;
 * GLS_NO_LOBE: none. */
static inline int gls_lobe_of(const uint8_t *table, unsigned direction)
{
    return table[direction / 2] >> (direction % 2 * 4) & 15;
}

/* --- The struct behind gls_fixels. */

#define GLS_FIXEL_BLOCK 64 /* voxels that a thread segments at a time */
/* Value in place of the index of a fixel if there is no fixel. */
#define GLS_NO_FIXEL UINT32_MAX

/* The fixels of a voxel, which follow each other, and its table of lobes: for each direction the fixel that it belongs
 * to. */
typedef struct gls_fixel_voxel {
    uint32_t first; /* index of the voxel's first fixel */
    uint8_t count;
    uint8_t table; /* index among the tables of the block */
} gls_fixel_voxel;

struct gls_fixels {
    /* grid of the image of FODs */
    gls_grid grid;
    gls_fixel_voxel *voxel; /* one for each voxel of the grid */
    /* number of blocks of GLS_FIXEL_BLOCK voxels */
    size_t n_blocks;
    uint8_t **table; /* tables of each block; NULL: no voxel of the block has fixels */
    /* numbers of fixels, and of voxels that have fixels */
    size_t n, n_voxels;
    /* n fixels in the order of voxels; the fixels of a voxel follow each other */
    gls_fixel *fixel;
};

/* The fixel of a direction of the sphere in a voxel, or GLS_NO_FIXEL. */
static inline uint32_t gls_fixel_at(const gls_fixels *f, size_t voxel, unsigned direction)
{
    const gls_fixel_voxel *v = &f->voxel[voxel];
    if (v->count == 0) return GLS_NO_FIXEL;
    int lobe = gls_lobe_of(f->table[voxel / GLS_FIXEL_BLOCK] + (size_t)v->table * GLS_LOBE_TABLE, direction);
    return lobe == GLS_NO_LOBE ? GLS_NO_FIXEL : v->first + (uint32_t)lobe;
}

#endif
