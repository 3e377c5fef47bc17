/* Reads the headers of MRtrix3's tracks and track scalars, and finds the numbers that belong to them, in the same file
 * or another one. */
#ifndef GLS_TRACTOGRAM_TCK_HEADER_H
#define GLS_TRACTOGRAM_TCK_HEADER_H

#include <glslines/common.h>
#include <glslines/tractogram.h>

#include "tractogram/file_formats.h"
#include "tractogram/readers.h"

/* Receives each line "key: value" of the header except datatype and file. text: the line as in the file; its value
 * begins at text + value_at. */
typedef gls_status (*gls_tck_line)(void *user, const char *key, const char *value, const char *text, size_t value_at);

/* Reads the header of an open file of `bytes` bytes. GLS_ERR_INPUT names path and the error. */
gls_status gls_tck_header_read(const char *path, int fd, uint64_t bytes, gls_tck_line line, void *user,
                               gls_tck_header *header);
/* Starts reading the numbers, in rows of `row` numbers. Bytes behind the last complete row are an error, or, with
 * recover, are left out. fd and bytes: as for gls_tck_header_read(). */
gls_status gls_tck_header_open(const gls_tck_header *header, const char *path, int fd, uint64_t bytes, size_t row,
                               bool recover, gls_cursor *cursor);
/* Frees `file`. */
void gls_tck_header_finish(gls_tck_header *header);
/* Sets *file to the path of the separate data file of a TCK file, from malloc; NULL: the data are in the file itself,
 * or the file cannot be read as TCK. */
gls_status gls_tck_data_file(const char *path, char **file);
/* Distance of points that a tractogram states, mm; `otherwise` if it states none. Only headers of TCK files have it, as
 * output_step_size or step_size. */
double gls_tck_step(const gls_tractogram_info *info, double otherwise);

#endif
