/* The arrays of a TRX archive or folder, whatever holds them. */
#ifndef GLS_TRACTOGRAM_TRX_PARTS_H
#define GLS_TRACTOGRAM_TRX_PARTS_H

#include "tractogram/reader.h"

/* One file of the tree, e.g. "dps/seeds.3.float32". */
typedef struct gls_trx_part {
    char *name;
    uint64_t at, packed, bytes;
    bool deflated;
    bool has_crc; /* in archives */
    uint32_t crc;
} gls_trx_part;

/* All files of the tree, to be freed by gls_trx_parts_free(). Sets info.bytes of a folder and info.is_packed. */
gls_status gls_trx_parts_read(gls_tractogram_reader *reader, gls_trx_part **parts, size_t *n);
void gls_trx_parts_free(gls_trx_part *parts, size_t n);
/* Starts reading a part. */
gls_status gls_trx_part_open(const gls_tractogram_reader *reader, const gls_trx_part *part, gls_cursor *cursor);
/* At the end of a part: nothing is left, and the checksum is right. */
gls_status gls_trx_part_check(const gls_tractogram_reader *reader, const gls_trx_part *part, gls_cursor *cursor);

#define GLS_TRX_NAME 128

/* What the last piece of a name says: FIELD[.COLUMNS].TYPE. */
typedef struct gls_trx_field {
    char name[GLS_TRX_NAME];
    uint32_t components;
    gls_type type;
} gls_trx_field;
/* As names of arrays spell it: "uint8"; "bit" is a byte of 0 or 1. */
const char *gls_trx_type_name(gls_type type);
/* False if it does not have this form. */
bool gls_trx_field_parse(const char *file_name, gls_trx_field *field);

#endif
