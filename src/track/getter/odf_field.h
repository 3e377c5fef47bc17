/* Fields of direction getters: ODFs on a sphere, spherical harmonics. */
#ifndef GLS_TRACK_GETTER_ODF_FIELD_H
#define GLS_TRACK_GETTER_ODF_FIELD_H

#include "track/getter/getter.h"

/* --- Fields of ODFs, of amplitudes or of SH coefficients, for getters that take their ODFs from a source. */

/* For the row of such a getter. */
gls_status gls_odf_field_check(const gls_track_params *params, const gls_track_input *input, bool coefficients);
const gls_sphere *gls_odf_field_sphere(const gls_track_input *input);
/* The same of getters whose directions are no vertices: the least sphere that there is. */
const gls_sphere *gls_no_sphere(const gls_track_input *input);

/* What lies between voxels; coefficients: the getter can do with them. */
gls_odf_interpolation gls_odf_field_interpolation(bool coefficients, const gls_track_params *params,
                                                  const gls_odf_source *odf);
/* All models' fields: amplitudes or coefficients, brought to a common scale. */
gls_status gls_odf_field_fill(gls_model *const *models, size_t n, const gls_track_input *input, bool coefficients,
                              size_t *failed);
/* Amplitudes, each voxel's with a maximum of 1; place: of each direction in fields of cells. */
gls_status gls_odf_field_fill_normalised(gls_model *const *models, size_t n, const gls_track_input *input,
                                         const uint32_t *place, size_t *failed);

/* --- Fields of SH coefficients for getters that look along single directions, see glsl/odf/sh_direction.glsl. */

/* For the row of such a getter. */
gls_status gls_sh_field_check(const gls_track_params *params, const gls_track_input *input);
gls_status gls_sh_field_fill(gls_model *const *models, size_t n, const gls_track_params *params,
                             const gls_track_input *input, size_t *failed);
/* The field, and what the shader has to know of it. */
gls_status gls_sh_field_plan(const gls_model_request *request, gls_model_plan *model);

#endif
