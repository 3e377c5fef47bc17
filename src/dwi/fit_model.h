/* Fits an orientation model to a series: chooses shells, estimates responses, fits SH images, keeps fits in a cache. */
#ifndef GLS_DWI_FIT_MODEL_H
#define GLS_DWI_FIT_MODEL_H

#include <cJSON.h>

#include <glslines/glslines.h>
#include <glslines/image.h>
#include <glslines/workflow.h>

#include "dwi/fit_model_parts.h"
#include "dwi/model_options.h"
#include "dwi/series.h"
#include "util/clock.h"

/* Chooses kind, order and shells, and reads given responses. Fast. Call gls_series_model_finish() also after a failure.
 */
gls_status gls_series_model_init(gls_series_model *model, const gls_model_options *options, const gls_series *series);
/* Sets the directions of the model's constraint. name: the value of --csd-directions, a built-in sphere or a file. */
gls_status gls_series_model_directions(gls_series_model *model, const char *name);
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

#endif
