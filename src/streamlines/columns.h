/* Columns that come from a file, for filters whose messages have to name it. */
#ifndef GLS_STREAMLINES_COLUMNS_H
#define GLS_STREAMLINES_COLUMNS_H

#include <glslines/filters.h>

/* gls_filter_dps_create(); path: the file that messages name, borrowed. */
gls_status gls_filter_dps_create_from(const char *path, const gls_column *column, uint64_t rows, const gls_sink *next,
                                      gls_sink *filter);

#endif
