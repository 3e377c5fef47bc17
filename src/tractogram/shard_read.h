/* Reads shards: tractograms as the writers here write them, and no others. Every claim of a file about itself is
 * checked, and so are the order of its seeds and checksums. */
#ifndef GLS_TRACTOGRAM_SHARD_READ_H
#define GLS_TRACTOGRAM_SHARD_READ_H

#include "tractogram/reader.h"
#include <glslines/merge.h>

typedef struct gls_shard_reader {
    gls_tractogram_reader *reader; /* NULL: closed. Points of TRK are as in the file */
    const gls_tractogram_info *info;
    gls_shard_file file;
    uint32_t crc;       /* TRK and TCK: of the data, as noted in the header */
    uint32_t last_seed; /* index; those of a file never fall */
} gls_shard_reader;

/* Opens and checks the head; the suffix has to be that of the format. On failure reader is as after close. */
gls_status gls_shard_reader_open(const char *path, gls_shard_reader *reader);
/* The next streamlines, which stay valid until the next call. None are left if lines->n is 0, which is told only after
 * all checks. */
gls_status gls_shard_reader_next(gls_shard_reader *reader, gls_streamlines *lines);
/* Accepts a zeroed reader and one that was closed. */
void gls_shard_reader_close(gls_shard_reader *reader);

#endif
