/* The tissue of a T1 image: cerebrospinal fluid, grey and white matter, with a smooth bias field. */
#ifndef GLS_ANAT_TISSUE_CLASSES_H
#define GLS_ANAT_TISSUE_CLASSES_H

#include <glslines/image.h>

#include "util/status.h"

/* The classes, by rising intensity in a T1 image. */
enum { GLS_CLASS_CSF, GLS_CLASS_GM, GLS_CLASS_WM, GLS_CLASSES };

/* Classes of an image and its bias. All zero is empty. */
typedef struct gls_tissue_classes {
    double mean[GLS_CLASSES], sd[GLS_CLASSES]; /* of log intensity without bias */
    unsigned rounds;
    double score;       /* mean log likelihood of a voxel */
    float *probability; /* a plane for each class; 0 outside the mask; owned */
    float *bias;        /* logarithm of the bias at all voxels; owned */
} gls_tissue_classes;

/* Finds the classes of an image of one volume in a mask by expectation-maximisation: log intensity is the mean of the
 * class, plus bias, plus noise; neighbours tend to have one class. prior: a volume for each class, NULL for none.
 * start: begins with its means; NULL: with those of clusters. The result does not depend on the number of threads.
 * GLS_ERR_INPUT, with the name: too few voxels, or no three classes. */
gls_status gls_tissue_classes_find(gls_tissue_classes *classes, const gls_image *t1, const uint8_t *mask,
                                   const gls_image *prior, const gls_tissue_classes *start, const gls_go_on *go_on,
                                   const char *name);
/* Makes an image of the fraction of each class: by the intensity between the means of two classes at borders, by
 * probability inside a class, where intensity is noise. */
gls_status gls_tissue_classes_fractions(const gls_tissue_classes *classes, const gls_image *t1, const uint8_t *mask,
                                        gls_image **fractions);
void gls_tissue_classes_finish(gls_tissue_classes *classes);

#endif
