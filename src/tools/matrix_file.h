/* Matrices of options, which move streamlines. */
#ifndef GLS_TOOLS_MATRIX_FILE_H
#define GLS_TOOLS_MATRIX_FILE_H

#include <glslines/common.h>

/* Reads text with a 4 x 4 or 3 x 4 matrix that has an inverse, world mm to world mm; invert: gives the inverse.
 * GLS_ERR_INPUT names the file. A matrix that mirrors gives a warning. */
gls_status gls_matrix_file_read(const char *path, bool invert, double map[3][4]);

#endif
