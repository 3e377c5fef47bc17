/* The note in the file of a shard, which says what part of which run the shard is. */
#ifndef GLS_TRACTOGRAM_SHARDS_H
#define GLS_TRACTOGRAM_SHARDS_H

#include <glslines/merge.h>
#include <glslines/shard.h>

#include "tractogram/readers.h"

/* --- The note: one line of text. */

/* Largest size of the note, with its NUL. */
#define GLS_SHARD_TEXT 320
/* Where the note is. TRX: key in header.json. TCK: key in the header. TRK: in reserved bytes, behind this key and a
 * colon. */
#define GLS_SHARD_KEY "glslines_shard"

/* Prints the note, without colons, quotes or line ends. crc (TRK and TCK): checksum of all bytes behind the header,
 * continued by gls_shard_crc_begun(); its eight hexadecimal digits end the note. NULL: no checksum. */
void gls_shard_print(const gls_shard *shard, const uint32_t *crc, char text[GLS_SHARD_TEXT]);
/* Parses a note. crc NULL: the note must have no checksum; otherwise it must have one, which is stored in *crc. Returns
 * false if text is not what gls_shard_print() prints for some shard and version. */
bool gls_shard_parse(const char *text, gls_shard *shard, uint32_t *crc, char version[32]);
/* Continues the checksum of the data over the number of streamlines begun, as in the header of a TCK file. n_begun 0
 * leaves the checksum unchanged. */
uint32_t gls_shard_crc_begun(uint32_t crc, uint64_t n_begun);

#endif
