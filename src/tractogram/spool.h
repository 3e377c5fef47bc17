/* An array that grows without using memory: in a buffer first, then in a nameless scratch file beside the output. */
#ifndef GLS_TRACTOGRAM_SPOOL_H
#define GLS_TRACTOGRAM_SPOOL_H

#include "util/file.h"
#include "util/output.h"

typedef struct gls_spool {
    const gls_output *output;
    int fd; /* -1 as long as the buffer holds everything */
    unsigned char *buffer;
    size_t n;       /* bytes in the buffer */
    uint64_t bytes; /* in all */
} gls_spool;

gls_status gls_spool_init(gls_spool *spool, const gls_output *output);
/* Accepts a zeroed spool. */
void gls_spool_finish(gls_spool *spool);
gls_status gls_spool_append(gls_spool *spool, const void *data, size_t bytes);
/* Ends appending and starts reading from the first byte. */
gls_status gls_spool_rewind(gls_spool *spool);
/* Reads exactly the next bytes. */
gls_status gls_spool_read(gls_spool *spool, void *data, size_t bytes);
/* Bytes from a place on, after rewinding, by any number of threads. */
gls_status gls_spool_read_at(const gls_spool *spool, uint64_t from, void *data, size_t bytes);

#endif
