/* Selecting streamlines by regions that move, and saving what was selected. */
#ifndef GLS_VIEW_DISSECT_H
#define GLS_VIEW_DISSECT_H

#include <glslines/labels.h>
#include <glslines/select.h>

#include "image/label_table.h"
#include "record/tract_run.h"
#include "transform/transform.h"
#include "util/threads.h"
#include "view/gallery.h"
#include "view/lines.h"
#include "view/live.h"
#include "view/measures.h"
#include "view/messages.h"
#include "view/paint.h"

/* Regions whose streamlines are remembered: a region that did not move is not searched again. At least those of one
 * request are. */
#define GLS_VIEW_REMEMBERED 34

/* The streamlines that meet a region. */
typedef struct gls_view_met {
    char *key;      /* text of the region; of one with voxels, that of all such regions of its request in front */
    uint64_t *bits; /* of the streamlines that meet it; of a region of ends, of those whose first point lies in it */
    uint64_t *last; /* of a region of ends: of those whose last point lies in it; else not used */
    uint64_t used;  /* number of the last request that asked for it */
} gls_view_met;

/* The tractograms in which regions select streamlines. All zero: there are none. */
typedef struct gls_view_dissection {
    const char *const *path; /* tractograms, borrowed */
    size_t n_paths;
    const gls_tract_common *input; /* how they are read, borrowed */
    const char *atlas, *lut;       /* image of labels, table of their names, borrowed; NULL: none */
    const gls_view_live *live;     /* what is tracked beside, borrowed */
    const gls_strings *transform;  /* texts of --transform, borrowed */
    gls_transform space;   /* from the space of the streamlines to that of the images; empty: both are the same */
    const char *folder;    /* where files are saved, borrowed; NULL: beside the first tractogram */
    gls_view_paint *paint; /* painted regions, borrowed */
    const gls_view_gallery *gallery; /* images, borrowed */
    gls_labels *labels;
    gls_label_table names;
    gls_view_lines lines;
    gls_beside reading;                      /* of the lines, while the first pages are served */
    const gls_box *box;                      /* of all streamlines, borrowed */
    uint64_t n_lines, n_points;              /* of all streamlines, and of all their finite points */
    const gls_tractogram_read_options *read; /* borrowed */
    bool (*go_on)(void);
    gls_view_met met[GLS_VIEW_REMEMBERED];
    gls_view_measures measures;
    uint64_t n_requests;
    uint64_t *selected; /* bits of the streamlines of the last selection */
} gls_view_dissection;

/* Reads the transform, and the labels, which it brings, with their names. Set input, atlas, lut, transform and folder
 * before. */
gls_status gls_view_dissection_open(gls_view_dissection *d);
/* Begins to read the streamlines on another thread; the first selection waits for it. Set path, n_paths, box, n_lines,
 * n_points, read and go_on before. */
gls_status gls_view_dissection_begin(gls_view_dissection *d);
/* Appends the labels that occur, with their names, as JSON: [[7, "name"], ...], those that have a
 * colour with it: [7, "name", [red, green, blue]]. */
gls_status gls_view_dissection_labels(const gls_view_dissection *d, gls_text *json);
/* Appends the labels as slices, gls_stage_labels(), with the indices of that list. */
gls_status gls_view_dissection_slices(const gls_view_dissection *d, double max_voxels, gls_text *out);
/* Finds the streamlines that meet all include regions and no exclude region, have their ends in the regions of ends,
 * and fit the criteria. Appends JSON with their number, and the command line that selects the same streamlines; then,
 * to lines, gls_view_answer_lines() of those that are shown. */
gls_status gls_view_dissection_select(gls_view_dissection *d, const gls_view_request *request, gls_text *json,
                                      gls_text *lines);
/* Appends JSON with the label at a place and its name, where there are labels; 0: none; and gls_view_gallery_values().
 * GLS_ERR_ARGUMENT: there are neither labels nor images. */
gls_status gls_view_dissection_pick(const gls_view_dissection *d, const gls_view_request *request, gls_text *json);
/* Frees everything. */
void gls_view_dissection_close(gls_view_dissection *d);

#endif
