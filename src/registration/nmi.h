/* Normalised mutual information of two images, from histograms of whole numbers. */
#ifndef GLS_REGISTRATION_NMI_H
#define GLS_REGISTRATION_NMI_H

#include "registration/level.h"

/* Bins of each image. */
#define GLS_NMI_BINS 32
/* Cells of a joint histogram: a row for each bin of the fixed image. The value of the moving image is shared between
 * two bins, so there is one more of them. */
#define GLS_NMI_CELLS (GLS_NMI_BINS * (GLS_NMI_BINS + 1))

/* Histograms on a device, see nmi_device.h. */
typedef struct gls_nmi_device gls_nmi_device;

/* Two levels, ready to be compared. */
typedef struct gls_nmi {
    gls_grid fixed, moving;
    uint8_t *bin;        /* of the fixed image; GLS_NMI_BINS where a voxel does not count */
    int8_t (*place)[3];  /* where in its voxel the fixed image is sampled, in 256ths from the centre */
    float *value;        /* of the moving image, in bins */
    const uint8_t *mask; /* of the moving image, borrowed */
    uint64_t n;          /* voxels of the fixed image that count */
    gls_nmi_device *on;  /* computes histograms, borrowed; NULL: the CPU does */
    gls_status status;   /* of the first histogram that could not be computed, for lack of memory or by a fault of the
                            device: all scores are 0 from there on */
} gls_nmi;

/* Both levels, and `on` (may be NULL), must outlive *nmi. */
gls_status gls_nmi_init(gls_nmi *nmi, const gls_level *fixed, const gls_level *moving, gls_nmi_device *on);
void gls_nmi_finish(gls_nmi *nmi);
/* Scores n maps at once, as gls_nmi_score() does each. */
void gls_nmi_scores(gls_nmi *nmi, const double (*map)[3][4], size_t n, double *score);
/* (H(F) + H(M)) / H(F,M) where the map takes points of the fixed image to the moving image, world mm. Voxels that go
 * outside of the moving image or its mask are left out; 0 if less than a quarter are left. *share (may be NULL): which
 * part is left. On the CPU the same for any number of threads. */
double gls_nmi_score(gls_nmi *nmi, const double map[3][4], double *share);

#endif
