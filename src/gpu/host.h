/* Storage of a software renderer is memory of this process: a few buffers at a time as arrays, for work that the host
 * does faster. */
#ifndef GLS_GPU_HOST_H
#define GLS_GPU_HOST_H

#include <glslines/device.h>

enum { GLS_HOST_BUFFERS = 3 };

/* One buffer and, while it is mapped, where its bytes are. A buffer is mapped once at most. */
typedef struct gls_host_view {
    gls_buffer *buffer;
    uint64_t bytes; /* from its start */
    bool written;   /* its contents are replaced; else they are only read */
    void *data;     /* NULL: it could not be mapped */
} gls_host_view;

/* Maps n views, up to GLS_HOST_BUFFERS, for what earlier commands left in them. The device must be held. True if all
 * could be. */
bool gls_host_map(gls_device *device, gls_host_view *views, size_t n);
/* Ends that, after a failure too; GLS_ERR_DEVICE if any was not mapped or lost what was written. what: names the work
 * in messages. */
gls_status gls_host_unmap(gls_device *device, gls_host_view *views, size_t n, const char *what);

/* The most invocations that a work group may have along x (0), y or z. The device must be held. */
uint32_t gls_device_group_limit(const gls_device *device, unsigned axis);

#endif
