/* Segments an FOD into lobes (FMLS, Smith et al. 2013): visits samples in falling order, and joins each to the lobe of
 * its neighbours or starts a lobe. */
#ifndef GLS_WEIGHTS_FOD_LOBES_H
#define GLS_WEIGHTS_FOD_LOBES_H

#include <glslines/fixels.h>

#include "weights/fixel_parts.h"

#define GLS_MAX_LOBES 15 /* largest number of lobes of a voxel; the table of directions holds a lobe in four bits */

/* A lobe: a local maximum with the directions that belong to it. */
typedef struct gls_lobe {
    double fd;   /* integral of the FOD over the lobe */
    double peak; /* largest amplitude; found between samples with gls_fixel_options.refine, or if the sample is just
                    below the threshold */
    double direction[3]; /* mean direction, unit length */
    uint16_t seed;       /* index of the largest sample of the lobe */
} gls_lobe;

/* The lobes of a voxel, ordered by falling largest sample, and the lobe of each direction, two in a byte. */
typedef struct gls_lobes {
    /* number of lobes, at most GLS_MAX_LOBES */
    int n;
    int dropped;    /* number of lobes beyond GLS_MAX_LOBES; those of smallest `fd` are dropped */
    bool too_large; /* true: an amplitude or integral does not fit a float; then n = 0 */
    gls_lobe lobe[GLS_MAX_LOBES];
    /* for each direction the index of its lobe, or GLS_NO_LOBE, four bits each */
    uint8_t table[GLS_LOBE_TABLE];
} gls_lobes;

/* Finds the lobes of an FOD from its amplitudes at the directions of the sphere. order, sh: the same FOD as tournier07
 * coefficients, for refining peaks. Without lobes n = 0 and the table is not set. */
void gls_lobes_find(const gls_fixel_options *options, const float amplitude[GLS_LOBE_DIRECTIONS], int order,
                    const double *sh, gls_lobes *lobes);

#endif
