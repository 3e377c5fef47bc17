/* `glslines register` of two tractograms. */
#ifndef GLS_TOOLS_REGISTER_TRACKS_H
#define GLS_TOOLS_REGISTER_TRACKS_H

#include "tools/tract_results.h"

/* Values of --type. */
enum {
    GLS_REGISTER_AUTO,
    GLS_REGISTER_NONLINEAR,
    GLS_REGISTER_AFFINE,
    GLS_REGISTER_RIGID,
    GLS_REGISTER_SIMILARITY,
    GLS_REGISTER_SCALING,
    GLS_REGISTER_TRANSLATION
};

/* Finds the transform between two tractograms, and writes it. file: MOVING FIXED */
gls_status gls_register_tracks(gls_tract_run *run, const gls_register_cli *options, const char *const *file);

#endif
