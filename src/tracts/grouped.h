/* Results written as part of a group, unless that is NULL; an existing file is an error unless overwrite. */
#ifndef GLS_TRACTS_GROUPED_H
#define GLS_TRACTS_GROUPED_H

#include <glslines/connectome.h>
#include <glslines/density.h>

#include "util/output_file.h"

gls_status gls_density_write_grouped(const gls_density *density, const char *path, bool overwrite,
                                     gls_output_group *group);
/* Whether the matrix looks at more of a streamline than its ends: for regions on the way, or lengths. */
bool gls_connectome_needs_points(const gls_connectome *connectome);
/* names: of rows and columns, gls_connectome_size() of them; NULL: no header. missing: stands for what is not a number.
 */
gls_status gls_connectome_write_grouped(const gls_connectome *connectome, const char *path, bool overwrite,
                                        gls_output_group *group, const char *const *names, const char *missing);

#endif
