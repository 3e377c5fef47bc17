/* `glslines weights --method commit`: weights of streamlines from the diffusion signal. */
#ifndef GLS_TOOLS_TRACT_SIGNAL_H
#define GLS_TOOLS_TRACT_SIGNAL_H

#include "tools/signal_groups.h"
#include "tools/signal_input.h"
#include "weights/signal_fit.h"

/* Word of --method behind those of gls_weights_method. */
#define GLS_METHOD_COMMIT (GLS_WEIGHTS_SIFT + 1)

/* The run of --method commit. All zero is empty. */
typedef struct gls_tract_signal {
    gls_signal_input input;
    gls_signal_names names;             /* of groups */
    gls_signal signal;                  /* its weights are the result */
    const char *map[GLS_SIGNAL_N_MAPS]; /* files of --maps, owned by the run */
} gls_tract_signal;

/* Checks the options, and adds the inputs to the run, and all outputs except that of the weights. */
gls_status gls_tract_signal_name(gls_tract_signal *signal, gls_tract_run *run, const gls_weights_cli *options,
                                 const char *series);
/* Reads the inputs and computes the weights. Closes the reader. */
gls_status gls_tract_signal_solve(gls_tract_signal *signal, gls_tract_run *run, const gls_weights_cli *options,
                                  const char *tracks, const char *series);
/* Writes maps and table. */
gls_status gls_tract_signal_write(gls_tract_signal *signal, gls_tract_run *run, const gls_weights_cli *options);
/* Frees everything. */
void gls_tract_signal_finish(gls_tract_signal *signal);

#endif
