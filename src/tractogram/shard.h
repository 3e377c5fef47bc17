/* The note on a shard that its file carries: one line of text. */
#ifndef GLS_TRACTOGRAM_SHARD_H
#define GLS_TRACTOGRAM_SHARD_H

#include <glslines/shard.h>

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

#endif
