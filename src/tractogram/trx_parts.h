/* Lists and opens the arrays of a TRX file: entries of a ZIP archive, or files of a folder. */
#ifndef GLS_TRACTOGRAM_TRX_PARTS_H
#define GLS_TRACTOGRAM_TRX_PARTS_H

#include <glslines/common.h>
#include <glslines/tractogram.h>
#include <glslines/type.h>

#include "tractogram/readers.h"

/* One file of the archive or folder, e.g. "dps/seeds.3.float32". */
typedef struct gls_trx_part {
    /* path below the archive or folder, owned */
    char *name;
    /* at: position of the data in an archive; packed, bytes: sizes in the file and uncompressed */
    uint64_t at, packed, bytes;
    /* true: compressed with deflate; false: stored without compression */
    bool deflated;
    bool has_crc; /* true in archives */
    uint32_t crc;
} gls_trx_part;

/* Lists all files; the caller frees the list by gls_trx_parts_free(). Sets info.is_packed if a file is compressed and,
 * for a folder, info.bytes. */
gls_status gls_trx_parts_read(gls_tractogram_reader *reader, gls_trx_part **parts, size_t *n);
/* Frees the list and its names. */
void gls_trx_parts_free(gls_trx_part *parts, size_t n);
/* Starts reading one file. */
gls_status gls_trx_part_open(const gls_tractogram_reader *reader, const gls_trx_part *part, gls_cursor *cursor);
/* Name of a type in file names, e.g. "uint8"; "bit" stands for bytes of 0 or 1. */
const char *gls_trx_type_name(gls_type type);

#endif
