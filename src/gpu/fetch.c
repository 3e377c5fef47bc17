/* Transfers from the device to the host: copies in the background, and buffers mapped into the memory of the
 * process. */
#include "gpu/fetch.h"
#include "gpu/buffer.h"
#include "gpu/completion.h"
#include "gpu/handle.h"
#include "gpu/hold.h"
#include "gpu/objects.h"
#include "gpu/staging.h"
#include "gpu/timer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"
#include "util/status.h"

struct gls_fetch {
    gls_device *device;
    GLuint name; /* buffer that host and device both see; 0: none */
    const uint8_t *mapped;
    size_t capacity;
    GLsync sent; /* fence behind the copy; NULL: no copy is under way, and gls_fetch_end() reads the part directly if
                    bytes > 0 */
    gls_buffer *source; /* buffer of the last gls_fetch_begin() */
    size_t offset, bytes;
    uint64_t n_runs;   /* value of gls_device.n_runs at the time of the copy */
    uint32_t n_groups; /* value that the completion count must reach; the count is copied to the end of the buffer */
};

gls_status gls_fetch_create(gls_device *device, size_t bytes, gls_fetch **out)
{
    gls_fetch *f = calloc(1, sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for what is read from a device");
    f->device = device;
    gls_status status = gls_device_enter(device, "memory for reading");
    if (status) {
        free(f);
        return status;
    }
    if (bytes > 0 && gls_staging_offered(device)) {
        const size_t capacity = (bytes + 3) / 4 * 4;
        f->mapped = gls_staging_memory(GL_MAP_READ_BIT, capacity + sizeof f->n_groups, &f->name);
        if (f->mapped)
            f->capacity = capacity;
        else
            gls_log(GLS_LOG_DEBUG, "no memory of %zu bytes that host and device can both use", bytes);
    }
    gls_device_release(device);
    *out = f;
    return GLS_OK;
}

/* Drops a copy that is under way. */
static void forget(gls_fetch *f)
{
    if (f->sent && !f->device->lost) glDeleteSync(f->sent);
    f->sent = NULL;
    f->bytes = 0;
}

void gls_fetch_destroy(gls_fetch *f)
{
    if (!f) return;
    gls_device_hold(f->device);
    forget(f);
    if (f->name && !f->device->lost) glDeleteBuffers(1, &f->name);
    gls_device_release(f->device);
    free(f);
}

/* Queues a copy of the counter of finished work groups, behind all earlier commands, to the buffer `to`. Returns the
 * value that the copied counter must reach. */
static uint32_t send_completion(gls_device *device, GLuint to, size_t offset)
{
    glBindBuffer(GL_COPY_READ_BUFFER, device->completion);
    glBindBuffer(GL_COPY_WRITE_BUFFER, to);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, (GLintptr)offset, sizeof device->n_groups);
    return device->n_groups;
}

gls_status gls_fetch_begin(gls_fetch *f, gls_buffer *source, size_t offset, size_t bytes)
{
    GLS_REQUIRE_HANDLE(source, GLS_HANDLE_BUFFER);
    GLS_REQUIRE(offset <= source->size && bytes <= source->size - offset && source->device == f->device);
    gls_device *device = f->device;
    gls_status status = gls_device_enter(device, "reading a buffer");
    if (status) return status;
    forget(f);
    f->source = source;
    f->offset = offset;
    f->bytes = bytes;
    if (bytes > 0 && bytes <= f->capacity) {
        /* Queue the copy behind all earlier commands, then the copy of the completion count, then the fence. */
        gls_order_mark(device);
        glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
        glBindBuffer(GL_COPY_READ_BUFFER, source->name);
        glBindBuffer(GL_COPY_WRITE_BUFFER, f->name);
        gls_span_begin(device, "copy to the host");
        if (!gls_device_inject(device, GLS_FAULT_READBACK, GL_OUT_OF_MEMORY))
            glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, (GLintptr)offset, 0, (GLsizeiptr)bytes);
        gls_span_end(device);
        f->n_groups = device->counts_groups ? send_completion(device, f->name, f->capacity) : 0;
        glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
        f->sent = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        f->n_runs = device->n_runs;
        glFlush();
        status = gls_device_check(device, "reading a buffer");
    }
    gls_device_release(device);
    return status;
}

gls_status gls_fetch_end(gls_fetch *f, void *data)
{
    const size_t bytes = f->bytes;
    f->bytes = 0;
    if (bytes == 0) return GLS_OK;
    if (!f->sent) return gls_buffer_read(f->source, f->offset, bytes, data);
    gls_status status = gls_device_enter(f->device, "reading a buffer");
    if (status) return status;
    uint32_t count = 0;
    bool arrived = gls_wait_for_fence(f->sent);
    f->sent = NULL;
    if (arrived && f->n_runs > f->device->n_ended) f->device->n_ended = f->n_runs;
    gls_spans_take(f->device, false);
    if (arrived) {
        gls_staging_copy(data, f->mapped, bytes);
        memcpy(&count, f->mapped + f->capacity, sizeof count);
    } else {
        status = gls_fail(GLS_ERR_DEVICE, "reading a buffer: the device does not answer");
    }
    /* report an error of the driver rather than the missing completion count that the error explains */
    gls_status checked = gls_device_check_reset(f->device, "reading a buffer");
    if (checked != GLS_OK) status = checked;
    if (!status) status = gls_completion_take(f->device, count, f->n_groups, "reading a buffer");
    gls_device_release(f->device);
    return status;
}

void gls_device_flush(gls_device *device)
{
    gls_device_hold(device);
    if (!device->lost) glFlush();
    gls_device_release(device);
}

/* Binding points by which several buffers can be mapped at a time. */
static const GLenum targets[GLS_HOST_BUFFERS] = {GL_COPY_READ_BUFFER, GL_PIXEL_UNPACK_BUFFER, GL_COPY_WRITE_BUFFER};

bool gls_host_map(gls_device *device, gls_host_view *views, size_t n)
{
    bool mapped = true;
    assert(n <= GLS_HOST_BUFFERS);
    glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
    /* gls_host_unmap(), which the caller calls next, returns the error */
    if (gls_completion_verify(device, "mapping buffers") != GLS_OK) return false;
    for (size_t i = 0; i < n; i++) {
        GLbitfield access = views[i].written ? GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT : GL_MAP_READ_BIT;
        glBindBuffer(targets[i], views[i].buffer->name);
        views[i].data = glMapBufferRange(targets[i], 0, (GLsizeiptr)views[i].bytes, access);
        mapped = mapped && views[i].data;
    }
    return !gls_device_inject(device, GLS_FAULT_DISPATCH, GL_INVALID_OPERATION) && mapped;
}

gls_status gls_host_unmap(gls_device *device, gls_host_view *views, size_t n, const char *what)
{
    bool kept = true;
    assert(n <= GLS_HOST_BUFFERS);
    for (size_t i = 0; i < n; i++) {
        kept = views[i].data && glUnmapBuffer(targets[i]) && kept;
        views[i].data = NULL;
        glBindBuffer(targets[i], 0); /* a buffer left at GL_PIXEL_UNPACK_BUFFER would be read by texture writes */
    }
    gls_status status = gls_device_check_reset(device, what);
    if (!status && !kept)
        status =
            gls_fail(GLS_ERR_DEVICE, "%s: the driver cannot map the arrays into memory, or lost their contents", what);
    return status;
}

uint32_t gls_device_group_limit(const gls_device *device, unsigned axis)
{
    GLint limit = 0;
    (void)device;
    glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_SIZE, axis, &limit);
    return limit > 0 ? (uint32_t)limit : 1;
}
