/* Bytes that can be written to the output only later: they wait in a buffer and, if it is too small, in a scratch file.
 */
#ifndef GLS_TRACTOGRAM_SPOOL_H
#define GLS_TRACTOGRAM_SPOOL_H

#include <glslines/common.h>

#include "util/output_file.h"

/* Bytes that can be written to the output only later: appended first; read after a call of gls_spool_rewind(). */
typedef struct gls_spool {
    /* the output beside which the scratch file lies */
    const gls_output *output;
    int fd; /* descriptor of the scratch file; -1 while all bytes fit into the buffer */
    unsigned char *buffer;
    size_t n;       /* number of bytes in the buffer; after gls_spool_rewind() the reading position */
    uint64_t bytes; /* bytes in total */
} gls_spool;

/* Starts a spool whose scratch file, if it needs one, lies in the folder of output. */
gls_status gls_spool_init(gls_spool *spool, const gls_output *output);
/* Frees the buffer and closes the scratch file. Accepts a spool that is all 0. */
void gls_spool_finish(gls_spool *spool);
/* Appends bytes; GLS_ERR_OUTPUT if the scratch file cannot be written. */
gls_status gls_spool_append(gls_spool *spool, const void *data, size_t bytes);
/* Ends appending and starts reading from the first byte. */
gls_status gls_spool_rewind(gls_spool *spool);
/* Reads exactly the next bytes. */
gls_status gls_spool_read(gls_spool *spool, void *data, size_t bytes);
/* Reads bytes from a position, after gls_spool_rewind(). May be called from several threads. */
gls_status gls_spool_read_at(const gls_spool *spool, uint64_t from, void *data, size_t bytes);

#endif
