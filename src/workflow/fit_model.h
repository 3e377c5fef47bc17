/* Fits of orientation models to a series: shells, responses, tissues, images, and fits that are kept. */
#ifndef GLS_WORKFLOW_FIT_MODEL_H
#define GLS_WORKFLOW_FIT_MODEL_H

#include <cJSON.h>

#include <glslines/glslines.h>
#include <glslines/image.h>

#include "workflow/run.h"
#include "workflow/series.h"

/* --- The tissues of multi-tissue deconvolution: responses, images, normalisation. */

enum { GLS_WM, GLS_GM, GLS_CSF, GLS_N_TISSUES };

typedef struct gls_tissues {
    size_t n;
    int kind[GLS_N_TISSUES]; /* GLS_WM first */
    bool given, kept;        /* responses from files; images from the cache */
    bool forced;             /* responses that do not fit the series are used all the same */
    const char *name;        /* of the white matter's file */
    gls_tissue_response *response[GLS_N_TISSUES];
    gls_image *image[GLS_N_TISSUES]; /* coefficients along the voxel axes, of white matter borrowed from the model */
    bool is_normalised;
    gls_normalise_result normalised;
} gls_tissues;

/* "wm", "gm", "csf" */
const char *gls_tissue_name(int kind);

/* Reads the responses that are given, else chooses the tissues by the number of shells. */
gls_status gls_tissues_init(gls_tissues *tissues, const gls_model_options *options, const gls_gradients *gradients);
/* Estimates the responses where none are given. direction: n of the constraint along the scanner axes, or NULL. */
gls_status gls_tissues_respond(gls_tissues *tissues, const gls_image *dwi, const gls_gradients *gradients,
                               const gls_image *mask, const double (*direction)[3], size_t n);
/* Images of all tissues, white matter to this order. on: the device that fits, or NULL. cache, key: as of
 * gls_fit_cache_read(), or NULL. */
gls_status gls_tissues_fit(gls_tissues *tissues, const gls_image *dwi, const gls_gradients *gradients,
                           const gls_image *mask, int order, const double (*direction)[3], size_t n, const char *on,
                           const char *cache, const cJSON *key, const gls_monitor *monitor);
/* Normalises them in place where the options and the size of the mask ask for it. */
gls_status gls_tissues_normalise(gls_tissues *tissues, const gls_model_options *options, const gls_image *mask);
/* Three volumes, the fractions of CSF, grey and white matter, which sum to 1 where there is any. */
gls_status gls_tissues_fractions(const gls_tissues *tissues, gls_image **fractions);
/* Notes what the responses are for the key of a cache, and for a sidecar. */
void gls_tissues_add_key(cJSON *key, const gls_tissues *tissues);
void gls_tissues_describe(cJSON *model, const gls_tissues *tissues, const gls_model_options *options);
void gls_tissues_finish(gls_tissues *tissues);

/* --- Fits an orientation model to a series: shell, response, matrices, SH image. */

typedef struct gls_model {
    const gls_model_options *options;
    const gls_series *series;
    gls_model_kind kind;     /* with AUTO settled */
    int order;               /* of the ODFs */
    double bval;             /* s/mm2, rounded, of the shell that is used; 0: all volumes */
    gls_gradients *selected; /* table of b = 0 and the shell; NULL: the series' own */
    size_t *volume;          /* their places in the series */
    gls_image *subset;       /* the volumes of that table as a series, where the model needs one */
    bool has_response;
    gls_response response;
    gls_sphere *constraint; /* csd, where it has another than the default: a built-in one, */
    double (*direction)[3]; /* or n_directions along the scanner axes */
    size_t n_directions;
    gls_tissues tissues;   /* msmt */
    gls_qball *qball;      /* opdt and csa */
    gls_image *sh;         /* after gls_series_model_fit(): descoteaux07_legacy along the voxel axes */
    bool sh_kept, fa_kept; /* taken from the cache */
    bool fits_tensor;      /* for FA, or for a response that is estimated; kept FA counts */
} gls_model;

/* The files that the options name. */
gls_status gls_model_inputs(const gls_model_options *options, gls_inputs *inputs);
/* Settles the kind and the order, chooses shells, reads given responses. Nothing slow. */
gls_status gls_series_model_init(gls_model *model, const gls_model_options *options, const gls_series *series);
/* FA by a tensor fit of all volumes, from the cache where it has it. cache: directory, or NULL. */
gls_status gls_series_model_fa(gls_model *model, const gls_image *mask, const char *cache, const gls_monitor *monitor,
                               gls_image **fa);
/* The responses (csd, msmt; from voxels of the mask), or the model's matrices (opdt, csa) unless they are there. */
gls_status gls_series_model_prepare(gls_model *model, const gls_image *mask);
/* The volumes that the model uses as a series of their own, where it does not use all. */
gls_status gls_series_model_subset(gls_model *model);
/* The SH image of the voxels of the mask, with progress; with msmt that of white matter, tissues normalised. */
gls_status gls_series_model_fit(gls_model *model, const gls_image *mask, const char *cache, const gls_monitor *monitor);
void gls_series_model_finish(gls_model *model);

/* Series and table that the model sees, and the number of its volumes (known before the series is there). */
const gls_image *gls_series_model_dwi(const gls_model *model);
const gls_gradients *gls_series_model_gradients(const gls_model *model);
size_t gls_series_model_volumes(const gls_model *model);
/* Model, shell and response, for a sidecar. */
void gls_series_model_describe(cJSON *root, const gls_model *model);

/* --- Fitted images kept from run to run (--cache-dir): a NIfTI file and a JSON file that says from what it was made.
 * Their names have a hash of that, so that fits of other data and parameters lie beside them, and nothing that is in
 * the folder is ever replaced. */

/* Makes the directory where it does not exist. */
gls_status gls_fit_cache_init(const char *directory);

/* What every fit of a series depends on, as contents and not as names of files: data, table and mask. NULL without
 * memory. */
cJSON *gls_fit_cache_key(const char *image, const gls_series *series, const gls_image *mask);
/* Further entries. Numbers stand as text, so that equal keys are equal byte by byte. */
void gls_fit_cache_key_number(cJSON *key, const char *name, double value);
void gls_fit_cache_key_data(cJSON *key, const char *name, const void *data, size_t bytes);

/* Where a fit with this key lies, as nii and json; from malloc, NULL: out of memory. */
char *gls_fit_cache_path(const char *directory, const char *name, const cJSON *key, const char *extension);
/* The image that was kept under this name and key, if its contents are whole; else false, and the log says why it is
 * fitted anew. */
bool gls_fit_cache_read(const char *directory, const char *name, const cJSON *key, const gls_grid *grid,
                        size_t n_volumes, gls_image **image);
/* Keeps an image. A failure is a warning: the result does not depend on it. */
void gls_fit_cache_write(const char *directory, const char *name, const cJSON *key, const gls_image *image);

#endif
