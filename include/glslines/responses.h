/* Responses of tissues estimated from a series alone. */
#ifndef GLSLINES_RESPONSES_H
#define GLSLINES_RESPONSES_H

#include <glslines/msmt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How voxels with a single bundle are found in the white matter of an image of five tissues. */
typedef enum gls_single_fibres {
    GLS_SINGLE_FIBRES_TOURNIER, /* as in gls_responses_tournier() */
    GLS_SINGLE_FIBRES_FA        /* as in gls_responses_fa(), without erosion */
} gls_single_fibres;

typedef struct gls_responses_options {
    size_t size; /* size of this struct, set by the default function */
    int erode; /* number of erosions of the mask, >= 0; default 3. If fewer than 1000 voxels are left, 1 and then 0 are
                  tried, with a warning */
    double fa_threshold;          /* dhollander: FA above it is white matter at first; five tissues: grey matter and
                                     CSF lie below; fa with n_voxels 0: voxels above it; default 0.2 */
    double wm_percent;            /* dhollander: of the refined white matter; default 0.5 */
    double gm_percent;            /* default 2 */
    double csf_percent;           /* default 10 */
    double pvf;                   /* five tissues: fractions above it are of a single tissue; default 0.95 */
    gls_single_fibres wm;         /* five tissues; default GLS_SINGLE_FIBRES_TOURNIER */
    size_t n_voxels;              /* tournier, fa, five tissues' white matter: voxels of the response; default 300. 0
                                     for fa: all above fa_threshold */
    double bval;                  /* tournier, fa: a b-value that names the shell; 0 (default): the highest */
    const double (*direction)[3]; /* of the constraint of all but fa's fits, scanner axes; NULL (default): built-in */
    size_t n_directions;
} gls_responses_options;
GLS_API gls_responses_options gls_responses_options_default(void); /* also what NULL options mean */

/* All of them: mask (1 volume on the grid of the series) says where the brain is. voxels may be NULL; else it gets an
 * image of the voxels that were used (1 or 0), a volume for each response. GLS_ERR_INPUT says which step found too few
 * voxels. */

/* White matter (order 10), grey matter and CSF (order 0) from all shells, by how much the signal decays and by FA
 * (Dhollander et al. 2016; white matter as in Dhollander et al. 2019). Needs b0 volumes. response[0 .. 2], and volumes
 * of voxels: white matter, grey matter, CSF. */
GLS_API gls_status gls_responses_dhollander(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                            const gls_responses_options *options, gls_tissue_response **response,
                                            gls_image **voxels);

/* White matter (order 10), grey matter and CSF (order 0) from all shells, of the voxels that belong to one tissue in
 * five, an image of five tissues on any grid (volumes as in <glslines/tissue.h>; name stands for it in messages),
 * brought to the grid of the series by linear interpolation, over as many places within a voxel as it is larger:
 * dwi2response msmt_5tt (Jeurissen et al. 2014). response and voxels as above. erode and the percentages are not
 * used. */
GLS_API gls_status gls_responses_msmt_5tt(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                          const gls_image *five, const char *name, const gls_responses_options *options,
                                          gls_tissue_response **response, gls_image **voxels);

/* Of one shell, order 10, from the voxels of highest FA in the eroded mask, along their tensors. */
GLS_API gls_status gls_responses_fa(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                    const gls_responses_options *options, gls_tissue_response **response,
                                    gls_image **voxels);

/* Of all shells, order 10, b0 to order 0, from all voxels of the mask, which are those of a single bundle each, along
 * their tensors (dwi2response manual). erode and n_voxels are not used. */
GLS_API gls_status gls_responses_manual(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                        const gls_responses_options *options, gls_tissue_response **response,
                                        gls_image **voxels);

/* Of one shell, order 10, from the voxels whose deconvolved FOD has the most outstanding lobe, repeated with the
 * response that results until the voxels stay the same, at most 10 times (Tournier et al. 2013). */
GLS_API gls_status gls_responses_tournier(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                          const gls_responses_options *options, gls_tissue_response **response,
                                          gls_image **voxels);

#ifdef __cplusplus
}
#endif
#endif
