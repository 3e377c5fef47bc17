/* The order in which streamlines are tracked: every line once, along the Morton curve, equal ones as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "track/engine/passes.h"
#include "track/engine/schedule.h"

/* Returns the place of a point along the Morton curve, bit by bit. */
static uint32_t place_on_curve(const float p[3])
{
    uint32_t place = 0;
    for (int bit = 9; bit >= 0; bit--)
        for (int a = 2; a >= 0; a--) {
            long voxel = (long)(p[a] + 0.5f);
            if (p[a] < 0.5f) voxel = 0;
            if (voxel > 1023) voxel = 1023;
            place = place << 1 | (uint32_t)(voxel >> bit & 1);
        }
    return place;
}

static void check(size_t n, float from, float to)
{
    gls_line_record *line = calloc(n + 1, sizeof *line);
    float(*p)[3] = calloc(n + 1, sizeof *p);
    gls_order_entry *entry = calloc(2 * n + 1, sizeof *entry);
    unsigned char *seen = calloc(n + 1, 1);
    assert_true(line && p && entry && seen);
    for (size_t i = 0; i < n; i++) {
        for (int a = 0; a < 3; a++) p[i][a] = from + (to - from) * (float)rand() / (float)RAND_MAX;
        line[i] = (gls_line_record){.x = p[i][0], .y = p[i][1], .z = p[i][2], .vertex = 77};
    }
    entry[2 * n].key = 12345;
    gls_order_lines(line, n, entry);
    assert_int_equal(entry[2 * n].key, 12345);
    for (size_t i = 0; i < n; i++) {
        uint32_t at = entry[i].line;
        assert_true(at < n && !seen[at]);
        seen[at] = 1;
        if (i == 0) continue;
        uint32_t before = place_on_curve(p[entry[i - 1].line]), here = place_on_curve(p[at]);
        assert_true(before < here || (before == here && entry[i - 1].line < at));
    }
    free(line);
    free(p);
    free(entry);
    free(seen);
}

static void along_the_curve(void **state)
{
    (void)state;
    srand(7);
    check(0, 0, 1);
    check(1, 0, 100);
    check(20000, -0.5f, 80);
    check(20000, -0.5f, 3);
    check(5000, -5, 1500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(along_the_curve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
