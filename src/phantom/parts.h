/* Parts of the phantom, a synthetic series with known bundles: anatomy (head.c), bundles as tubes (tubes.c), signal
 * (signal.c), content of voxels (voxels.c), description for people (write.c). */
#ifndef GLS_PHANTOM_PARTS_H
#define GLS_PHANTOM_PARTS_H

#include <glslines/phantom.h>

/* Anatomy and tubes use a reference frame: RAS, in mm of a brain 172 mm long, origin at the centre of the head.
 * PHANTOM_HEAD_...: half of the head's extent along each axis, mm. */
#define PHANTOM_HEAD_X 72.0
#define PHANTOM_HEAD_Y 91.0
#define PHANTOM_HEAD_Z 67.0

typedef enum phantom_tissue { PHANTOM_WHITE, PHANTOM_GREY, PHANTOM_CSF, PHANTOM_OUTSIDE } phantom_tissue;

/* Tissue at a point of the reference frame. *margin (may be NULL): approximate distance, in mm, to the nearest place
 * where the tissue may differ. */
phantom_tissue gls_phantom_tissue(const double p[3], double *margin);

/* A cross-section of a tube: the points c + u m1 + v m2 with u^2 + v^2 <= 1. A fibre keeps its (u, v) along the whole
 * tube. */
typedef struct phantom_station {
    double c[3], t[3];          /* centre; unit normal of the cross-section, which is the tangent of the centre line */
    double m1[3], m2[3];        /* half axes, mm */
    double dc[3], d1[3], d2[3]; /* derivatives of c, m1 and m2 by the index of the station, mm */
    double reach;               /* length of the longer half axis, mm */
} phantom_station;

/* Number of slabs, between consecutive stations, in a bounding sphere. */
#define PHANTOM_CHUNK 8

/* A bundle: a tube around a centre line of stations. */
typedef struct phantom_tube {
    char name[32];
    double density; /* where tubes cross, each fibre population gets a share proportional to its density */
    size_t n;       /* number of stations */
    phantom_station *station;
    size_t n_chunks;
    double (*sphere)[4]; /* centre and radius of the sphere around stations PHANTOM_CHUNK k .. PHANTOM_CHUNK (k + 1) */
    size_t grey[2]; /* on each side of the middle, the nearest station at which the centre line has left white matter,
                       or the last */
    double end_range[2]; /* grey matter before the first or behind the second station number belongs to that end of the
                            bundle */
} phantom_tube;

/* Makes all bundles of the phantom as tubes in the reference frame. */
gls_status gls_phantom_tubes_create(phantom_tube **tubes, size_t *n_tubes);
/* Frees the tubes; accepts NULL. */
void gls_phantom_tubes_destroy(phantom_tube *tubes, size_t n_tubes);

/* Lists slabs that may hold a point within radius of p; slab i lies between stations i and i + 1. Returns their
 * number. */
size_t gls_phantom_tube_near(const phantom_tube *tube, const double p[3], double radius, uint16_t *slab);
/* Whether p lies in one of these slabs. *station: fractional station number; direction: tangent of the fibre through p,
 * not normalised. */
bool gls_phantom_tube_at(const phantom_tube *tube, const uint16_t *slab, size_t n_slabs, const double p[3],
                         double *station, double direction[3]);

/* Compartments of a row of voxels along x, from which its signal is computed. */
typedef struct phantom_row {
    int n;                          /* number of voxels */
    float *white, *grey, *csf;      /* volume fractions; white: white matter without fibres only */
    size_t n_fibres;                /* fibre populations of the row, voxel after voxel */
    int32_t *voxel;                 /* x of the voxel of each population */
    float *fraction, *direction[3]; /* volume fraction and unit vector in the world of each population */
} phantom_row;

/* Data that all rows share. */
typedef struct phantom_scan {
    const gls_gradients *gradients;
    const double (*direction)[3]; /* gradient direction of each volume, unit vector in the world; zero for b0 */
    double snr;    /* b0 signal of white matter over the standard deviation of the noise in each channel; 0: no noise */
    uint64_t seed; /* random seed of the noise */
} phantom_scan;

/* Computes the signal of a row whose first voxel has the index `first`, in all volumes of dwi. scratch: memory for
 * row->n_fibres + 2 row->n floats. */
void gls_phantom_signal(const phantom_scan *scan, const phantom_row *row, size_t first, float *scratch, gls_image *dwi);

/* --- Voxels: tissues and fibres of a voxel, from 27 sample points. */

/* Everything that decides what is in a voxel. Threads that fill voxels share it, and only read it. */
typedef struct phantom_scene {
    const phantom_tube *tube;
    size_t n_tubes;
    double scale[3];      /* factors from the reference frame to mm of the world */
    double map[3][4];     /* affine map from voxel coordinates to the reference frame */
    double offset[27][3]; /* sample points relative to the centre of the voxel, in the reference frame */
    double radius;        /* radius of the sphere around the sample points, mm of the reference frame */
    gls_phantom *phantom; /* the phantom whose images are filled */
} phantom_scene;

/* Prepares sampling. tube and phantom are borrowed; scale: from the reference frame to the world. */
void gls_phantom_scene_init(phantom_scene *scene, gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                            const double scale[3]);

/* Memory for one thread: a row for gls_phantom_row_sample(), and scratch for gls_phantom_signal(). */
typedef struct phantom_bench {
    phantom_row row;
    float *scratch;
    uint16_t *slab; /* slabs near the voxel, of all tubes, one tube after another */
    /* the part of each tube near the voxel; memory for all tubes */
    struct phantom_share *share;
} phantom_bench;

/* Allocates the memory of a thread. Returns false if memory runs out. Call gls_phantom_bench_finish() in either case.
 */
bool gls_phantom_bench_init(phantom_bench *bench, const phantom_scene *scene);
/* Frees what gls_phantom_bench_init() allocated. */
void gls_phantom_bench_finish(phantom_bench *bench);

/* Samples the voxels (., y, z): fills bench->row, and the row in the phantom's mask, roi, tissue, peaks and bundles. */
void gls_phantom_row_sample(const phantom_scene *scene, int y, int z, phantom_bench *bench);

/* --- Describes, for people, the files that gls_phantom_write() wrote to this directory. From malloc; NULL: out of
 * memory. */
char *gls_phantom_text(const gls_phantom *phantom, const char *directory);

#endif
