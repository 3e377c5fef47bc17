/* Slices in the pictures of a report: where they lie, and which point of the world each pixel shows. All pictures of a
 * report have the same four, so that what one shows is found in another. */
#include "render/report_slices.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "render/annotate.h"
#include "render/canvas.h"
#include "render/report_draw.h"
#include "render/scene.h"
#include "util/maths.h"

#define SIDE GLS_SLICE_SIDE
#define SQUARE 16.0  /* mm, of the checkerboard */
#define BORDER_MM 24 /* around the box, on both sides together */

/* The slices: seen from where, and at which share of the extent of the box. */
static const struct {
    const char *name, *stand;
    int axis;
    double share;
} slices[GLS_N_SLICES] = {{"axial", "superior", 2, 0.45},
                          {"axial", "superior", 2, 0.65},
                          {"coronal", "posterior", 1, 0.5},
                          {"sagittal", "left", 0, 0.35}};

void gls_slice_box(const gls_image *inside, gls_box *box)
{
    const gls_grid *g = &inside->grid;
    bool any = false;
    for (int a = 0; a < 3; a++) box->low[a] = box->high[a] = g->affine[a][3];
    for (size_t v = 0; v < gls_grid_voxels(g); v++) {
        const size_t x = (size_t)g->dim[0], y = (size_t)g->dim[1];
        const double at[3] = {(double)(v % x), (double)(v / x % y), (double)(v / (x * y))};
        double p[3];
        if (!(inside->data[v] > 0)) continue;
        gls_affine_apply(g->affine, at, p);
        for (int a = 0; a < 3; a++) {
            box->low[a] = any ? fmin(box->low[a], p[a]) : p[a];
            box->high[a] = any ? fmax(box->high[a], p[a]) : p[a];
        }
        any = true;
    }
}

static void place(const gls_box *box, size_t k, gls_tile *tile)
{
    const int axis = slices[k].axis;
    double size = 0;
    *tile = (gls_tile){.slab_axis = -1};
    snprintf(tile->name, sizeof tile->name, "%s", slices[k].name);
    gls_camera_stand(&tile->camera, slices[k].stand);
    for (int a = 0; a < 3; a++) {
        tile->camera.centre[a] = (box->low[a] + box->high[a]) / 2;
        size = fmax(size, box->high[a] - box->low[a]);
    }
    tile->camera.centre[axis] = box->low[axis] + slices[k].share * (box->high[axis] - box->low[axis]);
    tile->camera.scale = SIDE / (size + BORDER_MM);
}

void gls_slice_point(const gls_tile *tile, int i, double plane[2], double world[3])
{
    const gls_camera *c = &tile->camera;
    plane[0] = (i % SIDE - SIDE / 2 + 0.5) / c->scale;
    plane[1] = (SIDE / 2 - i / SIDE - 0.5) / c->scale;
    for (int a = 0; a < 3; a++) world[a] = c->centre[a] + plane[0] * c->right[a] + plane[1] * c->up[a];
}

size_t gls_slice_voxel(const gls_grid *grid, const double to_voxel[3][4], const double world[3])
{
    double at[3];
    size_t v = 0, step = 1;
    gls_affine_apply(to_voxel, world, at);
    for (int a = 0; a < 3; a++) {
        const double i = floor(at[a] + 0.5);
        if (!(i >= 0 && i < grid->dim[a])) return SIZE_MAX;
        v += step * (size_t)i;
        step *= (size_t)grid->dim[a];
    }
    return v;
}

bool gls_slice_is_odd(const double plane[2])
{
    return ((int)floor(plane[0] / SQUARE) + (int)floor(plane[1] / SQUARE)) & 1;
}

float gls_slice_grey(float value, const gls_window *window)
{
    const double x = ((double)value - window->low) / (window->high - window->low);
    return (float)(x > 0 ? fmin(x, 1) : 0);
}

bool gls_slice_is_border(const int32_t *set, int i)
{
    return (i % SIDE + 1 < SIDE && set[i] != set[i + 1]) || (i / SIDE + 1 < SIDE && set[i] != set[i + SIDE]);
}

gls_status gls_slices_draw(const gls_box *box, int n_rows, gls_slice_painter *paint, void *user,
                           gls_report_picture *picture)
{
    const gls_render_plan plan = {.width = SIDE, .height = SIDE, .ink = 0xfff0f0f0u};
    gls_canvas canvas = {.rgba = NULL};
    gls_status status = gls_canvas_create(&canvas, GLS_N_SLICES * SIDE, (uint32_t)(n_rows * SIDE), 0xff000000u);
    for (int k = 0; k < n_rows * GLS_N_SLICES && !status; k++) {
        const int left = k % GLS_N_SLICES * SIDE, top = k / GLS_N_SLICES * SIDE;
        gls_tile tile;
        place(box, (size_t)k % GLS_N_SLICES, &tile);
        paint(user, &tile, &canvas, left, top);
        status = gls_tile_label(&canvas, &tile, (uint32_t)left, (uint32_t)top, &plan);
    }
    if (!status) status = gls_report_encode(&canvas, picture);
    if (canvas.rgba) gls_canvas_finish(&canvas);
    return status;
}
