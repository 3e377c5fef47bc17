/* Files that the server sends: the page, and the data of what was opened. */
#ifndef GLS_VIEW_CONTENTS_H
#define GLS_VIEW_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>

#include <glslines/tractogram.h>

#include "render/scene_parts.h"
#include "view/dissect.h"
#include "view/gallery.h"
#include "view/live.h"

/* A file of the server. */
typedef struct gls_view_file {
    const char *path; /* in its address, "/lines" */
    const char *type; /* MIME type */
    char *bytes;      /* owned */
    size_t size;
} gls_view_file;

/* All files of the server. */
typedef struct gls_view_contents {
    gls_view_file file[16 + GLS_VIEW_IMAGES];
    size_t n;
    const char **tractogram; /* those that were opened, as the user named them; the list is owned */
    size_t n_tractograms;
    const char *image; /* behind the streamlines, as the user named it; NULL: none */
    gls_view_gallery gallery;
    gls_box box;                /* of all streamlines, world mm */
    uint64_t n_lines, n_points; /* of all streamlines; points of those that are finite */
} gls_view_contents;

/* Options by which tractograms are shown. */
typedef struct gls_view_options {
    uint64_t max_streamlines; /* of all tractograms together, evenly spread over each */
    gls_tractogram_read_options read;
    bool (*go_on)(void); /* false: stop reading with GLS_ERR_CANCELLED */
} gls_view_options;

/* Reads the tractograms and the images among n files, and makes the page. live: what is tracked; dissection: its
 * labels, and the transform that brings the images; pages can paint on the first image then. Free by
 * gls_view_contents_finish(), also after a failure. */
gls_status gls_view_contents_make(gls_view_contents *contents, const char *const *files, size_t n,
                                  const gls_view_options *options, const gls_view_live *live,
                                  const gls_view_dissection *dissection);
/* Makes the page of a data set; folder: as the user named it. Free as above. */
gls_status gls_view_contents_review(gls_view_contents *contents, const char *folder);
/* The file at a path of an address; NULL: there is none. */
const gls_view_file *gls_view_contents_find(const gls_view_contents *contents, const char *path);
/* Frees everything. */
void gls_view_contents_finish(gls_view_contents *contents);

#endif
