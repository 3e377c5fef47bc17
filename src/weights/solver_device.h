/* The passes of SIFT2 as kernels. */
#ifndef GLS_WEIGHTS_SOLVER_DEVICE_H
#define GLS_WEIGHTS_SOLVER_DEVICE_H

#include <glslines/common.h>
#include <glslines/device.h>
#include <glslines/weights.h>

#include "weights/weight_model.h"

/* Makes a solver that shares the chunks among n devices. GLS_ERR_DEVICE_MEMORY: the fixels, the streamlines or the
 * buffers for sending entries do not fit. */
gls_status gls_device_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                    gls_device *const *devices, size_t n, gls_solver **solver);

#endif
