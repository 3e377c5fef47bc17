/* ODFs sampled on a sphere, slice by slice: from SH coefficients, or from amplitudes that the user gives. */
#ifndef GLSLINES_ODF_H
#define GLSLINES_ODF_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/sh.h>
#include <glslines/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_odf_options {
    bool clip;                 /* raise negative values to 0; default true */
    bool normalise;            /* divide by the largest value of the voxel, where that is above 0; default false */
    const gls_image *stop_map; /* 1 volume on the same grid, or NULL (default): voxels where it is below stop_threshold
                                  are 0 in all directions */
    double stop_threshold;     /* default 0 */
} gls_odf_options;
GLS_API gls_odf_options gls_odf_options_default(void);

/* What an ODF is sampled from. Read-only; any number of threads may use one. The images that it was made from must
 * outlive it. */
typedef struct gls_odf_source {
    const gls_image *image; /* borrowed: coefficients or amplitudes */
    const gls_sphere
        *sphere; /* directions of the samples along the voxel axes; antipodal unless the ODFs are asymmetric */
    gls_odf_options options;
    bool is_sh;
    gls_sh_basis basis; /* of an SH image; like the next two */
    int order;
    bool full;                   /* a basis with odd degrees; then the odd ones are not all 0 */
    struct gls_odf_parts *parts; /* matrices, and the sphere if it belongs to the source */
} gls_odf_source;

/* Frame of coefficients and directions: GLS_BVEC_WORLD for images written by MRtrix3; GLS_BVEC_IMAGE for those of
 * gls_csd_fit(), and of DIPY if its vectors lay along the voxel axes; GLS_BVEC_FSL for those of programs that took
 * FSL's vectors as they are (as DIPY does). */
GLS_API const char *gls_odf_frame_name(gls_bvec_frame frame);

/* From SH coefficients. An even basis of order L has (L + 1)(L + 2) / 2 volumes, a full one with odd degrees (L + 1)^2;
 * no number is both but 1, which is even. A full basis whose odd coefficients are all 0 counts as even. If it does not,
 * and sphere is antipodal, the samples lie on both ends of its pairs (see gls_sphere_create_full()). sphere is copied
 * or borrowed and must outlive the source. name stands for the image in messages. GLS_ERR_INPUT with the count for one
 * that fits no order. */
GLS_API gls_status gls_odf_source_create_sh(const gls_image *sh, const char *name, gls_sh_basis basis,
                                            gls_bvec_frame frame, const gls_sphere *sphere,
                                            const gls_odf_options *options, gls_odf_source **source);

/* From amplitudes: one volume for each of n directions, copied; GLS_ERR_INPUT with both counts and names otherwise. The
 * sphere is made of the directions, along the voxel axes (see gls_sphere_create_guess()). Where they come in antipodal
 * pairs, the ODFs count as symmetric, and a pair gives its mean, if the two ends differ nowhere by more than 1e-3 of
 * the largest value in the image; else they stay as they are. */
GLS_API gls_status gls_odf_source_create_amplitudes(const gls_image *odf, const char *name,
                                                    const double (*direction)[3], size_t n, const char *sphere_name,
                                                    gls_bvec_frame frame, const gls_odf_options *options,
                                                    gls_odf_source **source);
/* Directions from a text file for the above: x y z a line, '#' comments. *direction is from malloc. */
GLS_API gls_status gls_odf_directions_read(const char *path, double (**direction)[3], size_t *n);

/* Accepts NULL. */
GLS_API void gls_odf_source_destroy(gls_odf_source *source);

/* One slice, on all cores: rows[(v * dim[1] + y) * dim[0] + x] for vertex v of source->sphere. Values that are not
 * finite count as 0. A voxel's samples do not depend on the rest of the image. GLS_ERR_ARGUMENT for a z outside the
 * grid. */
GLS_API gls_status gls_odf_slice(const gls_odf_source *source, int32_t z, float *rows);
/* All slices as an image of source->sphere->n volumes. */
GLS_API gls_status gls_odf_sample(const gls_odf_source *source, gls_image **odf);

/* The same functions in another basis and frame, e.g. for MRtrix3 as GLS_SH_TOURNIER07 in GLS_BVEC_WORLD: even or full
 * as sh is, in single precision. name as above. Exact for voxel axes at right angles. */
GLS_API gls_status gls_odf_convert_sh(const gls_image *sh, const char *name, gls_sh_basis from,
                                      gls_bvec_frame from_frame, gls_sh_basis to, gls_bvec_frame to_frame,
                                      gls_image **converted);

#ifdef __cplusplus
}
#endif
#endif
