/* Fields of SH coefficients for getters along single directions (ifod1, ifod2, sdstream), and the recurrences that
 * evaluate SH in a shader: see glsl/odf/sh_direction.glsl for what the rows compute. */
#include "track/getter/odf_field.h"

#include <math.h>

#include "dwi/odf_parts.h"
#include "track/field/field.h"
#include "util/status.h"

/* Appends MACRO(value, ...) with n values as a line. */
static void append_call(gls_text *out, const char *macro, const double *value, int n)
{
    char text[40];
    gls_text_printf(out, "%s(", macro);
    for (int i = 0; i < n; i++) gls_text_printf(out, "%s%s", i ? ", " : "", gls_glsl_float(value[i], text));
    gls_text_puts(out, ")\n");
}

/* Coefficient a(l) of the recurrence z P(l) = a(l + 1) P(l + 1) + a(l) P(l - 1) of the orthonormal functions P of order
 * m. */
static double factor(int l, int m)
{
    return sqrt(((double)l * l - (double)m * m) / (4.0 * l * l - 1));
}

/* Channels are numbered as the rows need them, so that a shader may read a tile when its turn comes. */
static void find_channels(int order, uint32_t *channel)
{
    uint32_t n = 0;
    for (int m = 0; m <= order; m++)
        for (int l = m + m % 2; l <= order; l += 2) {
            int zonal = l * (l + 1) / 2;
            channel[zonal - m] = n++;
            if (m > 0) channel[zonal + m] = n++;
        }
}

/* Rows of source written so far, and the channel that the next row reads. */
typedef struct sh_rows {
    gls_text text;
    uint32_t channel, tiles_per_texture;
} sh_rows;

/* Appends a row for the next channel, and in front of it SH_TILE where the channel begins a tile. */
static void append_channel(sh_rows *rows, const char *macro)
{
    uint32_t c = rows->channel++, tile = c / 4;
    if (c % 4 == 0)
        gls_text_printf(&rows->text, "SH_TILE(%u, %u)\n", tile / rows->tiles_per_texture,
                        tile % rows->tiles_per_texture);
    gls_text_printf(&rows->text, "%s(%u)\n", macro, c);
}

/* Appends the rows of the functions of order m, without their factor (x + iy)^m. first: the constant function of degree
 * m. */
static void append_order(sh_rows *rows, int order, int m, double first)
{
    gls_text *out = &rows->text;
    int l = m + m % 2;
    append_call(out, l == m ? "SH_FIRST" : "SH_FIRST_Z", &(double){l == m ? first : first * sqrt(2 * m + 3)}, 1);
    for (; l <= order; l += 2) {
        append_channel(rows, m == 0 ? "SH_ZONAL" : "SH_COSINE");
        if (m > 0) append_channel(rows, "SH_SINE");
        /* Two steps of the recurrence at once: from degrees l and l - 2 to l + 2. */
        double a = factor(l + 1, m), b = l > 0 ? factor(l, m) : 0, f = 1 / (factor(l + 2, m) * a),
               c = l > m ? factor(l - 1, m) : 0;
        if (l + 2 <= order) append_call(out, "SH_NEXT", (double[]){f, -(a * a + b * b) * f, -b * c * f}, 3);
    }
    if (m > 0) gls_text_puts(out, "SH_ORDER_END\n");
}

/* Returns the rows for the basis GLS_SH_DESCOTEAUX07_LEGACY: m < 0 has the cosine, and odd orders are negative. */
static char *rows_of(int order, const gls_field_plan *field)
{
    sh_rows rows = {.tiles_per_texture = field->textures.tiles_per};
    double first = sqrt(0.25 / acos(-1.0));
    for (int m = 0; m <= order; m++) {
        if (m > 0) {
            gls_text_puts(&rows.text, "SH_TURN\n");
            first *= -sqrt((2.0 * m + 1) / (2.0 * m)) * (m == 1 ? sqrt(2) : 1);
        }
        append_order(&rows, order, m, first);
    }
    return gls_text_take(&rows.text);
}

gls_status gls_sh_field_check(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->odf);
    if (gls_odf_field_interpolation(true, &(gls_track_params){.dg = params->dg}, input->odf) !=
        GLS_ODF_INTERPOLATE_COEFFICIENTS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "ifod1, ifod2 and sdstream need symmetric ODFs as spherical harmonics of even orders");
    return gls_odf_field_check(params, input, false);
}

gls_status gls_sh_field_fill(gls_model *const *models, size_t n, const gls_track_params *params,
                             const gls_track_input *input, size_t *failed)
{
    uint32_t channel[(GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2];
    (void)params;
    find_channels(input->odf->order, channel);
    return gls_odf_field_fill(models, n, input, true, channel, failed);
}

gls_status gls_sh_field_plan(const gls_model_request *request, gls_model_plan *model)
{
    const gls_odf_source *odf = request->input->odf;
    gls_define_list *d = &model->defines;
    size_t n = odf->parts->n_inputs;
    gls_status status =
        gls_textures_plan(&request->input->stop_map->grid, (uint32_t)n,
                          request->params->precision == GLS_PRECISION_FLOAT ? GLS_TEXTURE_RGBA32F : GLS_TEXTURE_RGBA16F,
                          request->limits, request->n_units, &model->field);
    if (status) return status;
    gls_define_int(d, "VOLUME_CHANNELS", (int64_t)(n + 3) / 4 * 4,
                   "number of coefficients, rounded up to whole tiles of four");
    gls_define_slot(d, "sh_rows", rows_of(odf->order, &model->field),
                    "polynomials of the basis functions, order by order");
    return GLS_OK;
}
