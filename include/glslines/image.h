/* Images on a voxel grid, and their files: NIfTI and MRtrix's .mif. */
#ifndef GLSLINES_IMAGE_H
#define GLSLINES_IMAGE_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the affine of a grid comes from: the caller, or which fields of a NIfTI header. */
typedef enum gls_affine_source {
    GLS_AFFINE_GIVEN,
    GLS_AFFINE_SFORM,
    GLS_AFFINE_QFORM,
    GLS_AFFINE_SIZES /* voxel sizes alone: no orientation */
} gls_affine_source;

/* A voxel grid in world space. Voxel coordinates have voxel CENTRES at integers; world space is RAS+ in mm:
 * world[r] = affine[r][0] x + affine[r][1] y + affine[r][2] z + affine[r][3]. */
typedef struct gls_grid {
    int32_t dim[3];                  /* voxels along x, y, z; each >= 1 */
    double affine[3][4];             /* voxel to world, mm */
    double voxel_size[3];            /* norm of the columns of affine, mm; > 0 */
    gls_affine_source affine_source; /* default GLS_AFFINE_GIVEN; only used in messages */
    int32_t space; /* world space as a code of NIfTI: 1 scanner, 2 another image, 3 Talairach, 4 MNI, 5 another
                      template; default 0: unknown. gls_image_write() writes 1 for 0 */
} gls_grid;

/* A volume or a series of volumes; data[((t * dim[2] + z) * dim[1] + y) * dim[0] + x]. */
typedef struct gls_image {
    gls_grid grid;
    size_t n_volumes; /* 1: a 3D image */
    float *data;      /* grid voxels times n_volumes values, scl_slope and scl_inter applied */
    bool is_wrapped;  /* data belong to the caller of gls_image_wrap(), not to the image */
} gls_image;

/* Sets dimensions, affine, and the voxel size that follows from it. GLS_ERR_ARGUMENT: a dimension < 1, more than 2^48
 * voxels, an affine that is singular, or a number in the affine or in its inverse that is not finite or beyond
 * 1e15. */
GLS_API gls_status gls_grid_init(gls_grid *grid, const int32_t dim[3], const double affine[3][4]);
/* Number of voxels of one volume. */
GLS_API size_t gls_grid_voxels(const gls_grid *grid);
/* Determinant of the 3x3 part of the affine; > 0 for a right-handed ("neurological") voxel frame. */
GLS_API double gls_grid_determinant(const gls_grid *grid);
/* World to voxel: the inverse of the affine. */
GLS_API void gls_grid_inverse(const gls_grid *grid, double inverse[3][4]);
/* Axis codes of the voxel axes, e.g. "LAS", NUL-terminated: the direction towards which each voxel index grows. */
GLS_API void gls_grid_axis_codes(const gls_grid *grid, char codes[4]);
/* Returns GLS_OK if both grids have the same dimensions and the positions of each corner lie at most a tenth of a voxel
 * of grid `a` apart; more than a hundredth gives a warning. Else GLS_ERR_INPUT with a message that names both images
 * (name_a, name_b), shows both grids and says from which fields their affines come. */
GLS_API gls_status gls_grid_require_equal(const gls_grid *a, const char *name_a, const gls_grid *b, const char *name_b);

/* Allocates an image of zeros. */
GLS_API gls_status gls_image_create(const gls_grid *grid, size_t n_volumes, gls_image **image);
/* Makes an image of values that the caller owns, in the order of gls_image.data. The values are not copied and must
 * outlive the image. Functions that get a const image do not change the values. */
GLS_API gls_status gls_image_wrap(const gls_grid *grid, size_t n_volumes, float *data, gls_image **image);
/* Frees `image`, which may be NULL. */
GLS_API void gls_image_destroy(gls_image *image);

/* Requirements of gls_image_read() on an image. */
typedef enum gls_image_kind {
    GLS_IMAGE_ANY,
    GLS_IMAGE_3D, /* one volume (a fourth dimension of size 1 is accepted) */
    GLS_IMAGE_4D  /* two volumes or more */
} gls_image_kind;

/* Reads NIfTI-1 or -2 (.nii, .nii.gz, .hdr/.img), or by these suffixes MRtrix's .mif, .mif.gz and .mih, any real
 * numeric type, scl_slope applied. The axes of a .mif are taken in the order in which they are stored, the fastest
 * first. The affine is the sform if its code > 0, else the qform if its code > 0, else the voxel sizes alone (with a
 * warning). Values that are not a number are kept. Errors name the file: GLS_ERR_INPUT, GLS_ERR_MEMORY; for a .mif also
 * GLS_ERR_UNSUPPORTED: complex values, or values in several files. */
GLS_API gls_status gls_image_read(const char *path, gls_image_kind kind, gls_image **image);

/* Value types of written images. */
typedef enum gls_image_type { GLS_IMAGE_FLOAT32, GLS_IMAGE_INT16, GLS_IMAGE_UINT8 } gls_image_type;

/* Returns GLS_ERR_ARGUMENT unless the name ends in .nii, .nii.gz, .mif or .mif.gz (in any case), as names of written
 * images must. */
GLS_API gls_status gls_image_name_check(const char *path);
/* Writes what the suffix says: NIfTI-1 (.nii, .nii.gz; NIfTI-2 where a dimension exceeds 32767) or MIF (.mif, .mif.gz).
 * Both sform and qform get the code gls_grid.space, 1 if it is 0; MIF stores no code. The file appears under its name
 * only when complete; an existing file is replaced. Integer values are rounded half to even and limited to the range of
 * the type; NaN becomes 0. GLS_ERR_OUTPUT names the file. */
GLS_API gls_status gls_image_write(const char *path, const gls_image *image, gls_image_type type);

#ifdef __cplusplus
}
#endif
#endif
