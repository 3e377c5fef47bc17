/* Measures the rates that a device reaches in kernels that do one thing: copying, multiply-adds, trilinear samples.
 * test/bench/limits.py compares with it what work costs that is added to a kernel. Prints the rates as JSON.
 *
 *     bench_ceilings DEVICE */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <glslines/device.h>
#include <glslines/log.h>

/* Constants of the kernels, and of the measurements. Loops stay far below 65536 iterations, after which
 * llvmpipe ends a kernel. */
enum {
    COPY_TURNS = 4,     /* vectors of 16 bytes that an invocation copies */
    FMA_TURNS = 512,    /* iterations of the loop of multiply-adds */
    FMA_PER_TURN = 48,  /* multiply-adds in an iteration */
    FETCH_TURNS = 256,  /* samples that an invocation takes */
    FETCH_SIZE = 64,    /* texels along each axis of the texture */
    BEST_OF = 5,        /* number of measurements, of which the best counts */
    MAX_LAUNCHES = 1024 /* largest number of launches in a measurement */
};
#define LONG_ENOUGH 0.02 /* seconds that a measurement should last; groups and launches are doubled until it does */

/* Every invocation copies COPY_TURNS vectors; neighbouring invocations copy neighbouring vectors. */
static const char copy_source[] = "layout(local_size_x = GROUP_SIZE) in;\n"
                                  "layout(std430, binding = 0) readonly buffer From { vec4 from[]; };\n"
                                  "layout(std430, binding = 1) writeonly buffer To { vec4 to[]; };\n"
                                  "\n"
                                  "void main()\n"
                                  "{\n"
                                  "    uint n = gl_NumWorkGroups.x * uint(GROUP_SIZE);\n"
                                  "    for (int t = 0; t < COPY_TURNS; t++) {\n"
                                  "        uint i = gl_GlobalInvocationID.x + uint(t) * n;\n"
                                  "        to[i] = from[i];\n"
                                  "    }\n"
                                  "}\n";

/* Twelve independent chains in each invocation, enough to hide latency and few enough for the registers of a CPU: 48
 * multiply-adds in each iteration. The sum is stored, so that no compiler removes the chains. */
static const char fma_source[] =
    "layout(local_size_x = GROUP_SIZE) in;\n"
    "layout(location = 0) uniform float factor;\n"
    "layout(location = 1) uniform float term;\n"
    "layout(std430, binding = 1) writeonly buffer To { float to[]; };\n"
    "\n"
    "void main()\n"
    "{\n"
    "    vec4 x = vec4(0.0, 0.1, 0.2, 0.3) + float(gl_LocalInvocationID.x), y = x + 0.4, z = x + 0.8;\n"
    "    for (int t = 0; t < FMA_TURNS; t++) {\n"
    "        x = x * factor + term;\n"
    "        y = y * factor + term;\n"
    "        z = z * factor + term;\n"
    "        x = x * factor + term;\n"
    "        y = y * factor + term;\n"
    "        z = z * factor + term;\n"
    "        x = x * factor + term;\n"
    "        y = y * factor + term;\n"
    "        z = z * factor + term;\n"
    "        x = x * factor + term;\n"
    "        y = y * factor + term;\n"
    "        z = z * factor + term;\n"
    "    }\n"
    "    to[gl_GlobalInvocationID.x] = dot(x + y + z, vec4(1.0));\n"
    "}\n";

/* Neighbouring invocations sample neighbouring positions of a texture that fits into the caches, so that only the
 * texture unit limits the rate. stride: distance between samples of successive iterations, in texture coordinates. */
static const char fetch_source[] = "layout(local_size_x = GROUP_SIZE) in;\n"
                                   "layout(location = 0) uniform float stride; // distance between fetches of "
                                   "successive iterations, in texture coordinates\n"
                                   "layout(std430, binding = 1) writeonly buffer To { float to[]; };\n"
                                   "layout(binding = 0) uniform sampler3D source;\n"
                                   "\n"
                                   "void main()\n"
                                   "{\n"
                                   "    uint i = gl_GlobalInvocationID.x;\n"
                                   "    vec3 p = (vec3(float(i % 32u), float(i / 32u % 32u), float(i / 1024u % 32u)) + "
                                   "0.37) * (1.0 / float(FETCH_SIZE));\n"
                                   "    vec4 sum = vec4(0.0);\n"
                                   "    for (int t = 0; t < FETCH_TURNS; t++) {\n"
                                   "        sum += texture(source, p);\n"
                                   "        p += stride;\n"
                                   "    }\n"
                                   "    to[i] = dot(sum, vec4(1.0));\n"
                                   "}\n";

/* Seconds since an arbitrary moment. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A device, and the buffers and the texture that its measurements use. */
typedef struct probe {
    gls_device *device;
    gls_buffer *from, *to;
    gls_texture *texture;
    uint32_t group_size, max_groups;
} probe;

/* Number of work groups whose output, bytes_each for each invocation, fits the buffer `to`; at most max_groups. */
static uint32_t groups_of(const probe *p, uint64_t bytes_each)
{
    uint64_t groups = gls_buffer_size(p->to) / (bytes_each * p->group_size);
    return (uint32_t)(groups < p->max_groups ? groups : p->max_groups);
}

/* Measures the host's seconds of several launches, from an idle device until all are done. */
static gls_status time_launches(const probe *p, gls_kernel *kernel, const gls_arg *args, size_t n_args, uint32_t groups,
                                int launches, double *seconds)
{
    gls_status status = gls_device_synchronize(p->device);
    double start = now();
    for (int i = 0; !status && i < launches; i++)
        status = gls_kernel_run(kernel, (uint32_t[3]){groups, 1, 1}, args, n_args, NULL);
    if (!status) status = gls_device_synchronize(p->device);
    *seconds = now() - start;
    return status;
}

/* Finds the best rate of BEST_OF measurements, invocations per second. Uses the host's clock, because software
 * renderers do not time kernels. Increases groups up to `limit`, then launches, until a measurement takes long enough
 * for this clock. */
static gls_status best_rate(const probe *p, gls_kernel *kernel, const gls_arg *args, size_t n_args, uint32_t groups,
                            uint32_t limit, double *rate)
{
    double seconds;
    int launches = 1;
    gls_status status = time_launches(p, kernel, args, n_args, groups, launches, &seconds);
    while (!status && seconds < LONG_ENOUGH && launches < MAX_LAUNCHES) {
        if (groups == limit) launches *= 2;
        groups = groups > limit / 2 ? limit : 2 * groups;
        status = time_launches(p, kernel, args, n_args, groups, launches, &seconds);
    }
    *rate = 0;
    for (int i = 0; !status && i < BEST_OF; i++) {
        status = time_launches(p, kernel, args, n_args, groups, launches, &seconds);
        *rate = fmax(*rate, (double)groups * p->group_size * launches / seconds);
    }
    return status;
}

/* Compiles a kernel with the constants of this file. The caller destroys *kernel. */
static gls_status compile(const probe *p, const char *label, const char *source, gls_kernel **kernel)
{
    char group[16], copy[16], fma[16], fetch[16], size[16];
    snprintf(group, sizeof group, "%u", p->group_size);
    snprintf(copy, sizeof copy, "%d", COPY_TURNS);
    snprintf(fma, sizeof fma, "%d", FMA_TURNS);
    snprintf(fetch, sizeof fetch, "%d", FETCH_TURNS);
    snprintf(size, sizeof size, "%d", FETCH_SIZE);
    gls_define defines[] = {{"GROUP_SIZE", group, false, NULL},
                            {"COPY_TURNS", copy, false, NULL},
                            {"FMA_TURNS", fma, false, NULL},
                            {"FETCH_TURNS", fetch, false, NULL},
                            {"FETCH_SIZE", size, false, NULL}};
    return gls_kernel_create(p->device, label, source, defines, sizeof defines / sizeof *defines, kernel);
}

/* Measures bytes read plus bytes written per second, in vectors of 16 bytes. */
static gls_status measure_copy(const probe *p, double *bytes)
{
    gls_kernel *kernel = NULL;
    gls_arg args[] = {gls_arg_buffer(0, p->from), gls_arg_buffer(1, p->to)};
    uint32_t groups = groups_of(p, 16 * COPY_TURNS);
    double rate = 0;
    gls_status status = compile(p, "copy", copy_source, &kernel);
    if (!status) status = best_rate(p, kernel, args, sizeof args / sizeof *args, groups, groups, &rate);
    gls_kernel_destroy(kernel);
    *bytes = rate * 2 * 16 * COPY_TURNS;
    return status;
}

/* Measures floating-point operations per second; a multiply-add counts as two. */
static gls_status measure_fma(const probe *p, double *flops)
{
    gls_kernel *kernel = NULL;
    gls_arg args[] = {gls_arg_float(0, 0.999f), gls_arg_float(1, 0.001f), gls_arg_buffer(1, p->to)};
    double rate = 0;
    gls_status status = compile(p, "fma", fma_source, &kernel);
    if (!status) status = best_rate(p, kernel, args, sizeof args / sizeof *args, 64, groups_of(p, 4), &rate);
    gls_kernel_destroy(kernel);
    *flops = rate * 2 * FMA_PER_TURN * FMA_TURNS;
    return status;
}

/* Measures trilinear samples of a 3D texture per second. */
static gls_status measure_fetch(const probe *p, double *fetches)
{
    gls_kernel *kernel = NULL;
    gls_arg args[] = {gls_arg_float(0, 0.29f / FETCH_SIZE), gls_arg_texture(0, p->texture), gls_arg_buffer(1, p->to)};
    double rate = 0;
    gls_status status = compile(p, "fetch", fetch_source, &kernel);
    if (!status) status = best_rate(p, kernel, args, sizeof args / sizeof *args, 64, groups_of(p, 4), &rate);
    gls_kernel_destroy(kernel);
    *fetches = rate * FETCH_TURNS;
    return status;
}

/* Makes two buffers that are too large for the caches of a device, and a texture that fits into the caches. */
static gls_status create(probe *p)
{
    const gls_device_info *info = gls_device_get_info(p->device);
    /* larger than the caches of most CPUs, and of a GPU */
    uint64_t bytes = info->software ? (uint64_t)64 << 20 : (uint64_t)512 << 20;
    uint32_t size[3] = {FETCH_SIZE, FETCH_SIZE, FETCH_SIZE}, origin[3] = {0, 0, 0};
    size_t n = (size_t)4 * FETCH_SIZE * FETCH_SIZE * FETCH_SIZE;
    if (bytes > info->max_storage_bytes) bytes = info->max_storage_bytes;
    p->group_size = info->software ? 8 : 256;
    if (p->group_size > info->max_work_group_size) p->group_size = info->max_work_group_size;
    p->max_groups = info->max_work_groups;
    float *values = malloc(n * sizeof *values);
    for (size_t i = 0; values && i < n; i++) values[i] = (float)(i % 97) / 97;
    gls_status status =
        values ? gls_buffer_create(p->device, GLS_BUFFER_STORAGE, bytes, "copy source", &p->from) : GLS_ERR_MEMORY;
    if (!status) status = gls_buffer_clear(p->from);
    if (!status) status = gls_buffer_create(p->device, GLS_BUFFER_STORAGE, bytes, "copy destination", &p->to);
    if (!status) status = gls_texture_create(p->device, GLS_TEXTURE_RGBA16F, size, "texture to sample", &p->texture);
    if (!status) status = gls_texture_write(p->texture, origin, size, values);
    free(values);
    return status;
}

int main(int argc, char **argv)
{
    probe p = {.device = NULL};
    double copy = 0, fma = 0, fetch = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s DEVICE\n", argv[0]);
        return 2;
    }
    gls_status status = gls_device_open(argv[1], GLS_GRAPHICS_AUTO, &p.device);
    if (!status) status = create(&p);
    if (!status) status = measure_copy(&p, &copy);
    if (!status) status = measure_fma(&p, &fma);
    if (!status) status = measure_fetch(&p, &fetch);
    gls_buffer_destroy(p.from);
    gls_buffer_destroy(p.to);
    gls_texture_destroy(p.texture);
    gls_device_close(p.device);
    if (status) {
        fprintf(stderr, "%s\n", gls_last_error());
        return 1;
    }
    printf("{\"copy_bytes_per_second\": %.6g, \"multiply_add_flop_per_second\": %.6g, "
           "\"trilinear_samples_per_second\": %.6g}\n",
           copy, fma, fetch);
    return copy > 0 && fma > 0 && fetch > 0 ? 0 : 1;
}
