/* Chains of transforms as one file. */
#ifndef GLS_TOOLS_TRANSFORM_COMPOSE_H
#define GLS_TOOLS_TRANSFORM_COMPOSE_H

#include "tools/tract_results.h"
#include "transform/transform.h"

/* Writes a chain as one affine map, or, where it has a field, as one field on the grid of --template or of its first
 * field. */
gls_status gls_transform_compose_chain(gls_tract_run *run, const gls_transform_cli *options,
                                       const gls_transform *transform);

#endif
