/* Runs the kernels of an engine on nothing, before the first seeds come: drivers make buffers and the memory for
 * transfers at their first use, which would delay the first streamlines. */
#ifndef GLS_TRACK_ENGINE_REHEARSE_H
#define GLS_TRACK_ENGINE_REHEARSE_H

#include "track/engine/engine.h"

/* If the plan of a complete engine has rounds in flight and gls_device_waits() is true, runs the kernels on no work,
 * see rehearse.c. A failure is left to tracking, where it comes again. */
void gls_engine_rehearse(gls_engine *engine);

#endif
