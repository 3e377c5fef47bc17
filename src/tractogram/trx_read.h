/* Reads TRX: several arrays at the same time, each by its own cursor. */
#ifndef GLS_TRACTOGRAM_TRX_READ_H
#define GLS_TRACTOGRAM_TRX_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "tractogram/readers.h"

extern const gls_reader_driver gls_trx_reader; /* the only driver that reads folders */

/* Whether the points of an open reader lie in its file as they are handed on, one after the other from byte *at on. */
bool gls_trx_points_at(const gls_tractogram_reader *reader, uint64_t *at);

#endif
