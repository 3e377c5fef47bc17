/* Parts of the file formats of tractograms that several files share: ZIP archives, parts of TRX, headers of TCK, TSF
 * and TRK, arrays of VTK, notes of shards. */
#ifndef GLS_TRACTOGRAM_FILE_FORMATS_H
#define GLS_TRACTOGRAM_FILE_FORMATS_H

#include <glslines/shard.h>

#include "tractogram/readers.h"
#include "util/file.h"
#include "util/output_file.h"

/* --- ZIP archives of stored entries, laid out so that readers of TRX can map the arrays into memory. */

/* Size of the largest name of an entry, with its NUL. */
#define GLS_ZIP_NAME 256

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

/* Largest local header: 30 bytes, the name, and a ZIP64 field of 20. */
#define GLS_ZIP_LOCAL_MAX (30 + GLS_ZIP_NAME + 20)

/* Size of the local header. Entries of more than 2147483647 bytes have a ZIP64 field, others have none. Readers that
 * compute where the data begin rely on this rule of Python's zipfile. */
size_t gls_zip_local_bytes(const gls_zip_entry *entry);
/* Stores the local header in `to`. Returns its size. */
size_t gls_zip_local(const gls_zip_entry *entry, unsigned char *to);
/* Appends the central directory and the end records. entries: in the order of their offsets. position: end of the data
 * so far, where the directory begins. n is at most 65535. */
gls_status gls_zip_finish(gls_output *output, const gls_zip_entry *entries, size_t n, uint64_t position);

/* An entry of an archive that is being read. */
typedef struct gls_zip_item {
    /* path in the archive, owned; folders end in / */
    char *name;
    uint64_t at;            /* position of its data in the file */
    uint64_t packed, bytes; /* sizes in the file and uncompressed; equal unless deflated */
    bool deflated;
    uint32_t crc; /* CRC-32 of the uncompressed data */
} gls_zip_item;

/* --- Arrays of a TRX archive or folder. */

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

/* --- TCK and TSF: headers of MRtrix3's tracks and track scalars, and the numbers behind them. */

/* Facts of a header that the readers of .tck and .tsf need. gls_tck_header_finish() frees `file`. */
typedef struct gls_tck_header {
    bool wide, swapped; /* wide: float64; swapped: in the other byte order */
    char *file;         /* path of the file with the numbers; NULL: the numbers are in the file of the header */
    uint64_t start;     /* position of the first number */
} gls_tck_header;

/* Receives each line "key: value" of the header except datatype and file. text: the line as in the file; its value
 * begins at text + value_at. */
typedef gls_status (*gls_tck_line)(void *user, const char *key, const char *value, const char *text, size_t value_at);

/* Reads the header of an open file of `bytes` bytes. GLS_ERR_INPUT names path and the error. */
gls_status gls_tck_header_read(const char *path, int fd, uint64_t bytes, gls_tck_line line, void *user,
                               gls_tck_header *header);
/* Starts reading the numbers, in rows of `row` numbers. Bytes behind the last complete row are an error, or, with
 * recover, are left out. fd and bytes: as for gls_tck_header_read(). */
gls_status gls_tck_header_open(const gls_tck_header *header, const char *path, int fd, uint64_t bytes, size_t row,
                               bool recover, gls_cursor *cursor);
/* Frees `file`. */
void gls_tck_header_finish(gls_tck_header *header);

/* --- TRK: the header of TrackVis files. */

/* Byte positions of fields, and sizes in bytes. */
enum {
    TRK_DIM = 6,
    TRK_VOXEL_SIZE = 12,
    TRK_N_SCALARS = 36,
    TRK_SCALAR_NAME = 38,
    TRK_N_PROPERTIES = 238,
    TRK_PROPERTY_NAME = 240,
    TRK_VOX_TO_RAS = 440,
    TRK_SHARD = 504, /* in reserved bytes: the note on a shard, see below */
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

/* --- VTK: words and arrays of legacy files. */

/* Sizes of the memory for a word and for a line of a header, with its NUL. Words are names, types and numbers. */
#define GLS_VTK_WORD 128
#define GLS_VTK_LINE 512

/* An array of a VTK file: found in one pass over the file, then read from its own position. */
typedef struct gls_vtk_array {
    /* true: the file has this array */
    bool known;
    /* type of a value in the file */
    gls_type type;
    uint64_t n, at, end; /* n: number of values; at, end: positions in the file of the first byte and behind the last */
    gls_cursor cursor;   /* valid once the array is open */
} gls_vtk_array;

/* State of the reader of VTK files. */
typedef struct gls_vtk {
    /* borrowed: path, file descriptor and options */
    gls_tractogram_reader *reader;
    /* position of the pass that finds the arrays */
    gls_cursor cursor;
    /* true: arrays are binary, big-endian; false: arrays are text */
    bool binary;
    gls_vtk_array points, lines; /* lines: before version 5, for each line its number of points and their indices */
    /* from version 5 on: the end of each line among the indices, and the indices */
    gls_vtk_array offsets, connectivity;
    gls_vtk_array *dps, *dpv;             /* one for each column */
    uint64_t n_points, n_lines, n_others; /* n_others: cells that are not lines */
    /* next_point: smallest index with which the next line may begin; last_offset (version 5): the offset read last,
     * where the next line begins in `connectivity` */
    uint64_t next_point, last_offset;
    double sign[3]; /* factors to RAS+ */
} gls_vtk;

/* Passes over the file from front to back: reads its head, and notes where each array lies. reader->state is a gls_vtk,
 * all zero before. */
gls_status gls_vtk_find(gls_tractogram_reader *reader);
/* Reads a word. Returns false at the end, or if the word is too long. */
bool gls_vtk_next_word(gls_cursor *cursor, char word[GLS_VTK_WORD]);
/* Parses a number as a value of the given type. */
bool gls_vtk_parse_value(const char *word, gls_type type, void *to);
/* Writes the open file of the reader, a .vtp, to fd as a legacy file of version 5.1. */
gls_status gls_vtk_from_xml(gls_tractogram_reader *reader, int fd);

/* --- The note in the file of a shard, which says what part of which run the shard is: one line of text. */

/* Largest size of the note, with its NUL. */
#define GLS_SHARD_TEXT 320
/* Where the note is. TRX: key in header.json. TCK: key in the header. TRK: in reserved bytes, behind this key and a
 * colon. */
#define GLS_SHARD_KEY "glslines_shard"

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
