/* Normalised mutual information of two images, from histograms of whole numbers. */
#ifndef GLS_REGISTRATION_NMI_H
#define GLS_REGISTRATION_NMI_H

#include "registration/level.h"
#include "registration/nmi_device.h"

/* Two levels, ready to be compared. */
typedef struct gls_nmi {
    gls_grid fixed, moving; /* moving: that of `finer` */
    gls_level finer;        /* the moving image, refined; its values are in bins */
    gls_nmi_images image;
    uint64_t n;         /* voxels of the fixed image that count */
    gls_nmi_device *on; /* computes histograms, borrowed; NULL: the CPU does */
    gls_status status; /* status of the first histogram that could not be computed, because memory ran out or the device
                          failed: all scores are 0 from there on */
} gls_nmi;

/* `on` (may be NULL) must outlive *nmi. Memory: eight times that of both levels, of the fixed one until it returns; of
 * levels of more than 2^21 voxels once, since they are not refined. */
gls_status gls_nmi_init(gls_nmi *nmi, const gls_level *fixed, const gls_level *moving, gls_nmi_device *on);
void gls_nmi_finish(gls_nmi *nmi);
/* Scores n maps at once, each as gls_nmi_score() does. */
void gls_nmi_scores(gls_nmi *nmi, const double (*map)[3][4], size_t n, double *score);
/* Returns the normalised mutual information (H(F) + H(M)) / H(F,M) under a map from points of the fixed image to the
 * moving image, world mm. Voxels that the map takes outside of the moving image or its mask are left out; if less than
 * a quarter of the voxels is left, the result is 0. *share (may be NULL): share of the voxels that is left. On the CPU
 * the result does not depend on the number of threads. */
double gls_nmi_score(gls_nmi *nmi, const double map[3][4], double *share);

#endif
