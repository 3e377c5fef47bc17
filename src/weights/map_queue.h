/* Collects streamlines in buffers, which the devices map, a thread for each device. */
#ifndef GLS_WEIGHTS_MAP_QUEUE_H
#define GLS_WEIGHTS_MAP_QUEUE_H

#include <glslines/common.h>
#include <glslines/device.h>
#include <glslines/streamlines.h>

#include "weights/fixel_rows_parts.h"

/* Makes a queue that maps on n devices as soon as `points` points wait, with at most device_bytes of the memory of each
 * device (0: all). Rows are stored in the order of the streamlines. If a device fails, threads on the CPU continue,
 * with the same bytes. rows and devices are borrowed. */
gls_status gls_row_queue_create(gls_rows *rows, gls_device *const *devices, size_t n, uint64_t device_bytes,
                                size_t points, gls_row_queue **queue);
/* Copies the streamlines. May wait for a device. GLS_ERR_INPUT as gls_rows_append(). */
gls_status gls_row_queue_append(gls_row_queue *queue, const gls_streamlines *streamlines);
/* Maps the streamlines that still wait. Call it after the last streamline. */
gls_status gls_row_queue_end(gls_row_queue *queue);
/* Frees `queue`, which may be NULL. */
void gls_row_queue_destroy(gls_row_queue *queue);

#endif
