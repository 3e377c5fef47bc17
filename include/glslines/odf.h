/* Orientation distribution functions (ODFs) sampled on a sphere, from SH coefficients or from given amplitudes; and
 * images of SH coefficients converted to other bases and frames. */
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
    size_t size;               /* size of this struct, set by the default function */
    bool clip;                 /* set negative values to 0; default true */
    bool normalise;            /* divide by the largest value of the voxel if that is above 0; default false */
    const gls_image *stop_map; /* one volume on the same grid; ODFs are 0 in voxels where it is below stop_threshold.
                                  NULL (default): none */
    double stop_threshold;     /* default 0 */
} gls_odf_options;
GLS_API gls_odf_options gls_odf_options_default(void);

/* A source of ODFs. Read-only; any number of threads may use one. The image and the sphere from which it was made must
 * outlive it. */
typedef struct gls_odf_source {
    const gls_image *image; /* borrowed: coefficients or amplitudes */
    const gls_sphere
        *sphere; /* directions of the samples along the voxel axes; antipodal unless the ODFs are asymmetric */
    gls_odf_options options;
    bool is_sh;
    gls_sh_basis basis; /* basis, order and full are set for SH images only */
    int order;
    bool full;                   /* the basis has odd degrees, and some of their coefficients are not 0 */
    struct gls_odf_parts *parts; /* matrices, and the sphere if it belongs to the source */
} gls_odf_source;

/* Name of a frame. The functions below get the frame of the coefficients and directions in an image: GLS_BVEC_WORLD for
 * images by MRtrix3; GLS_BVEC_IMAGE for images by gls_csd_fit(), and by DIPY if its b-vectors lay along the voxel axes;
 * GLS_BVEC_FSL for images by programs that take FSL's b-vectors along the voxel axes without negating x, as DIPY
 * does. */
GLS_API const char *gls_odf_frame_name(gls_bvec_frame frame);

/* Creates a source from SH coefficients. An even basis of order L has (L + 1)(L + 2) / 2 volumes, a full basis (with
 * odd degrees) has (L + 1)^2. One volume counts as an even basis. A full basis whose odd coefficients are all 0 is
 * treated as even. Asymmetric ODFs are sampled at both ends of each pair of an antipodal sphere (see
 * gls_sphere_create_full()). sphere must outlive the source. name: of the image, for messages. GLS_ERR_INPUT: the
 * number of volumes fits no order. */
GLS_API gls_status gls_odf_source_create_sh(const gls_image *sh, const char *name, gls_sh_basis basis,
                                            gls_bvec_frame frame, const gls_sphere *sphere,
                                            const gls_odf_options *options, gls_odf_source **source);

/* Creates a source from amplitudes: one volume for each of n directions, which are copied; GLS_ERR_INPUT if the image
 * has another number of volumes. The directions become the sphere of the source (see gls_sphere_create_guess()). If
 * they form antipodal pairs, and the two values of a pair nowhere differ by more than 1e-3 of the largest value in the
 * image, the ODFs count as symmetric and each pair is replaced by its mean; otherwise the values stay as they are. */
GLS_API gls_status gls_odf_source_create_amplitudes(const gls_image *odf, const char *name,
                                                    const double (*direction)[3], size_t n, const char *sphere_name,
                                                    gls_bvec_frame frame, const gls_odf_options *options,
                                                    gls_odf_source **source);
/* Reads directions from a text file, for gls_odf_source_create_amplitudes(): x y z in a line, '#' comments. Free
 * *direction by gls_free(). */
GLS_API gls_status gls_odf_directions_read(const char *path, double (**direction)[3], size_t *n);

/* Frees `source`, which may be NULL. */
GLS_API void gls_odf_source_destroy(gls_odf_source *source);

/* Samples one slice, on all cores: rows[(v * dim[1] + y) * dim[0] + x] for vertex v of source->sphere. Values that are
 * not finite count as 0. The samples of a voxel do not depend on the rest of the image. GLS_ERR_ARGUMENT: z is outside
 * the grid. */
GLS_API gls_status gls_odf_slice(const gls_odf_source *source, int32_t z, float *rows);
/* Samples all slices into an image of source->sphere->n volumes. */
GLS_API gls_status gls_odf_sample(const gls_odf_source *source, gls_image **odf);

/* Converts an SH image to another basis and frame, e.g. for MRtrix3 to GLS_SH_TOURNIER07 in GLS_BVEC_WORLD. The result
 * is even or full as sh is, in single precision. name: of the image, for messages. Exact if the voxel axes are at right
 * angles. */
GLS_API gls_status gls_odf_convert_sh(const gls_image *sh, const char *name, gls_sh_basis from,
                                      gls_bvec_frame from_frame, gls_sh_basis to, gls_bvec_frame to_frame,
                                      gls_image **converted);

#ifdef __cplusplus
}
#endif
#endif
