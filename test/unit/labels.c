/* Labels up to 2^31 - 1 are exact from the file to the region, in every type of NIfTI that holds them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include <glslines/connectome.h>
#include <glslines/labels.h>
#include <nifti1.h>

#include "image/nifti_read.h"
#include "image/region_area.h"
#include "image/region_store_parts.h"
#include "image/reorient.h"
#include "sinks/fdt.h"

enum { N = 6 };
static const int32_t wanted[N] = {0, 7, 16777216, 16777217, 2147483646, 2147483647};
static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};

/* Writes a NIfTI file of n values in a row. */
static const char *put_image(const char *name, int datatype, const void *data, size_t bytes, int n, float slope)
{
    const char *path = scratch(name);
    nifti_1_header h = {.sizeof_hdr = 348,
                        .dim = {3, (short)n, 1, 1, 1, 1, 1, 1},
                        .datatype = (short)datatype,
                        .vox_offset = 352,
                        .scl_slope = slope,
                        .sform_code = 1,
                        .pixdim = {1, 1, 1, 1},
                        .srow_x = {1},
                        .srow_y = {0, 1},
                        .srow_z = {0, 0, 1},
                        .magic = "n+1"};
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(&h, sizeof h, 1, file) + fwrite("\0\0\0\0", 4, 1, file) + fwrite(data, bytes, 1, file), 3);
    assert_int_equal(fclose(file), 0);
    return path;
}

#define PUT(name, code, type)                                       \
    {                                                               \
        type data[N];                                               \
        for (int i = 0; i < N; i++) data[i] = (type)wanted[i];      \
        path[n++] = put_image(name, code, data, sizeof data, N, 0); \
    }

static void test_types(void **state)
{
    const char *path[5];
    int n = 0;
    (void)state;
    PUT("i.nii", NIFTI_TYPE_INT32, int32_t)
    PUT("u.nii", NIFTI_TYPE_UINT32, uint32_t)
    PUT("l.nii", NIFTI_TYPE_INT64, int64_t)
    PUT("v.nii", NIFTI_TYPE_UINT64, uint64_t)
    PUT("d.nii", NIFTI_TYPE_FLOAT64, double)
    for (int k = 0; k < n; k++) {
        gls_labels *labels;
        gls_connectome *c;
        const int32_t *found;
        if (gls_labels_read(path[k], &labels)) fail_msg("%s", gls_last_error());
        assert_memory_equal(labels->data, wanted, sizeof wanted);
        assert_int_equal(gls_connectome_create(labels, path[k], NULL, &c), GLS_OK);
        assert_int_equal(gls_connectome_nodes(c, &found), N - 1);
        assert_memory_equal(found, wanted + 1, (N - 1) * sizeof *wanted);
        for (size_t i = 0; i + 1 < N; i++) assert_int_equal(gls_connectome_get_node(c, i).voxels, 1);
        gls_connectome_destroy(c);
        gls_labels_destroy(labels);
        /* each label alone is a region of --include NAME:LABEL, of one voxel */
        for (int i = 1; i < N; i++) {
            char text[300];
            gls_region_area area;
            snprintf(text, sizeof text, "%s:%d", path[k], wanted[i]);
            if (gls_region_area_read("include", text, &area)) fail_msg("%s", gls_last_error());
            assert_int_equal(area.voxels, 1);
            assert_int_equal(area.inside[i], 1);
            gls_region_area_finish(&area);
        }
        /* targets of track --fdt-targets and --fdt-network */
        gls_fdt_numbering numbering = {0};
        assert_int_equal(gls_fdt_numbering_of_labels(&(gls_run_sinks){0}, path[k], 2, &numbering), GLS_OK);
        assert_int_equal(numbering.n, N - 1);
        for (int i = 0; i + 1 < N; i++) {
            assert_int_equal(numbering.label[i], wanted[i + 1]);
            assert_int_equal(gls_fdt_number_at(&numbering, (const float[3]){(float)i + 1, 0, 0}), i + 1);
        }
        gls_fdt_numbering_finish(&numbering);
        /* read as numbers, they are rounded, which a warning says */
        gls_image *image;
        bool rounded = false;
        assert_int_equal(gls_image_read_rounded(path[k], GLS_IMAGE_3D, &image, &rounded), GLS_OK);
        assert_true(rounded);
        gls_image_destroy(image);
        /* the seed region of a data set */
        gls_image *chosen;
        gls_grid grid;
        const gls_image_choice choice = {.label = wanted + 3, .n_labels = 1};
        assert_int_equal(gls_grid_init(&grid, (const int32_t[]){N, 1, 1}, affine), GLS_OK);
        assert_int_equal(gls_image_choose(path[k], &choice, &grid, &chosen), GLS_OK);
        for (int i = 0; i < N; i++) assert_true(chosen->data[i] == (float)(i == 3));
        gls_image_destroy(chosen);
    }
}

static void test_written(void **state)
{
    int32_t data[N];
    gls_grid grid;
    gls_labels *labels, *back;
    (void)state;
    memcpy(data, wanted, sizeof data);
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){1, N, 1}, affine), GLS_OK);
    assert_int_equal(gls_labels_wrap(&grid, data, &labels), GLS_OK);
    assert_int_equal(gls_labels_write(scratch("w.nii.gz"), labels), GLS_OK);
    assert_int_equal(gls_labels_read(scratch("w.nii.gz"), &back), GLS_OK);
    assert_memory_equal(back->data, wanted, sizeof wanted);
    gls_labels_destroy(back);
    data[0] = -1;
    assert_int_equal(gls_labels_write(scratch("w.nii.gz"), labels), GLS_ERR_INPUT);
    gls_labels_destroy(labels);
}

/* Numbers that float holds exactly give no warning: those up to 2^24, fractions, scaled ones. */
static void test_not_rounded(void **state)
{
    const int32_t whole[] = {-16777216, 16777216}, large[] = {1, 16777217};
    const double real[] = {0.1, 16777217.5, 1e300};
    const char *const path[] = {put_image("w.nii", NIFTI_TYPE_INT32, whole, sizeof whole, 2, 0),
                                put_image("s.nii", NIFTI_TYPE_INT32, large, sizeof large, 2, 0.1f),
                                put_image("r.nii", NIFTI_TYPE_FLOAT64, real, sizeof real, 3, 0)};
    (void)state;
    for (int k = 0; k < 3; k++) {
        gls_image *image;
        bool rounded = false;
        assert_int_equal(gls_image_read_rounded(path[k], GLS_IMAGE_3D, &image, &rounded), GLS_OK);
        assert_false(rounded);
        gls_image_destroy(image);
    }
}

/* The fdt options number voxels in 32 bits. */
static void test_fdt_grid(void **state)
{
    gls_grid grid;
    gls_fdt_numbering numbering = {0};
    (void)state;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){65536, 32767, 2}, affine), GLS_OK);
    assert_int_equal(gls_fdt_numbering_of_grid(&grid, &numbering), GLS_OK);
    assert_int_equal(numbering.n, 65536u * 32767u * 2u);
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){65536, 32768, 2}, affine), GLS_OK);
    assert_int_equal(gls_fdt_numbering_of_grid(&grid, &numbering), GLS_ERR_UNSUPPORTED);
}

/* Numbers that cannot be labels, or may have been other numbers before they were stored. */
static void test_refused(void **state)
{
    static const struct {
        double value;
        bool single;
        const char *reason;
    } cases[] = {
        {-1, false, "has the value -1, but labels"},
        {1.5, false, "has the value 1.5, but labels"},
        {2147483648.0, false, "has the value 2.14748365e+09, but labels"},
        {16777216, true, "may have been rounded: store such labels as integers"},
        {16777218, true, "may have been rounded: store such labels as integers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double wide[2] = {1, cases[i].value};
        const float narrow[2] = {1, (float)cases[i].value};
        gls_labels *labels = NULL;
        const char *path = cases[i].single ? put_image("f.nii", NIFTI_TYPE_FLOAT32, narrow, sizeof narrow, 2, 0)
                                           : put_image("f.nii", NIFTI_TYPE_FLOAT64, wide, sizeof wide, 2, 0);
        assert_int_equal(gls_labels_read(path, &labels), GLS_ERR_INPUT);
        assert_null(labels);
        if (!strstr(gls_last_error(), cases[i].reason)) fail_msg("case %zu: %s", i, gls_last_error());
    }
}

/* Labels as float32 up to 2^24 - 1, and labels that a slope has rounded. */
static void test_floats(void **state)
{
    const float single[3] = {0, 3, 16777215};
    const int16_t scaled[3] = {0, 10, 330};
    gls_labels *labels;
    (void)state;
    assert_int_equal(gls_labels_read(put_image("s.nii", NIFTI_TYPE_FLOAT32, single, sizeof single, 3, 0), &labels),
                     GLS_OK);
    assert_int_equal(labels->data[2], 16777215);
    gls_labels_destroy(labels);
    assert_int_equal(gls_labels_read(put_image("s.nii", NIFTI_TYPE_INT16, scaled, sizeof scaled, 3, 0.1f), &labels),
                     GLS_OK);
    assert_int_equal(labels->data[1], 1);
    assert_int_equal(labels->data[2], 33);
    gls_labels_destroy(labels);
}

/* Rows of a table and of --labels raw beside the labels that occur. */
static void test_rows(void **state)
{
    int32_t data[3] = {0, 2147483647, 5};
    const int32_t rows[] = {9, 5, -3, 2147483646, 0};
    const int32_t *found;
    gls_grid grid;
    gls_labels *labels;
    gls_connectome *c;
    gls_connectome_options o = gls_connectome_options_default();
    (void)state;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){3, 1, 1}, affine), GLS_OK);
    assert_int_equal(gls_labels_wrap(&grid, data, &labels), GLS_OK);
    o.rows = rows;
    o.n_rows = 5;
    assert_int_equal(gls_connectome_create(labels, "labels", &o, &c), GLS_OK);
    assert_int_equal(gls_connectome_nodes(c, &found), 4);
    assert_memory_equal(found, ((const int32_t[]){5, 9, 2147483646, 2147483647}), 4 * sizeof *found);
    gls_connectome_destroy(c);
    o.raw_labels = true;
    assert_int_equal(gls_connectome_create(labels, "labels", &o, &c), GLS_ERR_UNSUPPORTED);
    data[1] = 7;
    o.n_rows = 0;
    assert_int_equal(gls_connectome_create(labels, "labels", &o, &c), GLS_OK);
    assert_int_equal(gls_connectome_nodes(c, &found), 7);
    for (int i = 0; i < 7; i++) assert_int_equal(found[i], i + 1);
    assert_int_equal(gls_connectome_get_node(c, 4).voxels, 1);
    gls_connectome_destroy(c);
    gls_labels_destroy(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types),       cmocka_unit_test(test_written),
                                       cmocka_unit_test(test_not_rounded), cmocka_unit_test(test_fdt_grid),
                                       cmocka_unit_test(test_refused),     cmocka_unit_test(test_floats),
                                       cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
