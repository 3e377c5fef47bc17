/* Distinguishes fields of positions from fields of displacements by their values: read as positions, displacements
 * would move all points to the origin of the world. */
#include "transform/field_meaning.h"

#include <math.h>
#include <string.h>

#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"

/* The growth of positions is that of an affine map between two heads; below MIN_GROWTH_OF_POSITIONS it is none, and
 * above MAX_GROWTH_OF_DISPLACEMENTS it is more than deformations have. Between the two it may be either. */
#define MAX_GROWTH_OF_DISPLACEMENTS 0.3
#define MIN_GROWTH_OF_POSITIONS 0.5

/* Longer ways, mm, are taken for damage: no image of a body lies so far from another one. */
#define FARTHEST 1e4

/* The number by which fields mark voxels that have no value, if they are converted as MRtrix3's manual says; float32
 * rounds it up by 1. */
#define MARK 2147483647.0

/* Sums over voxels for a linear fit of the three values to the voxel's place. */
typedef struct sums {
    double n, place[3], value[3];
    double places[3][3], products[3][3]; /* places: place by place; products: value by place */
} sums;

/* Adds a voxel. place: mm along the axes of the grid, from the centre of the grid. */
static void add(sums *s, const double place[3], const double value[3])
{
    s->n++;
    for (int i = 0; i < 3; i++) {
        s->place[i] += place[i];
        s->value[i] += value[i];
        for (int k = 0; k < 3; k++) {
            s->places[i][k] += place[i] * place[k];
            s->products[i][k] += value[i] * place[k];
        }
    }
}

/* Sums over all voxels that have values. */
static sums add_all(const gls_image *field)
{
    const int32_t *dim = field->grid.dim;
    const size_t n = gls_grid_voxels(&field->grid);
    sums s = {0};
    for (size_t voxel = 0; voxel < n; voxel++) {
        const size_t at[3] = {voxel % (size_t)dim[0], voxel / (size_t)dim[0] % (size_t)dim[1],
                              voxel / (size_t)dim[0] / (size_t)dim[1]};
        double place[3], value[3];
        bool counts = false;
        for (int i = 0; i < 3; i++) {
            place[i] = ((double)at[i] - 0.5 * (dim[i] - 1)) * field->grid.voxel_size[i];
            value[i] = field->data[(size_t)i * n + voxel];
            counts |= value[i] != 0;
        }
        if (counts && isfinite(value[0] + value[1] + value[2])) add(&s, place, value);
    }
    return s;
}

/* Determinant of the first k rows and columns. */
static double determinant(double m[3][3], int k)
{
    if (k == 1) return m[0][0];
    if (k == 2) return m[0][0] * m[1][1] - m[0][1] * m[1][0];
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* How fast the values grow with the place: the mean factor by which the fitted linear map enlarges lengths, the same
 * for every rotation. Axes along which the voxels do not spread are left out. Let C be the covariance of places, P that
 * of values and places: the map is M = P C^-1, and det(M^T M) = det(P^T P) / det(C)^2. */
static double growth(const sums *s)
{
    double covariance[3][3] = {{0}}, product[3][3] = {{0}}, square[3][3] = {{0}};
    int axis[3], k = 0;
    for (int i = 0; i < 3; i++)
        if (s->places[i][i] / s->n - pow(s->place[i] / s->n, 2) > 1e-6) axis[k++] = i;
    if (k == 0) return 0;
    for (int a = 0; a < k; a++) {
        for (int b = 0; b < k; b++)
            covariance[a][b] =
                s->places[axis[a]][axis[b]] / s->n - s->place[axis[a]] / s->n * (s->place[axis[b]] / s->n);
        for (int r = 0; r < 3; r++)
            product[r][a] = s->products[r][axis[a]] / s->n - s->value[r] / s->n * (s->place[axis[a]] / s->n);
    }
    for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++)
            for (int r = 0; r < 3; r++) square[a][b] += product[r][a] * product[r][b];
    const double below = determinant(covariance, k), above = determinant(square, k);
    return below > 0 && above > 0 ? pow(sqrt(above) / below, 1.0 / k) : 0;
}

gls_field_meaning gls_field_judge(const gls_image *field)
{
    const sums s = add_all(field);
    const double factor = s.n > 0 ? growth(&s) : 0;
    if (factor >= MIN_GROWTH_OF_POSITIONS) return GLS_FIELD_POSITIONS;
    return factor > MAX_GROWTH_OF_DISPLACEMENTS ? GLS_FIELD_UNCLEAR : GLS_FIELD_DISPLACEMENTS;
}

bool gls_field_is_fsl(const gls_image *field)
{
    const int32_t *dim = field->grid.dim;
    const size_t n = gls_grid_voxels(&field->grid);
    double frame[3][4], from_world = 0, from_fsl = 0;
    gls_transform_fsl_frame(&field->grid, frame);
    for (size_t v = 0; v < n; v++) {
        const double at[3] = {(double)(v % (size_t)dim[0]), (double)(v / (size_t)dim[0] % (size_t)dim[1]),
                              (double)(v / (size_t)dim[0] / (size_t)dim[1])};
        double world[3], fsl[3];
        bool counts = true;
        for (size_t r = 0; r < 3; r++) counts = counts && isfinite(field->data[r * n + v]);
        gls_affine_apply(field->grid.affine, at, world);
        gls_affine_apply((const double(*)[4])frame, at, fsl);
        for (size_t r = 0; r < 3 && counts; r++) {
            from_world += fabs((double)field->data[r * n + v] - world[r]);
            from_fsl += fabs((double)field->data[r * n + v] - fsl[r]);
        }
    }
    return from_fsl < from_world;
}

/* Says why a field is refused that moves voxel v by `length` mm. */
static gls_status refuse_length(const gls_image *field, size_t v, double length, const char *path)
{
    const size_t nx = (size_t)field->grid.dim[0], ny = (size_t)field->grid.dim[1];
    const double value = (double)field->data[v];
    if (value == MARK || value == MARK + 1)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: marks voxels that have no value by 2147483647, as voxel %zu,%zu,%zu: replace the marks by "
                        "MRtrix3's 'warpcorrect FILE OUT -marker 2147483647'",
                        path, v % nx, v / nx % ny, v / nx / ny);
    return gls_fail(GLS_ERR_INPUT,
                    "%s: has a vector of %.3g mm at voxel %zu,%zu,%zu: it is damaged, or not of the format that "
                    "it is taken for",
                    path, length, v % nx, v / nx % ny, v / nx / ny);
}

gls_status gls_field_check_lengths(const gls_image *field, const double place[3][4], bool has_gaps, const char *path)
{
    const size_t n = gls_grid_voxels(&field->grid), nx = (size_t)field->grid.dim[0], ny = (size_t)field->grid.dim[1];
    bool any = false;
    for (size_t v = 0; v < n; v++) {
        const double at[3] = {(double)(v % nx), (double)(v / nx % ny), (double)(v / nx / ny)};
        double from[3] = {0}, square = 0, size = 0;
        if (place) gls_affine_apply(place, at, from);
        for (size_t r = 0; r < 3; r++) {
            const double value = (double)field->data[r * n + v];
            square += (value - from[r]) * (value - from[r]);
            size += fabs(value);
        }
        if (isnan(square) && has_gaps) continue;
        if (isnan(square))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: has a number that is not finite at voxel %zu,%zu,%zu: it is damaged, since fields of "
                            "MRtrix3 alone leave voxels without a value: make it again",
                            path, v % nx, v / nx % ny, v / nx / ny);
        any = true;
        /* positions of 0 0 0 say that a voxel has none */
        if (sqrt(square) > FARTHEST && (!place || size > 0)) return refuse_length(field, v, sqrt(square), path);
    }
    return any ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: is empty: no voxel of the field has three numbers", path);
}

gls_status gls_field_require_positions(const gls_image *field, const char *path)
{
    if (gls_field_judge(field) != GLS_FIELD_DISPLACEMENTS) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: its values do not grow with the position of the voxel: they are displacements, not the new "
                    "positions that a deformation field has: make positions of them first, as by MRtrix3's "
                    "'warpconvert FILE displacement2deformation OUT'",
                    path);
}
