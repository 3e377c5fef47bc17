/* What the readers of tractograms share. */
#ifndef GLS_TRACTOGRAM_READERS_H
#define GLS_TRACTOGRAM_READERS_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

/* --- A part of a file read from front to back, unpacked on the way if it is deflated, with its checksum. Several may
 * read one file at the same time. */

typedef struct gls_cursor {
    const char *path; /* for messages */
    int fd;
    bool owns_fd;
    uint64_t at, end; /* of the file: what was not read yet */
    uint64_t left;    /* bytes that are not in the buffer yet, unpacked */
    bool checked;     /* crc is wanted: of what went through the buffer, so of the whole part once it is at its end */
    uint32_t crc;
    unsigned char *buffer;
    size_t capacity;
    size_t next, n; /* unread part of the buffer: next .. n - 1 */
    void *unpacker; /* NULL: the bytes are plain */
} gls_cursor;

/* Bytes at .. end - 1 of the open file, which the caller keeps open unless it sets owns_fd. */
gls_status gls_cursor_init(gls_cursor *cursor, const char *path, int fd, uint64_t at, uint64_t end);
/* Turns a new cursor into one that reads so many bytes from deflated data (without a header). */
gls_status gls_cursor_unpack(gls_cursor *cursor, uint64_t bytes);
/* Accepts a zeroed cursor. */
void gls_cursor_finish(gls_cursor *cursor);
/* Bytes that are left. */
uint64_t gls_cursor_left(const gls_cursor *cursor);
/* GLS_ERR_INPUT: more is wanted than there is. */
gls_status gls_cursor_ended(const gls_cursor *cursor);
/* The next bytes; GLS_ERR_INPUT if fewer are left. */
gls_status gls_cursor_read(gls_cursor *cursor, void *data, size_t bytes);
/* Makes at least `bytes` of what is left (64 KiB at most; less only at the end) lie in the buffer from buffer + next
 * to buffer + n; the caller takes some by moving next. */
gls_status gls_cursor_fill(gls_cursor *cursor, size_t bytes);
/* Whether the deflated data end where the bytes do; true for plain ones. */
bool gls_cursor_ends(gls_cursor *cursor);

/* --- What the readers of the formats share. */

#define GLS_READER_LINES 16384              /* at most, in one call */
#define GLS_READER_POINTS ((size_t)1 << 17) /* after which a call ends */

/* One format. open reads the header: it sets what info needs and adds columns and header fields. next stores at most
 * max_lines streamlines into the arrays of the reader and their number in *n, which is 0 at the end only, after all
 * checks; it stops after max_points. close frees the state, which open may have left unfinished, or NULL. */
typedef struct gls_reader_driver {
    gls_status (*open)(gls_tractogram_reader *reader);
    gls_status (*next)(gls_tractogram_reader *reader, size_t *n);
    void (*close)(gls_tractogram_reader *reader);
} gls_reader_driver;
extern const gls_reader_driver gls_trx_reader, gls_trk_reader, gls_tck_reader, gls_vtk_reader;

/* Columns of one kind: as info shows them, and with the memory for the streamlines read last. */
typedef struct gls_reader_columns {
    size_t n;
    gls_column *shown, *filled;
} gls_reader_columns;

/* Memory for the streamlines of one call: a reader has one, others take its place in turn. */
typedef struct gls_reader_room {
    uint64_t *line_offset; /* max_lines + 1 */
    float (*point)[3];
    size_t point_capacity;
    gls_column *filled[3]; /* dps, dpv, groups */
} gls_reader_room;

struct gls_tractogram_reader {
    const gls_reader_driver *driver;
    void *state;
    char *path;
    int fd; /* -1: a folder */
    gls_tractogram_read_options options;
    gls_tractogram_info info;
    bool in_stored_space; /* TRK: points are handed on as they are in the file; for merging */
    gls_reader_columns dps, dpv, group;
    uint64_t *group_size;
    gls_group_data *dpg;
    gls_header_field *header;
    uint64_t n_begun; /* TCK: total_count, 0: none */
    char **lines;     /* TCK: header lines as they are, but those of the format itself; NULL-terminated */
    size_t n_lines;
    gls_cursor data;                /* TRK, TCK, VTK: all behind the header */
    double done;                    /* share of the file, 0 .. 1 */
    struct gls_reader_ahead *ahead; /* a thread that reads; NULL: none */
    bool seen_finite;               /* next looked at the points itself */
    uint64_t lines_read, points_read;
    /* streamlines read last */
    size_t max_lines, max_points;
    uint64_t *line_offset; /* max_lines + 1 */
    float (*point)[3];
    size_t point_capacity;
};

/* Adds a column; its name is copied. GLS_ERR_INPUT if there is one of that name. */
gls_status gls_reader_add_column(gls_tractogram_reader *reader, gls_reader_columns *columns, const char *name,
                                 gls_type type, uint32_t components);
/* Adds a field of the header; values of repeated keys are joined. */
gls_status gls_reader_add_header(gls_tractogram_reader *reader, const char *key, const char *value);
/* Makes room for n points and their dpv. */
gls_status gls_reader_reserve(gls_tractogram_reader *reader, uint64_t n);
/* Another room for an open reader; to be finished even where it failed. */
gls_status gls_reader_room_create(gls_tractogram_reader *reader, gls_reader_room *room);
void gls_reader_room_finish(const gls_tractogram_reader *reader, gls_reader_room *room);
/* The reader reads into this room from now on, and room is the one that it had. */
void gls_reader_exchange(gls_tractogram_reader *reader, gls_reader_room *room);
/* With more than one thread a thread begins to read, n_blocks of up to GLS_READER_POINTS points ahead of the pump,
 * which is to follow. */
gls_status gls_reader_ahead_start(gls_tractogram_reader *reader, size_t n_blocks);
void gls_reader_ahead_stop(gls_tractogram_reader *reader);
/* Bytes from .. of the file. */
gls_status gls_reader_head(const gls_tractogram_reader *reader, uint64_t from, void *data, size_t bytes);
/* A warning, unless they were given before. */
void gls_reader_warn(const gls_tractogram_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "PATH: damaged: WHAT" */
gls_status gls_reader_damaged(const gls_tractogram_reader *reader, const char *what);
gls_status gls_reader_no_memory(const gls_tractogram_reader *reader);

/* The file in which the data of a TCK file stand, where that is another one, from malloc; NULL: there is none, or it
 * cannot be read. */
gls_status gls_tck_data_file(const char *path, char **file);

/* Turns n values of so many bytes each (1, 2, 4, 8) round. */
void gls_swap_bytes(void *data, size_t n, size_t bytes);

#endif
