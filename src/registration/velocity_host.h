/* The arithmetic of nonlinear registration on the CPU. */
#ifndef GLS_REGISTRATION_VELOCITY_HOST_H
#define GLS_REGISTRATION_VELOCITY_HOST_H

#include "registration/velocity_parts.h"

gls_status gls_velocity_host_create(const gls_velocity_options *options, gls_velocity_solver **solver);
/* Computes u, the displacement of the flow along factor * v, by composing factor / 2^squarings * v with itself. u and
 * v: three planes each; spare: memory for three planes. */
void gls_velocity_host_flow(const float *v, const int32_t dim[3], float factor, int squarings, float *u, float *spare);

#endif
