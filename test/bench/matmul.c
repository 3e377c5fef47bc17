/* Speed of the matrix product: GFLOP/s of each way that the device has, beside the most that its multiply-add units
 * give to a shader and one thread of OpenBLAS. On NVIDIA's hardware compare with cuda_tile.cu.
 *
 * Usage: bench_matmul [DEVICE [SIZE ...]]
 * DEVICE as for gls_device_open(); SIZE: N for square matrices, or MxNxK for M x K times K x N; by default 512, 1024,
 * 2048 and on hardware 4096 and 8192. LP_NATIVE_VECTOR_WIDTH=512 lets llvmpipe use vectors of 16 where the processor
 * has them. */
#include <cblas.h>
#include <glslines/compute.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 7
#define WARM_SECONDS 0.5

extern void openblas_set_num_threads(int n);
extern int openblas_get_num_threads(void);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Eight chains of a * x + 1, each of four lanes, sixteen steps a turn. */
static const char *const fma_source =
    "layout(location = 0) uniform float a;\n"
    "layout(location = 1) uniform uint turns;\n"
    "layout(std430, binding = 0) buffer Out { vec4 result[]; };\n"
    "#define STEP(x) x = a * x + vec4(1.0);\n"
    "#define ROUND STEP(s0) STEP(s1) STEP(s2) STEP(s3) STEP(s4) STEP(s5) STEP(s6) STEP(s7)\n"
    "#define FOUR ROUND ROUND ROUND ROUND\n"
    "void main()\n{\n"
    "    vec4 s0 = vec4(gl_LocalInvocationID.x), s1 = s0 + 1.0, s2 = s0 + 2.0, s3 = s0 + 3.0;\n"
    "    vec4 s4 = s0 + 4.0, s5 = s0 + 5.0, s6 = s0 + 6.0, s7 = s0 + 7.0;\n"
    "    for (uint i = 0u; i < turns; i++) {\n        FOUR FOUR FOUR FOUR\n    }\n"
    "    result[gl_WorkGroupID.x] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;\n}\n";

static int ceiling(gls_device *device, double *gflops)
{
    const gls_device_info *info = gls_device_get_info(device);
    uint32_t groups = info->software ? 64 : 16384, turns = info->software ? 400 : 512;
    static const uint32_t block[3] = {128, 1, 1};
    gls_program *program = NULL;
    gls_array *out = NULL;
    gls_status status = gls_program_create(device, "multiply-add", fma_source, NULL, 0, &program);
    if (!status) status = gls_array_create(device, GLS_TYPE_FLOAT32, 4 * (size_t)groups, "results", &out);
    *gflops = 0;
    for (int round = 0; round < ROUNDS && !status; round++) {
        gls_run_result result;
        gls_arg args[] = {gls_arg_array(0, out), gls_arg_float(0, 0.5f), gls_arg_uint(1, turns)};
        status = gls_program_run(program, (uint32_t[3]){groups, 1, 1}, block, args, 3, &result);
        double flops = 2.0 * 4 * 8 * 16 * turns * block[0] * groups;
        *gflops = fmax(*gflops, 1e-9 * flops / (result.gpu_seconds > 0 ? result.gpu_seconds : result.wall_seconds));
    }
    gls_array_destroy(out);
    gls_program_destroy(program);
    return status;
}

/* The product of two matrices: C has m x n values, each a sum over k. */
typedef struct shape {
    uint32_t m, n, k;
} shape;

static double flops(shape s)
{
    return 2.0 * s.m * s.n * s.k;
}

static double blas_one_thread(shape s, const float *a, const float *b, float *c)
{
    int threads = openblas_get_num_threads();
    double best = 0;
    openblas_set_num_threads(1);
    for (int round = 0; round < (flops(s) < 2e10 ? ROUNDS : 1); round++) {
        double t = now();
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)s.m, (blasint)s.n, (blasint)s.k, 1, a,
                    (blasint)s.k, b, (blasint)s.n, 0, c, (blasint)s.n);
        best = fmax(best, 1e-9 * flops(s) / (now() - t));
    }
    openblas_set_num_threads(threads);
    return best;
}

/* Best GFLOP/s of the product. A GPU that had nothing to do, as while OpenBLAS worked, has lowered its clock: it gets
 * something to do before the rounds that count. */
static gls_status measure(gls_matmul_way way, shape s, gls_array *const arrays[3], bool software, double *wall,
                          double *gpu)
{
    double start = now();
    *wall = *gpu = 0;
    for (int round = 0; round < ROUNDS;) {
        gls_run_result result;
        gls_status status = gls_matmul_by(way, s.m, s.n, s.k, arrays[0], arrays[1], arrays[2], &result);
        if (status) return status;
        if (!software && now() - start < WARM_SECONDS) continue;
        round++;
        *wall = fmax(*wall, 1e-9 * flops(s) / result.wall_seconds);
        if (result.gpu_seconds > 0) *gpu = fmax(*gpu, 1e-9 * flops(s) / result.gpu_seconds);
    }
    return GLS_OK;
}

static gls_status run_shape(gls_device *device, shape s, double peak)
{
    static const char *const names[] = {"auto", "tiles", "registers", "host"};
    size_t counts[3] = {(size_t)s.m * s.k, (size_t)s.k * s.n, (size_t)s.m * s.n};
    float *a = malloc(4 * counts[0]), *b = malloc(4 * counts[1]), *c = malloc(4 * counts[2]),
          *got = malloc(4 * counts[2]);
    gls_array *arrays[3] = {NULL, NULL, NULL};
    bool software = gls_device_get_info(device)->software;
    char text[40];
    gls_status status = a && b && c && got ? GLS_OK : GLS_ERR_MEMORY;
    snprintf(text, sizeof text, "%ux%ux%u", s.m, s.n, s.k);
    for (size_t i = 0; i < counts[0] && !status; i++) a[i] = (float)(i * 2654435761u % 1009) / 1009 - 0.5f;
    for (size_t i = 0; i < counts[1] && !status; i++) b[i] = (float)(i * 40503u % 2039) / 2039 - 0.5f;
    for (int k = 0; k < 3 && !status; k++)
        status = gls_array_create(device, GLS_TYPE_FLOAT32, counts[k], names[k], &arrays[k]);
    if (!status) status = gls_array_write(arrays[0], 0, counts[0], a, GLS_TYPE_FLOAT32);
    if (!status) status = gls_array_write(arrays[1], 0, counts[1], b, GLS_TYPE_FLOAT32);
    double blas = status ? 0 : blas_one_thread(s, a, b, c);
    for (gls_matmul_way way = GLS_MATMUL_AUTO; way <= GLS_MATMUL_HOST && !status; way++) {
        double wall, gpu, worst = 0;
        if ((way == GLS_MATMUL_HOST && !software) || (way == GLS_MATMUL_TILES && software && flops(s) > 3e9)) continue;
        status = measure(way, s, arrays, software, &wall, &gpu);
        if (!status) status = gls_array_read(arrays[2], 0, counts[2], got, GLS_TYPE_FLOAT32);
        for (size_t i = 0; i < counts[2] && !status; i++) worst = fmax(worst, fabs((double)got[i] - c[i]));
        if (!status)
            printf("%-16s  %-10s %10.1f %10.1f %9.1f %% %10.2f %12.2g\n", text, names[way], wall, gpu,
                   100 * fmax(wall, gpu) / peak, wall / blas, worst);
    }
    if (!status) printf("%-16s  %-10s %10.1f\n", text, "OpenBLAS 1", blas);
    for (int k = 0; k < 3; k++) gls_array_destroy(arrays[k]);
    free(a), free(b), free(c), free(got);
    return status;
}

static shape read_shape(const char *text)
{
    shape s = {0, 0, 0};
    if (sscanf(text, "%ux%ux%u", &s.m, &s.n, &s.k) < 3) s.n = s.k = s.m;
    return s;
}

int main(int argc, char **argv)
{
    static const uint32_t usual[] = {512, 1024, 2048, 4096, 8192};
    gls_device *device = NULL;
    double peak = 0;
    gls_status status = gls_device_open(argc > 1 ? argv[1] : NULL, GLS_GRAPHICS_AUTO, &device);
    if (!status) status = ceiling(device, &peak);
    if (!status) {
        const gls_device_info *info = gls_device_get_info(device);
        printf("%s, %s\nmultiply-adds of a shader: %.1f GFLOP/s\n", info->renderer, info->version, peak);
        printf("%-16s  %-10s %10s %10s %11s %10s %12s\n", "size", "way", "GFLOP/s", "on its own", "of ceiling",
               "/ OpenBLAS", "difference");
        size_t n_usual = info->software ? 3 : 5;
        for (size_t i = 0; i < (argc > 2 ? (size_t)argc - 2 : n_usual) && !status; i++)
            status =
                run_shape(device, argc > 2 ? read_shape(argv[i + 2]) : (shape){usual[i], usual[i], usual[i]}, peak);
    }
    if (status) fprintf(stderr, "%s\n", gls_last_error());
    gls_device_close(device);
    return status ? 1 : 0;
}
