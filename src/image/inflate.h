/* Unpacks gzip data: by one inflater, or several threads piece by piece. */
#ifndef GLS_IMAGE_INFLATE_H
#define GLS_IMAGE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/file.h"

/* --- An inflater: ISA-L if the build has it, which is several times as fast, else zlib. */

typedef struct gls_inflater gls_inflater;

/* Input and output of a call. */
typedef struct gls_inflate_buffers {
    const unsigned char *in;
    size_t n_in; /* number of bytes of input; `in` and n_in move past what was read */
    unsigned char *out;
    size_t n_out; /* number of bytes of memory for output; `out` and n_out move past what was written */
} gls_inflate_buffers;

/* How a call of gls_inflater_run() ended. */
typedef enum gls_inflate_result {
    GLS_INFLATE_MORE, /* the call ended because all input is used, or the output is full */
    GLS_INFLATE_END,  /* the call ended at the end of the member, whose checksum is correct if it was verified; bytes
                         after the member stay in the input */
    GLS_INFLATE_DAMAGED,
    GLS_INFLATE_MEMORY,
} gls_inflate_result;

/* Creates an inflater for a gzip member. Returns NULL if memory runs out. */
gls_inflater *gls_inflater_create(void);
/* Accepts NULL. */
void gls_inflater_destroy(gls_inflater *i);
/* Prepares the inflater for the next gzip member. */
void gls_inflater_reset(gls_inflater *i);
/* Unpacks until the input is used up or the output is full. Output may be pending when the input is used up. *reason:
 * what is damaged, a constant text. */
gls_inflate_result gls_inflater_run(gls_inflater *i, gls_inflate_buffers *b, const char **reason);
/* Unpacks raw deflate data from their start to the end of a last block. Returns false if there is none, the output has
 * no room, or the data refer to bytes before their start. */
bool gls_inflater_run_raw(gls_inflater *i, gls_inflate_buffers *b);

/* --- Pieces of a gzip member of a regular file, which several threads unpack. */

typedef struct gls_gzip_pieces gls_gzip_pieces;

/* Prepares for a member whose deflate data begin at `place` of the file. n_read: number of unpacked bytes that are left
 * out. Returns NULL if memory runs out. */
gls_gzip_pieces *gls_gzip_pieces_create(const gls_input *input, uint64_t place, uint64_t n_read, int n_threads);
/* Accepts NULL. */
void gls_gzip_pieces_destroy(gls_gzip_pieces *t);
/* Reads the next unpacked bytes. *got is smaller than `bytes` at the end of the member, whose checksum is correct.
 * Returns false if the data behind *got are not made of pieces, or are damaged: an inflater has to unpack the member
 * from its start. */
bool gls_gzip_pieces_read(gls_gzip_pieces *t, void *data, size_t bytes, size_t *got);
/* Number of unpacked bytes that were read or left out; *place: position in the file behind the pieces. */
uint64_t gls_gzip_pieces_place(const gls_gzip_pieces *t, uint64_t *place);

#endif
