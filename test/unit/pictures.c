/* Options of pictures and reports that are missing or out of range, and the numbers in what is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/render.h>
#include <glslines/report.h>

#include "render/stage.h"
#include "skip.h"
#include "util/file.h"

static const char *const absent[] = {"/nowhere/absent.tck"};

static gls_status draw(const gls_render_options *o)
{
    return gls_render_files(absent, 1, "/tmp/absent.png", o, NULL);
}

/* Valid options get as far as the error that the file does not exist. */
static void test_missing_texts(void **state)
{
    (void)state;
    gls_render_options o = gls_render_options_default();
    assert_int_equal(draw(NULL), GLS_ERR_INPUT);
    o.views = "superior,oblique,slab";
    o.slab = o.oblique = o.planes = o.background = o.device = NULL;
    assert_int_equal(draw(&o), GLS_ERR_INPUT);
    const char *const none[] = {absent[0], NULL};
    assert_int_equal(gls_render_files(none, 2, "/tmp/absent.png", NULL, NULL), GLS_ERR_ARGUMENT);
}

#define REFUSED(member, ...)                                 \
    do {                                                     \
        gls_render_options o = gls_render_options_default(); \
        o.member = __VA_ARGS__;                              \
        print_message("%s = %s\n", #member, #__VA_ARGS__);   \
        assert_int_equal(draw(&o), GLS_ERR_ARGUMENT);        \
    } while (0)

static void test_out_of_range(void **state)
{
    (void)state;
    REFUSED(size, 3);
    REFUSED(radius, NAN);
    REFUSED(opacity, 0);
    REFUSED(occlusion, -1);
    REFUSED(max_streamlines, UINT64_MAX);
    REFUSED(min_length, NAN);
    REFUSED(min_length, -1);
    REFUSED(max_length, NAN);
    REFUSED(columns, -1);
    REFUSED(colormap, 9);
    REFUSED(api, (gls_graphics)9);
    REFUSED(sh_frame, -1);
    REFUSED(style, (gls_render_style)7);
    REFUSED(convention, (gls_render_convention)7);
    REFUSED(turn, 7);
    REFUSED(fps, 0);
    REFUSED(crop, (gls_numbers){{-INFINITY, 1, 0, 1, 0, 1}, 6});
    REFUSED(crop, (gls_numbers){{NAN, 1, 0, 1, 0, 1}, 6});
    REFUSED(range, (gls_numbers){{0, INFINITY}, 2});
    REFUSED(image_range, (gls_numbers){{1, NAN}, 2});
    REFUSED(fit, "1e-9");
    REFUSED(fit, "1e300");
    REFUSED(oblique, "nan,0");
    REFUSED(tile, "8192x99999999999999999999");
    gls_render_options o = gls_render_options_default();
    o.views = "slab";
    o.slab = "axial:12:1e999";
    assert_int_equal(draw(&o), GLS_ERR_ARGUMENT);
}

static void write_line(const char *path)
{
    FILE *f = fopen(path, "wb");
    char head[128] = "mrtrix tracks\ndatatype: Float32LE\ncount: 1\nfile: . 128\ntimestamp: 1\nEND\n";
    const float point[][3] = {{0, 0, 0}, {1.5f, 0.25f, 0}, {NAN, NAN, NAN}, {INFINITY, INFINITY, INFINITY}};
    assert_non_null(f);
    fwrite(head, 1, sizeof head, f);
    fwrite(point, 1, sizeof point, f);
    assert_int_equal(fclose(f), 0);
}

/* A report says the same whatever the locale of the host program. */
static void test_locale(void **state)
{
    char folder[] = "/tmp/glslines_pictures_XXXXXX", tracks[64], page[64], *text[2];
    size_t n[2];
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) leave_out("LOCALE", "the locale de_DE.UTF-8");
    assert_non_null(mkdtemp(folder));
    snprintf(tracks, sizeof tracks, "%s/line.tck", folder);
    snprintf(page, sizeof page, "%s/line.html", folder);
    write_line(tracks);
    gls_report_options o = gls_report_options_default();
    o.device = "a device that is not there"; /* without a device the report has no pictures */
    o.force = true;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(gls_report_files(tracks, &o, NULL, NULL), GLS_OK);
        assert_int_equal(gls_file_read(page, 1 << 24, &text[i], &n[i]), GLS_OK);
        assert_string_equal(localeconv()->decimal_point, i == 0 ? "," : ".");
        setlocale(LC_ALL, "C");
    }
    assert_non_null(strstr(text[0], "Mean 1.5 mm"));
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(text[0], text[1], n[0]);
    for (int i = 0; i < 2; i++) free(text[i]);
    unlink(tracks);
    unlink(page);
    rmdir(folder);
}

/* Values of the images of the window: a few huge ones leave steps to the others, and a flat image is not black. */
static void test_values_of_slices(void **state)
{
    enum { N = 125, HEAD = 36 };
    (void)state;
    static const int32_t dim[3] = {5, 5, 5};
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    gls_image *image;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &image), GLS_OK);
    for (int round = 0; round < 3; round++) {
        gls_text text = {0};
        uint16_t stored[N];
        float range[2];
        for (int i = 0; i < N; i++) image->data[i] = round == 2 ? 1 : (float)(i + 1) / (2 * N);
        if (round == 1) image->data[7] = 1e6F;
        assert_int_equal(gls_stage_values(image, 1e6, &text), GLS_OK);
        assert_int_equal(text.length, HEAD + 2 * N);
        char *bytes = gls_text_take(&text);
        memcpy(range, bytes + HEAD - sizeof range, sizeof range);
        memcpy(stored, bytes + HEAD, sizeof stored);
        free(bytes);
        for (int i = 0; i < N; i++) {
            const float v = range[0] + (float)(stored[i] - 1) / 65534 * (range[1] - range[0]);
            if (round != 1 || i != 7) assert_float_equal(v, image->data[i], 1e-4F);
        }
        if (round == 0) assert_float_equal(range[1], 0.5F, 1e-6F);
        if (round == 1) assert_int_equal(stored[7], 65535);
        if (round == 2) assert_true(range[0] <= 0 && stored[0] > 60000);
    }
    gls_image_destroy(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_texts),
        cmocka_unit_test(test_out_of_range),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_values_of_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
