#include "gpu/objects.h"

#include "gpu/internal.h"
#include "util/status.h"

static const GLenum targets[GLS_HOST_BUFFERS] = {GL_COPY_READ_BUFFER, GL_PIXEL_UNPACK_BUFFER, GL_COPY_WRITE_BUFFER};

bool gls_host_map(gls_device *device, gls_host_view *views, size_t n)
{
    bool mapped = true;
    glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
    /* gls_host_unmap() tells what comes of it */
    if (gls_receipts_verify(device, "mapping buffers") != GLS_OK) return false;
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
    for (size_t i = 0; i < n; i++) {
        kept = views[i].data && glUnmapBuffer(targets[i]) && kept;
        views[i].data = NULL;
        glBindBuffer(targets[i], 0); /* textures would be read from the second */
    }
    gls_status status = gls_device_check_reset(device, what);
    if (status == GLS_OK && !kept) status = gls_fail(GLS_ERR_DEVICE, "%s: the arrays cannot be mapped", what);
    return status;
}

uint32_t gls_device_group_limit(const gls_device *device, unsigned axis)
{
    GLint limit = 0;
    (void)device;
    glGetIntegeri_v(GL_MAX_COMPUTE_WORK_GROUP_SIZE, axis, &limit);
    return limit > 0 ? (uint32_t)limit : 1;
}
