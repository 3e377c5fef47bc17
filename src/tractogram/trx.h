/* Writes TRX: a ZIP archive of stored arrays. */
#ifndef GLS_TRACTOGRAM_TRX_H
#define GLS_TRACTOGRAM_TRX_H

#include "tractogram/writers.h"

extern const gls_tractogram_driver gls_trx_driver; /* the only driver that writes data of groups */
/* Whether a TRX file can have a column or group of this name: not empty, up to 100 bytes, without dots, slashes, quotes
 * and line ends. */
bool gls_trx_can_name(const char *name);

#endif
