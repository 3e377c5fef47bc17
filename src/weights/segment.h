/* The lobes of one FOD. */
#ifndef GLS_WEIGHTS_SEGMENT_H
#define GLS_WEIGHTS_SEGMENT_H

#include <glslines/fixels.h>

#include "weights/sphere.h"

#define GLS_MAX_LOBES 15 /* of a voxel; the table of directions has four bits for each */
#define GLS_NO_LOBE 15
#define GLS_LOBE_TABLE ((GLS_LOBE_DIRECTIONS + 1) / 2) /* bytes */

/* A local maximum with the directions that belong to it. */
typedef struct gls_lobe {
    double fd;           /* integral */
    double peak;         /* amplitude: refined where that was asked for */
    double direction[3]; /* mean, unit length */
    uint16_t seed;       /* its largest sample */
} gls_lobe;

/* Lobes in the order of falling seeds, and the one of each direction, two in a byte. */
typedef struct gls_lobes {
    int n;
    int dropped;    /* lobes beyond GLS_MAX_LOBES, the smallest ones */
    bool too_large; /* amplitudes or integrals are beyond what a float holds: no lobes */
    gls_lobe lobe[GLS_MAX_LOBES];
    uint8_t table[GLS_LOBE_TABLE];
} gls_lobes;

/* From the amplitudes at the directions of the sphere. order, sh: the same function as tournier07 coefficients, for the
 * refinement of peaks. A voxel without lobes has n = 0 and no table. */
void gls_lobes_find(const gls_fixel_options *options, const float amplitude[GLS_LOBE_DIRECTIONS], int order,
                    const double *sh, gls_lobes *lobes);

static inline int gls_lobe_of(const uint8_t *table, unsigned direction)
{
    return table[direction / 2] >> (direction % 2 * 4) & 15;
}

#endif
