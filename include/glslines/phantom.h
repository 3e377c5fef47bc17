/* A built-in diffusion phantom: a brain-like shape with known bundles, for demonstration, tests and benchmarks. */
#ifndef GLSLINES_PHANTOM_H
#define GLSLINES_PHANTOM_H

#include <glslines/gradients.h>
#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of shells of the phantom's series, b = 0 not counted. */
#define GLS_PHANTOM_MAX_SHELLS 8

typedef struct gls_phantom_params {
    size_t size;          /* size of this struct, set by the default function */
    int32_t shape[3];     /* voxels, each 16 .. 512; default 40 52 38 */
    double voxel_size[3]; /* mm, each 0.1 .. 20; default 2 2 2 */
    char orientation[4];  /* axis codes of the voxel axes; default "LAS" (negative determinant, as most scanner
                            exports) */
    double
        oblique[3]; /* rotation of the grid about world x, then y, then z, degrees, each -180 .. 180; default 0 0 0 */
    int n_shells;   /* 1 .. GLS_PHANTOM_MAX_SHELLS; default 1 */
    double bval[GLS_PHANTOM_MAX_SHELLS]; /* s/mm2, each 100 .. 20000; default one shell of 2000 */
    int n_directions;                    /* directions for each shell, 6 .. 1024; default 64 */
    int n_b0;                            /* 1 .. 64; default 4; volumes with b = 0 come first, then shell after shell */
    double snr;        /* signal-to-noise ratio of the b0 signal of white matter, 1 .. 1e6; 0: no noise; default 30 */
    uint64_t seed;     /* random seed of the noise; default 0 */
    bool ground_truth; /* also make the bundles and the peaks; default true. The signal does not depend on this */
} gls_phantom_params;
GLS_API gls_phantom_params gls_phantom_params_default(void);

/* A ground-truth bundle. */
typedef struct gls_phantom_bundle {
    char name[32];      /* e.g. "corpus_callosum_body" */
    gls_image *mask;    /* 1 where the bundle's white matter fills at least 1/8 of the voxel */
    gls_image *ends[2]; /* 1 where the grey matter in which the bundle ends fills at least 1/8 of the voxel; both ends
                           touch the mask */
    size_t n_points;    /* number of points, about one every 1.5 mm in a brain of 170 mm */
    double (*centre_line)[3]; /* n_points points, world mm, from grey matter to grey matter */
} gls_phantom_bundle;

/* The anatomy lives in world space and is centred at the origin, as is the grid. Its extent follows from the grid's
 * extent in world mm, so grids of the same extent, whatever their voxel sizes and axis order, hold the same brain and,
 * without noise, the same signal. */
typedef struct gls_phantom {
    gls_phantom_params params;
    gls_image *dwi;           /* Rician magnitude signal; b0 of white matter about 1000; noise alone outside the head */
    gls_gradients *gradients; /* along the voxel axes; for any n the first n vectors of a shell are spread evenly */
    gls_image *mask;          /* 1 where white matter, grey matter and CSF fill at least half of the voxel */
    gls_image *roi;           /* 1 where white matter fills at least half of the voxel and fibres at least 3/10 */
    gls_image *tissue;        /* 3 volumes: volume fractions of white matter, grey matter, CSF */
    gls_image *peaks; /* 12 volumes, four for each of the three largest fibre populations: its unit direction (world x,
                         y, z) and its volume fraction; NULL without ground truth */
    size_t n_bundles; /* at least 8, always in the same order; 0 without ground truth */
    gls_phantom_bundle *bundle;
} gls_phantom;

/* Creates a phantom. The values do not depend on threads; the same parameters give the same values on every machine up
 * to rounding. GLS_ERR_ARGUMENT: a parameter out of range; GLS_ERR_MEMORY. */
GLS_API gls_status gls_phantom_create(const gls_phantom_params *params, gls_phantom **phantom);
/* Frees `phantom`, which may be NULL. */
GLS_API void gls_phantom_destroy(gls_phantom *phantom);

/* Makes an image of the phantom's tissue for gls_tissue_create(); all grey matter is cortical. The caller owns *image.
 */
GLS_API gls_status gls_phantom_five_tissues(const gls_phantom *phantom, gls_image **image);

/* Writes dwi.nii.gz (int16), dwi.bval, dwi.bvec (FSL convention), mask.nii.gz, roi.nii.gz, tissue.nii.gz, 5tt.nii.gz
 * (for anatomically constrained tracking), peaks.nii.gz and bundles/NAME.nii.gz, NAME_end0.nii.gz, NAME_end1.nii.gz,
 * NAME.txt (centre line, world mm, one point per line) into a directory, which is made if it does not exist; its parent
 * must exist. GLS_ERR_OUTPUT if a file exists, unless `existing` is GLS_EXISTING_REPLACE. Files appear under their
 * names when all are complete. */
GLS_API gls_status gls_phantom_write(const gls_phantom *phantom, const char *directory, gls_existing existing);

#ifdef __cplusplus
}
#endif
#endif
