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
/* Whether the receipts of all kernels so far come with the part, see gpu/receipt.h. It costs some microseconds. */
typedef enum gls_fetch_receipts { GLS_FETCH_ALONE, GLS_FETCH_WITH_RECEIPTS } gls_fetch_receipts;

/* Sends the part off, as the commands so far leave it. Until gls_fetch_end() nothing else may be written there. One
 * that was never ended is forgotten. */
gls_status gls_fetch_begin(gls_fetch *fetch, gls_buffer *source, size_t offset, size_t bytes,
                           gls_fetch_receipts receipts);
/* Waits for it. GLS_ERR_LOST, too, where receipts are missing. */
gls_status gls_fetch_end(gls_fetch *fetch, void *data);

/* The receipts that kernels so far will have given, and whether they have: until they came with a part this waits. */
uint32_t gls_device_receipts(gls_device *device);
gls_status gls_device_verify(gls_device *device, uint32_t receipts);

/* Lets the device begin with the commands so far, which some drivers keep until somebody waits for them. */
void gls_device_flush(gls_device *device);

#endif
