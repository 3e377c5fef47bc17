/* Direction sets: invariants of the built-in ones, hulls of awkward ones, errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <glslines/sphere.h>

#include "dwi/hull.h"

static bool adjacent(const gls_sphere *s, uint32_t u, uint32_t v)
{
    for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++) {
        if (s->neighbour[i] == v) return true;
    }
    return false;
}

static double angle(const double *a, const double *b, bool antipodal)
{
    double c = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    if (antipodal) c = fabs(c);
    return acos(fmin(c, 1)) * 180 / M_PI;
}

/* Checks neighbours: unit length, ascending and mutual, without repeats. */
static void check_sphere(const gls_sphere *s)
{
    assert_int_equal(s->first[0], 0);
    for (uint32_t u = 0; u < s->n; u++) {
        const double *x = s->vertex[u];
        assert_true(fabs(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - 1) < 1e-15);
        for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++) {
            uint32_t v = s->neighbour[i];
            assert_true(v < s->n && v != u);
            assert_true(i == s->first[u] || s->neighbour[i - 1] < v);
            assert_true(adjacent(s, v, u));
        }
    }
}

/* E = 3 V - 6 of the complete point set; on sets so coarse that a vertex neighbours u and -u, folding merges edges. */
static void check_edges(const gls_sphere *s)
{
    size_t both_ways = s->first[s->n], total = s->antipodal ? 2 * s->n : s->n;
    assert_int_equal((s->antipodal ? both_ways : both_ways / 2), 3 * total - 6);
    check_sphere(s);
}

/* Checks that each edge comes once in each direction, V - E + F = 2, no point lies above a facet, and, if labels pair
 * the points i and i + n / 2, the antipode of every face is a face. */
static void check_hull(const double (*direction)[3], size_t n, bool paired)
{
    double(*unit)[3] = malloc(n * sizeof *unit);
    uint32_t *label = malloc(n * sizeof *label), (*face)[3] = NULL;
    char *edge = calloc(n * n, 1);
    size_t n_faces = 0;
    for (size_t i = 0; i < n; i++) {
        double r = sqrt(direction[i][0] * direction[i][0] + direction[i][1] * direction[i][1] +
                        direction[i][2] * direction[i][2]);
        for (int a = 0; a < 3; a++) unit[i][a] = direction[i][a] / r;
        label[i] = (uint32_t)(paired ? i % (n / 2) : i);
    }
    assert_int_equal(gls_hull_create((const double(*)[3])unit, label, n, &face, &n_faces), GLS_OK);
    assert_int_equal(n_faces, 2 * n - 4);
    for (size_t f = 0; f < n_faces; f++) {
        const double *a = unit[face[f][0]], *b = unit[face[f][1]], *c = unit[face[f][2]];
        for (int i = 0; i < 3; i++) {
            char *e = &edge[face[f][i] * n + face[f][(i + 1) % 3]];
            assert_int_equal(*e, 0);
            *e = 1;
        }
        for (size_t p = 0; p < n; p++) {
            double volume = 0;
            for (int i = 0; i < 3; i++) {
                int j = (i + 1) % 3, k = (i + 2) % 3;
                volume += (unit[p][i] - a[i]) * ((b[j] - a[j]) * (c[k] - a[k]) - (b[k] - a[k]) * (c[j] - a[j]));
            }
            assert_true(volume < 1e-9);
        }
    }
    for (size_t i = 0; i < n * n; i++) {
        size_t u = i / n, v = i % n, h = n / 2;
        assert_int_equal(edge[u * n + v], edge[v * n + u]);
        if (paired) assert_int_equal(edge[u * n + v], edge[(u + h) % n * n + (v + h) % n]);
    }
    free(unit);
    free(label);
    free(face);
    free(edge);
}

static void check_orbits(const gls_sphere *s)
{
    static const double sign[4][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    size_t v = 0;
    for (size_t o = 0; o < s->n_orbits; o++) {
        const double *x = s->vertex[v];
        size_t size = s->orbit_size[o], zeros = (x[0] == 0) + (x[1] == 0) + (x[2] == 0);
        assert_true(x[0] >= 0 && x[1] >= 0 && x[2] >= 0);
        assert_int_equal(size, zeros == 0 ? 4 : zeros == 1 ? 2 : 1);
        if (o > 0) assert_true(s->orbit_size[o - 1] >= size);
        for (size_t m = 0; m < size; m++) {
            /* of two members in a plane, the second has the first coordinate that is not 0 reversed */
            const double *t = size == 4 ? sign[m] : m == 0 ? sign[0] : x[0] == 0 ? sign[2] : sign[1];
            assert_true(s->vertex[v + m][0] == t[0] * x[0]);
            assert_true(s->vertex[v + m][1] == t[1] * x[1]);
            assert_true(s->vertex[v + m][2] == x[2]);
            assert_false(signbit(s->vertex[v + m][2]));
        }
        v += size;
    }
    assert_int_equal(v, s->n);
}

/* Returns the vertex that is v, or opposite to v, with one coordinate reversed. */
static uint32_t mirror(const gls_sphere *s, uint32_t v, int axis)
{
    for (uint32_t u = 0; u < s->n; u++) {
        bool same = true, opposite = true;
        for (int a = 0; a < 3; a++) {
            double x = a == axis ? -s->vertex[v][a] : s->vertex[v][a];
            same = same && s->vertex[u][a] == x;
            opposite = opposite && s->vertex[u][a] == -x;
        }
        if (same || opposite) return u;
    }
    fail_msg("vertex %u has no mirror image", v);
    return 0;
}

/* Reflections map edges to edges: no facet has four corners whose diagonal could have been either. */
static void check_mirrored_edges(const gls_sphere *s)
{
    for (int axis = 0; axis < 3; axis++) {
        for (uint32_t v = 0; v < s->n; v++) {
            uint32_t image = mirror(s, v, axis);
            for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++)
                assert_true(adjacent(s, image, mirror(s, s->neighbour[i], axis)));
        }
    }
}

static void built_in(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n;
        double least, greatest; /* degrees to the nearest neighbour */
    } set[] = {{"default", 362, 7.3, 8.1}, {"small", 181, 10.4, 11.6}, {"repulsion600", 300, 7.4, 8.9}};
    for (int i = 0; i < 3; i++) {
        gls_sphere *s = NULL;
        assert_int_equal(gls_sphere_create(set[i].name, &s), GLS_OK);
        assert_int_equal(s->n, set[i].n);
        assert_true(s->antipodal);
        check_edges(s);
        check_orbits(s);
        check_mirrored_edges(s);
        for (size_t u = 0; u < s->n; u++) {
            double nearest = 180;
            for (size_t v = 0; v < s->n; v++) {
                if (v != u) nearest = fmin(nearest, angle(s->vertex[u], s->vertex[v], true));
            }
            assert_true(nearest > set[i].least && nearest < set[i].greatest);
            for (uint32_t j = s->first[u]; j < s->first[u + 1]; j++)
                assert_true(angle(s->vertex[u], s->vertex[s->neighbour[j]], true) < 1.6 * set[i].greatest);
        }
        gls_sphere_destroy(s);
    }
    static const struct {
        const char *name;
        size_t n;
    } dipy[] = {{"repulsion724", 362}, {"symmetric362", 181}};
    for (int i = 0; i < 2; i++) {
        gls_sphere *s = NULL;
        assert_int_equal(gls_sphere_create(dipy[i].name, &s), GLS_OK);
        assert_true(s->n == dipy[i].n && s->antipodal);
        check_edges(s);
        gls_sphere_destroy(s);
    }
    gls_sphere *none = NULL;
    assert_int_equal(gls_sphere_create("octahedron", &none), GLS_ERR_ARGUMENT);
    assert_non_null(strstr(gls_last_error(), "octahedron"));
    assert_null(none);
    gls_sphere_destroy(NULL);
}

/* Solids whose facets have four or five corners: any triangulation, but a complete and (closed sets) an antipodal one.
 */
static void degenerate_solids(void **state)
{
    (void)state;
    static const double octahedron[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    static const double cube[8][3] = {{1, 1, 1},    {1, 1, -1},  {1, -1, 1},  {1, -1, -1},
                                      {-1, -1, -1}, {-1, -1, 1}, {-1, 1, -1}, {-1, 1, 1}};
    double prism[40][3], dodecahedron[20][3];
    gls_sphere *s = NULL;
    uint32_t order[40];
    check_hull(octahedron, 6, true);
    check_hull(cube, 8, true);
    check_hull(cube, 5, false); /* a pyramid on a square */
    for (int i = 0; i < 40; i++) {
        int side = i < 20 ? 1 : -1;
        prism[i][0] = side * cos(i % 20 * M_PI / 10);
        prism[i][1] = side * sin(i % 20 * M_PI / 10);
        prism[i][2] = side * 0.5;
    }
    check_hull((const double(*)[3])prism, 40, true);
    double g = (1 + sqrt(5)) / 2;
    for (int i = 0; i < 20; i++) {
        int side = i < 10 ? 1 : -1, k = i % 10;
        double v[3] = {0, (k & 1 ? 1 : -1) / g, g};
        for (int a = 0; a < 3; a++)
            dodecahedron[i][k < 4 ? a : (a + (k - 4) / 2) % 3] = side * (k < 4 ? cube[k][a] : v[a]);
    }
    check_hull((const double(*)[3])dodecahedron, 20, true);
    check_hull((const double(*)[3])dodecahedron, 20, false);

    assert_int_equal(gls_sphere_create_from(octahedron, 6, GLS_SPHERE_AS_GIVEN, &s, order), GLS_OK);
    assert_true(s->antipodal && s->n == 3);
    assert_true(order[0] == 0 && order[1] == 1 && order[2] == 2);
    assert_int_equal(s->first[3], 6); /* the 12 edges fall on 3 */
    check_sphere(s);
    gls_sphere_destroy(s);
    /* pairs in another order: the first of each is kept */
    double shuffled[20][3];
    for (int i = 0; i < 20; i++) memcpy(shuffled[i], dodecahedron[i * 7 % 20], sizeof shuffled[i]);
    assert_int_equal(gls_sphere_create_from((const double(*)[3])shuffled, 20, GLS_SPHERE_AS_GIVEN, &s, order), GLS_OK);
    assert_true(s->antipodal && s->n == 10);
    check_sphere(s);
    for (size_t v = 0; v < 10; v++) {
        assert_true(v == 0 || order[v] > order[v - 1]);
        for (int a = 0; a < 3; a++) assert_true(fabs(s->vertex[v][a] * sqrt(3) - shuffled[order[v]][a]) < 1e-15 * 4);
        for (uint32_t i = 0; i < order[v]; i++)
            assert_true(shuffled[i][0] != -shuffled[order[v]][0] || shuffled[i][1] != -shuffled[order[v]][1] ||
                        shuffled[i][2] != -shuffled[order[v]][2]);
    }
    gls_sphere_destroy(s);
}

static void spiral(double (*direction)[3], int n, double lowest)
{
    for (int i = 0; i < n; i++) {
        double z = 1 - (i + 0.5) / n * (1 - lowest), r = sqrt(1 - z * z), phi = i * M_PI * (3 - sqrt(5));
        direction[i][0] = 2 * r * cos(phi);
        direction[i][1] = 2 * r * sin(phi);
        direction[i][2] = 2 * z;
    }
}

static void caller_sets(void **state)
{
    (void)state;
    double direction[2000][3];
    uint32_t order[2000];
    gls_sphere *s = NULL;
    spiral(direction, 2000, 0);
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 2000, GLS_SPHERE_FOLD, &s, order), GLS_OK);
    assert_true(s->antipodal && s->n == 2000 && s->n_orbits == 0);
    for (uint32_t i = 0; i < 2000; i++) assert_int_equal(order[i], i);
    check_edges(s);
    gls_sphere_destroy(s);
    spiral(direction, 1001, -1);
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 1001, GLS_SPHERE_AS_GIVEN, &s, order),
                     GLS_OK);
    assert_true(!s->antipodal && s->n == 1001);
    check_edges(s);
    gls_sphere_destroy(s);
    /* one pair is antipodal, the others are not: no folding */
    for (int a = 0; a < 3; a++) direction[3][a] = -direction[500][a];
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 1001, GLS_SPHERE_FOLD, &s, NULL), GLS_OK);
    assert_true(!s->antipodal && s->n == 1001);
    check_edges(s);
    gls_sphere_destroy(s);
}

/* Two directions, apart from each other, that are opposite to a third: one of them is its partner. */
static void crowded_pairs(void **state)
{
    (void)state;
    const double d = 0.0008, direction[8][3] = {{d, 0, -1}, {-d, 0, -1}, {0, 0, 1},  {1, 1, 1},
                                                {1, 0, 0},  {0, 1, 0},   {-1, 0, 0}, {0, -1, 0}};
    gls_sphere *s = NULL;
    uint32_t order[8];
    assert_int_equal(gls_sphere_create_from(direction, 8, GLS_SPHERE_FOLD, &s, order), GLS_OK);
    assert_true(!s->antipodal && s->n == 8);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(order[i], i);
    check_sphere(s);
    gls_sphere_destroy(s);
}

static void refused_sets(void **state)
{
    (void)state;
    double direction[8193][3];
    gls_sphere *s = NULL;
    spiral(direction, 20, 0);
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 5, GLS_SPHERE_FOLD, &s, NULL),
                     GLS_ERR_INPUT);
    for (int a = 0; a < 3; a++) direction[7][a] = 3 * direction[12][a];
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 20, GLS_SPHERE_FOLD, &s, NULL),
                     GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "8 and 13"));
    memset(direction[7], 0, sizeof direction[7]);
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 20, GLS_SPHERE_FOLD, &s, NULL),
                     GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "direction 8"));
    direction[7][1] = NAN;
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 20, GLS_SPHERE_FOLD, &s, NULL),
                     GLS_ERR_INPUT);
    for (int i = 0; i < 20; i++) {
        direction[i][0] = cos(i);
        direction[i][1] = sin(i);
        direction[i][2] = 0;
    }
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 20, GLS_SPHERE_FOLD, &s, NULL),
                     GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "plane"));
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, 8193, GLS_SPHERE_FOLD, &s, NULL),
                     GLS_ERR_UNSUPPORTED);
    assert_null(s);
}

static gls_status read_text(const char *text, gls_sphere **s)
{
    char path[] = "/tmp/gls_sphere_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    gls_status status = gls_sphere_read(path, s);
    if (status != GLS_OK) assert_non_null(strstr(gls_last_error(), path));
    remove(path);
    return status;
}

static void files(void **state)
{
    (void)state;
    static char text[40000];
    double direction[100][3];
    gls_sphere *s = NULL;
    for (int whole = 0; whole < 2; whole++) {
        char *at = text + sprintf(text, "# directions\n");
        spiral(direction, 100, whole ? -1 : 0);
        for (int i = 0; i < 100; i++)
            at += sprintf(at, "%.8f, %.8f\t%.8f\n", direction[i][0], direction[i][1], direction[i][2]);
        assert_int_equal(read_text(text, &s), GLS_OK);
        assert_int_equal(s->antipodal, !whole);
        assert_int_equal(s->n, 100);
        check_edges(s);
        gls_sphere_destroy(s);
    }
    /* seven points on the equator's upper rim and the pole: a closed hemisphere */
    char *at = text;
    for (int i = 0; i < 7; i++) at += sprintf(at, "%.6f %.6f 0\n", cos(i * M_PI / 7), sin(i * M_PI / 7));
    sprintf(at, "0 0 1\n");
    assert_int_equal(read_text(text, &s), GLS_OK);
    assert_true(s->antipodal && s->n == 8);
    check_sphere(s);
    gls_sphere_destroy(s);
    s = NULL;
    assert_int_equal(read_text("1 2\n3 4\n5 6\n7 8\n9 1\n2 2\n", &s), GLS_ERR_INPUT);
    assert_int_equal(read_text("1 0 0\n0 1 0\n0 0 1\n", &s), GLS_ERR_INPUT);
    assert_int_equal(read_text("1 0 0\n0 1 0\n0 0 1\n1 1 0\n0 1 1\n0 2 2\n", &s), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "5 and 6"));
    assert_int_equal(gls_sphere_read("/nonexistent/directions.txt", &s), GLS_ERR_INPUT);
    assert_null(s);
}

/* Both ends of each pair, with the neighbours of the complete set. */
static void full_sphere(void **state)
{
    (void)state;
    gls_sphere *sphere = NULL, *full = NULL, *copy = NULL;
    assert_int_equal(gls_sphere_create("small", &sphere), GLS_OK);
    size_t n = sphere->n;
    assert_int_equal(gls_sphere_create_full(sphere, &full), GLS_OK);
    assert_int_equal(full->n, 2 * n);
    assert_false(full->antipodal);
    assert_int_equal(full->first[2 * n], 2 * (3 * 2 * n - 6)); /* each edge twice */
    for (size_t v = 0; v < 2 * n; v++) {
        const double *d = full->vertex[v];
        for (int a = 0; a < 3; a++) assert_true(d[a] == (v < n ? sphere->vertex[v][a] : -sphere->vertex[v - n][a]));
        /* modulo the pair they are the neighbours on the antipodal sphere, but on the same side */
        assert_int_equal(full->first[v + 1] - full->first[v], sphere->first[v % n + 1] - sphere->first[v % n]);
        for (uint32_t i = full->first[v]; i < full->first[v + 1]; i++) {
            const double *e = full->vertex[full->neighbour[i]];
            assert_true(d[0] * e[0] + d[1] * e[1] + d[2] * e[2] > 0.9);
        }
    }
    assert_int_equal(gls_sphere_create_full(full, &copy), GLS_OK);
    assert_int_equal(copy->n, full->n);
    assert_memory_equal(copy->vertex, full->vertex, 2 * n * sizeof *full->vertex);
    assert_memory_equal(copy->neighbour, full->neighbour, full->first[2 * n] * sizeof *full->neighbour);
    gls_sphere_destroy(sphere);
    gls_sphere_destroy(full);
    gls_sphere_destroy(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in),     cmocka_unit_test(degenerate_solids),
                                       cmocka_unit_test(caller_sets),  cmocka_unit_test(refused_sets),
                                       cmocka_unit_test(files),        cmocka_unit_test(full_sphere),
                                       cmocka_unit_test(crowded_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
