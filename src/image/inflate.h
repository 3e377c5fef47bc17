/* Unpacking of gzip members: by ISA-L where it was built in, which is several times as fast, else by zlib. */
#ifndef GLS_IMAGE_INFLATE_H
#define GLS_IMAGE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLS_INFLATE_WINDOW 32768 /* bytes that deflate can refer back to */

typedef struct gls_inflater gls_inflater;

/* NULL if memory ran out. */
gls_inflater *gls_inflater_create(void);
void gls_inflater_destroy(gls_inflater *inflater);
/* Gets ready for another member. */
void gls_inflater_reset(gls_inflater *inflater);

typedef struct gls_inflate_buffers {
    const unsigned char *in;
    size_t n_in; /* bytes; both move on past what was taken */
    unsigned char *out;
    size_t n_out; /* room; both move on past what was put there */
} gls_inflate_buffers;

typedef enum gls_inflate_result {
    GLS_INFLATE_MORE, /* the input is used up or the output full */
    GLS_INFLATE_END, /* of the member, its checksum right if it was to be verified; what follows it is left in the input
                      */
    GLS_INFLATE_DAMAGED,
    GLS_INFLATE_MEMORY,
} gls_inflate_result;

/* A place within a member where a deflate block starts. */
typedef struct gls_inflate_place {
    unsigned bit;                /* of the first byte of input, 0 to 7: what lies before belongs to another block */
    const unsigned char *window; /* the output before */
    size_t n_window;             /* GLS_INFLATE_WINDOW at most, 0 at the start of the member */
    bool to_end; /* up to the end of the member, whose checksum is verified: it is crc up to here, of n_out bytes; else
                    plain deflate data */
    uint32_t crc;
    uint64_t n_out;
} gls_inflate_place;

/* Whether gls_inflater_start() is there: with ISA-L alone. */
bool gls_inflater_can_start(void);
/* Gets ready to unpack from a place on; takes its first byte from the input if the block starts within it. */
void gls_inflater_start(gls_inflater *inflater, const gls_inflate_place *place, gls_inflate_buffers *buffers);
/* Whether all that was taken ends with a block, but for the last n_bits (0 to 7) bits, and all of it has been put out.
 */
bool gls_inflater_between_blocks(const gls_inflater *inflater, unsigned n_bits);

/* Unpacks as far as the buffers go. Output may be pending when the input is used up. *reason tells what is damaged: a
 * constant. */
gls_inflate_result gls_inflater_run(gls_inflater *inflater, gls_inflate_buffers *buffers, const char **reason);

#endif
