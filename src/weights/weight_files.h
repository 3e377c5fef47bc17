/* Writes weights of streamlines to files, and describes them in the log and in the sidecar. */
#ifndef GLS_WEIGHTS_WEIGHT_FILES_H
#define GLS_WEIGHTS_WEIGHT_FILES_H

#include <cJSON.h>

#include <glslines/fixels.h>
#include <glslines/weights.h>

#include "util/output_file.h"

/* Names of the columns with weights in a tractogram. */
#define GLS_DPS_WEIGHTS "sift2_weights"
#define GLS_DPS_COMMIT "commit_weights"
#define GLS_DPS_COEFFICIENTS "sift2_coefficients"

/* Steps of streamlines, as gls_step_range_sink() measures them. */
typedef struct gls_step_range {
    /* largest step and sum of steps so far, mm */
    double max, sum;
    /* number of steps */
    uint64_t n;
} gls_step_range;
/* Returns a sink that measures steps. range must outlive the sink and be zero at first. The sink needs no finish. */
gls_sink gls_step_range_sink(gls_step_range *range);

/* Logs what was mapped to fixels, and the result of the fit. */
void gls_weights_log(const gls_weights *weights);

/* Writes n values, each times `factor`, in MRtrix3's format: a comment line and one line of values. group: the output
 * group; NULL: none. */
gls_status gls_weights_write_text(const char *path, bool overwrite, gls_output_group *group, const float *value,
                                  uint64_t n, double factor, const char *comment);
/* Writes a table with the columns of tcksift2: a row for the start, then one for each iteration. */
gls_status gls_weights_write_iterations(const gls_weights *weights, const char *path, bool overwrite,
                                        gls_output_group *group);
/* Writes a fixel directory with all gls_weights_values of the fit. */
gls_status gls_weights_write_fixels(const gls_weights *weights, const gls_fixels *fixels, const char *directory,
                                    bool overwrite, gls_output_group *group);
/* Adds the result to a sidecar. */
void gls_weights_describe(cJSON *root, const gls_weights *weights);

#endif
