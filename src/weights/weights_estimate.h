/* Weights of streamlines: maps streamlines, builds the model, runs SIFT2, SIFT or the linear approximation, and gives
 * out results. */
#ifndef GLS_WEIGHTS_WEIGHTS_ESTIMATE_H
#define GLS_WEIGHTS_WEIGHTS_ESTIMATE_H

#include <glslines/device.h>
#include <glslines/image.h>
#include <glslines/weights.h>

/* Loads the kernels of the method, and with `maps` map.comp if the device has doubles in hardware, into the device's
 * cache. Ignores failures: they show when the kernels are used. */
void gls_weights_load_kernels(gls_device *device, gls_weights_method method, bool maps);
/* Host memory that SIFT2 takes for streamlines of a usual length, an estimate. n_voxels: with FODs. */
uint64_t gls_weights_bytes(const gls_grid *grid, uint64_t n_voxels, uint64_t n_streamlines);

#endif
