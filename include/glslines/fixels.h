/* Fixels: the fibre populations of each voxel, as the lobes of its fibre orientation distribution (FOD). Segmentation
 * after Smith et al. 2013 as in MRtrix3's fod2fixel and tcksift2, on the CPU in single precision without fused
 * arithmetic: the same fixels on all machines. */
#ifndef GLSLINES_FIXELS_H
#define GLSLINES_FIXELS_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_fixel_options {
    size_t size;     /* size of this struct, set by the default function */
    double peak;     /* lobes of lower amplitude are dropped, >= 0; default 0.1 */
    double integral; /* lobes of a smaller integral are dropped, >= 0; default 0 */
    bool dilate;     /* directions between lobes belong to the largest lobe beside them; default true */
    bool refine;     /* find the peak of every lobe between the samples; default false: only if the largest sample lies
                        between 0.8 `peak` and `peak` */
} gls_fixel_options;
GLS_API gls_fixel_options gls_fixel_options_default(void);

typedef struct gls_fixels gls_fixels;

/* Segments the FODs of an image into fixels, with several threads. sh: even coefficients up to order 16 in the basis
 * GLS_SH_TOURNIER07, along the scanner axes (see gls_odf_convert_sh()). name: of the image, for messages. mask: NULL
 * for all voxels, or one volume on the same grid; voxels that are 0 there get no fixels. A voxel with a coefficient
 * that is not finite gets no fixels; a warning gives the number of such voxels. GLS_ERR_INPUT: the number of volumes
 * fits no order; GLS_ERR_EMPTY: there is no fixel; GLS_ERR_UNSUPPORTED: more than 2^32 - 2 fixels or 2^32 - 1 voxels.
 * Memory: 641 bytes for each voxel with fixels, 24 for each fixel, 8 for each voxel. */
GLS_API gls_status gls_fixels_create(const gls_image *sh, const char *name, const gls_image *mask,
                                     const gls_fixel_options *options, gls_fixels **fixels);
/* Frees `fixels`, which may be NULL. */
GLS_API void gls_fixels_destroy(gls_fixels *fixels);

/* Grid of the image. Valid as long as the fixels. */
GLS_API const gls_grid *gls_fixels_grid(const gls_fixels *fixels);
/* Number of fixels. */
GLS_API size_t gls_fixels_count(const gls_fixels *fixels);
/* Number of voxels with fixels. */
GLS_API size_t gls_fixels_voxels(const gls_fixels *fixels);
/* Returns the number of fixels of a voxel (its index, x fastest). *first gets the index of the first of them. Fixels
 * are stored voxel by voxel, x fastest, and by falling amplitude within a voxel. */
GLS_API uint32_t gls_fixels_of_voxel(const gls_fixels *fixels, size_t voxel, uint32_t *first);

typedef struct gls_fixel {
    float fd;           /* fibre density: the integral of the lobe and its antipode */
    float peak;         /* largest amplitude of the lobe */
    float direction[3]; /* mean direction, in scanner axes, unit length */
    uint32_t voxel;     /* index of its voxel, x fastest */
} gls_fixel;
/* Array of gls_fixels_count() fixels; borrowed. */
GLS_API const gls_fixel *gls_fixels_get(const gls_fixels *fixels);

/* Index of the fixel for a line with this direction (scanner axes, any length but 0) through a voxel; UINT32_MAX:
 * none. */
GLS_API uint32_t gls_fixels_find(const gls_fixels *fixels, size_t voxel, const double direction[3]);

/* Values for a data file of a fixel directory. */
typedef struct gls_fixel_values {
    const char *name; /* name of the file without .nii */
    const float *value;
} gls_fixel_values;
/* Writes a fixel directory that MRtrix3 reads: index.nii, directions.nii, and one file for each of n lists of values.
 * The directory is created if it does not exist. existing: what to do with existing files. */
GLS_API gls_status gls_fixels_write(const gls_fixels *fixels, const char *directory, const gls_fixel_values *values,
                                    size_t n, gls_existing existing);

#ifdef __cplusplus
}
#endif
#endif
