/* Which streamlines of a file meet regions: by the boxes round their parts, as by a test of each whole streamline. The
 * memory of the boxes has a bound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "files.h"
#include "view/lines.h"

/* The streamlines of the file. */
#define N 3000
static uint64_t offset[N + 1];
static float point[N * 100][3];
static const gls_box box = {{-60, -60, -60}, {60, 60, 60}};

/* A number from -1 to 1. */
static float draw(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (float)(int32_t)(*seed >> 32) / 2147483648.0f;
}

/* Makes random walks of 0 to 99 points. Some stay where they are, from their first point on or for a while. */
static void make_lines(void)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < N; i++) {
        const size_t n = i < 10 ? i / 2 : (size_t)(50 + 49.9f * draw(&seed));
        float at[3] = {30 * draw(&seed), 30 * draw(&seed), 30 * draw(&seed)};
        for (size_t k = 0; k < n; k++) {
            const bool stays = i % 50 == 0 || (i % 7 == 0 && k > 12 && k < 60);
            for (int a = 0; a < 3 && !stays; a++) at[a] += draw(&seed);
            for (int a = 0; a < 3; a++) point[offset[i] + k][a] = at[a];
        }
        offset[i + 1] = offset[i] + n;
    }
    point[offset[20]][1] = NAN;
}

/* Writes them as a folder of TRX. */
static const char *write_lines(void)
{
    char header[256], path[600];
    static char folder[512];
    if (*folder) return folder;
    make_lines();
    snprintf(folder, sizeof folder, "%s", scratch("lines.trx"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(header, sizeof header,
             "{\"DIMENSIONS\":[9,9,9],\"VOXEL_TO_RASMM\":[[9,0,0,0],[0,9,0,0],[0,0,9,0],[0,0,0,1]],"
             "\"NB_VERTICES\":%d,\"NB_STREAMLINES\":%d}",
             (int)offset[N], N);
    snprintf(path, sizeof path, "%s/header.json", folder);
    put_file(path, header, strlen(header));
    snprintf(path, sizeof path, "%s/offsets.uint64", folder);
    put_file(path, offset, sizeof offset);
    snprintf(path, sizeof path, "%s/positions.3.float32", folder);
    put_file(path, point, (size_t)offset[N] * sizeof *point);
    return folder;
}

static bool go_on(void)
{
    return true;
}

/* Reads the file as one of so many streamlines and points. */
static void read_lines(gls_view_lines *lines, uint64_t n_lines, uint64_t n_points)
{
    const gls_tractogram_read_options options = gls_tractogram_read_options_default();
    const char *path = write_lines();
    *lines = (gls_view_lines){.n = 0};
    assert_int_equal(gls_view_lines_read(lines, &path, 1, &box, n_lines, n_points, &options, go_on), GLS_OK);
    assert_int_equal(lines->n, N);
}

static void regions(void **state)
{
    static const char *const text[] = {"0,0,0,4", "-20,5,3,1", "-9,-9,-9,2,3,4", "10,10,10,10.4,40,40", "500,0,0,3"};
    enum { N_REGIONS = sizeof text / sizeof *text };
    gls_rois *rois[N_REGIONS + 1];
    uint64_t bits[N_REGIONS][GLS_VIEW_WORDS(N)];
    size_t index, found = 0;
    (void)state;
    for (size_t r = 0; r <= N_REGIONS; r++) {
        assert_int_equal(gls_rois_create(GLS_ROI_TEST_SEGMENT, NULL, &rois[r]), GLS_OK);
        /* each by itself, then all together */
        for (size_t k = 0; k < N_REGIONS; k++)
            if (r == k || r == N_REGIONS) assert_int_equal(gls_rois_add(rois[r], "x", text[k], 0, &index), GLS_OK);
    }
    /* with the shortest parts, longer ones, and one part for each streamline */
    for (uint64_t claimed = N; claimed <= UINT64_C(100000000); claimed *= 20) {
        gls_view_lines lines;
        read_lines(&lines, claimed, 60 * claimed);
        for (size_t r = 0; r <= N_REGIONS; r++) {
            const size_t n = r == N_REGIONS ? N_REGIONS : 1;
            uint64_t *met[N_REGIONS];
            gls_roi_hits hits = {.n = 0}; /* for as many regions as these */
            for (size_t k = 0; k < n; k++) met[k] = bits[k];
            assert_int_equal(gls_view_lines_meet(&lines, rois[r], n, met, NULL), GLS_OK);
            for (size_t i = 0; i < N; i++) {
                const size_t points = (size_t)(offset[i + 1] - offset[i]);
                if (points == 0 || i == 20) continue;
                gls_rois_find(rois[r], &hits, (const float(*)[3])point + offset[i], points);
                for (size_t k = 0; k < n; k++) {
                    assert_int_equal(bits[k][i / 64] >> i % 64 & 1, hits.met[k]);
                    found += hits.met[k];
                }
            }
            gls_roi_hits_finish(&hits);
        }
        gls_view_lines_finish(&lines);
    }
    assert_true(found > 1000);
    for (size_t r = 0; r <= N_REGIONS; r++) gls_rois_destroy(rois[r]);
}

/* 10 million streamlines of 60 points have at most two boxes each, and of 200 points not more. */
static void memory(void **state)
{
    gls_view_lines lines;
    (void)state;
    for (uint64_t points = 60; points <= 200; points += 140) {
        read_lines(&lines, 10000000, points * 10000000);
        const uint64_t most = UINT64_C(10000000) + points * 10000000 / lines.length;
        assert_true(most * sizeof *lines.part <= UINT64_C(120) << 20);
        assert_true(lines.n_parts <= N + offset[N] / lines.length);
        assert_true(lines.n_parts > N / 2);
        gls_view_lines_finish(&lines);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions), cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
