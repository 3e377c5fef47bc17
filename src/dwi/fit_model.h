/* Fits an orientation model to a series: chooses shells, estimates responses, fits SH images, keeps fits in a cache. */
#ifndef GLS_DWI_FIT_MODEL_H
#define GLS_DWI_FIT_MODEL_H

#include <cJSON.h>

#include <glslines/glslines.h>
#include <glslines/image.h>
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

/* "wm", "gm" or "csf". */
const char *gls_tissue_name(int kind);

/* Finds out whether b-values lie on a grid, as in diffusion spectrum imaging. *shells is then the number of weighted
 * shells; it is 0 if there is no grid, or no shell of three volumes. */
gls_status gls_tissues_grid(const gls_gradients *gradients, size_t *shells);
/* Reads the responses that the options name. Without responses, chooses the tissues by the number of shells. */
gls_status gls_tissues_init(gls_tissues *tissues, const gls_model_options *options, const gls_gradients *gradients);
/* Estimates the responses or, if they are given, compares them with the signal. direction: n directions of the
 * constraint along the scanner axes; NULL: the default. */
gls_status gls_tissues_respond(gls_tissues *tissues, const gls_image *dwi, const gls_gradients *gradients,
                               const gls_image *mask, const double (*direction)[3], size_t n,
                               const gls_monitor *monitor);
/* Fits the images of all tissues, or reads them from the cache. order: SH order of white matter. on: name of the device
 * that fits; NULL: the CPU. cache and key: as for gls_fit_cache_read(); NULL: no cache. */
gls_status gls_tissues_fit(gls_tissues *tissues, const gls_image *dwi, const gls_gradients *gradients,
                           const gls_image *mask, int order, const double (*direction)[3], size_t n, const char *on,
                           const char *cache, const cJSON *key, const gls_monitor *monitor);
/* Normalises the images in place, unless no_normalise is set, or the mask is small and normalise is not set. */
gls_status gls_tissues_normalise(gls_tissues *tissues, const gls_model_options *options, const gls_image *mask);
/* Makes *fractions: three volumes, the fractions of CSF, grey matter and white matter. They sum to 1 in a voxel, or are
 * 0 if no tissue has a positive density. */
gls_status gls_tissues_fractions(const gls_tissues *tissues, gls_image **fractions);
/* Adds the responses, and the result of the normalisation, to a sidecar. */
void gls_tissues_describe(cJSON *model, const gls_tissues *tissues, const gls_model_options *options);
/* Frees responses and images, except the image of white matter, which belongs to the model. */
void gls_tissues_finish(gls_tissues *tissues);

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

/* Chooses kind, order and shells, and reads given responses. Fast. Call gls_series_model_finish() also after a failure.
 */
gls_status gls_series_model_init(gls_series_model *model, const gls_model_options *options, const gls_series *series);
/* Sets the directions of the model's constraint. name: the value of --csd-directions, a built-in sphere or a file. */
gls_status gls_series_model_directions(gls_series_model *model, const char *name);
/* Fits a tensor to the volumes of gls_series_tensor_dwi(), or reads its results from the cache: FA, and unless axes is
 * NULL the main axes as gls_peaks_of_tensors() makes them. cache: a folder, or NULL. */
gls_status gls_series_model_fa(gls_series_model *model, const gls_image *mask, const char *cache,
                               const gls_monitor *monitor, gls_image **fa, gls_image **axes);
/* Prepares the fit. csd, msmt: estimates the responses from voxels of the mask or, if responses are given, compares
 * them with the signal. opdt, csa: computes the matrices, unless that is done already. */
gls_status gls_series_model_prepare(gls_series_model *model, const gls_image *mask, const gls_monitor *monitor);
/* Fits the SH image in the voxels of the mask, or reads it from the cache. For msmt it is the image of white matter,
 * after normalisation. */
gls_status gls_series_model_fit(gls_series_model *model, const gls_image *mask, const char *cache,
                                const gls_monitor *monitor);
/* Frees everything that the model owns. The series and the options are borrowed. */
void gls_series_model_finish(gls_series_model *model);

/* Adds model, shell and response to a sidecar. */
void gls_series_model_describe(cJSON *root, const gls_series_model *model);

/* --- Fits that are kept from run to run (--cache-dir).
 * A fit is a NIfTI file and a JSON file with the key of the fit, which says what the fit was made from. The names of
 * both files contain a hash of the key, so that fits of other data and parameters have other names. No file in the
 * folder is ever replaced. */

/* Checks the folder of the cache. If it does not exist: makes it, or, with `make` false, checks that it could be made.
 * GLS_ERR_OUTPUT: the folder cannot be made, or this user may not read or write it. */
gls_status gls_fit_cache_init(const char *directory, bool make);

/* Makes the key of a fit, to which the caller adds the parameters of the fit: the name of the result (`image`), the
 * version of glslines, the grid, and hashes of the volumes in use, their table and the mask. Free it by cJSON_Delete().
 * NULL: out of memory. */
cJSON *gls_fit_cache_key(const char *image, const gls_image *dwi, const gls_gradients *gradients,
                         const gls_image *mask);
/* Adds a number to the key, as text, so that equal keys are equal byte for byte. */
void gls_fit_cache_key_number(cJSON *key, const char *name, double value);
/* Adds a hash of these bytes to the key. */
void gls_fit_cache_key_data(cJSON *key, const char *name, const void *data, size_t bytes);

/* Path of a fit with this key. extension: "nii" or "json". From malloc; NULL: out of memory. */
char *gls_fit_cache_path(const char *directory, const char *name, const cJSON *key, const char *extension);
/* Reads the image that was kept under this name and key. Returns false, and logs why, if there is none that can be
 * used. */
bool gls_fit_cache_read(const char *directory, const char *name, const cJSON *key, const gls_grid *grid,
                        size_t n_volumes, gls_image **image);
/* Keeps an image. A failure is only a warning, because the result does not depend on the cache. */
void gls_fit_cache_write(const char *directory, const char *name, const cJSON *key, const gls_image *image);

#endif
