/* Labels of another space, by one look at the original for each voxel. Moving the grid instead of the labels loses
 * nothing, so that is done wherever the transform allows it. */
#include "transform/bring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"

#define MAX_PARTS 4 /* largest number of voxels into which a voxel of the field is cut along an axis */

/* Makes the grid of the moved labels. *moves: whether it is their own one, moved. */
static gls_status make_grid(const gls_transform *t, const gls_grid *own, const char *name, gls_grid *grid, bool *moves)
{
    double affine[3][4];
    int32_t dim[3];
    size_t fields = 0;
    for (size_t i = 0; i < t->n; i++) fields += t->step[i].field != NULL;
    *moves = fields == 0;
    if (*moves) {
        memcpy(affine, own->affine, sizeof affine);
        for (size_t i = t->n; i-- > 0;)
            gls_transform_compose((const double(*)[4])t->step[i].back, (const double(*)[4])affine, affine);
        return gls_grid_init(grid, own->dim, (const double(*)[4])affine);
    }
    const gls_transform_step *first = &t->step[0];
    if (!first->field || first->inverted)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: the transform has a field, but does not begin with one as it is, so that the grid of the "
                        "streamlines' space is not known: make one field of the chain by 'glslines transform compose "
                        "-t ... --template IMAGE -o FIELD', IMAGE of the streamlines' space, or give the field of the "
                        "other direction",
                        name);
    const gls_grid *of_field = &first->field->grid;
    const double edge = cbrt(fabs(gls_grid_determinant(own)));
    memcpy(affine, of_field->affine, sizeof affine);
    for (int a = 0; a < 3; a++) {
        const double parts = fmin(fmax(ceil(of_field->voxel_size[a] / edge - 0.01), 1), MAX_PARTS);
        dim[a] = (int32_t)(of_field->dim[a] * parts);
        for (int r = 0; r < 3; r++) {
            affine[r][3] += of_field->affine[r][a] * (1 / parts - 1) / 2;
            affine[r][a] /= parts;
        }
    }
    return gls_grid_init(grid, dim, (const double(*)[4])affine);
}

/* Looks up the label at each voxel of a grid. Returns the number of voxels that get one above 0. */
static uint64_t look_up(const gls_labels *from, const gls_transform *t, const gls_grid *grid, int32_t *to)
{
    const int32_t *dim = from->grid.dim;
    const size_t n = gls_grid_voxels(grid), nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    double to_voxel[3][4];
    uint64_t found = 0;
    gls_grid_inverse(&from->grid, to_voxel);
#pragma omp parallel for schedule(static) reduction(+ : found)
    for (size_t v = 0; v < n; v++) {
        double p[3] = {(double)(v % nx), (double)(v / nx % ny), (double)(v / nx / ny)};
        size_t at = 0;
        to[v] = 0;
        gls_affine_apply(grid->affine, p, p);
        if (!gls_transform_apply(t, p, p)) continue;
        gls_affine_apply((const double(*)[4])to_voxel, p, p);
        bool inside = true;
        for (int a = 2; a >= 0; a--) {
            const double k = floor(p[a] + 0.5);
            inside = inside && k >= 0 && k < dim[a];
            at = inside ? at * (size_t)dim[a] + (size_t)k : 0;
        }
        if (inside) to[v] = from->data[at];
        found += to[v] > 0;
    }
    return found;
}

gls_status gls_labels_bring(gls_labels **labels, const gls_transform *t, const char *name)
{
    gls_labels *from = *labels, *made = NULL;
    gls_grid grid;
    bool moves;
    gls_status status = make_grid(t, &from->grid, name, &grid, &moves);
    if (status) return status;
    if (moves) {
        from->grid = grid;
        return GLS_OK;
    }
    int32_t *data = malloc(gls_grid_voxels(&grid) * sizeof *data);
    if (!data) return gls_no_memory();
    if (look_up(from, t, &grid, data) == 0)
        status = gls_fail(
            GLS_ERR_INPUT,
            "%s: the transform takes no voxel to a label: is it one of these images, and not its inverse?", name);
    if (!status) status = gls_labels_wrap(&grid, data, &made);
    if (status) {
        free(data);
        return status;
    }
    made->is_wrapped = false;
    gls_labels_destroy(from);
    *labels = made;
    return GLS_OK;
}
