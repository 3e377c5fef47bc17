/* The direction getters without data, the table of all getters, and functions that give other files facts of a getter:
 * cutoffs, interpolation, whether it ends half-streamlines itself, source of directions. */
#ifndef GLS_TRACK_GETTER_GETTERS_H
#define GLS_TRACK_GETTER_GETTERS_H

#include <glslines/track.h>

#include "track/getter/getter.h"
#include "track/getter/param_user.h"

/* The row of a getter; NULL for another value. */
const gls_getter *gls_getter_row(gls_direction_getter dg);
/* The row of params->dg. */
const gls_getter *gls_getter_of(const gls_track_params *params);
/* Whether the getter has the parameters of `user`, a group of getters or a getter. */
bool gls_getter_uses(const gls_getter *getter, gls_param_user user);

#endif
