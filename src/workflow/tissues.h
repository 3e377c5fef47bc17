/* The tissues of multi-tissue deconvolution: responses, images, normalisation. */
#ifndef GLS_WORKFLOW_TISSUES_H
#define GLS_WORKFLOW_TISSUES_H

#include <cJSON.h>

#include <glslines/glslines.h>

#include "workflow/monitor.h"
#include "workflow/series.h"

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

#endif
