/* Fields of SH coefficients for getters along single directions, and the recurrences that evaluate SH in a shader. */
#include "track/getter/odf_field.h"

#include <math.h>

#include "dwi/odf_parts.h"
#include "track/field/field.h"
#include "util/status.h"

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

/* Rows of the functions of order m, without their factor (x + iy)^m. first: the constant function of degree m. */
static void append_order(gls_text *out, int order, int m, double first)
{
    int l = m + m % 2;
    append_call(out, l == m ? "SH_FIRST" : "SH_FIRST_Z", &(double){l == m ? first : first * sqrt(2 * m + 3)}, 1);
    for (; l <= order; l += 2) {
        int j = l * (l + 1) / 2;
        if (m == 0)
            gls_text_printf(out, "SH_ZONAL(%d)\n", j);
        else
            gls_text_printf(out, "SH_PAIR(%d, %d)\n", j - m, j + m);
        double a = factor(l + 1, m), b = l > 0 ? factor(l, m) : 0, f = 1 / (factor(l + 2, m) * a),
               c = l > m ? factor(l - 1, m) : 0;
        if (l + 2 <= order) append_call(out, "SH_NEXT", (double[]){f, -(a * a + b * b) * f, -b * c * f}, 3);
    }
    if (m > 0) gls_text_puts(out, "SH_ORDER_END\n");
}

/* Rows for the basis GLS_SH_DESCOTEAUX07_LEGACY: m < 0 has the cosine, and odd orders are negative. */
static char *rows_of(int order)
{
    gls_text out = {0};
    double first = sqrt(0.25 / acos(-1.0));
    for (int m = 0; m <= order; m++) {
        if (m > 0) {
            gls_text_puts(&out, "SH_TURN\n");
            first *= -sqrt((2.0 * m + 1) / (2.0 * m)) * (m == 1 ? sqrt(2) : 1);
        }
        append_order(&out, order, m, first);
    }
    return gls_text_take(&out);
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
    (void)params;
    return gls_odf_field_fill(models, n, input, true, failed);
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
    gls_define_int(d, "VOLUME_CHANNELS", (int64_t)(n + 3) / 4 * 4, "coefficients in whole tiles");
    gls_define_slot(d, "sh_rows", rows_of(odf->order), "polynomials of the basis functions, order by order");
    return GLS_OK;
}
