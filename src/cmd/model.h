/* Fits an orientation model to a series: shell, response, matrices, SH image; for `glslines track` and `glslines fit`.
 * All functions that return an exit code have printed the message. */
#ifndef GLS_CMD_MODEL_H
#define GLS_CMD_MODEL_H

#include <cJSON.h>

#include "cmd/series.h"

typedef struct cmd_model {
    const model_options *options;
    const cmd_series *series;
    double bval;             /* s/mm2, rounded, of the shell that is used; 0: all volumes */
    gls_gradients *selected; /* table of b = 0 and the shell; NULL: the series' own */
    size_t *volume;          /* their places in the series */
    gls_image *subset;       /* the volumes of that table as a series, where the model needs one */
    bool has_response;
    gls_response response;
    gls_qball *qball;      /* opdt and csa */
    gls_image *sh;         /* after cmd_model_fit(): descoteaux07_legacy along the voxel axes */
    bool sh_kept, fa_kept; /* taken from the cache */
} cmd_model;

/* Chooses the shell; with csd reads a given response. Nothing slow. */
int cmd_model_init(cmd_model *model, const model_options *options, const cmd_series *series);
/* FA by a tensor fit of all volumes, from the cache where it has it. cache: directory, or NULL. */
int cmd_model_fa(cmd_model *model, const gls_image *mask, const char *cache, gls_image **fa);
/* The response (csd; from voxels of the mask), or the model's matrices (opdt, csa). */
int cmd_model_prepare(cmd_model *model, const gls_image *mask);
/* The SH image of the voxels of the mask, with progress. */
int cmd_model_fit(cmd_model *model, const gls_image *mask, const char *cache);
void cmd_model_finish(cmd_model *model);

/* Series and table that the model sees, and the number of its volumes (known before the series is there). */
const gls_image *cmd_model_dwi(const cmd_model *model);
const gls_gradients *cmd_model_gradients(const cmd_model *model);
size_t cmd_model_volumes(const cmd_model *model);
/* Model, shell and response, for a sidecar. */
void cmd_model_describe(cJSON *root, const cmd_model *model);

#endif
