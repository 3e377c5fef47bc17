/* Tracking while a seed sphere moves or a seed region is painted. */
#ifndef GLS_VIEW_LIVE_H
#define GLS_VIEW_LIVE_H

#include <glslines/image.h>
#include <glslines/workflow.h>

#include "record/inputs.h"
#include "util/text.h"
#include "view/messages.h"
#include "view/paint.h"

/* A run of tracking that waits for spheres. All zero: there is none. */
typedef struct gls_view_live {
    gls_job *job;           /* NULL: nothing is tracked */
    char *command;          /* the command line that tracks the same, up to the options of seeds */
    gls_view_request first; /* the sphere, the number of seeds and the random seed with which the page begins */
} gls_view_live;

/* Reads and fits the inputs of the run. options: of 'glslines track'; they must outlive *live. words: the n words of
 * the command line that give these options. sphere: as --seed-sphere takes it; NULL: at the centre of the images. */
gls_status gls_view_live_open(gls_view_live *live, const gls_job_options *options, const gls_monitor *monitor,
                              const char *const *words, size_t n, const char *sphere);
/* Tracks from the sphere, or from a painted region. Appends JSON with the number of streamlines and the command line
 * that gives the same streamlines; then, to lines, gls_view_answer_lines(). */
gls_status gls_view_live_track(gls_view_live *live, gls_view_paint *painted, const gls_view_request *request,
                               const gls_monitor *monitor, gls_text *json, gls_text *lines);
/* The image that shows where streamlines can run: FA or the mask. *name: in words. */
const gls_image *gls_view_live_image(const gls_view_live *live, const char **name);
/* Whether a transform brings images, also those of seeds, to the space of the streamlines. */
bool gls_view_live_moves(const gls_view_live *live);
/* The inputs of the run; NULL: nothing is tracked. */
const gls_inputs *gls_view_live_inputs(const gls_view_live *live);
/* Frees everything. Accepts one that is all zero. */
void gls_view_live_close(gls_view_live *live);

#endif
