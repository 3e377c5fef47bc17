/* Parts of the file formats: ZIP, TRX, TCK, TRK, VTK. */
#ifndef GLS_TRACTOGRAM_FORMATS_H
#define GLS_TRACTOGRAM_FORMATS_H

#include "tractogram/readers.h"
#include "util/file.h"
#include "util/output_file.h"

/* --- ZIP archives of stored entries, in the exact form that readers of TRX map into memory. */

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

/* --- The arrays of a TRX archive or folder, whatever holds them. */

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

/* --- Headers of MRtrix3's tracks and track scalars, and the numbers behind them. */

typedef struct gls_tck_header {
    bool wide, swapped; /* float64; in the other order of bytes */
    char *file;         /* of the numbers, where that is another one */
    uint64_t start;     /* of the numbers */
} gls_tck_header;

/* Takes a line of the header that is not about the type and the place of the numbers: text is the line as it stands in
 * the file, and its value begins at text + value_at. */
typedef gls_status (*gls_tck_line)(void *user, const char *key, const char *value, const char *text, size_t value_at);

/* Reads the header of the open file of so many bytes. GLS_ERR_INPUT names path and what is wrong. */
gls_status gls_tck_header_read(const char *path, int fd, uint64_t bytes, gls_tck_line line, void *user,
                               gls_tck_header *header);
/* Starts reading the numbers; fd and bytes as above. Rows of numbers are of so many numbers: bytes behind the last
 * whole one are an error, unless recover is true, and then are left out. */
gls_status gls_tck_header_open(const gls_tck_header *header, const char *path, int fd, uint64_t bytes, size_t row,
                               bool recover, gls_cursor *cursor);
void gls_tck_header_finish(gls_tck_header *header);

/* --- The header of TrackVis files. */

/* Byte positions of fields, and sizes. */
enum {
    TRK_DIM = 6,
    TRK_VOXEL_SIZE = 12,
    TRK_N_SCALARS = 36,
    TRK_SCALAR_NAME = 38,
    TRK_N_PROPERTIES = 238,
    TRK_PROPERTY_NAME = 240,
    TRK_VOX_TO_RAS = 440,
    TRK_SHARD = 504, /* reserved bytes, in which the note on a shard stands */
    TRK_VOXEL_ORDER = 948,
    TRK_PAD2 = 952,
    TRK_N_COUNT = 988,
    TRK_VERSION = 992,
    TRK_HDR_SIZE = 996,
    TRK_HEADER_BYTES = 1000,
    TRK_NAME_BYTES = 20,
    TRK_MAX_NAMES = 10,
    TRK_SHARD_BYTES = TRK_VOXEL_ORDER - TRK_SHARD
};

/* --- Words and arrays of legacy VTK files. */

#define GLS_VTK_WORD 128
#define GLS_VTK_LINE 512

/* To what data belong. */
typedef enum gls_vtk_owner { GLS_VTK_NOBODY, GLS_VTK_POINT, GLS_VTK_CELL } gls_vtk_owner;

typedef struct gls_vtk_scan {
    gls_tractogram_reader *reader;
    gls_cursor cursor;
    bool binary;
} gls_vtk_scan;

typedef struct gls_vtk_array {
    bool known;
    gls_type type;
    uint64_t n, at, end; /* values; bytes of the file */
    gls_cursor cursor;   /* once it is open */
} gls_vtk_array;

gls_status gls_vtk_scan_begin(gls_vtk_scan *scan, gls_tractogram_reader *reader);
/* Whether there is another word. */
bool gls_vtk_scan_more(gls_vtk_scan *scan);
/* The rest of the line without its end and NUL bytes; longer ones are cut. */
gls_status gls_vtk_scan_line(gls_vtk_scan *scan, char line[GLS_VTK_LINE]);
/* The next word. */
gls_status gls_vtk_scan_token(gls_vtk_scan *scan, char word[GLS_VTK_WORD]);
/* The same, which has to be this one. */
gls_status gls_vtk_scan_word(gls_vtk_scan *scan, const char *expected);
/* The same as a name: %20 and the like stand for other characters. */
gls_status gls_vtk_scan_name(gls_vtk_scan *scan, char name[GLS_VTK_WORD]);
/* The same as a number of something. */
gls_status gls_vtk_scan_count(gls_vtk_scan *scan, uint64_t *count);
/* Passes over lines up to an empty one. */
void gls_vtk_scan_paragraph(gls_vtk_scan *scan);
/* Passes over the n values of an array and notes where they are; type NULL: its name comes first. */
gls_status gls_vtk_scan_array(gls_vtk_scan *scan, const char *type, uint64_t n, gls_vtk_array *array);

/* Starts reading an array; the cursor of the scan is not used any more. */
gls_status gls_vtk_array_open(const gls_vtk_scan *scan, gls_vtk_array *array);
/* The next n values, in the order of bytes of this machine. */
gls_status gls_vtk_array_read(const gls_vtk_scan *scan, gls_vtk_array *array, uint64_t n, void *values);
/* The next value of an array of integers, which is not negative. */
gls_status gls_vtk_array_index(const gls_vtk_scan *scan, gls_vtk_array *array, uint64_t *value);

#endif
