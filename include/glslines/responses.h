/* Responses of tissues and of single fibre bundles, estimated from a diffusion series and a brain mask; where asked
 * for, with an image of five tissues. */
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

struct gls_monitor;

/* A value out of its range is refused (GLS_ERR_ARGUMENT) even where the algorithm does not use it. */
typedef struct gls_responses_options {
    size_t size; /* size of this struct, set by the default function */
    int erode; /* number of erosions of the mask, >= 0; default 3. If fewer than 1000 voxels are left, 1 and then 0 are
                  tried, with a warning */
    double fa_threshold;  /* dhollander: voxels of higher FA count as white matter at first; five tissues: grey matter
                             and CSF are only voxels of lower FA; fa with n_voxels 0: all voxels of higher FA are used;
                             0 to 1; default 0.2 */
    double wm_percent;    /* dhollander: percentage of the refined white matter to select, > 0; default 0.5 */
    double gm_percent;    /* dhollander: percentage of the refined grey matter to select, > 0; default 2 */
    double csf_percent;   /* dhollander: percentage of the refined CSF to select, > 0; default 10 */
    double pvf;           /* five tissues: a voxel belongs to one tissue alone if the fraction of this tissue is
                             above this value, 0 to 1; default 0.95 */
    gls_single_fibres wm; /* five tissues; default GLS_SINGLE_FIBRES_TOURNIER */
    size_t n_voxels;      /* tournier, fa, five tissues' white matter: number of voxels of the response; default 300.
                             With fa, 0 stands for all voxels above fa_threshold */
    double bval;          /* tournier, fa: a b-value that names the shell; 0 (default): the highest */
    const double (*direction)[3]; /* n_directions directions of the constraint of fits, along the scanner axes; not used
                                     by fa; NULL (default): built-in directions */
    size_t n_directions;
    const struct gls_monitor *monitor; /* see <glslines/workflow.h>: progress of the fits of dhollander and tournier;
                                          NULL (default): none */
} gls_responses_options;
GLS_API gls_responses_options gls_responses_options_default(void); /* NULL options mean these */

/* Arguments of all functions below: dwi: the series. gradients: its table. mask: one volume on the grid of the series;
 * voxels > 0 are the brain. response: gets the responses, which the caller destroys. voxels: NULL, or gets an image
 * with a volume for each response, 1 in the voxels that were used, else 0. GLS_ERR_INPUT says which step found too few
 * voxels.
 */

/* Estimates the responses of white matter (order 10), grey matter and CSF (order 0) from all shells. Voxels are chosen
 * by the decay of the signal and by FA (Dhollander et al. 2016; white matter as in Dhollander et al. 2019). The series
 * must have b0 volumes. response[0 .. 2] and the volumes of voxels are white matter, grey matter, CSF. */
GLS_API gls_status gls_responses_dhollander(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                            const gls_responses_options *options, gls_tissue_response **response,
                                            gls_image **voxels);

/* Like gls_responses_dhollander(), but takes the voxels that belong to one tissue alone in `five`, an image of five
 * tissues (volumes as in <glslines/tissue.h>) on any grid: dwi2response msmt_5tt (Jeurissen et al. 2014). The image is
 * interpolated linearly to the grid of the series; where voxels of the series are larger, at several points of each.
 * name: of the image, for messages. erode and the percentages are not used. Since 0.2.0. */
GLS_API gls_status gls_responses_msmt_5tt(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                          const gls_image *five, const char *name, const gls_responses_options *options,
                                          gls_tissue_response **response, gls_image **voxels);

/* Estimates the response of one shell (order 10) from the voxels of highest FA in the eroded mask. The first
 * eigenvector of the tensor is the fibre direction of a voxel. */
GLS_API gls_status gls_responses_fa(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                    const gls_responses_options *options, gls_tissue_response **response,
                                    gls_image **voxels);

/* Estimates the response of all shells (order 10; b0: order 0) from all voxels of the mask, each of which must hold a
 * single bundle (dwi2response manual). The first eigenvector of the tensor is the fibre direction of a voxel. erode and
 * n_voxels are not used. */
GLS_API gls_status gls_responses_manual(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                        const gls_responses_options *options, gls_tissue_response **response,
                                        gls_image **voxels);

/* Estimates the response of one shell (order 10) from the voxels in whose deconvolved FOD one lobe stands out most. The
 * deconvolution is repeated with the new response until the voxels stay the same, at most 10 times (Tournier et al.
 * 2013). erode is not used. */
GLS_API gls_status gls_responses_tournier(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                          const gls_responses_options *options, gls_tissue_response **response,
                                          gls_image **voxels);

#ifdef __cplusplus
}
#endif
#endif
