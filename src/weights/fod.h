/* Fixels from images of FODs: the image, and the mask or tissue image that weights its voxels. */
#ifndef GLS_WEIGHTS_FOD_H
#define GLS_WEIGHTS_FOD_H

#include <glslines/fixels.h>
#include <glslines/workflow.h>

#include "transform/transform.h"

/* Which image of FODs is read, and how it is segmented. */
typedef struct gls_fod_options {
    /* image of FODs */
    const char *sh;
    /* basis of the SH coefficients */
    gls_sh_basis basis;
    /* axes of the SH coefficients */
    gls_frame frame;
    const char *act;                /* path of a five-tissue image; NULL: none */
    const gls_transform *transform; /* brings the five-tissue image; NULL: it lies in the space of the FODs */
    const char *proc_mask;          /* path of an image of voxel weights; NULL: none */
    bool no_dilate;                 /* overrides fixel.dilate */
    bool all_voxels;                /* voxels that are 0 in the mask get fixels, too */
    bool fd_scale_gm;               /* needs act: lowers densities in grey matter */
    gls_fixel_options fixel;
} gls_fod_options;

/* The fixels of an image of FODs, owned; free with gls_fod_finish(). */
typedef struct gls_fod {
    /* fixels of all FODs, or of those in the mask */
    gls_fixels *fixels;
    gls_image *mask, *scale; /* mask: weight of each voxel; scale: factor of the voxel's densities; NULL: 1 */
} gls_fod;

/* Whether a run of tracking has FODs, read or fitted. ODFs of OPDT and CSA are not fibre densities. */
bool gls_fod_is_tracked(const gls_job_options *options, const gls_method *method);
/* Default options, without an image: the basis of MRtrix3, axes that follow from the basis. */
gls_fod_options gls_fod_options_default(void);
/* Options for the FODs that a run of tracking reads or fits, with its tissue, which the transform brings. */
gls_fod_options gls_fod_options_of_run(const gls_job_options *options, const gls_transform *transform);
/* Reads the files and segments the FODs into fixels. Call gls_fod_finish() also after a failure. */
gls_status gls_fod_read(const gls_fod_options *options, gls_fod *fod);
/* Like gls_fod_read(), but takes the image. */
gls_status gls_fod_segment(const gls_fod_options *options, const gls_image *sh, gls_fod *fod);
/* Frees fixels and images. */
void gls_fod_finish(gls_fod *fod);

#endif
