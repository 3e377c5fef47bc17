/* Readers of tractograms: files of the writers here come back unchanged, and files that must be refused or warned of.
 * Files of other programs: test/peer/tractograms.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "lines.h"
#include "refuses.h"
#include <glslines/log.h>
#include <glslines/tractogram.h>
#include <math.h>
#include <sys/stat.h>

enum { N = 20000, MAX_POINTS = N * 12 };

/* Enough for several calls of a reader. */
static struct {
    uint64_t offset[N + 1];
    uint32_t index[N];
    float seed[N][3], point[MAX_POINTS][3], fa[MAX_POINTS];
    uint8_t rgb[MAX_POINTS][3];
    double weight[N];
    unsigned char left[N], none[N];
} all;

static void keep_warning(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level == GLS_LOG_WARNING) snprintf(warning, sizeof warning, "%s", line);
}

static int make_all(void **state)
{
    for (uint32_t i = 0; i < N; i++) {
        all.offset[i + 1] = all.offset[i] + 1 + (i * 7919 + 3) % 12;
        all.index[i] = i / 2;
        all.weight[i] = 1.0 / (i + 1);
        all.left[i] = i % 3 == 0;
        for (uint32_t k = 0; k < 3; k++) all.seed[i][k] = (float)(i % 100 * 3 + k) * 0.37f;
    }
    for (uint32_t p = 0; p < all.offset[N]; p++) {
        for (uint32_t k = 0; k < 3; k++) {
            all.point[p][k] = (float)((p * 31 + k * 17) % 257) * 0.731f - 60;
            all.rgb[p][k] = (uint8_t)(p + k);
        }
        all.fa[p] = (float)(p % 1000) / 1000;
    }
    gls_log_set(keep_warning, NULL, GLS_LOG_WARNING);
    return scratch_create(state);
}

static gls_grid make_grid(void)
{
    static const double affine[3][4] = {{-1.7, 0.1, 0.2, 80}, {0.15, 1.9, -0.4, -100}, {0.1, 0.3, 3.0, -60}};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){91, 109, 61}, affine), GLS_OK);
    return grid;
}

/* Writes everything. Returns the names of what the format cannot hold. */
static const char *write_all(const char *path, gls_tractogram_format format, bool half)
{
    static char lost[1024];
    static const float mean[2] = {1.5f, -2};
    const gls_group_data dpg = {"left", {"mean", GLS_TYPE_FLOAT32, 2, mean}};
    static const char *const header[] = {"method: test", NULL};
    gls_tractogram_writer *writer;
    gls_grid grid = make_grid();
    gls_tractogram_options options = gls_tractogram_options_default();
    const gls_column dps[] = {{GLS_DPS_SEEDS, GLS_TYPE_FLOAT32, 3, all.seed},
                              {GLS_DPS_SEED_INDEX, GLS_TYPE_UINT32, 1, all.index},
                              {"weight", GLS_TYPE_FLOAT64, 1, all.weight}},
                     dpv[] = {{"fa", GLS_TYPE_FLOAT32, 1, all.fa}, {"rgb", GLS_TYPE_UINT8, 3, all.rgb}},
                     groups[] = {{"left", GLS_TYPE_BOOL, 1, all.left}, {"none", GLS_TYPE_BOOL, 1, all.none}};
    gls_streamlines s = {.n = N,
                         .offset = all.offset,
                         .point = (const float(*)[3])all.point,
                         .n_dps = 3,
                         .dps = dps,
                         .n_dpv = 2,
                         .dpv = dpv,
                         .n_groups = 2,
                         .group = groups};
    options.overwrite = true;
    options.precision = half ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.header_lines = header;
    options.dpg = &dpg;
    options.n_dpg = 1;
    assert_int_equal(gls_tractogram_writer_create(path, format, &grid, &options, &writer), GLS_OK);
    gls_sink sink = gls_tractogram_writer_sink(writer);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    const char *text = gls_tractogram_writer_lost(writer);
    snprintf(lost, sizeof lost, "%s", text ? text : "");
    if (gls_sink_finish(&sink) != GLS_OK) fail_msg("%s", gls_last_error());
    return lost;
}

typedef struct seen {
    const gls_tractogram_info *info;
    size_t n, calls;
    double tolerance; /* mm */
} seen;

static void assert_column(const gls_column *columns, size_t n, const char *name, uint64_t first, uint64_t n_values,
                          const gls_column *expected)
{
    const gls_column *c = gls_column_find(columns, n, name);
    assert_non_null(c);
    for (uint64_t i = 0; i < n_values; i++)
        assert_true(gls_column_value(c, i) == (double)(float)gls_column_value(expected, first + i) ||
                    gls_column_value(c, i) == gls_column_value(expected, first + i));
}

static gls_status compare(void *user, const gls_streamlines *s)
{
    seen *e = user;
    uint64_t first = all.offset[e->n], points = s->offset[s->n];
    e->calls++;
    for (size_t i = 0; i <= s->n; i++) assert_int_equal(s->offset[i] + first, all.offset[e->n + i]);
    for (uint64_t p = 0; p < 3 * points; p++)
        assert_float_equal(s->point[p / 3][p % 3], all.point[first + p / 3][p % 3], e->tolerance);
    if (e->info->format != GLS_FORMAT_TCK) {
        assert_column(s->dps, s->n_dps, "weight", e->n, s->n, &(gls_column){"", GLS_TYPE_FLOAT64, 1, all.weight});
        assert_column(s->dps, s->n_dps, GLS_DPS_SEEDS, 3 * e->n, 3 * s->n,
                      &(gls_column){"", GLS_TYPE_FLOAT32, 3, all.seed});
        assert_column(s->dpv, s->n_dpv, "fa", first, points, &(gls_column){"", GLS_TYPE_FLOAT32, 1, all.fa});
        assert_column(s->dpv, s->n_dpv, "rgb", 3 * first, 3 * points, &(gls_column){"", GLS_TYPE_UINT8, 3, all.rgb});
    }
    if (e->info->format == GLS_FORMAT_TRK) { /* the first group of each streamline, counted from 1 */
        const gls_column *group = gls_column_find(s->dps, s->n_dps, "group");
        assert_non_null(group);
        for (size_t i = 0; i < s->n; i++) assert_true(gls_column_value(group, i) == (all.left[e->n + i] ? 1 : 0));
    }
    if (e->info->format == GLS_FORMAT_TRX) {
        assert_int_equal(s->n_groups, 2);
        assert_memory_equal(s->group[0].data, all.left + e->n, s->n);
        assert_memory_equal(s->group[1].data, all.none + e->n, s->n);
    }
    e->n += s->n;
    return GLS_OK;
}

static void read_all(const char *path, double tolerance)
{
    gls_tractogram_reader *reader;
    if (gls_tractogram_reader_open(path, NULL, &reader) != GLS_OK) fail_msg("%s", gls_last_error());
    seen e = {.info = gls_tractogram_reader_info(reader), .tolerance = tolerance};
    gls_sink sink = {.append = compare, .user = &e};
    assert_int_equal(e.info->n_streamlines, N);
    if (gls_tractogram_pump(reader, &sink, NULL, NULL) != GLS_OK) fail_msg("%s", gls_last_error());
    assert_true(e.n == N && e.calls > 1);
    if (e.info->format == GLS_FORMAT_TRX) {
        const float *mean = e.info->dpg[0].column.data;
        assert_true(e.info->n_dpg == 1 && mean[1] == -2 && e.info->group_size[0] == (N + 2) / 3);
    }
    if (e.info->has_grid) assert_int_equal(e.info->grid.dim[1], 109);
    gls_tractogram_reader_close(reader);
}

static void test_round_trip(void **state)
{
    (void)state;
    *warning = '\0';
    assert_string_equal(write_all(scratch("a.trx"), GLS_FORMAT_TRX, false), "");
    read_all(scratch("a.trx"), 0);
    assert_string_equal(write_all(scratch("h.trx"), GLS_FORMAT_TRX, true), "");
    read_all(scratch("h.trx"), 0.07);
    assert_string_equal(write_all(scratch("a.trk"), GLS_FORMAT_TRK, false), "dpg left/mean");
    read_all(scratch("a.trk"), 2e-5);
    assert_string_equal(
        write_all(scratch("a.tck"), GLS_FORMAT_TCK, false),
        "dpg left/mean, dps seeds, dps seed_index, dps weight, dpv fa, dpv rgb, group left, group none");
    read_all(scratch("a.tck"), 0);
    assert_string_equal(warning, "");
    /* the content decides, not the name */
    assert_int_equal(rename(scratch("a.trk"), scratch("b.trx")), 0);
    read_all(scratch("b.trx"), 2e-5);
}

/* A TCK file of text and n triplets x x x. */
static const char *put_tck_bytes(const char *text, size_t length, const float *x, size_t n, size_t extra)
{
    char data[2048] = "";
    size_t bytes = 256;
    memcpy(data, text, length);
    for (size_t i = 0; i < n; i++, bytes += 12) memcpy(data + bytes, (const float[3]){x[i], x[i], x[i]}, 12);
    put_file(scratch("odd.tck"), data, bytes + extra);
    return scratch("odd.tck");
}

static const char *put_tck(const char *text, const float *x, size_t n, size_t extra)
{
    return put_tck_bytes(text, strlen(text), x, n, extra);
}

static void test_odd_tck(void **state)
{
    (void)state;
    static const char head[] = "mrtrix tracks\ncount: 2\ndatatype: Float32LE\nfile: . 256\nEND\n";
    const float lines[] = {1, 2, NAN, NAN, 3, NAN, INFINITY}, open[] = {1, NAN, 2}, part[] = {1, NAN, INFINITY, 4};
    gls_tractogram_read_options recover = gls_tractogram_read_options_default();
    uint64_t n;
    recover.recover = true;
    assert_int_equal(read_file(put_tck(head, lines, 7, 0), NULL, &n), GLS_OK); /* the second is empty */
    assert_int_equal(n, 3);
    assert_non_null(strstr(warning, "has 3 streamlines, but its header says 2"));
    assert_int_equal(read_file(put_tck(head, lines, 6, 0), NULL, &n), GLS_OK);
    assert_int_equal(n, 3);
    refuses(put_tck(head, open, 3, 0), NULL, "its last streamline has no end");
    assert_int_equal(read_file(put_tck(head, open, 3, 0), &recover, &n), GLS_OK);
    assert_int_equal(n, 1);
    refuses(put_tck(head, lines, 7, 5), NULL, "not whole points");
    assert_int_equal(read_file(put_tck(head, lines, 7, 5), &recover, &n), GLS_OK);
    assert_int_equal(read_file(put_tck(head, part, 4, 0), NULL, &n), GLS_OK);
    assert_int_equal(n, 1);
    assert_non_null(strstr(warning, "data follow the mark at its end"));
    refuses(put_tck("mrtrix tracks\ndatatype: Float16LE\nfile: . 256\nEND\n", lines, 7, 0), NULL, "type Float16LE");
    refuses(put_tck("mrtrix tracks\ndatatype: Float32LE\nfile: . 9999\nEND\n", lines, 7, 0), NULL,
            "begin at byte 9999");
    refuses(put_tck("mrtrix tracks\ndatatype: Float32LE\nfile: . 256\n", lines, 7, 0), NULL, "header has no end");
    refuses(put_tck("mrtrix tracks\ndatatype: Float32LE\nEND\n", lines, 7, 0), NULL,
            "lacks the line datatype or the line file");
    refuses(put_tck("mrtrix tracks\ndatatype: Float32LE\nfile: . 0\nEND\n", lines, 7, 0), NULL, "begin at byte 0");
    /* what MRtrix3 reads, too */
    static const char *const odd[] = {"mrtrix tracks    \ndatatype: float32le\nfile: . 256\nEND\n",
                                      "mrtrix tracks\r\nDataType:FLOAT32LE \r\nfile: . 256\r\nEND\r\n",
                                      "mrtrix tracks\nfile: .  256 # bytes\n\ndatatype : Float32LE\nENDED: 1\nEND ~\n",
                                      "mrtrix tracks\n~\ntag: ~~ \ndatatype: Float32LE~\nfile: . 256~~\n END\n"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char text[256];
        size_t bytes = strlen(odd[i]);
        for (size_t k = 0; k <= bytes; k++) text[k] = odd[i][k] == '~' ? '\0' : odd[i][k];
        put_tck_bytes(text, bytes, lines, 7, 0);
        assert_int_equal(read_file(scratch("odd.tck"), NULL, &n), GLS_OK);
        assert_int_equal(n, 3);
    }
    put_tck("mrtrix tracks\ndatatype: Float32LE\nfile: none.dat 0\nEND\n", lines, 7, 0);
    assert_int_equal(read_file(scratch("odd.tck"), NULL, &n), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "/none.dat: cannot open"));
}

static void put_int(unsigned char *at, int32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (unsigned char)((uint32_t)value >> 8 * i);
}

static void test_odd_trk(void **state)
{
    (void)state;
    size_t bytes;
    uint64_t n;
    write_all(scratch("o.trk"), GLS_FORMAT_TRK, false);
    unsigned char *file = get_file(scratch("o.trk"), &bytes), saved[1000];
    const char *path = strdup(scratch("odd.trk"));
    memcpy(saved, file, sizeof saved);
    struct {
        int at, value, bytes;
        const char *reason;
    } changes[] = {
        {996, 999, 4, "size of its header"}, {992, 4, 4, "of version 4"},         {1000, 0, 4, "without points"},
        {1000, -1, 4, "without points"},     {1000, 1 << 30, 4, "end too early"}, {12, 0, 4, "voxel sizes"},
        {948, 'X', 1, "voxel order"},        {988, N + 1, 4, "end too early"},    {500, 0, 4, "reference"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        unsigned char before[4];
        memcpy(before, file + changes[i].at, 4);
        put_int(file + changes[i].at, changes[i].value, changes[i].bytes);
        put_file(path, file, bytes);
        refuses(path, NULL, changes[i].reason);
        memcpy(file + changes[i].at, before, 4);
    }
    /* an order in small letters is the same order */
    warning[0] = '\0';
    for (int i = 0; i < 3; i++) file[948 + i] |= 0x20;
    put_file(path, file, bytes);
    assert_int_equal(read_file(path, NULL, &n), GLS_OK);
    assert_string_equal(warning, "");
    /* without dimensions there is no grid, but positions */
    put_int(file + 6, 0, 2);
    put_file(path, file, bytes);
    assert_int_equal(read_file(path, NULL, &n), GLS_OK);
    assert_int_equal(n, N);
    assert_non_null(strstr(warning, "no valid dimensions"));
    file[948] = file[948] == 'l' ? 'r' : 'l';
    put_file(path, file, bytes);
    refuses(path, NULL, "no dimensions by which axes could be permuted or flipped");
    memcpy(file, saved, sizeof saved);
    put_int(file + 440, 0x7fc00000, 4);
    put_file(path, file, bytes);
    refuses(path, NULL, "singular or not finite");
    memcpy(file, saved, sizeof saved);
    put_int(file + 988, 0, 4); /* up to the end */
    put_file(path, file, bytes);
    assert_int_equal(read_file(path, NULL, &n), GLS_OK);
    assert_int_equal(n, N);
    put_int(file + 988, 5, 4);
    put_file(path, file, bytes);
    assert_int_equal(read_file(path, NULL, &n), GLS_OK);
    assert_int_equal(n, 5);
    assert_non_null(strstr(warning, "more data follow the 5 streamlines"));
    /* version 1 belongs to an image, from which it takes its axes */
    memcpy(file, saved, sizeof saved);
    put_int(file + 992, 1, 4);
    put_file(path, file, bytes);
    gls_grid grid = make_grid();
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    options.reference = &grid;
    read_all(scratch("o.trk"), 2e-5);
    assert_int_equal(read_file(path, &options, &n), GLS_OK);
    assert_int_equal(n, N);
    grid.dim[0]++;
    refuses(path, &options, "not those of --reference");
    free((void *)path);
    free(file);
}

/* Arrays of a TRX folder, one of which is replaced. */
static const char *put_trx(const char *name, const char *changed, const void *data, size_t bytes)
{
    static const char json[] =
        "{\"DIMENSIONS\": [9, 9, 9], \"VOXEL_TO_RASMM\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]], "
        "\"NB_STREAMLINES\": 2, \"NB_VERTICES\": 3, \"more\": {\"a\": [1, 2]}}";
    static const float points[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const uint32_t offsets[3] = {0, 2, 3}, group[2] = {1, 0};
    const struct {
        const char *name;
        const void *data;
        size_t bytes;
    } arrays[] = {{"header.json", json, sizeof json - 1},
                  {"positions.3.float32", points, sizeof points},
                  {"offsets.uint32", offsets, sizeof offsets},
                  {"dps/w.float32", points, 8},
                  {"dpv/c.3.int8", points, 9},
                  {"groups/g.uint32", group, sizeof group}};
    static const char *const folders[] = {"", "/dps", "/dpv", "/groups"};
    char path[600];
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s/%s'", scratch_folder, name);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s%s", scratch_folder, name, folders[i]);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", scratch_folder, name, arrays[i].name);
        bool other = changed && strcmp(changed, arrays[i].name) == 0;
        put_file(path, other ? data : arrays[i].data, other ? bytes : arrays[i].bytes);
    }
    return scratch(name);
}

static void test_odd_trx(void **state)
{
    (void)state;
    uint64_t n;
    gls_tractogram_reader *reader;
    const uint32_t falling[3] = {0, 3, 2}, far[3] = {0, 4, 4}, late[3] = {1, 2, 3}, id[1] = {2};
    const float invalid[9] = {1, 2, 3, 4, NAN, 6, 7, 8, 9};
    assert_int_equal(gls_tractogram_reader_open(put_trx("t", NULL, NULL, 0), NULL, &reader), GLS_OK);
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    assert_true(info->n_header == 1 && info->n_dps == 1 && info->n_dpv == 1 && info->dpv[0].components == 3);
    assert_string_equal(info->header[0].value, "{\"a\":[1,2]}");
    gls_tractogram_reader_close(reader);
    assert_int_equal(read_file(put_trx("t", "offsets.uint32", falling, 8), NULL, &n),
                     GLS_OK); /* 0, 3: without the last */
    assert_int_equal(n, 2);
    refuses(put_trx("t", "offsets.uint32", falling, 12), NULL, "offsets that do not rise");
    refuses(put_trx("t", "offsets.uint32", far, 12), NULL, "offsets that do not rise");
    refuses(put_trx("t", "offsets.uint32", late, 12), NULL, "first offset is not 0");
    refuses(put_trx("t", "offsets.uint32", far, 4), NULL, "does not have the size");
    refuses(put_trx("t", "positions.3.float32", invalid, 36), NULL,
            "a point of streamline 0 (counted from 0) is not finite; 'glslines edit --invalid drop'");
    refuses(put_trx("t", "dps/w.float32", invalid, 12), NULL, "dps/w.float32 does not have the size");
    refuses(put_trx("t", "groups/g.uint32", id, 4), NULL, "names a streamline that is not there");
    refuses(put_trx("t", "header.json", "{\"NB_VERTICES\": 3}", 18), NULL, "does not say NB_STREAMLINES");
    refuses(put_trx("t", "header.json", "no", 2), NULL, "is no JSON");
    char path[600];
    snprintf(path, sizeof path, "%s/dps/x.complex64", put_trx("t", NULL, NULL, 0));
    put_file(path, invalid, 16);
    refuses(scratch("t"), NULL, "is no array of a known type");
    unlink(path);
    snprintf(path, sizeof path, "%s/header.json", scratch("t"));
    unlink(path);
    refuses(scratch("t"), NULL, "is no TRX folder");
    put_file(scratch("x.trx"), "something else, long enough", 27);
    refuses(scratch("x.trx"), NULL, "is no tractogram of TRX, TRK, TCK or VTK");
    static const char gzip[] = "\x1f\x8b\x08 is how a packed file begins";
    static const char xz[] = "\xfd"
                             "7zXZ is how a packed file begins";
    put_file(scratch("x.tck.gz"), gzip, sizeof gzip);
    refuses(scratch("x.tck.gz"), NULL, "x.tck.gz: damaged compressed data");
    put_file(scratch("x.trk.xz"), xz, sizeof xz);
    refuses(scratch("x.trk.xz"), NULL, "is packed by xz: unpack it first, with 'unxz -k FILE'");
    refuses(scratch("none.trx"), NULL, "cannot open");
}

static void test_archive(void **state)
{
    (void)state;
    size_t bytes;
    write_all(scratch("z.trx"), GLS_FORMAT_TRX, false);
    unsigned char *file = get_file(scratch("z.trx"), &bytes), *end = file + bytes - 22;
    size_t directory = end[16] | (size_t)end[17] << 8 | (size_t)end[18] << 16 | (size_t)end[19] << 24;
    const struct {
        size_t at;
        unsigned char flipped;
        const char *reason;
    } changes[] = {{2000, 1, "positions.3.float32 does not have the checksum"},
                   {directory - 1, 1, "checksum"},
                   {60, 1, "header.json does not have the checksum"},
                   {directory + 8, 1, "header.json is encrypted"},
                   {directory + 10, 9, "packed by a method other than deflate"},
                   {bytes - 18, 1, "a part of a split archive"},
                   {directory, 1, "the directory of the archive"},
                   {0, 1, "is no tractogram"},
                   {bytes - 4, 1, "directory of the archive lies outside"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        file[changes[i].at] ^= changes[i].flipped;
        put_file(scratch("y.trx"), file, bytes);
        refuses(scratch("y.trx"), NULL, changes[i].reason);
        file[changes[i].at] ^= changes[i].flipped;
    }
    put_file(scratch("y.trx"), file, bytes - 1);
    refuses(scratch("y.trx"), NULL, "truncated or damaged");
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_odd_tck), cmocka_unit_test(test_odd_trk),
        cmocka_unit_test(test_odd_trx),    cmocka_unit_test(test_archive),
    };
    return cmocka_run_group_tests(tests, make_all, scratch_remove);
}
