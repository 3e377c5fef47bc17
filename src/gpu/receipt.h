/* Receipts: each work group of each kernel adds one to a counter of the device when it is done. Drivers of small boards
 * take a kernel that is at work for too long from the GPU, and some of them say nothing of it; what that kernel was to
 * write is then whatever was there before. Where the host reads what kernels wrote it reads the counter, too, and a
 * device whose kernels did not all come to their end counts as lost. */
#ifndef GLS_GPU_RECEIPT_H
#define GLS_GPU_RECEIPT_H

#include "gpu/internal.h"

/* Makes the counter of a new device, unless its driver offers none: kernels then give no receipts. The device must be
 * held for this and all that follows. */
void gls_receipts_open(gls_device *device);
/* A kernel was given to the driver, or should have been. */
void gls_receipts_expect(gls_device *device, const uint32_t groups[3]);
/* The driver said that it did not take the last kernel, which had so many groups. */
void gls_receipts_forgive(gls_device *device, const uint32_t groups[3]);
/* Copies the counter, behind the commands so far and a barrier, into memory that the host sees. Returns what it should
 * be then. */
uint32_t gls_receipts_send(gls_device *device, GLuint to, size_t offset);
/* Such a copy has come. GLS_ERR_LOST, and so is the device, if it is too small; what starts the message. */
gls_status gls_receipts_take(gls_device *device, uint32_t count, uint32_t expected, const char *what);
/* The same for all kernels so far, for which it waits. What the driver itself says of a failure is to be asked first.
 */
gls_status gls_receipts_verify(gls_device *device, const char *what);

#endif
