/* The registration of one pair of images from start to end: linear, then nonlinear, on a device or the CPU; then the
 * fields, their measures, warnings, and what a sidecar says of it. */
#ifndef GLS_REGISTRATION_ALIGN_H
#define GLS_REGISTRATION_ALIGN_H

#include <cJSON.h>

#include "registration/linear.h"
#include "registration/quality.h"
#include "registration/unmatched.h"
#include "registration/velocity.h"
#include "transform/transform.h"

/* One of both images: with masks for the last levels, and without for the search. */
typedef struct gls_align_side {
    const char *name; /* for messages, borrowed */
    gls_image *image; /* owned */
    size_t volume;
    gls_level whole, masked;
    bool has_lesion; /* voxels that have no counterpart are named */
} gls_align_side;

/* Two more images that the nonlinear part compares. */
typedef struct gls_align_channel {
    gls_level fixed, moving;
    double weight; /* that of the pair itself is 1 */
} gls_align_channel;

#define GLS_ALIGNMENT_LOOKS 16

/* A registration: its task, which the caller sets, and its result. All zero is empty. */
typedef struct gls_alignment {
    gls_align_side fixed, moving;
    gls_align_channel channel[GLS_VELOCITY_CHANNELS];
    size_t n_channels;
    const gls_image
        *brain; /* mask of the brain on the grid of the fixed image; NULL: where both show the brain alone */
    bool nonlinear;
    gls_linear_options linear; /* `device` and `go_on` are set by gls_alignment_find() */
    gls_velocity_options velocity;
    const char *device; /* name of the device; "auto": a GPU or the CPU; "cpu" */
    gls_graphics graphics;
    gls_go_on go_on;

    gls_linear_result found;
    gls_velocity flow;
    gls_image *forward, *back, *jacobian; /* displacements in RAS mm on the grid of the velocity; NULL: linear alone */
    gls_field_quality quality;
    gls_unmatched unmatched; /* in the nonlinear part, where no lesion is named */
    char renderer[160];      /* of the device that computed it; "CPU" */
    /* what has to be looked at, noted by gls_alignment_look() */
    const char *look[GLS_ALIGNMENT_LOOKS];
    size_t n_looks;
} gls_alignment;

#define GLS_ALIGNED "aligned" /* verdict where there is nothing to look at */

/* Makes one side of an image, which the side owns from then on, also after a failure. mask, lesion: on its grid; may be
 * NULL. Warns of coarse grids, and of values that are not finite. */
gls_status gls_align_side_init(gls_align_side *side, const char *name, gls_image *image, size_t volume,
                               const gls_image *mask, const gls_image *lesion);
/* Edge of the voxels of the coarser image, mm, which no level can be finer than. */
double gls_alignment_edge(const gls_alignment *a);
/* The usual levels of both parts for images of these grids: 8, 4 and 2 mm, but none finer than the coarser image; and
 * the usual options of the velocity. */
void gls_alignment_usual(gls_alignment *a);
/* Registers the images, and makes the fields. GLS_ERR_INPUT: the images do not overlap and the search may not move
 * them. */
gls_status gls_alignment_find(gls_alignment *a);
/* Warns of results that have to be looked at, and notes them for the verdict. Returns the number of warnings. */
int gls_alignment_warn(gls_alignment *a);
/* Notes what has to be looked at, a text that lives as long as the alignment. Returns true. */
bool gls_alignment_look(gls_alignment *a, const char *at);
/* Adds the verdict, the names of the images, and the findings, to an object of a sidecar. */
void gls_alignment_describe(const gls_alignment *a, cJSON *object);
/* The map from points of the fixed to points of the moving image as a chain of one or two steps, or if inverse is set
 * its inverse. step: memory for 2; the fields are borrowed from the alignment. */
gls_transform gls_alignment_transform(const gls_alignment *a, bool inverse, gls_transform_step step[2]);
void gls_alignment_finish(gls_alignment *a);

#endif
