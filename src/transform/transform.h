/* Spatial transforms of any program in one form: pull-backs in RAS mm, by which a point of the FIXED image goes to the
 * MOVING image. Images are resampled by a transform as it is; points of the moving image, such as those of streamlines,
 * go to the fixed image by its inverse. */
#ifndef GLS_TRANSFORM_TRANSFORM_H
#define GLS_TRANSFORM_TRANSFORM_H

#include <glslines/image.h>

/* One step of a transform: an affine map, or a field of displacements. */
typedef struct gls_transform_step {
    double map[3][4];  /* world to world, mm; of an affine map */
    double back[3][4]; /* its inverse */
    gls_image *field;  /* three volumes: displacements in RAS mm on a grid of the fixed image; NULL: an affine map */
    double to_voxel[3][4]; /* world to voxels of the field */
    bool inverted;         /* the step is the inverse of the field */
    const char *format;    /* how the file was read, for messages and sidecars */
    size_t text;           /* index of the text that named the file; several steps may come from one */
} gls_transform_step;

/* A chain of steps, in the order in which a fixed point passes them. */
typedef struct gls_transform {
    size_t n;
    gls_transform_step *step;
    bool identity_outside; /* points outside of a field stay where they are, as in ITK; default false: they fail */
} gls_transform;

/* Reads a chain of n texts FILE[,inverse][,from=FORMAT][,moving=IMAGE][,fixed=IMAGE]. A FORMAT is one of
 * GLS_TRANSFORM_FORMATS; without it the file says what it is. GLS_ERR_INPUT names the file, and what to give. */
gls_status gls_transform_read(const char *const *text, size_t n, gls_transform *transform);
/* Frees the memory of the transform, which may be all 0. */
void gls_transform_finish(gls_transform *transform);
/* Lists the files that a text names: the transform, and its images. paths: memory for 3, from malloc each. Returns
 * their number. */
size_t gls_transform_files(const char *text, char *paths[3]);

/* Maps a fixed point to the moving image; to may be from. Returns false if it lies outside of a field, more than half a
 * voxel beyond its outermost centres, or where that is not finite. */
bool gls_transform_apply(const gls_transform *transform, const double from[3], double to[3]);
/* Maps a moving point to the fixed image; to may be from. Returns false if no fixed point within the fields goes there.
 */
bool gls_transform_invert(const gls_transform *transform, const double from[3], double to[3]);

/* GLS_OK unless an image cannot lie at one end of the chain: the moving image behind it, else the fixed one before it.
 * GLS_ERR_UNSUPPORTED: its axes are oblique, and the format of the step at that end leaves this out. image: its name.
 */
gls_status gls_transform_check_image(const gls_transform *transform, bool moving, const gls_grid *grid,
                                     const char *image);

/* Interpolates the displacement of a field at a point. Beyond the outermost centres it is that at the border; *inside:
 * whether the point is at most half a voxel beyond. Returns false where the displacement is not finite. */
bool gls_transform_displace(const gls_transform_step *step, const double at[3], double displacement[3], bool *inside);

/* Derivative of the map at a fixed point, from points `step` mm before and behind it along each world axis. Returns
 * false if one of them has no place. */
bool gls_transform_derivative(const gls_transform *transform, const double at[3], double step, double derivative[3][4]);

/* Fills in a field of three volumes: where a chain takes the centre of each voxel (positions), or how far. Voxels
 * without a place become NaN, as displacements 0. Returns their number. */
uint64_t gls_transform_sample(const gls_transform *transform, bool positions, gls_image *field);

/* Formats by which from= names how a file is to be read. */
#define GLS_TRANSFORM_FORMATS "itk, mrtrix, fsl (or flirt, fnirt), afni, lta, niftyreg or dipy"

/* --- Readers, for gls_transform_read(). */

/* The parts of a text beside the name of the file. Empty strings: the text does not have them. */
typedef struct gls_transform_source {
    char *path;
    bool inverse;
    char format[16];
    char *moving, *fixed; /* paths of images */
} gls_transform_source;

/* Appends a step, whose field the transform owns from then on, also after a failure. */
gls_status gls_transform_append(gls_transform *transform, const gls_transform_step *step);
/* Appends an affine map from a file that is no image. */
gls_status gls_transform_read_affine(const gls_transform_source *source, gls_transform *transform);
/* Appends the steps that an image holds. Where it holds those of both directions, it takes the ones that `inverse` asks
 * for, and clears `inverse`. */
gls_status gls_transform_read_field(gls_transform_source *source, gls_transform *transform);
#endif
