/* Matrix product. Shaders work on blocks within the limits of the device. On a software renderer the arrays are memory
 * of the host and OpenBLAS multiplies them, several times faster than any shader: llvmpipe reads storage one invocation
 * at a time and has no fused multiply-add. */
#include <stdio.h>
#include <stdlib.h>

#include "compute/array.h"
#include "gpu/fetch.h"
#include "gpu/handle.h"
#include "gpu/hold.h"
#include "gpu/internal.h"
#include "gpu/source.h"
#include "util/clock.h"
#include "util/lapack.h"
#include "util/threads.h"

/* Maximum number of multiplications in a dispatch: a fraction of a second on usual GPUs, so that no watchdog stops the
 * kernel. */
#define MAX_WORK (UINT64_C(1) << 36)
/* Maximum length of the sums in a dispatch, a multiple of 16: llvmpipe silently ends a kernel after 65536 iterations of
 * all its loops. */
#define MAX_DEPTH 16384u
#define MAX_GROUPS_Y 65535u

/* A product c = a b, where a is m x k and b is k x n, both row by row. */
typedef struct product {
    gls_device *device;
    uint32_t m, n, k;
    gls_array *a, *b, *c;
} product;

/* --- shaders -------------------------------------------------------------- */

/* The tile of C that a work group computes, rows x columns. An invocation computes per x per elements of the tile, for
 * one of `slices` equal parts of the sums. per and slices are 0 for GLS_MATMUL_REGISTERS. */
typedef struct tiling {
    uint32_t rows, columns, per, slices;
} tiling;

/* Chooses the tiles of C. Large tiles read less memory; small tiles and slices keep more of a GPU busy. Takes the
 * largest tiles that the device can run and of which C has at least `enough`, or else the smallest ones; for
 * GLS_MATMUL_REGISTERS tiles of one fixed size. */
static tiling choose_tiling(const product *p, gls_matmul_way way)
{
    const uint64_t enough = 128;
    uint32_t most = p->device->info.max_work_group_size;
    if (way == GLS_MATMUL_REGISTERS) return (tiling){16, 16 * 16, 0, 0};
    if ((uint64_t)(p->m / 128) * (p->n / 128) >= enough && most >= 256) return (tiling){128, 128, 8, 1};
    if ((uint64_t)(p->m / 64) * (p->n / 64) >= enough) return (tiling){64, 64, 8, most >= 256 ? 4 : 1};
    return (tiling){32, 32, 4, most >= 256 ? 4 : 1};
}

/* Definitions for the shader. texts: memory for the numbers. */
static void define_tiles(tiling t, char texts[4][12], gls_define defines[4])
{
    static const char *const names[] = {"TILE", "SLICES", "PER", "INVOCATIONS"};
    const uint32_t side = t.rows / t.per, numbers[] = {t.rows, t.slices, t.per, side * side * t.slices};
    for (int i = 0; i < 4; i++) {
        snprintf(texts[i], sizeof texts[i], i < 2 ? "%uu" : "%u", numbers[i]);
        defines[i] = (gls_define){names[i], texts[i], false, NULL};
    }
}

/* Compiles the kernel for this way to multiply and these tiles, or takes it from the device's cache. ALIGNED needs n
 * and k divisible by 4. */
static gls_status make_kernel(const product *p, gls_matmul_way way, tiling t, gls_kernel **kernel)
{
    char texts[4][12], *variant = NULL;
    gls_define defines[6] = {{"variant", NULL, true, NULL}};
    size_t n = 1;
    gls_status status = gls_shader_text(
        way == GLS_MATMUL_TILES ? "compute/matmul_tiles.glsl" : "compute/matmul_registers.glsl", &variant);
    if (status) return status;
    defines[0].value = variant;
    if (p->n % 4 == 0 && p->k % 4 == 0) defines[n++] = (gls_define){"ALIGNED", "", false, NULL};
    if (way == GLS_MATMUL_TILES) {
        define_tiles(t, texts, defines + n);
        n += 4;
    }
    status = gls_kernel_load(p->device, "compute/matmul.comp", defines, n, kernel);
    free(variant);
    return status;
}

/* Chooses rows, columns and depth of a block. Rows and columns are multiples of the tile sizes, or all of the matrix.
 */
static void choose_block(const product *p, tiling t, uint64_t block[3])
{
    uint64_t max_columns = (uint64_t)p->device->info.max_work_groups * t.columns,
             max_rows = (uint64_t)MAX_GROUPS_Y * t.rows;
    block[2] = p->k < MAX_DEPTH ? p->k : MAX_DEPTH;
    block[1] = p->n < max_columns ? p->n : max_columns;
    block[0] = MAX_WORK / (block[1] * block[2]) / t.rows * t.rows;
    if (block[0] < t.rows) {
        block[0] = t.rows;
        block[1] = MAX_WORK / (block[0] * block[2]) / t.columns * t.columns;
    }
    if (block[0] > max_rows) block[0] = max_rows;
}

/* Computes a block of the product. first, block: position and size along m, n and k; with first[2] > 0 the block is
 * added to the values in c. */
static gls_status run_block(const product *p, gls_kernel *kernel, tiling t, const uint64_t first[3],
                            const uint64_t block[3], double *gpu_seconds)
{
    /* A block at the far edge of a matrix may be smaller. */
    uint64_t last[3] = {first[0] + block[0], first[1] + block[1], first[2] + block[2]};
    uint32_t size[3] = {p->m, p->n, p->k};
    for (int a = 0; a < 3; a++)
        if (last[a] > size[a]) last[a] = size[a];
    gls_arg args[] = {
        gls_arg_buffer(0, p->a->buffer),
        gls_arg_buffer(1, p->b->buffer),
        gls_arg_buffer(2, p->c->buffer),
        gls_arg_uint(0, (uint32_t)last[0]),
        gls_arg_uint(1, p->n),
        gls_arg_uint(2, p->k),
        gls_arg_uint(3, (uint32_t)first[0]),
        gls_arg_uint(4, (uint32_t)first[1]),
        gls_arg_uint(5, (uint32_t)first[2]),
        gls_arg_uint(6, (uint32_t)last[2]),
        gls_arg_uint(7, first[2] > 0),
    };
    uint32_t groups[3] = {(uint32_t)((last[1] - first[1] - 1) / t.columns + 1),
                          (uint32_t)((last[0] - first[0] - 1) / t.rows + 1), 1};
    double seconds = 0;
    gls_status status = gls_kernel_run(kernel, groups, args, sizeof args / sizeof *args, gpu_seconds ? &seconds : NULL);
    if (gpu_seconds) *gpu_seconds += seconds;
    return status;
}

/* Computes the product by shaders, block by block, within the limits of the device. */
static gls_status run_shader(const product *p, gls_matmul_way way, double *gpu_seconds)
{
    tiling t = choose_tiling(p, way);
    uint64_t block[3], first[3];
    gls_kernel *kernel = NULL;
    gls_status status = gls_device_enter(p->device, "matrix product");
    if (status) return status;
    status = make_kernel(p, way, t, &kernel);
    choose_block(p, t, block);
    for (first[0] = 0; first[0] < p->m && !status; first[0] += block[0])
        for (first[1] = 0; first[1] < p->n && !status; first[1] += block[1])
            for (first[2] = 0; first[2] < p->k && !status; first[2] += block[2])
                status = run_block(p, kernel, t, first, block, gpu_seconds);
    gls_kernel_destroy(kernel);
    if (!status && gpu_seconds) status = gls_device_synchronize(p->device);
    gls_device_release(p->device);
    return status;
}

/* --- host ----------------------------------------------------------------- */

/* Lets OpenBLAS multiply in the memory of a software renderer. */
static gls_status run_host(const product *p, double *gpu_seconds)
{
    if (!p->device->info.software)
        return gls_fail(GLS_ERR_UNSUPPORTED, "matrix product on the host: only works in the memory of a software "
                                             "renderer; choose another gls_matmul_way");
    gls_status status = gls_blas_check("matrix product");
    if (!status) status = gls_device_enter(p->device, "matrix product");
    if (status) return status;
    /* A buffer can be mapped only once: for a product of a matrix with itself both factors read one view. */
    bool one = p->a == p->b;
    uint64_t a_bytes = 4 * (uint64_t)p->m * p->k, b_bytes = 4 * (uint64_t)p->k * p->n;
    gls_host_view view[3] = {{p->c->buffer, 4 * (uint64_t)p->m * p->n, true, NULL},
                             {p->a->buffer, one && b_bytes > a_bytes ? b_bytes : a_bytes, false, NULL},
                             {p->b->buffer, b_bytes, false, NULL}};
    size_t n_views = one ? 2 : 3;
    bool mapped = gls_host_map(p->device, view, n_views);
    const float *a = view[1].data, *b = one ? a : view[2].data;
    double start = gls_clock_seconds();
    blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    if (mapped)
        gls_lapack()->sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, view[0].data, n);
    *gpu_seconds = gls_clock_seconds() - start;
    status = gls_host_unmap(p->device, view, n_views, "matrix product");
    gls_device_release(p->device);
    return status;
}

/* --- product ----------------------------------------------------------------- */

/* GLS_ERR_ARGUMENT unless all three arrays exist on one device as floats and are large enough, c is neither a nor b,
 * and no size is 0. GLS_ERR_UNSUPPORTED: a matrix has more than 2^31 - 1 elements. */
static gls_status check(const product *p)
{
    const gls_array *arrays[] = {p->a, p->b, p->c};
    static const char *const names[] = {"a", "b", "c"};
    uint32_t sizes[3][2] = {{p->m, p->k}, {p->k, p->n}, {p->m, p->n}};
    for (int i = 0; i < 3; i++) {
        gls_status status = gls_array_check("matrix product", names[i], arrays[i], arrays[0]->device, GLS_TYPE_FLOAT32);
        if (status) return status;
        if (arrays[i]->length < (uint64_t)sizes[i][0] * sizes[i][1])
            return gls_fail(GLS_ERR_ARGUMENT,
                            "matrix product: %s of %u x %u does not fit into its array of %zu elements", names[i],
                            sizes[i][0], sizes[i][1], arrays[i]->length);
    }
    if (p->c == p->a || p->c == p->b)
        return gls_fail(GLS_ERR_ARGUMENT, "matrix product: array c is also a or b: give another array for c");
    /* The checks above keep the sizes within the arrays, so below 2^31 on any existing device; the loop below protects
     * the 32-bit integers of the shader and OpenBLAS. */
    if (p->m == 0 || p->n == 0 || p->k == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "matrix product: %u x %u times %u x %u is empty", p->m, p->k, p->k, p->n);
    for (int i = 0; i < 3; i++)
        if ((uint64_t)sizes[i][0] * sizes[i][1] > INT32_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED, "matrix product: %s has more than 2^31 - 1 elements", names[i]);
    return GLS_OK;
}

gls_status gls_matmul_by(gls_matmul_way way, uint32_t m, uint32_t n, uint32_t k, gls_array *a, gls_array *b,
                         gls_array *c, gls_run_result *result)
{
    double begun = gls_clock_seconds(), gpu_seconds = 0;
    product p = {NULL, m, n, k, a, b, c};
    gls_status status = GLS_OK;
    if (way < GLS_MATMUL_AUTO || way > GLS_MATMUL_HOST)
        status = gls_fail(GLS_ERR_ARGUMENT, "matrix product: way %d is unknown", (int)way);
    else if (!gls_handle_alive(a, GLS_HANDLE_ARRAY))
        status = gls_handle_refuse("matrix product", "a", a, GLS_HANDLE_ARRAY);
    else
        status = check(&p);
    if (!status) {
        p.device = a->device;
        if (way == GLS_MATMUL_AUTO) way = p.device->info.software ? GLS_MATMUL_HOST : GLS_MATMUL_TILES;
        status =
            way == GLS_MATMUL_HOST ? run_host(&p, &gpu_seconds) : run_shader(&p, way, result ? &gpu_seconds : NULL);
    }
    return gls_result_fill(result, status, gpu_seconds, begun);
}

gls_status gls_matmul(uint32_t m, uint32_t n, uint32_t k, gls_array *a, gls_array *b, gls_array *c,
                      gls_run_result *result)
{
    return gls_matmul_by(GLS_MATMUL_AUTO, m, n, k, a, b, c, result);
}
