/* Fits an orientation model to a series: chooses shells, estimates responses, fits SH images, keeps fits in a cache. */
#ifndef GLS_DWI_FIT_MODEL_PARTS_H
#define GLS_DWI_FIT_MODEL_PARTS_H

#include <cJSON.h>

#include <glslines/csd.h>
#include <glslines/glslines.h>
#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/msmt.h>
#include <glslines/normalise.h>
#include <glslines/qball.h>
#include <glslines/sphere.h>
#include <glslines/workflow.h>

#include "dwi/model_options.h"
#include "dwi/series.h"
#include "util/clock.h"

/* --- The tissues of multi-tissue deconvolution. */

enum { GLS_WM, GLS_GM, GLS_CSF, GLS_N_TISSUES };

/* The tissues of multi-tissue deconvolution. */
typedef struct gls_tissues {
    /* number of tissues in use */
    size_t n;
    int kind[GLS_N_TISSUES]; /* the tissues in use; GLS_WM is the first */
    bool given, kept;        /* given: the responses were read from files; kept: the images were read from the cache */
    bool forced;             /* true: use responses even if they do not fit the series */
    const char *name;        /* file of the response of white matter, named in messages */
    gls_tissue_response *response[GLS_N_TISSUES];
    gls_image *
        image[GLS_N_TISSUES]; /* SH coefficients along the voxel axes; the image of white matter belongs to the model */
    /* true: gls_tissues_normalise() has normalised the images */
    bool is_normalised;
    /* set if is_normalised: balance factors, range of the intensity field, numbers of voxels */
    gls_normalise_result normalised;
} gls_tissues;

/* --- The model. */

/* An orientation model of a series: the choices, and after the fit the results. Owns its images. */
typedef struct gls_series_model {
    /* borrowed */
    const gls_model_options *options;
    /* borrowed; must outlive the model */
    const gls_series *series;
    gls_model_kind kind;     /* never AUTO */
    int order;               /* SH order of the ODFs */
    double bval;             /* b-value of the only shell in use, s/mm2; 0: no single shell was chosen */
    gls_gradients *selected; /* csd: table of b = 0 and the shell that it uses; NULL: the table of the series */
    size_t *volume;          /* index in the series of each selected volume */
    bool has_response;
    /* valid if has_response */
    gls_response response;
    gls_sphere *constraint; /* the built-in sphere that --csd-directions names; NULL: none is named */
    double (*direction)[3]; /* n_directions directions along the scanner axes, of a file or, for msmt, of `constraint`;
                               NULL: none */
    size_t n_directions;
    gls_tissues tissues;   /* msmt: tissues with their responses and images */
    gls_qball *qball;      /* opdt and csa: the q-ball model */
    gls_image *sh;         /* result of gls_series_model_fit(): basis descoteaux07_legacy, along the voxel axes */
    bool sh_kept, fa_kept; /* sh_kept: the SH image was read from the cache; fa_kept: FA was */
    bool fits_tensor;      /* true: a tensor is fitted, for FA or for a response, or FA was read from the cache */
} gls_series_model;

/* --- Fits that are kept from run to run (--cache-dir).
 * A fit is a NIfTI file and a JSON file with the key of the fit, which says what the fit was made from. The names of
 * both files contain a hash of the key, so that fits of other data and parameters have other names. No file in the
 * folder is ever replaced. */

#endif
