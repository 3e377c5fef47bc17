/* ODF sources: SH images in all bases and frames, amplitudes, folding, clipping, errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/odf.h>

#include "dwi/odf_slice.h"
#include "dwi/odf_parts.h"
#include "files.h"

enum { NX = 9, NY = 11, NZ = 3, VOXELS = NX * NY * NZ };

/* Full bases of order 3 at (0.3, -0.5, 0.8): real_sh_descoteaux and real_sh_tournier(3, theta, phi, full_basis=True,
 * legacy=...) of DIPY 1.12.1. */
static const double golden[4][16] = {
    [GLS_SH_DESCOTEAUX07_LEGACY] = {0.2820947917738781, -0.1480689212020009, 0.3948504565386691, 0.2467815353366682,
                                    -0.08918762698710848, -0.2675628809613255, 0.3025184401401724, 0.4459381349355425,
                                    -0.1672268006008284, 0.1204232027394916, -0.1906911676143734, -0.3137580213119889,
                                    0.08000890261425936, 0.5229300355199815, -0.35754593927695, 0.006081979936337943},
    [GLS_SH_DESCOTEAUX07] = {0.2820947917738781, 0.1480689212020009, 0.3948504565386691, 0.2467815353366682,
                             -0.08918762698710848, 0.2675628809613255, 0.3025184401401724, 0.4459381349355425,
                             -0.1672268006008284, -0.1204232027394916, -0.1906911676143734, 0.3137580213119889,
                             0.08000890261425936, 0.5229300355199815, -0.35754593927695, 0.006081979936337943},
    [GLS_SH_TOURNIER07_LEGACY] = {0.2820947917738781, 0.1745008971081857, 0.3948504565386691, -0.1047005382649114,
                                  -0.1182472047009764, 0.3153258792026037, 0.3025184401401724, -0.1891955275215622,
                                  -0.06306517584052074, 0.004300609256025086, -0.2528231582484449, 0.369767374202301,
                                  0.08000890261425936, -0.2218604245213806, -0.134839017732504, 0.0851520632692969},
    [GLS_SH_TOURNIER07] = {0.2820947917738781, 0.2467815353366682, 0.3948504565386691, -0.1480689212020009,
                           -0.1672268006008284, 0.4459381349355425, 0.3025184401401724, -0.2675628809613255,
                           -0.08918762698710848, 0.006081979936337943, -0.35754593927695, 0.5229300355199815,
                           0.08000890261425936, -0.3137580213119889, -0.1906911676143734, 0.1204232027394916},
};

static void full_bases(void **state)
{
    (void)state;
    const double direction[1][3] = {{0.3, -0.5, 0.8}};
    double full[17 * 17], even[153];
    for (int basis = 0; basis < 4; basis++) {
        assert_int_equal(gls_sh_full_matrix((gls_sh_basis)basis, 3, direction, 1, full), GLS_OK);
        for (int j = 0; j < 16; j++) assert_float_equal(full[j], golden[basis][j], 1e-14);
        /* the even degrees are those of the even basis */
        assert_int_equal(gls_sh_full_matrix((gls_sh_basis)basis, 16, direction, 1, full), GLS_OK);
        assert_int_equal(gls_sh_matrix((gls_sh_basis)basis, 16, direction, 1, even), GLS_OK);
        for (int l = 0; l <= 16; l += 2)
            for (int m = -l; m <= l; m++) assert_true(full[l * (l + 1) + m] == even[l * (l + 1) / 2 + m]);
    }
    for (int order = 0; order <= GLS_SH_MAX_ORDER; order++) {
        assert_int_equal(gls_sh_full_order(gls_sh_full_count(order)), order);
        if (order > 0) assert_int_equal(gls_sh_order(gls_sh_full_count(order)), -1);
    }
    assert_int_equal(gls_sh_full_count(17), 0);
    assert_int_equal(gls_sh_full_count(-1), 0);
    assert_int_equal(gls_sh_full_order(5), -1);
}

static double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

/* Returns voxel axes of unequal sizes, turned and (for sign < 0) mirrored. */
static void make_affine(double sign, double affine[3][4], double rotation[3][3])
{
    const double size[3] = {1.5, 2, 2.5}, a = 0.4, b = -0.7;
    const double turn[3][3] = {
        {cos(a), -sin(a) * cos(b), sin(a) * sin(b)}, {sin(a), cos(a) * cos(b), -cos(a) * sin(b)}, {0, sin(b), cos(b)}};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            rotation[r][c] = turn[r][c] * (c == 1 ? sign : 1);
            affine[r][c] = rotation[r][c] * size[c];
            affine[r][3] = 7.0 * r;
        }
}

static gls_image *make_image(double sign, size_t n_volumes)
{
    double affine[3][4], rotation[3][3];
    gls_grid grid;
    gls_image *image = NULL;
    make_affine(sign, affine, rotation);
    assert_int_equal(gls_grid_init(&grid, (int32_t[3]){NX, NY, NZ}, (const double(*)[4])affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, n_volumes, &image), GLS_OK);
    return image;
}

static gls_image *make_noise(double sign, size_t n_volumes)
{
    uint32_t seed = 5;
    gls_image *image = make_image(sign, n_volumes);
    for (size_t i = 0; i < n_volumes * VOXELS; i++) image->data[i] = (float)noise(&seed);
    return image;
}

static gls_sphere *small(void)
{
    gls_sphere *sphere = NULL;
    assert_int_equal(gls_sphere_create("small", &sphere), GLS_OK);
    return sphere;
}

static gls_odf_options raw(void)
{
    gls_odf_options options = gls_odf_options_default();
    options.clip = false;
    return options;
}

/* Returns the amplitude of voxel v along d, as a plain sum. */
static double evaluate(const gls_image *sh, size_t v, gls_sh_basis basis, bool full, const double d[3])
{
    double row[289], sum = 0;
    double direction[1][3] = {{d[0], d[1], d[2]}};
    size_t n = sh->n_volumes;
    if (full)
        assert_int_equal(gls_sh_full_matrix(basis, gls_sh_full_order(n), (const double(*)[3])direction, 1, row),
                         GLS_OK);
    else
        assert_int_equal(gls_sh_matrix(basis, gls_sh_order(n), (const double(*)[3])direction, 1, row), GLS_OK);
    for (size_t j = 0; j < n; j++) sum += row[j] * sh->data[j * VOXELS + v];
    return sum;
}

static void check_samples(const gls_odf_source *source, const gls_image *sh, gls_sh_basis basis, bool full,
                          const double map[3][3])
{
    gls_image *odf = NULL;
    assert_int_equal(gls_odf_sample(source, &odf), GLS_OK);
    assert_int_equal(odf->n_volumes, source->sphere->n);
    for (size_t v = 0; v < source->sphere->n; v += 7)
        for (size_t i = 0; i < VOXELS; i++) {
            double d[3];
            for (int r = 0; r < 3; r++)
                d[r] = map[r][0] * source->sphere->vertex[v][0] + map[r][1] * source->sphere->vertex[v][1] +
                       map[r][2] * source->sphere->vertex[v][2];
            assert_float_equal(odf->data[v * VOXELS + i], evaluate(sh, i, basis, full, d), 1e-5);
        }
    gls_image_destroy(odf);
}

/* Orders, bases, frames on both handednesses. */
static void sh_samples(void **state)
{
    (void)state;
    const size_t counts[] = {1, 6, 15, 28, 45, 91};
    gls_sphere *sphere = small();
    gls_odf_options options = raw();
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        double affine[3][4], rotation[3][3], sign = mirrored ? -1 : 1;
        const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                     flip[3][3] = {{-sign, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        make_affine(sign, affine, rotation);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            gls_image *sh = make_noise(sign, counts[c]);
            gls_sh_basis basis = (gls_sh_basis)(c % 4);
            for (int frame = GLS_BVEC_FSL; frame <= GLS_BVEC_WORLD; frame++) {
                gls_odf_source *source = NULL;
                assert_int_equal(
                    gls_odf_source_create_sh(sh, "sh.nii", basis, (gls_bvec_frame)frame, sphere, &options, &source),
                    GLS_OK);
                assert_ptr_equal(source->sphere, sphere);
                assert_false(source->full);
                assert_int_equal(source->order, gls_sh_order(counts[c]));
                check_samples(source, sh, basis, false,
                              frame == GLS_BVEC_WORLD ? (const double(*)[3])rotation
                              : frame == GLS_BVEC_FSL ? flip
                                                      : identity);
                gls_odf_source_destroy(source);
            }
            gls_image_destroy(sh);
        }
    }
    gls_sphere_destroy(sphere);
}

/* Asymmetric ODFs are sampled on both ends; a full basis without odd part is like an even one. */
static void full_samples(void **state)
{
    (void)state;
    const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    gls_sphere *sphere = small();
    gls_odf_options options = raw();
    gls_odf_source *source = NULL;
    for (int order = 1; order <= 8; order++) {
        gls_image *sh = make_noise(1, gls_sh_full_count(order));
        gls_sh_basis basis = (gls_sh_basis)(order % 4);
        assert_int_equal(gls_odf_source_create_sh(sh, "sh.nii", basis, GLS_BVEC_IMAGE, sphere, &options, &source),
                         GLS_OK);
        assert_true(source->full);
        assert_false(source->sphere->antipodal);
        assert_int_equal(source->sphere->n, 2 * sphere->n);
        check_samples(source, sh, basis, true, identity);
        gls_odf_source_destroy(source);

        for (int l = 1; l <= order; l += 2)
            memset(sh->data + (size_t)(l * l) * VOXELS, 0, (size_t)(2 * l + 1) * VOXELS * sizeof *sh->data);
        assert_int_equal(gls_odf_source_create_sh(sh, "sh.nii", basis, GLS_BVEC_IMAGE, sphere, &options, &source),
                         GLS_OK);
        assert_false(source->full);
        assert_int_equal(source->order, order / 2 * 2);
        assert_ptr_equal(source->sphere, sphere);
        check_samples(source, sh, basis, true, identity);
        gls_odf_source_destroy(source);
        gls_image_destroy(sh);
    }
    gls_sphere_destroy(sphere);
}

/* Converted coefficients are the same functions; MRtrix3's order of even coefficients in the same frame is a mere
 * permutation. */
static void conversions(void **state)
{
    (void)state;
    gls_sphere *sphere = small();
    gls_odf_options options = raw();
    for (int c = 0; c < 8; c++) {
        size_t count = c % 2 ? gls_sh_full_count(5) : gls_sh_count(6);
        gls_sh_basis from = (gls_sh_basis)(c % 4), to = (gls_sh_basis)((c + 1 + c / 4) % 4);
        gls_bvec_frame old = (gls_bvec_frame)(c % 3), new = (gls_bvec_frame)((c + 1 + c / 5) % 3);
        gls_image *sh = make_noise(c & 2 ? -1 : 1, count), *other = NULL, *a = NULL, *b = NULL;
        gls_odf_source *source = NULL;
        assert_int_equal(gls_odf_convert_sh(sh, "sh.nii", from, old, to, new, &other), GLS_OK);
        assert_int_equal(gls_odf_source_create_sh(sh, "sh.nii", from, old, sphere, &options, &source), GLS_OK);
        assert_int_equal(gls_odf_sample(source, &a), GLS_OK);
        gls_odf_source_destroy(source);
        assert_int_equal(gls_odf_source_create_sh(other, "sh.nii", to, new, sphere, &options, &source), GLS_OK);
        assert_int_equal(gls_odf_sample(source, &b), GLS_OK);
        gls_odf_source_destroy(source);
        for (size_t i = 0; i < a->n_volumes * VOXELS; i++) assert_float_equal(a->data[i], b->data[i], 2e-5);
        gls_image_destroy(a);
        gls_image_destroy(b);
        gls_image_destroy(sh);
        gls_image_destroy(other);
    }
    gls_image *sh = make_noise(1, 15), *other = NULL;
    assert_int_equal(gls_odf_convert_sh(sh, "sh.nii", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, GLS_SH_TOURNIER07,
                                        GLS_BVEC_IMAGE, &other),
                     GLS_OK);
    for (int l = 0; l <= 4; l += 2)
        for (int m = -l; m <= l; m++)
            assert_memory_equal(other->data + (l * (l + 1) / 2 + m) * VOXELS, sh->data + (l * (l + 1) / 2 - m) * VOXELS,
                                VOXELS * sizeof *sh->data);
    gls_image_destroy(sh);
    gls_image_destroy(other);
    sh = make_image(1, 7);
    assert_int_equal(gls_odf_convert_sh(sh, "sh.nii", GLS_SH_TOURNIER07, GLS_BVEC_IMAGE, GLS_SH_DESCOTEAUX07,
                                        GLS_BVEC_IMAGE, &other),
                     GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "sh.nii: 7 volumes fit no SH order"));
    gls_image_destroy(sh);
    gls_sphere_destroy(sphere);
}

/* Each kernel against double precision, with rows and voxels that fill no block, and nothing written beyond. */
static void kernels(void **state)
{
    (void)state;
    enum { ROWS = 13, PADDED = 16, INPUTS = 45, STRIDE = 90 };
    static float matrix[PADDED * INPUTS] __attribute__((aligned(64))),
        in[INPUTS * GLS_ODF_BLOCK] __attribute__((aligned(64))), out[(ROWS + 1) * STRIDE];
    uint32_t seed = 3;
    size_t counts[] = {1, 17, 63, 64};
    for (size_t i = 0; i < ROWS * INPUTS; i++) matrix[i] = (float)noise(&seed);
    for (size_t i = 0; i < INPUTS * GLS_ODF_BLOCK; i++) in[i] = (float)noise(&seed);
    for (size_t k = 0; k <= gls_cpu_level(); k++)
        for (size_t c = 0; c < 4; c++) {
            for (size_t i = 0; i < sizeof out / sizeof *out; i++) out[i] = 77;
            gls_odf_kernels[k](matrix, PADDED, ROWS, INPUTS, in, counts[c], out, STRIDE);
            for (size_t r = 0; r <= ROWS; r++)
                for (size_t i = 0; i < STRIDE; i++) {
                    double sum = 0;
                    for (size_t j = 0; j < INPUTS && r < ROWS && i < counts[c]; j++)
                        sum += (double)matrix[r * INPUTS + j] * in[j * GLS_ODF_BLOCK + i];
                    assert_float_equal(out[r * STRIDE + i], r < ROWS && i < counts[c] ? sum : 77, 2e-6);
                }
        }
}

/* Clipping, scaling, the stop map, values that are not finite; a cropped image gives the same bytes. */
static void finishing(void **state)
{
    (void)state;
    gls_sphere *sphere = small();
    gls_image *sh = make_noise(1, 45), *stop = make_image(1, 1), *plain = NULL, *done = NULL, *part = NULL,
              *cropped = NULL;
    gls_odf_options options = raw();
    gls_odf_source *source = NULL;
    size_t n = sphere->n;
    for (size_t v = 0; v < VOXELS; v++) stop->data[v] = 0.1f * (float)(v % 3);
    for (size_t j = 0; j < 45; j++) sh->data[j * VOXELS + 20] = 0;
    for (size_t j = 0; j < 45; j++) sh->data[j * VOXELS + 22] = j == 0 ? -1 : 0;
    sh->data[3 * VOXELS + 50] = NAN;
    stop->data[41] = NAN;
    assert_int_equal(
        gls_odf_source_create_sh(sh, "sh.nii", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, &options, &source), GLS_OK);
    assert_int_equal(gls_odf_sample(source, &plain), GLS_OK);
    gls_odf_source_destroy(source);
    options = (gls_odf_options){
        .size = sizeof(gls_odf_options), .clip = true, .normalise = true, .stop_map = stop, .stop_threshold = 0.1f};
    assert_int_equal(
        gls_odf_source_create_sh(sh, "sh.nii", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, &options, &source), GLS_OK);
    assert_int_equal(gls_odf_sample(source, &done), GLS_OK);
    for (size_t i = 0; i < VOXELS; i++) {
        float largest = 0;
        for (size_t v = 0; v < n; v++) largest = fmaxf(largest, plain->data[v * VOXELS + i]);
        for (size_t v = 0; v < n; v++) {
            double expected =
                i % 3 == 0 || i == 41 || largest == 0 ? 0 : fmax(plain->data[v * VOXELS + i], 0) / largest;
            assert_float_equal(done->data[v * VOXELS + i], expected, 1e-6);
        }
        if (i == 20 || i == 22) assert_true(largest == 0);
    }
    /* slice 1 alone */
    gls_grid grid = sh->grid;
    grid.dim[2] = 1;
    size_t slice = NX * NY;
    assert_int_equal(gls_image_create(&grid, 45, &part), GLS_OK);
    for (size_t j = 0; j < 45; j++)
        memcpy(part->data + j * slice, sh->data + j * VOXELS + slice, slice * sizeof *part->data);
    gls_odf_source_destroy(source);
    options = raw();
    assert_int_equal(
        gls_odf_source_create_sh(part, "sh.nii", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, &options, &source), GLS_OK);
    assert_int_equal(gls_odf_sample(source, &cropped), GLS_OK);
    for (size_t v = 0; v < n; v++)
        assert_memory_equal(cropped->data + v * slice, plain->data + v * VOXELS + slice, slice * sizeof *plain->data);
    float row[1];
    assert_int_equal(gls_odf_slice(source, 1, row), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_odf_slice(source, -1, row), GLS_ERR_ARGUMENT);
    gls_odf_source_destroy(source);
    gls_image_destroy(sh);
    gls_image_destroy(stop);
    gls_image_destroy(plain);
    gls_image_destroy(done);
    gls_image_destroy(part);
    gls_image_destroy(cropped);
    gls_sphere_destroy(sphere);
}

/* Amplitudes on the given directions, which come in any order. */
static void amplitudes(void **state)
{
    (void)state;
    gls_sphere *sphere = small();
    size_t n = sphere->n;
    double affine[3][4], rotation[3][3], (*direction)[3] = malloc(2 * n * sizeof *direction);
    gls_odf_options options = raw();
    gls_odf_source *source = NULL;
    gls_image *odf = make_noise(-1, 2 * n), *half = make_noise(-1, n), *got = NULL;
    make_affine(-1, affine, rotation);
    for (size_t i = 0; i < 2 * n; i++) {
        size_t p = i * 5 % (2 * n); /* a permutation: 362 and 5 have no common factor */
        double v[3];
        for (int a = 0; a < 3; a++) v[a] = p < n ? sphere->vertex[p][a] : -sphere->vertex[p - n][a];
        for (int r = 0; r < 3; r++)
            direction[i][r] = rotation[r][0] * v[0] + rotation[r][1] * v[1] + rotation[r][2] * v[2];
        if (p >= n) continue;
        size_t other = 0;
        while (other * 5 % (2 * n) != p + n) other++;
        for (size_t x = 0; x < VOXELS; x++)
            odf->data[other * VOXELS + x] = odf->data[i * VOXELS + x] + (x == 9 ? 0.0005f : 0);
    }
    for (int pass = 0; pass < 2; pass++) {
        /* first symmetric to rounding, then with one voxel that is not symmetric */
        if (pass == 1) odf->data[4 * VOXELS + 17] += 0.01f;
        assert_int_equal(gls_odf_source_create_amplitudes(odf, "odf.nii", (const double(*)[3])direction, 2 * n,
                                                          "sphere.txt", GLS_BVEC_WORLD, &options, &source),
                         GLS_OK);
        assert_int_equal(source->sphere->antipodal, pass == 0);
        assert_int_equal(source->sphere->n, pass == 0 ? n : 2 * n);
        assert_int_equal(gls_odf_sample(source, &got), GLS_OK);
        for (size_t v = 0; v < source->sphere->n; v++) {
            const double *d = source->sphere->vertex[v];
            size_t same = SIZE_MAX, opposite = SIZE_MAX;
            for (size_t i = 0; i < 2 * n; i++) {
                double w[3], cosine = 0;
                for (int r = 0; r < 3; r++)
                    w[r] = rotation[r][0] * d[0] + rotation[r][1] * d[1] + rotation[r][2] * d[2];
                for (int r = 0; r < 3; r++) cosine += w[r] * direction[i][r];
                if (cosine > 0.99999) same = i;
                if (cosine < -0.99999) opposite = i;
            }
            assert_true(same != SIZE_MAX && opposite != SIZE_MAX);
            for (size_t x = 0; x < VOXELS; x++) {
                float a = odf->data[same * VOXELS + x], b = odf->data[opposite * VOXELS + x];
                assert_float_equal(got->data[v * VOXELS + x], pass == 0 ? 0.5f * (a + b) : a, 1e-7);
            }
        }
        gls_image_destroy(got);
        gls_odf_source_destroy(source);
    }
    /* one end of each pair is taken as it is */
    assert_int_equal(gls_odf_source_create_amplitudes(half, "odf.nii", (const double(*)[3])sphere->vertex, n,
                                                      "sphere.txt", GLS_BVEC_IMAGE, &options, &source),
                     GLS_OK);
    assert_true(source->sphere->antipodal && source->sphere->n == n && !source->is_sh);
    assert_int_equal(gls_odf_sample(source, &got), GLS_OK);
    assert_memory_equal(got->data, half->data, n * VOXELS * sizeof *got->data);
    gls_image_destroy(got);
    gls_odf_source_destroy(source);
    gls_image_destroy(odf);
    gls_image_destroy(half);
    gls_sphere_destroy(sphere);
    free(direction);
}

static void expect(gls_status status, gls_status wanted, const char *part)
{
    if (status != wanted || !strstr(gls_last_error(), part))
        fail_msg("status %d, \"%s\" instead of %d, \"%s\"", status, gls_last_error(), wanted, part);
}

static void errors(void **state)
{
    (void)state;
    gls_sphere *sphere = small();
    gls_image *sh = make_noise(1, 44), *wide = make_image(1, 2), *one = make_image(-1, 1);
    gls_odf_options options = gls_odf_options_default();
    gls_odf_source *source = NULL;
    double(*direction)[3] = NULL, same[44][3] = {{0}};
    size_t n = 0;
    expect(gls_odf_source_create_sh(sh, "fod.nii", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, &options, &source),
           GLS_ERR_INPUT, "fod.nii: 44 volumes fit no SH order");
    expect(gls_odf_source_create_amplitudes(sh, "odf.nii", (const double(*)[3])sphere->vertex, sphere->n, "dirs.txt",
                                            GLS_BVEC_IMAGE, &options, &source),
           GLS_ERR_INPUT, "odf.nii has 44 volumes, but dirs.txt has 181 directions");
    for (int i = 0; i < 44; i++) same[i][2] = 1;
    expect(gls_odf_source_create_amplitudes(sh, "odf.nii", (const double(*)[3])same, 44, "dirs.txt", GLS_BVEC_IMAGE,
                                            &options, &source),
           GLS_ERR_INPUT, "dirs.txt: directions 1 and 2 (counted from 1) are closer");
    gls_image_destroy(sh);
    sh = make_noise(1, 45);
    options.stop_map = wide;
    expect(gls_odf_source_create_sh(sh, "fod.nii", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, &options, &source),
           GLS_ERR_ARGUMENT, "stop map of fod.nii has 2 volumes");
    options.stop_map = one;
    expect(gls_odf_source_create_sh(sh, "fod.nii", GLS_SH_TOURNIER07, GLS_BVEC_WORLD, sphere, &options, &source),
           GLS_ERR_INPUT, "different grids");
    assert_null(source);
    put_file(scratch("two.txt"), "1 0\n0 1\n", 8);
    expect(gls_odf_directions_read(scratch("two.txt"), &direction, &n), GLS_ERR_INPUT,
           "two.txt: 2 columns, but directions need 3");
    put_file(scratch("three.txt"), "1 0 0\n0,1,0\n", 12);
    assert_int_equal(gls_odf_directions_read(scratch("three.txt"), &direction, &n), GLS_OK);
    assert_int_equal(n, 2);
    assert_true(direction[1][1] == 1);
    free(direction);
    gls_odf_source_destroy(NULL);
    assert_string_equal(gls_odf_frame_name(GLS_BVEC_WORLD), "world");
    assert_string_equal(gls_odf_frame_name(GLS_BVEC_FSL), "fsl");
    assert_string_equal(gls_odf_frame_name(GLS_BVEC_IMAGE), "image");
    gls_image_destroy(sh);
    gls_image_destroy(wide);
    gls_image_destroy(one);
    gls_sphere_destroy(sphere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_bases),  cmocka_unit_test(sh_samples), cmocka_unit_test(full_samples),
        cmocka_unit_test(conversions), cmocka_unit_test(kernels),    cmocka_unit_test(finishing),
        cmocka_unit_test(amplitudes),  cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
