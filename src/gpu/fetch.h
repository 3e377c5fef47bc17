/* Transfers from the device to the host: copies in the background, and buffers mapped into the memory of the process.
 */
#ifndef GLS_GPU_FETCH_H
#define GLS_GPU_FETCH_H

#include <glslines/common.h>
#include <glslines/device.h>

#include "gpu/objects.h"

/* Creates a fetch, with memory that host and device both see for a part of up to `bytes` bytes. If the driver has no
 * such memory, or a part is larger, no copy is made early: gls_fetch_end() then reads the part. */
gls_status gls_fetch_create(gls_device *device, size_t bytes, gls_fetch **fetch);
/* Frees `fetch`, which may be NULL. */
void gls_fetch_destroy(gls_fetch *fetch);
/* Starts copying a part of a buffer, as all earlier commands leave it. Nothing else may write to that part until
 * gls_fetch_end(). An unfinished earlier copy of this fetch is dropped. */
gls_status gls_fetch_begin(gls_fetch *fetch, gls_buffer *source, size_t offset, size_t bytes);
/* Stores in data the part that the last gls_fetch_begin() named: waits for its copy, or reads the part itself. Does
 * nothing if there was no gls_fetch_begin() since the last gls_fetch_end(). */
gls_status gls_fetch_end(gls_fetch *fetch, void *data);
/* Makes the device start on the commands so far; some drivers delay them until the host waits. */
void gls_device_flush(gls_device *device);

/* A buffer and, while it is mapped, its bytes. A buffer can be mapped once at a time. */
typedef struct gls_host_view {
    gls_buffer *buffer;
    uint64_t bytes; /* size of the mapped part, from the start of the buffer */
    bool written;   /* true: the host replaces the contents; false: it only reads them */
    void *data;     /* NULL: not mapped */
} gls_host_view;

/* Maps n views, at most GLS_HOST_BUFFERS, with the results of all earlier commands. The device must be held. Returns
 * false after a failure. Call gls_host_unmap() even then; it returns the error. */
bool gls_host_map(gls_device *device, gls_host_view *views, size_t n);
/* Unmaps the views. GLS_ERR_DEVICE if a view was not mapped or lost what was written. what: names the work in
 * messages. */
gls_status gls_host_unmap(gls_device *device, gls_host_view *views, size_t n, const char *what);
/* Maximum number of invocations of a work group along x (0), y (1) or z (2). The device must be held. */
uint32_t gls_device_group_limit(const gls_device *device, unsigned axis);

#endif
