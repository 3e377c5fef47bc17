/* Maps streamlines to directions in voxels: which streamline runs in which direction through which voxels, and over
 * which length. */
#ifndef GLS_WEIGHTS_SIGNAL_ROWS_H
#define GLS_WEIGHTS_SIGNAL_ROWS_H

#include <stdint.h>

#include <glslines/image.h>
#include <glslines/streamlines.h>

#include "weights/fixel_parts.h"

/* --- Directions to which streamlines and peaks are rounded. */

/* Directions of a half-sphere, along the voxel axes. All zero is empty. */
typedef struct gls_signal_directions {
    size_t n;
    const double (*direction)[3]; /* unit vectors */
    double (*owned)[3];           /* directions that were read from a file; NULL: those of gls_lobe_sphere */
    double (*repeated)[3];        /* memory of gls_signal_rows_repeat(); NULL: each direction is there once */
} gls_signal_directions;
/* Fills *directions: those of gls_lobe_sphere, or with a path those of a text file, three numbers a line.
 * GLS_ERR_INPUT: no directions, or more than 32767. Call gls_signal_directions_finish() even after a failure. */
gls_status gls_signal_directions_init(gls_signal_directions *directions, const char *path);
/* Index of the direction nearest to the line along v, which must not be 0. */
uint32_t gls_signal_directions_nearest(const gls_signal_directions *directions, const double v[3]);
/* Frees the directions. */
void gls_signal_directions_finish(gls_signal_directions *directions);

/* --- The rows: a sparse matrix of lengths, one row for each streamline. */

/* Pieces into which streamlines are cut. */
typedef enum gls_signal_walk {
    GLS_SIGNAL_SEGMENTS, /* each segment between two points, cut at faces of voxels, in its own direction */
    GLS_SIGNAL_VISITS,   /* each passage through a voxel, in the direction from entry to exit */
    GLS_SIGNAL_POINTS    /* each point, of length 1, in the voxel with the nearest centre */
} gls_signal_walk;

#define GLS_SIGNAL_UNITS 65535 /* largest length of an entry, units; a unit is the diagonal of a voxel / 65535 */

/* Which pieces become entries. */
typedef struct gls_signal_limits {
    gls_signal_walk walk;
    double min_piece;              /* mm; pieces up to this length are left out */
    double min_length, max_length; /* mm; a row stays empty unless the sum of its pieces lies between these */
} gls_signal_limits;

/* The sparse matrix of lengths. An entry is a bin, one direction in one voxel, and a length. Rows are in the order of
 * the streamlines, the entries of a row in the order of voxel and direction. Not thread-safe: one thread appends. */
typedef struct gls_signal_rows {
    gls_grid grid;
    const gls_signal_directions *directions; /* borrowed */
    const uint8_t *inside;                   /* borrowed; 0: a voxel outside; NULL: all voxels are inside */
    gls_signal_limits limits;
    double to_grid[3][4]; /* from world mm to voxels, whose corners are at whole numbers */
    double unit;          /* mm of a unit of length, or points of one for GLS_SIGNAL_POINTS */
    size_t n, n_kept;     /* numbers of streamlines, and of rows with entries */
    size_t n_short;       /* streamlines with less than two points */
    size_t n_outside;     /* other streamlines without a piece inside */
    size_t n_length;      /* streamlines that are too short or too long */
    size_t capacity;      /* allocated rows */
    uint64_t *start;      /* n + 1 values: first entry of each row, and number of entries */
    double *norm;         /* root of the sum over voxels of the squared length of the row in the voxel, mm */
    uint64_t entry_capacity;
    uint32_t *bin;    /* for each entry the number of the voxel times the number of directions, plus the direction */
    uint16_t *length; /* length of each entry, units */
    size_t n_voxels, voxel_capacity;
    uint32_t *number; /* number + 1 of each voxel of the grid; 0: none. Voxels are numbered as streamlines meet them */
    uint64_t *voxel;  /* index in the grid of each numbered voxel */
    double low[3], high[3]; /* bounding box of all points, mm */
    int n_threads;
    struct signal_thread *thread;
} gls_signal_rows;

/* Makes empty rows. Call gls_signal_rows_finish() even after a failure. */
gls_status gls_signal_rows_init(gls_signal_rows *rows, const gls_grid *grid, const gls_signal_directions *directions,
                                const uint8_t *inside, const gls_signal_limits *limits);
/* Appends the rows of streamlines, which several threads make. GLS_ERR_INPUT: a point is not finite, or too far from
 * the one before; GLS_ERR_UNSUPPORTED: too many voxels. */
gls_status gls_signal_rows_append(gls_signal_rows *rows, const gls_streamlines *streamlines);
/* Gives each streamline `copies` rows, whose directions differ: row r n + s of copy r of streamline s has directions r
 * n_directions + o in place of o. Repeats the directions, too. GLS_ERR_UNSUPPORTED: there are too many then. */
gls_status gls_signal_rows_repeat(gls_signal_rows *rows, gls_signal_directions *directions, size_t copies);
/* Numbers a voxel of the grid that has no number yet. */
gls_status gls_signal_rows_number(gls_signal_rows *rows, uint64_t voxel, uint32_t *number);
/* Frees everything. */
void gls_signal_rows_finish(gls_signal_rows *rows);

#endif
