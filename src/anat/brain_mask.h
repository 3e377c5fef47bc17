/* The brain in a T1 image, from a first mask that registration brought, and from tissue. */
#ifndef GLS_ANAT_BRAIN_MASK_H
#define GLS_ANAT_BRAIN_MASK_H

#include "anat/tissue_classes.h"

/* Corrects a first mask, on the grid of the image, by the classes that were found in it: grey and white matter up to
 * 3 mm outside joins the brain, and what is neither fluid nor tissue up to 3 mm inside leaves it. Thin parts are
 * removed, holes filled. GLS_ERR_INPUT: nothing is left. */
gls_status gls_brain_mask_correct(const gls_image *t1, const gls_tissue_classes *classes, const uint8_t *first,
                                  uint8_t *mask);
/* Finds how far a mask lies beside the brain: the shift, mm along the axes of the grid, that brings its rim into the
 * dark between brain and scalp, if it is 5 to 15 mm and makes the rim much darker; else the one by which the
 * intensity falls at the same distance from the rim all around. Shifts of less than 2 mm are 0. */
gls_status gls_brain_mask_find_shift(const gls_image *t1, const gls_tissue_classes *classes, const uint8_t *mask,
                                     double shift[3]);
/* Moves a mask by a shift, mm, rounded to voxels. */
gls_status gls_brain_mask_move(const gls_grid *grid, const double shift[3], uint8_t *mask);
/* Moves the rim of a mask outwards by this many mm, inwards if it is negative. */
gls_status gls_brain_mask_grow(const gls_grid *grid, double mm, uint8_t *mask);
/* Overlap of two sets of n voxels: twice the common ones by the sum of both. */
double gls_brain_mask_dice(const uint8_t *a, const uint8_t *b, size_t n);

#endif
