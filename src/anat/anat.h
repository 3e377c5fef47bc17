/* A T1 image and a template in the space of a diffusion series: registration, brain mask, bias field, tissue, labels.
 */
#ifndef GLS_ANAT_ANAT_H
#define GLS_ANAT_ANAT_H

#include "anat/boundary.h"
#include "anat/tissue_classes.h"
#include "registration/align.h"

#include <glslines/labels.h>

/* An image and the name of its file, for messages. */
typedef struct gls_anat_image {
    gls_image *image; /* NULL: not given; owned */
    const char *name;
} gls_anat_image;

/* Numbers of labels. */
typedef struct gls_anat_numbers {
    int32_t *label; /* ascending; owned */
    size_t n;
} gls_anat_numbers;

/* The images, and how they are treated. All zero is empty. */
typedef struct gls_anat_inputs {
    gls_anat_image t1, lesion;        /* lesion: on the grid of the T1 */
    gls_anat_image b0, brain;         /* brain: a mask on the grid of b0, from the series */
    gls_anat_image fixed, fixed_mask; /* the template, and its mask on its grid */
    gls_anat_image prior;             /* probability of each class, on any grid in the template's space */
    gls_anat_image labels;            /* on any grid in the template's space: places in `known`, from 1 on; 0: none */
    gls_anat_numbers known;           /* all labels that occur */
    gls_anat_numbers deep, stem;      /* labels of deep grey matter, and of the brain stem */
    bool fine;                        /* the nonlinear part goes on to 1 mm */
    bool boundary;                    /* the map of the T1 to the series follows the border of white matter */
    const char *device;               /* as in gls_alignment */
    gls_graphics graphics;
    gls_go_on go_on;
} gls_anat_inputs;

/* The results. All zero is empty. */
typedef struct gls_anat {
    gls_alignment to_series;   /* fixed: b0; moving: T1 */
    gls_alignment to_template; /* fixed: template; moving: T1; without a template empty */
    gls_grid grid;             /* of the images below: a box around the brain, along the world axes */
    gls_image *mask;           /* 1 in the brain */
    gls_image *b0;             /* the series without diffusion weighting */
    gls_image *t1;             /* without bias field */
    gls_image *fractions;      /* one volume for each class */
    gls_image *five;           /* five tissue types */
    gls_labels *labels;        /* NULL without */
    gls_tissue_classes classes;
    gls_boundary boundary;
    bool refined;        /* by the border of white matter, as `boundary` says */
    bool cut;            /* the template shows the brain alone, and the T1 was cut to it */
    double millilitre;   /* of the brain */
    double mask_moved;   /* mm, by which the first mask lay beside the brain and was moved; 0: it lay right */
    double mask_grown;   /* mm, by which its rim was moved outwards (negative: inwards) to get the contrast of a T1 */
    bool uncorrected;    /* the rim does not follow tissue, which would have moved it too far */
    double dice;         /* of the first mask, as it was given, with the one that tissue made of it */
    double dice_mended;  /* of the first mask, moved and grown, with the same */
    double dice_series;  /* of the mask with that of the series; not a number: none is given */
    double series_apart; /* mm between the centres of both, where the series has voxels; not a number: none is given */
    int warnings;
} gls_anat;

/* Computes the results; each image is interpolated once. GLS_ERR_INPUT names the file and the remedy. */
gls_status gls_anat_make(const gls_anat_inputs *inputs, gls_anat *anat);
/* Makes an image of 1 where one of some labels is, on the grid of the labels. */
gls_status gls_anat_labels_mark(const gls_anat_inputs *inputs, const gls_anat_numbers *numbers, gls_image **marked);
/* Adds the findings to the root of a sidecar. */
void gls_anat_describe(const gls_anat *anat, cJSON *root);
void gls_anat_finish(gls_anat *anat);
void gls_anat_inputs_finish(gls_anat_inputs *inputs);

#endif
