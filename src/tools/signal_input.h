/* Reads what weights by the signal are computed from: series, gradient table, mask, peaks. */
#ifndef GLS_TOOLS_SIGNAL_INPUT_H
#define GLS_TOOLS_SIGNAL_INPUT_H

#include "dwi/series.h"
#include "tools/tract_results.h"
#include "weights/cylinder.h"

/* The inputs that were read. All zero is empty. */
typedef struct gls_signal_input {
    gls_series series;        /* its table is NULL for a map of one volume */
    gls_image *mask;          /* NULL: all voxels */
    gls_image *peaks;         /* NULL: none */
    char *bval, *bvec;        /* files of the table */
    gls_pulse_timing *timing; /* of each volume; NULL: not known */
} gls_signal_input;

/* Finds the gradient table, and adds the files to the inputs of the run. */
gls_status gls_signal_input_name(gls_signal_input *input, gls_tract_run *run, const gls_weights_cli *options,
                                 const char *series);
/* Reads all files. Call gls_signal_input_finish() even after a failure. */
gls_status gls_signal_input_read(gls_signal_input *input, const gls_weights_cli *options, const char *series);
/* Frees everything. */
void gls_signal_input_finish(gls_signal_input *input);

#endif
