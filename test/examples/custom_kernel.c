/* A kernel of one's own, run with grid and block: the sum of each block of an array, in shared memory. */
#include <glslines/compute.h>
#include <stdio.h>

#define BLOCKS 100
#define THREADS 64

static const char source[] = "layout(std430, binding = 0) readonly buffer In { float value[]; };\n"
                             "layout(std430, binding = 1) writeonly buffer Out { float sum[]; };\n"
                             "layout(location = 0) uniform float scale;\n"
                             "shared float part[BLOCK_X];\n"
                             "void main()\n"
                             "{\n"
                             "    uint me = gl_LocalInvocationID.x;\n"
                             "    part[me] = scale * value[gl_GlobalInvocationID.x];\n"
                             "    for (uint half_width = uint(BLOCK_X) / 2u; half_width > 0u; half_width /= 2u) {\n"
                             "        barrier();\n"
                             "        if (me < half_width) part[me] += part[me + half_width];\n"
                             "    }\n"
                             "    if (me == 0u) sum[gl_WorkGroupID.x] = part[0];\n"
                             "}\n";

int main(void)
{
    static const uint32_t grid[3] = {BLOCKS, 1, 1}, block[3] = {THREADS, 1, 1};
    static float values[BLOCKS * THREADS], sums[BLOCKS];
    gls_device *device = NULL;
    gls_program *program = NULL;
    gls_array *in = NULL, *out = NULL;
    gls_run_result result = {GLS_OK, 0, 0, ""};
    for (int i = 0; i < BLOCKS * THREADS; i++) values[i] = (float)(i / THREADS);

    gls_status status = gls_device_open("auto", GLS_GRAPHICS_AUTO, &device);
    if (!status) status = gls_array_create(device, GLS_TYPE_FLOAT32, BLOCKS * THREADS, "values", &in);
    if (!status) status = gls_array_create_zeroed(device, GLS_TYPE_FLOAT32, BLOCKS, "sums", &out);
    if (!status) status = gls_array_write(in, 0, BLOCKS * THREADS, values, GLS_TYPE_FLOAT32);
    if (!status) status = gls_program_create(device, "block sums", source, NULL, 0, &program);
    if (!status) {
        gls_arg args[] = {gls_arg_array(0, in), gls_arg_array(1, out), gls_arg_float(0, 0.5f)};
        status = gls_program_run(program, grid, block, args, 3, &result);
    }
    if (!status) status = gls_array_read(out, 0, BLOCKS, sums, GLS_TYPE_FLOAT32);
    if (status)
        fprintf(stderr, "%s\n", gls_last_error());
    else
        printf("sum of block %d: %g, in %g ms\n", BLOCKS - 1, sums[BLOCKS - 1], 1e3 * result.gpu_seconds);

    gls_program_destroy(program);
    gls_array_destroy(in);
    gls_array_destroy(out);
    gls_device_close(device);
    int wrong = status != GLS_OK;
    for (int i = 0; i < BLOCKS; i++) wrong |= sums[i] != 0.5f * THREADS * (float)i;
    return wrong;
}
