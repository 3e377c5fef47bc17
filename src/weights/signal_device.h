/* The products of the signal's matrix as kernels. */
#ifndef GLS_WEIGHTS_SIGNAL_DEVICE_H
#define GLS_WEIGHTS_SIGNAL_DEVICE_H

#include <glslines/device.h>

#include "weights/signal_products.h"

/* Limits of the memory that goes to a device at a time. */
typedef struct gls_signal_memory {
    uint64_t bytes;       /* on each device; 0: half of its memory */
    size_t block_entries; /* entries of a block */
} gls_signal_memory;

/* How many of n devices to use: all with a given memory; else the fewest that hold all entries between them. More are
 * slower: in each iteration every device waits for the residuals of the others, which go through the host. */
size_t gls_signal_device_count(const gls_signal_rows *rows, const gls_signal_memory *memory, gls_device *const *devices,
                               size_t n);
/* Makes products that n devices share. GLS_ERR_DEVICE_MEMORY, GLS_ERR_UNSUPPORTED: the problem does not fit. Destroy
 * them also after a failure of one of their functions. */
gls_status gls_signal_device_create(const gls_signal_model *model, const gls_signal_memory *memory,
                                    gls_device *const *devices, size_t n, gls_signal_products **products);

#endif
