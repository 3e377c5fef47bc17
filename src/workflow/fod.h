/* From files of FODs to fixels. */
#ifndef GLS_WORKFLOW_FOD_H
#define GLS_WORKFLOW_FOD_H

#include <glslines/fixels.h>
#include <glslines/workflow.h>

typedef struct gls_fod_options {
    const char *sh;
    gls_sh_basis basis;
    gls_frame frame;
    const char *act;       /* image of five tissues; NULL: none */
    const char *proc_mask; /* NULL: none */
    bool no_dilate;        /* in place of fixel.dilate */
    bool fd_scale_gm;      /* with act: less density in grey matter */
    gls_fixel_options fixel;
} gls_fod_options;

typedef struct gls_fod {
    gls_fixels *fixels;
    gls_image *mask, *scale; /* of what each voxel counts, and of its densities; NULL: 1 */
} gls_fod;

/* The share of voxels, of those that are not 0, in which the first volume of SH coefficients cannot be that of an ODF;
 * NAN: there are no voxels. */
double gls_fod_share_unlike(const gls_image *sh);
/* GLS_ERR_INPUT where an image that was given for SH coefficients holds something else, such as peaks; warns of doubt.
 */
gls_status gls_fod_check(const gls_image *sh, const char *name);
/* To be finished whatever comes. */
gls_status gls_fod_read(const gls_fod_options *options, gls_fod *fod);
/* The same from an image of tournier07 coefficients in scanner axes. */
gls_status gls_fod_segment(const gls_fod_options *options, const gls_image *sh, gls_fod *fod);
void gls_fod_finish(gls_fod *fod);

#endif
