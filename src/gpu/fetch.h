/* A part of a buffer on its way to the host, while the device goes on with what it is told afterwards. */
#ifndef GLS_GPU_FETCH_H
#define GLS_GPU_FETCH_H

#include <glslines/device.h>

typedef struct gls_fetch gls_fetch;

/* For so many bytes at most, of which the host gets memory that the device reaches. 0, or where the driver does not
 * offer it: the part is read when gls_fetch_end() asks for it, and so it may be read late. */
gls_status gls_fetch_create(gls_device *device, size_t bytes, gls_fetch **fetch);
/* Accepts NULL. */
void gls_fetch_destroy(gls_fetch *fetch);
/* Sends the part off, as the commands so far leave it. Until gls_fetch_end() nothing else may be written there. One
 * that was never ended is forgotten. */
gls_status gls_fetch_begin(gls_fetch *fetch, gls_buffer *source, size_t offset, size_t bytes);
/* Waits for it. */
gls_status gls_fetch_end(gls_fetch *fetch, void *data);

/* Lets the device begin with the commands so far, which some drivers keep until somebody waits for them. */
void gls_device_flush(gls_device *device);

#endif
