/* Multi-shell multi-tissue constrained spherical deconvolution (Jeurissen et al., NeuroImage 103:411, 2014), with the
 * responses and the directions of the constraint that it needs. */
#ifndef GLSLINES_MSMT_H
#define GLSLINES_MSMT_H

#include <glslines/csd.h>
#include <glslines/device.h>
#include <glslines/gradients.h>
#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of tissues, and largest SH order of a tissue. */
#define GLS_MSMT_MAX_TISSUES 4
#define GLS_MSMT_MAX_ORDER 12

/* Signal of a tissue in every shell: coefficient (s, i) belongs to the spherical harmonic (l = 2 i, m = 0) of the
 * signal of shell s with the fibre along z, in raw signal units. */
typedef struct gls_tissue_response {
    size_t n_shells; /* b0 included, ascending b */
    int order;       /* highest even degree; 0 is isotropic */
    double *zonal;   /* n_shells x (order / 2 + 1) */
    double *bval;    /* n_shells means in s/mm2; NULL: unknown */
    size_t n_voxels; /* number of voxels from which the response was estimated; 0: the response was given */
} gls_tissue_response;

/* Creates a response with all coefficients 0. */
GLS_API gls_status gls_tissue_response_create(size_t n_shells, int order, gls_tissue_response **response);
/* Frees `response`, which may be NULL. */
GLS_API void gls_tissue_response_destroy(gls_tissue_response *response);

/* Reads MRtrix3's text: a row for each shell, b0 first, of coefficients l = 0, 2, ..; '#' starts a comment, and "#
 * Shells: 0,1000,2000" names the b-values. Columns of zeros at the end are left out. GLS_ERR_INPUT names the file and
 * the row for rows of unequal length, values that are not finite, a first coefficient that is not above 0. */
GLS_API gls_status gls_tissue_response_read(const char *path, gls_tissue_response **response);
/* Writes a response with 15 digits, and replaces an existing file. dwi2fod msmt_csd of MRtrix3 reads the file. */
GLS_API gls_status gls_tissue_response_write(const char *path, const gls_tissue_response *response);

/* Whether a response must fit the b-values of a gradient table, or only their number. */
typedef enum gls_response_fit { GLS_RESPONSE_FITS_VALUES, GLS_RESPONSE_FITS_NUMBER } gls_response_fit;
/* Checks that a response fits the shells of a table: their number; with GLS_RESPONSE_FITS_VALUES also the b-values, if
 * the response knows them, to 80 s/mm2, and that the second coefficient of an anisotropic response is negative from 500
 * s/mm2 on. With this check, a first coefficient that grows with b gives a warning. GLS_ERR_INPUT: the response does
 * not fit; the message names the response and what differs. */
GLS_API gls_status gls_tissue_response_check(const gls_tissue_response *response, const char *name,
                                             const gls_gradients *gradients, gls_response_fit fit);

/* Reads directions of a constraint from a text file: rows of azimuth and elevation from the z axis in radians, or of x
 * y z with any length above 0. Free *direction by gls_free(). GLS_ERR_INPUT: fewer than 45 or more than
 * GLS_SPHERE_MAX_DIRECTIONS directions, two that are the same or opposite (closer than 0.06 degrees), an elevation
 * outside 0 .. pi, or a vector that is 0. */
GLS_API gls_status gls_csd_directions_read(const char *path, double (**direction)[3], size_t *n);
/* Copies the 300 built-in directions, no two of them opposite. Free *direction by gls_free(). */
GLS_API gls_status gls_csd_directions_default(double (**direction)[3], size_t *n);

typedef struct gls_msmt_options {
    size_t size;                     /* size of this struct, set by the default function */
    int order[GLS_MSMT_MAX_TISSUES]; /* even, 0 .. GLS_MSMT_MAX_ORDER; -1 (default): the response's, at most 8.
                                        Missing coefficients of the response count as 0, with a warning */
    const double (*direction)[3];    /* directions in which ODFs must not be negative, scanner axes; NULL (default): the
                                        built-in directions */
    size_t n_directions;
    gls_device *device; /* device for fits in double precision up to order 8; NULL (default): all cores of the CPU */
} gls_msmt_options;
GLS_API gls_msmt_options gls_msmt_options_default(void); /* NULL options mean these */

/* Deconvolves every voxel where mask (NULL: all) is > 0 into n_tissues tissues, on all cores: a least-squares fit to
 * all shells, b0 included, in which no ODF is negative in the directions of the constraint. The result equals the
 * result of MRtrix3's dwi2fod msmt_csd to 1e-6 (coefficients of about 0.3), except in the few voxels where dwi2fod
 * stops early. tissue[t] gets gls_sh_count(order) volumes of GLS_SH_DESCOTEAUX07_LEGACY coefficients along the voxel
 * axes, in units of the response of tissue t: a voxel whose signal equals this response has 1 / sqrt(4 pi) in the first
 * volume. Coefficients are 0 outside the mask, and in voxels with a value that is not finite, whose number a warning
 * gives. Volumes that belong to no shell are left out and named in a warning. GLS_ERR_INPUT: there is no weighted
 * shell; there are more tissues than shells; a response does not fit, see gls_tissue_response_check(); or there are
 * more than three shells and more than the square root of the number of volumes, as on a grid of b-values. Voxels whose
 * fit does not converge keep its last step; the log gives their number. The same data give the same bytes for any
 * number of threads; results of a device differ from results of the CPU by rounding. The CPU fits the voxels that need
 * more active constraints than the device has space for, and, with a warning, all voxels if the device has no double
 * precision (OpenGL ES) or cannot fit such orders. GLS_ERR_CANCELLED if progress (may be NULL) returns false. */
GLS_API gls_status gls_msmt_fit(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                const gls_tissue_response *const *response, size_t n_tissues,
                                const gls_msmt_options *options, gls_csd_progress progress, void *progress_user,
                                gls_image **tissue);

#ifdef __cplusplus
}
#endif
#endif
