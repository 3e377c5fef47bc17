/* Seed points: stratification, uniformity, independence of the order of access, lists and files. */
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

#include <glslines/log.h>
#include <glslines/seeds.h>

#include "util/maths.h"

enum { NX = 9, NY = 7, NZ = 5, NV = NX * NY * NZ };

struct region {
    gls_image image;
    float data[NV];
};

static void make_region(struct region *r)
{
    static const double affine[3][4] = {{-2, 0.1, 0, 90}, {0.1, 2, 0.3, -100}, {0, -0.3, 2.5, -60}};
    memset(r, 0, sizeof *r);
    assert_int_equal(gls_grid_init(&r->image.grid, (const int32_t[3]){NX, NY, NZ}, affine), GLS_OK);
    r->image.n_volumes = 1;
    r->image.data = r->data;
    for (uint32_t i = 0; i < NV; i++) {
        uint32_t word[4];
        gls_philox((const uint32_t[4]){i, 0, 0, 9}, 1, word);
        r->data[i] = word[0] % 3 == 0 ? (float)(1 + word[1] % 5) : word[0] % 3 == 1 ? 0.0f : -1.0f;
    }
    r->data[10] = NAN;
    r->data[11] = INFINITY;
}

/* Returns the voxel of a point, whatever the rule of rounding. */
static size_t voxel_of(const float p[3])
{
    long v[3];
    for (int a = 0; a < 3; a++) {
        v[a] = lroundf(p[a]);
        assert_true((float)v[a] == rintf(p[a]));
        assert_true((float)v[a] == floorf(p[a] + 0.5f) ||
                    p[a] + 0.5f == (float)v[a] + 1); /* the float sum may round up */
        assert_true(p[a] > -0.5f);
    }
    assert_true(v[0] < NX && v[1] < NY && v[2] < NZ);
    return ((size_t)v[2] * NY + (size_t)v[1]) * NX + (size_t)v[0];
}

static void stratified(void **state)
{
    (void)state;
    static struct region roi, mask;
    make_region(&roi);
    make_region(&mask);
    for (int i = 0; i < NV; i++) mask.data[i] = (float)(i % 4);
    static const uint64_t counts[] = {1, 50, 5000, 77777};
    for (int masked = 0; masked < 2; masked++) {
        size_t eligible = 0;
        for (size_t i = 0; i < NV; i++)
            eligible += isfinite(roi.data[i]) && roi.data[i] > 0 && (!masked || mask.data[i] > 0);
        for (size_t c = 0; c < 4; c++) {
            gls_seeds *s = NULL;
            uint64_t per_voxel[NV] = {0};
            assert_int_equal(gls_seeds_create_random(&roi.image, masked ? &mask.image : NULL, counts[c], 5, &s),
                             GLS_OK);
            assert_int_equal(gls_seeds_count(s), counts[c]);
            float(*point)[3] = malloc(counts[c] * sizeof *point);
            gls_seeds_get(s, 0, counts[c], point);
            for (uint64_t i = 0; i < counts[c]; i++) {
                size_t v = voxel_of(point[i]);
                assert_true(isfinite(roi.data[v]) && roi.data[v] > 0 && (!masked || mask.data[v] > 0));
                per_voxel[v]++;
            }
            for (size_t v = 0; v < NV; v++) {
                bool is_eligible = isfinite(roi.data[v]) && roi.data[v] > 0 && (!masked || mask.data[v] > 0);
                uint64_t least = counts[c] / eligible;
                assert_true(is_eligible ? per_voxel[v] == least || (per_voxel[v] == least + 1 && counts[c] % eligible)
                                        : per_voxel[v] == 0);
            }
            free(point);
            gls_seeds_destroy(s);
        }
        gls_seeds *s = NULL;
        assert_int_equal(gls_seeds_create_per_voxel(&roi.image, masked ? &mask.image : NULL, 8, 5, &s), GLS_OK);
        assert_int_equal(gls_seeds_count(s), 8 * eligible);
        gls_seeds_destroy(s);
    }
}

/* Returns the chi-square of n counts that should be equal, as standard deviations from its mean. */
static double chi_square_z(const uint64_t *count, size_t n)
{
    double total = 0, chi = 0;
    for (size_t i = 0; i < n; i++) total += (double)count[i];
    for (size_t i = 0; i < n; i++)
        chi += ((double)count[i] - total / (double)n) * ((double)count[i] - total / (double)n) / (total / (double)n);
    return (chi - (double)(n - 1)) / sqrt(2 * (double)(n - 1));
}

/* Offsets fill the voxel evenly in an 8 x 8 x 8 partition, and neither the offset of a neighbouring seed nor the order
 * of voxels shows a pattern: all |z| < 5, which happens by chance less than once in a million (the generator is fixed,
 * so it either always does or never). */
static void uniform(void **state)
{
    (void)state;
    static struct region roi;
    make_region(&roi);
    enum { COUNT = 400000 };
    static uint64_t cell[512], pair[256], first_voxel[NV];
    gls_seeds *s = NULL;
    assert_int_equal(gls_seeds_create_random(&roi.image, NULL, COUNT, 2, &s), GLS_OK);
    float(*point)[3] = malloc(COUNT * sizeof *point);
    gls_seeds_get(s, 0, COUNT, point);
    int last = 0;
    for (int i = 0; i < COUNT; i++) {
        int at[3];
        for (int a = 0; a < 3; a++) at[a] = (int)floorf(8 * (point[i][a] - roundf(point[i][a]) + 0.5f));
        int fine = (int)floorf(16 * (point[i][0] - roundf(point[i][0]) + 0.5f));
        cell[(at[2] * 8 + at[1]) * 8 + at[0]]++;
        if (i > 0) pair[last * 16 + fine]++;
        last = fine;
    }
    assert_true(fabs(chi_square_z(cell, 512)) < 5);
    assert_true(fabs(chi_square_z(pair, 256)) < 5);
    free(point);
    gls_seeds_destroy(s);
    /* which voxel comes first, over many random seeds */
    size_t n = 0;
    for (uint64_t key = 0; key < 20000; key++) {
        float p[1][3];
        assert_int_equal(gls_seeds_create_random(&roi.image, NULL, 1, key, &s), GLS_OK);
        gls_seeds_get(s, 0, 1, p);
        first_voxel[voxel_of(p[0])]++;
        gls_seeds_destroy(s);
    }
    for (size_t v = 0; v < NV; v++) {
        if (isfinite(roi.data[v]) && roi.data[v] > 0) first_voxel[n++] = first_voxel[v];
    }
    assert_true(fabs(chi_square_z(first_voxel, n)) < 5);
}

static void any_order_of_access(void **state)
{
    (void)state;
    static struct region roi;
    make_region(&roi);
    enum { COUNT = 1000 };
    gls_seeds *s = NULL, *longer = NULL, *other = NULL;
    float whole[COUNT][3], part[COUNT][3];
    assert_int_equal(gls_seeds_create_random(&roi.image, NULL, COUNT, 77, &s), GLS_OK);
    assert_int_equal(gls_seeds_create_random(&roi.image, NULL, (uint64_t)1 << 40, 77, &longer), GLS_OK);
    assert_int_equal(gls_seeds_create_random(&roi.image, NULL, COUNT, 78, &other), GLS_OK);
    gls_seeds_get(s, 0, COUNT, whole);
    for (size_t i = COUNT; i-- > 0;) gls_seeds_get(s, i, 1, &part[i]);
    assert_memory_equal(whole, part, sizeof whole);
    memset(part, 0, sizeof part);
    for (size_t i = 0; i < COUNT; i += 37) gls_seeds_get(longer, i, i + 37 > COUNT ? COUNT - i : 37, part + i);
    assert_memory_equal(whole, part, sizeof whole);
    gls_seeds_get(other, 0, COUNT, part);
    assert_memory_not_equal(whole, part, sizeof whole);
    /* beyond 32 bits the counter goes on */
    gls_seeds_get(longer, (uint64_t)1 << 33, COUNT, part);
    for (size_t i = 0; i < COUNT; i++) voxel_of(part[i]);
    assert_memory_not_equal(whole, part, sizeof whole);
    gls_seeds_destroy(s);
    gls_seeds_destroy(longer);
    gls_seeds_destroy(other);
    gls_seeds_destroy(NULL);
}

/* Far from the origin a float has few bits left for the offset: the voxel must still be right. */
static void distant_voxels(void **state)
{
    (void)state;
    enum { LENGTH = 30000, COUNT = 600000 };
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_image image = {.n_volumes = 1};
    assert_int_equal(gls_grid_init(&image.grid, (const int32_t[3]){LENGTH, 1, 1}, affine), GLS_OK);
    image.data = calloc(LENGTH, sizeof *image.data);
    image.data[LENGTH - 2] = 1;
    gls_seeds *s = NULL;
    assert_int_equal(gls_seeds_create_random(&image, NULL, COUNT, 1, &s), GLS_OK);
    float(*point)[3] = malloc(COUNT * sizeof *point), low = INFINITY, high = 0;
    gls_seeds_get(s, 0, COUNT, point);
    for (int i = 0; i < COUNT; i++) {
        low = fminf(low, point[i][0]);
        high = fmaxf(high, point[i][0]);
        assert_true(lroundf(point[i][0]) == LENGTH - 2 && rintf(point[i][0]) == LENGTH - 2);
    }
    assert_true(low == nextafterf(LENGTH - 2.5f, INFINITY) && high == nextafterf(LENGTH - 1.5f, 0));
    gls_seeds_destroy(s);
    free(point);
    free(image.data);
}

static char warning[512];

static void keep_warning(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level == GLS_LOG_WARNING) snprintf(warning, sizeof warning, "%s", line);
}

static void lists(void **state)
{
    (void)state;
    static struct region roi;
    make_region(&roi);
    const gls_grid *grid = &roi.image.grid;
    static const double voxel[4][3] = {{0, 0, 0}, {3.25, 6.4999, 4.4}, {8.4999999999, -0.5, 2}, {100, 2, 2}};
    double world[4][3];
    float a[4][3], b[4][3];
    for (int i = 0; i < 4; i++) {
        for (int r = 0; r < 3; r++) {
            world[i][r] = grid->affine[r][3];
            for (int c = 0; c < 3; c++) world[i][r] += grid->affine[r][c] * voxel[i][c];
        }
    }
    gls_seeds *s = NULL;
    gls_log_set(keep_warning, NULL, GLS_LOG_WARNING);
    assert_int_equal(gls_seeds_create_list(voxel, 3, GLS_SEEDS_VOXEL, grid, &s), GLS_OK);
    assert_string_equal(warning, "");
    gls_seeds_destroy(s);
    assert_int_equal(gls_seeds_create_list(voxel, 4, GLS_SEEDS_VOXEL, grid, &s), GLS_OK);
    assert_non_null(strstr(warning, "1 of 4"));
    assert_non_null(strstr(warning, "seed 4"));
    assert_int_equal(gls_seeds_count(s), 4);
    gls_seeds_get(s, 0, 4, a);
    gls_seeds_destroy(s);
    assert_int_equal(gls_seeds_create_list((const double(*)[3])world, 4, GLS_SEEDS_WORLD, grid, &s), GLS_OK);
    gls_seeds_get(s, 2, 2, b + 2);
    gls_seeds_get(s, 0, 2, b);
    gls_seeds_destroy(s);
    for (int i = 0; i < 12; i++) {
        assert_true(fabs(a[i / 3][i % 3] - voxel[i / 3][i % 3]) < 1e-5);
        assert_true(fabsf(a[i / 3][i % 3] - b[i / 3][i % 3]) < 1e-5f);
    }
    assert_true(a[2][0] < 8.5f && a[2][1] == -0.5f); /* rounding keeps the seed on the grid */
    s = NULL;
    assert_int_equal(gls_seeds_create_list(voxel + 3, 1, GLS_SEEDS_VOXEL, grid, &s), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "outside"));
    assert_int_equal(gls_seeds_create_list(voxel, 0, GLS_SEEDS_VOXEL, grid, &s), GLS_ERR_INPUT);
    double bad[2][3] = {{1, 1, 1}, {1, NAN, 1}};
    assert_int_equal(gls_seeds_create_list((const double(*)[3])bad, 2, GLS_SEEDS_VOXEL, grid, &s), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "seed 2"));
    assert_null(s);
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);
}

static gls_status read_text(const char *text, gls_seeds **s)
{
    static struct region roi;
    char path[] = "/tmp/gls_seeds_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    make_region(&roi);
    FILE *f = fdopen(fd, "w");
    fputs(text, f);
    fclose(f);
    gls_status status = gls_seeds_read(path, GLS_SEEDS_VOXEL, &roi.image.grid, s);
    if (status != GLS_OK) assert_non_null(strstr(gls_last_error(), path));
    remove(path);
    return status;
}

static void files(void **state)
{
    (void)state;
    gls_seeds *s = NULL;
    float p[2][3];
    assert_int_equal(read_text("# my seeds\n1 2 3\n\n4.5,5\t2e0 # last\n", &s), GLS_OK);
    assert_int_equal(gls_seeds_count(s), 2);
    gls_seeds_get(s, 0, 2, p);
    assert_true(p[0][0] == 1 && p[0][1] == 2 && p[0][2] == 3 && p[1][0] == 4.5f && p[1][1] == 5 && p[1][2] == 2);
    gls_seeds_destroy(s);
    s = NULL;
    assert_int_equal(read_text("1 2\n3 4\n", &s), GLS_ERR_INPUT);
    assert_int_equal(read_text("1 2 3\n1 x 3\n", &s), GLS_ERR_INPUT);
    assert_int_equal(read_text("1 2 3\n1 nan 3\n", &s), GLS_ERR_INPUT);
    assert_int_equal(read_text("-90 20 33\n-91 21 33\n", &s), GLS_ERR_INPUT); /* millimetres, surely */
    assert_int_equal(read_text("# none\n", &s), GLS_ERR_INPUT);
    assert_int_equal(gls_seeds_read("/nonexistent/seeds.txt", GLS_SEEDS_VOXEL, NULL, &s), GLS_ERR_ARGUMENT);
    assert_null(s);
}

static void refused_regions(void **state)
{
    (void)state;
    static struct region roi, mask;
    gls_seeds *s = NULL;
    make_region(&roi);
    make_region(&mask);
    assert_int_equal(gls_seeds_create_random(&roi.image, NULL, 0, 0, &s), GLS_ERR_ARGUMENT);
    for (int i = 0; i < NV; i++) mask.data[i] = roi.data[i] > 0 ? 0 : 1;
    assert_int_equal(gls_seeds_create_random(&roi.image, &mask.image, 10, 0, &s), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "mask"));
    mask.image.grid.dim[2]--;
    assert_int_equal(gls_seeds_create_random(&roi.image, &mask.image, 10, 0, &s), GLS_ERR_INPUT);
    for (int i = 0; i < NV; i++) roi.data[i] = 0;
    assert_int_equal(gls_seeds_create_per_voxel(&roi.image, NULL, 1, 0, &s), GLS_ERR_INPUT);
    assert_int_equal(gls_seeds_create_per_voxel(&roi.image, NULL, 0, 0, &s), GLS_ERR_ARGUMENT);
    assert_null(s);
}

/* Parts of a list: the seeds and their indices are those of the whole. */
static void parts(void **state)
{
    (void)state;
    static struct region roi;
    float whole[1000][3], part[1000][3];
    gls_seeds *s = NULL;
    make_region(&roi);
    for (int list = 0; list < 2; list++) {
        double points[1000][3];
        for (int i = 0; i < 1000; i++)
            for (int a = 0; a < 3; a++) points[i][a] = (i * 7 + a) % 40 * 0.1;
        if (list)
            assert_int_equal(
                gls_seeds_create_list((const double(*)[3])points, 1000, GLS_SEEDS_VOXEL, &roi.image.grid, &s), GLS_OK);
        else
            assert_int_equal(gls_seeds_create_random(&roi.image, NULL, 1000, 3, &s), GLS_OK);
        assert_int_equal(gls_seeds_first(s), 0);
        gls_seeds_get(s, 0, 1000, whole);
        assert_int_equal(gls_seeds_restrict(s, 0, 1001), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_seeds_restrict(s, 1001, 0), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_seeds_restrict(s, UINT64_MAX, 2), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_seeds_restrict(s, 300, 400), GLS_OK);
        assert_int_equal(gls_seeds_first(s), 300);
        assert_int_equal(gls_seeds_count(s), 400);
        gls_seeds_get(s, 300, 400, part);
        assert_memory_equal(part, whole + 300, 400 * sizeof *part);
        assert_int_equal(gls_seeds_restrict(s, 299, 1), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_seeds_restrict(s, 699, 2), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_seeds_restrict(s, 700, 0), GLS_OK);
        assert_int_equal(gls_seeds_count(s), 0);
        gls_seeds_destroy(s);
    }
    assert_int_equal(gls_seeds_restrict(NULL, 0, 0), GLS_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stratified),      cmocka_unit_test(uniform), cmocka_unit_test(any_order_of_access),
        cmocka_unit_test(distant_voxels),  cmocka_unit_test(lists),   cmocka_unit_test(files),
        cmocka_unit_test(refused_regions), cmocka_unit_test(parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
