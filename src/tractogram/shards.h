/* Shards of one run: their notes and their reader. */
#ifndef GLS_TRACTOGRAM_SHARDS_H
#define GLS_TRACTOGRAM_SHARDS_H

#include <glslines/merge.h>
#include <glslines/shard.h>

#include "tractogram/readers.h"

/* --- The note on a shard that its file carries: one line of text. */

#define GLS_SHARD_TEXT 320
/* TRX: key in header.json; TCK: key in the header; in TRK the note stands among the reserved bytes, behind this key and
 * a colon. */
#define GLS_SHARD_KEY "glslines_shard"

/* The note, without colons, quotes or line ends. With a checksum (TRK, TCK: of all bytes behind the header, and of
 * gls_shard_crc_begun()) its last eight characters are that, in hexadecimal digits. */
void gls_shard_print(const gls_shard *shard, const uint32_t *crc, char text[GLS_SHARD_TEXT]);
/* The inverse; *crc is set if crc is not NULL. False if text is not what gls_shard_print() gives for some shard and
 * version. */
bool gls_shard_parse(const char *text, gls_shard *shard, uint32_t *crc, char version[32]);
/* The checksum of the data, continued over the number of streamlines begun that a TCK header tells; 0 changes nothing.
 */
uint32_t gls_shard_crc_begun(uint32_t crc, uint64_t n_begun);

/* --- Reads shards: tractograms as the writers here write them, and no others. Every claim of a file about itself is
 * checked, and so are the order of its seeds and checksums. */

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
