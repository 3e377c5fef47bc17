/* Which streamline passes through which fixels for how long: a sparse matrix of 4 bytes an entry, 5 for more than 2^24
 * fixels, in chunks of streamlines. */
#ifndef GLS_WEIGHTS_ROWS_H
#define GLS_WEIGHTS_ROWS_H

#include <glslines/streamlines.h>

#include "weights/fixels.h"
#include "weights/walk.h"

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

#endif
