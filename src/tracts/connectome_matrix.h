/* Builds connectomes: threads find the regions of each streamline, then one thread adds them up in order, so the result
 * does not depend on the number of threads. */
#ifndef GLS_TRACTS_CONNECTOME_MATRIX_H
#define GLS_TRACTS_CONNECTOME_MATRIX_H

#include <glslines/common.h>
#include <glslines/connectome.h>
#include <glslines/streamlines.h>

#include "util/output_file.h"

/* Whether append() reads more than the ends of streamlines: for regions on the way, or for lengths. */
bool gls_connectome_needs_points(const gls_connectome *connectome);
/* Lets the means and medians of cells leave out streamlines whose value in the scale column is NaN, in place of an
 * error. A cell that has such streamlines alone is NaN. */
void gls_connectome_allow_missing(gls_connectome *connectome);
/* pair[i]: gets the regions of both ends of streamline i, for gls_connectome_add_pairs(). Not with GLS_ASSIGN_ALL. */
gls_status gls_connectome_find_pairs(gls_connectome *connectome, const gls_streamlines *streamlines,
                                     int32_t (*pair)[2]);
/* Adds n streamlines by the regions of their ends, each with a weight. Not with options that need lengths.
 * GLS_ERR_INPUT: a weight is not finite. */
gls_status gls_connectome_add_pairs(gls_connectome *connectome, const int32_t (*pair)[2], const float *weight,
                                    size_t n);
/* Like gls_connectome_write(), with the file in `group`. names: gls_connectome_size() names of rows and columns; NULL:
 * no header. missing: text for cells without a value. */
gls_status gls_connectome_write_grouped(const gls_connectome *connectome, const char *path, bool overwrite,
                                        gls_output_group *group, const char *const *names, const char *missing);

#endif
