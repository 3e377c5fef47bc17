/* Weights of streamlines: how the streamlines are walked, and the files that come of it. */
#ifndef GLS_WORKFLOW_WEIGHT_FILES_H
#define GLS_WORKFLOW_WEIGHT_FILES_H

#include <cJSON.h>

#include <glslines/tractogram.h>
#include <glslines/weights.h>
#include <glslines/workflow.h>

#include "util/output_file.h"

/* Names of the columns of a tractogram with weights. */
#define GLS_DPS_WEIGHTS "sift2_weights"
#define GLS_DPS_COEFFICIENTS "sift2_coefficients"

/* Steps of streamlines, as a sink that is never finished. */
typedef struct gls_step_range {
    double most, sum;
    uint64_t n;
} gls_step_range;
gls_sink gls_step_range_sink(gls_step_range *range);

/* step: mm; 0: range has what was measured. Says what it chose where that is a guess. */
gls_status gls_weights_choose_walk(gls_weights *weights, double step, const gls_step_range *range,
                                   const gls_grid *grid);

/* Logs what was mapped, and what became of it. */
void gls_weights_tell(const gls_weights *weights);

/* n values as MRtrix3 reads them: a comment, and one row of them. factor: of all. group: NULL: none. */
gls_status gls_weights_write_text(const char *path, bool overwrite, gls_output_group *group, const float *value,
                                  uint64_t n, double factor, const char *comment);
/* 0 and 1, a line each. */
gls_status gls_weights_write_selection(const gls_weights *weights, const char *path, bool overwrite,
                                       gls_output_group *group);
gls_status gls_weights_write_mu(const gls_weights *weights, const char *path, bool overwrite, gls_output_group *group);
/* A line for each iteration, with the columns of tcksift2. */
gls_status gls_weights_write_iterations(const gls_weights *weights, const char *path, bool overwrite,
                                        gls_output_group *group);
/* Fixel directory with all values. */
gls_status gls_weights_write_fixels(const gls_weights *weights, const gls_fixels *fixels, const char *directory,
                                    bool overwrite, gls_output_group *group);
/* What came of it, for a sidecar. */
void gls_weights_describe(cJSON *root, const gls_weights *weights);

#endif
