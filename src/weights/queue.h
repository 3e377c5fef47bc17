/* Streamlines that wait for the device that maps them: while it maps one parcel the next comes. */
#ifndef GLS_WEIGHTS_QUEUE_H
#define GLS_WEIGHTS_QUEUE_H

#include <glslines/device.h>

#include "weights/rows.h"

typedef struct gls_row_queue gls_row_queue;

#define GLS_QUEUE_POINTS ((size_t)1 << 22)

/* Maps by the device, of whose memory device_bytes may be used (0: all), as soon as so many points wait; where it
 * fails, threads go on. The bytes are the same. Both are borrowed. */
gls_status gls_row_queue_create(gls_rows *rows, gls_device *device, uint64_t device_bytes, size_t points,
                                gls_row_queue **queue);
gls_status gls_row_queue_append(gls_row_queue *queue, const gls_streamlines *streamlines);
/* All have come: maps those that wait. */
gls_status gls_row_queue_end(gls_row_queue *queue);
/* Accepts NULL. */
void gls_row_queue_destroy(gls_row_queue *queue);

#endif
