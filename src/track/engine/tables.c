#include "track/engine/tables.h"

#include <glslines/sh.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

/* A float literal of GLSL: a decimal point always, whatever the locale. */
static const char *literal(double value, char text[32])
{
    snprintf(text, 32, "%.9g", value);
    char *comma = strchr(text, ',');
    if (comma) *comma = '.';
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    return text;
}

static void put(gls_text *out, const char *macro, size_t index, double value)
{
    char text[32];
    gls_text_printf(out, "%s(%zu, %s)\n", macro, index, literal(value, text));
}

void gls_table_tile_loops(gls_text *out, const gls_volume_plan *plan)
{
    for (uint32_t i = 0; i < plan->n_textures; i++) {
        uint32_t first = i * plan->tiles_per_texture, left = plan->n_tiles - first;
        gls_text_printf(out, "TILES(%u, %u, %u)\n", i, left < plan->tiles_per_texture ? left : plan->tiles_per_texture,
                        plan->tile_channels * first);
    }
}

/* The part of a measurement's row from its signal s on. */
static void put_fit(gls_text *out, const gls_qball *qball, size_t i)
{
    char text[32];
    gls_text_puts(out, "FIT_BEGIN\n");
    for (size_t j = 0; j < qball->k; j++) {
        bool first_of_degree = j == 0 || gls_sh_degree(j) != gls_sh_degree(j - 1);
        if (first_of_degree) gls_text_printf(out, "DEGREE(%s)\n", literal(qball->laplacian[j], text));
        put(out, "FIT", j, qball->fit[j * qball->n + i]);
    }
    gls_text_puts(out, "END\n");
}

static void put_hat(gls_text *out, const gls_qball *qball, size_t i)
{
    for (size_t j = 0; j < qball->k; j++) put(out, "HAT", j, qball->basis[i * qball->k + j]);
}

void gls_table_resample_rows(gls_text *out, const gls_qball *qball)
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

void gls_table_measured_weights(const gls_qball *qball, double *mean_weight, double *measured_weight)
{
    double sum = sum_of_weights(qball);
    for (size_t i = 0; i < qball->n; i++) {
        measured_weight[i] = 1 / qball->leverage_scale[i];
        mean_weight[i] = measured_weight[i] / sum;
    }
}

void gls_table_mean_rows(gls_text *out, const gls_qball *qball)
{
    double sum = sum_of_weights(qball);
    for (size_t i = 0; i < qball->n; i++) put(out, "MEAN", i, 1 / qball->leverage_scale[i] / sum);
}

void gls_table_measured_rows(gls_text *out, const gls_qball *qball)
{
    for (size_t i = 0; i < qball->n; i++) {
        gls_text_printf(out, "BEGIN(%zu)\n", i);
        put(out, "MEASURED", i, 1 / qball->leverage_scale[i]);
        put_hat(out, qball, i);
        put_fit(out, qball, i);
    }
}

void gls_table_scale_rows(gls_text *out, const gls_qball *qball)
{
    for (size_t j = 0; j < qball->k; j++) {
        if (j == 0 && qball->options.model == GLS_QBALL_CSA)
            gls_text_puts(out, "fitted[0] = 0.28209479177;\n");
        else
            put(out, "SCALE", j, qball->fit_scale[j]);
    }
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9;
}

/* Classes by the signs of a basis function under x -> -x and y -> -y. */
static void put_orbit(gls_text *out, const double *y, size_t k, size_t v, size_t size)
{
    static const char *const classes[2][2] = {{"PP", "PM"}, {"MP", "MM"}};
    gls_text_puts(out, "ORBIT\n");
    for (size_t j = 0; j < k; j++) {
        double value = y[v * k + j];
        if (fabs(value) < 1e-12) continue;
        bool minus_x = size == 4 && !same(y[(v + 1) * k + j], value),
             minus_y = size == 4 && !same(y[(v + 2) * k + j], value);
        bool minus = size == 2 && !same(y[(v + 1) * k + j], value);
        put(out, size == 2 ? (minus ? "MM" : "PP") : classes[minus_x][minus_y], j, value);
    }
    gls_text_printf(out, "ORBIT_END%zu(%zu)\n", size, v);
}

gls_status gls_table_odf_rows(gls_text *out, const gls_sphere *sphere, int sh_order)
{
    size_t k = gls_sh_count(sh_order);
    double *y = malloc(sphere->n * k * sizeof *y);
    if (!y) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    gls_status status =
        gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order, (const double(*)[3])sphere->vertex, sphere->n, y);
    size_t v = 0;
    for (size_t o = 0; status == GLS_OK && o < sphere->n_orbits; o++) {
        put_orbit(out, y, k, v, sphere->orbit_size[o]);
        v += sphere->orbit_size[o];
    }
    for (; status == GLS_OK && v < sphere->n; v++) put_orbit(out, y, k, v, 1);
    free(y);
    return status;
}

gls_status gls_table_orbit_terms(gls_text *out, int sh_order)
{
    /* any point off all planes tells the signs */
    static const double directions[3][3] = {{0.36, 0.48, 0.8}, {-0.36, 0.48, 0.8}, {0.36, -0.48, 0.8}};
    static const char *const classes[2][2] = {{"pp", "pm"}, {"mp", "mm"}};
    size_t k = gls_sh_count(sh_order);
    double *y = malloc(3 * k * sizeof *y);
    if (!y) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    gls_status status = gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order, directions, 3, y);
    for (size_t j = 0; j < k && status == GLS_OK; j++)
        gls_text_printf(out, "TERM(%s, %zu)\n", classes[!same(y[k + j], y[j])][!same(y[2 * k + j], y[j])], j);
    free(y);
    return status;
}

void gls_table_peak_rows(gls_text *out, const gls_sphere *sphere)
{
    for (size_t v = 0; v < sphere->n; v++) {
        const uint32_t *neighbour = sphere->neighbour + sphere->first[v];
        uint32_t n = sphere->first[v + 1] - sphere->first[v];
        if (v % 32 == 0) gls_text_printf(out, "WORD(%zu)\n", v / 32);
        if (n >= 3 && n <= 7) {
            gls_text_printf(out, "VERTEX%u(%zu, 0x%xu", n, v, 1u << (v % 32));
            for (uint32_t i = 0; i < n; i++) gls_text_printf(out, ", %u", neighbour[i]);
            gls_text_puts(out, ")\n");
        } else {
            gls_text_printf(out, "VERTEX_MORE(%zu, 0x%xu)\n", v, 1u << (v % 32));
            for (uint32_t i = 0; i < n; i++) gls_text_printf(out, "MORE(%u)\n", neighbour[i]);
            gls_text_printf(out, "VERTEX_MORE_END(%zu, 0x%xu)\n", v, 1u << (v % 32));
        }
        if (v % 32 == 31 || v + 1 == sphere->n) gls_text_printf(out, "WORD_END(%zu)\n", v / 32);
    }
}

void gls_table_vertex_rows(gls_text *out, const gls_sphere *sphere)
{
    for (size_t v = 0; v < sphere->n; v++) {
        if (v % 32 == 0) gls_text_printf(out, "CONE(%zu)\n", v / 32);
        gls_text_printf(out, "VERTEX(%zu, 0x%xu)\n", v, 1u << (v % 32));
    }
}
