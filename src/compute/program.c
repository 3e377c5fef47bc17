/* Programs that run with a grid and a block, as in CUDA: one kernel for each size of the block, compiled when it is
 * first used. The size is a definition of the source (glsl/base/block.glsl). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/array.h"
#include "gpu/device_cache.h"
#include "gpu/fetch.h"
#include "gpu/handle.h"
#include "gpu/hold.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/text.h"

/* Number of kernels that a program keeps. A kernel beyond that number is dropped; when the size of its block is used
 * again, the kernel is compiled again or found in the cache of the device. */
#define MAX_VARIANTS 8
#define MAX_GROUPS_YZ 65535u

/* The kernel for one size of the block. */
typedef struct variant {
    uint32_t block[3];
    gls_kernel *kernel;
} variant;

struct gls_program {
    gls_device *device;
    char label[48];
    char *source; /* copy of the caller's text */
    gls_define *defines;
    size_t n_defines;
    variant variants[MAX_VARIANTS]; /* the kernel that was compiled last comes first */
    uint32_t max_block[3];
};

/* Frees the host memory of a program. Its kernels must have been destroyed, or the device closed. */
static void drop(void *object)
{
    gls_program *program = object;
    for (size_t i = 0; i < program->n_defines; i++) {
        free((char *)program->defines[i].name);
        free((char *)program->defines[i].value);
        free((char *)program->defines[i].reason);
    }
    free(program->defines);
    free(program->source);
    free(program);
}

/* Copies the caller's definitions. Returns false if memory ran out; drop() frees what was copied. */
static bool copy_defines(gls_program *program, const gls_define *defines, size_t n)
{
    program->defines = calloc(n + 1, sizeof *program->defines);
    if (!program->defines) return false;
    for (size_t i = 0; i < n; i++) {
        gls_define *copy = &program->defines[program->n_defines++];
        const gls_define *define = &defines[i];
        *copy = (gls_define){gls_text_copy(define->name), define->value ? gls_text_copy(define->value) : NULL,
                             define->is_slot, define->reason ? gls_text_copy(define->reason) : NULL};
        if (!copy->name || (define->value && !copy->value) || (define->reason && !copy->reason)) return false;
    }
    return true;
}

/* Compiles the source for this size of the block. */
static gls_status make_kernel(gls_program *program, const uint32_t block[3], gls_kernel **kernel)
{
    static const char *const names[] = {"BLOCK_X", "BLOCK_Y", "BLOCK_Z"};
    char values[3][12];
    gls_define *all = calloc(program->n_defines + 3, sizeof *all);
    if (!all) return gls_fail(GLS_ERR_MEMORY, "out of memory for program '%s'", program->label);
    for (int a = 0; a < 3; a++) {
        snprintf(values[a], sizeof values[a], "%u", block[a]);
        all[a] = (gls_define){names[a], values[a], false, NULL};
    }
    memcpy(all + 3, program->defines, program->n_defines * sizeof *all);
    gls_text text = {0};
    gls_text_puts(&text, "#include \"base/block.glsl\"\n#line 1\n");
    gls_text_puts(&text, program->source);
    char *source = gls_text_take(&text);
    gls_status status = source ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for program '%s'", program->label);
    if (!status)
        status = gls_kernel_create(program->device, program->label, source, all, program->n_defines + 3, kernel);
    free(source);
    free(all);
    return status;
}

/* Finds or compiles the kernel for this size. The caller has entered the device by gls_device_enter(). */
static gls_status find_kernel(gls_program *program, const uint32_t block[3], gls_kernel **kernel)
{
    for (size_t i = 0; i < MAX_VARIANTS; i++)
        if (program->variants[i].kernel &&
            memcmp(program->variants[i].block, block, sizeof program->variants[i].block) == 0) {
            *kernel = program->variants[i].kernel;
            return GLS_OK;
        }
    /* keep the new kernel; if there were MAX_VARIANTS already, drop the one that was compiled first */
    gls_status status = make_kernel(program, block, kernel);
    if (status) return status;
    gls_kernel_destroy(program->variants[MAX_VARIANTS - 1].kernel);
    memmove(program->variants + 1, program->variants, (MAX_VARIANTS - 1) * sizeof program->variants[0]);
    program->variants[0] = (variant){{block[0], block[1], block[2]}, *kernel};
    return GLS_OK;
}

gls_status gls_program_create(gls_device *device, const char *label, const char *source, const gls_define *defines,
                              size_t n_defines, gls_program **out)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(label && source && out && (defines || n_defines == 0));
    for (size_t i = 0; i < n_defines; i++) GLS_REQUIRE(defines[i].name);
    gls_program *program = calloc(1, sizeof *program);
    if (!program) return gls_fail(GLS_ERR_MEMORY, "out of memory for program '%s'", label);
    program->device = device;
    snprintf(program->label, sizeof program->label, "%s", label);
    program->source = gls_text_copy(source);
    gls_status status = GLS_OK;
    if (!program->source || !copy_defines(program, defines, n_defines))
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for program '%s'", label);
    if (!status) status = gls_device_enter(device, label);
    if (status) goto fail;
    /* a source may need blocks of a certain shape, so it is faulty only if it compiles for none of the usual blocks */
    static const uint32_t usual[][3] = {{64, 1, 1}, {8, 8, 1}, {4, 4, 4}, {1, 1, 1}};
    gls_kernel *kernel = NULL;
    for (unsigned a = 0; a < 3; a++) program->max_block[a] = gls_device_group_limit(device, a);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !kernel && status != GLS_ERR_LOST; i++)
        status = find_kernel(program, usual[i], &kernel);
    if (!status) {
        status = gls_handle_add(program, GLS_HANDLE_PROGRAM, device, label, drop);
        if (status) gls_kernel_destroy(kernel);
    }
    gls_device_release(device);
fail:
    if (!status)
        *out = program;
    else
        drop(program);
    return status;
}

void gls_program_destroy(gls_program *program)
{
    if (!program || !gls_handle_remove(program, GLS_HANDLE_PROGRAM)) return;
    for (size_t i = 0; i < MAX_VARIANTS; i++) gls_kernel_destroy(program->variants[i].kernel);
    drop(program);
}

/* --- running -------------------------------------------------------------- */

/* Requires sizes within the limits of the device. */
static gls_status check_sizes(const gls_program *program, const uint32_t grid[3], const uint32_t block[3])
{
    const gls_device_info *info = &program->device->info;
    uint64_t invocations = 1;
    for (int a = 0; a < 3; a++) {
        uint32_t most = a == 0 ? info->max_work_groups : MAX_GROUPS_YZ;
        if (block[a] == 0)
            return gls_fail(GLS_ERR_ARGUMENT, "program '%s': a block of %u x %u x %u invocations is empty",
                            program->label, block[0], block[1], block[2]);
        if (grid[a] > most)
            return gls_fail(GLS_ERR_UNSUPPORTED, "program '%s': a grid of %u blocks along %c is over the limit of %u",
                            program->label, grid[a], "xyz"[a], most);
        const char axis = "xyz"[a];
        if (block[a] > program->max_block[a])
            return gls_fail(GLS_ERR_UNSUPPORTED,
                            "program '%s': a block of %u invocations along %c is over the device's limit of %u",
                            program->label, block[a], axis, program->max_block[a]);
        invocations *= block[a]; /* no overflow: no size is above the device's limit for its axis */
    }
    if (invocations > info->max_work_group_size)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "program '%s': a block of %llu invocations is over the device's limit of %u", program->label,
                        (unsigned long long)invocations, info->max_work_group_size);
    return GLS_OK;
}

/* Whether arguments of this kind are numbers, whose slots are locations. */
static bool is_scalar(gls_arg_kind kind)
{
    return kind != GLS_ARG_BUFFER && kind != GLS_ARG_UNIFORMS && kind != GLS_ARG_TEXTURE;
}

/* Whether two arguments have the same slot; all numbers share one range of slots. */
static bool same_slot(gls_arg_kind a, uint32_t slot_a, gls_arg_kind b, uint32_t slot_b)
{
    return slot_a == slot_b && (a == b || (is_scalar(a) && is_scalar(b)));
}

/* Checks that each slot of the kernel has an argument, that no slot has two, and that buffers are large enough.
 * gls_kernel_run() checks kinds and devices. */
static gls_status check_arguments(const gls_program *program, const gls_kernel *kernel, const gls_arg *args,
                                  size_t n_args)
{
    const gls_shared_program *shared = kernel->program;
    for (size_t s = 0; s < shared->n_slots; s++) {
        const gls_slot *slot = &shared->slots[s];
        const gls_arg *given = NULL;
        for (size_t i = 0; i < n_args; i++)
            if (same_slot(args[i].kind, args[i].slot, slot->kind, slot->slot)) given = &args[i];
        if (!given)
            return gls_fail(GLS_ERR_ARGUMENT, "program '%s': nothing is given for '%s' in slot %u", program->label,
                            slot->name, slot->slot);
        if (slot->kind != GLS_ARG_BUFFER && slot->kind != GLS_ARG_UNIFORMS) continue;
        /* Mesa rounds the size of a storage block up to 16 bytes; a buffer may be smaller */
        uint64_t least = slot->kind == GLS_ARG_BUFFER && slot->bytes > 15 ? slot->bytes - 15 : slot->bytes;
        if (gls_buffer_size(given->value.buffer) < least && gls_handle_alive(given->value.buffer, GLS_HANDLE_BUFFER))
            return gls_fail(GLS_ERR_ARGUMENT, "program '%s': '%s' in slot %u takes %llu bytes, but its buffer has %zu",
                            program->label, slot->name, slot->slot, (unsigned long long)slot->bytes,
                            gls_buffer_size(given->value.buffer));
    }
    for (size_t i = 0; i < n_args; i++)
        for (size_t k = 0; k < i; k++)
            if (same_slot(args[i].kind, args[i].slot, args[k].kind, args[k].slot))
                return gls_fail(GLS_ERR_ARGUMENT,
                                "program '%s': arguments %zu and %zu (counted from 0) are for the same slot %u",
                                program->label, k, i, args[i].slot);
    return GLS_OK;
}

/* Checks sizes and arguments, then runs the program. For an empty grid it checks, too, but runs no kernel. */
static gls_status run(gls_program *program, const uint32_t grid[3], const uint32_t block[3], const gls_arg *args,
                      size_t n_args, double *gpu_seconds)
{
    gls_status status = check_sizes(program, grid, block);
    if (status) return status;
    status = gls_device_enter(program->device, program->label);
    if (status) return status;
    gls_kernel *kernel = NULL;
    status = find_kernel(program, block, &kernel);
    if (!status) status = check_arguments(program, kernel, args, n_args);
    bool empty = grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
    if (!status && !empty) status = gls_kernel_run(kernel, grid, args, n_args, gpu_seconds);
    if (!status && gpu_seconds) status = gls_device_synchronize(program->device);
    gls_device_release(program->device);
    return status;
}

gls_status gls_program_run(gls_program *program, const uint32_t grid[3], const uint32_t block[3], const gls_arg *args,
                           size_t n_args, gls_run_result *result)
{
    double begun = gls_clock_seconds(), gpu_seconds = 0;
    gls_status status = GLS_OK;
    if (!gls_handle_alive(program, GLS_HANDLE_PROGRAM))
        status = gls_handle_refuse(__func__, "program", program, GLS_HANDLE_PROGRAM);
    else if (!grid || !block || (!args && n_args > 0))
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: requires grid, block and arguments", __func__);
    else
        status = run(program, grid, block, args, n_args, result ? &gpu_seconds : NULL);
    return gls_result_fill(result, status, gpu_seconds, begun);
}
