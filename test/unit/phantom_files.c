#include <glslines/phantom.h>

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[] = "/tmp/gls_phantom_XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static gls_phantom *small(const char *orientation)
{
    gls_phantom_params p = gls_phantom_params_default();
    gls_phantom *phantom = NULL;
    for (int k = 0; k < 3; k++) {
        p.shape[k] = 16 + 2 * k;
        p.voxel_size[k] = 5;
    }
    p.n_directions = 15;
    p.snr = 25;
    memcpy(p.orientation, orientation, 4);
    if (gls_phantom_create(&p, &phantom)) fail_msg("%s", gls_last_error());
    return phantom;
}

static size_t entries(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t n = 0;
    if (!dir) return 0;
    while (readdir(dir)) n++;
    closedir(dir);
    return n - 2; /* . and .. */
}

static void compare_image(const char *folder, const char *name, const gls_image *image, double tolerance)
{
    char path[256];
    gls_image *read = NULL;
    snprintf(path, sizeof path, "%s/%s.nii.gz", folder, name);
    if (gls_image_read(path, GLS_IMAGE_ANY, &read)) fail_msg("%s", gls_last_error());
    assert_int_equal(gls_grid_require_equal(&read->grid, path, &image->grid, "phantom"), GLS_OK);
    assert_int_equal(read->n_volumes, image->n_volumes);
    for (size_t i = 0; i < gls_grid_voxels(&image->grid) * image->n_volumes; i++)
        assert_float_equal(read->data[i], image->data[i], tolerance);
    gls_image_destroy(read);
}

/* Everything reads back, and the table under FSL's rule is the phantom's, whatever the sign of the determinant. */
static void round_trip(const char *orientation)
{
    gls_phantom *p = small(orientation);
    char folder[64], path[256], name[64];
    snprintf(folder, sizeof folder, "%s/%s", root, orientation);
    if (gls_phantom_write(p, folder, GLS_EXISTING_KEEP)) fail_msg("%s", gls_last_error());
    compare_image(folder, "dwi", p->dwi, 0.5001);
    compare_image(folder, "mask", p->mask, 0);
    compare_image(folder, "roi", p->roi, 0);
    compare_image(folder, "tissue", p->tissue, 1e-6);
    compare_image(folder, "peaks", p->peaks, 1e-6);
    assert_int_equal(entries(folder), 9);
    snprintf(path, sizeof path, "%s/bundles", folder);
    assert_int_equal(entries(path), 4 * p->n_bundles);
    for (size_t b = 0; b < p->n_bundles; b++) {
        const gls_phantom_bundle *bundle = &p->bundle[b];
        compare_image(path, bundle->name, bundle->mask, 0);
        for (int e = 0; e < 2; e++) {
            snprintf(name, sizeof name, "%s_end%d", bundle->name, e);
            compare_image(path, name, bundle->ends[e], 0);
        }
        char text[512];
        snprintf(text, sizeof text, "%s/%s.txt", path, bundle->name);
        FILE *file = fopen(text, "r");
        assert_non_null(file);
        for (size_t i = 0; i < bundle->n_points; i++) {
            double x, y, z;
            assert_int_equal(fscanf(file, "%lf %lf %lf", &x, &y, &z), 3);
            assert_float_equal(x, bundle->centre_line[i][0], 1e-4);
            assert_float_equal(y, bundle->centre_line[i][1], 1e-4);
            assert_float_equal(z, bundle->centre_line[i][2], 1e-4);
        }
        double more;
        assert_int_equal(fscanf(file, "%lf", &more), EOF);
        fclose(file);
    }
    char bval[128], bvec[128];
    snprintf(bval, sizeof bval, "%s/dwi.bval", folder);
    snprintf(bvec, sizeof bvec, "%s/dwi.bvec", folder);
    gls_gradients *g = NULL;
    gls_gradients_options options = gls_gradients_options_default();
    assert_int_equal(gls_gradients_read(bval, bvec, &options, &p->dwi->grid, p->dwi->n_volumes, &g), GLS_OK);
    assert_int_equal(g->x_flipped, gls_grid_determinant(&p->dwi->grid) > 0);
    for (size_t i = 0; i < g->n; i++) {
        assert_float_equal(g->bval[i], p->gradients->bval[i], 0);
        for (int k = 0; k < 3; k++) assert_float_equal(g->bvec[i][k], p->gradients->bvec[i][k], 1e-8);
    }
    gls_gradients_destroy(g);
    gls_phantom_destroy(p);
}

static void test_round_trip(void **state)
{
    (void)state;
    round_trip("LAS");
    round_trip("RAS");
    round_trip("PIR");
}

static size_t file_size(const char *folder, const char *name)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) ? 0 : (size_t)info.st_size;
}

static void test_overwrite(void **state)
{
    (void)state;
    gls_phantom *p = small("LPS");
    char folder[64], path[128];
    snprintf(folder, sizeof folder, "%s/over", root);
    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/roi.nii.gz", folder);
    FILE *file = fopen(path, "w");
    fputs("mine", file);
    fclose(file);
    assert_int_equal(gls_phantom_write(p, folder, GLS_EXISTING_KEEP), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "roi.nii.gz"));
    assert_int_equal(entries(folder), 1);
    assert_int_equal(file_size(folder, "roi.nii.gz"), 4);
    assert_int_equal(gls_phantom_write(p, folder, GLS_EXISTING_REPLACE), GLS_OK);
    assert_int_equal(entries(folder), 9);
    assert_true(file_size(folder, "roi.nii.gz") > 100);
    assert_int_equal(gls_phantom_write(p, folder, GLS_EXISTING_REPLACE), GLS_OK);
    assert_int_equal(entries(folder), 9);
    gls_phantom_destroy(p);
}

static void test_write_errors(void **state)
{
    (void)state;
    gls_phantom *p = small("LAS");
    char path[192], folder[128];
    snprintf(path, sizeof path, "%s/file", root);
    FILE *file = fopen(path, "w");
    fclose(file);
    assert_int_equal(gls_phantom_write(p, path, GLS_EXISTING_KEEP), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), path));
    snprintf(folder, sizeof folder, "%s/file/sub", root);
    assert_int_equal(gls_phantom_write(p, folder, GLS_EXISTING_KEEP), GLS_ERR_OUTPUT);
    snprintf(folder, sizeof folder, "%s/none/sub", root);
    assert_int_equal(gls_phantom_write(p, folder, GLS_EXISTING_KEEP), GLS_ERR_OUTPUT);
    assert_int_equal(gls_phantom_write(p, "", GLS_EXISTING_KEEP), GLS_ERR_ARGUMENT);
    /* A folder has the name of the last file: the files that were written are removed, the rest stays. */
    snprintf(folder, sizeof folder, "%s/half", root);
    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/bundles", folder);
    file = fopen(path, "w");
    fclose(file);
    assert_int_equal(gls_phantom_write(p, folder, GLS_EXISTING_KEEP), GLS_ERR_OUTPUT);
    assert_int_equal(entries(folder), 1);
    /* The same if files are replaced: no file gets its name before all can. */
    snprintf(folder, sizeof folder, "%s/taken", root);
    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/roi.nii.gz", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(gls_phantom_write(p, folder, GLS_EXISTING_REPLACE), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "roi.nii.gz: cannot create: is a directory"));
    assert_int_equal(entries(folder), 1);
    gls_phantom_destroy(p);
}

/* The disk fills while the series is written, or later: nothing is left, not even the folder. */
static void test_full_disk(void **state)
{
    (void)state;
    gls_phantom *p = small("LAS");
    struct rlimit old, limit;
    char folder[64];
    snprintf(folder, sizeof folder, "%s/full", root);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    static const rlim_t sizes[] = {20000, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        limit = old;
        limit.rlim_cur = sizes[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        gls_status status = gls_phantom_write(p, folder, GLS_EXISTING_KEEP);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, GLS_ERR_OUTPUT);
        assert_non_null(strstr(gls_last_error(), "File too large"));
        assert_int_equal(access(folder, F_OK), -1);
    }
    gls_phantom_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_overwrite),
        cmocka_unit_test(test_write_errors),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
