/* ZIP archives of stored entries, in the exact form that readers of TRX map into memory. */
#ifndef GLS_TRACTOGRAM_ZIP_H
#define GLS_TRACTOGRAM_ZIP_H

#include "util/file.h"
#include "util/output.h"

#define GLS_ZIP_NAME 256

/* One entry: a local header at offset, its data right behind. */
typedef struct gls_zip_entry {
    char name[GLS_ZIP_NAME]; /* ASCII */
    uint32_t crc;
    uint64_t bytes;
    uint64_t offset;
} gls_zip_entry;

#define GLS_ZIP_LOCAL_MAX (30 + GLS_ZIP_NAME + 20)

/* Size of the local header. Entries of more than 2147483647 bytes have a ZIP64 field, others have none: Python's rule,
 * on which readers rely that compute where the data begin. */
size_t gls_zip_local_bytes(const gls_zip_entry *entry);
/* Stores the local header; returns its size. */
size_t gls_zip_local(const gls_zip_entry *entry, unsigned char *to);
/* Appends the central directory and the end records; entries in the order of their offsets, position: end of the data
 * so far. */
gls_status gls_zip_finish(gls_output *output, const gls_zip_entry *entries, size_t n, uint64_t position);

/* An entry of an archive that is read. */
typedef struct gls_zip_item {
    char *name;
    uint64_t at;            /* of its data in the file */
    uint64_t packed, bytes; /* in the file, and unpacked; equal unless deflated */
    bool deflated;
    uint32_t crc; /* of the unpacked data */
} gls_zip_item;

/* Accepts NULL. */
void gls_zip_free(gls_zip_item *items, size_t n);

#endif
