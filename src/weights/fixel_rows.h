/* Which streamline passes through which fixels, and for how long. */
#ifndef GLS_WEIGHTS_FIXEL_ROWS_H
#define GLS_WEIGHTS_FIXEL_ROWS_H

#include <stdint.h>

#include <glslines/device.h>
#include <glslines/image.h>
#include <glslines/streamlines.h>

#include "weights/fixel_parts.h"

/* --- The voxels through which a streamline passes, with length and direction inside each. */

#define GLS_WALK_MAX_RATIO 32
#define GLS_WALK_MAX_STEP 1e5 /* mm between two points */

/* A passage through a voxel of the grid. */
typedef struct gls_visit {
    size_t voxel;
    uint32_t direction; /* of the sphere of lobes */
    double length;      /* along the curve, mm */
} gls_visit;

/* The grid as walks need it; the kernel reads the same block (glsl/weights/map.comp). */
typedef struct gls_walk_block {
    double to_grid[3][4], axis[3][4];
    double metric[2][4]; /* xx, yy, zz, 2 xy, 2 xz, 2 yz of squared lengths, mm2; square of the precision; 1 / ratio */
    double shape[3][4];  /* of each coefficient of a curve: of the ways to the point before, the next, the one behind */
    int32_t size[4];     /* voxels; pieces of each segment, 1 .. GLS_WALK_MAX_RATIO */
    double unit[2];      /* units of length in a mm; mm: sums of this or less make no entry */
} gls_walk_block;

typedef struct gls_walk_grid {
    gls_walk_block block;
    const gls_lobe_sphere *sphere;
} gls_walk_grid;
/* unit: of lengths, mm */
void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight, double unit);

/* Room for one streamline; all zero at first. */
typedef struct gls_walk {
    size_t n, capacity;
    gls_visit *visit;
    bool failed; /* memory ran out */
} gls_walk;
void gls_walk_finish(gls_walk *walk);

/* The visits of n points (any number; one or none has no visits), in order; what lies outside the grid is left out.
 * Points are finite and at most GLS_WALK_MAX_STEP apart. */
void gls_walk_visits(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n);

/* --- Which streamline passes through which fixels for how long: a sparse matrix of 4 bytes an entry, 5 for more than
 * 2^24 fixels, in chunks of streamlines. */

#define GLS_ROW_LENGTH_BITS 8
#define GLS_ROW_FIXEL_BITS 24
#define GLS_ROW_GROUP 64       /* costs are summed over this many streamlines: chunks are multiples of it */
#define GLS_ROW_MAX_LENGTH 255 /* units of the diagonal of a voxel / 255 */

/* Consecutive streamlines. */
typedef struct gls_chunk {
    size_t first, n; /* streamlines */
    uint32_t *start; /* n + 1: first entry of each */
    uint32_t *entry; /* low bits of the fixel << 8 | length in units */
    uint8_t *high;   /* the other bits of each fixel; NULL: there are none */
    unsigned low_bits;
    size_t n_capacity; /* of streamlines */
    size_t capacity;   /* of entries */
} gls_chunk;

/* The fixel of entry i. */
static inline uint32_t gls_chunk_fixel(const gls_chunk *c, size_t i)
{
    return c->entry[i] >> GLS_ROW_LENGTH_BITS | (c->high ? (uint32_t)c->high[i] << c->low_bits : 0);
}

typedef struct gls_rows {
    const gls_fixels *fixels;
    const float *mask;  /* of each voxel: what the lengths inside it count; NULL: 1 */
    const float *scale; /* of each voxel: a factor of the densities; NULL: 1 */
    gls_walk_grid grid;
    unsigned low_bits; /* of fixels in words; wide: each entry has a byte for the others */
    bool wide;
    size_t chunk_entries; /* a chunk has no more, unless its first group has */
    size_t n_chunks;
    gls_chunk *chunk;
    size_t n, n_capacity; /* streamlines */
    float *contribution;  /* of each: mm in fixels, times mask, not rounded */
    uint64_t n_entries, n_without_points, n_outside, n_without_fixels;
    double low[3], high[3]; /* of all points */
    struct row_thread *thread;
    int n_threads;
    size_t n_taken; /* streamlines that came; those that wait for a device have no rows yet */
} gls_rows;

/* unit of lengths in mm */
double gls_rows_unit(const gls_rows *rows);
gls_status gls_rows_init(gls_rows *rows, const gls_fixels *fixels, const float *mask, size_t chunk_entries);
/* Bits of fixels in the words of entries, before the first comes: GLS_ROW_FIXEL_BITS, or fewer for tests. */
void gls_rows_set_width(gls_rows *rows, unsigned low_bits);
/* How streamlines are walked, before the first comes. */
void gls_rows_set_walk(gls_rows *rows, uint32_t ratio, bool straight);
/* Adds the rows of these streamlines; threads share them. */
gls_status gls_rows_append(gls_rows *rows, const gls_streamlines *streamlines);
void gls_rows_finish(gls_rows *rows);

/* Where the entries of a streamline lie before they are put in order. */
typedef struct gls_placed {
    uint32_t *const *entry;
    uint8_t *const *high; /* where entries are wide */
    size_t first;
    uint32_t n;
} gls_placed;
/* Puts them behind those that are there. */
gls_status gls_rows_collect(gls_rows *rows, const gls_placed *place, const float *contribution, size_t n);
/* Looks at the points of streamlines and copies them; GLS_ERR_INPUT as gls_rows_append(). */
gls_status gls_rows_copy(gls_rows *rows, const gls_streamlines *streamlines, float (*to)[3]);
/* By threads, streamlines that were taken already. */
gls_status gls_rows_map(gls_rows *rows, const gls_streamlines *streamlines);

/* --- Streamlines mapped to fixels by a device: the same bytes as on the CPU. */

#define GLS_MAPPER_POINTS ((size_t)1 << 23) /* of a run, unless one streamline has more */

typedef struct gls_mapper gls_mapper;

/* What a streamline has become, as the kernel writes it; its entries begin at first of those of the run. */
typedef struct gls_mapped {
    uint32_t first, n;
    double contribution;
    uint32_t visits, unused;
} gls_mapped;

/* What it maps to, and how; all stays the caller's. */
typedef struct gls_mapper_source {
    gls_device *device;
    uint64_t device_bytes; /* of its memory that may be used; 0: all */
    const gls_fixels *fixels;
    const float *mask; /* of each voxel; NULL: 1 */
    const gls_walk_grid *grid;
} gls_mapper_source;

/* GLS_ERR_DEVICE_MEMORY: there is no room for the lobes of all voxels. GLS_ERR_UNSUPPORTED: no double precision. */
gls_status gls_mapper_create(const gls_mapper_source *source, gls_mapper **mapper);
/* What a run has made; borrowed until the second run behind it ends. */
typedef struct gls_mapper_result {
    size_t n;                 /* streamlines */
    const gls_mapped *mapped; /* of each */
    uint32_t *const *entries;
} gls_mapper_result;
/* Begins a run: streamlines first .. first + *n - 1 of s, of which *n may become fewer. The device works on. */
gls_status gls_mapper_start(gls_mapper *mapper, const gls_streamlines *s, size_t first, size_t *n);
/* Waits for the run that was begun last. */
gls_status gls_mapper_finish(gls_mapper *mapper, gls_mapper_result *result);
void gls_mapper_destroy(gls_mapper *mapper);

/* --- Streamlines that wait for the device that maps them: while it maps one parcel the next comes. */

typedef struct gls_row_queue gls_row_queue;

#define GLS_QUEUE_POINTS ((size_t)1 << 22)

/* Maps by the device, of whose memory device_bytes may be used (0: all), as soon as so many points wait; where it
 * fails, threads go on. The bytes are the same. Both are borrowed. */
gls_status gls_row_queue_create(gls_rows *rows, gls_device *device, uint64_t device_bytes, size_t points,
                                gls_row_queue **queue);
gls_status gls_row_queue_append(gls_row_queue *queue, const gls_streamlines *streamlines);
/* All have come: maps those that wait. */
gls_status gls_row_queue_end(gls_row_queue *queue);
/* Accepts NULL. */
void gls_row_queue_destroy(gls_row_queue *queue);

#endif
