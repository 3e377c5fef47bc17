/* Fits an orientation model to a series: shell, response, matrices, SH image. */
#ifndef GLS_WORKFLOW_MODEL_H
#define GLS_WORKFLOW_MODEL_H

#include <cJSON.h>

#include <glslines/glslines.h>

#include "workflow/monitor.h"
#include "workflow/tissues.h"

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

#endif
