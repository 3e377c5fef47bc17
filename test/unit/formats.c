/* Small files of every format by the programs that write them, against the numbers that went in: test/formats/write.py
 * wrote them, and says what they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/glslines.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "util/file.h"

static const double scene_affine[3][4] = {{-1.9, 0.2, 0.1, 20}, {0.2, 1.9, -0.1, -15}, {0.1, 0.1, 2.5, -7}};
static const int32_t scene_dim[3] = {4, 5, 3};

static const char *file(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", GLS_TEST_FORMATS, name);
    return path;
}

#define assert_read(call, name) \
    if ((call) != GLS_OK) fail_msg("%s: %s", name, gls_last_error())

static gls_image *read_image(const char *name)
{
    gls_image *image = NULL;
    assert_read(gls_image_read(file(name), GLS_IMAGE_ANY, &image), name);
    return image;
}

/* Returns the voxel of the scene at the place of voxel v of an image that may store it along other axes. */
static void scene_voxel(const gls_image *image, size_t v, const char *name, int32_t index[3])
{
    const size_t dim[2] = {(size_t)image->grid.dim[0], (size_t)image->grid.dim[1]};
    const double at[3] = {(double)(v % dim[0]), (double)(v / dim[0] % dim[1]), (double)(v / dim[0] / dim[1])};
    double inverse[3][4], world[3];
    gls_grid scene;
    assert_int_equal(gls_grid_init(&scene, scene_dim, scene_affine), GLS_OK);
    gls_grid_inverse(&scene, inverse);
    for (int r = 0; r < 3; r++) {
        const double *a = image->grid.affine[r];
        world[r] = a[0] * at[0] + a[1] * at[1] + a[2] * at[2] + a[3];
    }
    for (int r = 0; r < 3; r++) {
        const double x = inverse[r][0] * world[0] + inverse[r][1] * world[1] + inverse[r][2] * world[2] + inverse[r][3];
        index[r] = (int32_t)lround(x);
        if (fabs(x - index[r]) > 0.05 || index[r] < 0 || index[r] >= scene_dim[r])
            fail_msg("%s: voxel %zu lies at %g of axis %d", name, v, x, r);
    }
}

static double scene_value(const int32_t i[3], size_t volume)
{
    return 1 + i[0] + 4 * i[1] + 20 * i[2] + 60 * (double)volume;
}

static double as_it_is(const int32_t i[3], size_t volume)
{
    return scene_value(i, volume);
}
static double above_99(const int32_t i[3], size_t volume)
{
    return scene_value(i, volume) > 99.5;
}
static double label(const int32_t i[3], size_t volume)
{
    return floor(scene_value(i, volume) / 30);
}
/* Checks tissues: cortex, deep grey matter, white matter; CSF and pathology by halves. */
static double tissue(const int32_t i[3], size_t volume)
{
    return i[0] < 3 ? volume == (size_t)i[0] : volume > 2 ? 0.5 : 0;
}

static void test_images(void **state)
{
    static const struct {
        const char *name;
        size_t n_volumes;
        double (*value)(const int32_t i[3], size_t volume);
    } images[] = {
        {"nibabel_scaled_qform.nii", 3, as_it_is},
        {"nibabel_2_big.nii.gz", 3, as_it_is},
        {"nibabel_pair.hdr", 3, as_it_is},
        {"nibabel_pair.img", 3, as_it_is},
        {"mrtrix.nii.gz", 3, as_it_is},
        {"mrtrix_packed.nii", 3, as_it_is},
        {"mrtrix.mif", 3, as_it_is},
        {"mrtrix_volumes_first.mif.gz", 3, as_it_is},
        {"mrtrix.mih", 3, as_it_is},
        {"mrtrix_bits.mif", 3, above_99},
        {"mrtrix_labels.mif", 1, label},
        {"mrtrix_5tt.mif", GLS_TISSUE_TYPES, tissue},
    };
    (void)state;
    for (size_t k = 0; k < sizeof images / sizeof *images; k++) {
        gls_image *image = read_image(images[k].name);
        const size_t n = gls_grid_voxels(&image->grid);
        assert_int_equal(n, 60);
        assert_int_equal(image->n_volumes, images[k].n_volumes);
        for (size_t v = 0; v < n; v++) {
            int32_t index[3];
            scene_voxel(image, v, images[k].name, index);
            for (size_t t = 0; t < image->n_volumes; t++)
                if (fabs(image->data[t * n + v] - images[k].value(index, t)) > 1e-5)
                    fail_msg("%s: volume %zu, voxel %d %d %d: %g", images[k].name, t, index[0], index[1], index[2],
                             image->data[t * n + v]);
        }
        gls_image_destroy(image);
    }
}

/* Checks the values of labels and tissue. */
static void test_labels_and_tissue(void **state)
{
    gls_connectome_options options = gls_connectome_options_default();
    gls_connectome *connectome = NULL;
    gls_tissue *made = NULL;
    gls_labels *atlas = NULL;
    const int32_t *labels;
    (void)state;
    assert_read(gls_labels_read(file("mrtrix_labels.mif"), &atlas), "labels");
    assert_int_equal(gls_connectome_create(atlas, "labels", &options, &connectome), GLS_OK);
    assert_int_equal(gls_connectome_nodes(connectome, &labels), 2); /* values 1 to 60 in steps of 30 */
    assert_true(labels[0] == 1 && labels[1] == 2);
    assert_int_equal(gls_connectome_get_node(connectome, 0).voxels, 30);
    assert_int_equal(gls_connectome_get_node(connectome, 1).voxels, 1);
    gls_connectome_destroy(connectome);
    gls_labels_destroy(atlas);
    gls_image *image = read_image("mrtrix_5tt.mif");
    assert_read(gls_tissue_create(&image->grid, image, "tissue", GLS_TISSUE_RULE_ACT, GLS_PRECISION_FLOAT, &made),
                "tissue");
    gls_tissue_destroy(made);
    gls_image_destroy(image);
}

static const double third = 0.57735026918962576;

/* Rows of write.py, along the scanner axes. */
static void check_table(const gls_gradients *g, const gls_grid *grid, const char *name)
{
    const double table[8][4] = {{0, 0, 0, 0},        {1, 0, 0, 1000},     {0, 1, 0, 1000},
                                {0, 0, 1, 1000},     {0, 0, 0, 0},        {third, third, third, 2500},
                                {0.6, 0.8, 0, 2500}, {0, -0.6, 0.8, 2500}};
    assert_int_equal(g->n, 8);
    assert_int_equal(g->n_b0, 2);
    for (size_t i = 0; i < 8; i++) {
        double world[3] = {0}, norm = 0;
        if (fabs(g->bval[i] - table[i][3]) > 0.01) fail_msg("%s: volume %zu has b = %g", name, i, g->bval[i]);
        for (int r = 0; r < 3; r++) {
            for (int a = 0; a < 3; a++) world[r] += grid->affine[r][a] / grid->voxel_size[a] * g->bvec[i][a];
            norm += world[r] * world[r];
        }
        /* the voxel axes are not quite at right angles */
        for (int r = 0; r < 3; r++)
            if (fabs(world[r] / (norm > 0 ? sqrt(norm) : 1) - table[i][r]) > 0.01)
                fail_msg("%s: volume %zu lies along %g %g %g", name, i, world[0], world[1], world[2]);
    }
    gls_shell shells[8];
    size_t n;
    assert_int_equal(gls_gradients_shells(g, shells, 8, &n), GLS_OK);
    assert_int_equal(n, 3);
}

static void test_tables(void **state)
{
    static const char *const names[] = {"mrtrix.b", "mrtrix_scheme.json", "mrtrix_scheme.mif"};
    gls_image *image = read_image("mrtrix_scheme.mif");
    gls_gradients *g = NULL;
    char bval[1024];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_read(gls_gradients_read_table(file(names[i]), NULL, &image->grid, 8, &g), names[i]);
        check_table(g, &image->grid, names[i]);
        gls_gradients_destroy(g);
    }
    snprintf(bval, sizeof bval, "%s", file("mrtrix.bval"));
    assert_read(gls_gradients_read(bval, file("mrtrix.bvec"), NULL, &image->grid, 8, &g), "mrtrix.bval");
    check_table(g, &image->grid, "mrtrix.bval");
    gls_gradients_destroy(g);
    gls_image_destroy(image);
}

static void test_responses(void **state)
{
    gls_tissue_response *r = NULL;
    (void)state;
    assert_read(gls_tissue_response_read(file("mrtrix_fibres.txt"), &r), "mrtrix_fibres.txt");
    assert_int_equal(r->n_shells, 3);
    assert_int_equal(r->order, 8);
    assert_true(r->bval && r->bval[0] == 0 && r->bval[1] == 999 &&
                r->bval[2] == 2499); /* digits as MRtrix3 cuts them off */
    /* without weighting 900 in all directions; a fibre's signal is least along it */
    assert_float_equal(r->zonal[0], 900 * sqrt(4 * acos(-1.0)), 1e-2);
    for (int shell = 1; shell < 3; shell++) {
        /* the sum of the harmonics along the fibre: 900 exp(-b (0.3e-3 + 1.4e-3)) */
        double along = 0;
        for (int i = 0; i < 5; i++) along += r->zonal[5 * shell + i] * sqrt((4 * i + 1) / (4 * acos(-1.0)));
        assert_float_equal(along, 900 * exp(-1.7e-3 * r->bval[shell]), 1.5);
        assert_true(r->zonal[5 * shell + 1] < 0);
    }
    gls_tissue_response_destroy(r);
    assert_read(gls_tissue_response_read(file("mrtrix_isotropic.txt"), &r), "mrtrix_isotropic.txt");
    assert_int_equal(r->n_shells, 3);
    assert_int_equal(r->order, 0);
    assert_float_equal(r->zonal[0], 900 * sqrt(4 * acos(-1.0)), 1e-2);
    gls_tissue_response_destroy(r);
}

/* Two ODFs, 1 + c^2 + 4 c^4 for the cosine c to an axis, by each program's basis. */
static void test_harmonics(void **state)
{
    static const struct {
        const char *name;
        gls_sh_basis basis;
    } images[] = {{"mrtrix_sh.mif", GLS_SH_TOURNIER07},
                  {"dipy_legacy_sh.nii.gz", GLS_SH_DESCOTEAUX07_LEGACY},
                  {"dipy_sh.nii.gz", GLS_SH_DESCOTEAUX07},
                  {"dipy_tournier_legacy_sh.nii.gz", GLS_SH_TOURNIER07_LEGACY}};
    static const double axes[2][3] = {{0.6, 0, 0.8}, {0, 1, 0}};
    const double direction[4][3] = {{0.6, 0, 0.8}, {0, 1, 0}, {-third, third, third}, {0.8, -0.6, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof images / sizeof *images; k++) {
        gls_image *sh = read_image(images[k].name);
        double matrix[4 * 15];
        assert_int_equal(sh->n_volumes, 15);
        assert_int_equal(gls_grid_voxels(&sh->grid), 2);
        assert_int_equal(gls_sh_matrix(images[k].basis, 4, direction, 4, matrix), GLS_OK);
        for (size_t v = 0; v < 2; v++)
            for (size_t d = 0; d < 4; d++) {
                double sum = 0, c = 0;
                for (size_t j = 0; j < 15; j++) sum += matrix[d * 15 + j] * sh->data[j * 2 + v];
                for (int a = 0; a < 3; a++) c += direction[d][a] * axes[v][a];
                if (fabs(sum - (1 + c * c + 4 * c * c * c * c)) > 1e-4)
                    fail_msg("%s: voxel %zu, direction %zu: %g", images[k].name, v, d, sum);
            }
        gls_image_destroy(sh);
    }
}

/* Three streamlines of 4, 1 and 7 points, all coordinates multiples of 1/8; fa: s + p / 8; weight: s + 1/2; the group
 * "ends": the first and the last. */
static void check_streamlines(const gls_streamlines *s, const char *name, bool fa, bool weight, bool group)
{
    static const uint64_t offset[4] = {0, 4, 5, 12};
    const gls_column *c = gls_column_find(s->dpv, s->n_dpv, "fa"), *w = gls_column_find(s->dps, s->n_dps, "weight"),
                     *g = gls_column_find(s->group, s->n_groups, "ends");
    if (s->n != 3 || memcmp(s->offset, offset, sizeof offset) != 0) fail_msg("%s: other streamlines", name);
    if (!c != !fa || !w != !weight || !g != !group) fail_msg("%s: other columns", name);
    for (size_t i = 0; i < 3; i++) {
        if (w && gls_column_value(w, i) != (double)i + 0.5) fail_msg("%s: weight of %zu", name, i);
        if (g && gls_column_value(g, i) != (i != 1)) fail_msg("%s: group of %zu", name, i);
        for (size_t p = 0; p < offset[i + 1] - offset[i]; p++) {
            const float *q = s->point[offset[i] + p];
            const double x[3] = {(double)i + (double)p / 4, 2 * (double)i - (double)p / 2, (double)p + 0.125};
            if (c && gls_column_value(c, offset[i] + p) != (double)i + (double)p / 8) fail_msg("%s: fa", name);
            for (int a = 0; a < 3; a++)
                if (fabs(q[a] - x[a]) > 1e-5)
                    fail_msg("%s: point %zu of %zu: %g %g %g", name, p, i, (double)q[0], (double)q[1], (double)q[2]);
        }
    }
}

/* Compresses a file by gzip. Returns the path of the new file, until the next call. */
static const char *compressed(const char *path)
{
    static char packed[] = "/tmp/formats-XXXXXX";
    char *data = NULL;
    size_t n = 0;
    strcpy(packed, "/tmp/formats-XXXXXX");
    int fd = mkstemp(packed);
    assert_true(fd >= 0);
    assert_int_equal(gls_file_read(path, 1 << 20, &data, &n), GLS_OK);
    gzFile out = gzdopen(fd, "wb");
    assert_int_equal(gzwrite(out, data, (unsigned)n), n);
    assert_int_equal(gzclose(out), Z_OK);
    free(data);
    return packed;
}

static void test_tractograms(void **state)
{
    static const struct {
        const char *name;
        gls_tractogram_format format;
        bool fa, weight, group, grid, stated;
    } files[] = {
        {"mrtrix.tck", GLS_FORMAT_TCK, .stated = true},
        {"nibabel.tck", GLS_FORMAT_TCK, .stated = true},
        {"nibabel.trk", GLS_FORMAT_TRK, .fa = true, .weight = true, .grid = true, .stated = true},
        {"trx.trx", GLS_FORMAT_TRX, .fa = true, .weight = true, .group = true, .grid = true, .stated = true},
        {"trx_half_packed.trx", GLS_FORMAT_TRX, .fa = true, .weight = true, .group = true, .grid = true,
         .stated = true},
        {"vtk_42.vtk", GLS_FORMAT_VTK, .fa = true, .stated = true},
        {"vtk_51.vtk", GLS_FORMAT_VTK, .fa = true, .stated = true},
        {"vtk_51_text.vtk", GLS_FORMAT_VTK, .fa = true, .stated = true},
        {"mrtrix.vtk", GLS_FORMAT_VTK, .stated = false}, /* a format that does not state its axes */
        {"vtk_text.vtp", GLS_FORMAT_VTK, .fa = true, .stated = true},
        {"vtk_base64.vtp", GLS_FORMAT_VTK, .fa = true, .stated = true},
        {"vtk_base64_packed.vtp", GLS_FORMAT_VTK, .fa = true, .stated = true},
        {"vtk_raw.vtp", GLS_FORMAT_VTK, .fa = true, .stated = true},
        {"vtk_appended_packed.vtp", GLS_FORMAT_VTK, .fa = true, .stated = true},
    };
    (void)state;
    /* each file as it is, and compressed */
    for (size_t i = 0; i < 2 * (sizeof files / sizeof *files); i++) {
        const size_t k = i / 2;
        const char *path = file(files[k].name);
        if (i % 2 == 1 && files[k].format == GLS_FORMAT_TRX) continue; /* a format that is packed in itself */
        if (i % 2 == 1) path = compressed(path);
        gls_tractogram_read_options options = gls_tractogram_read_options_default();
        gls_tractogram_reader *reader = NULL;
        gls_streamlines s;
        if (!files[k].stated) options.vtk_space = GLS_VTK_SPACE_RAS;
        assert_read(gls_tractogram_reader_open(path, &options, &reader), files[k].name);
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        assert_int_equal(info->format, files[k].format);
        assert_int_equal(info->has_grid, files[k].grid);
        for (int r = 0; info->has_grid && r < 3; r++) {
            assert_int_equal(info->grid.dim[r], scene_dim[r]);
            for (int a = 0; a < 4; a++) assert_float_equal(info->grid.affine[r][a], scene_affine[r][a], 1e-5);
        }
        assert_read(gls_tractogram_reader_next(reader, &s), files[k].name);
        check_streamlines(&s, files[k].name, files[k].fa, files[k].weight, files[k].group);
        assert_read(gls_tractogram_reader_next(reader, &s), files[k].name);
        assert_int_equal(s.n, 0);
        gls_tractogram_reader_close(reader);
        if (i % 2 == 1) unlink(path);
    }
}

/* Reads a file to its end, whatever the result is. */
static gls_status read_all(const char *path)
{
    gls_tractogram_reader *reader = NULL;
    gls_streamlines s = {.n = 1};
    gls_status status = gls_tractogram_reader_open(path, NULL, &reader);
    while (!status && s.n > 0) status = gls_tractogram_reader_next(reader, &s);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Files in XML that end early, or have a changed byte: none may be read past its end. */
static void test_damaged_xml(void **state)
{
    static const char *const names[] = {"vtk_text.vtp", "vtk_base64.vtp", "vtk_base64_packed.vtp", "vtk_raw.vtp",
                                        "vtk_appended_packed.vtp"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[] = "/tmp/formats-XXXXXX", *data = NULL;
        size_t n = 0, refused = 0, cut = 0;
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(gls_file_read(file(names[k]), 1 << 20, &data, &n), GLS_OK);
        for (size_t i = 0; i < n; i += 5, cut++) {
            assert_int_equal(ftruncate(fd, 0), 0);
            assert_int_equal(pwrite(fd, data, i, 0), i);
            refused += read_all(path) != GLS_OK;
        }
        assert_true(refused > cut / 2);
        for (size_t i = 0; i < n; i += 3) {
            const char before = data[i];
            data[i] = (char)(before ^ (1 + (int)(i % 127)));
            assert_int_equal(pwrite(fd, data, n, 0), n);
            read_all(path);
            data[i] = before;
        }
        close(fd);
        unlink(path);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_images),     cmocka_unit_test(test_labels_and_tissue),
                                       cmocka_unit_test(test_tables),     cmocka_unit_test(test_responses),
                                       cmocka_unit_test(test_harmonics),  cmocka_unit_test(test_tractograms),
                                       cmocka_unit_test(test_damaged_xml)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
