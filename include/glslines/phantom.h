/* A built-in diffusion phantom: a brain-like shape with known bundles, for demonstration, tests and benchmarks. */
#ifndef GLSLINES_PHANTOM_H
#define GLSLINES_PHANTOM_H

#include <glslines/gradients.h>
#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GLS_PHANTOM_MAX_SHELLS 8

typedef struct gls_phantom_params {
    int32_t shape[3];     /* voxels, each 16 .. 512; default 40 52 38 */
    double voxel_size[3]; /* mm; default 2 2 2 */
    char orientation[4];  /* axis codes of the voxel axes; default "LAS" (negative determinant, as most scanner exports) */
    double oblique[3];    /* rotation of the grid about world x, y, z, degrees; default 0 0 0 */
    int n_shells;
    double bval[GLS_PHANTOM_MAX_SHELLS]; /* s/mm2; default one shell of 2000 */
    int n_directions;     /* per shell, 6 .. 1024; default 64 */
    int n_b0;             /* 1 .. 64; default 4 */
    double snr;           /* of the b0 signal of white matter; 0: no noise; default 30 */
    uint64_t seed;        /* of the noise; default 0 */
} gls_phantom_params;
GLS_API gls_phantom_params gls_phantom_params_default(void);

/* A ground-truth bundle. */
typedef struct gls_phantom_bundle {
    char name[32];       /* e.g. "corpus_callosum" */
    gls_image *mask;     /* voxels of the bundle */
    gls_image *ends[2];  /* the grey-matter end regions */
    size_t n_points;
    double (*centre_line)[3]; /* world mm, n_points of them */
} gls_phantom_bundle;

typedef struct gls_phantom {
    gls_phantom_params params;
    gls_image *dwi;          /* Rician magnitude signal, b0 of white matter about 1000 */
    gls_gradients *gradients; /* voxel-frame vectors */
    gls_image *mask;         /* brain: white and grey matter and CSF */
    gls_image *roi;          /* white matter */
    gls_image *tissue;       /* 3 volumes: volume fractions of white matter, grey matter, CSF */
    size_t n_bundles;        /* at least 8 */
    gls_phantom_bundle *bundle;
} gls_phantom;

/* GLS_ERR_ARGUMENT for a parameter out of range. The same parameters give the same values on every machine up to rounding of the C library's functions. */
GLS_API gls_status gls_phantom_create(const gls_phantom_params *params, gls_phantom **phantom);
GLS_API void gls_phantom_destroy(gls_phantom *phantom);

/* Writes dwi.nii.gz (int16), dwi.bval, dwi.bvec (FSL convention), mask.nii.gz, roi.nii.gz, tissue.nii.gz and bundles/NAME.nii.gz, NAME_end0/1.nii.gz, NAME.txt
 * (centre line, world mm) into an existing or new directory. Existing files are GLS_ERR_OUTPUT unless overwrite. */
GLS_API gls_status gls_phantom_write(const gls_phantom *phantom, const char *directory, bool overwrite);

#ifdef __cplusplus
}
#endif
#endif
