/* The results of the check of a device are found again for the same driver and version, and for no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "track/check/checked.h"

static char path[] = "/tmp/glslines-checked-XXXXXX";

static gls_device_info device_named(const char *renderer, const char *version)
{
    gls_device_info d = {.subgroup_size = 32, .subgroup_features = 0xff, .max_work_group_size = 1024};
    snprintf(d.renderer, sizeof d.renderer, "%s", renderer);
    snprintf(d.version, sizeof d.version, "%s", version);
    return d;
}

static void keep(const gls_device_info *device, const char *variant, gls_mapping mapping)
{
    gls_checked memory;
    gls_checked_begin(&memory, device);
    gls_checked_add(&memory, variant, mapping);
    gls_checked_finish(&memory);
}

static void found_again(void **state)
{
    (void)state;
    gls_device_info one = device_named("one", "1"), newer = device_named("one", "2"), two = device_named("two", "1");
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_PROB, 4), GLS_MAPPING_AUTO);
    keep(&one, "prob4", GLS_MAPPING_GROUP);
    keep(&two, "prob8", GLS_MAPPING_SUBGROUP);
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_PROB, 4), GLS_MAPPING_GROUP);
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_PROB, 8), GLS_MAPPING_AUTO);
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_DET, 4), GLS_MAPPING_AUTO);
    assert_int_equal(gls_checked_mapping(&newer, GLS_DG_PROB, 4), GLS_MAPPING_AUTO);
    assert_int_equal(gls_checked_mapping(&two, GLS_DG_PROB, 6), GLS_MAPPING_SUBGROUP);
    /* a mapping that the device does not have any more */
    two.subgroup_size = 0;
    assert_int_equal(gls_checked_mapping(&two, GLS_DG_PROB, 6), GLS_MAPPING_AUTO);
    /* a new check forgets only the last check of that device */
    keep(&one, "det4", GLS_MAPPING_AUTO);
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_PROB, 4), GLS_MAPPING_AUTO);
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_DET, 4), GLS_MAPPING_AUTO);
    two.subgroup_size = 32;
    assert_int_equal(gls_checked_mapping(&two, GLS_DG_PROB, 8), GLS_MAPPING_SUBGROUP);
}

/* A file with other contents counts as no file, and is replaced. */
static void damaged(void **state)
{
    static const char *const texts[] = {"", "{", "[]", "3", "{\"one | 1\": 3}", "\xff\xfe", "{\"a\": {\"prob4\": 7}}"};
    (void)state;
    gls_device_info one = device_named("one", "1");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs(texts[i], file);
        fclose(file);
        assert_int_equal(gls_checked_mapping(&one, GLS_DG_BOOT, 4), GLS_MAPPING_AUTO);
        keep(&one, "boot4", GLS_MAPPING_SUBGROUP);
        assert_int_equal(gls_checked_mapping(&one, GLS_DG_BOOT, 4), GLS_MAPPING_SUBGROUP);
    }
}

static void nothing_kept(void **state)
{
    (void)state;
    gls_device_info one = device_named("one", "1");
    setenv("GLSLINES_CHECKED", "", 1);
    keep(&one, "boot4", GLS_MAPPING_GROUP);
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_BOOT, 4), GLS_MAPPING_AUTO);
    setenv("GLSLINES_CHECKED", path, 1);
    assert_int_equal(gls_checked_mapping(&one, GLS_DG_BOOT, 4), GLS_MAPPING_SUBGROUP);
}

int main(void)
{
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    setenv("GLSLINES_CHECKED", path, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_again), cmocka_unit_test(damaged),
                                       cmocka_unit_test(nothing_kept)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
