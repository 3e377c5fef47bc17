/* Parameters and arguments of the kernels of passes 1 and 2. */
#ifndef GLS_TRACK_ENGINE_PASS_ARGUMENTS_H
#define GLS_TRACK_ENGINE_PASS_ARGUMENTS_H

#include "track/engine/engine.h"

/* Largest number of arguments of a kernel of pass 1 or 2. */
#define GLS_PASS_ARGUMENTS (8 + GLS_GUIDE_MAX_TEXTURES + GLS_FIELD_MAX_TEXTURES + GLS_FIELD_MAX_BUFFERS)

/* Writes the uniform block of pass 1 (initial) or 2. n_items: seeds or half-streamlines of the pass; n_active: how many
 * of them this dispatch works on; iterations: number of iterations of each. */
gls_status gls_pass_uniforms(gls_engine *engine, uint32_t n_items, uint32_t n_active, uint32_t iterations,
                             bool initial);
/* This function and the next two store arguments in args, which has room for GLS_PASS_ARGUMENTS, and return their
 * number. This one stores the arguments that all kernels share: textures, parameters, model. */
size_t gls_pass_arguments(gls_engine *engine, bool initial, gls_arg *args);
/* All arguments of initial.comp for seeds from `first` on. */
size_t gls_initial_arguments(gls_engine *engine, uint64_t first, gls_arg *args);
/* All arguments of track.comp. */
size_t gls_track_arguments(gls_engine *engine, gls_arg *args);

#endif
