/* Finds the row of a direction getter. */
#ifndef GLS_TRACK_GETTER_GETTERS_H
#define GLS_TRACK_GETTER_GETTERS_H

#include "track/getter/getter.h"

const gls_getter *gls_getter_of(const gls_track_params *params);

#endif
