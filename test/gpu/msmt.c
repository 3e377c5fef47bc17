/* Multi-tissue deconvolution on a device: what the CPU finds, to rounding; the CPU itself where the device cannot. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glslines/msmt.h>

#include "gpu.h"

enum { SHELL = 40, N = 1 + 2 * SHELL, VOXELS = 140 }; /* two blocks, the second is not full */
#define BROKEN 17                                     /* a voxel with a value that is not finite */

static gls_device *device;

typedef struct scene {
    gls_gradients *table;
    gls_tissue_response *response[3];
    gls_image *dwi, *mask;
} scene;

static const double zonal[3][3][3] = {
    {{3000}, {1800, -700, 120}, {1100, -650, 220}}, {{3500}, {1700}, {800}}, {{9000}, {450}, {60}}};

/* Signal of a fibre along axis in white matter, or of another tissue, without diffusion weighting in volume 0. */
static double signal(int tissue, const double v[3], int axis, int shell)
{
    double x = v[axis], p[3] = {1, (3 * x * x - 1) / 2, (35 * x * x * x * x - 30 * x * x + 3) / 8}, sum = 0;
    for (int l = 0; l < 3; l++) sum += zonal[tissue][shell][l] * sqrt((4 * l + 1) / (4 * M_PI)) * p[l];
    return sum;
}

static void make_scene(scene *s)
{
    double bval[N] = {0}, bvec[N][3] = {{0}};
    uint64_t state = 1;
    for (int i = 1; i < N; i++) {
        int k = (i - 1) % SHELL;
        double z = 1 - (k + 0.5) / SHELL, phi = k * M_PI * (3 - sqrt(5)), r = sqrt(1 - z * z);
        bval[i] = i <= SHELL ? 1000 : 2000;
        bvec[i][0] = r * cos(phi);
        bvec[i][1] = r * sin(phi);
        bvec[i][2] = z;
    }
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    assert_ok(gls_gradients_create(bval, (const double(*)[3])bvec, N, &options, NULL, &s->table));
    for (int t = 0; t < 3; t++) {
        assert_ok(gls_tissue_response_create(3, t ? 0 : 4, &s->response[t]));
        for (int b = 0; b < 3; b++)
            for (int l = 0; l <= s->response[t]->order / 2; l++)
                s->response[t]->zonal[b * (s->response[t]->order / 2 + 1) + l] = zonal[t][b][l];
    }
    gls_grid grid = {.dim = {VOXELS, 1, 1}, .voxel_size = {2, 2, 2}, .affine = {{2}, {0, 2}, {0, 0, 2}}};
    assert_ok(gls_image_create(&grid, N, &s->dwi));
    assert_ok(gls_image_create(&grid, 1, &s->mask));
    for (int v = 0; v < VOXELS; v++) {
        double part[4];
        for (int t = 0; t < 4; t++) part[t] = fmax(random_uniform(&state, -0.5, 1), 0);
        for (int i = 0; i < N; i++) {
            int shell = i == 0 ? 0 : i <= SHELL ? 1 : 2;
            double sum = random_normal(&state) * 60 + part[3] * signal(0, bvec[i], 1, shell);
            for (int t = 0; t < 3; t++) sum += part[t] * signal(t, bvec[i], 0, shell);
            s->dwi->data[i * VOXELS + v] = (float)sum;
        }
        s->mask->data[v] = v % 10 != 3;
    }
    s->dwi->data[5 * VOXELS + BROKEN] = NAN;
}

static void free_scene(scene *s)
{
    gls_gradients_destroy(s->table);
    for (int t = 0; t < 3; t++) gls_tissue_response_destroy(s->response[t]);
    gls_image_destroy(s->dwi);
    gls_image_destroy(s->mask);
}

static void fit(const scene *s, gls_device *on, gls_image *tissue[3])
{
    const gls_tissue_response *const response[3] = {s->response[0], s->response[1], s->response[2]};
    gls_msmt_options options = gls_msmt_options_default();
    options.device = on;
    options.order[0] = 4;
    assert_ok(gls_msmt_fit(s->dwi, s->table, s->mask, response, 3, &options, NULL, NULL, tissue));
}

/* Returns the largest difference. Frees b. */
static double difference(gls_image *const a[3], gls_image *b[3])
{
    double largest = 0;
    for (int t = 0; t < 3; t++) {
        assert_int_equal(a[t]->n_volumes, b[t]->n_volumes);
        for (size_t i = 0; i < a[t]->n_volumes * VOXELS; i++) {
            assert_true(isfinite(b[t]->data[i]));
            largest = fmax(largest, fabs((double)a[t]->data[i] - (double)b[t]->data[i]));
        }
        gls_image_destroy(b[t]);
    }
    return largest;
}

static void same_as_cpu(void **state)
{
    (void)state;
    scene s;
    gls_image *cpu[3], *own[3];
    make_scene(&s);
    fit(&s, NULL, cpu);
    fit(&s, device, own);
    assert_true(own[0]->data[0] != 0 && own[0]->data[3] == 0 && own[0]->data[BROKEN] == 0);
    double off = difference(cpu, own);
    print_message("largest difference between device and CPU: %.1e\n", off);
    assert_true(off < 1e-7);
    fit(&s, device, own);
    gls_image *again[3];
    fit(&s, device, again);
    assert_true(difference(own, again) == 0);
    for (int t = 0; t < 3; t++) gls_image_destroy(own[t]);
    /* too little shared memory, and no double precision: the CPU fits */
    gls_device *small = open_limited("shared_bytes=4096"), *gles = NULL;
    fit(&s, small, own);
    assert_true(difference(cpu, own) == 0);
    gls_device_close(small);
    if (gls_device_open(NULL, GLS_GRAPHICS_GLES, &gles) == GLS_OK) {
        fit(&s, gles, own);
        assert_true(difference(cpu, own) == 0);
        gls_device_close(gles);
    }
    for (int t = 0; t < 3; t++) gls_image_destroy(cpu[t]);
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_cpu)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
