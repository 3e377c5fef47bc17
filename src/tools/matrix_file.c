/* Reads a matrix that moves streamlines. */
#include "tools/matrix_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/log.h>

#include "image/grid.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text_tables.h"

gls_status gls_matrix_file_read(const char *path, bool invert, double map[3][4])
{
    double *values = NULL, forward[3][4];
    size_t rows, columns;
    gls_status status = gls_table_read(path, &values, &rows, &columns);
    if (status) return status;
    bool fits = (rows == 4 || rows == 3) && columns == 4;
    fits = fits && (rows == 3 || gls_affine_has_last_row(values + 12));
    if (fits) memcpy(forward, values, sizeof forward);
    free(values);
    if (!fits || !gls_affine_is_usable((const double(*)[4])forward))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: must be an invertible 4 x 4 matrix with last row 0 0 0 1, or its first 3 rows, without "
                        "numbers beyond 1e+15",
                        path);
    const double det = gls_affine_det((const double(*)[4])forward);
    if (det < 0) gls_log(GLS_LOG_WARNING, "%s: the matrix mirrors streamlines: its determinant is %g", path, det);
    if (invert)
        gls_affine_invert((const double(*)[4])forward, map);
    else
        memcpy(map, forward, sizeof forward);
    return GLS_OK;
}
