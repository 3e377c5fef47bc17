/* Shards of one run: their notes and their reader. */
#ifndef GLS_TRACTOGRAM_SHARDS_H
#define GLS_TRACTOGRAM_SHARDS_H

#include <glslines/merge.h>
#include <glslines/shard.h>

#include "tractogram/readers.h"

/* --- The note on a shard in its file: one line of text. */

#define GLS_SHARD_TEXT 320
/* Where the note is. TRX: key in header.json. TCK: key in the header. TRK: in reserved bytes, behind this key and a
 * colon. */
#define GLS_SHARD_KEY "glslines_shard"

/* Prints the note, without colons, quotes or line ends. crc (TRK and TCK): checksum of all bytes behind the header,
 * continued by gls_shard_crc_begun(); its eight hexadecimal digits end the note. NULL: no checksum. */
void gls_shard_print(const gls_shard *shard, const uint32_t *crc, char text[GLS_SHARD_TEXT]);
/* Parses a note. *crc is set unless crc is NULL. Returns false if text is not what gls_shard_print() prints for some
 * shard and version. */
bool gls_shard_parse(const char *text, gls_shard *shard, uint32_t *crc, char version[32]);
/* Continues the checksum of the data over the number of streamlines begun, as in the header of a TCK file. n_begun 0
 * leaves the checksum unchanged. */
uint32_t gls_shard_crc_begun(uint32_t crc, uint64_t n_begun);

/* --- Reader of shards: reads only tractograms that this program has written, and checks every claim of the file about
 * itself, the order of its seeds, and its checksums. */

/* A shard that is read block by block and checked on the way. */
typedef struct gls_shard_reader {
    gls_tractogram_reader *reader; /* NULL: closed. Points of TRK files stay as in the file */
    const gls_tractogram_info *info;
    /* what the file says of itself */
    gls_shard_file file;
    uint32_t crc;       /* TRK and TCK: checksum of the data, from the note */
    uint32_t last_seed; /* index of the last seed; seeds never decrease within a file */
} gls_shard_reader;

/* Opens a shard and checks its header. The suffix must be that of the format. After a failure reader is closed. */
gls_status gls_shard_reader_open(const char *path, gls_shard_reader *reader);
/* Reads the next streamlines, valid until the next call. lines->n is 0 at the end, after all checks. */
gls_status gls_shard_reader_next(gls_shard_reader *reader, gls_streamlines *lines);
/* Closes the reader. Accepts a zeroed or closed one. */
void gls_shard_reader_close(gls_shard_reader *reader);

#endif
