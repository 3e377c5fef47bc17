/* Makes the headers and the directory of a ZIP archive whose entries are stored without compression. */
#ifndef GLS_TRACTOGRAM_ZIP_H
#define GLS_TRACTOGRAM_ZIP_H

#include <glslines/common.h>

#include "tractogram/file_formats.h"
#include "util/output_file.h"

/* An entry: a local header at offset, directly followed by its data. */
typedef struct gls_zip_entry {
    char name[GLS_ZIP_NAME]; /* ASCII only */
    /* CRC-32 of the data */
    uint32_t crc;
    /* size of the data; entries are stored without compression */
    uint64_t bytes;
    /* position of the local header in the file */
    uint64_t offset;
} gls_zip_entry;

/* Size of the local header. Entries of more than 2147483647 bytes have a ZIP64 field, others have none. Readers that
 * compute where the data begin rely on this rule of Python's zipfile. */
size_t gls_zip_local_bytes(const gls_zip_entry *entry);
/* Stores the local header in `to`. Returns its size. */
size_t gls_zip_local(const gls_zip_entry *entry, unsigned char *to);
/* Appends the central directory and the end records. entries: in the order of their offsets. position: end of the data
 * so far, where the directory begins. n is at most 65535. */
gls_status gls_zip_finish(gls_output *output, const gls_zip_entry *entries, size_t n, uint64_t position);

#endif
