/* Shards and their merging: parts that make a whole, the same bytes as one file, and files that must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "lines.h"
#include "tractogram/shard_note.h"
#include "util/maths.h"
#include <glslines/merge.h>
#include <math.h>

enum { N = 57, MAX_POINTS = N * 12, TOTAL_SEEDS = 40 };

static const char *const suffixes[] = {"trx", "trk", "tck"};
static const char *const lines_of_header[] = {"method: test", "step_size: 0.1", NULL};

/* Makes the output of a run: streamlines of 1 .. 12 points, one to three for each seed, some seeds without any. */
static struct {
    uint64_t offset[N + 1];
    uint32_t seed_index[N];
    float seed[N][3], point[MAX_POINTS][3];
} all;

static int make_run(void **state)
{
    for (uint32_t i = 0; i < N; i++) {
        all.offset[i + 1] = all.offset[i] + 1 + (i * 7919 + 3) % 12;
        all.seed_index[i] = i * (TOTAL_SEEDS - 3) / N;
        for (int k = 0; k < 3; k++) all.seed[i][k] = (float)(all.seed_index[i] * 3 + (uint32_t)k) * 0.37f;
    }
    for (uint32_t p = 0; p < all.offset[N]; p++)
        for (uint32_t k = 0; k < 3; k++) all.point[p][k] = (float)((p * 31 + k * 17) % 257) * 0.731f - 60;
    return scratch_create(state);
}

static gls_grid make_grid(double shift)
{
    const double affine[3][4] = {{-1.7, 0.1, 0.2, 80 + shift}, {0.15, 1.9, -0.4, -100}, {0.1, 0.3, 3.0, -60}};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){91, 109, 61}, affine), GLS_OK);
    return grid;
}

typedef struct kind {
    bool half, no_seeds;
    double shift;
    const char *const *lines;
    uint64_t parameters, inputs;
} kind;

static void write_lines(const char *path, const gls_shard *shard, const kind *k, size_t first, size_t n)
{
    gls_tractogram_format format;
    gls_tractogram_writer *writer;
    gls_grid grid = make_grid(k->shift);
    gls_tractogram_options options = gls_tractogram_options_default();
    options.overwrite = true;
    options.precision = k->half ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.header_lines = k->lines ? k->lines : lines_of_header;
    options.shard = shard;
    assert_int_equal(gls_tractogram_format_parse(path, &format), GLS_OK);
    if (format != GLS_FORMAT_TRX) options.precision = GLS_PRECISION_FLOAT;
    if (gls_tractogram_writer_create(path, format, &grid, &options, &writer) != GLS_OK)
        fail_msg("%s", gls_last_error());
    uint64_t offset[N + 1];
    for (size_t i = 0; i <= n; i++) offset[i] = all.offset[first + i] - all.offset[first];
    gls_column column[2];
    gls_streamlines lines = make_streamlines(n, offset, (const float(*)[3])all.point + all.offset[first],
                                             all.seed_index + first, (const float(*)[3])all.seed + first, column);
    if (k->no_seeds) lines.n_dps = 0;
    assert_int_equal(gls_tractogram_writer_append(writer, &lines), GLS_OK);
    if (gls_tractogram_writer_finish(writer) != GLS_OK) fail_msg("%s", gls_last_error());
}

static const char *shard_path(uint32_t index, const char *suffix)
{
    char name[32];
    snprintf(name, sizeof name, "s%u.%s", index, suffix);
    return scratch(name);
}

static void write_shard(uint32_t index, uint32_t count, const char *suffix, const kind *k)
{
    gls_shard shard;
    size_t first = 0, n = 0;
    assert_int_equal(gls_shard_init(index, count, TOTAL_SEEDS, &shard), GLS_OK);
    shard.parameters = k->parameters;
    shard.inputs = k->inputs;
    while (first < N && all.seed_index[first] < shard.first_seed) first++;
    while (first + n < N && all.seed_index[first + n] < shard.first_seed + shard.n_seeds) n++;
    write_lines(shard_path(index, suffix), &shard, k, first, n);
}

static gls_status merge(const char *suffix, const uint32_t *index, size_t n, gls_merge_result *result)
{
    char path[64][64], output[64];
    const char *paths[64];
    for (size_t i = 0; i < n; i++) paths[i] = strcpy(path[i], shard_path(index[i], suffix));
    snprintf(output, sizeof output, "merged.%s", suffix);
    return gls_tractogram_merge(paths, n, scratch(output), GLS_EXISTING_REPLACE, NULL, NULL, result);
}

static void assert_same_files(const char *a, const char *b)
{
    size_t n_a, n_b;
    unsigned char *x = get_file(a, &n_a), *y = get_file(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(x, y, n_a);
    free(x);
    free(y);
}

static void test_parts(void **state)
{
    (void)state;
    static const uint64_t totals[] = {0, 1, 7, 40, 100000, 4294967295u, UINT64_C(1) << 40};
    static const uint32_t counts[] = {1, 2, 3, 8, 101, GLS_MAX_SHARDS};
    gls_shard shard;
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            uint64_t next = 0, least = UINT64_MAX, most = 0;
            for (uint32_t i = 1; i <= counts[c]; i++) {
                assert_int_equal(gls_shard_init(i, counts[c], totals[t], &shard), GLS_OK);
                assert_int_equal(shard.first_seed, next);
                next += shard.n_seeds;
                least = shard.n_seeds < least ? shard.n_seeds : least;
                most = shard.n_seeds > most ? shard.n_seeds : most;
            }
            assert_int_equal(next, totals[t]);
            assert_true(most - least <= 1);
        }
    }
    assert_int_equal(gls_shard_init(0, 3, 10, &shard), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_shard_init(4, 3, 10, &shard), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_shard_init(1, 0, 10, &shard), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_shard_init(1, GLS_MAX_SHARDS + 1, 10, &shard), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_shard_init(1, 1, 10, NULL), GLS_ERR_ARGUMENT);
}

static void test_note(void **state)
{
    (void)state;
    char text[GLS_SHARD_TEXT], changed[GLS_SHARD_TEXT], version[32];
    gls_shard shard, read;
    uint32_t crc = 0xdeadbeefu, crc_read;
    gls_shard_init(GLS_MAX_SHARDS, GLS_MAX_SHARDS, UINT64_MAX, &shard);
    shard.parameters = UINT64_MAX;
    shard.inputs = 5;
    for (int with_crc = 0; with_crc < 2; with_crc++) {
        gls_shard_print(&shard, with_crc ? &crc : NULL, text);
        assert_null(strpbrk(text, ":\"\n\\"));
        assert_true(gls_shard_parse(text, &read, with_crc ? &crc_read : NULL, version));
        assert_memory_equal(&read, &shard, sizeof read);
        assert_string_equal(version, gls_version());
        if (with_crc) assert_int_equal(crc_read, crc);
        assert_false(gls_shard_parse(text, &read, with_crc ? NULL : &crc_read, version));
        for (size_t i = 0; i < strlen(text); i++) {
            strcpy(changed, text);
            changed[i] = ' ';
            if (text[i] != ' ')
                assert_false(gls_shard_parse(changed, &read, with_crc ? &crc_read : NULL, version) &&
                             strcmp(version, gls_version()) == 0);
        }
    }
    assert_false(gls_shard_parse("", &read, NULL, version));
}

static void test_half(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float value = gls_half_value((uint16_t)h);
        if (isnan(value)) {
            assert_true((h & 0x7c00u) == 0x7c00u && (h & 0x3ffu) != 0);
            continue;
        }
        assert_int_equal(gls_half(value), h);
    }
    assert_true(gls_half_value(0x3c00) == 1 && gls_half_value(0x0001) == 0x1p-24f && gls_half_value(0xfbff) == -65504);
}

/* Every format and number of shards, more than seeds too, in any order. */
static void test_same_bytes(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 7, 41, 60};
    static const kind kinds[] = {{.half = false}, {.half = true}, {.no_seeds = true}};
    for (size_t f = 0; f < 3; f++) {
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            char single[32], merged[32];
            snprintf(single, sizeof single, "single.%s", suffixes[f]);
            snprintf(merged, sizeof merged, "merged.%s", suffixes[f]);
            write_lines(scratch(single), NULL, &kinds[k], 0, N);
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                uint32_t index[64];
                gls_merge_result result;
                for (uint32_t i = 0; i < counts[c]; i++) {
                    write_shard(i + 1, counts[c], suffixes[f], &kinds[k]);
                    index[i] = 1 + (i * 37 + 5) % counts[c];
                }
                if (merge(suffixes[f], index, counts[c], &result) != GLS_OK) fail_msg("%s", gls_last_error());
                assert_same_files(scratch(single), scratch(merged));
                assert_int_equal(result.streamlines, N);
                assert_int_equal(result.points, all.offset[N]);
            }
        }
    }
}

static int compare_counts(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_lengths(void **state)
{
    (void)state;
    uint64_t steps[N], sum = 0;
    gls_merge_result r;
    for (int i = 0; i < N; i++) sum += steps[i] = all.offset[i + 1] - all.offset[i] - 1;
    qsort(steps, N, sizeof *steps, compare_counts);
    for (uint32_t i = 1; i <= 2; i++) write_shard(i, 2, "tck", &(kind){.half = false});
    assert_int_equal(merge("tck", (uint32_t[]){1, 2}, 2, &r), GLS_OK);
    assert_true(r.mean_steps == (double)sum / N);
    assert_true(r.median_steps == (double)steps[N / 2]);
    assert_int_equal(r.min_steps, steps[0]);
    assert_int_equal(r.max_steps, steps[N - 1]);
}

static void test_nothing_at_all(void **state)
{
    (void)state;
    gls_merge_result r;
    for (size_t f = 0; f < 3; f++) {
        char single[32], merged[32];
        snprintf(single, sizeof single, "single.%s", suffixes[f]);
        snprintf(merged, sizeof merged, "merged.%s", suffixes[f]);
        write_lines(scratch(single), NULL, &(kind){.half = false}, 0, 0);
        for (uint32_t i = 1; i <= 2; i++) {
            gls_shard shard;
            gls_shard_init(i, 2, TOTAL_SEEDS, &shard);
            write_lines(shard_path(i, suffixes[f]), &shard, &(kind){.half = false}, 0, 0);
        }
        if (merge(suffixes[f], (uint32_t[]){2, 1}, 2, &r) != GLS_OK) fail_msg("%s", gls_last_error());
        assert_same_files(scratch(single), scratch(merged));
        assert_true(r.streamlines == 0 && r.points == 0 && r.max_steps == 0);
    }
}

/* Checks a failure: its text names the culprit, and no file is left. */
static void refuses(const char *suffix, const uint32_t *index, size_t n, gls_status status, const char *text)
{
    char merged[32];
    snprintf(merged, sizeof merged, "merged.%s", suffix);
    unlink(scratch(merged));
    int before = count_files(scratch_folder);
    assert_int_equal(merge(suffix, index, n, NULL), status);
    if (!strstr(gls_last_error(), text)) fail_msg("no '%s' in: %s", text, gls_last_error());
    assert_int_equal(count_files(scratch_folder), before);
}

static void test_wrong_sets(void **state)
{
    (void)state;
    const kind plain = {.half = false};
    static const char *const other_lines[] = {"method: test", "step_size: 0.2", NULL};
    for (size_t f = 0; f < 3; f++) {
        const char *s = suffixes[f];
        char name[16];
        for (uint32_t i = 1; i <= 9; i++) write_shard(i, 9, s, &plain);
        refuses(s, (uint32_t[]){1, 2, 3, 5, 6, 7, 8, 9}, 8, GLS_ERR_INPUT, "of 9 shards 4 is missing");
        refuses(s, (uint32_t[]){9, 1}, 2, GLS_ERR_INPUT, "of 9 shards 2, 3, 4, 5, 6 and 2 more are missing");
        refuses(s, (uint32_t[]){1, 2, 3, 4, 5, 6, 7, 8, 8}, 9, GLS_ERR_INPUT, "is shard 8 of 9, and so is ");
        refuses(s, (uint32_t[]){1, 2, 99}, 3, GLS_ERR_INPUT, "cannot open");
        snprintf(name, sizeof name, "s3.%s", s);
        write_shard(3, 4, s, &plain);
        refuses(s, (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT, "is shard 3 of 4, but ");
        write_shard(3, 9, s, &(kind){.parameters = 1});
        refuses(s, (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT, "the parameters differ");
        write_shard(3, 9, s, &(kind){.inputs = 1});
        refuses(s, (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT, "the input data differ");
        write_shard(3, 9, s, &(kind){.shift = 0.5, .lines = f == GLS_FORMAT_TCK ? other_lines : NULL});
        refuses(s, (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT,
                f == GLS_FORMAT_TCK ? "lines of their headers" : "its reference grid differs");
        write_lines(shard_path(3, s), NULL, &plain, 0, N);
        refuses(s, (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT, "is no shard");
        assert_non_null(strstr(gls_last_error(), name));
        gls_shard other;
        gls_shard_init(3, 9, TOTAL_SEEDS + 1, &other);
        write_lines(shard_path(3, s), &other, &plain, 0, 0);
        refuses(s, (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT, "of 41 seeds, not 40");
    }
    write_shard(1, 2, "trx", &plain);
    write_shard(2, 2, "trx", &(kind){.half = true});
    refuses("trx", (uint32_t[]){1, 2}, 2, GLS_ERR_INPUT, "precision");
    gls_shard empty;
    gls_shard_init(1, 3, TOTAL_SEEDS, &empty);
    write_lines(shard_path(1, "trx"), &empty, &plain, 0, 0);
    write_shard(2, 3, "trx", &plain);
    write_shard(3, 3, "trx", &(kind){.no_seeds = true});
    refuses("trx", (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT, "its columns or groups differ");
    write_shard(1, 2, "trx", &plain);
    write_shard(2, 2, "trx", &(kind){.half = true});
    char a[64], b[64];
    const char *mixed[] = {strcpy(a, shard_path(1, "trx")), strcpy(b, shard_path(2, "trk"))};
    assert_int_equal(gls_tractogram_merge(mixed, 2, scratch("merged.trx"), GLS_EXISTING_REPLACE, NULL, NULL, NULL),
                     GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "of another format"));
    assert_int_equal(gls_tractogram_merge(mixed, 1, scratch("merged.tck"), GLS_EXISTING_REPLACE, NULL, NULL, NULL),
                     GLS_ERR_ARGUMENT);
    assert_int_equal(gls_tractogram_merge(mixed, 0, scratch("merged.trx"), GLS_EXISTING_REPLACE, NULL, NULL, NULL),
                     GLS_ERR_ARGUMENT);
    mixed[0] = scratch_folder;
    assert_int_equal(gls_tractogram_merge(mixed, 1, scratch("merged.trx"), GLS_EXISTING_REPLACE, NULL, NULL, NULL),
                     GLS_ERR_ARGUMENT);
}

/* If a shard is cut off or changed anywhere, it is refused, or the change has no effect on the result. */
static void test_damage(void **state)
{
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        const char *s = suffixes[f];
        char single[32], merged[32], path[64];
        size_t bytes, refused = 0, tried = 0;
        snprintf(single, sizeof single, "single.%s", s);
        snprintf(merged, sizeof merged, "merged.%s", s);
        write_lines(scratch(single), NULL, &(kind){.half = false}, 0, N);
        for (uint32_t i = 1; i <= 3; i++) write_shard(i, 3, s, &(kind){.half = false});
        strcpy(path, shard_path(2, s));
        unsigned char *whole = get_file(path, &bytes);
        for (size_t n = 0; n < bytes; n += 1 + n / 40) {
            put_file(path, whole, n);
            unlink(scratch(merged));
            assert_int_equal(merge(s, (uint32_t[]){1, 2, 3}, 3, NULL), GLS_ERR_INPUT);
            assert_non_null(strstr(gls_last_error(), path));
        }
        for (size_t at = 0; at < bytes; at += at < 300 || bytes - at < 100 ? 1 : 7) {
            tried++;
            whole[at] ^= (unsigned char)(1u << at % 8);
            put_file(path, whole, bytes);
            whole[at] ^= (unsigned char)(1u << at % 8);
            unlink(scratch(merged));
            if (merge(s, (uint32_t[]){1, 2, 3}, 3, NULL) == GLS_OK)
                assert_same_files(scratch(single), scratch(merged));
            else {
                refused++;
                assert_int_not_equal(access(scratch(merged), F_OK), 0);
            }
        }
        assert_true(refused > tried / 2);
        put_file(path, whole, bytes);
        FILE *longer = fopen(path, "ab");
        fputc(0, longer);
        fclose(longer);
        refuses(s, (uint32_t[]){1, 2, 3}, 3, GLS_ERR_INPUT, path);
        free(whole);
    }
}

static bool stop_second(void *user, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return ++*(int *)user < 2;
}

static void test_cancel_and_overwrite(void **state)
{
    (void)state;
    char a[64], b[64];
    const char *paths[] = {strcpy(a, shard_path(1, "trk")), strcpy(b, shard_path(2, "trk"))};
    int calls = 0;
    for (uint32_t i = 1; i <= 2; i++) write_shard(i, 2, "trk", &(kind){.half = false});
    unlink(scratch("merged.trk"));
    assert_int_equal(
        gls_tractogram_merge(paths, 2, scratch("merged.trk"), GLS_EXISTING_KEEP, stop_second, &calls, NULL),
        GLS_ERR_CANCELLED);
    assert_int_not_equal(access(scratch("merged.trk"), F_OK), 0);
    put_file(scratch("merged.trk"), "old", 3);
    assert_int_equal(gls_tractogram_merge(paths, 2, scratch("merged.trk"), GLS_EXISTING_KEEP, NULL, NULL, NULL),
                     GLS_ERR_OUTPUT);
    size_t n;
    unsigned char *old = get_file(scratch("merged.trk"), &n);
    assert_int_equal(n, 3);
    free(old);
}

static void test_head(void **state)
{
    (void)state;
    for (size_t f = 0; f < 3; f++) {
        gls_shard_file file;
        write_shard(2, 3, suffixes[f], &(kind){.parameters = 7, .inputs = 9});
        assert_int_equal(gls_shard_file_read(shard_path(2, suffixes[f]), &file), GLS_OK);
        assert_true(file.shard.index == 2 && file.shard.count == 3 && file.shard.first_seed == 14 &&
                    file.shard.n_seeds == 13);
        assert_true(file.shard.total_seeds == TOTAL_SEEDS && file.shard.parameters == 7 && file.shard.inputs == 9 &&
                    file.format == f);
        assert_true(file.n_streamlines > 0 && file.bytes > 1000);
        assert_string_equal(file.version, gls_version());
    }
    assert_int_equal(gls_shard_file_read(NULL, NULL), GLS_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_note),    cmocka_unit_test(test_half),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_lengths), cmocka_unit_test(test_nothing_at_all),
        cmocka_unit_test(test_wrong_sets), cmocka_unit_test(test_damage),  cmocka_unit_test(test_cancel_and_overwrite),
        cmocka_unit_test(test_head),
    };
    return cmocka_run_group_tests(tests, make_run, scratch_remove);
}
