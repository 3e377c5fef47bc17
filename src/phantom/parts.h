/* Parts of the phantom, a synthetic series with known bundles: anatomy (head.c), bundles as tubes (tubes.c), content
 * and signal of voxels (voxels.c), files and their description for people (write.c). */
#ifndef GLS_PHANTOM_PARTS_H
#define GLS_PHANTOM_PARTS_H

#include <glslines/phantom.h>

#include "util/text.h"

/* Anatomy and tubes use a reference frame: RAS, in mm of a brain 172 mm long, origin at the centre of the head.
 * PHANTOM_HEAD_...: half of the head's extent along each axis, mm. */
#define PHANTOM_HEAD_X 72.0
#define PHANTOM_HEAD_Y 91.0
#define PHANTOM_HEAD_Z 67.0

typedef enum phantom_tissue { PHANTOM_WHITE, PHANTOM_GREY, PHANTOM_CSF, PHANTOM_OUTSIDE } phantom_tissue;

/* Tissue at a point of the reference frame. *margin (may be NULL): approximate distance, in mm, to the nearest point
 * where the tissue may differ. */
phantom_tissue gls_phantom_tissue(const double p[3], double *margin);

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

/* Makes all bundles of the phantom as tubes in the reference frame. */
gls_status gls_phantom_tubes_create(phantom_tube **tubes, size_t *n_tubes);
/* Frees the tubes; accepts NULL. */
void gls_phantom_tubes_destroy(phantom_tube *tubes, size_t n_tubes);

/* Lists slabs that may hold a point within radius of p; slab i lies between stations i and i + 1. Returns their
 * number. */
size_t gls_phantom_tube_near(const phantom_tube *tube, const double p[3], double radius, uint16_t *slab);
/* Whether p lies in these slabs of the tube. If so, *station: index of p among the stations, with a fraction;
 * direction: tangent of the fibre through p, not normalised. */
bool gls_phantom_tube_at(const phantom_tube *tube, const uint16_t *slab, size_t n_slabs, const double p[3],
                         double *station, double direction[3]);

/* Fills all images of the phantom: series, mask, roi, tissue, and the truth if there is any. scale: from the reference
 * frame to mm of the world, along each axis. direction: gradient direction of each volume, unit vector in the world;
 * zero for b0. GLS_ERR_MEMORY: out of memory. */
gls_status gls_phantom_voxels_fill(gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                                   const double scale[3], const double (*direction)[3]);

/* Describes, for people, the files that gls_phantom_write() wrote to this directory. From malloc; NULL: out of
 * memory. */
char *gls_phantom_text(const gls_phantom *phantom, const char *directory);

/* Writes a phantom for each entry of the list "LABEL[/SESSION],...": in DIR/sub-LABEL[/ses-SESSION]/dwi the series,
 * gradient tables of FSL and MRtrix3, brain mask and sidecars; in DIR/sub-LABEL/anat, once for each subject, fractions
 * of white matter, grey matter and CSF. Also writes the description of the data set. Entry k of the list, counted from
 * 0, has the seed of params plus k. *n: number of phantoms. GLS_ERR_ARGUMENT: an invalid label. GLS_ERR_OUTPUT: a file
 * exists and overwrite is false. */
gls_status gls_phantom_write_bids(const gls_phantom_params *params, const char *directory, const char *labels,
                                  bool overwrite, size_t *n);

#endif
