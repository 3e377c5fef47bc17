/* Normalised mutual information of two images, from histograms of whole numbers. */
#ifndef GLS_REGISTRATION_NMI_H
#define GLS_REGISTRATION_NMI_H

#include "registration/level.h"
#include "registration/nmi_device.h"
#include "util/status.h"

/* One of two levels: its samples, and its refined values, at which the samples of the other one look. */
typedef struct gls_nmi_side {
    gls_grid grid;   /* of the samples; one in each voxel */
    gls_level finer; /* the level refined; its values are in bins */
    uint64_t n;      /* number of voxels that count */
    uint32_t *sample;
} gls_nmi_side;

/* Two levels, ready to be compared. */
typedef struct gls_nmi {
    gls_nmi_side side[2]; /* fixed, moving */
    size_t n_ways; /* 1: samples of the fixed image in the moving one; 2: and those of the moving in the fixed one */
    gls_nmi_device *on; /* computes histograms, borrowed; NULL: the CPU does */
    gls_go_on go_on;    /* set after gls_nmi_init(); asked again and again while maps are scored */
    gls_status status;  /* status of the first histogram that could not be computed, because memory ran out, the device
                           failed or the caller stops: all scores are 0 from there on */
} gls_nmi;

/* `on` (may be NULL) must outlive *nmi. n_ways: 1 or 2. Memory: eight times that of both levels, with one way of the
 * fixed one until it returns; of levels of more than 2^21 voxels once, since they are not refined. */
gls_status gls_nmi_init(gls_nmi *nmi, const gls_level *fixed, const gls_level *moving, size_t n_ways,
                        gls_nmi_device *on);
void gls_nmi_finish(gls_nmi *nmi);
/* Scores n maps at once, each as gls_nmi_score() does. */
void gls_nmi_scores(gls_nmi *nmi, const double (*map)[3][4], size_t n, double *score);
/* Returns the normalised mutual information (H(F) + H(M)) / H(F,M) under a map from points of the fixed image to the
 * moving image, world mm; of two ways the mean of both, which is that of the inverse map with the images exchanged.
 * Voxels that the map takes outside of the other image or its mask are left out; if less than a quarter of the fixed
 * ones is left, the result is 0. *share (may be NULL): share of the fixed voxels that is left. On the CPU the result
 * does not depend on the number of threads. */
double gls_nmi_score(gls_nmi *nmi, const double map[3][4], double *share);

#endif
