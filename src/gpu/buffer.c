/* Buffers and textures: creation, clearing, writing and reading; and the order of writes by host and device. Contracts
 * are in <glslines/device.h>. The functions declared there hold the device themselves where they call the driver. An
 * injected fault takes the place of a call of the driver. */
#include "gpu/buffer.h"
#include "gpu/completion.h"
#include "gpu/device_cache.h"
#include "gpu/handle.h"
#include "gpu/hold.h"
#include "gpu/staging.h"
#include "gpu/timer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/internal.h"
#include "util/maths.h"
#include "util/status.h"

/* Names an object for debuggers, if there is debug output. */
static void label_object(gls_device *device, GLenum kind, GLuint name, const char *label)
{
    if (label && device->debug_output) glObjectLabel(kind, name, -1, label);
}

/* Whether an allocation must fail: by a rule of inject.h, or because it would pass the memory limit of the device. If
 * so, the next gls_device_check() reports that memory ran out. */
static bool refuse_allocation(gls_device *device, uint64_t bytes)
{
    if (gls_device_inject(device, GLS_FAULT_ALLOC, GL_OUT_OF_MEMORY)) return true;
    uint64_t sum = device->memory.allocated_bytes + bytes;
    if (!gls_inject_memory(sum) && (device->memory_limit == 0 || sum <= device->memory_limit)) return false;
    device->injected = GL_OUT_OF_MEMORY;
    return true;
}

/* Returns the target at which buffers of a kind are bound. */
static GLenum target_of(gls_buffer_kind kind)
{
    return kind == GLS_BUFFER_UNIFORM  ? GL_UNIFORM_BUFFER
           : kind == GLS_BUFFER_TEXELS ? GL_TEXTURE_BUFFER
                                       : GL_SHADER_STORAGE_BUFFER;
}

/* Returns the largest size of a buffer of a kind, bytes. */
static uint64_t limit_of(const gls_device_info *info, gls_buffer_kind kind)
{
    return kind == GLS_BUFFER_UNIFORM  ? info->max_uniform_bytes
           : kind == GLS_BUFFER_TEXELS ? info->max_texel_bytes
                                       : info->max_storage_bytes;
}

/* Makes the texture through which shaders read a buffer of texels. */
static gls_status view_texels(gls_buffer *buffer, const char *label)
{
    glGenTextures(1, &buffer->texels);
    glBindTexture(GL_TEXTURE_BUFFER, buffer->texels);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32UI, buffer->name);
    return gls_device_check(buffer->device, label ? label : "buffer");
}

/* Gets storage for a buffer, from the pool (see device_cache.h) or from the driver. If the driver is out of memory,
 * empties the pool and asks the driver again, unless the pool was empty. */
static gls_status allocate(gls_buffer *buffer, const char *label)
{
    gls_device *device = buffer->device;
    const char *what = label ? label : "buffer";
    const GLenum target = target_of(buffer->kind);
    bool refused = refuse_allocation(device, buffer->size);
    if (!refused) buffer->name = gls_cache_take_buffer(device, buffer->kind, buffer->size);
    bool pooled = buffer->name != 0;
    buffer->order.last_run =
        pooled ? device->n_runs : 0; /* earlier kernels may still use storage that comes from the pool */
    if (!pooled) glGenBuffers(1, &buffer->name);
    for (bool again = !refused; again;) {
        glBindBuffer(target, buffer->name);
        /* do not use GL_..._READ here: some drivers move such buffers to the memory of the host, which slows kernels
         * and copies by tens of milliseconds */
        if (!pooled) glBufferData(target, (GLsizeiptr)buffer->size, NULL, GL_DYNAMIC_COPY);
        label_object(device, GL_BUFFER, buffer->name, label);
        gls_status status = gls_device_check(device, what);
        again = gls_status_is_memory(status) && gls_cache_clear(device);
        if (!again) return status;
    }
    return gls_device_check(device, what);
}

/* Updates the memory counts of the device. added, removed: bytes that were allocated and freed. */
static void account(gls_device *device, uint64_t added, uint64_t removed)
{
    device->memory.allocated_bytes += added - removed;
    if (device->memory.allocated_bytes > device->memory.peak_bytes)
        device->memory.peak_bytes = device->memory.allocated_bytes;
}

gls_status gls_buffer_create(gls_device *device, gls_buffer_kind kind, size_t bytes, const char *label,
                             gls_buffer **out)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(out && bytes > 0 && kind >= GLS_BUFFER_STORAGE && kind <= GLS_BUFFER_TEXELS);
    const uint64_t limit = limit_of(&device->info, kind);
    if (bytes > limit)
        return gls_fail(GLS_ERR_UNSUPPORTED, "buffer '%s' of %zu bytes is over the device's limit of %llu",
                        label ? label : "", bytes, (unsigned long long)limit);
    gls_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return gls_fail(GLS_ERR_MEMORY, "out of memory for a buffer");
    *buffer = (gls_buffer){.device = device, .kind = kind, .size = bytes};
    gls_status status = gls_device_enter(device, label ? label : "buffer");
    if (status) {
        free(buffer);
        return status;
    }
    status = allocate(buffer, label);
    if (!status && kind == GLS_BUFFER_TEXELS) status = view_texels(buffer, label);
    if (!status) status = gls_handle_add(buffer, GLS_HANDLE_BUFFER, device, label, free);
    if (!status) {
        device->memory.n_buffers++;
        account(device, bytes, 0);
        *out = buffer;
    } else {
        glDeleteTextures(1, &buffer->texels);
        glDeleteBuffers(1, &buffer->name);
        free(buffer);
    }
    gls_device_release(device);
    return status;
}

void gls_buffer_destroy(gls_buffer *buffer)
{
    if (!buffer || !gls_handle_remove(buffer, GLS_HANDLE_BUFFER)) return;
    gls_device *device = buffer->device;
    gls_device_hold(device);
    if (!device->lost) glDeleteTextures(1, &buffer->texels);
    if (!gls_cache_keep_buffer(device, buffer->kind, buffer->size, buffer->name) && !device->lost)
        glDeleteBuffers(1, &buffer->name);
    device->memory.n_buffers--;
    account(device, 0, buffer->size);
    gls_device_release(device);
    free(buffer);
}

size_t gls_buffer_size(const gls_buffer *buffer)
{
    return gls_handle_alive(buffer, GLS_HANDLE_BUFFER) ? buffer->size : 0;
}

/* OpenGL clears on the device, without a transfer. OpenGL ES has no call for that, so the host sends zeros. In both
 * cases the host first waits for the kernels that use the buffer. */
gls_status gls_buffer_clear(gls_buffer *buffer)
{
    GLS_REQUIRE_HANDLE(buffer, GLS_HANDLE_BUFFER);
    gls_device *device = buffer->device;
    static const uint8_t zeros[65536];
    gls_status status = gls_device_enter(device, "clearing a buffer");
    if (status) return status;
    status =
        gls_order_await(device, &buffer->order, device->info.gles ? GLS_BY_HOST : GLS_BY_DEVICE, "clearing a buffer");
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer->name);
    if (status || gls_device_inject(device, GLS_FAULT_UPLOAD, GL_OUT_OF_MEMORY)) {
        /* after a failure or an injected fault the driver is not called */
    } else if (!device->info.gles) {
        const bool words = buffer->size % 4 == 0; /* clearing byte by byte takes a GPU four times as long */
        gls_span_begin(device, "clear");
        glClearBufferData(GL_COPY_WRITE_BUFFER, words ? GL_R32UI : GL_R8UI, GL_RED_INTEGER,
                          words ? GL_UNSIGNED_INT : GL_UNSIGNED_BYTE, NULL);
        gls_span_end(device);
        gls_order_note(device, &buffer->order);
    } else {
        for (size_t at = 0; at < buffer->size; at += sizeof zeros) {
            size_t n = buffer->size - at < sizeof zeros ? buffer->size - at : sizeof zeros;
            glBufferSubData(GL_COPY_WRITE_BUFFER, (GLintptr)at, (GLsizeiptr)n, zeros);
        }
    }
    gls_status checked = gls_device_check(device, "clearing a buffer");
    if (checked != GLS_OK) status = checked;
    gls_device_release(device);
    return status;
}

gls_status gls_buffer_write(gls_buffer *buffer, size_t offset, size_t bytes, const void *data)
{
    GLS_REQUIRE_HANDLE(buffer, GLS_HANDLE_BUFFER);
    GLS_REQUIRE(data && offset <= buffer->size && bytes <= buffer->size - offset);
    gls_device *device = buffer->device;
    gls_status status = gls_device_enter(device, "writing a buffer");
    if (status) return status;
    const bool staged = gls_staging_write_wanted(device, bytes);
    status = gls_order_await(device, &buffer->order, staged ? GLS_BY_DEVICE : GLS_BY_HOST, "writing a buffer");
    glBindBuffer(GL_COPY_WRITE_BUFFER, buffer->name);
    if (status || gls_device_inject(device, GLS_FAULT_UPLOAD, GL_OUT_OF_MEMORY)) {
        /* after a failure or an injected fault the buffer keeps its contents */
    } else if (staged) {
        status = gls_staging_write(device, buffer->name, offset, bytes, data);
        gls_order_note(device, &buffer->order);
    } else {
        glBufferSubData(GL_COPY_WRITE_BUFFER, (GLintptr)offset, (GLsizeiptr)bytes, data);
    }
    gls_status checked = gls_device_check(device, "writing a buffer");
    if (checked != GLS_OK) status = checked;
    gls_device_release(device);
    return status;
}

gls_status gls_storage_create(gls_device *device, const char *label, size_t bytes, const void *data, gls_buffer **out)
{
    gls_buffer *buffer = NULL;
    gls_status status = gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, label, &buffer);
    if (!status && data) status = gls_buffer_write(buffer, 0, bytes, data);
    if (status)
        gls_buffer_destroy(buffer);
    else
        *out = buffer;
    return status;
}

/* Copies from the buffer bound to GL_COPY_READ_BUFFER by mapping it, as OpenGL ES requires. */
static gls_status read_mapped(size_t offset, size_t bytes, void *data)
{
    const void *mapped = glMapBufferRange(GL_COPY_READ_BUFFER, (GLintptr)offset, (GLsizeiptr)bytes, GL_MAP_READ_BIT);
    if (!mapped) return gls_fail(GLS_ERR_DEVICE, "reading a buffer: the driver cannot map the buffer into memory");
    memcpy(data, mapped, bytes);
    if (glUnmapBuffer(GL_COPY_READ_BUFFER)) return GLS_OK;
    return gls_fail(GLS_ERR_DEVICE, "reading a buffer: the driver lost the contents of the buffer");
}

gls_status gls_buffer_read(gls_buffer *buffer, size_t offset, size_t bytes, void *data)
{
    GLS_REQUIRE_HANDLE(buffer, GLS_HANDLE_BUFFER);
    GLS_REQUIRE(data && offset <= buffer->size && bytes <= buffer->size - offset);
    if (bytes == 0) return GLS_OK;
    gls_device *device = buffer->device;
    gls_status status = gls_device_enter(device, "reading a buffer");
    if (status) return status;
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    const bool staged = gls_staging_wanted(device, buffer->size);
    if (!staged) status = gls_order_await(device, &buffer->order, GLS_BY_HOST, "reading a buffer");
    glBindBuffer(GL_COPY_READ_BUFFER, buffer->name);
    if (status || gls_device_inject(device, GLS_FAULT_READBACK, GL_OUT_OF_MEMORY)) {
        /* after a failure or an injected fault data keeps its contents */
    } else if (staged) {
        status = gls_staging_read(device, buffer->name, offset, bytes, data);
    } else if (!device->info.gles) {
        glGetBufferSubData(GL_COPY_READ_BUFFER, (GLintptr)offset, (GLsizeiptr)bytes, data);
    } else {
        status = read_mapped(offset, bytes, data);
    }
    /* report an error of the driver rather than the missing completion count that the error explains */
    gls_status checked = gls_device_check_reset(device, "reading a buffer");
    if (checked != GLS_OK) status = checked;
    if (!status) status = gls_completion_verify(device, "reading a buffer");
    gls_device_release(device);
    return status;
}

/* The formats of textures, indexed by gls_texture_format: internal format and layout of GL, channels and bytes of a
 * texel, type, filter. */
static const struct {
    GLenum internal, layout;
    unsigned channels, bytes;
    GLenum type; /* type of the stored values */
    GLint filter;
} formats[] = {
    [GLS_TEXTURE_R32F] = {GL_R32F, GL_RED, 1, 4, GL_FLOAT, GL_LINEAR},
    [GLS_TEXTURE_RGBA16F] = {GL_RGBA16F, GL_RGBA, 4, 8, GL_HALF_FLOAT, GL_LINEAR},
    [GLS_TEXTURE_RGBA32F] = {GL_RGBA32F, GL_RGBA, 4, 16, GL_FLOAT, GL_LINEAR},
    [GLS_TEXTURE_R16F] = {GL_R16F, GL_RED, 1, 2, GL_HALF_FLOAT, GL_LINEAR},
    [GLS_TEXTURE_R32UI] = {GL_R32UI, GL_RED_INTEGER, 1, 4, GL_UNSIGNED_INT, GL_NEAREST},
};

/* Returns the format that is stored: half precision, with one warning for the device, in place of single precision that
 * the device cannot filter; else the format itself. */
static unsigned stored_format(gls_device *device, gls_texture_format format)
{
    if (device->info.float_linear || formats[format].type != GL_FLOAT) return format;
    if (!device->warned_of_half)
        gls_log(GLS_LOG_WARNING, "volumes are kept in half precision: this device does not filter single precision "
                                 "(GL_OES_texture_float_linear)");
    device->warned_of_half = true;
    return format == GLS_TEXTURE_R32F ? GLS_TEXTURE_R16F : GLS_TEXTURE_RGBA16F;
}

/* Sets all texels to 0; slice by slice if the driver cannot clear a texture. */
static gls_status clear_texture(gls_device *device, gls_texture *texture)
{
    const uint32_t *size = texture->size;
    /* drivers also accept zeros of type float for half precision */
    GLenum type = formats[texture->stored].type == GL_UNSIGNED_INT ? GL_UNSIGNED_INT : GL_FLOAT;
    if (!device->info.gles && (epoxy_gl_version() >= 44 || epoxy_has_gl_extension("GL_ARB_clear_texture"))) {
        glClearTexImage(texture->name, 0, formats[texture->stored].layout, type, NULL);
        gls_order_note(device, &texture->order);
        return GLS_OK;
    }
    float *zeros = calloc((size_t)size[0] * size[1] * formats[texture->stored].channels, sizeof *zeros);
    if (!zeros) return gls_fail(GLS_ERR_MEMORY, "out of memory for a slice of a texture");
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    for (uint32_t z = 0; z < size[2]; z++)
        glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, (GLint)z, (GLsizei)size[0], (GLsizei)size[1], 1,
                        formats[texture->stored].layout, type, zeros);
    free(zeros);
    return GLS_OK;
}

gls_status gls_texture_create(gls_device *device, gls_texture_format format, const uint32_t size[3], const char *label,
                              gls_texture **out)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(size && out && size[0] > 0 && size[1] > 0 && size[2] > 0);
    GLS_REQUIRE((unsigned)format < sizeof formats / sizeof formats[0]);
    uint32_t limit = device->info.max_texture_3d;
    if (size[0] > limit || size[1] > limit || size[2] > limit)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "texture '%s' of %u x %u x %u is over the device's limit of %u along each axis",
                        label ? label : "", size[0], size[1], size[2], limit);
    unsigned stored = stored_format(device, format);
    /* refuse a texture larger than the whole memory with a message of both sizes; too little free memory shows below */
    uint64_t bytes = (uint64_t)size[0] * size[1] * size[2] * formats[stored].bytes;
    if (device->info.memory_bytes > 0 && bytes > device->info.memory_bytes)
        return gls_fail(GLS_ERR_DEVICE_MEMORY, "texture '%s' of %llu bytes is larger than the device's memory of %llu",
                        label ? label : "", (unsigned long long)bytes, (unsigned long long)device->info.memory_bytes);
    gls_texture *texture = calloc(1, sizeof *texture);
    if (!texture) return gls_fail(GLS_ERR_MEMORY, "out of memory for a texture");
    *texture = (gls_texture){
        .device = device, .format = format, .stored = stored, .size = {size[0], size[1], size[2]}, .bytes = bytes};
    gls_status status = gls_device_enter(device, label ? label : "texture");
    if (status) {
        free(texture);
        return status;
    }
    gls_cache_drop_buffers(device); /* textures may need all the memory of the device */
    glGenTextures(1, &texture->name);
    glBindTexture(GL_TEXTURE_3D, texture->name);
    if (!refuse_allocation(device, bytes))
        glTexStorage3D(GL_TEXTURE_3D, 1, formats[stored].internal, (GLsizei)size[0], (GLsizei)size[1],
                       (GLsizei)size[2]);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MIN_FILTER, formats[stored].filter);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_MAG_FILTER, formats[stored].filter);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_3D, GL_TEXTURE_WRAP_R, GL_CLAMP_TO_EDGE);
    /* the first check finds a failed allocation, the second one a failed write of the zeros */
    label_object(device, GL_TEXTURE, texture->name, label);
    status = gls_device_check(device, label ? label : "texture");
    if (!status) status = clear_texture(device, texture);
    if (!status) status = gls_device_check(device, label ? label : "texture");
    if (!status) status = gls_handle_add(texture, GLS_HANDLE_TEXTURE, device, label, free);
    if (!status) {
        device->memory.n_textures++;
        account(device, texture->bytes, 0);
        *out = texture;
    } else {
        glDeleteTextures(1, &texture->name);
        free(texture);
    }
    gls_device_release(device);
    return status;
}

void gls_texture_destroy(gls_texture *texture)
{
    if (!texture || !gls_handle_remove(texture, GLS_HANDLE_TEXTURE)) return;
    gls_device *device = texture->device;
    gls_device_hold(device);
    if (!device->lost) glDeleteTextures(1, &texture->name);
    device->memory.n_textures--;
    account(device, 0, texture->bytes);
    gls_device_release(device);
    free(texture);
}

/* Converts n values to half precision. A finite value beyond the range of half precision becomes infinity or, with
 * `finite`, the largest value of half precision, because interpolation would spread infinity. */
static uint16_t *to_half(const float *data, size_t n, bool finite)
{
    const size_t part = 65536;
    uint16_t *half = malloc(n * sizeof *half);
    if (!half) return NULL;
#pragma omp parallel for schedule(static) if (n > 4 * part)
    for (size_t at = 0; at < n; at += part) {
        size_t end = n - at < part ? n : at + part;
        gls_half_convert(data + at, end - at, half + at);
        for (size_t i = at; finite && i < end; i++)
            if ((half[i] & 0x7fff) == 0x7c00 && isfinite(data[i])) half[i] -= 1;
    }
    return half;
}

/* Whether a box lies in the texture and is not empty. */
static bool contains(const gls_texture *texture, const uint32_t origin[3], const uint32_t size[3])
{
    bool inside = true;
    for (int a = 0; a < 3; a++)
        inside &= size[a] > 0 && origin[a] <= texture->size[a] && size[a] <= texture->size[a] - origin[a];
    return inside;
}

/* Whether texels go to a texture through a buffer. Drivers of GPUs rearrange texels of host memory one by one, but let
 * the GPU rearrange those of a buffer. */
static bool stages_texels(const gls_device *device, size_t bytes)
{
    return !device->info.software && bytes >= 65536;
}

/* Copies texels to a new buffer, which stays bound to GL_PIXEL_UNPACK_BUFFER. The caller unbinds and deletes it. */
static GLuint stage_texels(const void *texels, size_t bytes)
{
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)bytes, texels, GL_STREAM_DRAW);
    return buffer;
}

/* Writes texels that already have the stored format. */
static gls_status write_stored(gls_texture *texture, const uint32_t origin[3], const uint32_t size[3],
                               const void *texels)
{
    gls_device *device = texture->device;
    gls_status status = gls_device_enter(device, "writing a texture");
    if (status) return status;
    const size_t bytes = (size_t)size[0] * size[1] * size[2] * formats[texture->stored].bytes;
    const bool stages = stages_texels(device, bytes);
    status = gls_order_await(device, &texture->order, stages ? GLS_BY_DEVICE : GLS_BY_HOST, "writing a texture");
    glBindTexture(GL_TEXTURE_3D, texture->name);
    glPixelStorei(GL_UNPACK_ALIGNMENT, formats[texture->stored].type == GL_HALF_FLOAT ? 2 : 4);
    GLuint staged = stages ? stage_texels(texels, bytes) : 0;
    if (!status && !gls_device_inject(device, GLS_FAULT_UPLOAD, GL_OUT_OF_MEMORY))
        glTexSubImage3D(GL_TEXTURE_3D, 0, (GLint)origin[0], (GLint)origin[1], (GLint)origin[2], (GLsizei)size[0],
                        (GLsizei)size[1], (GLsizei)size[2], formats[texture->stored].layout,
                        formats[texture->stored].type, staged ? NULL : texels);
    if (staged) gls_order_note(device, &texture->order);
    if (staged) glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glDeleteBuffers(1, &staged);
    gls_status checked = gls_device_check(device, "writing a texture");
    gls_device_release(device);
    return checked != GLS_OK ? checked : status;
}

gls_status gls_texture_write(gls_texture *texture, const uint32_t origin[3], const uint32_t size[3], const float *data)
{
    GLS_REQUIRE_HANDLE(texture, GLS_HANDLE_TEXTURE);
    GLS_REQUIRE(origin && size && data && contains(texture, origin, size));
    GLS_REQUIRE(texture->format != GLS_TEXTURE_R32UI);
    if (formats[texture->stored].type != GL_HALF_FLOAT) return write_stored(texture, origin, size, data);
    /* convert here, with all cores, because drivers convert one value after another */
    uint16_t *half = to_half(data, formats[texture->stored].channels * (size_t)size[0] * size[1] * size[2],
                             texture->stored != texture->format);
    if (!half) return gls_fail(GLS_ERR_MEMORY, "out of memory for texels");
    gls_status status = write_stored(texture, origin, size, half);
    free(half);
    return status;
}

gls_status gls_texture_write_texels(gls_texture *texture, const uint32_t origin[3], const uint32_t size[3],
                                    const void *texels)
{
    GLS_REQUIRE_HANDLE(texture, GLS_HANDLE_TEXTURE);
    if (texture->stored != texture->format) return gls_texture_write(texture, origin, size, texels);
    GLS_REQUIRE(origin && size && texels && contains(texture, origin, size));
    return write_stored(texture, origin, size, texels);
}

/* --- Order of writes. OpenGL orders the writes of host and device, but NVIDIA's driver does not always: a write of the
 * host may reach a buffer while a kernel still reads it, and a small write may arrive before an earlier clearing, which
 * then undoes it. So before it writes or reads, the host waits for the kernels that use the buffer or texture and for
 * earlier writes by the device. */

void gls_order_note(gls_device *device, gls_order *order)
{
    order->last_made = ++device->n_runs;
}

void gls_order_mark(gls_device *device)
{
    if (device->info.software || device->never_wait ||
        (device->n_marked == device->n_runs && (device->mark || device->n_ended >= device->n_marked)))
        return;
    if (device->mark) glDeleteSync(device->mark);
    device->mark = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    device->n_marked = device->n_runs;
}

gls_status gls_order_await(gls_device *device, const gls_order *order, gls_order_side side, const char *what)
{
    /* A command of the device need not wait for earlier writes by such commands, only for kernels. */
    const uint64_t last_run =
        side == GLS_BY_DEVICE || order->last_made < order->last_run ? order->last_run : order->last_made;
    if (last_run <= device->n_ended || device->info.software || device->never_wait) return GLS_OK;
    /* a fence waits for all runs before it: use the last fence if it was set after run number last_run, otherwise set
     * another */
    if (!device->mark || last_run > device->n_marked) gls_order_mark(device);
    GLsync mark = device->mark;
    device->mark = NULL;
    if (mark && gls_wait_for_fence(mark)) {
        device->n_ended = device->n_marked;
        return GLS_OK;
    }
    /* report an error of the driver, if there is one, rather than that the device does not answer */
    gls_status status = gls_device_check_reset(device, what);
    return status ? status : gls_fail(GLS_ERR_DEVICE, "%s: the device does not answer", what);
}
