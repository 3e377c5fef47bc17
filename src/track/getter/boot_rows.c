/* The bootstrap's matrices as rows of source, for one invocation. */
#include "track/getter/boot_parts.h"

#include <glslines/sh.h>

#include "track/shader/defines.h"

static void put(gls_text *out, const char *macro, size_t index, double value)
{
    char text[40];
    gls_text_printf(out, "%s(%zu, %s)\n", macro, index, gls_glsl_float(value, text));
}

/* Measurements whose rows are interleaved. Each coefficient is loaded, and each sum of the fit loaded and stored, once
 * for all of them: a fifth less code at order 8, and code is what a CPU renderer waits for. Each sum keeps its order.
 */
#define BLOCK 8

/* The measurements from `first` on whose signals are begun: the hat's part of these, and what follows from them. */
static void put_block(gls_text *out, const gls_qball *qball, size_t first)
{
    size_t n = qball->n - first < BLOCK ? qball->n - first : BLOCK;
    char text[40];
    for (size_t j = 0; j < qball->k; j++)
        for (size_t i = 0; i < n; i++)
            gls_text_printf(out, "HAT(%zu, %zu, %s)\n", i, j,
                            gls_glsl_float(qball->basis[(first + i) * qball->k + j], text));
    for (size_t i = 0; i < n; i++) gls_text_printf(out, "FIT_BEGIN(%zu)\n", i);
    for (size_t j = 0; j < qball->k; j++) {
        bool first_of_degree = j == 0 || gls_sh_degree(j) != gls_sh_degree(j - 1);
        for (size_t i = 0; i < n && first_of_degree; i++)
            gls_text_printf(out, "DEGREE(%zu, %s)\n", i, gls_glsl_float(qball->laplacian[j], text));
        for (size_t i = 0; i < n; i++)
            gls_text_printf(out, "FIT(%zu, %zu, %s)\n", i, j,
                            gls_glsl_float(qball->fit[j * qball->n + first + i], text));
    }
    gls_text_puts(out, "END\n");
}

void gls_boot_rows_resample(gls_text *out, const gls_qball *qball)
{
    static const char component[] = "xyzw";
    for (size_t first = 0; first < qball->n; first += BLOCK) {
        gls_text_puts(out, "BEGIN\n");
        for (size_t i = first; i < first + BLOCK && i < qball->n; i++) {
            if (i % 8 == 0) gls_text_printf(out, "DRAW(%zu)\n", i / 8);
            if (i % 2 == 0)
                gls_text_printf(out, "FIRST(words.%c)\n", component[i % 8 / 2]);
            else
                gls_text_puts(out, "SECOND\n");
            gls_text_printf(out, "RESAMPLED(%zu)\n", i - first);
        }
        put_block(out, qball, first);
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
    char text[40];
    for (size_t first = 0; first < qball->n; first += BLOCK) {
        gls_text_puts(out, "BEGIN\n");
        for (size_t i = first; i < first + BLOCK && i < qball->n; i++)
            gls_text_printf(out, "MEASURED(%zu, %zu, %s)\n", i - first, i,
                            gls_glsl_float(1 / qball->leverage_scale[i], text));
        put_block(out, qball, first);
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
