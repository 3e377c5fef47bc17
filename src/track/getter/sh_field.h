/* Fields of SH coefficients for getters that look along single directions, see glsl/odf/sh_direction.glsl. */
#ifndef GLS_TRACK_GETTER_SH_FIELD_H
#define GLS_TRACK_GETTER_SH_FIELD_H

#include "track/getter/getter.h"

/* For the row of such a getter. */
gls_status gls_sh_field_check(const gls_track_params *params, const gls_track_input *input);
gls_status gls_sh_field_fill(gls_model *const *models, size_t n, const gls_track_params *params,
                             const gls_track_input *input, size_t *failed);
/* The field, and what the shader has to know of it. */
gls_status gls_sh_field_plan(const gls_model_request *request, gls_model_plan *model);

#endif
