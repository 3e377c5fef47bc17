/* The order in which a round's streamlines are tracked. It never changes the result. */
#ifndef GLS_TRACK_ENGINE_ORDER_H
#define GLS_TRACK_ENGINE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "track/shader/layout.h"

typedef struct gls_order_entry {
    uint32_t key, line;
} gls_order_entry;

/* Orders n lines along a Morton curve through the voxels of their seeds, equal ones as they were: those that are
 * tracked together then mostly read the same part of a field. entry: room for 2 n; the first n tell the lines in their
 * new order. */
void gls_order_lines(const gls_line_record *line, size_t n, gls_order_entry *entry);

#endif
