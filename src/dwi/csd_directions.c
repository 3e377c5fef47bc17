/* Directions in which a deconvolution must not be negative: from a file, or built in. */
#include <glslines/msmt.h>

#include "util/status.h"
#include "util/text_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_DIRECTIONS 45 /* number of coefficients of an ODF of order 8 */
#define MIN_ANGLE 1e-3    /* directions that are closer than this angle, in radians, count as one direction */

gls_status gls_csd_directions_default(double (**direction)[3], size_t *n)
{
    GLS_REQUIRE(direction && n);
    gls_sphere *sphere = NULL;
    gls_status status = gls_sphere_create("repulsion600", &sphere);
    if (status) return status;
    double(*copy)[3] = malloc(sphere->n * sizeof *copy);
    if (copy) {
        memcpy(copy, sphere->vertex, sphere->n * sizeof *copy);
        *direction = copy;
        *n = sphere->n;
    } else {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", sphere->n);
    }
    gls_sphere_destroy(sphere);
    return status;
}

/* Converts a row of the file to a unit vector: azimuth and angle from the z axis in radians, as MRtrix3 writes them, or
 * x y z of any length above 0. number: row for messages, from 1. */
static gls_status take_row(const char *path, const double *row, size_t columns, size_t number, double out[3])
{
    if (columns == 2) {
        if (!(row[1] >= 0 && row[1] <= M_PI + 1e-6) || !isfinite(row[0]))
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: row %zu: %g %g is not an azimuth and an angle from the z axis (0 to pi), both in radians", path,
                number, row[0], row[1]);
        out[0] = cos(row[0]) * sin(row[1]);
        out[1] = sin(row[0]) * sin(row[1]);
        out[2] = cos(row[1]);
        return GLS_OK;
    }
    double norm = hypot(hypot(row[0], row[1]), row[2]);
    if (!(norm > 0) || !isfinite(norm))
        return gls_fail(GLS_ERR_INPUT,
                        "%s: row %zu: %g %g %g is no direction: give three finite numbers that are not all 0", path,
                        number, row[0], row[1], row[2]);
    for (int a = 0; a < 3; a++) out[a] = row[a] / norm;
    return GLS_OK;
}

/* Requires any two axes to differ by MIN_ANGLE or more. The norm of the cross product is the sine of the angle, which
 * is the same for a direction and its opposite. */
static gls_status check_distinct(const char *path, const double (*v)[3], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double x = v[i][1] * v[j][2] - v[i][2] * v[j][1], y = v[i][2] * v[j][0] - v[i][0] * v[j][2];
            double z = v[i][0] * v[j][1] - v[i][1] * v[j][0];
            if (x * x + y * y + z * z < MIN_ANGLE * MIN_ANGLE)
                return gls_fail(GLS_ERR_INPUT,
                                "%s: the directions %zu and %zu are the same or opposite: remove one of them", path,
                                j + 1, i + 1);
        }
    return GLS_OK;
}

gls_status gls_csd_directions_read(const char *path, double (**direction)[3], size_t *n)
{
    GLS_REQUIRE(path && direction && n);
    double *value = NULL, (*made)[3] = NULL;
    size_t rows = 0, columns = 0;
    gls_status status = gls_table_read(path, &value, &rows, &columns);
    if (status) return status;
    if (columns != 2 && columns != 3)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu columns, but directions have 2 (azimuth, elevation) or 3 (x y z)",
                          path, columns);
    else if (rows < MIN_DIRECTIONS || rows > GLS_SPHERE_MAX_DIRECTIONS)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu directions, but a constraint needs %d to %d", path, rows,
                          MIN_DIRECTIONS, GLS_SPHERE_MAX_DIRECTIONS);
    else if (!(made = malloc(rows * sizeof *made)))
        status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    for (size_t i = 0; i < rows && !status; i++) status = take_row(path, value + i * columns, columns, i + 1, made[i]);
    if (!status) status = check_distinct(path, (const double(*)[3])made, rows);
    free(value);
    if (status) {
        free(made);
        return status;
    }
    *direction = made;
    *n = rows;
    return GLS_OK;
}
