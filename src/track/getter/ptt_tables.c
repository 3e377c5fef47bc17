/* The tables of parallel transport tractography: the map of nearest vertices, and the disc of curvatures with the arcs
 * that begin there. */
#include "track/getter/ptt_tables.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Side of the map: 18 KiB for an antipodal sphere, so that it fits into shared memory. */
#define NEAREST_SIZE 96

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

void gls_ptt_table_nearest(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, const uint32_t *place)
{
    size_t rows = (sphere->antipodal ? 1 : 2) * (size_t)NEAREST_SIZE, words = rows * NEAREST_SIZE / 2;
    gls_define_int(defines, "NEAREST_SIZE", NEAREST_SIZE, "side of the map of nearest vertices");
    gls_define_int(defines, "NEAREST_WORDS", (int64_t)words, "of that map");
    uint32_t *word = gls_table_shared(s, defines, "TABLE_NEAREST", words);
    if (!word) return;
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < NEAREST_SIZE; x++) {
            double d[3];
            cell_direction(x, y % NEAREST_SIZE, y < NEAREST_SIZE ? 1 : -1, d);
            uint32_t v = nearest(sphere, d);
            word[(y * NEAREST_SIZE + x) / 2] |= (place ? place[v] : v) << (x % 2 * 16);
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
static void table_arcs(gls_tables *s, gls_define_list *defines, const double (*vertex)[2], const gls_probe *probe)
{
    size_t n = DISC_VERTICES * (size_t)(probe->quality + 1 - probe->first_sample), n_parts = probe->bends ? 8 : 6;
    uint32_t *word = gls_table_shared(s, defines, "TABLE_ARCS", n_parts * n);
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
        for (size_t j = 0; j < n_parts; j++) gls_table_put_float(&word[j * n + i], part[j]);
    }
}

static void table_faces(gls_tables *s, gls_define_list *defines, const double (*vertex)[2],
                        const uint32_t face[DISC_FACES][3], double area_sum)
{
    double area[DISC_FACES], total = 0;
    uint32_t *word = gls_table_shared(s, defines, "TABLE_FACES", 8 * DISC_FACES);
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
        for (size_t j = 1; j < 8; j++) gls_table_put_float(&word[j * DISC_FACES + f], part[j]);
    }
}

void gls_ptt_table_disc(gls_tables *s, gls_define_list *defines, double area_sum, const gls_probe *probe)
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
    gls_define_int(defines, "N_DISC_VERTICES", DISC_VERTICES, "of the disc of curvatures");
    gls_define_int(defines, "N_DISC_FACES", DISC_FACES, "triangles between them");
    gls_define_int(defines, "DISC_FACES_POWER", DISC_FACES_POWER, "for the search among faces");
    gls_define_int(defines, "DISC_CHUNK", DISC_CHUNK, "places on the arcs that share memory at a time");
    table_arcs(s, defines, (const double(*)[2])vertex, probe);
    table_faces(s, defines, (const double(*)[2])vertex, (const uint32_t(*)[3])face, area_sum);
}

uint64_t gls_ptt_table_bytes(bool antipodal, int quality, bool several)
{
    uint64_t nearest = (antipodal ? 1 : 2) * (uint64_t)NEAREST_SIZE * NEAREST_SIZE / 2,
             samples = DISC_VERTICES * (uint64_t)(quality + several);
    return 4 * (nearest + (several ? 8 : 6) * samples + 8 * DISC_FACES);
}

uint64_t gls_ptt_slot_bytes(int quality)
{
    uint64_t places = (uint64_t)quality + 1, disc = DISC_VERTICES * (places < DISC_CHUNK ? places : DISC_CHUNK),
             candidate = places + DISC_FACES;
    return 4 * ((disc > candidate ? disc : candidate) + DISC_VERTICES);
}
