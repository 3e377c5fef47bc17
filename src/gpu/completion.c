/* Counts finished work groups on the device, to notice kernels that the driver has dropped silently. The counting code
 * is the outer main() that gls_shader_compose() appends; the contracts are in completion.h. Counts of work groups are
 * modulo 2^32. */
#include "gpu/completion.h"
#include "gpu/device_cache.h"
#include "gpu/hold.h"
#include "gpu/internal.h"
#include "gpu/staging.h"
#include "gpu/timer.h"

#include <stdlib.h>
#include <string.h>

#include "util/numbers.h"
#include "util/status.h"

void gls_completion_open(gls_device *device)
{
    static const uint32_t zero = 0;
    const char *wanted = gls_test_variable("GLSLINES_RECEIPTS");
    GLint buffers = 0, counters = 0;
    glGetIntegerv(GL_MAX_COMPUTE_ATOMIC_COUNTER_BUFFERS, &buffers);
    glGetIntegerv(GL_MAX_COMPUTE_ATOMIC_COUNTERS, &counters);
    if (buffers < 1 || counters < 1 || (wanted && strcmp(wanted, "0") == 0)) return;
    /* The counter stays bound to binding 0 of atomic counters for the life of the context. */
    glGenBuffers(1, &device->completion);
    glBindBuffer(GL_ATOMIC_COUNTER_BUFFER, device->completion);
    glBufferData(GL_ATOMIC_COUNTER_BUFFER, sizeof zero, &zero, GL_DYNAMIC_COPY);
    glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, device->completion);
    /* the host reads a copy: some drivers move a buffer that the host reads to the host's memory, which would slow
     * kernels down */
    if (gls_staging_offered(device))
        device->completion_mapped = gls_staging_memory(GL_MAP_READ_BIT, sizeof zero, &device->completion_copy);
    if (!device->completion_mapped) {
        glGenBuffers(1, &device->completion_copy);
        glBindBuffer(GL_COPY_WRITE_BUFFER, device->completion_copy);
        glBufferData(GL_COPY_WRITE_BUFFER, sizeof zero, NULL, GL_STREAM_READ);
    }
    device->counts_groups = glGetError() == GL_NO_ERROR;
}

void gls_completion_expect(gls_device *device, const uint32_t groups[3])
{
    device->n_groups += groups[0] * groups[1] * groups[2];
}

/* Reads the first word of a buffer once all earlier kernels have ended. Returns false if the driver fails or does not
 * answer. */
static bool read_word(gls_device *device, GLuint buffer, uint32_t *word)
{
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glBindBuffer(GL_COPY_READ_BUFFER, buffer);
    glBindBuffer(GL_COPY_WRITE_BUFFER, device->completion_copy);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, sizeof *word);
    if (device->completion_mapped) {
        glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
        if (!gls_wait_for_fence(glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0))) return false;
        memcpy(word, device->completion_mapped, sizeof *word);
        return true;
    }
    const void *mapped = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, sizeof *word, GL_MAP_READ_BIT);
    if (!mapped) return false;
    memcpy(word, mapped, sizeof *word);
    return glUnmapBuffer(GL_COPY_WRITE_BUFFER);
}

void gls_completion_forgive(gls_device *device, const uint32_t groups[3])
{
    /* before: the count without the refused kernel. */
    const uint32_t before = device->n_groups - groups[0] * groups[1] * groups[2];
    uint32_t count;
    if (!device->counts_groups || device->never_wait || device->lost) return;
    /* if groups of the kernel ran after all, expect the groups that were counted; else expect those of earlier kernels
     */
    const bool ran = read_word(device, device->completion, &count) && (int32_t)(count - before) > 0;
    device->n_groups = ran ? count : before;
    for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++) {
    } /* drop these errors: the caller has already reported the first one */
}

/* The test kernel: each work group adds one to a word, and to the completion count. */
static const char *const trial = "layout(local_size_x = 64) in;\n"
                                 "layout(std430, binding = 0) buffer Word { uint word; };\n"
                                 "void main()\n"
                                 "{\n"
                                 "    if (gl_LocalInvocationIndex != 0u) return;\n"
                                 "    atomicAdd(word, 1u);\n"
                                 "}\n";

/* Whether the driver's completion count is wrong although the test kernel ran. Injected faults do not affect the test
 * kernel. */
static bool counts_wrong(gls_device *device)
{
    enum { WIDE = 61, HIGH = 67 };
    static const uint32_t zero = 0;
    const gls_prelude prelude = gls_prelude_of(device);
    uint32_t before = 0, after = 0, word = 0;
    char *text = NULL, message[64];
    GLint ok = GL_FALSE;
    GLuint buffer, program;
    if (gls_shader_compose(&prelude, trial, NULL, 0, &text) != GLS_OK) return false;
    program = gls_program_link(text, &ok, message, sizeof message);
    free(text);
    glGenBuffers(1, &buffer);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
    glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof zero, &zero, GL_DYNAMIC_COPY);
    bool wrong = ok && read_word(device, device->completion, &before);
    if (wrong) {
        glUseProgram(program);
        glDispatchCompute(WIDE, HIGH, 1);
        wrong = read_word(device, buffer, &word) && read_word(device, device->completion, &after);
    }
    glDeleteBuffers(1, &buffer);
    glDeleteProgram(program);
    return wrong && word == WIDE * HIGH && after - before != WIDE * HIGH;
}

/* Called if the count differs from the expected number: marks the device as lost, unless it is the driver's counters
 * that are wrong. */
static gls_status refuse(gls_device *device, uint32_t count, uint32_t expected, const char *what)
{
    gls_log(GLS_LOG_DEBUG, "%s: %ld work groups did not confirm their completion", device->info.renderer,
            (long)(int32_t)(expected - count));
    if (counts_wrong(device)) {
        gls_log(GLS_LOG_DEBUG,
                "%s: the driver's atomic counters do not count, so that kernels cannot confirm their completion",
                device->info.renderer);
        device->counts_groups = false;
        return GLS_OK;
    }
    gls_device_mark_lost(device, "the driver ended a kernel before its end, and did not say so");
    return gls_device_check(device, what);
}

gls_status gls_completion_take(gls_device *device, uint32_t count, uint32_t expected, const char *what)
{
    if (!device->counts_groups) return GLS_OK;
    if ((int32_t)(expected - device->n_seen) > 0) device->n_seen = expected;
    /* the copied count may include later kernels */
    return (int32_t)(count - expected) >= 0 ? GLS_OK : refuse(device, count, expected, what);
}

gls_status gls_completion_verify(gls_device *device, const char *what)
{
    uint32_t count;
    if (!device->counts_groups || device->never_wait || device->n_seen == device->n_groups) return GLS_OK;
    if (!read_word(device, device->completion, &count)) {
        gls_status status = gls_device_check_reset(device, what);
        return status ? status : gls_fail(GLS_ERR_DEVICE, "%s: the device does not answer", what);
    }
    device->n_seen = device->n_groups;
    /* a larger count means that the driver ran a kernel twice, which is an error as well */
    return count == device->n_groups ? GLS_OK : refuse(device, count, device->n_groups, what);
}
