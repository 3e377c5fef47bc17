/* Criteria of streamlines: all measures that one request can ask for are remembered, so that a region that moves does
 * not have the files read again. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "files.h"
#include "view/measures.h"

/* Streamlines of 2 to N + 1 points, 1 mm apart. */
#define N 70
#define N_POINTS (N * (N + 3) / 2)

static void put(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    put_file(path, data, bytes);
}

static void make_folder(const char *folder, const char *name)
{
    char path[700];
    snprintf(path, sizeof path, "%s%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* Writes a folder of TRX. Streamline i has the value i in the column, and is in group k but for i = k. */
static const char *write_lines(void)
{
    static char folder[512];
    static float point[N_POINTS][3], value[N];
    uint64_t offset[N + 1] = {0};
    char text[256];
    snprintf(folder, sizeof folder, "%s", scratch("lines.trx"));
    make_folder(folder, "");
    make_folder(folder, "/dps");
    make_folder(folder, "/groups");
    for (size_t i = 0; i < N; i++) {
        for (size_t k = 0; k < i + 2; k++) point[offset[i] + k][0] = (float)k;
        offset[i + 1] = offset[i] + i + 2;
        value[i] = (float)i;
    }
    snprintf(text, sizeof text,
             "{\"DIMENSIONS\":[99,9,9],\"VOXEL_TO_RASMM\":[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],"
             "\"NB_VERTICES\":%d,\"NB_STREAMLINES\":%d}",
             N_POINTS, N);
    put(folder, "header.json", text, strlen(text));
    put(folder, "offsets.uint64", offset, sizeof offset);
    put(folder, "positions.3.float32", point, sizeof point);
    put(folder, "dps/x.float32", value, sizeof value);
    for (uint32_t k = 0; k < GLS_VIEW_GROUPS; k++) {
        uint32_t member[N], n = 0;
        for (uint32_t i = 0; i < N; i++)
            if (i != k) member[n++] = i;
        snprintf(text, sizeof text, "groups/g%u.uint32", (unsigned)k);
        put(folder, text, member, n * sizeof *member);
    }
    return folder;
}

static bool go_on(void)
{
    return true;
}

static void remembered(void **state)
{
    const gls_tractogram_read_options options = gls_tractogram_read_options_default();
    const char *path = write_lines();
    char header[600];
    gls_view_measures m = {.path = &path, .n_paths = 1, .n = N, .read = &options, .go_on = go_on};
    gls_view_criteria c = {.min_length = 20, .max_length = 60, .column = "x", .min_value = 22, .max_value = INFINITY};
    (void)state;
    for (size_t k = 0; k < GLS_VIEW_GROUPS; k++) snprintf(c.group[k], sizeof *c.group, "g%zu", k);
    c.n_groups = GLS_VIEW_GROUPS;
    for (int round = 0; round < 2; round++) {
        uint64_t bits[2] = {UINT64_MAX, UINT64_MAX};
        assert_int_equal(gls_view_measures_apply(&m, &c, bits), GLS_OK);
        /* streamline i has a length of i + 1 mm */
        for (size_t i = 0; i < N; i++) assert_int_equal(bits[i / 64] >> i % 64 & 1, i >= 22 && i < 60);
        /* in no group but the first ones */
        c.n_groups = 8;
        c.n_not_groups = GLS_VIEW_GROUPS - 8;
        assert_int_equal(gls_view_measures_apply(&m, &c, bits), GLS_OK);
        assert_int_equal(bits[0] | (bits[1] & 63), 0);
        c.n_groups = GLS_VIEW_GROUPS;
        c.n_not_groups = 0;
        /* from now on nothing can be read */
        snprintf(header, sizeof header, "%s/header.json", path);
        assert_int_equal(unlink(header), round == 0 ? 0 : -1);
    }
    gls_view_measures_finish(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(remembered)};
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
