/* Large appends to a tractogram, in pieces: several threads bring them into the form of the file, check them and sum
 * them up, and one writes them, each at its place. A file system takes in a file at the speed of one thread; so that
 * one does nothing else while pieces are ready. */
#ifndef GLS_TRACTOGRAM_PIECES_H
#define GLS_TRACTOGRAM_PIECES_H

#include "util/output.h"

#define GLS_PIECE_THREADS 4
#define GLS_PIECE_ROOMS (2 * GLS_PIECE_THREADS)

/* The memory of the threads, from append to append; all zero at first. */
typedef struct gls_piece_rooms {
    struct gls_piece_room {
        unsigned char *data;
        size_t bytes;
    } room[GLS_PIECE_ROOMS];
} gls_piece_rooms;
void gls_piece_rooms_finish(gls_piece_rooms *rooms);

typedef struct gls_pieces {
    gls_output *output;
    size_t n; /* units: points or streamlines */
    /* Bytes of the file that units 0 .. unit - 1 take. */
    uint64_t (*place)(const void *user, size_t unit);
    /* Units from .. until - 1 as they stand in the file: in room, or where *data points to instead. */
    gls_status (*form)(void *user, size_t from, size_t until, unsigned char *room, const void **data);
    void *user;
    gls_piece_rooms *rooms; /* NULL: form needs none */
    uint32_t *crc;          /* goes on over what is written; NULL: not wanted */
    /* Other work of the same append, done once by a thread that has nothing to form; NULL: none. */
    gls_status (*aside)(void *user);
} gls_pieces;

/* Threads of a large append: one writes, the others bring pieces into their form. */
int gls_pieces_threads(void);
/* Whether an append of so many bytes is worth it. */
bool gls_pieces_wanted(uint64_t bytes);
/* Appends all units. After a failure the file's end is undefined. */
gls_status gls_pieces_append(const gls_pieces *pieces);

#endif
