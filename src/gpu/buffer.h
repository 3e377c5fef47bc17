/* Buffers and textures: creation, clearing, writing and reading; and the order of writes by host and device. */
#ifndef GLS_GPU_BUFFER_H
#define GLS_GPU_BUFFER_H

#include <glslines/common.h>
#include <glslines/device.h>

#include "gpu/internal.h"

/* Notes a write by the device that is not a kernel, such as clearing a buffer; the write counts as a kernel run. The
 * device must be held for the three functions gls_order_...(). */
void gls_order_note(gls_device *device, gls_order *order);

/* Who reads or writes next: the device, by a command of the host, or the host itself. */
typedef enum gls_order_side { GLS_BY_DEVICE, GLS_BY_HOST } gls_order_side;

/* Waits, before the next read or write, for the kernels that use the buffer or texture and, if side is GLS_BY_HOST, for
 * earlier writes by the device. Does not wait on a software renderer, or if never_wait is set. GLS_ERR_DEVICE: the
 * device does not answer. what: start of the message. */
gls_status gls_order_await(gls_device *device, const gls_order *order, gls_order_side side, const char *what);
/* Sets a fence behind the kernels so far, so that gls_order_await() need not wait for copies that follow them. */
void gls_order_mark(gls_device *device);

/* Creates a storage buffer of `bytes`, and writes data to it; data NULL: the contents are undefined. If the write
 * fails, there is no buffer. Otherwise as gls_buffer_create(). */
gls_status gls_storage_create(gls_device *device, const char *label, size_t bytes, const void *data,
                              gls_buffer **buffer);

#endif
