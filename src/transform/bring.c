/* Images of another space, by one look at the original for each voxel. Moving the grid instead of the values loses
 * nothing, so that is done wherever the transform allows it. */
#include "transform/bring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/reorient.h"
#include "transform/affine.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/status.h"

#define MAX_PARTS 4 /* largest number of voxels into which a voxel of the field is cut along an axis */

/* Makes the grid of the image in the fixed space. *moves: whether it is its own one, moved. */
static gls_status make_grid(const gls_transform *t, const gls_grid *own, const char *name, gls_grid *grid, bool *moves)
{
    double affine[3][4];
    int32_t dim[3];
    size_t fields = 0;
    const gls_status status = gls_transform_check_image(t, true, own, name);
    if (status) return status;
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

/* Looks up the nearest voxel of an image, of `size` bytes a voxel, at each voxel of a grid. Returns the number of
 * voxels that get another value than 0. */
static uint64_t look_up(const void *from, size_t size, const gls_grid *own, const gls_transform *t,
                        const gls_grid *grid, void *to)
{
    const size_t n = gls_grid_voxels(grid), nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    const unsigned char *source = from, none[sizeof(int32_t)] = {0};
    unsigned char *target = to;
    double to_voxel[3][4];
    uint64_t found = 0;
    gls_grid_inverse(own, to_voxel);
#pragma omp parallel for schedule(static) reduction(+ : found)
    for (size_t v = 0; v < n; v++) {
        double p[3] = {(double)(v % nx), (double)(v / nx % ny), (double)(v / nx / ny)};
        size_t at = 0;
        bool inside = true;
        memset(target + v * size, 0, size);
        gls_affine_apply(grid->affine, p, p);
        if (!gls_transform_apply(t, p, p)) continue;
        gls_affine_apply((const double(*)[4])to_voxel, p, p);
        for (int a = 2; a >= 0; a--) {
            const double k = floor(p[a] + 0.5);
            inside = inside && k >= 0 && k < own->dim[a];
            at = inside ? at * (size_t)own->dim[a] + (size_t)k : 0;
        }
        if (inside) memcpy(target + v * size, source + at * size, size);
        found += memcmp(target + v * size, none, size) != 0;
    }
    return found;
}

/* How an image was brought, for the user. moves: whether its grid was moved. how: rule for the values of a new grid. */
static void report(const char *name, const gls_grid *grid, bool moves, const char *how)
{
    if (moves)
        gls_log(GLS_LOG_INFO, "%s: of another space: the transform moves its grid, and no value changes", name);
    else
        gls_log(GLS_LOG_INFO, "%s: of another space: the transform brings it to voxels of %.3g x %.3g x %.3g mm, %s",
                name, grid->voxel_size[0], grid->voxel_size[1], grid->voxel_size[2], how);
}

/* The error that nothing of an image comes over. */
static gls_status fail_away(const char *name)
{
    return gls_fail(GLS_ERR_INPUT,
                    "%s: the transform takes no voxel to a value of this image: is it one of these images, and not its "
                    "inverse?",
                    name);
}

/* Whether there is a transform. */
static bool is_other_space(const gls_transform *t)
{
    return t && t->n > 0;
}

static const char nearest[] = "each with the value of the nearest voxel", linear[] = "by trilinear interpolation";

gls_status gls_labels_bring(gls_labels **labels, const gls_transform *t, const char *name)
{
    gls_labels *from = *labels, *made = NULL;
    gls_grid grid;
    bool moves;
    if (!is_other_space(t)) return GLS_OK;
    gls_status status = make_grid(t, &from->grid, name, &grid, &moves);
    if (status) return status;
    report(name, &grid, moves, nearest);
    if (moves) {
        from->grid = grid;
        return GLS_OK;
    }
    int32_t *data = malloc(gls_grid_voxels(&grid) * sizeof *data);
    if (!data) return gls_no_memory();
    if (look_up(from->data, sizeof *data, &from->grid, t, &grid, data) == 0) status = fail_away(name);
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

gls_status gls_region_area_bring(gls_region_area *area, const gls_transform *t, const char *name)
{
    gls_grid grid;
    bool moves;
    /* numbers on the command line are of the space of the run */
    if (!is_other_space(t) || !area->inside || area->is_box) return GLS_OK;
    gls_status status = make_grid(t, &area->grid, name, &grid, &moves);
    if (status) return status;
    report(name, &grid, moves, nearest);
    if (!moves) {
        uint8_t *inside = malloc(gls_grid_voxels(&grid));
        if (!inside) return gls_no_memory();
        const uint64_t voxels = look_up(area->inside, 1, &area->grid, t, &grid, inside);
        if (voxels == 0) {
            free(inside);
            return fail_away(name);
        }
        free(area->inside);
        area->inside = inside;
        area->voxels = voxels;
    }
    area->grid = grid;
    return GLS_OK;
}

/* Replaces an image by one on `grid`. */
static gls_status resample(gls_image **image, const gls_transform *t, const gls_grid *grid, gls_resampling how,
                           float fill, const char *name)
{
    gls_image *made = NULL;
    uint64_t outside = 0;
    gls_status status = gls_image_resample(*image, t, grid, how, fill, &made, &outside);
    if (status) return status;
    if (outside == gls_grid_voxels(grid)) {
        gls_image_destroy(made);
        return fail_away(name);
    }
    gls_image_destroy(*image);
    *image = made;
    return GLS_OK;
}

gls_status gls_image_bring(gls_image **image, const gls_transform *t, gls_resampling how, float fill, const char *name)
{
    gls_grid grid;
    bool moves;
    if (!is_other_space(t)) return GLS_OK;
    gls_status status = make_grid(t, &(*image)->grid, name, &grid, &moves);
    if (status) return status;
    report(name, &grid, moves, how == GLS_RESAMPLE_LINEAR ? linear : nearest);
    if (!moves) return resample(image, t, &grid, how, fill, name);
    (*image)->grid = grid;
    return GLS_OK;
}

gls_status gls_mask_bring(const gls_grid *grid, const char *name_of_grid, const char *path, const gls_transform *t,
                          gls_image **mask)
{
    gls_image *read = NULL;
    if (!is_other_space(t)) return gls_image_read_mask(grid, name_of_grid, path, mask);
    gls_status status = gls_image_read(path, GLS_IMAGE_3D, &read);
    if (!status) report(path, grid, false, nearest);
    if (!status) status = resample(&read, t, grid, GLS_RESAMPLE_NEAREST, 0, path);
    if (status)
        gls_image_destroy(read);
    else
        *mask = read;
    return status;
}

uint64_t gls_transform_hash(const gls_transform *t)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < t->n; i++) {
        const gls_transform_step *s = &t->step[i];
        uint64_t part[4] = {hash, s->inverted, 0, 0};
        if (s->field) {
            part[2] = gls_hash(s->field->grid.affine, sizeof s->field->grid.affine);
            part[3] = gls_hash(s->field->data, 3 * gls_grid_voxels(&s->field->grid) * sizeof *s->field->data);
        } else {
            part[2] = gls_hash(s->map, sizeof s->map);
        }
        hash = gls_hash(part, sizeof part);
    }
    return hash;
}
