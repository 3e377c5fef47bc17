/* How well labels of two images agree: Dice of each label before and after a registration. */
#ifndef GLS_REGISTRATION_LABEL_OVERLAP_H
#define GLS_REGISTRATION_LABEL_OVERLAP_H

#include <glslines/labels.h>

#include "transform/transform.h"

/* By which map the labels of the moving image are brought to those of the fixed image. */
typedef enum gls_overlap_by {
    GLS_OVERLAP_HEADERS, /* world positions as both headers state them */
    GLS_OVERLAP_LINEAR,  /* the linear part of the registration */
    GLS_OVERLAP_ALL,     /* the whole registration */
    GLS_OVERLAP_N
} gls_overlap_by;

/* One label. */
typedef struct gls_overlap_row {
    int32_t label;
    bool in_fixed, in_moving;   /* whether the label occurs in the image */
    uint64_t fixed;             /* its voxels in the fixed image */
    uint64_t moved;             /* its voxels after GLS_OVERLAP_ALL, on the grid of the fixed image */
    double dice[GLS_OVERLAP_N]; /* 0 to 1; NAN: neither the fixed nor the moved labels have a voxel of it */
} gls_overlap_row;

/* All labels of two images. All zero is empty. */
typedef struct gls_label_overlap {
    size_t n, n_common;         /* number of labels, and of those that occur in both images */
    gls_overlap_row *row;       /* ascending by label, owned */
    double mean[GLS_OVERLAP_N]; /* mean Dice of the labels that occur in both images */
} gls_label_overlap;

/* Lists the labels of both images in *overlap, which is empty before. GLS_ERR_INPUT, with the names: an image has no
 * label above 0, or no label occurs in both. Call gls_label_overlap_finish() also after a failure. */
gls_status gls_label_overlap_list(const gls_labels *moving, const char *moving_name, const gls_labels *fixed,
                                  const char *fixed_name, gls_label_overlap *overlap);
/* Brings the labels of the moving image to the grid of the fixed ones, by votes of the eight voxels around, and
 * compares those that gls_label_overlap_list() listed. by[]: maps from points of the fixed to points of the moving
 * image. Dice of a label is twice the number of voxels that have it in both, divided by the sum of the numbers of
 * voxels that have it in each. */
gls_status gls_label_overlap_find(const gls_labels *moving, const gls_labels *fixed,
                                  const gls_transform by[GLS_OVERLAP_N], gls_label_overlap *overlap);
void gls_label_overlap_finish(gls_label_overlap *overlap);

#endif
