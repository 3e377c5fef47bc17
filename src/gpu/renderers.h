/* A list of renderers known to compute correctly, and a test for all others. */
#ifndef GLS_GPU_RENDERERS_H
#define GLS_GPU_RENDERERS_H

#include <glslines/device.h>

/* Whether results of this renderer are trusted without a test: glslines has been tested on it, or its driver is so
 * widely used that errors would be known. Always true with GLSLINES_SELF_TEST=0, always false with
 * GLSLINES_SELF_TEST=1. */
bool gls_renderer_is_known(const gls_device_info *device);
/* Whether glslines has run on this renderer and its results were checked. */
bool gls_renderer_was_tested(const gls_device_info *device);
/* Tests with a kernel whether an unknown renderer keeps the private arrays of invocations apart, and stores the answer
 * in info.apart: false also if the test fails to run. */
void gls_renderer_try(gls_device *device);
/* For tests: value that the test kernel must give for this word of this invocation's private array. */
uint32_t gls_apart_expected(uint32_t invocation, uint32_t word);

#endif
