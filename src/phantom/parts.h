/* Parts of the phantom, a synthetic series with known bundles: anatomy (head.c), bundles as tubes (tubes.c), content
 * and signal of voxels (voxels.c), files and their description for people (write.c). */
#ifndef GLS_PHANTOM_PARTS_H
#define GLS_PHANTOM_PARTS_H

#include <glslines/phantom.h>

#include "util/text.h"

/* Makes the gradient table of a phantom with these parameters, along its voxel axes. The caller destroys *gradients. */
gls_status gls_phantom_gradients(const gls_phantom_params *params, gls_gradients **gradients);

/* Anatomy and tubes use a reference frame: RAS, in mm of a brain 172 mm long, origin at the centre of the head.
 * PHANTOM_HEAD_...: half of the head's extent along each axis, mm. */
#define PHANTOM_HEAD_X 72.0
#define PHANTOM_HEAD_Y 91.0
#define PHANTOM_HEAD_Z 67.0

/* A cross-section of a tube: the points c + u m1 + v m2 with u^2 + v^2 <= 1. A fibre keeps its (u, v) along the whole
 * tube. */
typedef struct phantom_station {
    double c[3], t[3];          /* c: centre; t: unit normal of the cross-section, the tangent of the centre line */
    double m1[3], m2[3];        /* half axes, mm */
    double dc[3], d1[3], d2[3]; /* change of c, m1 and m2 per station, mm */
    double reach;               /* length of the longer half axis, mm */
} phantom_station;

/* A slab is the part of a tube between two consecutive stations. Number of slabs in a bounding sphere; the last sphere
 * may have fewer. */
#define PHANTOM_CHUNK 8

/* A bundle: a tube around a centre line of stations. */
typedef struct phantom_tube {
    char name[32];
    double density; /* where tubes cross, each fibre population gets a share proportional to its density */
    size_t n;       /* number of stations */
    phantom_station *station;
    size_t n_chunks;
    double (*sphere)[4]; /* sphere[k]: centre and radius of the sphere around stations PHANTOM_CHUNK k .. PHANTOM_CHUNK
                            (k + 1) */
    size_t grey[2]; /* from the middle towards the start [0] and towards the end [1] of the tube: index of the first
                       station whose centre is not in white matter; if all are, of the outermost station */
    double end_range[2]; /* station indices, with fractions: the tube's grey matter up to end_range[0] belongs to the
                            first end of the bundle, from end_range[1] on to the second end */
} phantom_tube;

#endif
