/* Directions in which a deconvolution must not be negative: from a file, given, or built in. */
#include <glslines/msmt.h>

#include "dwi/csd_directions.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_DIRECTIONS 45 /* number of coefficients of an ODF of order 8 */
#define MIN_ANGLE 1e-3    /* radians; a direction closer than this to another or its opposite is refused as equal */

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
                return gls_fail(
                    GLS_ERR_INPUT,
                    "%s: directions %zu and %zu (counted from 1) are less than 0.06 degrees from equal or opposite: "
                    "remove one of them",
                    path, j + 1, i + 1);
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
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has %zu columns, but directions have 2 (azimuth, angle from the z axis) or 3 (x y z)",
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

/* Rotates directions from the scanner axes to the voxel axes, in place. */
static void turn(const gls_grid *grid, double (*direction)[3], size_t n)
{
    double axes[3][4] = {{0}}, inverse[3][4];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) axes[r][c] = grid->affine[r][c] / grid->voxel_size[c];
    gls_affine_invert((const double(*)[4])axes, inverse);
    for (size_t i = 0; i < n; i++) {
        double *v = direction[i];
        gls_affine_apply((const double(*)[4])inverse, v, v);
        double norm = hypot(hypot(v[0], v[1]), v[2]);
        for (int a = 0; a < 3; a++) v[a] /= norm;
    }
}

gls_status gls_msmt_directions(const gls_grid *grid, const double (*given)[3], size_t n_given, double (**direction)[3],
                               size_t *n)
{
    if (!given) {
        gls_status status = gls_csd_directions_default(direction, n);
        if (status) return status;
    } else {
        for (size_t i = 0; i < n_given; i++) {
            const double *v = given[i], norm = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            if (!(fabs(norm - 1) < 1e-3))
                return gls_fail(GLS_ERR_ARGUMENT, "direction %zu of the constraint, %g %g %g, is no unit vector", i + 1,
                                v[0], v[1], v[2]);
        }
        double(*copy)[3] = malloc(n_given * sizeof *copy);
        if (!copy) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", n_given);
        memcpy(copy, given, n_given * sizeof *copy);
        *direction = copy;
        *n = n_given;
    }
    turn(grid, *direction, *n);
    return GLS_OK;
}
