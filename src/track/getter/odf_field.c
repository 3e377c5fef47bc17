/* Fills fields with ODFs, as amplitudes or as SH coefficients, from an ODF source. */
#include "track/getter/odf_field.h"

#include <math.h>
#include <string.h>

#include "dwi/odf_parts.h"
#include "dwi/odf_slice.h"
#include "track/field/textures.h"
#include "util/status.h"

/* ODFs may have any unit. Their largest value is scaled to at most this, so that values stay well within the range of
 * half floats. Amplitudes that are evaluated from SH may be larger, see gls_odf_field_fill(). */
#define VOLUME_MAXIMUM 1024.0f

/* Inputs of the threads that fill the field with ODFs. scale: factor of all values; per_voxel: each voxel is divided by
 * its own maximum instead. */
typedef struct odf_fill {
    const gls_odf_source *odf;
    float scale;
    bool per_voxel;
    size_t n_channels;
    const uint32_t *index_of; /* channel of each coefficient; NULL: the index of the coefficient */
} odf_fill;

_Static_assert((int)GLS_FIELD_BLOCK == (int)GLS_ODF_BLOCK, "blocks of a field are those of an ODF source");

/* Computes the scaled amplitudes of a block of voxels. Channels past the last vertex repeat the value at that vertex,
 * so that they change no maximum. */
static void amplitude_block(const void *user, size_t first, size_t count, float *rows, float *scratch)
{
    const odf_fill *f = user;
    size_t n = f->odf->sphere->n;
    float factor[GLS_FIELD_BLOCK] = {0};
    gls_odf_block(f->odf, first, count, rows, GLS_FIELD_BLOCK, scratch);
    for (size_t c = n; c < f->n_channels; c++)
        memcpy(rows + c * GLS_FIELD_BLOCK, rows + (n - 1) * GLS_FIELD_BLOCK, count * sizeof *rows);
    for (size_t c = 0; f->per_voxel && c < n; c++)
        for (size_t i = 0; i < count; i++) factor[i] = fmaxf(factor[i], rows[c * GLS_FIELD_BLOCK + i]);
    for (size_t i = 0; i < count; i++) factor[i] = !f->per_voxel ? f->scale : factor[i] > 0 ? 1 / factor[i] : 0;
    for (size_t c = 0; c < f->n_channels; c++)
        for (size_t i = 0; i < count; i++) rows[c * GLS_FIELD_BLOCK + i] *= factor[i];
}

/* Copies the SH coefficients of a block of voxels, scaled for half precision and in the order of channels; the channels
 * behind them are 0. */
static void coefficient_block(const void *user, size_t first, size_t count, float *rows, float *scratch)
{
    const odf_fill *f = user;
    size_t k = f->odf->parts->n_inputs;
    gls_odf_sh_block(f->odf, first, count, rows, scratch);
    for (size_t i = 0; i < k * GLS_FIELD_BLOCK; i++) rows[i] *= f->scale;
    if (f->index_of) {
        memcpy(scratch, rows, k * GLS_FIELD_BLOCK * sizeof *rows);
        for (size_t j = 0; j < k; j++)
            memcpy(rows + f->index_of[j] * GLS_FIELD_BLOCK, scratch + j * GLS_FIELD_BLOCK,
                   GLS_FIELD_BLOCK * sizeof *rows);
    }
    memset(rows + k * GLS_FIELD_BLOCK, 0, (f->n_channels - k) * GLS_FIELD_BLOCK * sizeof *rows);
}

/* Largest value of the source's image: the largest amplitude, or the largest magnitude of a coefficient. */
static float largest_value(const gls_odf_source *odf)
{
    size_t n = gls_grid_voxels(&odf->image->grid) * odf->image->n_volumes;
    float largest = 0;
#pragma omp parallel for reduction(max : largest) schedule(static)
    for (size_t i = 0; i < n; i++) {
        float x = odf->is_sh ? fabsf(odf->image->data[i]) : odf->image->data[i];
        if (isfinite(x) && x > largest) largest = x;
    }
    return largest;
}

/* Whether a source has SH coefficients that may be interpolated: of even degrees only, with an antipodal sphere, and
 * not if amplitudes are normalised in each voxel. */
static bool has_coefficients(const gls_odf_source *odf)
{
    return odf->is_sh && !odf->full && !odf->options.normalise && odf->sphere->antipodal;
}

gls_odf_interpolation gls_odf_field_interpolation(bool coefficients, const gls_track_params *params,
                                                  const gls_odf_source *odf)
{
    bool wanted = params->odf_interpolation != GLS_ODF_INTERPOLATE_AMPLITUDES;
    return wanted && coefficients && has_coefficients(odf) ? GLS_ODF_INTERPOLATE_COEFFICIENTS
                                                           : GLS_ODF_INTERPOLATE_AMPLITUDES;
}

gls_status gls_odf_field_check(const gls_track_params *params, const gls_track_input *input, bool coefficients)
{
    GLS_REQUIRE(input->odf);
    gls_status status =
        gls_grid_require_equal(&input->odf->image->grid, "the ODFs", &input->stop_map->grid, "the stop map");
    if (status || params->odf_interpolation != GLS_ODF_INTERPOLATE_COEFFICIENTS ||
        (coefficients && has_coefficients(input->odf)))
        return status;
    return gls_fail(GLS_ERR_ARGUMENT,
                    "--odf-interpolation coefficients: needs spherical harmonics of even orders and an antipodally "
                    "symmetric sphere");
}

const gls_sphere *gls_odf_field_sphere(const gls_track_input *input)
{
    return input->odf->sphere;
}

const gls_sphere *gls_no_sphere(const gls_track_input *input)
{
    static double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static uint32_t first[] = {0, 2, 4, 6}, neighbour[] = {1, 2, 0, 2, 0, 1};
    static const gls_sphere octahedron = {
        .n = 3, .vertex = axes, .antipodal = true, .first = first, .neighbour = neighbour};
    (void)input;
    return &octahedron;
}

gls_status gls_odf_field_fill(gls_model *const *models, size_t n, const gls_track_input *input, gls_odf_values values,
                              const uint32_t *index_of, size_t *failed)
{
    const gls_odf_source *odf = input->odf;
    const bool coefficients = values == GLS_ODF_COEFFICIENTS;
    odf_fill f = {.odf = odf,
                  .scale = 1,
                  .per_voxel = values == GLS_ODF_NORMALISED,
                  .n_channels = models[0]->field.plan.n_channels,
                  .index_of = coefficients ? index_of : NULL};
    const gls_field_source source = {.block = coefficients ? coefficient_block : amplitude_block,
                                     .user = &f,
                                     .n_scratch = GLS_ODF_SCRATCH,
                                     .index_of = coefficients ? NULL : index_of};
    gls_field *field[GLS_TRACKER_MAX_DEVICES];
    float largest = largest_value(odf);
    if (largest <= 0)
        return gls_fail(GLS_ERR_INPUT, "the ODFs have no value above 0: all values are 0, negative or not finite");
    if (!f.per_voxel) {
        /* Only the largest coefficient is known, not the largest amplitude. An amplitude is the sum of k coefficients
         * times basis functions, whose root mean square over the sphere is 1 / sqrt(4 pi). Headroom for a factor of
         * sqrt(k) between amplitudes and coefficients keeps amplitudes in the range of half floats. */
        double headroom = odf->is_sh && !coefficients ? sqrt((double)odf->parts->n_inputs) : 1;
        f.scale =
            odf->options.normalise ? VOLUME_MAXIMUM : gls_field_scale(largest, (float)(VOLUME_MAXIMUM / headroom));
        for (size_t i = 0; i < n; i++) models[i]->scale = f.scale;
    }
    for (size_t i = 0; i < n; i++) field[i] = &models[i]->field;
    return gls_field_fill(field, n, &input->stop_map->grid, &source, failed);
}
