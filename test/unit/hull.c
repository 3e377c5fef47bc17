/* Hulls of directions on small integer grids, where many lie on common circles and planes: each has 2 n - 4 faces and
 * no direction outside of any, with antipodes and without. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "dwi/hull.h"
#include "util/maths.h"
#include <glslines/common.h>

#define MAX_POINTS 60

/* Makes distinct directions with coordinates from -reach to reach; antipodal: with their antipodes. */
static size_t draw(uint32_t set, int reach, bool antipodal, double (*point)[3], uint32_t *label)
{
    uint32_t word[4];
    size_t n = 0, wanted;
    gls_philox((const uint32_t[4]){set, 7, 0, 0}, 1, word);
    wanted = 4 + word[0] % 24;
    for (uint32_t i = 0; i < 400 && n < wanted; i++) {
        double p[3], length = 0;
        gls_philox((const uint32_t[4]){set, i, 1, 0}, 1, word);
        for (int a = 0; a < 3; a++) p[a] = (int)(word[a] % (2 * (uint32_t)reach + 1)) - reach;
        for (int a = 0; a < 3; a++) length += p[a] * p[a];
        if (length == 0) continue;
        bool known = false;
        for (int a = 0; a < 3; a++) p[a] /= sqrt(length);
        for (size_t k = 0; k < n && !known; k++) {
            double c = point[k][0] * p[0] + point[k][1] * p[1] + point[k][2] * p[2];
            known = (antipodal ? fabs(c) : c) > 1 - 1e-9;
        }
        for (int a = 0; a < 3 && !known; a++) point[n][a] = p[a];
        n += !known;
    }
    for (size_t i = 0; i < n; i++) {
        label[i] = label[n + i] = (uint32_t)i;
        for (int a = 0; a < 3; a++) point[n + i][a] = -point[i][a];
    }
    return antipodal ? 2 * n : n;
}

static double determinant(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

static void assert_hull(const double (*point)[3], size_t n, const uint32_t (*face)[3], size_t n_faces)
{
    assert_int_equal(n_faces, 2 * n - 4);
    for (size_t f = 0; f < n_faces; f++) {
        double e[3][3];
        for (size_t i = 0; i < n; i++) {
            for (int a = 0; a < 3; a++) {
                e[0][a] = point[face[f][1]][a] - point[face[f][0]][a];
                e[1][a] = point[face[f][2]][a] - point[face[f][0]][a];
                e[2][a] = point[i][a] - point[face[f][0]][a];
            }
            assert_true(determinant(e[0], e[1], e[2]) < 1e-9);
        }
    }
}

static void grids(void **state)
{
    (void)state;
    static double point[2 * MAX_POINTS][3];
    static uint32_t label[2 * MAX_POINTS];
    size_t made = 0;
    for (uint32_t set = 0; set < 3000; set++) {
        uint32_t(*face)[3] = NULL;
        size_t n_faces, n = draw(set, 1 + (int)(set % 3), set % 2, point, label);
        if (n < 4) continue;
        gls_status status = gls_hull_create((const double(*)[3])point, label, n, &face, &n_faces);
        if (status == GLS_OK) {
            assert_hull((const double(*)[3])point, n, (const uint32_t(*)[3])face, n_faces);
            made++;
        } else {
            assert_int_equal(status, GLS_ERR_INPUT);
        }
        free(face);
    }
    assert_true(made > 2900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
