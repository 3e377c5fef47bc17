/* Fields that several direction getters share: ODFs as amplitudes on a sphere, or as SH coefficients. */
#ifndef GLS_TRACK_GETTER_ODF_FIELD_H
#define GLS_TRACK_GETTER_ODF_FIELD_H

#include "track/getter/getter.h"

/* Checks that the input has ODFs on the grid of the stop map. coefficients: the getter can interpolate SH coefficients.
 * GLS_ERR_ARGUMENT: the parameters ask for coefficients, but the getter or the ODFs have none to interpolate. */
gls_status gls_odf_field_check(const gls_track_params *params, const gls_track_input *input, bool coefficients);
/* `sphere` of gls_getter for getters that follow ODFs: the sphere of the ODF source. */
const gls_sphere *gls_odf_field_sphere(const gls_track_input *input);
/* `sphere` of gls_getter for getters that need no sphere: a fixed one of three axes, the smallest possible. */
const gls_sphere *gls_no_sphere(const gls_track_input *input);
/* Chooses the values that are interpolated between voxels: coefficients if the parameters do not ask for amplitudes and
 * both the getter and the source allow coefficients, else amplitudes. coefficients: whether the getter allows them. */
gls_odf_interpolation gls_odf_field_interpolation(bool coefficients, const gls_track_params *params,
                                                  const gls_odf_source *odf);

/* Values of a field of ODFs. Amplitudes and coefficients have one scale for all voxels, model->scale. */
typedef enum gls_odf_values {
    GLS_ODF_AMPLITUDES,   /* at the vertices of the sphere */
    GLS_ODF_COEFFICIENTS, /* of SH */
    GLS_ODF_NORMALISED    /* amplitudes, each voxel divided by its maximum */
} gls_odf_values;

/* Fills the fields of n models with these values. index_of: for coefficients, the channel of each coefficient; for
 * amplitudes in a field of cells, the index of each vertex among the values of a voxel. NULL: the order of the source.
 * Textures of amplitudes always have the order of the source. *failed: see gls_getter.fill. */
gls_status gls_odf_field_fill(gls_model *const *models, size_t n, const gls_track_input *input, gls_odf_values values,
                              const uint32_t *index_of, size_t *failed);

#endif
