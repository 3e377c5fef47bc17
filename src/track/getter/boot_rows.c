/* The bootstrap's matrices as rows of source, for one invocation. */
#include "track/getter/boot_parts.h"

#include <glslines/sh.h>

#include "track/shader/defines.h"

static void put(gls_text *out, const char *macro, size_t index, double value)
{
    char text[40];
    gls_text_printf(out, "%s(%zu, %s)\n", macro, index, gls_glsl_float(value, text));
}

/* The part of a measurement's row from its signal s on. */
static void put_fit(gls_text *out, const gls_qball *qball, size_t i)
{
    char text[40];
    gls_text_puts(out, "FIT_BEGIN\n");
    for (size_t j = 0; j < qball->k; j++) {
        bool first_of_degree = j == 0 || gls_sh_degree(j) != gls_sh_degree(j - 1);
        if (first_of_degree) gls_text_printf(out, "DEGREE(%s)\n", gls_glsl_float(qball->laplacian[j], text));
        put(out, "FIT", j, qball->fit[j * qball->n + i]);
    }
    gls_text_puts(out, "END\n");
}

static void put_hat(gls_text *out, const gls_qball *qball, size_t i)
{
    for (size_t j = 0; j < qball->k; j++) put(out, "HAT", j, qball->basis[i * qball->k + j]);
}

void gls_boot_rows_resample(gls_text *out, const gls_qball *qball)
{
    static const char component[] = "xyzw";
    for (size_t i = 0; i < qball->n; i++) {
        if (i % 8 == 0) gls_text_printf(out, "DRAW(%zu)\n", i / 8);
        if (i % 2 == 0)
            gls_text_printf(out, "FIRST(words.%c)\n", component[i % 8 / 2]);
        else
            gls_text_puts(out, "SECOND\n");
        gls_text_printf(out, "BEGIN(%zu)\nRESAMPLED\n", i);
        put_hat(out, qball, i);
        put_fit(out, qball, i);
    }
}

static double sum_of_weights(const gls_qball *qball)
{
    double sum = 0;
    for (size_t i = 0; i < qball->n; i++) sum += 1 / qball->leverage_scale[i];
    return sum;
}

void gls_boot_measured_weights(const gls_qball *qball, double *mean_weight, double *measured_weight)
{
    double sum = sum_of_weights(qball);
    for (size_t i = 0; i < qball->n; i++) {
        measured_weight[i] = 1 / qball->leverage_scale[i];
        mean_weight[i] = measured_weight[i] / sum;
    }
}

void gls_boot_rows_mean(gls_text *out, const gls_qball *qball)
{
    double sum = sum_of_weights(qball);
    for (size_t i = 0; i < qball->n; i++) put(out, "MEAN", i, 1 / qball->leverage_scale[i] / sum);
}

void gls_boot_rows_measured(gls_text *out, const gls_qball *qball)
{
    for (size_t i = 0; i < qball->n; i++) {
        gls_text_printf(out, "BEGIN(%zu)\n", i);
        put(out, "MEASURED", i, 1 / qball->leverage_scale[i]);
        put_hat(out, qball, i);
        put_fit(out, qball, i);
    }
}

void gls_boot_rows_scale(gls_text *out, const gls_qball *qball)
{
    for (size_t j = 0; j < qball->k; j++) {
        if (j == 0 && qball->options.model == GLS_QBALL_CSA)
            gls_text_puts(out, "FIXED(0, 0.28209479177)\n");
        else
            put(out, "SCALE", j, qball->fit_scale[j]);
    }
}
