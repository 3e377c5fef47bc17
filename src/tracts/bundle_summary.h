/* The table of bundles that `glslines segment` and `track --segment` write. */
#ifndef GLS_TRACTS_BUNDLE_SUMMARY_H
#define GLS_TRACTS_BUNDLE_SUMMARY_H

#include <glslines/bundles.h>

#include "util/output_file.h"

/* Writes a table of bundles, one row for each. volume: mm3 of each bundle; NaN: not known. */
gls_status gls_bundle_table_write(const gls_bundles *bundles, const double *volume, const char *path, bool overwrite,
                                  gls_output_group *group);

#endif
