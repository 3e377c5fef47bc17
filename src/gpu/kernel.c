/* Kernels: compilation, arguments, dispatch. A kernel is a program of the device's cache and a label; several
 * kernels may share a program. gls_kernel_run() does not wait for the device, unless the caller asks for the time of
 * the run. */
#include "gpu/completion.h"
#include "gpu/device_cache.h"
#include "gpu/handle.h"
#include "gpu/hold.h"
#include "gpu/timer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/internal.h"
#include "gpu/source.h"
#include "util/clock.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* Logs a source with line numbers, which the messages of compilers name. */
static void log_source(const char *label, const char *text)
{
    if (!gls_log_enabled(GLS_LOG_DEBUG)) return;
    gls_log(GLS_LOG_DEBUG, "source of shader '%s':", label);
    for (int number = 1; *text; number++) {
        size_t length = strcspn(text, "\n");
        gls_log(GLS_LOG_DEBUG, "%5d  %.*s", number, (int)length, text);
        text += length;
        if (*text) text++;
    }
}

/* Writes a composed source to the folder named by GLSLINES_DUMP_SHADERS, if the variable is set, for offline
 * validation. */
static void dump_source(const char *label, const char *text)
{
    const char *directory = gls_test_variable("GLSLINES_DUMP_SHADERS");
    char path[4096];
    if (!directory || snprintf(path, sizeof path, "%s/%s.comp", directory, label) >= (int)sizeof path) return;
    (void)gls_file_write(path, true, NULL, text, strlen(text));
}

/* Number of texture units that the 3D textures of a program use (sampler3D; other samplers are not counted). */
static GLint texture_units(GLuint program)
{
    static const GLenum wanted[2] = {GL_TYPE, GL_ARRAY_SIZE};
    GLint n = 0, units = 0;
    glGetProgramInterfaceiv(program, GL_UNIFORM, GL_ACTIVE_RESOURCES, &n);
    for (GLint i = 0; i < n; i++) {
        GLint got[2] = {0, 0};
        glGetProgramResourceiv(program, GL_UNIFORM, (GLuint)i, 2, wanted, 2, NULL, got);
        if (got[0] == GL_SAMPLER_3D) units += got[1];
    }
    return units;
}

/* Checks the limits in `info`. The driver checks only its own limits, which may be higher. */
static gls_status check_limits(const gls_device_info *info, const char *label, GLuint program)
{
    GLint blocks = 0, group[3] = {1, 1, 1}, units = texture_units(program);
    glGetProgramInterfaceiv(program, GL_SHADER_STORAGE_BLOCK, GL_ACTIVE_RESOURCES, &blocks);
    glGetProgramiv(program, GL_COMPUTE_WORK_GROUP_SIZE, group);
    uint64_t invocations = (uint64_t)group[0] * (uint64_t)group[1] * (uint64_t)group[2];
    if ((uint32_t)blocks > info->max_storage_bindings)
        return gls_fail(GLS_ERR_UNSUPPORTED, "shader '%s' has %d storage blocks, over the device's limit of %u", label,
                        blocks, info->max_storage_bindings);
    if ((uint32_t)units > info->max_texture_units)
        return gls_fail(GLS_ERR_UNSUPPORTED, "shader '%s' has %d textures, over the device's limit of %u", label, units,
                        info->max_texture_units);
    if (invocations > info->max_work_group_size)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "shader '%s' has %llu invocations in a work group, over the device's limit of %u", label,
                        (unsigned long long)invocations, info->max_work_group_size);
    return GLS_OK;
}

/* Compiles a compute shader, or takes the program whose compilation gls_kernel_announce() started. */
static gls_status compile(gls_device *device, const char *label, const char *text, GLuint *program)
{
    char message[512] = "";
    GLint ok = GL_TRUE;
    GLuint linked = gls_announced_take(device, text);
    if (!linked) linked = gls_program_link(text, &ok, message, sizeof message);
    gls_status status = gls_device_check(device, label);
    if (gls_inject(GLS_FAULT_SILENT)) {
        ok = GL_FALSE;
        *message = '\0';
    }
    if (!status && !ok) {
        log_source(label, text);
        status = gls_fail(GLS_ERR_DEVICE, "shader '%s' does not compile: %.400s", label,
                          *message ? message : "the driver does not say why");
    }
    if (!status) status = check_limits(&device->info, label, linked);
    if (status)
        glDeleteProgram(linked);
    else
        *program = linked;
    return status;
}

/* Runs a program once on buffers of zeros, so that a listener gets the whole time of compilation: some drivers compile
 * only at the first run. The kernel ends at once, because zeros give it no work. */
static void first_run(gls_device *device, const gls_shared_program *program)
{
    GLuint zeros = 0;
    uint64_t bytes = 65536;
    for (size_t i = 0; i < program->n_slots; i++)
        if (program->slots[i].bytes > bytes) bytes = program->slots[i].bytes;
    glGenBuffers(1, &zeros);
    glBindBuffer(GL_COPY_WRITE_BUFFER, zeros);
    void *none = calloc(1, bytes);
    if (none) glBufferData(GL_COPY_WRITE_BUFFER, (GLsizeiptr)bytes, none, GL_STATIC_DRAW);
    free(none);
    for (size_t i = 0; i < program->n_slots && none; i++) {
        if (program->slots[i].kind != GLS_ARG_BUFFER && program->slots[i].kind != GLS_ARG_UNIFORMS) continue;
        bool storage = program->slots[i].kind == GLS_ARG_BUFFER;
        glBindBufferBase(storage ? GL_SHADER_STORAGE_BUFFER : GL_UNIFORM_BUFFER, program->slots[i].slot, zeros);
    }
    glUseProgram(program->name);
    if (none) glDispatchCompute(1, 1, 1);
    glFlush();
    glDeleteBuffers(1, &zeros);
    static const uint32_t groups[3] = {1, 1, 1};
    gls_completion_expect(device, groups);
    if (gls_device_check(device, "the first run of a kernel") != GLS_OK || !none)
        gls_completion_forgive(device, groups);
}

/* Finds or compiles the program of a composed text. Takes over text. */
static gls_status find_program(gls_device *device, const char *label, char *text, gls_shared_program **program)
{
    bool fault = gls_inject(GLS_FAULT_COMPILE);
    if (gls_inject(GLS_FAULT_CRASH)) raise(SIGSEGV);
    while (gls_inject(GLS_FAULT_HANG)) pause();
    *program = fault ? NULL : gls_cache_find_program(device, text);
    if (*program) {
        free(text);
        return GLS_OK;
    }
    GLuint name = 0;
    double start = gls_clock_seconds();
    /* While `compiling` is set, the driver's messages are collected for the listener. */
    device->compiling = device->listener != NULL;
    gls_status status = compile(device, label, fault ? "#error fault injected\n" : text, &name);
    if (!status)
        status = gls_cache_add_program(device, text, name, program);
    else
        free(text);
    if (device->compiling && !status) first_run(device, *program);
    if (device->compiling) {
        char *messages = gls_text_take(&device->messages);
        device->listener(device->listener_user, label, gls_clock_seconds() - start, messages ? messages : "");
        free(messages);
        device->compiling = false;
    }
    return status;
}

gls_status gls_kernel_create(gls_device *device, const char *label, const char *source, const gls_define *defines,
                             size_t n_defines, gls_kernel **out)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(label && source && out && (defines || n_defines == 0));
    gls_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return gls_fail(GLS_ERR_MEMORY, "out of memory for a kernel");
    kernel->device = device;
    snprintf(kernel->label, sizeof kernel->label, "%s", label);
    const gls_prelude prelude = gls_prelude_of(device);
    char *text = NULL;
    gls_status status = gls_shader_compose(&prelude, source, defines, n_defines, &text);
    if (!status) {
        dump_source(label, text);
        status = gls_device_enter(device, label);
    }
    if (status) goto fail;
    status = find_program(device, label, text, &kernel->program);
    text = NULL;
    if (!status) {
        status = gls_handle_add(kernel, GLS_HANDLE_KERNEL, device, label, free);
        if (!status)
            device->memory.n_kernels++;
        else
            gls_cache_release_program(device, kernel->program);
    }
    gls_device_release(device);
fail:
    free(text);
    if (!status)
        *out = kernel;
    else
        free(kernel);
    return status;
}

gls_status gls_kernel_load(gls_device *device, const char *file, const gls_define *defines, size_t n_defines,
                           gls_kernel **kernel)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(file && kernel);
    char *text = NULL;
    gls_status status = gls_shader_text(file, &text);
    const char *folder = strrchr(file, '/');
    if (!status) status = gls_kernel_create(device, folder ? folder + 1 : file, text, defines, n_defines, kernel);
    free(text);
    return status;
}

void gls_kernel_destroy(gls_kernel *kernel)
{
    if (!kernel || !gls_handle_remove(kernel, GLS_HANDLE_KERNEL)) return;
    gls_device_hold(kernel->device);
    gls_cache_release_program(kernel->device, kernel->program);
    kernel->device->memory.n_kernels--;
    gls_device_release(kernel->device);
    free(kernel);
}

/* Binds an argument to its slot in the current context. */
static void bind_argument(const gls_arg *arg)
{
    switch (arg->kind) {
    case GLS_ARG_BUFFER:
        if (arg->value.buffer->kind == GLS_BUFFER_TEXELS) {
            glActiveTexture(GL_TEXTURE0 + arg->slot);
            glBindTexture(GL_TEXTURE_BUFFER, arg->value.buffer->texels);
        } else {
            glBindBufferBase(GL_SHADER_STORAGE_BUFFER, arg->slot, arg->value.buffer->name);
        }
        break;
    case GLS_ARG_UNIFORMS: glBindBufferBase(GL_UNIFORM_BUFFER, arg->slot, arg->value.buffer->name); break;
    case GLS_ARG_TEXTURE:
        glActiveTexture(GL_TEXTURE0 + arg->slot);
        glBindTexture(GL_TEXTURE_3D, arg->value.texture->name);
        break;
    case GLS_ARG_INT: glUniform1i((GLint)arg->slot, arg->value.i); break;
    case GLS_ARG_UINT: glUniform1ui((GLint)arg->slot, arg->value.u); break;
    case GLS_ARG_FLOAT: glUniform1f((GLint)arg->slot, arg->value.f); break;
    }
}

/* Checks that a buffer or texture belongs to this device, at whatever slot, and that a number has the type of its
 * uniform. A slot that the kernel does not use accepts any number. */
static gls_status check_argument(const gls_kernel *kernel, size_t number, const gls_arg *arg)
{
    static const char *const names[] = {"buffer", "block of uniforms", "texture", "int", "uint", "float"};
    const gls_device *device = kernel->device;
    bool scalar = false;
    switch (arg->kind) {
    case GLS_ARG_BUFFER:
    case GLS_ARG_UNIFORMS:
        if (gls_handle_alive(arg->value.buffer, GLS_HANDLE_BUFFER) && arg->value.buffer->device == device)
            return GLS_OK;
        return gls_fail(GLS_ERR_ARGUMENT,
                        "kernel '%s': argument %zu (counted from 0) is not a buffer of the kernel's device",
                        kernel->label, number);
    case GLS_ARG_TEXTURE:
        if (gls_handle_alive(arg->value.texture, GLS_HANDLE_TEXTURE) && arg->value.texture->device == device)
            return GLS_OK;
        return gls_fail(GLS_ERR_ARGUMENT,
                        "kernel '%s': argument %zu (counted from 0) is not a texture of the kernel's device",
                        kernel->label, number);
    case GLS_ARG_INT:
    case GLS_ARG_UINT:
    case GLS_ARG_FLOAT: scalar = true;
    }
    if (!scalar)
        return gls_fail(GLS_ERR_ARGUMENT, "kernel '%s': argument %zu (counted from 0) is of no known kind",
                        kernel->label, number);
    for (size_t i = 0; i < kernel->program->n_slots; i++) {
        const gls_slot *slot = &kernel->program->slots[i];
        if (slot->kind < GLS_ARG_INT || slot->slot != arg->slot || slot->kind == arg->kind) continue;
        return gls_fail(GLS_ERR_ARGUMENT,
                        "kernel '%s': argument %zu (counted from 0) is of type %s, but uniform '%s' is of type %s",
                        kernel->label, number, names[arg->kind], slot->name, names[slot->kind]);
    }
    return GLS_OK;
}

/* A measurement of the time that the device takes for the commands between timer_start() and timer_stop(). The device
 * must be held. */
typedef struct gpu_timer {
    GLuint query; /* GL name of the query; 0: the clock of the host is used */
    double start;
} gpu_timer;

/* Starts the measurement. Timers do not nest. */
static void timer_start(const gls_device *device, gpu_timer *timer)
{
    *timer = (gpu_timer){0};
    /* the timers of software renderers measure only the drawing of triangles */
    if (!device->info.software && (!device->info.gles || epoxy_has_gl_extension("GL_EXT_disjoint_timer_query"))) {
        GLint disjoint;
        if (device->info.gles) glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint); /* clears the flag */
        glGenQueries(1, &timer->query);
        glBeginQuery(GL_TIME_ELAPSED, timer->query);
    } else {
        glFinish();
    }
    timer->start = gls_clock_seconds();
}

/* Waits for the commands, and returns their time in seconds. */
static double timer_stop(const gls_device *device, const gpu_timer *timer)
{
    /* without a query the host waits for the device and takes the time from its own clock */
    if (!timer->query) {
        glFinish();
        return gls_clock_seconds() - timer->start;
    }
    GLuint64 nanoseconds = 0;
    GLint disjoint = 0;
    glEndQuery(GL_TIME_ELAPSED);
    gls_wait_for_fence(glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0));
    if (device->info.gles) {
        glGetQueryObjectui64vEXT(timer->query, GL_QUERY_RESULT, &nanoseconds);
        glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
    } else {
        glGetQueryObjectui64v(timer->query, GL_QUERY_RESULT, &nanoseconds);
    }
    glDeleteQueries(1, &timer->query);
    /* disjoint: the device changed the rate of its clock meanwhile, so that only the host's time counts */
    return disjoint ? gls_clock_seconds() - timer->start : 1e-9 * (double)nanoseconds;
}

gls_status gls_kernel_run(gls_kernel *kernel, const uint32_t groups[3], const gls_arg *args, size_t n_args,
                          double *gpu_seconds)
{
    GLS_REQUIRE_HANDLE(kernel, GLS_HANDLE_KERNEL);
    GLS_REQUIRE(groups && (args || n_args == 0));
    gls_device *device = kernel->device;
    for (size_t i = 0; i < n_args; i++) {
        gls_status bad = check_argument(kernel, i, &args[i]);
        if (bad != GLS_OK) return bad;
    }
    gls_status status = gls_device_enter(device, kernel->label);
    if (status) return status;
    glUseProgram(kernel->program->name);
    /* Bind the arguments, and note for each buffer and texture that this run uses it. */
    device->n_runs++;
    for (size_t i = 0; i < n_args; i++) {
        bind_argument(&args[i]);
        if (args[i].kind == GLS_ARG_BUFFER || args[i].kind == GLS_ARG_UNIFORMS)
            args[i].value.buffer->order.last_run = device->n_runs;
        else if (args[i].kind == GLS_ARG_TEXTURE)
            args[i].value.texture->order.last_run = device->n_runs;
    }
    /* Dispatch, timed if asked for; the barrier makes the results visible to all later commands. */
    gpu_timer timer;
    if (gpu_seconds) timer_start(device, &timer);
    gls_span_begin(device, kernel->label);
    if (!gls_device_inject(device, GLS_FAULT_DISPATCH, GL_INVALID_OPERATION) && !gls_inject(GLS_FAULT_SKIP))
        glDispatchCompute(groups[0], groups[1], groups[2]);
    gls_inject_work(kernel->label, groups);
    gls_span_end(device);
    if (gpu_seconds) *gpu_seconds = timer_stop(device, &timer);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    /* Later reads compare the counter of finished work groups with the expected number. If the driver reports an error,
     * the groups of this kernel are expected only if they ran after all. */
    gls_completion_expect(device, groups);
    status = gls_device_check(device, kernel->label);
    if (status) gls_completion_forgive(device, groups);
    gls_device_release(device);
    return status;
}
