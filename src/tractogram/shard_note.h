/* The note, a line of text, by which a file says which shard of which run it is; and which seeds a shard has. */
#ifndef GLS_TRACTOGRAM_SHARD_NOTE_H
#define GLS_TRACTOGRAM_SHARD_NOTE_H

#include <glslines/shard.h>

/* Largest size of the note, with its NUL. */
#define GLS_SHARD_TEXT 320

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
