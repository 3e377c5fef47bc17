/* Streamlines that wait for the device that maps them: while it maps one parcel the next comes. */
#ifndef GLS_WEIGHTS_ROWS_DEVICE_H
#define GLS_WEIGHTS_ROWS_DEVICE_H

#include "weights/rows.h"

/* For rows with a device. Where that fails, threads map, and rows->device is NULL from then on. */
gls_status gls_row_queue_append(gls_rows *rows, const gls_streamlines *streamlines);
/* Maps all that wait. */
gls_status gls_row_queue_end(gls_rows *rows);
void gls_row_queue_destroy(struct gls_row_queue *queue);

#endif
