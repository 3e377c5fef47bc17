/* Maps streamlines to fixels: which streamline passes through which fixels, and over which length. */
#ifndef GLS_WEIGHTS_FIXEL_ROWS_H
#define GLS_WEIGHTS_FIXEL_ROWS_H

#include <stdint.h>

#include <glslines/device.h>
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
/* Fills *walk. ratio: pieces of each segment. straight: straight segments instead of a cubic curve. unit: unit of
 * length, mm. */
void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight, double unit);

/* Visits of one streamline. All zero: empty. */
typedef struct gls_walk {
    /* number of visits, and of visits for which memory is allocated; visits are in the order along the streamline */
    size_t n, capacity;
    gls_visit *visit;
    bool failed; /* memory ran out */
} gls_walk;
/* Frees the visits. */
void gls_walk_finish(gls_walk *walk);

/* Finds the visits of n points, in order; parts outside the grid are left out. With fewer than two points there are no
 * visits. Points must be finite, and no coordinate may change by more than GLS_WALK_MAX_STEP from point to point. */
void gls_walk_visits(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n);

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

/* Unit of lengths, mm. */
double gls_rows_unit(const gls_rows *rows);
/* Makes empty rows. chunk_entries: see the member. mask is borrowed and may be NULL. Call gls_rows_finish() even after
 * a failure. */
gls_status gls_rows_init(gls_rows *rows, const gls_fixels *fixels, const float *mask, size_t chunk_entries);
/* Sets the number of bits of a fixel in an entry's word. Call before the first streamline. Tests set less than
 * GLS_ROW_FIXEL_BITS. */
void gls_rows_set_width(gls_rows *rows, unsigned low_bits);
/* Sets how streamlines are walked, see gls_walk_grid_init(). Call before the first streamline. */
void gls_rows_set_walk(gls_rows *rows, uint32_t ratio, bool straight);
/* Maps streamlines on several threads and appends their rows. GLS_ERR_INPUT for points that cannot be mapped. */
gls_status gls_rows_append(gls_rows *rows, const gls_streamlines *streamlines);
/* Frees all chunks and work space. */
void gls_rows_finish(gls_rows *rows);

/* Entries of a streamline before they are appended to a chunk. */
typedef struct gls_row_entries {
    uint32_t *const *entry;
    uint8_t *const *high; /* further bits, if entries are wide; else NULL */
    size_t first;
    /* number of entries */
    uint32_t n;
} gls_row_entries;
/* Appends n rows, which must be in the order of the streamlines. Row i has row[i].n entries; contribution[i]: as in
 * gls_rows, mm. */
gls_status gls_rows_collect(gls_rows *rows, const gls_row_entries *row, const float *contribution, size_t n);
/* Checks points and copies them to `to`. GLS_ERR_INPUT as gls_rows_append(). */
gls_status gls_rows_copy(gls_rows *rows, const gls_streamlines *streamlines, float (*to)[3]);
/* Maps streamlines that were already received by gls_rows_copy(), on several threads. */
gls_status gls_rows_map(gls_rows *rows, const gls_streamlines *streamlines);

/* --- Mapping by a device, with the same bytes as on the CPU. */

/* Largest number of points and spare slots (see map_device.c) of a run, unless one streamline has more. */
#define GLS_MAPPER_POINTS ((size_t)1 << 23)

typedef struct gls_mapper gls_mapper;

/* Result of the kernel for a streamline: n entries from `first` on among the entries of the run. */
typedef struct gls_mapped {
    uint32_t first, n;
    /* sum of lengths in fixels, mm, times mask */
    double contribution;
    /* visits: number of visits, see gls_visit; unused: pads the struct to the 24 bytes of the kernel's layout */
    uint32_t visits, unused;
} gls_mapped;

/* Inputs of the mapper. The caller keeps ownership, and the inputs must outlive the mapper. */
typedef struct gls_mapper_source {
    /* borrowed, and used by one thread at a time */
    gls_device *device;
    uint64_t device_bytes; /* device memory that may be used; 0: all */
    const gls_fixels *fixels;
    const float *mask; /* factor of the lengths inside each voxel; NULL: 1 */
    const gls_walk_grid *grid;
} gls_mapper_source;

/* Makes a mapper. GLS_ERR_DEVICE_MEMORY: the lobes of all voxels do not fit; GLS_ERR_UNSUPPORTED: the device has no
 * double precision. */
gls_status gls_mapper_create(const gls_mapper_source *source, gls_mapper **mapper);
/* Result of a run. Valid until the run after the next ends. */
typedef struct gls_mapper_result {
    size_t n;                 /* streamlines */
    const gls_mapped *mapped; /* one for each streamline */
    /* *entries: entries of the run; the pointer moves when a later run needs more room */
    uint32_t *const *entries;
} gls_mapper_result;
/* Starts a run for streamlines first .. first + *n - 1 of s. Lowers *n to the streamlines that fit. The device works on
 * after the call. */
gls_status gls_mapper_start(gls_mapper *mapper, const gls_streamlines *s, size_t first, size_t *n);
/* Waits for the run that was started last. */
gls_status gls_mapper_finish(gls_mapper *mapper, gls_mapper_result *result);
/* Adds what the mapper has mapped to the totals of all fixels: sums of lengths in units, and numbers of entries. */
gls_status gls_mapper_add_totals(const gls_mapper *mapper, uint64_t *length, uint32_t *count);
/* Frees `mapper`, which may be NULL. */
void gls_mapper_destroy(gls_mapper *mapper);

/* --- The queue in front of the mappers: collects streamlines while devices map earlier ones. */

typedef struct gls_row_queue gls_row_queue;

/* The queue maps a buffer as soon as it has this many points, 50 MB, by default. */
#define GLS_QUEUE_POINTS ((size_t)1 << 22)

/* Makes a queue that maps on n devices as soon as `points` points wait, with at most device_bytes of the memory of each
 * device (0: all). Rows are stored in the order of the streamlines. If a device fails, threads on the CPU continue,
 * with the same bytes. rows and devices are borrowed. */
gls_status gls_row_queue_create(gls_rows *rows, gls_device *const *devices, size_t n, uint64_t device_bytes,
                                size_t points, gls_row_queue **queue);
/* Copies the streamlines. May wait for a device. GLS_ERR_INPUT as gls_rows_append(). */
gls_status gls_row_queue_append(gls_row_queue *queue, const gls_streamlines *streamlines);
/* Maps the streamlines that still wait. Call it after the last streamline. */
gls_status gls_row_queue_end(gls_row_queue *queue);
/* Frees `queue`, which may be NULL. */
void gls_row_queue_destroy(gls_row_queue *queue);

#endif
