/* Reads TRX: several arrays at the same time, each by its own cursor. */
#ifndef GLS_TRACTOGRAM_TRX_READ_H
#define GLS_TRACTOGRAM_TRX_READ_H

#include "tractogram/readers.h"

extern const gls_reader_driver gls_trx_reader; /* the only driver that reads folders */

#endif
