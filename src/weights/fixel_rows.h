/* Maps streamlines to fixels: which streamline passes through which fixels, and over which length. */
#ifndef GLS_WEIGHTS_FIXEL_ROWS_H
#define GLS_WEIGHTS_FIXEL_ROWS_H

#include <stdint.h>

#include <glslines/device.h>
#include <glslines/image.h>
#include <glslines/streamlines.h>

#include "weights/fixel_parts.h"
#include "weights/fixel_rows_parts.h"

/* Unit of lengths, mm. */
double gls_rows_unit(const gls_rows *rows);
/* Makes empty rows. chunk_entries: see the member. mask is borrowed and may be NULL. Call gls_rows_finish() even after
 * a failure. */
gls_status gls_rows_init(gls_rows *rows, const gls_fixels *fixels, const float *mask, size_t chunk_entries);
/* Sets the number of bits of a fixel in an entry's word. Call before the first streamline. Tests set less than
 * GLS_ROW_FIXEL_BITS. */
void gls_rows_set_width(gls_rows *rows, unsigned low_bits);
/* Sets how streamlines are walked, see gls_walk_grid_init(). Call before the first streamline. */
void gls_rows_set_walk(gls_rows *rows, uint32_t ratio, bool straight);
/* Maps streamlines on several threads and appends their rows. GLS_ERR_INPUT for points that cannot be mapped. */
gls_status gls_rows_append(gls_rows *rows, const gls_streamlines *streamlines);
/* Frees all chunks and work space. */
void gls_rows_finish(gls_rows *rows);
/* Appends n rows, which must be in the order of the streamlines. Row i has row[i].n entries; contribution[i]: as in
 * gls_rows, mm. */
gls_status gls_rows_collect(gls_rows *rows, const gls_row_entries *row, const float *contribution, size_t n);
/* Checks points and copies them to `to`. GLS_ERR_INPUT as gls_rows_append(). */
gls_status gls_rows_copy(gls_rows *rows, const gls_streamlines *streamlines, float (*to)[3]);
/* Maps streamlines that were already received by gls_rows_copy(), on several threads. */
gls_status gls_rows_map(gls_rows *rows, const gls_streamlines *streamlines);

#endif
