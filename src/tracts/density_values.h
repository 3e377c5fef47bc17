/* The final values of a density map, as numbers and as a file. */
#ifndef GLS_TRACTS_DENSITY_VALUES_H
#define GLS_TRACTS_DENSITY_VALUES_H

#include <glslines/common.h>
#include <glslines/density.h>

#include "util/output_file.h"

/* Like gls_density_write(), with the file in `group`. */
gls_status gls_density_write_grouped(const gls_density *density, const char *path, bool overwrite,
                                     gls_output_group *group);

#endif
