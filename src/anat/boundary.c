/* Boundary-based registration (Greve and Fischl 2009). Mutual information weighs the whole head; the border of white
 * matter that the T1 image shows says more exactly where the series lies: at each of its points the series without
 * diffusion weighting is compared on both sides. */
#include "anat/boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "registration/trilinear.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"

#define SPACING 2.0  /* mm between the lines along which points are found */
#define DISTANCE 2.0 /* mm from the border to the places that are compared */
/* Slope of the cost by a difference in percent. The 0.5 of the paper is for images of little contrast: with the 30 % of
 * an image without diffusion weighting such a cost is flat near its minimum (test/bench/experiments.md). */
#define SLOPE 0.1
#define MIN_SHARE 0.5                    /* share of the points that have to lie in the series */
static const double step[2] = {1, 0.02}; /* of the climb, mm and degrees */

/* A point on the border and the direction to the white side, in the world of the T1. */
typedef struct point {
    double at[3], white[3];
} point;

/* The border, and the image that is to have it. */
typedef struct border {
    point *point;
    size_t n;
    const gls_image *b0;
    double to_voxel[3][4];
    const gls_go_on *go_on;
    gls_status status; /* GLS_ERR_CANCELLED: all scores are 0 from there on */
} border;

/* --- Finding points. */

/* Gradient of the share of white matter at a voxel, along the axes of the grid, per voxel. */
static void gradient_at(const float *white, const int32_t dim[3], const int32_t at[3], double gradient[3])
{
    const size_t stride[3] = {1, (size_t)dim[0], (size_t)dim[0] * (size_t)dim[1]};
    const size_t v = (size_t)at[0] + (size_t)at[1] * stride[1] + (size_t)at[2] * stride[2];
    for (int a = 0; a < 3; a++) {
        const size_t up = at[a] + 1 < dim[a] ? stride[a] : 0, down = at[a] > 0 ? stride[a] : 0;
        gradient[a] = (double)white[v + up] - (double)white[v - down];
    }
}

/* Makes the point between a voxel and the next one along an axis, where half of the share is passed. Returns false if
 * its grey side lies outside of the brain. grid: of white and mask. */
static bool make_point(const float *white, const gls_image *mask, const int32_t at[3], int axis, double share,
                       const double map[3][4], point *p)
{
    const gls_grid *grid = &mask->grid;
    const int32_t next[3] = {at[0] + (axis == 0), at[1] + (axis == 1), at[2] + (axis == 2)};
    double low[3], high[3], length = 0, place[3], to_white[3];
    float grey[3];
    gradient_at(white, grid->dim, at, low);
    gradient_at(white, grid->dim, next, high);
    for (int a = 0; a < 3; a++) {
        /* a step of one voxel along an axis is longer where voxels are */
        to_white[a] = ((1 - share) * low[a] + share * high[a]) / grid->voxel_size[a];
        length += to_white[a] * to_white[a];
    }
    if (length <= 0) return false;
    for (int a = 0; a < 3; a++) {
        to_white[a] /= sqrt(length) * grid->voxel_size[a]; /* voxels to 1 mm */
        place[a] = at[a] + (a == axis ? share : 0);
        grey[a] = (float)(place[a] - DISTANCE * to_white[a]);
    }
    if (!gls_corners_inside(grid->dim, grey)) return false;
    const gls_corners corners = gls_corners_at(grid->dim, grey);
    if (gls_corners_value(&corners, mask->data) < 0.5f) return false;
    double world[3], ahead[3];
    for (int a = 0; a < 3; a++) ahead[a] = place[a] + to_white[a];
    gls_affine_apply(grid->affine, place, world);
    gls_affine_apply(map, world, p->at);
    gls_affine_apply(grid->affine, ahead, world);
    gls_affine_apply(map, world, p->white);
    for (int r = 0; r < 3; r++) p->white[r] -= p->at[r];
    return true;
}

/* Lists the points; *middle: their mean, in the world of the T1. */
static gls_status find_points(const float *white, const gls_image *mask, const double map[3][4], border *b,
                              double middle[3])
{
    const int32_t *dim = mask->grid.dim;
    const size_t stride[3] = {1, (size_t)dim[0], (size_t)dim[0] * (size_t)dim[1]};
    size_t capacity = 0;
    for (int axis = 0; axis < 3; axis++) {
        int32_t every[3], at[3];
        for (int a = 0; a < 3; a++)
            every[a] = a == axis ? 1 : (int32_t)fmax(1, rint(SPACING / mask->grid.voxel_size[a]));
        for (at[2] = 0; at[2] < dim[2] - (axis == 2); at[2] += every[2])
            for (at[1] = 0; at[1] < dim[1] - (axis == 1); at[1] += every[1])
                for (at[0] = 0; at[0] < dim[0] - (axis == 0); at[0] += every[0]) {
                    const size_t v = (size_t)at[0] + (size_t)at[1] * stride[1] + (size_t)at[2] * stride[2];
                    const double low = (double)white[v], high = (double)white[v + stride[axis]];
                    if ((low < 0.5) == (high < 0.5)) continue;
                    if (b->n == capacity) {
                        capacity = 2 * capacity + 1024;
                        point *more = realloc(b->point, capacity * sizeof *more);
                        if (!more) return gls_no_memory();
                        b->point = more;
                    }
                    b->n += make_point(white, mask, at, axis, (0.5 - low) / (high - low), map, &b->point[b->n]);
                }
    }
    for (int r = 0; r < 3; r++) {
        middle[r] = 0;
        for (size_t k = 0; k < b->n; k++) middle[r] += b->point[k].at[r] / (double)b->n;
    }
    return GLS_OK;
}

/* --- The cost. */

/* Value of the series at a place in its world. Returns false outside. */
static bool look(const border *b, const double world[3], double *value)
{
    double v[3];
    gls_affine_apply((const double(*)[4])b->to_voxel, world, v);
    const float p[3] = {(float)v[0], (float)v[1], (float)v[2]};
    if (!gls_corners_inside(b->b0->grid.dim, p)) return false;
    const gls_corners corners = gls_corners_at(b->b0->grid.dim, p);
    *value = (double)gls_corners_value(&corners, b->b0->data);
    return true;
}

/* Mean cost under a map; 2, the largest, if too few points lie in the series. */
static double cost_of(const border *b, const double map[3][4])
{
    double back[3][4], sum = 0;
    size_t n = 0;
    gls_affine_invert(map, back);
    for (size_t k = 0; k < b->n; k++) {
        double at[3], grey[3], white[3], g, w;
        gls_affine_apply((const double(*)[4])back, b->point[k].at, at);
        for (int r = 0; r < 3; r++) {
            const double *d = b->point[k].white, ahead = back[r][0] * d[0] + back[r][1] * d[1] + back[r][2] * d[2];
            grey[r] = at[r] - DISTANCE * ahead;
            white[r] = at[r] + DISTANCE * ahead;
        }
        if (!look(b, grey, &g) || !look(b, white, &w) || !(g + w > 0)) continue;
        sum += 1 + tanh(-SLOPE * 100 * (g - w) / ((g + w) / 2));
        n++;
    }
    return (double)n >= MIN_SHARE * (double)b->n && n > 0 ? sum / (double)n : 2;
}

static void score_maps(void *user, const double (*map)[3][4], size_t n, double *score)
{
    border *b = user;
    if (!b->status) b->status = gls_goes_on(b->go_on);
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t k = 0; k < n; k++) score[k] = b->status ? 0 : 2 - cost_of(b, map[k]);
}

/* Returns the end that follows from the costs and the change. */
static gls_boundary_end judge(const gls_boundary *found)
{
    if (found->after >= GLS_BOUNDARY_MAX_COST) return GLS_BOUNDARY_UNSEEN;
    if (found->before < GLS_BOUNDARY_MIN_COST || found->after > GLS_BOUNDARY_FALL * found->before)
        return GLS_BOUNDARY_NO_BETTER;
    return found->shift < GLS_BOUNDARY_MAX_SHIFT && found->turn < GLS_BOUNDARY_MAX_TURN ? GLS_BOUNDARY_TAKEN
                                                                                        : GLS_BOUNDARY_FAR;
}

gls_status gls_boundary_refine(const float *white, const gls_image *mask, const gls_image *b0, double map[3][4],
                               const gls_go_on *go_on, gls_boundary *found)
{
    border b = {.b0 = b0, .go_on = go_on};
    double middle[3], back[3][4], centre[3];
    gls_status status = find_points(white, mask, (const double(*)[4])map, &b, middle);
    *found = (gls_boundary){.points = b.n, .end = GLS_BOUNDARY_FEW};
    if (!status && b.n >= GLS_BOUNDARY_MIN_POINTS) {
        gls_rigid_climbed climbed;
        memcpy(climbed.map, map, sizeof climbed.map);
        gls_grid_inverse(&b0->grid, b.to_voxel);
        gls_affine_invert((const double(*)[4])map, back);
        gls_affine_apply((const double(*)[4])back, middle, centre);
        gls_rigid_climb(score_maps, &b, centre, step, &climbed);
        found->before = 2 - climbed.before;
        found->after = 2 - climbed.after;
        found->shift = climbed.shift;
        found->turn = climbed.turn;
        found->end = judge(found);
        status = b.status;
        if (!status && found->end == GLS_BOUNDARY_TAKEN) memcpy(map, climbed.map, sizeof climbed.map);
    }
    free(b.point);
    return status;
}
