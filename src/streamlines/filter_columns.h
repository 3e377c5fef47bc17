/* Filters that change the columns of streamlines and leave the streamlines as they are. */
#ifndef GLS_STREAMLINES_FILTER_COLUMNS_H
#define GLS_STREAMLINES_FILTER_COLUMNS_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

/* Like gls_filter_dps_create(). path: the file from which the column was read, named in messages; borrowed. */
gls_status gls_filter_dps_create_from(const char *path, const gls_column *column, uint64_t rows, const gls_sink *next,
                                      gls_sink *filter);

#endif
