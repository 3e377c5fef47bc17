/* Weights of streamlines from the diffusion signal: takes streamlines, makes the model, solves it. */
#ifndef GLS_WEIGHTS_SIGNAL_FIT_H
#define GLS_WEIGHTS_SIGNAL_FIT_H

#include <cJSON.h>

#include "weights/signal_device.h"
#include "weights/signal_solver.h"

/* How weights follow from the signal. */
typedef struct gls_signal_options {
    gls_signal_kernels kernels;
    gls_signal_limits limits;
    gls_signal_solver solver;
    const char *directions; /* file of directions; NULL: those of gls_lobe_sphere */
    double share;           /* lambda of the penalty on groups, as a share of the largest useful one; 0: no penalty */
    bool peer;              /* see gls_signal_groups */
    bool debias;            /* solve again without penalty for the streamlines whose weight is not 0 */
    gls_signal_memory memory;
    double replacement; /* replaces values that are not finite; if it is not finite, such values are an error */
} gls_signal_options;
/* Fills kernels of a stick with two balls, limits and stop rules with their defaults. */
gls_signal_options gls_signal_options_default(void);

/* Weights of streamlines from the signal. The images are borrowed from the caller until the end. */
typedef struct gls_signal {
    gls_signal_options options;
    gls_signal_source source;
    gls_signal_directions directions;
    uint8_t *inside; /* for each voxel of the grid 1, or 0 if it lies outside the mask or has no b = 0 signal */
    gls_signal_rows rows;
    gls_signal_model model;
    gls_device *const *device; /* n_devices devices that compute, borrowed */
    size_t n_devices;          /* 0: the CPU computes */
    size_t n_lines;            /* number of streamlines, which have rows for each radius */
    double *x;
    float *r;      /* residuals of x */
    float *weight; /* for each streamline the signal fraction of 1 mm of it in a voxel */
    gls_signal_groups groups;
    gls_signal_fit fit;       /* the last fit */
    gls_signal_fit first;     /* the fit without penalty before it, if groups have a penalty */
    size_t n_without_b0;      /* voxels of the mask that have no positive b = 0 signal, and are left out */
    size_t n_positive;        /* weights above 0 */
    size_t n_groups_positive; /* groups with a weight above 0 */
    double seconds_map, seconds_solve;
} gls_signal;

/* Estimates the memory of weights from the signal, bytes, with the series of n_volumes on the grid. n_met: voxels that
 * streamlines pass. */
uint64_t gls_signal_bytes(const gls_grid *grid, uint64_t n_met, uint64_t n_volumes, uint64_t n_streamlines);
/* Begins: checks the values of the series, and which voxels can be used. mask: one volume on the grid of the series;
 * NULL: all voxels. GLS_ERR_INPUT: a value is not finite, no volume is weighted, or no voxel has signal. Call
 * gls_signal_finish() even after a failure. */
gls_status gls_signal_begin(gls_signal *signal, const gls_signal_options *options, const gls_signal_source *source,
                            gls_image *dwi, const gls_image *mask);
/* Returns the sink that takes the streamlines. Finishing or aborting it does nothing. */
gls_sink gls_signal_sink(gls_signal *signal);
/* Gives each streamline a group: of[s] (n values) names it by any number, equal for streamlines of one group. Call it
 * after the last streamline. */
gls_status gls_signal_set_groups(gls_signal *signal, const uint64_t *of, size_t n);
/* Computes the weights on n devices, or on the CPU if n is 0. GLS_ERR_EMPTY: no streamline is in the model. */
gls_status gls_signal_end(gls_signal *signal, gls_device *const *devices, size_t n);
/* Makes an image of a map of the result on the grid of the series, 0 in voxels outside the model. */
gls_status gls_signal_map_make(const gls_signal *signal, gls_signal_map map, gls_image **image);
/* Logs counts, and warns of what may be wrong. */
void gls_signal_log(const gls_signal *signal);
/* Adds counts, objective and reasons to stop to a sidecar. */
void gls_signal_describe(cJSON *root, const gls_signal *signal);
/* Frees everything. */
void gls_signal_finish(gls_signal *signal);

#endif
