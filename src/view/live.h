/* Tracking while a seed sphere moves or a seed region is painted. */
#ifndef GLS_VIEW_LIVE_H
#define GLS_VIEW_LIVE_H

#include <cJSON.h>
#include <glslines/image.h>
#include <glslines/workflow.h>

#include "record/inputs.h"
#include "util/text.h"
#include "view/messages.h"
#include "view/paint.h"

/* The command line of `glslines track` that is tracked. */
typedef struct gls_view_track {
    const char *const *word; /* n words behind "track", without outputs and seeds; borrowed */
    size_t n;
    /* Reads n words, which outlive the options, as the command line does, with one seed option in front of all. */
    gls_status (*read)(void *user, const char *const *word, size_t n, gls_job_options *options);
    void *user;
    const char *sphere; /* the first sphere, as --seed-sphere takes it; NULL: at the centre of the images */
    const char *atlas;  /* image of labels in which streamlines may stop; NULL: none */
} gls_view_track;

/* Words of a command line. */
typedef struct gls_view_words {
    const char **word; /* owned, with the room for the values; the words of the user are borrowed */
    size_t n;
} gls_view_words;

/* A run of tracking that waits for spheres. All zero: there is none. */
typedef struct gls_view_live {
    gls_view_track track;
    gls_view_words base;    /* the words of the user without those that the controls replace */
    const char *act;        /* file of --act, borrowed; NULL: none */
    gls_view_request first; /* the sphere, the number of seeds, the random seed and the controls of the page at first */
    bool offered[GLS_DG_COUNT]; /* getters that the data allow */
    gls_image *image;           /* copy of the stop map or mask that the page shows */
    const char *image_name;
    gls_job *job; /* NULL: nothing is tracked */
    /* of `job`: its controls, its words, and the regions in which its streamlines stop, as text; NULL: not known */
    gls_view_controls controls;
    gls_view_words words;
    char *stops;
    double speed; /* seeds a second of the last run; 0: not known */
    uint64_t n;   /* its seeds */
} gls_view_live;

/* Reads and fits the inputs of the run. track must outlive *live, but for itself. */
gls_status gls_view_live_open(gls_view_live *live, const gls_view_track *track, const gls_monitor *monitor);
/* Adds what the page has to know to an object: the first sphere, the getters, the controls. */
void gls_view_live_describe(const gls_view_live *live, cJSON *object);
/* Tracks from the sphere, or from a painted region, by the controls of the request; if they are refused, those of
 * before stay. Appends JSON with the number of streamlines and the command line that gives the same streamlines; then,
 * to lines, gls_view_answer_lines(). */
gls_status gls_view_live_track(gls_view_live *live, gls_view_paint *painted, const gls_view_request *request,
                               const gls_monitor *monitor, gls_text *json, gls_text *lines);
/* Makes the words of `track` for the controls of a request, up to seeds, regions and output. Free by
 * gls_view_words_finish(). */
gls_status gls_view_live_words(const gls_view_live *live, const gls_view_request *request, gls_view_words *words);
void gls_view_words_finish(gls_view_words *words);
/* The image that shows where streamlines can run: FA or the mask. *name: in words. */
const gls_image *gls_view_live_image(const gls_view_live *live, const char **name);
/* Whether a transform brings images, also those of seeds, to the space of the streamlines. */
bool gls_view_live_moves(const gls_view_live *live);
/* Checks that a file is none of the inputs of the run. */
gls_status gls_view_live_spares(const gls_view_live *live, const char *file);
/* Frees everything. Accepts one that is all zero. */
void gls_view_live_close(gls_view_live *live);

#endif
