/* Functions and structs that the writers of all formats share. */
#ifndef GLS_TRACTOGRAM_WRITERS_H
#define GLS_TRACTOGRAM_WRITERS_H

#include <glslines/merge.h>
#include <glslines/tractogram.h>

#include "util/file.h"
#include "util/output_file.h"
#include "util/text.h"

/* --- Large appends in pieces: several threads convert pieces to the form of the file and compute checksums, and one
 * writes them. A file system accepts one file at the speed of one thread, so the writing thread does nothing else while
 * pieces are ready. */

/* Largest number of threads of an append, and largest number of its pieces that exist at the same time. */
#define GLS_PIECE_THREADS 4
#define GLS_PIECE_ROOMS (2 * GLS_PIECE_THREADS)

/* Memory of the threads, kept between appends; all zero at first. */
typedef struct gls_piece_rooms {
    struct gls_piece_room {
        unsigned char *data;
        size_t bytes;
    } room[GLS_PIECE_ROOMS];
} gls_piece_rooms;

/* --- Writers of the formats. */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they lie in memory, and TRX, TRK and TCK are little-endian");

/* One format. create() makes the state; define() learns the columns before the first append; append() gets checked
 * streamlines; finish() completes the file, which the caller then commits. */
typedef struct gls_tractogram_driver {
    bool checks_points; /* append() itself fails on points that are not finite */
    gls_status (*create)(gls_tractogram_writer *writer, const gls_tractogram_options *options);
    /* Learns the columns, once. */
    gls_status (*define)(gls_tractogram_writer *writer);
    /* Adds a block with the columns of define(). Its points are finite, unless checks_points is set. */
    gls_status (*append)(gls_tractogram_writer *writer, const gls_streamlines *streamlines);
    /* Completes the file: its header, and sections that come behind all streamlines. */
    gls_status (*finish)(gls_tractogram_writer *writer);
    void (*destroy)(void *state); /* accepts NULL */
} gls_tractogram_driver;

/* Largest header that the writer makes. */
#define GLS_TCK_MAX_HEADER 65536
#define GLS_TCK_LAST_LINES 1024 /* part of the header reserved for lines that the writer adds */

struct gls_tractogram_writer {
    /* functions of the format */
    const gls_tractogram_driver *driver;
    /* the driver's own struct */
    void *state;
    /* the file, which has no name until it is complete */
    gls_output output;
    /* grid of the reference image: affine and dimensions for the header */
    gls_grid grid;
    /* true: the file is one shard of a run; `shard` says which */
    bool is_shard;
    gls_shard shard;                  /* valid if is_shard */
    bool in_stored_space;             /* TRK: points are already as in the file, for merging */
    uint64_t n_streamlines, n_points; /* numbers of streamlines and points before the current append */
    uint64_t n_begun; /* number of streamlines begun, including rejected ones; 0: unknown, and not written */
    /* Columns, fixed by the first append that is not empty: dps, dpv, groups in this order, without data. */
    bool defined;
    /* numbers of columns of each kind */
    size_t n_dps, n_dpv, n_groups;
    /* n_dps + n_dpv + n_groups columns, owned */
    gls_column *column;
    /* number of elements of `late` */
    size_t n_late;
    gls_column late[4]; /* columns of streamlines that were added after the last streamline */
    size_t n_late_groups;
    struct gls_late_group *late_group; /* groups that were added after the last streamline */
    const char *note_name, *note;      /* a text file stored beside the arrays; NULL: none */
    gls_piece_rooms rooms;
    gls_text lost;       /* names of columns that the format cannot store */
    bool numbers_groups; /* TRK: the property "group" holds each streamline's group, counted from 1 */
    gls_status failed;   /* status of the first append that failed; later appends and the finish repeat it */
    char message[1024];
};

/* A group that is known only after all streamlines were appended. */
typedef struct gls_late_group {
    /* borrowed */
    const char *name;
    /* indices in the file of the streamlines in the group; borrowed */
    const uint32_t *member;
    /* number of members */
    size_t n;
} gls_late_group;

#endif
