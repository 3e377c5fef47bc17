/* Spatial transforms: what fields mean, and where points go. */
#include <float.h>
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

#include <glslines/sh.h>

#include "files.h"

#include "dwi/fod_turn.h"
#include "image/grid.h"
#include "transform/field_meaning.h"
#include "transform/resample.h"
#include "transform/transform.h"

/* Fills an image of three volumes: value = map of the voxel's world position, less `less` times this position, plus a
 * smooth deformation of some mm. */
static void fill(gls_image *image, const double map[3][3], double less)
{
    const int32_t *dim = image->grid.dim;
    const size_t n = gls_grid_voxels(&image->grid);
    for (size_t v = 0; v < n; v++) {
        const double at[3] = {(double)(v % (size_t)dim[0]), (double)(v / (size_t)dim[0] % (size_t)dim[1]),
                              (double)(v / (size_t)dim[0] / (size_t)dim[1])};
        double world[3];
        for (int r = 0; r < 3; r++) {
            world[r] = image->grid.affine[r][3];
            for (int c = 0; c < 3; c++) world[r] += image->grid.affine[r][c] * at[c];
        }
        for (int r = 0; r < 3; r++) {
            double value = 4 * sin(world[(r + 1) % 3] / 15) - less * world[r] + 3;
            for (int c = 0; c < 3; c++) value += map[r][c] * world[c];
            image->data[(size_t)r * n + v] = (float)value;
        }
    }
}

static gls_image *field_on(int32_t nz)
{
    const int32_t dim[3] = {20, 24, nz};
    const double affine[3][4] = {{-3, 0.2, 0, 40}, {0.1, 2.5, 0, -30}, {0, 0, 4, -20}};
    gls_grid grid;
    gls_image *image;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 3, &image), GLS_OK);
    return image;
}

static void test_meaning(void **state)
{
    (void)state;
    /* the identity, a quarter turn, half a turn, a small and a large head, axes exchanged */
    static const double maps[][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},         {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}},
        {{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}},       {{0.8, 0, 0}, {0, 0.8, 0}, {0, 0, 0.8}},
        {{1.2, 0, 0}, {0, 1.2, 0.1}, {0, 0, 1.2}}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    for (int32_t nz = 1; nz <= 12; nz += 11) /* a slice, too */
        for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
            gls_image *image = field_on(nz);
            fill(image, maps[i], 0);
            assert_int_equal(gls_field_judge(image), GLS_FIELD_POSITIONS);
            assert_int_equal(gls_field_require_positions(image, "x.nii"), GLS_OK);
            fill(image, maps[i], 1);
            if (i == 0 || i == 3 ||
                (i == 4 &&
                 nz > 1)) { /* these maps differ so little from the identity that the rest is a displacement */
                assert_int_equal(gls_field_judge(image), GLS_FIELD_DISPLACEMENTS);
                assert_int_equal(gls_field_require_positions(image, "x.nii"), GLS_ERR_INPUT);
            }
            gls_image_destroy(image);
        }
    gls_image *image = field_on(5);
    assert_int_equal(gls_field_judge(image), GLS_FIELD_DISPLACEMENTS); /* zeros: nothing moves */
    for (size_t i = 0; i < 3 * gls_grid_voxels(&image->grid); i++) image->data[i] = NAN;
    assert_int_equal(gls_field_judge(image), GLS_FIELD_DISPLACEMENTS);
    gls_image_destroy(image);
}

/* Points of points.tsv, which the programs that wrote the transforms have moved, there and back. */
static void test_peers(void **state)
{
    (void)state;
    char line[1024];
    size_t n_points = 0;
    assert_int_equal(chdir(GLS_TEST_FORMATS "/transforms"), 0);
    FILE *file = fopen("points.tsv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        const char *chain[4];
        size_t n = 0;
        double p[6], moved[3], back[3];
        char *tab = strchr(line, '\t'), *rest = line;
        gls_transform t;
        *tab = '\0';
        assert_int_equal(sscanf(tab + 1, "%lf %lf %lf %lf %lf %lf", p, p + 1, p + 2, p + 3, p + 4, p + 5), 6);
        for (char *one; (one = strsep(&rest, ";")); n++) chain[n] = one;
        if (gls_transform_read(chain, n, &t) != GLS_OK) fail_msg("%s", gls_last_error());
        if (!gls_transform_apply(&t, p, moved)) fail_msg("%s: a point has no place", line);
        if (!gls_transform_invert(&t, moved, back)) fail_msg("%s: a point has no place back", line);
        for (int r = 0; r < 3; r++) {
            if (fabs(moved[r] - p[3 + r]) > 1e-4) fail_msg("%s: %g mm away", line, moved[r] - p[3 + r]);
            if (fabs(back[r] - p[r]) > 2e-5) fail_msg("%s: inverse %g mm away", line, back[r] - p[r]);
        }
        gls_transform_finish(&t);
        n_points++;
    }
    fclose(file);
    assert_true(n_points > 100);
}

/* What files do not say has to be given, and what is known to be wrong is refused. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"flirt.mat", "moving=IMAGE,fixed=IMAGE"},
        {"mrtrix_deformation.mif,from=itk", "its values look like positions"},
        {"itk_field.nii.gz,from=mrtrix", "its values look like displacements"},
        {"fixed.nii.gz", "a field has three"},
        {"missing.h5", "missing.h5"},
        {"itk_two.h5,from=mrtrix", "HDF5 is a format of ITK alone"},
        {"dipy_mapping.nii.gz,from=itk", "are read as dipy, not as itk"},
        {"dipy_mapping.nii.gz,fixed=fixed.nii.gz", "fixed=IMAGE does not belong"},
        {"mrtrix_warpfull.mif.gz,moving=moving.nii.gz", "moving=IMAGE does not belong"},
        {"points.tsv", "points.tsv"},
        {"itk_affine.txt,form=itk", "'form=itk' is not known"},
        {"itk_affine.txt,from=elastix", "formats of affine maps are"},
        {"missing.txt", "missing.txt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_transform t;
        assert_int_not_equal(gls_transform_read(&cases[i][0], 1, &t), GLS_OK);
        if (!strstr(gls_last_error(), cases[i][1])) fail_msg("%s: %s", cases[i][0], gls_last_error());
    }
}

/* Reads a file of the folder with some bytes replaced. from: a text that the file has, of n bytes; the bytes are the
 * text's own, or lie `at` behind its begin. */
static gls_status read_changed(const char *name, const void *from, size_t n, size_t at, const void *to, size_t n_to)
{
    static unsigned char data[1 << 16];
    char path[300];
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    const size_t bytes = fread(data, 1, sizeof data, file);
    fclose(file);
    unsigned char *place = memmem(data, bytes, from, n);
    assert_non_null(place);
    memcpy(place + at, to, n_to);
    snprintf(path, sizeof path, "%s", scratch(name));
    put_file(path, data, bytes);
    const char *chain[] = {path};
    gls_transform t;
    const gls_status status = gls_transform_read(chain, 1, &t);
    gls_transform_finish(&t);
    return status;
}

/* Damage that a file shows is refused, before memory is allocated for sizes that it cannot have. */
static void test_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *name, *from;
        size_t n, at;
        const char *to;
        size_t n_to;
        const char *part;
    } cases[] = {
        /* tables of symbols: part 2 is named 7 */
        {"itk_old.h5",
         "1\0\0\0\0\0\0\0"
         "2\0\0",
         11, 8, "7", 1, "has 3 members, but no transform 2"},
        /* the tree of chunks has one less than four, names another place, or leaves the filters out */
        {"itk_old.h5", "TREE\1\0\4", 7, 6, "\3", 1, "a chunk is missing"},
        {"itk_old.h5", "TREE\1\0\4", 7, 24 + 8, "\144", 1, "a chunk is missing"},
        {"itk_old.h5", "TREE\1\0\4", 7, 24 + 4, "\2", 1, "cannot be unpacked"},
        /* the dataset has 360 values, in chunks of 100 */
        {"itk_old.h5", "\1\1\1\0\0\0\0\0\150\1", 10, 9, "\2", 1, "a chunk is missing"},
        {"itk_old.h5", "\144\0\0\0\10\0\0\0", 8, 3, "\20", 1, "the size of a chunk"},
        /* the header of a dataset says how many messages it has */
        {"itk_old.h5", "\1\0\6\0\1\0\0\0", 8, 2, "\7", 1, "a header"},
        /* the superblock and headers of the new form have sums */
        {"itk_two.h5", "\211HDF", 4, 28, "\1", 1, "its superblock"},
        {"itk_two.h5", "OHDR", 4, 20, "\377", 1, "a header"},
        {"itk_composite.h5", "OCHK", 4, 9, "\377", 1, "a header"},
        {"itk_composite.h5", "\0\0\0\40\25\361\6\100", 8, 6, "\370\177", 2, "that is not finite at voxel 0,0,0"},
        {"freesurfer_voxel.lta", "\ncras", 5, 1, "k", 1, "its src volume info lacks"},
        {"freesurfer_voxel.lta", "\nvolume", 7, 1, "W", 1, "its src volume info lacks"},
        {"freesurfer_ras.lta", "1.000000000000000e+00 \nsrc", 26, 0, "2", 1, "the last 0 0 0 1"},
        {"freesurfer_ras.lta", "nxforms   = 1", 13, 12, "2", 1, "holds 2 transforms"},
        {"freesurfer_voxel.lta", "valid = 1", 9, 8, "0", 1, "src volume info is not valid"},
    };
    /* the last row may be rounded, as by programs that invert a map in float32 */
    static const char last[] = "1.000000000000000e+00 \nsrc", rounded[] = "9.999999403953552e-01";
    assert_int_equal(read_changed("freesurfer_ras.lta", last, 26, 0, rounded, sizeof rounded - 1), GLS_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gls_status status =
            read_changed(cases[i].name, cases[i].from, cases[i].n, cases[i].at, cases[i].to, cases[i].n_to);
        if (status != GLS_ERR_INPUT || !strstr(gls_last_error(), cases[i].part))
            fail_msg("%zu, %s: %s, not %s", i, cases[i].name, status ? gls_last_error() : "read", cases[i].part);
    }
}

/* Positions of FSL that do not say so are not taken for those of MRtrix3. */
static void test_fsl_positions(void **state)
{
    (void)state;
    gls_image *image = field_on(9);
    static const double plain[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const size_t n = gls_grid_voxels(&image->grid);
    fill(image, plain, 0);
    assert_false(gls_field_is_fsl(image));
    for (size_t v = 0; v < n; v++) {
        image->data[v] = (float)(image->grid.voxel_size[0] * (double)(v % 20) + 2); /* the grid is left-handed */
        image->data[n + v] = (float)(image->grid.voxel_size[1] * (double)(v / 20 % 24) - 4);
        image->data[2 * n + v] = (float)(image->grid.voxel_size[2] * (double)(v / 480) + 3);
    }
    assert_true(gls_field_is_fsl(image));
    gls_image_destroy(image);
}

/* Labels: the identity changes nothing, a shift by one voxel moves them, coarser voxels vote; an image that is linear
 * in the place stays so. */
static void test_resample(void **state)
{
    (void)state;
    gls_image *image = field_on(6), *made;
    gls_transform identity = {.n = 0}, shift;
    gls_transform_step step = {.field = NULL};
    gls_grid coarse;
    uint64_t outside;
    const size_t n = gls_grid_voxels(&image->grid);
    image->n_volumes = 1;
    for (size_t v = 0; v < n; v++) image->data[v] = (float)(v * 7919 % 5);
    assert_true(gls_image_has_labels(image));
    assert_int_equal(gls_image_resample(image, &identity, &image->grid, GLS_RESAMPLE_LABEL, 9, &made, &outside),
                     GLS_OK);
    assert_memory_equal(made->data, image->data, n * sizeof *image->data);
    assert_int_equal(outside, 0);
    gls_image_destroy(made);
    for (int r = 0; r < 3; r++) {
        step.map[r][r] = step.back[r][r] = 1;
        step.map[r][3] = image->grid.affine[r][0];
    }
    shift = (gls_transform){.n = 1, .step = &step};
    assert_int_equal(gls_image_resample(image, &shift, &image->grid, GLS_RESAMPLE_LABEL, 9, &made, &outside), GLS_OK);
    for (size_t v = 0; v < n; v++) assert_true(made->data[v] == (v % 20 == 19 ? 9 : image->data[v + 1]));
    assert_int_equal(outside, n / 20);
    gls_image_destroy(made);
    /* voxels of 2 x 2 x 2: seven of eight are 3 */
    const int32_t dim[3] = {10, 12, 3};
    double affine[3][4];
    for (size_t v = 0; v < n; v++) image->data[v] = v % 2 == 0 && v / 20 % 2 == 0 && v / 480 % 2 == 0 ? 2 : 3;
    for (int r = 0; r < 3; r++) {
        affine[r][3] = image->grid.affine[r][3];
        for (int c = 0; c < 3; c++) {
            affine[r][c] = 2 * image->grid.affine[r][c];
            affine[r][3] += 0.5 * image->grid.affine[r][c];
        }
    }
    assert_int_equal(gls_grid_init(&coarse, dim, (const double(*)[4])affine), GLS_OK);
    assert_int_equal(gls_image_resample(image, &identity, &coarse, GLS_RESAMPLE_LABEL, 9, &made, &outside), GLS_OK);
    for (size_t v = 0; v < 360; v++) assert_true(made->data[v] == 3);
    gls_image_destroy(made);
    for (size_t v = 0; v < n; v++)
        image->data[v] = (float)(3 * (double)(v % 20) - 2 * (double)(v / 20 % 24) + (double)(v / 480));
    assert_false(gls_image_has_labels(image));
    assert_int_equal(gls_image_resample(image, &identity, &coarse, GLS_RESAMPLE_LINEAR, 9, &made, &outside), GLS_OK);
    for (size_t v = 0; v < 360; v++) {
        const double want =
            3 * (2 * (double)(v % 10) + 0.5) - 2 * (2 * (double)(v / 10 % 12) + 0.5) + 2 * (double)(v / 120) + 0.5;
        const bool border = v % 10 == 0 || v % 10 == 9 || v / 10 % 12 == 0 || v / 10 % 12 == 11 || v / 120 != 1;
        assert_true(fabs(made->data[v] - want) < (border ? 0.8 : 1e-4));
    }
    gls_image_destroy(made);
    image->n_volumes = 3;
    gls_image_destroy(image);
}

/* Cubic splines pass through the voxels, follow the one curve whose spline is known, a wave that mirrors at both ends,
 * are constant beyond the border, and do not overshoot. They do so with the largest floats, too. */
static void test_cubic(void **state)
{
    (void)state;
    gls_image *image = field_on(2), *made;
    gls_transform_step step = {.field = NULL};
    const gls_transform shift = {.n = 1, .step = &step}, identity = {.n = 0};
    const double w = 3.14159265358979323846 * 5 / 19;
    uint64_t outside;
    const size_t n = gls_grid_voxels(&image->grid);
    for (size_t v = 0; v < n; v++) {
        image->data[v] = (float)((double)(v * 7919 % 1009) / 100);
        image->data[n + v] = (float)cos(w * (double)(v % 20));
        image->data[2 * n + v] = v % 20 < 10 ? 3 : 5;
    }
    assert_int_equal(gls_image_resample(image, &identity, &image->grid, GLS_RESAMPLE_CUBIC, 9, &made, &outside),
                     GLS_OK);
    for (size_t i = 0; i < 3 * n; i++) assert_true(fabsf(made->data[i] - image->data[i]) < 1e-5f);
    gls_image_destroy(made);
    for (int r = 0; r < 3; r++) {
        step.map[r][r] = step.back[r][r] = 1;
        step.map[r][3] = 0.49999 * image->grid.affine[r][0];
    }
    assert_int_equal(gls_image_resample(image, &shift, &image->grid, GLS_RESAMPLE_CUBIC, 9, &made, &outside), GLS_OK);
    assert_int_equal(outside, 0);
    for (size_t v = 0; v < n; v++) {
        const double x = (double)(v % 20), wave = 6 / (4 + 2 * cos(w)) *
                                                  (23.0 / 48 * (cos(w * x) + cos(w * (x + 1))) +
                                                   1.0 / 48 * (cos(w * (x - 1)) + cos(w * (x + 2))));
        const float *at = made->data + v, edge = at[2 * n];
        if (v % 20 == 19)
            assert_true(fabsf(at[0] - image->data[v]) < 1e-5f && fabsf(at[n] - image->data[n + v]) < 1e-5f);
        /* at its crests the wave passes the range of the voxels around */
        if (v % 20 < 19 && fabs(wave) < 0.85) assert_true(fabs((double)at[n] - wave) < 1e-4);
        assert_true(v % 20 == 9 ? fabsf(edge - 4) < 1e-3f : edge == (v % 20 < 9 ? 3 : 5) || (edge > 3 && edge < 5));
    }
    gls_image_destroy(made);
    for (size_t v = 0; v < n; v++) {
        int32_t at[3];
        gls_grid_centre(&image->grid, v, at);
        image->data[v] = (at[0] + at[1] + at[2]) % 2 ? FLT_MAX : -FLT_MAX;
    }
    assert_int_equal(gls_image_resample(image, &identity, &image->grid, GLS_RESAMPLE_CUBIC, 9, &made, &outside),
                     GLS_OK);
    for (size_t v = 0; v < n; v++) assert_true(fabsf(made->data[v] / image->data[v] - 1) < 1e-5f);
    gls_image_destroy(made);
    gls_image_destroy(image);
}

/* Vectors of a turned and stretched image: of a matrix A they become A^-1 g with the length of g. */
static void test_vectors(void **state)
{
    (void)state;
    gls_image *image = field_on(6);
    const size_t n = gls_grid_voxels(&image->grid);
    gls_transform_step step = {.map = {{0.2, -0.9, 0.1, 5}, {1.1, 0.1, 0, -3}, {0, 0.2, 0.8, 2}}};
    const gls_transform t = {.n = 1, .step = &step};
    for (size_t v = 0; v < n; v++)
        for (size_t r = 0; r < 3; r++) image->data[r * n + v] = v == 7 ? 0 : (float)(r == v % 3 ? 0.6 : -0.2);
    gls_image_turn_vectors(image, &t);
    for (size_t v = 0; v < n; v++) {
        double square = 0;
        for (size_t r = 0; r < 3; r++) { /* A times the new vector lies along the old one */
            double along = 0, other = 0;
            for (size_t c = 0; c < 3; c++) along += step.map[r][c] * (double)image->data[c * n + v];
            for (size_t c = 0; c < 3; c++) other += step.map[v % 3][c] * (double)image->data[c * n + v];
            if (v != 7) assert_true(fabs(along / other - (r == v % 3 ? 1 : -1.0 / 3)) < 1e-5);
            square += (double)image->data[r * n + v] * (double)image->data[r * n + v];
        }
        assert_true(fabs(square - (v == 7 ? 0 : 0.44)) < 1e-6);
    }
    gls_image_destroy(image);
}

/* FODs under a rotation: the amplitude along g is the old one along R g, at directions that the rule does not use. */
static void test_fods(void **state)
{
    (void)state;
    const int32_t dim[3] = {3, 3, 3};
    const double affine[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, c = cos(0.7), s = sin(0.7);
    gls_transform_step step = {.map = {{c, -s, 0, 1}, {0.6 * s, 0.6 * c, -0.8, 2}, {0.8 * s, 0.8 * c, 0.6, -3}}};
    const gls_transform t = {.n = 1, .step = &step};
    static const double direction[4][3] = {{0.6, 0, 0.8}, {0, -0.28, 0.96}, {1, 0, 0}, {0.48, 0.64, -0.6}};
    double turned[4][3], new_rows[4 * 45], old_rows[4 * 45], old[45];
    gls_grid grid;
    gls_image *fod;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    for (int i = 0; i < 4; i++)
        for (int r = 0; r < 3; r++)
            turned[i][r] =
                step.map[r][0] * direction[i][0] + step.map[r][1] * direction[i][1] + step.map[r][2] * direction[i][2];
    for (int order = 2; order <= 8; order += 2) {
        const size_t n = gls_sh_count(order);
        assert_int_equal(gls_image_create(&grid, n, &fod), GLS_OK);
        for (size_t a = 0; a < n; a++) {
            old[a] = a == 0 ? 2 : sin(3.0 * (double)a);
            for (size_t v = 0; v < 27; v++) fod->data[a * 27 + v] = v == 5 ? -1 : (float)old[a];
        }
        assert_int_equal(gls_fod_turn(fod, "fod.nii", &t, GLS_MODULATE_NONE), GLS_OK);
        assert_int_equal(gls_sh_matrix(GLS_SH_TOURNIER07, order, direction, 4, new_rows), GLS_OK);
        assert_int_equal(gls_sh_matrix(GLS_SH_TOURNIER07, order, (const double(*)[3])turned, 4, old_rows), GLS_OK);
        for (size_t v = 0; v < 27; v++)
            for (size_t i = 0; i < 4; i++) {
                double is = 0, was = 0;
                for (size_t a = 0; a < n; a++) {
                    is += new_rows[i * n + a] * (double)fod->data[a * 27 + v];
                    was += old_rows[i * n + a] * old[a];
                }
                if (v != 5) assert_true(fabs(is - was) < 1e-5);
            }
        for (size_t a = 0; a < n; a++)
            assert_true(fod->data[a * 27 + 5] == -1); /* a voxel without an FOD stays as it is */
        gls_image_destroy(fod);
    }
    assert_int_equal(gls_image_create(&grid, 3, &fod), GLS_OK);
    assert_int_equal(gls_fod_turn(fod, "fod.nii", &t, GLS_MODULATE_NONE), GLS_ERR_INPUT);
    gls_image_destroy(fod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meaning),  cmocka_unit_test(test_peers),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_vectors),  cmocka_unit_test(test_fsl_positions), cmocka_unit_test(test_fods),
        cmocka_unit_test(test_resample), cmocka_unit_test(test_damaged),       cmocka_unit_test(test_cubic)};
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
