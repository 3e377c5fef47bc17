/* The passes of SIFT2 on the CPU, with the arithmetic of the kernels. */
#ifndef GLS_WEIGHTS_SOLVER_HOST_H
#define GLS_WEIGHTS_SOLVER_HOST_H

#include <glslines/common.h>
#include <glslines/weights.h>

#include "weights/weight_model.h"

/* Makes a solver on the CPU. Array 0 of the coefficients starts as 0. Call fixels() before the first rows(). */
gls_status gls_host_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                  gls_solver **solver);
/* e^x as the passes compute it. */
float gls_weights_exponential(float x);
/* Sets the members of gls_solver. */
void gls_solver_init(gls_solver *solver, const gls_solver_kind *kind, const gls_weight_model *model,
                     const gls_weights_options *options);

#endif
