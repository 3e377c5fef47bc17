/* Results that are kept for later runs: files that a sidecar lists, fits, notes. None is taken for another, and no file
 * of another program is replaced or written through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "files.h"
#include "dwi/fit_cache.h"
#include "record/sidecar.h"
#include "util/json_text.h"
#include "util/output_file.h"

/* --- outputs -------------------------------------------------------------- */

static void written(void **state)
{
    char path[512], other[512];
    (void)state;
    snprintf(path, sizeof path, "%s", scratch("map.nii"));
    snprintf(other, sizeof other, "%s", scratch("other.nii"));
    put_file(path, "the map", 7);
    put_file(other, "the mop", 7);
    cJSON *entry = cJSON_CreateObject();
    assert_false(gls_written_is(entry, path));
    assert_int_equal(gls_written_note(entry, path), GLS_OK);
    entry = gls_json_written(entry);
    assert_true(gls_written_is(entry, path));
    assert_false(gls_written_is(entry, other));
    assert_false(gls_written_is(entry, scratch("absent.nii")));
    assert_false(gls_written_is(entry, scratch_folder));
    assert_false(gls_written_is(NULL, path));
    put_file(path, "", 0);
    assert_false(gls_written_is(entry, path));
    cJSON_Delete(entry);
}

/* Of a large file pieces are read, from its first byte to its last. */
static void written_in_parts(void **state)
{
    const off_t bytes = ((off_t)64 << 20) + 12345;
    const off_t changed[] = {0, bytes / 2, bytes - 1};
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s", scratch("large.trx"));
    put_file(path, "", 0);
    assert_int_equal(truncate(path, bytes), 0);
    cJSON *entry = cJSON_CreateObject();
    assert_int_equal(gls_written_note(entry, path), GLS_OK);
    entry = gls_json_written(entry);
    assert_non_null(cJSON_GetObjectItem(entry, "xxh3_64_of_parts"));
    assert_true(gls_written_is(entry, path));
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        /* enough for the parts in which two runs differ */
        FILE *file = fopen(path, "r+b");
        const off_t from = changed[i] > (1 << 21) ? changed[i] - (1 << 21) : 0;
        assert_non_null(file);
        for (off_t at = from; at <= changed[i]; at += 4096) fseeko(file, at, SEEK_SET), fputc('x', file);
        fseeko(file, changed[i], SEEK_SET), fputc('x', file);
        fclose(file);
        assert_false(gls_written_is(entry, path));
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(truncate(path, bytes), 0);
        assert_true(gls_written_is(entry, path));
    }
    cJSON_Delete(entry);
    unlink(path);
}

/* --- fits ----------------------------------------------------------------- */

static gls_image *make_image(float value)
{
    static const double affine[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    gls_grid grid;
    gls_image *image;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){3, 2, 2}, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &image), GLS_OK);
    image->data[0] = value;
    return image;
}

static cJSON *make_key(double order)
{
    cJSON *key = cJSON_CreateObject();
    cJSON_AddStringToObject(key, "image", "fa");
    gls_fit_cache_key_number(key, "order", order);
    return key;
}

/* Returns the value that is kept under a key; -1: none. */
static float kept_value(const cJSON *key, const gls_image *like)
{
    gls_image *read = NULL;
    if (!gls_fit_cache_read(scratch_folder, "fa", key, &like->grid, 1, &read)) return -1;
    const float value = read->data[0];
    gls_image_destroy(read);
    return value;
}

static void assert_text(const char *path, const char *text)
{
    size_t n;
    unsigned char *data = get_file(path, &n);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(data, text, n);
    free(data);
}

static void fits(void **state)
{
    gls_image *one = make_image(1), *two = make_image(2);
    cJSON *key = make_key(4), *other = make_key(6);
    char *image = gls_fit_cache_path(scratch_folder, "fa", key, "nii"),
         *json = gls_fit_cache_path(scratch_folder, "fa", key, "json");
    char thesis[512];
    (void)state;
    assert_true(kept_value(key, one) == -1);
    gls_fit_cache_write(scratch_folder, "fa", key, one);
    assert_true(kept_value(key, one) == 1);
    /* the result of another key lies beside it, and existing files are not replaced */
    assert_true(kept_value(other, one) == -1);
    gls_fit_cache_write(scratch_folder, "fa", other, two);
    gls_fit_cache_write(scratch_folder, "fa", key, two);
    assert_true(kept_value(key, one) == 1 && kept_value(other, one) == 2);
    /* files that others put there stay, and are no fits */
    put_file(image, "theirs", 6);
    assert_true(kept_value(key, one) == -1);
    gls_fit_cache_write(scratch_folder, "fa", key, one);
    assert_text(image, "theirs");
    /* a note that has lost its hash, beside an image that cannot be read */
    cJSON *note = gls_json_read(json, 1 << 20);
    cJSON_ReplaceItemInObject(note, "contents", cJSON_CreateString(""));
    char *text = gls_json_print(note);
    put_file(json, text, strlen(text));
    assert_true(kept_value(key, one) == -1);
    free(text);
    cJSON_Delete(note);
    unlink(image);
    put_file(json, "{", 1);
    gls_fit_cache_write(scratch_folder, "fa", key, one);
    assert_text(json, "{");
    assert_int_equal(access(image, F_OK), -1);
    unlink(json);
    /* links, of which one may lead to a file of the user */
    snprintf(thesis, sizeof thesis, "%s", scratch("thesis.txt"));
    put_file(thesis, "my thesis", 9);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(symlink(i ? "nowhere" : thesis, image), 0);
        gls_fit_cache_write(scratch_folder, "fa", key, one);
        unlink(image);
        assert_int_equal(symlink(i ? "nowhere" : thesis, json), 0);
        gls_fit_cache_write(scratch_folder, "fa", key, one);
        assert_true(kept_value(key, one) == -1);
        unlink(json);
        assert_text(thesis, "my thesis");
        assert_int_equal(access(scratch("nowhere"), F_OK), -1);
    }
    /* a note without its image, as where a process was killed between their names */
    gls_fit_cache_write(scratch_folder, "fa", key, one);
    unlink(image);
    gls_fit_cache_write(scratch_folder, "fa", key, two);
    assert_int_equal(access(image, F_OK), -1);
    gls_fit_cache_write(scratch_folder, "fa", key, one);
    assert_true(kept_value(key, one) == 1);
    /* a link to a whole fit is none either */
    assert_int_equal(rename(image, scratch("moved.nii")), 0);
    assert_int_equal(symlink(scratch("moved.nii"), image), 0);
    assert_true(kept_value(key, one) == -1);
    free(image);
    free(json);
    cJSON_Delete(key);
    cJSON_Delete(other);
    gls_image_destroy(one);
    gls_image_destroy(two);
}

/* In a folder in which all may write only the user's own files count. */
static void of_others(void **state)
{
    gls_image *one = make_image(1);
    cJSON *key = make_key(8);
    char *image = gls_fit_cache_path(scratch_folder, "fa", key, "nii");
    (void)state;
    if (geteuid() != 0) skip();
    gls_fit_cache_write(scratch_folder, "fa", key, one);
    assert_int_equal(chown(image, 12345, 12345), 0);
    assert_int_equal(chmod(scratch_folder, 0770), 0);
    assert_true(kept_value(key, one) == 1);
    assert_int_equal(chmod(scratch_folder, 01777), 0);
    assert_true(kept_value(key, one) == -1);
    assert_int_equal(chmod(scratch_folder, 0700), 0);
    free(image);
    cJSON_Delete(key);
    gls_image_destroy(one);
}

/* --- notes ---------------------------------------------------------------- */

static void notes(void **state)
{
    char folder[512], path[4096], theirs[512];
    (void)state;
    snprintf(folder, sizeof folder, "%s", scratch("cache"));
    snprintf(theirs, sizeof theirs, "%s", scratch("theirs.txt"));
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_true(gls_kept_path("drivers", 7, true, path, sizeof path));
    assert_int_equal(gls_kept_write(path, "one", 3), GLS_OK);
    assert_int_equal(gls_kept_write(path, "two", 3), GLS_OK);
    assert_text(path, "two");
    assert_true(gls_kept_is_file(path, true));
    unlink(path);
    put_file(theirs, "theirs", 6);
    assert_int_equal(symlink(theirs, path), 0);
    assert_int_equal(gls_kept_write(path, "ours", 4), GLS_ERR_OUTPUT);
    assert_text(theirs, "theirs");
    assert_false(gls_kept_is_file(path, false));
    assert_true(gls_kept_file("devices.json", false, path, sizeof path));
    /* another user's folder is none */
    if (geteuid() != 0) return;
    snprintf(path, sizeof path, "%s/glslines", folder);
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_false(gls_kept_file("devices.json", true, path, sizeof path));
    assert_false(gls_kept_path("drivers", 7, false, path, sizeof path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written), cmocka_unit_test(written_in_parts),
        cmocka_unit_test(fits),    cmocka_unit_test(of_others),
        cmocka_unit_test(notes),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
