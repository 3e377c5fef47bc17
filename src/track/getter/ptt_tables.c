/* Builds the map of nearest vertices for parallel transport tractography: the shader needs the ODF along any direction,
 * but the field has values at vertices only. */
#include "track/getter/ptt_tables.h"

#include <math.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Side of the map: 18 KiB for an antipodal sphere, which fits into shared memory. */
#define NEAREST_SIZE 96

/* Unit vector at the centre of cell (x, y) of the map, on the upper (side 1) or lower (side -1) hemisphere. */
static void cell_direction(size_t x, size_t y, double side, double d[3])
{
    /* u, v: the centre of the cell, -1 .. 1. The octahedron is rotated by 45 degrees, so that it fills the square. */
    double u = (2 * (double)x + 1) / NEAREST_SIZE - 1, v = (2 * (double)y + 1) / NEAREST_SIZE - 1;
    d[0] = side * (u + v) / 2;
    d[1] = side * (u - v) / 2;
    d[2] = side * (1 - fabs(d[0]) - fabs(d[1]));
    double norm = sqrt(dot(d, d));
    for (int a = 0; a < 3; a++) d[a] /= norm;
}

/* Vertex with the smallest angle to d; on an antipodal sphere to the axis of d. */
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

void gls_ptt_table_nearest(gls_tables *s, gls_define_list *defines, const gls_sphere *sphere, const uint32_t *index_of)
{
    size_t rows = (sphere->antipodal ? 1 : 2) * (size_t)NEAREST_SIZE, words = rows * NEAREST_SIZE / 2;
    gls_define_int(defines, "NEAREST_SIZE", NEAREST_SIZE, "side of the map of nearest vertices");
    gls_define_int(defines, "NEAREST_WORDS", (int64_t)words, "words of the map of nearest vertices");
    uint32_t *word = gls_table_shared(s, defines, "TABLE_NEAREST", words);
    if (!word) return;
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < NEAREST_SIZE; x++) {
            double d[3];
            cell_direction(x, y % NEAREST_SIZE, y < NEAREST_SIZE ? 1 : -1, d);
            uint32_t v = nearest(sphere, d);
            word[(y * NEAREST_SIZE + x) / 2] |= (index_of ? index_of[v] : v) << (x % 2 * 16);
        }
}

uint64_t gls_ptt_table_bytes(bool antipodal)
{
    return 4 * (antipodal ? 1 : 2) * (uint64_t)NEAREST_SIZE * NEAREST_SIZE / 2;
}

uint64_t gls_ptt_slot_bytes(int quality)
{
    /* Sizes as in the shader: PTT_ROUND and the largest number of lanes. */
    enum { ROUND = 8, MAX_LANES = 128 };
    uint64_t positions = (uint64_t)quality + 1, round = ROUND * positions < MAX_LANES ? ROUND * positions : MAX_LANES;
    return 4 * (positions > round ? positions : round);
}
