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
/* Largest local header: 30 bytes, the name, and a ZIP64 field of 20. */
#define GLS_ZIP_LOCAL_MAX (30 + GLS_ZIP_NAME + 20)

/* An entry of an archive that is being read. */
typedef struct gls_zip_item {
    /* path in the archive, owned; folders end in / */
    char *name;
    uint64_t at;            /* position of its data in the file */
    uint64_t packed, bytes; /* sizes in the file and uncompressed; equal unless deflated */
    bool deflated;
    uint32_t crc; /* CRC-32 of the uncompressed data */
} gls_zip_item;

/* --- TCK and TSF: headers of MRtrix3's tracks and track scalars, and the numbers behind them. */

/* Facts of a header that the readers of .tck and .tsf need. gls_tck_header_finish() frees `file`. */
typedef struct gls_tck_header {
    bool wide, swapped; /* wide: float64; swapped: in the other byte order */
    char *file;         /* path of the file with the numbers; NULL: the numbers are in the file of the header */
    uint64_t start;     /* position of the first number */
} gls_tck_header;

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

/* --- The note in the file of a shard, which says what part of which run the shard is: one line of text. */

/* Where the note is. TRX: key in header.json. TCK: key in the header. TRK: in reserved bytes, behind this key and a
 * colon. */
#define GLS_SHARD_KEY "glslines_shard"

#endif
