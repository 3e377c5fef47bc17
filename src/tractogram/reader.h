/* Reads shards: tractograms as the writers here write them, and no others. Everything is checked: what a file says
 * about itself, every streamline, checksums.
 */
#ifndef GLS_TRACTOGRAM_READER_H
#define GLS_TRACTOGRAM_READER_H

#include "tractogram/cursor.h"
#include "tractogram/zip.h"
#include <glslines/merge.h>

/* Arrays of a TRX file. */
enum { TRX_POSITIONS, TRX_OFFSETS, TRX_SEEDS, TRX_SEED_INDEX, TRX_N_ARRAYS };

typedef struct gls_tractogram_reader {
    const char *path; /* borrowed */
    int fd;
    gls_shard_file file;
    gls_grid grid; /* TCK has none: a single voxel */
    bool half;     /* TRX positions as float16; false without streamlines */
    bool has_seed, has_seed_index;
    char **header_lines; /* TCK, NULL-terminated, else NULL */
    uint64_t n_points;   /* TRX: as its header says */
    uint64_t lines_read, points_read;
    uint32_t last_seed; /* index; those of a file never fall */
    uint32_t crc;       /* TRK and TCK: of the data, as noted in the header */
    gls_cursor data;    /* TRK and TCK: all behind the header */
    gls_cursor array[TRX_N_ARRAYS];
    uint32_t array_crc[TRX_N_ARRAYS];
    uint64_t offset; /* TRX: the last one read */
    bool wide;       /* TRX: offsets are uint64 */
    /* streamlines read last */
    uint64_t *line_offset;
    uint32_t *seed_index;
    float (*seed)[3];
    float (*point)[3];
    size_t point_capacity;
    uint16_t *halves; /* as many values as point */
} gls_tractogram_reader;

/* Opens and checks the head; the format is known by the suffix. On failure reader is as after close. */
gls_status gls_tractogram_reader_open(const char *path, gls_tractogram_reader *reader);
/* Accepts a zeroed reader and one that was closed. */
void gls_tractogram_reader_close(gls_tractogram_reader *reader);
/* The next streamlines, which stay valid until the next call. Seeds are in world mm in every format. None are left if
 * lines->n is 0, which is told only after all checks. */
gls_status gls_tractogram_reader_next(gls_tractogram_reader *reader, gls_streamlines *lines);

/* One format. next stores streamlines into the reader's arrays and their number, 0 at the end; add_point grows the
 * array of points. */
#define GLS_READER_LINES 16384              /* at most, in one call */
#define GLS_READER_POINTS ((size_t)1 << 17) /* after which a call ends */
gls_status gls_trx_reader_open(gls_tractogram_reader *reader);
gls_status gls_trx_reader_next(gls_tractogram_reader *reader, size_t *n);
gls_status gls_trk_reader_open(gls_tractogram_reader *reader);
gls_status gls_trk_reader_next(gls_tractogram_reader *reader, size_t *n);
gls_status gls_tck_reader_open(gls_tractogram_reader *reader);
gls_status gls_tck_reader_next(gls_tractogram_reader *reader, size_t *n);

/* Makes room for n points (TRX with half precision: and their float16 values). */
gls_status gls_reader_reserve(gls_tractogram_reader *reader, uint64_t n);
/* Bytes from .. from + bytes - 1 of the file. */
gls_status gls_reader_head(const gls_tractogram_reader *reader, uint64_t from, void *data, size_t bytes);
/* "PATH: damaged: WHAT" */
gls_status gls_reader_damaged(const gls_tractogram_reader *reader, const char *what);
/* "PATH: is no shard ..." */
gls_status gls_reader_no_shard(const gls_tractogram_reader *reader);
/* At the end of the data of TRK and TCK: nothing is left, and the checksum is right. */
gls_status gls_reader_finish_data(gls_tractogram_reader *reader);

#endif
