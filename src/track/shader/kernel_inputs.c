/* Inputs of kernels besides records: definitions and slot contents for their sources, rows of source, and the tables of
 * the model buffer. A failure for lack of memory, or of room in a list, is kept in list->failed or tables->failed, so
 * that callers check once, before they load a kernel. */
#include "track/shader/kernel_inputs.h"

#include <glslines/sh.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "util/status.h"

/* --- Definitions and slot contents. */

/* Adds an entry to the list; takes ownership of text. reason: a few words on the value, for those who read the composed
 * source. */
static void add(gls_define_list *list, const char *name, char *text, bool is_slot, const char *reason)
{
    if (!text || list->n == sizeof list->define / sizeof list->define[0]) {
        list->failed = true;
        free(text);
        return;
    }
    list->owned[list->n] = text;
    list->define[list->n++] = (gls_define){name, text, is_slot, reason};
}

const char *gls_glsl_float(double value, char text[40])
{
    gls_snprintf(text, 38, "%.9g", value);
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    return text;
}

void gls_define_int(gls_define_list *list, const char *name, int64_t value, const char *reason)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    add(list, name, gls_text_copy(text), false, reason);
}

void gls_define_float(gls_define_list *list, const char *name, double value, const char *reason)
{
    char text[40];
    add(list, name, gls_text_copy(gls_glsl_float(value, text)), false, reason);
}

void gls_define_text(gls_define_list *list, const char *name, char *text, const char *reason)
{
    add(list, name, text, false, reason);
}

void gls_define_slot(gls_define_list *list, const char *name, char *text, const char *reason)
{
    add(list, name, text, true, reason);
}

void gls_define_file(gls_define_list *list, const char *name, const char *file, const char *reason)
{
    gls_text text = {0};
    gls_text_printf(&text, "#include \"%s\"\n", file);
    add(list, name, gls_text_take(&text), true, reason);
}

void gls_define_loops(gls_define_list *list, const char *name, const char *base, bool looped)
{
    gls_text text = {0};
    gls_text_printf(&text, "#include \"%s_%s.glsl\"\n", base, looped ? "looped" : "unrolled");
    add(list, name, gls_text_take(&text), true,
        looped ? "loops, shared by the lanes of a streamline" : "written out for one invocation");
}

void gls_define_cut(gls_define_list *list, size_t n)
{
    while (list->n > n) free(list->owned[--list->n]);
}

void gls_define_finish(gls_define_list *list)
{
    gls_define_cut(list, 0);
    *list = (gls_define_list){0};
}

/* --- Rows of source: the numbers of a sphere and of its spherical harmonics. A row is a call of a macro that the
 * shader defines; the macros are described in the unrolled files of glsl/odf and glsl/odf/sh_looped.glsl. */

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

/* Appends the terms of the orbit of `size` vertices that begins with vertex v. The class of a term in an orbit of 4
 * says whether its basis function keeps (P) or changes (M) its sign under x -> -x and under y -> -y. An orbit of 2 has
 * PP, or MM if the sign differs at the second vertex; a single vertex has PP. */
static void append_orbit(gls_text *out, const double *y, size_t k, size_t v, size_t size)
{
    static const char *const classes[2][2] = {{"PP", "PM"}, {"MP", "MM"}};
    gls_text_puts(out, "ORBIT\n");
    for (size_t j = 0; j < k; j++) {
        double value = y[v * k + j];
        if (fabs(value) < 1e-12) continue;
        /* An orbit of 4 has its first vertex, then the mirror images by x, by y and by both. */
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
    /* a direction off the mirror planes and its images under x -> -x and y -> -y, whose values show the signs */
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

/* --- The model buffer: matrices, neighbours and reflection orbits of a sphere. Offsets become definitions, so that
 * shaders address tables by constants. */

/* Appends n words of 0. NULL, with s->failed set, if memory ran out. */
static uint32_t *table_words(gls_tables *s, size_t n)
{
    if (s->n + n > s->capacity) {
        size_t capacity = (s->n + n) * 2;
        uint32_t *grown = realloc(s->word, capacity * sizeof *grown);
        if (!grown) {
            s->failed = true;
            return NULL;
        }
        s->word = grown;
        s->capacity = capacity;
    }
    uint32_t *start = s->word + s->n;
    memset(start, 0, n * sizeof *start);
    s->n += n;
    return start;
}

uint32_t *gls_table_add(gls_tables *s, gls_define_list *defines, const char *name, size_t n)
{
    gls_define_int(defines, name, (int64_t)s->n, "where this table begins in the model buffer");
    return table_words(s, n);
}

uint32_t *gls_table_quads(gls_tables *s, gls_define_list *defines, const char *name, size_t n)
{
    gls_tables_fill_block(s);
    gls_define_int(defines, name, (int64_t)(s->n / 4), "where this table begins in the model buffer, in quads");
    return table_words(s, 4 * n);
}

/* Stores the bits of a float in a word. */
static void store_float(uint32_t *word, double value)
{
    float f = (float)value;
    memcpy(word, &f, sizeof f);
}

void gls_table_floats(gls_tables *s, gls_define_list *defines, const char *name, const double *value, size_t n)
{
    uint32_t *word = gls_table_add(s, defines, name, n);
    for (size_t i = 0; word && i < n; i++) store_float(&word[i], value[i]);
}

void gls_table_start(gls_tables *s, gls_define_list *defines, const gls_track_params *params,
                     const gls_track_input *input)
{
    double start[3];
    const bool given = gls_grid_direction(&input->stop_map->grid, params->seed_direction, start);
    gls_define_int(defines, "START_GIVEN", input->seeds_have_directions ? 2 : given,
                   "seed_direction is given (1), or each seed has a direction (2)");
    gls_table_floats(s, defines, "MODEL_START", start, 3);
}

void gls_table_matrix(gls_tables *s, gls_define_list *defines, const char *name, const double *value, size_t rows,
                      size_t columns)
{
    uint32_t *word = gls_table_quads(s, defines, name, (columns + 3) / 4 * rows);
    for (size_t i = 0; word && i < rows; i++)
        for (size_t j = 0; j < columns; j++) store_float(&word[(j / 4 * rows + i) * 4 + j % 4], value[i * columns + j]);
}

void gls_table_sphere(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, bool neighbours)
{
    gls_table_matrix(s, defines, "MODEL_VERTICES", sphere->vertex[0], sphere->n, 3);
    if (!neighbours) return;
    /* Neighbours lie in quads of eight 16-bit numbers: quad q of all vertices side by side, then quad q + 1. */
    size_t most = 1;
    for (size_t v = 0; v < sphere->n; v++)
        if (sphere->first[v + 1] - sphere->first[v] > most) most = sphere->first[v + 1] - sphere->first[v];
    size_t quads = (most + 7) / 8;
    gls_define_int(defines, "NEIGHBOUR_QUADS", (int64_t)quads,
                   "quads of eight neighbours that any vertex needs at most");
    uint32_t *word = gls_table_quads(s, defines, "MODEL_NEIGHBOURS", quads * sphere->n);
    for (size_t v = 0; word && v < sphere->n; v++)
        for (size_t m = 0; m < 8 * quads; m++) {
            /* pad with the vertex itself: it never decides whether the vertex is a maximum */
            size_t at = sphere->first[v] + m;
            uint32_t neighbour = at < sphere->first[v + 1] ? sphere->neighbour[at] : (uint32_t)v;
            word[(m / 8 * sphere->n + v) * 4 + m % 8 / 2] |= neighbour << (m % 2 * 16);
        }
}

/* Adds the matrix from SH coefficients to amplitudes at the vertices of the sphere: the values of coefficient 0 for all
 * vertices, then those of coefficient 1, and so on. */
static gls_status table_odf(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, int sh_order)
{
    size_t k = gls_sh_count(sh_order);
    uint32_t *word = gls_table_add(s, defines, "MODEL_ODF", k * sphere->n);
    double *y = malloc(k * sphere->n * sizeof *y);
    gls_status status = word && y ? gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order,
                                                  (const double(*)[3])sphere->vertex, sphere->n, y)
                                  : gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    for (size_t j = 0; !status && j < k; j++)
        for (size_t v = 0; v < sphere->n; v++) store_float(&word[j * sphere->n + v], y[v * k + j]);
    free(y);
    return status;
}

/* Index within an orbit of the mirror image of its first vertex, mirrored in x if turn_x and in y if turn_y. In an
 * orbit of 2 one coordinate is 0: the reflection of a coordinate 0 changes nothing; with z = 0 the reflections of x and
 * of y give the same axis. */
static uint32_t image_offset(const double first[3], size_t size, bool turn_x, bool turn_y)
{
    if (size == 4) return turn_x + 2u * turn_y;
    if (size == 1) return 0;
    if (fabs(first[0]) < 1e-9) return turn_y;
    if (fabs(first[1]) < 1e-9) return turn_x;
    return turn_x != turn_y;
}

gls_status gls_table_orbits(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, int sh_order)
{
    /* Orbits are used only if they cover the whole sphere. */
    size_t k = gls_sh_count(sh_order), n = 0;
    for (size_t o = 0; o < sphere->n_orbits; o++) n += sphere->orbit_size[o];
    size_t n_orbits = n == sphere->n ? sphere->n_orbits : 0;
    gls_define_int(defines, "N_ORBITS", (int64_t)n_orbits, "reflection orbits of the sphere; 0: not known");
    if (n_orbits == 0) return table_odf(s, defines, sphere, sh_order);
    double *y = malloc(k * sphere->n * sizeof *y);
    gls_status status =
        y ? gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order, (const double(*)[3])sphere->vertex, sphere->n, y)
          : gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    /* Keep the rows of the first vertices of orbits; the other rows follow by the signs of the basis functions. */
    for (size_t o = 0, v = 0; !status && o < n_orbits; v += sphere->orbit_size[o++])
        for (size_t j = 0; j < k; j++) y[o * k + j] = fabs(y[v * k + j]) < 1e-12 ? 0 : y[v * k + j];
    if (!status) gls_table_matrix(s, defines, "MODEL_ORBITS", y, n_orbits, k);
    uint32_t *word = !status ? gls_table_quads(s, defines, "MODEL_MEMBERS", n_orbits) : NULL;
    for (size_t o = 0, v = 0; word && o < n_orbits; v += sphere->orbit_size[o++])
        for (uint32_t image = 0; image < 4; image++)
            word[4 * o + image] =
                (uint32_t)v + image_offset(sphere->vertex[v], sphere->orbit_size[o], image & 1, image & 2);
    free(y);
    return status;
}

void gls_tables_fill_block(gls_tables *s)
{
    if (s->n % 4 > 0) table_words(s, 4 - s->n % 4);
}

gls_status gls_tables_upload(gls_tables *s, gls_device *device, gls_buffer **buffer)
{
    if (s->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    size_t bytes = s->n * sizeof *s->word;
    gls_status status =
        gls_buffer_create(device, s->uniform ? GLS_BUFFER_UNIFORM : GLS_BUFFER_STORAGE, bytes, "model", buffer);
    if (!status) status = gls_buffer_write(*buffer, 0, bytes, s->word);
    gls_tables_finish(s);
    return status;
}

void gls_tables_finish(gls_tables *s)
{
    free(s->word);
    *s = (gls_tables){0};
}
