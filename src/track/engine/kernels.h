/* The kernels of an engine: their definitions and slots, and how they are loaded. */
#ifndef GLS_TRACK_ENGINE_KERNELS_H
#define GLS_TRACK_ENGINE_KERNELS_H

#include "track/engine/engine.h"

/* Loads all kernels that the engine's plan needs. */
gls_status gls_kernels_load(gls_engine *engine, const gls_track_input *input);
void gls_kernels_destroy(gls_engine *engine);

#endif
