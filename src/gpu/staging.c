/* Reads and writes large buffers through memory that host and device both see: the device copies one piece while the
 * host copies another. The caller holds the device. */
#include "gpu/staging.h"
#include "gpu/internal.h"
#include "gpu/timer.h"

#include <omp.h>
#include <string.h>

#include "util/status.h"
#include "util/threads.h"

/* PIECE: bytes of a piece for reading; there are two pieces. SENT_PIECE: bytes of a piece for writing; there are
 * GLS_SENT_PIECES. SMALL_WRITE: the driver itself writes up to this many bytes; larger writes would take the driver
 * milliseconds, in which the device is idle. */
#define PIECE ((size_t)16 << 20)
#define SENT_PIECE ((size_t)8 << 20)
#define SMALL_WRITE ((size_t)64 << 10)

bool gls_staging_offered(const gls_device *device)
{
    return !device->info.software && !device->info.gles && epoxy_has_gl_extension("GL_ARB_buffer_storage");
}

void *gls_staging_memory(GLbitfield way, size_t bytes, GLuint *name)
{
    const GLbitfield flags = way | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    glGenBuffers(1, name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, *name);
    glBufferStorage(GL_COPY_WRITE_BUFFER, (GLsizeiptr)bytes, NULL, flags | GL_CLIENT_STORAGE_BIT);
    void *mapped = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, (GLsizeiptr)bytes, flags);
    if (mapped) return mapped;
    glDeleteBuffers(1, name);
    *name = 0;
    for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++) {
    } /* clears GL errors, so that a failed attempt is not reported */
    return NULL;
}

/* Makes the memory for reading at its first use. Returns false if the driver has none. */
static bool staging_open(gls_device *device)
{
    if (!device->staging_mapped)
        device->staging_mapped = gls_staging_memory(GL_MAP_READ_BIT, 2 * PIECE, &device->staging);
    return device->staging_mapped != NULL;
}

bool gls_staging_wanted(gls_device *device, size_t buffer_bytes)
{
    /* Some drivers move a whole buffer to the host's memory when any part of it is read. The buffers of a software
     * renderer are in the host's memory already. */
    return buffer_bytes > PIECE / 16 && gls_staging_offered(device) && staging_open(device);
}

/* A copy that several threads share. */
typedef struct copy_job {
    uint8_t *to;
    const uint8_t *from;
} copy_job;

/* Copies bytes from .. until - 1; called by gls_parallel(). */
static void copy_some(void *user, int thread, size_t from, size_t until)
{
    const copy_job *c = user;
    (void)thread;
    memcpy(c->to + from, c->from + from, until - from);
}

/* Copies with at most a few cores, which keep up with the bus; more threads of OpenMP would only wait busily between
 * two copies and take cores from other work. */
void gls_staging_copy(void *data, const uint8_t *from, size_t bytes)
{
    const int half = omp_get_max_threads() / 2;
    copy_job copy = {data, from};
    gls_parallel(bytes, (size_t)1 << 20, half < 1 ? 1 : half > 8 ? 8 : half, copy_some, &copy);
}

/* Starts copying the piece at position `at` of a range of the buffer to half 0 or 1 of the memory for reading. The
 * returned fence is reached when the piece has arrived. */
static GLsync request(gls_device *device, GLuint source, size_t offset, size_t at, size_t bytes, unsigned half)
{
    size_t n = bytes - at < PIECE ? bytes - at : PIECE;
    glBindBuffer(GL_COPY_READ_BUFFER, source);
    glBindBuffer(GL_COPY_WRITE_BUFFER, device->staging);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, (GLintptr)(offset + at), (GLintptr)(half * PIECE),
                        (GLsizeiptr)n);
    glMemoryBarrier(GL_CLIENT_MAPPED_BUFFER_BARRIER_BIT);
    return glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

gls_status gls_staging_read(gls_device *device, GLuint source, size_t offset, size_t bytes, void *data)
{
    /* The device fills one half of the memory while the host empties the other half. */
    unsigned half = 0;
    GLsync pending = request(device, source, offset, 0, bytes, half);
    for (size_t at = 0; at < bytes; at += PIECE, half ^= 1) {
        GLsync current = pending;
        pending = at + PIECE < bytes ? request(device, source, offset, at + PIECE, bytes, half ^ 1) : NULL;
        bool arrived = gls_wait_for_fence(current);
        if (!arrived) {
            if (pending) glDeleteSync(pending);
            return gls_fail(GLS_ERR_DEVICE, "reading a buffer: the device does not answer");
        }
        gls_staging_copy((uint8_t *)data + at, device->staging_mapped + half * PIECE,
                         bytes - at < PIECE ? bytes - at : PIECE);
    }
    return GLS_OK;
}

/* --- writing -------------------------------------------------------------- */

bool gls_staging_write_wanted(gls_device *device, size_t bytes)
{
    if (bytes <= SMALL_WRITE || !gls_staging_offered(device)) return false;
    if (!device->sending_mapped)
        device->sending_mapped = gls_staging_memory(GL_MAP_WRITE_BIT, GLS_SENT_PIECES * SENT_PIECE, &device->sending);
    return device->sending_mapped != NULL;
}

/* Waits until the device has emptied a piece; does not wait if never_wait is set. Returns false if the device does not
 * answer. */
static bool piece_is_free(gls_device *device, unsigned piece)
{
    GLsync sent = device->sent[piece];
    device->sent[piece] = NULL;
    if (!sent || !device->never_wait) return !sent || gls_wait_for_fence(sent);
    glDeleteSync(sent);
    return true;
}

gls_status gls_staging_write(gls_device *device, GLuint to, size_t offset, size_t bytes, const void *data)
{
    for (size_t at = 0; at < bytes; at += SENT_PIECE) {
        /* The host fills a free piece, then queues the copy from it; the pieces are used in turn. */
        const unsigned piece = device->next_piece++ % GLS_SENT_PIECES;
        const size_t n = bytes - at < SENT_PIECE ? bytes - at : SENT_PIECE;
        if (!piece_is_free(device, piece))
            return gls_fail(GLS_ERR_DEVICE, "writing a buffer: the device does not answer");
        gls_staging_copy(device->sending_mapped + piece * SENT_PIECE, (const uint8_t *)data + at, n);
        glBindBuffer(GL_COPY_READ_BUFFER, device->sending);
        glBindBuffer(GL_COPY_WRITE_BUFFER, to);
        gls_span_begin(device, "copy to the device");
        glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, (GLintptr)(piece * SENT_PIECE),
                            (GLintptr)(offset + at), (GLsizeiptr)n);
        gls_span_end(device);
        device->sent[piece] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        glFlush();
    }
    return GLS_OK;
}
