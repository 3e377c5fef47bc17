/* Maps streamlines to fixels: which streamline passes through which fixels, and over which length. */
#ifndef GLS_WEIGHTS_FIXEL_ROWS_PARTS_H
#define GLS_WEIGHTS_FIXEL_ROWS_PARTS_H

#include <stdint.h>

#include <glslines/device.h>
#include <glslines/fixels.h>
#include <glslines/image.h>
#include <glslines/streamlines.h>

#include "weights/fixel_parts.h"

/* --- The walk: the voxels that a streamline passes, with length and direction in each. */

/* Largest number of pieces of a segment between two points. */
#define GLS_WALK_MAX_RATIO 32
#define GLS_WALK_MAX_STEP 1e5 /* largest change of a coordinate from point to point, mm */

/* The passage of a streamline through one voxel. */
typedef struct gls_visit {
    /* index in the grid */
    size_t voxel;
    uint32_t direction; /* index of the nearest direction of gls_lobe_sphere */
    double length;      /* length of the passage along the curve, mm */
} gls_visit;

/* The grid as the walk uses it. The kernel glsl/weights/map.comp reads the same block. */
typedef struct gls_walk_block {
    /* to_grid: world mm to voxels; axis: columns are the steps of one voxel along each grid axis, world mm */
    double to_grid[3][4], axis[3][4];
    double metric[2][4]; /* factors xx, yy, zz, 2 xy, 2 xz, 2 yz that give the squared length, mm2, of a step in voxels;
                            square of the distance, mm2, to which faces of voxels are found; 1 / ratio */
    double shape[3][4];  /* factors that give each coefficient of the curve from the steps to the previous point, to the
                            next, and to the one after it */
    int32_t size[4];     /* voxels along each axis; pieces of each segment, 1 .. GLS_WALK_MAX_RATIO */
    double unit[2];      /* unit[0]: units of length in 1 mm; unit[1]: lengths up to this, mm, make no entry */
} gls_walk_block;

/* Where streamlines are walked: the grid of voxels, and the directions, of which each visit gets the nearest. */
typedef struct gls_walk_grid {
    /* the grid in the layout of the kernel's uniform block */
    gls_walk_block block;
    const gls_lobe_sphere *sphere;
} gls_walk_grid;

/* Visits of one streamline. All zero: empty. */
typedef struct gls_walk {
    /* number of visits, and of visits for which memory is allocated; visits are in the order along the streamline */
    size_t n, capacity;
    gls_visit *visit;
    bool failed; /* memory ran out */
} gls_walk;

/* --- The rows: a sparse matrix of lengths, one row for each streamline, in chunks. An entry takes 4 bytes, or 5 with
 * more than 2^24 fixels. */

/* An entry is a word of 32 bits: the fixel in the upper 24, the length in the lower 8. */
#define GLS_ROW_LENGTH_BITS 8
#define GLS_ROW_FIXEL_BITS 24
/* Costs are summed over groups of this many streamlines; all chunks but the last hold whole groups. */
#define GLS_ROW_GROUP 64
#define GLS_ROW_MAX_LENGTH 255 /* largest length of an entry; the unit is the diagonal of a voxel / 255 */

/* The rows of consecutive streamlines. */
typedef struct gls_chunk {
    size_t first, n; /* index of the first streamline, number of streamlines */
    uint32_t *start; /* n + 1 values: index of the first entry of each streamline, and the number of all entries */
    uint32_t *entry; /* low bits of the fixel << 8 | length in units */
    uint8_t *high;   /* for each entry the remaining bits of the fixel; NULL: none */
    unsigned low_bits;
    size_t n_capacity; /* allocated rows */
    size_t capacity;   /* allocated entries */
} gls_chunk;

/* The fixel of entry i. */
static inline uint32_t gls_chunk_fixel(const gls_chunk *c, size_t i)
{
    return c->entry[i] >> GLS_ROW_LENGTH_BITS | (c->high ? (uint32_t)c->high[i] << c->low_bits : 0);
}

/* The sparse matrix of lengths: a row for each streamline, with an entry for each fixel that it passes through, or
 * several if one cannot hold the length. Lengths of up to half a unit in one voxel and direction are left out. Rows are
 * stored in chunks, in the order of the streamlines. Not thread-safe: one thread adds streamlines. */
typedef struct gls_rows {
    /* borrowed; must outlive the rows */
    const gls_fixels *fixels;
    const float *mask;  /* for each voxel, a factor of the lengths inside it; NULL: 1 */
    const float *scale; /* for each voxel, a factor of the FOD's density; NULL: 1 */
    gls_walk_grid grid;
    unsigned low_bits; /* bits of a fixel in the word of an entry; wide: each entry has a byte for further bits */
    bool wide;
    size_t chunk_entries; /* largest number of entries in a chunk, unless its first group has more */
    size_t n_chunks;
    /* chunks in the order of the streamlines; owned */
    gls_chunk *chunk;
    size_t n, n_capacity; /* streamlines */
    float *contribution;  /* for each streamline: sum of its lengths in fixels, mm, times mask, not rounded to units */
    uint64_t *length; /* for each fixel the sum of the lengths of streamlines in it, in units; count: for each fixel its
                         number of entries. Both NULL unless devices have mapped all streamlines */
    uint32_t *count;
    uint64_t n_entries, n_without_points, n_outside, n_without_fixels;
    double low[3], high[3]; /* bounding box of all points, mm */
    struct row_thread *thread;
    /* number of threads; each has a work space in `thread` */
    int n_threads;
    size_t n_taken; /* streamlines received; those that wait for a device have no row yet */
} gls_rows;

/* Entries of a streamline before they are appended to a chunk. */
typedef struct gls_row_entries {
    uint32_t *const *entry;
    uint8_t *const *high; /* further bits, if entries are wide; else NULL */
    size_t first;
    /* number of entries */
    uint32_t n;
} gls_row_entries;

/* --- Mapping by a device, with the same bytes as on the CPU. */

/* Largest number of points and spare slots (see map_device.c) of a run, unless one streamline has more. */
#define GLS_MAPPER_POINTS ((size_t)1 << 23)

/* --- The queue in front of the mappers: collects streamlines while devices map earlier ones. */

typedef struct gls_row_queue gls_row_queue;

/* The queue maps a buffer as soon as it has this many points, 50 MB, by default. */
#define GLS_QUEUE_POINTS ((size_t)1 << 22)

#endif
