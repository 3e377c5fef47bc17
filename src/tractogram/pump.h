/* Reads the streamlines of a file block by block, checks them, and hands them to a sink. */
#ifndef GLS_TRACTOGRAM_PUMP_H
#define GLS_TRACTOGRAM_PUMP_H

#include <glslines/common.h>
#include <glslines/tractogram.h>
#include <glslines/type.h>

#include "tractogram/readers.h"

/* Adds a column with a copy of the name. GLS_ERR_INPUT if the name exists. */
gls_status gls_reader_add_column(gls_tractogram_reader *reader, gls_reader_columns *columns, const char *name,
                                 gls_type type, uint32_t components);
/* Adds a header field. Values of repeated keys are joined. */
gls_status gls_reader_add_header(gls_tractogram_reader *reader, const char *key, const char *value);
/* Fills in the description of an open reader, and allocates the memory for its first block. */
gls_status gls_reader_prepare(gls_tractogram_reader *reader);
/* Allocates memory for n points and their dpv in the current block. */
gls_status gls_reader_reserve(gls_tractogram_reader *reader, uint64_t n);
/* Starts a thread, if the library may use more than one, that reads up to n_blocks blocks ahead. From then on only
 * gls_tractogram_pump() may read the file. */
gls_status gls_reader_ahead_start(gls_tractogram_reader *reader, size_t n_blocks);
/* Stops the reading thread, if there is one, and frees its blocks. */
void gls_reader_ahead_stop(gls_tractogram_reader *reader);
/* Reads bytes of the file from position `from`. */
gls_status gls_reader_head(const gls_tractogram_reader *reader, uint64_t from, void *data, size_t bytes);
/* Logs a warning about the file; not if options.quiet is set: an earlier pass over the file has then given the
 * warnings. */
void gls_reader_warn(const gls_tractogram_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns GLS_ERR_INPUT with the message "PATH: damaged: WHAT". */
gls_status gls_reader_damaged(const gls_tractogram_reader *reader, const char *what);
/* Sets the grid of the tractogram. name: what the affine is called in the header. GLS_ERR_INPUT: the affine has no last
 * row 0 0 0 1, or gls_grid_init() refuses it. */
gls_status gls_reader_set_grid(gls_tractogram_reader *reader, const int32_t dim[3], const double affine[4][4],
                               const char *name);
/* Returns GLS_ERR_MEMORY with the path of the file. */
gls_status gls_reader_no_memory(const gls_tractogram_reader *reader);

#endif
