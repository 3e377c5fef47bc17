/* Reads legacy VTK files of polylines, ASCII and BINARY, of versions up to 5. */
#ifndef GLS_TRACTOGRAM_VTK_READ_H
#define GLS_TRACTOGRAM_VTK_READ_H

#include <glslines/type.h>

/* Parses a number as a value of the given type. */
bool gls_vtk_parse_value(const char *word, gls_type type, void *to);

#endif
