/* All streamlines of the tractograms of the window, on the server: which of them meet a region. */
#ifndef GLS_VIEW_LINES_H
#define GLS_VIEW_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <glslines/common.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>

#include "render/scene_parts.h"
#include "tracts/rois.h"

/* A file from which points are read again: float32, one streamline after the other. */
typedef struct gls_view_points {
    const char *path;     /* of the tractogram; borrowed */
    int fd;               /* the tractogram, or a temporary file without a name */
    uint64_t at;          /* byte of its first point */
    uint64_t line, point; /* index of its first streamline and of its first point among those of all files */
    struct stat opened;   /* of the tractogram, when it was opened */
} gls_view_points;

/* The streamlines. Their points stay in files. All zero is empty. */
typedef struct gls_view_lines {
    gls_view_points *file;
    size_t n_files;
    uint64_t n; /* streamlines */
    /* index of the first point of streamline i, over all files: first[i / GLS_VIEW_BLOCK] + within[i] */
    uint64_t *first;
    uint32_t *within;
    uint64_t n_points;
    uint64_t *usable;    /* a bit for each streamline: it has points, and all are finite */
    uint64_t n_unusable; /* the others */
    bool has_grid;       /* all files know the grid of an image */
    uint64_t columns;    /* hash of the columns of the first file */
    bool mixed;          /* files have other columns than the first one */
    gls_box box;         /* of all finite points, world mm */
    uint8_t (*part)[6];  /* smallest and largest coordinates of each part of a streamline, in 255ths of the box */
    size_t n_parts;
    uint64_t length;      /* most segments of a part */
    uint64_t *first_part; /* index of the first part of every GLS_VIEW_BLOCK-th streamline */
    size_t line_room, part_room;
} gls_view_lines;

/* Streamlines that one thread tests at a time. Their bits are whole words. */
#define GLS_VIEW_BLOCK 512
/* Number of words that have a bit for each of n streamlines. */
#define GLS_VIEW_WORDS(n) (((size_t)(n) + 63) / 64)

/* Reads the n files, whose n_lines streamlines have n_points points that are finite, which lie in `box`. go_on() false:
 * GLS_ERR_CANCELLED. Call gls_view_lines_finish() also after a failure. */
gls_status gls_view_lines_read(gls_view_lines *lines, const char *const *path, size_t n, const gls_box *box,
                               uint64_t n_lines, uint64_t n_points, const gls_tractogram_read_options *options,
                               bool (*go_on)(void));
/* Sets in met[k] the bits of the streamlines that meet region k of n, and clears the others. A streamline is tested
 * exactly, as 'glslines edit' tests it, if one of its parts comes near. last: NULL, or met[k] gets the bits of those
 * whose first point lies in region k, and last[k] of those whose last point does. GLS_ERR_INPUT: a file has changed. */
gls_status gls_view_lines_meet(const gls_view_lines *lines, const gls_rois *rois, size_t n, uint64_t *const *met,
                               uint64_t *const *last);
/* Fails for a file that is not what was opened, and says whether it has gone or changed. Returns GLS_ERR_INPUT. */
gls_status gls_view_lines_refuse(const char *path);
/* GLS_ERR_INPUT: a file has changed, was replaced or has gone since it was opened. */
gls_status gls_view_lines_check(const gls_view_lines *lines);
/* Appends the streamlines of a set of bits to the sink, at most `most` of them, evenly spread. count: number of bits
 * that are set. */
gls_status gls_view_lines_send(const gls_view_lines *lines, const uint64_t *set, uint64_t count, uint64_t most,
                               const gls_sink *sink);
/* Frees everything. */
void gls_view_lines_finish(gls_view_lines *lines);

#endif
