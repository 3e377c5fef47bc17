/* Writes of the host behind kernels that are still at work. OpenGL orders such a write behind what kernels write; one
 * to a buffer or texture that a kernel only reads may reach it while it still reads, as it does on NVIDIA's. So a write
 * waits for the kernels that have what it writes. */
#include "gpu/internal.h"
#include "util/status.h"

void gls_order_mark(gls_device *device)
{
    if (device->info.software || device->never_wait ||
        (device->n_marked == device->n_runs && (device->mark || device->n_ended >= device->n_marked)))
        return;
    if (device->mark) glDeleteSync(device->mark);
    device->mark = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    device->n_marked = device->n_runs;
}

gls_status gls_order_await(gls_device *device, uint64_t last_run, const char *what)
{
    if (last_run <= device->n_ended || device->info.software || device->never_wait) return GLS_OK;
    if (!device->mark || last_run > device->n_marked) gls_order_mark(device);
    GLsync mark = device->mark;
    device->mark = NULL;
    if (mark && gls_wait_for_fence(mark)) {
        device->n_ended = device->n_marked;
        return GLS_OK;
    }
    /* what the driver itself says goes before what was noticed without it */
    gls_status status = gls_device_check_reset(device, what);
    return status != GLS_OK ? status : gls_fail(GLS_ERR_DEVICE, "%s: the device does not answer", what);
}
