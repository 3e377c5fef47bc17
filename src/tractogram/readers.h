/* Functions and structs that the readers of all formats share. */
#ifndef GLS_TRACTOGRAM_READERS_H
#define GLS_TRACTOGRAM_READERS_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

/* --- Cursor: reads a part of a file from front to back, decompresses it if it is deflated, and computes its checksum.
 * Several cursors may read one file at the same time. */

/* Reads a part of a file through a buffer. Not thread-safe; several cursors may read one file, because they use
 * pread(). */
typedef struct gls_cursor {
    const char *path; /* path of the file, for messages */
    /* descriptor of the open file */
    int fd;
    /* true: gls_cursor_finish() closes fd */
    bool owns_fd;
    uint64_t at, end; /* bytes `at` to `end` - 1 of the file are not read yet */
    uint64_t left;    /* uncompressed bytes that are not in the buffer yet */
    bool checked;     /* whether crc is computed, the CRC-32 of all bytes that have passed through the buffer */
    uint32_t crc;
    /* memory of the buffer, owned */
    unsigned char *buffer;
    /* size of the buffer, bytes */
    size_t capacity;
    size_t next, n; /* bytes next .. n - 1 of the buffer are unread */
    void *unpacker; /* NULL: the bytes are not compressed */
} gls_cursor;

/* --- Readers of the formats. */

#define GLS_READER_LINES 16384              /* maximum number of streamlines in a block */
#define GLS_READER_POINTS ((size_t)1 << 17) /* a block ends with the streamline that reaches this number of points */

/* One format. open() reads the header, fills info, and adds columns and header fields. next() reads at most max_lines
 * streamlines into the arrays of the reader and stores their number in *n; it stops when the block has max_points
 * points; *n is 0 only at the end, after all checks. close() frees the state, which may be incomplete or NULL. */
typedef struct gls_reader_driver {
    gls_status (*open)(gls_tractogram_reader *reader);
    gls_status (*next)(gls_tractogram_reader *reader, size_t *n);
    void (*close)(gls_tractogram_reader *reader);
} gls_reader_driver;

/* Columns of one kind: `shown` as in info, `filled` with the data of the current block. */
typedef struct gls_reader_columns {
    /* number of columns */
    size_t n;
    /* same names and types; only `filled` has data, which each block replaces */
    gls_column *shown, *filled;
} gls_reader_columns;

struct gls_tractogram_reader {
    /* functions of the format */
    const gls_reader_driver *driver;
    /* the driver's own struct, freed by close() */
    void *state;
    /* owned; begins every message */
    char *path;
    int fd; /* descriptor of the file; -1: the path is a folder */
    /* true: fd is a temporary file without a name, made of the file at `path`; of one in XML */
    bool is_unpacked, from_xml;
    gls_tractogram_read_options options;
    /* what the header states; its pointers lead to the lists below */
    gls_tractogram_info info;
    bool in_stored_space; /* true: points of a TRK file stay as they are stored, for merging */
    /* columns of streamlines, of points, and groups */
    gls_reader_columns dps, dpv, group;
    /* for each group the number of its members */
    uint64_t *group_size;
    /* values of whole groups, owned; their number is info.n_dpg */
    gls_group_data *dpg;
    /* fields of the header, owned; their number is info.n_header */
    gls_header_field *header;
    uint64_t n_begun; /* TCK: total_count of the header; 0: none */
    char **lines; /* TCK: header lines as in the file, without those that the format itself needs; NULL-terminated */
    size_t n_lines;
    gls_cursor data;                /* TRK, TCK: the streamlines, behind the header or in a file of their own */
    double done;                    /* share of the file that was read, 0 .. 1 */
    struct gls_reader_ahead *ahead; /* reading thread; NULL: none */
    bool seen_finite;               /* true: next() has found that all points are finite */
    /* streamlines and points in all blocks that were read before */
    uint64_t lines_read, points_read;
    /* A block ends with streamline number max_lines, or with the streamline that reaches max_points points. Both
     * limits depend on the memory that the columns need. */
    size_t max_lines, max_points;
    uint64_t *line_offset; /* max_lines + 1 elements */
    /* points of the block, in world mm, or as stored with in_stored_space */
    float (*point)[3];
    /* number of points for which memory is allocated */
    size_t point_capacity;
};

#endif
