/* Helpers of the writers of all formats: a buffer for small appends, pieces that several threads format and write,
 * checks of points, and the list of columns that a format cannot hold. */
#ifndef GLS_TRACTOGRAM_PIECES_H
#define GLS_TRACTOGRAM_PIECES_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

#include "tractogram/writers.h"
#include "util/output_file.h"

/* An append that several threads format in pieces while one of them writes. Functions are called by several threads at
 * once. */
typedef struct gls_pieces {
    /* open for writing; only one thread writes at a time */
    gls_output *output;
    size_t n; /* number of units: points, streamlines, or rows of an array */
    /* Offset at which a unit begins, in bytes from the start of this append; for unit n the size of the append. */
    uint64_t (*offset)(const void *user, size_t unit);
    /* Formats units from .. until - 1 as in the file: into room, or sets *data to where their bytes lie already. */
    gls_status (*form)(void *user, size_t from, size_t until, unsigned char *room, const void **data);
    /* first argument of the functions */
    void *user;
    gls_piece_rooms *rooms; /* NULL: form() needs no memory */
    uint32_t *crc;          /* checksum, continued over the written bytes; NULL: not wanted */
    /* Other work of this append, done once by a thread that has nothing to format; NULL: none. */
    gls_status (*aside)(void *user);
} gls_pieces;

/* Number of threads for a large append; one of them also writes. */
int gls_pieces_threads(void);
/* Whether an append of so many bytes is worth several threads. */
bool gls_pieces_wanted(uint64_t bytes);
/* Appends all units. After a failure the end of the file is undefined. */
gls_status gls_pieces_append(const gls_pieces *pieces);
/* Returns GLS_ERR_ARGUMENT if one of n points is not finite. */
gls_status gls_writer_check_points(const gls_tractogram_writer *writer, const float (*point)[3], size_t n);
/* Notes that the format cannot store a column, for a later warning. */
void gls_writer_lose(gls_tractogram_writer *writer, size_t column);

/* A buffer for small appends, whose bytes go to the file when the buffer is full. */
typedef struct gls_packer {
    /* receives full buffers */
    gls_output *output;
    /* memory of the buffer, owned */
    unsigned char *data;
    /* bytes in the buffer, and its size */
    size_t n, capacity;
    bool checked; /* true: crc is computed over all bytes that are written */
    uint32_t crc;
} gls_packer;

/* Allocates the buffer. Data go to output when the buffer is full. */
gls_status gls_packer_init(gls_packer *packer, gls_output *output);
/* Frees the buffer; bytes that were not flushed are lost. Accepts a zeroed packer. */
void gls_packer_finish(gls_packer *packer);
/* Appends bytes; GLS_ERR_OUTPUT if writing fails. */
gls_status gls_packer_write(gls_packer *packer, const void *data, size_t bytes);
/* Writes what the buffer holds. */
gls_status gls_packer_flush(gls_packer *packer);
/* Writes pieces with several threads, to the packer's output and with its crc. */
gls_status gls_packer_write_pieces(gls_packer *packer, const gls_pieces *pieces);

#endif
