/* Unpacking of a gzip file by several threads. Its first member is cut where blocks start, and a thread unpacks from
 * cut to cut.
 *
 * What a thread does not know is the window, the 32 KiB of output before its cut, to which its data refer. It unpacks
 * twice, with two made-up windows that differ in every byte: where the outputs are the same the byte is known, and
 * where they differ the two tell its place in the window, which is there once the thread before has come to its end. As
 * soon as the outputs agree over a whole window, one of them is enough.
 *
 * A cut is guessed from the bits (see io/deflate.h) and proved when the unpacking from the cut before comes to it
 * between two blocks. Whatever goes wrong, the rest of the file is left to be unpacked by one thread from the last
 * place that is proved, and so is the end of the member, with its checksum over everything. */
#ifndef GLS_IMAGE_UNPACK_H
#define GLS_IMAGE_UNPACK_H

#include "image/inflate.h"

typedef struct gls_unpacker gls_unpacker;

/* Of a regular file, read with pread() alone. Cuts lie about stretch bytes apart in the file. NULL where it cannot be
 * done or is not worth while. */
gls_unpacker *gls_unpacker_create(int fd, uint64_t file_bytes, size_t stretch, int n_threads);
void gls_unpacker_destroy(gls_unpacker *unpacker);
/* How many times gls_unpacker_next() can be called before what it gave first is overwritten. */
int gls_unpacker_ready(const gls_unpacker *unpacker);
/* The next bytes of output. False if the rest is to be unpacked by one thread. */
bool gls_unpacker_next(gls_unpacker *unpacker, const unsigned char **data, size_t *n);
/* Then: where in the file the rest begins, and how to start there; valid while the unpacker lives. */
uint64_t gls_unpacker_rest(const gls_unpacker *unpacker, gls_inflate_place *place);

#endif
