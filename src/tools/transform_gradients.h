/* Gradient tables of a series that an affine map brings to another image. */
#ifndef GLS_TOOLS_TRANSFORM_GRADIENTS_H
#define GLS_TOOLS_TRANSFORM_GRADIENTS_H

#include "tools/tract_results.h"
#include "transform/transform.h"

/* Whether a name is one of gradient tables: FSL's .bvec and .bvecs, MRtrix3's .b. */
bool gls_gradients_is_name(const char *path);
/* Turns the directions of a table by the rotation in a chain of affine maps, and writes it in the same form. */
gls_status gls_transform_gradients(gls_tract_run *run, const gls_transform_cli *options, const char *in,
                                   const gls_transform *transform);

#endif
