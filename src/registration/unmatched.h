/* Looks for a part of the brain that has no counterpart in the other image, such as a lesion or a resection. */
#ifndef GLS_REGISTRATION_UNMATCHED_H
#define GLS_REGISTRATION_UNMATCHED_H

#include <glslines/image.h>

/* The largest part found. */
typedef struct gls_unmatched {
    bool looked;       /* the brain is known, and large enough */
    double millilitre; /* 0: there is none */
    double at[3];      /* its centre, mm in the world of the fixed image */
} gls_unmatched;

/* From this volume on a part is no chance: in pairs of heads without a lesion it was at most 0.3 ml, and 2.0 ml where
 * few iterations had brought them together (test/bench/experiments.md). */
#define GLS_UNMATCHED_ML 3.0

/* Whether a volume of an image shows the brain alone: corners of its box are 0, and much of the box is; and with a mask
 * (NULL: none) little lies outside of it. */
bool gls_image_is_brain_alone(const gls_image *image, size_t volume, const gls_image *mask);
/* Makes the grid on which images are compared: voxels of 4 mm, or those of `from` if they are longer. */
gls_status gls_unmatched_grid(const gls_grid *from, gls_grid *grid);
/* Compares one volume of both images, brought to that grid, in the brain. mask: above 0 in the brain, on the grid;
 * NULL: the images show the brain alone. A part counts where what one image shows is far from what goes with the
 * intensity of the other one elsewhere, so that the images may differ in contrast. */
gls_status gls_unmatched_find(const gls_image *fixed, const gls_image *moved, const gls_image *mask,
                              gls_unmatched *found);

#endif
