/* What the writers of tractograms share. */
#ifndef GLS_TRACTOGRAM_WRITERS_H
#define GLS_TRACTOGRAM_WRITERS_H

#include <glslines/merge.h>
#include <glslines/tractogram.h>

#include "tractogram/shards.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/text.h"

/* --- Large appends to a tractogram, in pieces: several threads bring them into the form of the file, check them and
 * sum them up, and one writes them, each at its place. A file system takes in a file at the speed of one thread; so
 * that one does nothing else while pieces are ready. */

#define GLS_PIECE_THREADS 4
#define GLS_PIECE_ROOMS (2 * GLS_PIECE_THREADS)

/* The memory of the threads, from append to append; all zero at first. */
typedef struct gls_piece_rooms {
    struct gls_piece_room {
        unsigned char *data;
        size_t bytes;
    } room[GLS_PIECE_ROOMS];
} gls_piece_rooms;
void gls_piece_rooms_finish(gls_piece_rooms *rooms);

typedef struct gls_pieces {
    gls_output *output;
    size_t n; /* units: points or streamlines */
    /* Bytes of the file that units 0 .. unit - 1 take. */
    uint64_t (*place)(const void *user, size_t unit);
    /* Units from .. until - 1 as they stand in the file: in room, or where *data points to instead. */
    gls_status (*form)(void *user, size_t from, size_t until, unsigned char *room, const void **data);
    void *user;
    gls_piece_rooms *rooms; /* NULL: form needs none */
    uint32_t *crc;          /* goes on over what is written; NULL: not wanted */
    /* Other work of the same append, done once by a thread that has nothing to form; NULL: none. */
    gls_status (*aside)(void *user);
} gls_pieces;

/* Threads of a large append: one writes, the others bring pieces into their form. */
int gls_pieces_threads(void);
/* Whether an append of so many bytes is worth it. */
bool gls_pieces_wanted(uint64_t bytes);
/* Appends all units. After a failure the file's end is undefined. */
gls_status gls_pieces_append(const gls_pieces *pieces);

/* --- What the writers of the formats share. */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "arrays are written as they lie in memory, and all three formats are little-endian");

/* One format. state is what create made; define learns the columns, before the first append; append gets checked
 * streamlines; finish completes the file, which the caller then commits. */
typedef struct gls_tractogram_driver {
    bool checks_points; /* append fails on points that are not finite */
    gls_status (*create)(gls_tractogram_writer *writer, const gls_tractogram_options *options);
    gls_status (*define)(gls_tractogram_writer *writer);
    gls_status (*append)(gls_tractogram_writer *writer, const gls_streamlines *streamlines);
    gls_status (*finish)(gls_tractogram_writer *writer);
    void (*destroy)(void *state); /* accepts NULL */
} gls_tractogram_driver;

#define GLS_TCK_MAX_HEADER 65536
#define GLS_TCK_LAST_LINES 1024 /* of these, room for the lines that the writer makes */
/* Whether a line "key: value" may stand in the header of a TCK file: it neither breaks the header nor contradicts what
 * the writer says. */
bool gls_tck_is_line(const char *line);
#define GLS_TCK_STAMP 48
/* The timestamp in the header of a TCK file, by which MRtrix3 tells which track scalar files belong to it: its counts,
 * so that the same streamlines give the same bytes at any time. Returns the length, which may exceed the text. */
int gls_tck_stamp(uint64_t streamlines, uint64_t points, char stamp[GLS_TCK_STAMP]);

extern const gls_tractogram_driver gls_trx_driver, gls_trk_driver, gls_tck_driver, gls_vtk_driver;

struct gls_tractogram_writer {
    const gls_tractogram_driver *driver;
    void *state;
    gls_output output;
    gls_grid grid;
    bool is_shard;
    gls_shard shard;                  /* if is_shard */
    bool in_stored_space;             /* TRK: points come as they are in the file; for merging */
    uint64_t n_streamlines, n_points; /* before the present append */
    uint64_t n_begun;                 /* streamlines that were tried, rejected ones too; 0: not known, and not said */
    /* fixed by the first append that is not empty: dps, dpv, groups one behind the other, without data */
    bool defined;
    size_t n_dps, n_dpv, n_groups;
    gls_column *column;
    size_t n_late;
    gls_column late[4]; /* columns per streamline that came behind all streamlines */
    size_t n_late_groups;
    struct gls_late_group *late_group; /* groups that came behind all streamlines */
    const char *note_name, *note;      /* a text beside the arrays; NULL: none */
    gls_piece_rooms rooms;
    gls_text lost;       /* columns that the format does not hold */
    bool numbers_groups; /* TRK: the property "group" has each streamline's group, counted from 1 */
    gls_status failed;   /* of the first append that failed, with its message: every later call repeats it */
    char message[1024];
};

/* finish then leaves the file to the group, which gives it its name. */
void gls_writer_join(gls_tractogram_writer *writer, gls_output_group *group);

/* gls_tractogram_merge() as part of a group, unless that is NULL. */
gls_status gls_tractogram_merge_grouped(const char *const *paths, size_t n, const char *output, bool overwrite,
                                        gls_output_group *group, gls_merge_progress progress, void *user,
                                        gls_merge_result *result);

/* A group that is known once all streamlines have been appended. */
typedef struct gls_late_group {
    const char *name;
    const uint32_t *member;
    size_t n;
} gls_late_group;
/* Whether a TRX file can have a column or group of this name. */
bool gls_trx_can_name(const char *name);
/* TRX: adds a group of these streamlines, in ascending order; name and members are borrowed until the writer is
 * finished. Other formats do not keep it. */
gls_status gls_writer_add_group(gls_tractogram_writer *writer, const char *name, const uint32_t *member, size_t n);

/* TRX: JSON on a column, in a file of this name beside it, which readers pass over. Both texts are borrowed until the
 * writer has finished. */
void gls_writer_note(gls_tractogram_writer *writer, const char *name, const char *text);

/* GLS_ERR_ARGUMENT if one of n points is not finite. */
gls_status gls_writer_check_points(const gls_tractogram_writer *writer, const float (*point)[3], size_t n);

/* Notes that the format does not hold a column. */
void gls_writer_lose(gls_tractogram_writer *writer, size_t column);

/* A growing piece of the file that is written when it is full. */
typedef struct gls_packer {
    gls_output *output;
    unsigned char *data;
    size_t n, capacity;
    bool checked; /* crc is wanted: of all that was written */
    uint32_t crc;
} gls_packer;

gls_status gls_packer_init(gls_packer *packer, gls_output *output);
void gls_packer_finish(gls_packer *packer);
gls_status gls_packer_write(gls_packer *packer, const void *data, size_t bytes);
gls_status gls_packer_flush(gls_packer *packer);
/* The same in pieces; output and crc are the packer's. */
gls_status gls_packer_write_pieces(gls_packer *packer, const gls_pieces *pieces);

/* --- An array that grows without using memory: in a buffer first, then in a nameless scratch file beside the output.
 */

typedef struct gls_spool {
    const gls_output *output;
    int fd; /* -1 as long as the buffer holds everything */
    unsigned char *buffer;
    size_t n;       /* bytes in the buffer */
    uint64_t bytes; /* in all */
} gls_spool;

gls_status gls_spool_init(gls_spool *spool, const gls_output *output);
/* Accepts a zeroed spool. */
void gls_spool_finish(gls_spool *spool);
gls_status gls_spool_append(gls_spool *spool, const void *data, size_t bytes);
/* Ends appending and starts reading from the first byte. */
gls_status gls_spool_rewind(gls_spool *spool);
/* Reads exactly the next bytes. */
gls_status gls_spool_read(gls_spool *spool, void *data, size_t bytes);
/* Bytes from a place on, after rewinding, by any number of threads. */
gls_status gls_spool_read_at(const gls_spool *spool, uint64_t from, void *data, size_t bytes);

#endif
