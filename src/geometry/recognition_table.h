/* The table of what was recognised. */
#ifndef GLS_GEOMETRY_RECOGNITION_TABLE_H
#define GLS_GEOMETRY_RECOGNITION_TABLE_H

#include <glslines/recognition.h>

#include "util/output_file.h"

/* Writes a row for each model. group: of outputs that appear together; NULL: none. */
gls_status gls_recognition_table_write(const gls_recognition *recognition, const char *path, bool overwrite,
                                       gls_output_group *group);

#endif
