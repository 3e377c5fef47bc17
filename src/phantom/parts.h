/* Parts of the phantom. */
#ifndef GLS_PHANTOM_PARTS_H
#define GLS_PHANTOM_PARTS_H

#include <glslines/phantom.h>

/* --- Parts of the phantom. Anatomy and tubes live in a reference frame: RAS, mm of a brain 172 mm long, origin at the
 * centre of the head. */

/* Half extents of the head in the reference frame. */
#define PHANTOM_HEAD_X 72.0
#define PHANTOM_HEAD_Y 91.0
#define PHANTOM_HEAD_Z 67.0

typedef enum phantom_tissue { PHANTOM_WHITE, PHANTOM_GREY, PHANTOM_CSF, PHANTOM_OUTSIDE } phantom_tissue;

/* Tissue at a point; *margin (may be NULL) is about the distance to the nearest place where the tissue may be another.
 */
phantom_tissue gls_phantom_tissue(const double p[3], double *margin);

/* A cross-section of a tube: the points c + u m1 + v m2 with u^2 + v^2 <= 1. A fibre keeps its (u, v) from one end of
 * the tube to the other. */
typedef struct phantom_station {
    double c[3], t[3];          /* centre; unit normal of the cross-section: the tangent of the centre line */
    double m1[3], m2[3];        /* half axes, mm */
    double dc[3], d1[3], d2[3]; /* derivatives of c, m1, m2 by the station number */
    double reach;               /* length of the longer half axis, mm */
} phantom_station;

/* Stations per bounding sphere. */
#define PHANTOM_CHUNK 8

typedef struct phantom_tube {
    char name[32];
    double density; /* share of a fibre population where tubes cross is proportional to it */
    size_t n;       /* stations */
    phantom_station *station;
    size_t n_chunks;
    double (*sphere)[4]; /* centre and radius of the stations PHANTOM_CHUNK k .. PHANTOM_CHUNK (k + 1) */
    size_t grey[2]; /* the stations nearest the middle at which the centre line is in the grey matter of either end */
    double end_range[2]; /* grey matter at a station number below the first or above the second belongs to that end */
} phantom_tube;

gls_status gls_phantom_tubes_create(phantom_tube **tubes, size_t *n_tubes);
void gls_phantom_tubes_destroy(phantom_tube *tubes, size_t n_tubes);

/* Slabs (i: between stations i and i + 1) that may hold a point within radius of p; returns their number. */
size_t gls_phantom_tube_near(const phantom_tube *tube, const double p[3], double radius, uint16_t *slab);
/* Whether p is in one of the slabs of the tube; *station is where along it, direction (not normalised) that of the
 * fibre through p. */
bool gls_phantom_tube_at(const phantom_tube *tube, const uint16_t *slab, size_t n_slabs, const double p[3],
                         double *station, double direction[3]);

/* One row of voxels along x: what makes its signal. */
typedef struct phantom_row {
    int n;                          /* voxels */
    float *white, *grey, *csf;      /* volume fractions; white matter without fibres only */
    size_t n_fibres;                /* fibre populations of the row, voxel after voxel */
    int32_t *voxel;                 /* x */
    float *fraction, *direction[3]; /* volume fraction; world unit vector */
} phantom_row;

/* What is the same for all rows. */
typedef struct phantom_scan {
    const gls_gradients *gradients;
    const double (*direction)[3]; /* per volume, world unit vector; zero for b0 */
    double snr;
    uint64_t seed;
} phantom_scan;

/* Fills the row that begins at voxel number first in all volumes of dwi; scratch has room for row->n_fibres + 2 row->n
 * floats. */
void gls_phantom_signal(const phantom_scan *scan, const phantom_row *row, size_t first, float *scratch, gls_image *dwi);

/* --- What is in a voxel of the phantom: tissues and fibres by sampling it at 27 points. */

typedef struct phantom_scene {
    const phantom_tube *tube;
    size_t n_tubes;
    double scale[3];      /* reference frame to world */
    double map[3][4];     /* voxel to reference frame */
    double offset[27][3]; /* of the sample points from the voxel's centre, reference frame */
    double radius;        /* of the sphere that holds them */
    gls_phantom *phantom; /* whose images are filled */
} phantom_scene;

void gls_phantom_scene_init(phantom_scene *scene, gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                            const double scale[3]);

/* Storage of a row for gls_phantom_row_sample() and the scratch of gls_phantom_signal(). */
typedef struct phantom_bench {
    phantom_row row;
    float *scratch;
    uint16_t *slab; /* candidate slabs of all tubes, one after another */
    struct phantom_share *share;
} phantom_bench;

/* False if memory ran out; finish it in either case. */
bool gls_phantom_bench_init(phantom_bench *bench, const phantom_scene *scene);
void gls_phantom_bench_finish(phantom_bench *bench);

/* Samples the voxels (., y, z): fills bench->row and these voxels of the phantom's mask, roi, tissue, peaks and
 * bundles. */
void gls_phantom_row_sample(const phantom_scene *scene, int y, int z, phantom_bench *bench);

/* --- What a phantom's files hold, in words. */

/* Of what gls_phantom_write() wrote to this directory; from malloc, NULL: out of memory. */
char *gls_phantom_text(const gls_phantom *phantom, const char *directory);

#endif
