/* Fixels of FODs: the sphere on which FODs are sampled, lobes of one FOD, fixels of an image. */
#ifndef GLS_WEIGHTS_FIXEL_PARTS_H
#define GLS_WEIGHTS_FIXEL_PARTS_H

#include <stdint.h>

#include <glslines/fixels.h>

#include "util/output_file.h"

/* --- The directions on which FODs are sampled for their segmentation: 1281 of a half-sphere, with their mesh and the
 * weights of an integral. */

#define GLS_LOBE_DIRECTIONS 1281
#define GLS_LOBE_NEIGHBOURS 6
#define GLS_LOBE_CELLS 32 /* along a side of a face of the cube */

typedef struct gls_lobe_sphere {
    double direction[GLS_LOBE_DIRECTIONS][3]; /* unit length; each stands for its antipode, too */
    /* of the mesh, in ascending order; where there are five the last one comes twice */
    uint16_t neighbour[GLS_LOBE_DIRECTIONS][GLS_LOBE_NEIGHBOURS];
    double weight[GLS_LOBE_DIRECTIONS]; /* of a sample in an integral over the whole sphere; their sum is 4 pi */
    uint16_t start[3][GLS_LOBE_CELLS][GLS_LOBE_CELLS]; /* a direction near the centre of each cell of a cube */
} gls_lobe_sphere;

/* Made at the first call; any thread. */
const gls_lobe_sphere *gls_lobe_sphere_get(void);

/* The direction nearest to the line along v, which is not 0; of equally near ones the first. */
uint16_t gls_lobe_sphere_nearest(const gls_lobe_sphere *sphere, const double v[3]);

/* --- The lobes of one FOD. */

#define GLS_MAX_LOBES 15 /* of a voxel; the table of directions has four bits for each */
#define GLS_NO_LOBE 15
#define GLS_LOBE_TABLE ((GLS_LOBE_DIRECTIONS + 1) / 2) /* bytes */

/* A local maximum with the directions that belong to it. */
typedef struct gls_lobe {
    double fd;           /* integral */
    double peak;         /* amplitude: refined where that was asked for */
    double direction[3]; /* mean, unit length */
    uint16_t seed;       /* its largest sample */
} gls_lobe;

/* Lobes in the order of falling seeds, and the one of each direction, two in a byte. */
typedef struct gls_lobes {
    int n;
    int dropped;    /* lobes beyond GLS_MAX_LOBES, the smallest ones */
    bool too_large; /* amplitudes or integrals are beyond what a float holds: no lobes */
    gls_lobe lobe[GLS_MAX_LOBES];
    uint8_t table[GLS_LOBE_TABLE];
} gls_lobes;

/* From the amplitudes at the directions of the sphere. order, sh: the same function as tournier07 coefficients, for the
 * refinement of peaks. A voxel without lobes has n = 0 and no table. */
void gls_lobes_find(const gls_fixel_options *options, const float amplitude[GLS_LOBE_DIRECTIONS], int order,
                    const double *sh, gls_lobes *lobes);

static inline int gls_lobe_of(const uint8_t *table, unsigned direction)
{
    return table[direction / 2] >> (direction % 2 * 4) & 15;
}

/* --- The inside of gls_fixels. */

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
gls_status gls_fixels_write_grouped(const gls_fixels *fixels, const char *directory, const gls_fixel_values *values,
                                    size_t n, bool overwrite, gls_output_group *group);

/* The fixel of a direction of the sphere, or GLS_NO_FIXEL. */
static inline uint32_t gls_fixel_at(const gls_fixels *f, size_t voxel, unsigned direction)
{
    const gls_fixel_voxel *v = &f->voxel[voxel];
    if (v->count == 0) return GLS_NO_FIXEL;
    int lobe = gls_lobe_of(f->table[voxel / GLS_FIXEL_BLOCK] + (size_t)v->table * GLS_LOBE_TABLE, direction);
    return lobe == GLS_NO_LOBE ? GLS_NO_FIXEL : v->first + (uint32_t)lobe;
}

#endif
