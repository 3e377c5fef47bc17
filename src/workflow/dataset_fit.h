/* Fits as files of a data set: bids --fit-outputs. */
#ifndef GLS_WORKFLOW_DATASET_FIT_H
#define GLS_WORKFLOW_DATASET_FIT_H

#include "workflow/dataset.h"

/* Adds Sources and SpatialReference to a sidecar. */
typedef struct gls_dataset_sources {
    void (*add)(const struct gls_dataset_sources *sources, cJSON *root);
    const gls_dataset_options *options;
    const gls_dataset_unit *unit;
} gls_dataset_sources;

/* Writes STEM_model-tensor_param-fa_dwimap and STEM_model-MODEL_param-sh_dwimap (of several tissues param-wm, gm and
 * csf), each an image and a sidecar; what is there is replaced. */
gls_status gls_dataset_fit(const gls_dataset_unit *unit, const gls_model_options *model, const char *mask,
                           const char *stem, const gls_dataset_sources *sources, const gls_monitor *monitor);

#endif
