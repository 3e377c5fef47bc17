/* Writes the numbers of a sphere and of its spherical harmonics as rows of shader source. A row is a call of a macro
 * that the shader defines; the macros are described in the unrolled files of glsl/odf and glsl/odf/sh_looped.glsl. */
#include "track/shader/kernel_inputs.h"

#include <glslines/sh.h>

#include <math.h>
#include <stdlib.h>

#include "util/status.h"

/* Appends MACRO(index, value) as a line. */
static void append_call(gls_text *out, const char *macro, size_t index, double value)
{
    char text[40];
    gls_text_printf(out, "%s(%zu, %s)\n", macro, index, gls_glsl_float(value, text));
}

/* Whether two values of basis functions are equal but for rounding. */
static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9;
}

/* Appends the terms of one orbit, sorted into classes by the signs of a basis function under x -> -x and y -> -y. */
static void append_orbit(gls_text *out, const double *y, size_t k, size_t v, size_t size)
{
    static const char *const classes[2][2] = {{"PP", "PM"}, {"MP", "MM"}};
    gls_text_puts(out, "ORBIT\n");
    for (size_t j = 0; j < k; j++) {
        double value = y[v * k + j];
        if (fabs(value) < 1e-12) continue;
        /* The orbit's members are its first vertex, then the mirror images by x, by y and by both. Terms of 0 are left
         * out. */
        bool minus_x = size == 4 && !same(y[(v + 1) * k + j], value),
             minus_y = size == 4 && !same(y[(v + 2) * k + j], value);
        bool minus = size == 2 && !same(y[(v + 1) * k + j], value);
        append_call(out, size == 2 ? (minus ? "MM" : "PP") : classes[minus_x][minus_y], j, value);
    }
    gls_text_printf(out, "ORBIT_END%zu(%zu)\n", size, v);
}

gls_status gls_rows_odf(gls_text *out, const gls_sphere *sphere, int sh_order)
{
    size_t k = gls_sh_count(sh_order);
    double *y = malloc(sphere->n * k * sizeof *y);
    if (!y) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    gls_status status =
        gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order, (const double(*)[3])sphere->vertex, sphere->n, y);
    size_t v = 0;
    for (size_t o = 0; !status && o < sphere->n_orbits; o++) {
        append_orbit(out, y, k, v, sphere->orbit_size[o]);
        v += sphere->orbit_size[o];
    }
    /* Vertices that belong to no orbit. */
    for (; !status && v < sphere->n; v++) append_orbit(out, y, k, v, 1);
    free(y);
    return status;
}

gls_status gls_rows_orbit_terms(gls_text *out, int sh_order)
{
    /* points off all mirror planes, so that their values show the signs */
    static const double directions[3][3] = {{0.36, 0.48, 0.8}, {-0.36, 0.48, 0.8}, {0.36, -0.48, 0.8}};
    static const char *const classes[2][2] = {{"pp", "pm"}, {"mp", "mm"}};
    size_t k = gls_sh_count(sh_order);
    double *y = malloc(3 * k * sizeof *y);
    if (!y) return gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    gls_status status = gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order, directions, 3, y);
    for (size_t j = 0; j < k && !status; j++) {
        if (j % 4 == 0) gls_text_printf(out, "QUAD(%zu)\n", j / 4);
        gls_text_printf(out, "TERM(%s, %zu, %c)\n", classes[!same(y[k + j], y[j])][!same(y[2 * k + j], y[j])], j,
                        "xyzw"[j % 4]);
        if (j % 4 == 3 || j + 1 == k) gls_text_puts(out, "QUAD_END\n");
    }
    free(y);
    return status;
}

void gls_rows_peaks(gls_text *out, const gls_sphere *sphere)
{
    for (size_t v = 0; v < sphere->n; v++) {
        const uint32_t *neighbour = sphere->neighbour + sphere->first[v];
        uint32_t n = sphere->first[v + 1] - sphere->first[v];
        if (v % 32 == 0) gls_text_printf(out, "PEAK_WORD(%zu)\n", v / 32);
        /* One macro for each usual number of neighbours; the poles of some spheres have more. */
        if (n >= 3 && n <= 7) {
            gls_text_printf(out, "VERTEX%u(%zu, 0x%xu", n, v, 1u << (v % 32));
            for (uint32_t i = 0; i < n; i++) gls_text_printf(out, ", %u", neighbour[i]);
            gls_text_puts(out, ")\n");
        } else {
            gls_text_printf(out, "VERTEX_MORE(%zu, 0x%xu)\n", v, 1u << (v % 32));
            for (uint32_t i = 0; i < n; i++) gls_text_printf(out, "MORE(%u)\n", neighbour[i]);
            gls_text_printf(out, "VERTEX_MORE_END(%zu, 0x%xu)\n", v, 1u << (v % 32));
        }
        if (v % 32 == 31 || v + 1 == sphere->n) gls_text_printf(out, "PEAK_WORD_END(%zu)\n", v / 32);
    }
}

void gls_rows_vertices(gls_text *out, const gls_sphere *sphere)
{
    for (size_t v = 0; v < sphere->n; v++) {
        if (v % 32 == 0) gls_text_printf(out, "CONE(%zu)\n", v / 32);
        gls_text_printf(out, "VERTEX(%zu, 0x%xu)\n", v, 1u << (v % 32));
    }
}

void gls_rows_axes(gls_text *out, const gls_sphere *sphere)
{
    char text[3][40];
    for (size_t v = 0; v < sphere->n; v++) {
        for (int a = 0; a < 3; a++) gls_glsl_float((float)sphere->vertex[v][a], text[a]);
        gls_text_printf(out, "%s(%s, %s, %s)\n", v + 1 < sphere->n ? "AXIS" : "LAST_AXIS", text[0], text[1], text[2]);
    }
}
