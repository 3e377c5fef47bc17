/* Writes of the host behind what the device still has to do. OpenGL orders them; but on NVIDIA's driver a write may
 * reach a buffer while a kernel still reads it, and a small one may come before a clearing that was asked for earlier,
 * which then takes it back. So a write waits for the kernels that have what it writes, and for what the device itself
 * was to write there; reading does, too. */
#include "gpu/internal.h"
#include "util/status.h"

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
    const uint64_t last_run =
        side == GLS_BY_DEVICE || order->last_made < order->last_run ? order->last_run : order->last_made;
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
