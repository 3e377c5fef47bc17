/* Lists the renderers that are known to compute right, and tests any other renderer for mixed-up private arrays. */
#ifndef GLS_GPU_RENDERERS_H
#define GLS_GPU_RENDERERS_H

#include <glslines/device.h>

/* Whether results of this renderer are taken as they are: it was tested, or its driver is used so widely that mistakes
 * would be known. What others compute is tested first. True for all with GLSLINES_SELF_TEST=0. */
bool gls_renderer_is_known(const gls_device_info *device);
/* Whether glslines has run on it, with results that were compared. */
bool gls_renderer_was_tested(const gls_device_info *device);
/* Sets info.apart of a device whose renderer is not known, by a kernel; false, with a warning, too where it fails. */
void gls_renderer_try(gls_device *device);

/* For tests: numbers of invocations and of words in the array of each, and the value that a word must have. */
enum { GLS_APART_INVOCATIONS = 16, GLS_APART_PLACES = 4 };
uint32_t gls_apart_expected(uint32_t invocation, uint32_t word);

#endif
