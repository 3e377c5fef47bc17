#include "track/engine/sections.h"

#include <glslines/sh.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

static uint32_t *section_words(gls_sections *s, size_t n)
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

uint32_t *gls_section(gls_sections *s, gls_define_list *defines, const char *name, size_t n)
{
    gls_define_int(defines, name, (int64_t)s->n);
    return section_words(s, n);
}

static void put_float(uint32_t *word, double value)
{
    float f = (float)value;
    memcpy(word, &f, sizeof f);
}

void gls_section_floats(gls_sections *s, gls_define_list *defines, const char *name, const double *value, size_t n)
{
    uint32_t *word = gls_section(s, defines, name, n);
    for (size_t i = 0; word && i < n; i++) put_float(&word[i], value[i]);
}

void gls_section_sphere(gls_sections *s, gls_define_list *defines, const gls_sphere *sphere, bool neighbours)
{
    uint32_t *word = gls_section(s, defines, "MODEL_VERTICES", 3 * sphere->n);
    for (size_t v = 0; word && v < sphere->n; v++)
        for (size_t a = 0; a < 3; a++) put_float(&word[a * sphere->n + v], sphere->vertex[v][a]);
    if (!neighbours) return;
    size_t most = 0;
    for (size_t v = 0; v < sphere->n; v++)
        if (sphere->first[v + 1] - sphere->first[v] > most) most = sphere->first[v + 1] - sphere->first[v];
    gls_define_int(defines, "MAX_NEIGHBOURS", (int64_t)most);
    word = gls_section(s, defines, "MODEL_NEIGHBOURS", most * sphere->n);
    for (size_t v = 0; word && v < sphere->n; v++)
        for (size_t m = 0; m < most; m++) {
            /* vertices with fewer neighbours count themselves: that never decides */
            size_t at = sphere->first[v] + m;
            word[m * sphere->n + v] = at < sphere->first[v + 1] ? sphere->neighbour[at] : (uint32_t)v;
        }
}

gls_status gls_section_odf(gls_sections *s, gls_define_list *defines, const gls_sphere *sphere, int sh_order)
{
    size_t k = gls_sh_count(sh_order);
    uint32_t *word = gls_section(s, defines, "MODEL_ODF", k * sphere->n);
    double *y = malloc(k * sphere->n * sizeof *y);
    gls_status status = word && y ? gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order,
                                                  (const double(*)[3])sphere->vertex, sphere->n, y)
                                  : gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    for (size_t j = 0; status == GLS_OK && j < k; j++)
        for (size_t v = 0; v < sphere->n; v++) put_float(&word[j * sphere->n + v], y[v * k + j]);
    free(y);
    return status;
}

/* How far behind the first vertex of an orbit its mirror image lies: in an orbit of 2 one of the coordinates is 0, and
 * its reflection changes nothing. */
static uint32_t image_offset(const double first[3], size_t size, bool turn_x, bool turn_y)
{
    if (size == 4) return turn_x + 2u * turn_y;
    if (size == 1) return 0;
    if (fabs(first[0]) < 1e-9) return turn_y;
    if (fabs(first[1]) < 1e-9) return turn_x;
    return turn_x != turn_y;
}

gls_status gls_section_orbits(gls_sections *s, gls_define_list *defines, const gls_sphere *sphere, int sh_order)
{
    size_t k = gls_sh_count(sh_order), n = 0;
    for (size_t o = 0; o < sphere->n_orbits; o++) n += sphere->orbit_size[o];
    size_t n_orbits = n == sphere->n ? sphere->n_orbits : 0;
    gls_define_int(defines, "N_ORBITS", (int64_t)n_orbits);
    if (n_orbits == 0) return gls_section_odf(s, defines, sphere, sh_order);
    double *y = malloc(k * sphere->n * sizeof *y);
    gls_status status =
        y ? gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, sh_order, (const double(*)[3])sphere->vertex, sphere->n, y)
          : gls_fail(GLS_ERR_MEMORY, "out of memory for the ODF matrix");
    uint32_t *word = status == GLS_OK ? gls_section(s, defines, "MODEL_ORBITS", k * n_orbits) : NULL;
    for (size_t o = 0, v = 0; word && o < n_orbits; v += sphere->orbit_size[o++])
        for (size_t j = 0; j < k; j++)
            put_float(&word[j * n_orbits + o], fabs(y[v * k + j]) < 1e-12 ? 0 : y[v * k + j]);
    word = status == GLS_OK ? gls_section(s, defines, "MODEL_MEMBERS", n_orbits) : NULL;
    for (size_t o = 0, v = 0; word && o < n_orbits; v += sphere->orbit_size[o++]) {
        word[o] = (uint32_t)v;
        for (uint32_t image = 1; image < 4; image++)
            word[o] |= image_offset(sphere->vertex[v], sphere->orbit_size[o], image & 1, image & 2) << (14 + 2 * image);
    }
    free(y);
    return status;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void gls_section_cone(gls_sections *s, gls_define_list *defines, const gls_sphere *sphere, double max_angle)
{
    size_t words = (sphere->n + 31) / 32;
    double least = cos(max_angle * acos(-1.0) / 180) - 1e-12;
    gls_define_int(defines, "CONE_WORDS", (int64_t)words);
    uint32_t *word = gls_section(s, defines, "MODEL_CONE", words * sphere->n);
    for (size_t v = 0; word && v < sphere->n; v++)
        for (size_t u = 0; u < sphere->n; u++) {
            double c = dot(sphere->vertex[v], sphere->vertex[u]);
            if ((sphere->antipodal ? fabs(c) : c) >= least) word[v * words + u / 32] |= 1u << (u % 32);
        }
}

/* Side of the map: 18 KiB for an antipodal sphere, so that it fits into shared memory. */
#define NEAREST_SIZE 96

/* A part of the tables that come last in the model, so that they can be read as one. */
static uint32_t *section_table(gls_sections *s, gls_define_list *defines, const char *name, size_t n)
{
    gls_define_int(defines, name, (int64_t)(s->n - s->tables));
    return section_words(s, n);
}

void gls_section_tables_begin(gls_sections *s, gls_define_list *defines)
{
    s->tables = s->n;
    gls_define_int(defines, "MODEL_TABLES", (int64_t)s->n);
}

void gls_section_tables_end(gls_sections *s, gls_define_list *defines)
{
    gls_define_int(defines, "TABLE_WORDS", (int64_t)(s->n - s->tables));
}

static void cell_direction(size_t x, size_t y, double side, double d[3])
{
    double u = (2 * (double)x + 1) / NEAREST_SIZE - 1, v = (2 * (double)y + 1) / NEAREST_SIZE - 1;
    d[0] = side * (u + v) / 2;
    d[1] = side * (u - v) / 2;
    d[2] = side * (1 - fabs(d[0]) - fabs(d[1]));
    double norm = sqrt(dot(d, d));
    for (int a = 0; a < 3; a++) d[a] /= norm;
}

static uint32_t nearest(const gls_sphere *sphere, const double d[3])
{
    double best = -2;
    uint32_t found = 0;
    for (size_t v = 0; v < sphere->n; v++) {
        double c = dot(d, sphere->vertex[v]);
        if (sphere->antipodal) c = fabs(c);
        if (c > best) {
            best = c;
            found = (uint32_t)v;
        }
    }
    return found;
}

void gls_section_nearest(gls_sections *s, gls_define_list *defines, const gls_sphere *sphere, const uint32_t *slot)
{
    size_t rows = (sphere->antipodal ? 1 : 2) * (size_t)NEAREST_SIZE, words = rows * NEAREST_SIZE / 2;
    gls_define_int(defines, "NEAREST_SIZE", NEAREST_SIZE);
    gls_define_int(defines, "NEAREST_WORDS", (int64_t)words);
    uint32_t *word = section_table(s, defines, "TABLE_NEAREST", words);
    if (!word) return;
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < NEAREST_SIZE; x++) {
            double d[3];
            cell_direction(x, y % NEAREST_SIZE, y < NEAREST_SIZE ? 1 : -1, d);
            uint32_t v = nearest(sphere, d);
            word[(y * NEAREST_SIZE + x) / 2] |= (slot ? slot[v] : v) << (x % 2 * 16);
        }
}

/* The disc of curvatures: its centre, a ring of 8 and a ring of 15 on the rim, with the triangles between them. */
enum {
    INNER = 8,
    OUTER = 15,
    DISC_VERTICES = 1 + INNER + OUTER,
    DISC_FACES = INNER + INNER + OUTER,
    DISC_FACES_POWER = 32,
    DISC_CHUNK = 9
};
_Static_assert(DISC_FACES <= DISC_FACES_POWER, "the search among faces halves a power of two");
#define INNER_RADIUS 0.543

static void disc_faces(uint32_t face[DISC_FACES][3])
{
    size_t n = 0;
    for (uint32_t i = 0; i < INNER; i++) {
        uint32_t corner[3] = {0, 1 + i, 1 + (i + 1) % INNER};
        memcpy(face[n++], corner, sizeof corner);
    }
    /* between the rings: go round, each time on the ring whose next vertex comes first */
    for (uint32_t i = 0, o = 0; i < INNER || o < OUTER;) {
        uint32_t inner = 1 + i % INNER, outer = 1 + INNER + o % OUTER;
        bool advance_outer = i == INNER || (o < OUTER && (2 * o + 1) * INNER <= (2 * i + 1) * OUTER);
        uint32_t third = advance_outer ? 1 + INNER + (o + 1) % OUTER : 1 + (i + 1) % INNER;
        uint32_t corner[3] = {inner, outer, third};
        memcpy(face[n++], corner, sizeof corner);
        if (advance_outer)
            o++;
        else
            i++;
    }
}

/* Planes of a number each, for sample q of vertex v at (q - first) DISC_VERTICES + v. */
static void section_arcs(gls_sections *s, gls_define_list *defines, const double (*vertex)[2], const gls_probe *probe)
{
    size_t n = DISC_VERTICES * (size_t)(probe->quality + 1 - probe->first_sample), n_parts = probe->bends ? 8 : 6;
    uint32_t *word = section_table(s, defines, "TABLE_ARCS", n_parts * n);
    for (size_t i = 0; word && i < n; i++) {
        const double *at = vertex[i % DISC_VERTICES];
        double radius = hypot(at[0], at[1]), k = radius * probe->max_curvature,
               length = probe->step * ((double)(i / DISC_VERTICES) + probe->first_sample), half = sin(k * length / 2);
        bool straight = k < 1e-12;
        double bend[2] = {straight ? 1 : at[0] / radius, straight ? 0 : at[1] / radius},
               along = straight ? length : sin(k * length) / k, across = straight ? 0 : 2 * half * half / k;
        double part[8] = {along,
                          across * bend[0],
                          across * bend[1],
                          cos(k * length),
                          sin(k * length) * bend[0],
                          sin(k * length) * bend[1],
                          bend[0],
                          bend[1]};
        for (size_t j = 0; j < n_parts; j++) put_float(&word[j * n + i], part[j]);
    }
}

static void section_faces(gls_sections *s, gls_define_list *defines, const double (*vertex)[2],
                          const uint32_t face[DISC_FACES][3], double area_sum)
{
    double area[DISC_FACES], total = 0;
    uint32_t *word = section_table(s, defines, "TABLE_FACES", 8 * DISC_FACES);
    for (size_t f = 0; f < DISC_FACES; f++) {
        const double *a = vertex[face[f][0]], *b = vertex[face[f][1]], *c = vertex[face[f][2]];
        area[f] = fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2;
        total += area[f];
    }
    for (size_t f = 0; word && f < DISC_FACES; f++) {
        const double *a = vertex[face[f][0]], *b = vertex[face[f][1]], *c = vertex[face[f][2]];
        double part[8] = {0,          area[f] / total * area_sum, a[0], a[1], b[0] - a[0], b[1] - a[1], c[0] - a[0],
                          c[1] - a[1]};
        word[f] = face[f][0] | face[f][1] << 8 | face[f][2] << 16;
        for (size_t j = 1; j < 8; j++) put_float(&word[j * DISC_FACES + f], part[j]);
    }
}

void gls_section_disc(gls_sections *s, gls_define_list *defines, double area_sum, const gls_probe *probe)
{
    double vertex[DISC_VERTICES][2] = {{0, 0}};
    const double turn = 2 * acos(-1.0);
    uint32_t face[DISC_FACES][3];
    for (size_t i = 0; i < INNER; i++) {
        vertex[1 + i][0] = INNER_RADIUS * cos(turn * (double)i / INNER);
        vertex[1 + i][1] = INNER_RADIUS * sin(turn * (double)i / INNER);
    }
    for (size_t i = 0; i < OUTER; i++) {
        vertex[1 + INNER + i][0] = cos(turn * (double)i / OUTER);
        vertex[1 + INNER + i][1] = sin(turn * (double)i / OUTER);
    }
    disc_faces(face);
    gls_define_int(defines, "N_DISC_VERTICES", DISC_VERTICES);
    gls_define_int(defines, "N_DISC_FACES", DISC_FACES);
    gls_define_int(defines, "DISC_FACES_POWER", DISC_FACES_POWER);
    gls_define_int(defines, "DISC_CHUNK", DISC_CHUNK);
    section_arcs(s, defines, (const double(*)[2])vertex, probe);
    section_faces(s, defines, (const double(*)[2])vertex, (const uint32_t(*)[3])face, area_sum);
}

uint64_t gls_section_ptt_bytes(bool antipodal, int quality, bool several)
{
    uint64_t nearest = (antipodal ? 1 : 2) * (uint64_t)NEAREST_SIZE * NEAREST_SIZE / 2,
             samples = DISC_VERTICES * (uint64_t)(quality + several);
    return 4 * (nearest + (several ? 8 : 6) * samples + 8 * DISC_FACES);
}

uint64_t gls_section_ptt_slot_bytes(int quality)
{
    uint64_t places = (uint64_t)quality + 1, disc = DISC_VERTICES * (places < DISC_CHUNK ? places : DISC_CHUNK),
             candidate = places + DISC_FACES;
    return 4 * ((disc > candidate ? disc : candidate) + DISC_VERTICES);
}

void gls_sections_fill_block(gls_sections *s)
{
    section_words(s, (4 - s->n % 4) % 4);
}

gls_status gls_sections_upload(gls_sections *s, gls_device *device, gls_buffer **buffer)
{
    if (s->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the model");
    size_t bytes = s->n * sizeof *s->word;
    gls_status status =
        gls_buffer_create(device, s->uniform ? GLS_BUFFER_UNIFORM : GLS_BUFFER_STORAGE, bytes, "model", buffer);
    if (status == GLS_OK) status = gls_buffer_write(*buffer, 0, bytes, s->word);
    gls_sections_finish(s);
    return status;
}

void gls_sections_finish(gls_sections *s)
{
    free(s->word);
    *s = (gls_sections){0};
}
