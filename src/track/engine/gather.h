/* Pass 3: packs the points of placed streamlines, by a kernel, whose output is fetched, or by the host. */
#ifndef GLS_TRACK_ENGINE_GATHER_H
#define GLS_TRACK_ENGINE_GATHER_H

#include <glslines/common.h>

#include "track/engine/batch_parts.h"
#include "track/engine/batch_result.h"
#include "track/engine/engine.h"
#include "track/shader/layout.h"

/* Runs gather.comp with these parameters, in at least one work group. */
gls_status gls_gather_dispatch(gls_engine *engine, const gls_gather_uniforms *uniforms);
/* Starts packing the n_placed placed streamlines of a pass of n_items half-streamlines. With n_points > 0, also starts
 * to transfer the first n_points points; call gls_gather_end() for them. With plan.packs_on_host that call packs. */
gls_status gls_gather_begin(gls_batch *batch, uint32_t n_items, uint32_t n_placed, uint64_t n_points);
/* Waits for the points of gls_gather_begin() and stores them in result->point, which must have space for them. */
gls_status gls_gather_end(gls_batch *batch, gls_batch_result *result);

#endif
