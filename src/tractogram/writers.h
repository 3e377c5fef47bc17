/* Functions and structs that the writers of all formats share. */
#ifndef GLS_TRACTOGRAM_WRITERS_H
#define GLS_TRACTOGRAM_WRITERS_H

#include <glslines/merge.h>
#include <glslines/tractogram.h>

#include "tractogram/file_formats.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/text.h"

/* --- Large appends in pieces: several threads convert pieces to the form of the file and compute checksums, and one
 * writes them. A file system accepts one file at the speed of one thread, so the writing thread does nothing else while
 * pieces are ready. */

/* Largest number of threads of an append, and largest number of its pieces that exist at the same time. */
#define GLS_PIECE_THREADS 4
#define GLS_PIECE_ROOMS (2 * GLS_PIECE_THREADS)

/* Memory of the threads, kept between appends; all zero at first. */
typedef struct gls_piece_rooms {
    struct gls_piece_room {
        unsigned char *data;
        size_t bytes;
    } room[GLS_PIECE_ROOMS];
} gls_piece_rooms;

/* An append that several threads format in pieces while one of them writes. Functions are called by several threads at
 * once. */
typedef struct gls_pieces {
    /* open for writing; only one thread writes at a time */
    gls_output *output;
    size_t n; /* number of units: points, streamlines, or rows of an array */
    /* Offset at which a unit begins, in bytes from the start of this append; for unit n the size of the append. */
    uint64_t (*offset)(const void *user, size_t unit);
    /* Formats units from .. until - 1 as in the file: into room, or sets *data to where their bytes lie already. */
    gls_status (*form)(void *user, size_t from, size_t until, unsigned char *room, const void **data);
    /* first argument of the functions */
    void *user;
    gls_piece_rooms *rooms; /* NULL: form() needs no memory */
    uint32_t *crc;          /* checksum, continued over the written bytes; NULL: not wanted */
    /* Other work of this append, done once by a thread that has nothing to format; NULL: none. */
    gls_status (*aside)(void *user);
} gls_pieces;

/* Number of threads for a large append; one of them also writes. */
int gls_pieces_threads(void);
/* Whether an append of so many bytes is worth several threads. */
bool gls_pieces_wanted(uint64_t bytes);
/* Appends all units. After a failure the end of the file is undefined. */
gls_status gls_pieces_append(const gls_pieces *pieces);

/* --- Writers of the formats. */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they lie in memory, and TRX, TRK and TCK are little-endian");

/* One format. create() makes the state; define() learns the columns before the first append; append() gets checked
 * streamlines; finish() completes the file, which the caller then commits. */
typedef struct gls_tractogram_driver {
    bool checks_points; /* append() itself fails on points that are not finite */
    gls_status (*create)(gls_tractogram_writer *writer, const gls_tractogram_options *options);
    /* Learns the columns, once. */
    gls_status (*define)(gls_tractogram_writer *writer);
    /* Adds a block with the columns of define(). Its points are finite, unless checks_points is set. */
    gls_status (*append)(gls_tractogram_writer *writer, const gls_streamlines *streamlines);
    /* Completes the file: its header, and sections that come behind all streamlines. */
    gls_status (*finish)(gls_tractogram_writer *writer);
    void (*destroy)(void *state); /* accepts NULL */
} gls_tractogram_driver;

/* Largest header that the writer makes. */
#define GLS_TCK_MAX_HEADER 65536
#define GLS_TCK_LAST_LINES 1024 /* part of the header reserved for lines that the writer adds */
/* Whether a line "key: value" may be in the header of a TCK file: it must not break the header or contradict the lines
 * of the writer. */
bool gls_tck_is_line(const char *line);
/* Room for a timestamp with its NUL. */
#define GLS_TCK_STAMP 48
/* Timestamp of a TCK file, by which MRtrix3 finds out whether a track scalar file belongs to the TCK file. The
 * timestamp is made from the counts, so that equal streamlines give equal bytes at any time. Returns its length, which
 * may exceed the buffer. */
int gls_tck_stamp(uint64_t streamlines, uint64_t points, char stamp[GLS_TCK_STAMP]);

/* Whether the suffix of a name is that of a tractogram. */
bool gls_tractogram_is_name(const char *path);
extern const gls_tractogram_driver gls_trx_driver; /* the only driver that writes data of groups */

struct gls_tractogram_writer {
    /* functions of the format */
    const gls_tractogram_driver *driver;
    /* the driver's own struct */
    void *state;
    /* the file, which has no name until it is complete */
    gls_output output;
    /* grid of the reference image: affine and dimensions for the header */
    gls_grid grid;
    /* true: the file is one shard of a run; `shard` says which */
    bool is_shard;
    gls_shard shard;                  /* valid if is_shard */
    bool in_stored_space;             /* TRK: points are already as in the file, for merging */
    uint64_t n_streamlines, n_points; /* numbers of streamlines and points before the current append */
    uint64_t n_begun; /* number of streamlines begun, including rejected ones; 0: unknown, and not written */
    /* Columns, fixed by the first append that is not empty: dps, dpv, groups in this order, without data. */
    bool defined;
    /* numbers of columns of each kind */
    size_t n_dps, n_dpv, n_groups;
    /* n_dps + n_dpv + n_groups columns, owned */
    gls_column *column;
    /* number of elements of `late` */
    size_t n_late;
    gls_column late[4]; /* columns of streamlines that were added after the last streamline */
    size_t n_late_groups;
    struct gls_late_group *late_group; /* groups that were added after the last streamline */
    const char *note_name, *note;      /* a text file stored beside the arrays; NULL: none */
    gls_piece_rooms rooms;
    gls_text lost;       /* names of columns that the format cannot store */
    bool numbers_groups; /* TRK: the property "group" holds each streamline's group, counted from 1 */
    gls_status failed;   /* status of the first append that failed; later appends and the finish repeat it */
    char message[1024];
};

/* Makes gls_tractogram_writer_finish() leave the file to a group of outputs, which gives the file its name later. */
void gls_writer_join(gls_tractogram_writer *writer, gls_output_group *group);

/* Like gls_tractogram_merge(), but the output joins a group of outputs unless group is NULL. */
gls_status gls_tractogram_merge_grouped(const char *const *paths, size_t n, const char *output, bool overwrite,
                                        gls_output_group *group, gls_merge_progress progress, void *user,
                                        gls_merge_result *result);

/* A group that is known only after all streamlines were appended. */
typedef struct gls_late_group {
    /* borrowed */
    const char *name;
    /* indices in the file of the streamlines in the group; borrowed */
    const uint32_t *member;
    /* number of members */
    size_t n;
} gls_late_group;
/* Whether a TRX file can have a column or group of this name: not empty, up to 100 bytes, without dots, slashes, quotes
 * and line ends. */
bool gls_trx_can_name(const char *name);
/* TRX: adds a group of n streamlines. member: their indices in the file, ascending. name and member are borrowed until
 * the writer is finished. Other formats do not store the group. */
gls_status gls_writer_add_group(gls_tractogram_writer *writer, const char *name, const uint32_t *member, size_t n);

/* TRX: adds a JSON file about a column; readers ignore the file. Both texts are borrowed until the writer is
 * finished. */
void gls_writer_note(gls_tractogram_writer *writer, const char *name, const char *text);

/* Returns GLS_ERR_ARGUMENT if one of n points is not finite. */
gls_status gls_writer_check_points(const gls_tractogram_writer *writer, const float (*point)[3], size_t n);

/* Notes that the format cannot store a column, for a later warning. */
void gls_writer_lose(gls_tractogram_writer *writer, size_t column);

/* A buffer for small appends, whose bytes go to the file when the buffer is full. */
typedef struct gls_packer {
    /* receives full buffers */
    gls_output *output;
    /* memory of the buffer, owned */
    unsigned char *data;
    /* bytes in the buffer, and its size */
    size_t n, capacity;
    bool checked; /* true: crc is computed over all bytes that are written */
    uint32_t crc;
} gls_packer;

/* Allocates the buffer. Data go to output when the buffer is full. */
gls_status gls_packer_init(gls_packer *packer, gls_output *output);
/* Frees the buffer; bytes that were not flushed are lost. Accepts a zeroed packer. */
void gls_packer_finish(gls_packer *packer);
/* Appends bytes; GLS_ERR_OUTPUT if writing fails. */
gls_status gls_packer_write(gls_packer *packer, const void *data, size_t bytes);
/* Writes what the buffer holds. */
gls_status gls_packer_flush(gls_packer *packer);
/* Writes pieces with several threads, to the packer's output and with its crc. */
gls_status gls_packer_write_pieces(gls_packer *packer, const gls_pieces *pieces);

/* --- Spool: an array that grows without using much memory, first in a buffer, then in a nameless scratch file beside
 * the output. */

/* Bytes that can be written to the output only later: appended first; read after a call of gls_spool_rewind(). */
typedef struct gls_spool {
    /* the output beside which the scratch file lies */
    const gls_output *output;
    int fd; /* descriptor of the scratch file; -1 while all bytes fit into the buffer */
    unsigned char *buffer;
    size_t n;       /* number of bytes in the buffer; after gls_spool_rewind() the reading position */
    uint64_t bytes; /* bytes in total */
} gls_spool;

/* Starts a spool whose scratch file, if it needs one, lies in the folder of output. */
gls_status gls_spool_init(gls_spool *spool, const gls_output *output);
/* Frees the buffer and closes the scratch file. Accepts a spool that is all 0. */
void gls_spool_finish(gls_spool *spool);
/* Appends bytes; GLS_ERR_OUTPUT if the scratch file cannot be written. */
gls_status gls_spool_append(gls_spool *spool, const void *data, size_t bytes);
/* Ends appending and starts reading from the first byte. */
gls_status gls_spool_rewind(gls_spool *spool);
/* Reads exactly the next bytes. */
gls_status gls_spool_read(gls_spool *spool, void *data, size_t bytes);
/* Reads bytes from a position, after gls_spool_rewind(). May be called from several threads. */
gls_status gls_spool_read_at(const gls_spool *spool, uint64_t from, void *data, size_t bytes);

#endif
