/* Unpacking of gzip members: by ISA-L where it was built in, which is several times as fast, else by zlib. */
#ifndef GLS_IMAGE_INFLATE_H
#define GLS_IMAGE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Unpacks as far as the buffers go. Output may be pending when the input is used up. *reason tells what is damaged: a
 * constant. */
gls_inflate_result gls_inflater_run(gls_inflater *inflater, gls_inflate_buffers *buffers, const char **reason);

#endif
