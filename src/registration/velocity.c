/* Nonlinear registration by one stationary velocity field, symmetric in both images: the fixed image goes half of the
 * way back along the flow, the moving image half of the way forth, and forces of local correlation (Avants et al. 2008)
 * change the velocity, as log-domain demons do (Vercauteren et al. 2008). */
#include "registration/velocity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "registration/trilinear.h"
#include "registration/velocity_device.h"
#include "registration/velocity_host.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"

#define WINDOW 10      /* number of last costs; the slope of a line through them decides whether to stop */
#define MIN_SLOPE 1e-4 /* a line with a smaller slope per iteration counts as no progress */

void gls_velocity_finish(gls_velocity *velocity)
{
    free(velocity->v);
    *velocity = (gls_velocity){.v = NULL};
}

static void finish_pairs(gls_velocity_pair *pair, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        gls_level_finish(&pair[k].fixed);
        gls_level_finish(&pair[k].moving);
    }
}

/* Divides the values of a level by a number. */
static void divide(gls_level *level, double by)
{
    const size_t n = gls_grid_voxels(&level->grid);
    const float one = by > 0 ? (float)(1 / by) : 1;
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) level->value[v] *= one;
}

/* Values by which both images of a channel are divided: they are about 0 to 1 then. */
typedef struct scales {
    double fixed, moving;
} scales;

static scales scales_of(const gls_velocity_channel *channel, bool ssd)
{
    static const double q = 0.99;
    scales s;
    gls_level_quantiles(channel->fixed, 0, &q, 1, &s.fixed);
    gls_level_quantiles(channel->moving, 0, &q, 1, &s.moving);
    if (ssd) s.moving = s.fixed;
    return s;
}

/* Makes the pairs of one level. */
static gls_status make_pairs(const gls_velocity_channel *channel, size_t n, const scales *by, const double map[3][4],
                             double voxel, gls_velocity_pair *pair)
{
    gls_status status = GLS_OK;
    memset(pair, 0, n * sizeof *pair);
    for (size_t k = 0; k < n && !status; k++) {
        double to[3][4];
        status = gls_level_shrink(channel[k].fixed, voxel, &pair[k].fixed);
        if (!status) status = gls_level_shrink(channel[k].moving, voxel, &pair[k].moving);
        if (status) break;
        divide(&pair[k].fixed, by[k].fixed);
        divide(&pair[k].moving, by[k].moving);
        gls_grid_inverse(&pair[k].moving.grid, to);
        gls_transform_compose((const double(*)[4])to, map, to);
        gls_transform_compose((const double(*)[4])to, pair[k].fixed.grid.affine, to);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++) pair[k].to_moving[r][c] = (float)to[r][c];
        pair[k].weight = (float)channel[k].weight;
    }
    if (status) finish_pairs(pair, n);
    return status;
}

/* Brings a velocity to the grid of the next level. *v: planes of the level before, NULL: none; becomes those of the
 * next one. from, to: voxels of each level to those of the image itself. */
static gls_status grow(float **v, const gls_grid *old, const double from[3][4], const gls_grid *next,
                       const double to[3][4])
{
    const size_t n = gls_grid_voxels(next), n_old = *v ? gls_grid_voxels(old) : 0;
    const int32_t *dim = next->dim;
    float *made = calloc(3 * n, sizeof *made);
    if (!made) return gls_no_memory();
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < (*v ? dim[2] : 0); z++)
        for (int32_t y = 0; y < dim[1]; y++)
            for (int32_t x = 0; x < dim[0]; x++) {
                const int32_t at[3] = {x, y, z};
                const size_t i = ((size_t)z * (size_t)dim[1] + (size_t)y) * (size_t)dim[0] + (size_t)x;
                float p[3];
                for (int a = 0; a < 3; a++) p[a] = (float)((to[a][a] * at[a] + to[a][3] - from[a][3]) / from[a][a]);
                const gls_corners c = gls_corners_at(old->dim, p);
                for (size_t a = 0; a < 3; a++)
                    made[a * n + i] = gls_corners_value(&c, *v + a * n_old) * (float)(from[a][a] / to[a][a]);
            }
    free(*v);
    *v = made;
    return GLS_OK;
}

/* Returns the slope of the line through the last WINDOW costs. */
static double slope(const double *cost)
{
    double sum = 0, squares = 0;
    for (int k = 0; k < WINDOW; k++) {
        const double t = k - (WINDOW - 1) / 2.0;
        sum += t * cost[k];
        squares += t * t;
    }
    return sum / squares;
}

/* Iterates on one level. */
static gls_status iterate(gls_velocity_solver *solver, int most, bool ssd, const gls_go_on *go_on,
                          gls_velocity_level *level)
{
    double last[WINDOW], cost;
    gls_status status = GLS_OK;
    for (int k = 0; k < most && !status; k++) {
        status = solver->measure(solver, &cost);
        if (status) break;
        if (k == 0) level->first = cost;
        level->last = cost;
        level->iterations = k + 1;
        if (k >= WINDOW) memmove(last, last + 1, (WINDOW - 1) * sizeof *last);
        last[k < WINDOW ? k : WINDOW - 1] = ssd ? -cost : cost;
        if (k + 1 >= WINDOW && slope(last) < MIN_SLOPE * (ssd ? fabs(level->first) : 1)) break;
        status = solver->update(solver);
        if (!status) status = gls_goes_on(go_on);
    }
    return status;
}

gls_status gls_velocity_register(const gls_velocity_channel *channel, size_t n_channels, const double map[3][4],
                                 const gls_velocity_options *o, gls_device *device, const gls_go_on *go_on,
                                 gls_velocity *result)
{
    gls_velocity_pair pair[GLS_VELOCITY_CHANNELS];
    gls_velocity_solver *solver = NULL;
    scales by[GLS_VELOCITY_CHANNELS];
    double before[3][4] = {{0}};
    GLS_REQUIRE(n_channels >= 1 && n_channels <= GLS_VELOCITY_CHANNELS && o->n_levels <= GLS_VELOCITY_LEVELS);
    *result = (gls_velocity){.v = NULL};
    gls_status status = device ? gls_velocity_device_create(o, device, &solver) : gls_velocity_host_create(o, &solver);
    for (size_t k = 0; k < n_channels && !status; k++) by[k] = scales_of(&channel[k], o->ssd);
    for (size_t k = 0; k < o->n_levels && !status; k++) {
        gls_velocity_level *level = &result->level[result->n_levels++];
        level->voxel = o->voxel[k];
        status = make_pairs(channel, n_channels, by, map, o->voxel[k], pair);
        if (status) break;
        const gls_level *fixed = &pair[0].fixed;
        status = grow(&result->v, &result->grid, (const double(*)[4])before, &fixed->grid, fixed->to_full);
        result->grid = fixed->grid;
        memcpy(before, fixed->to_full, sizeof before);
        if (!status) status = solver->begin(solver, pair, n_channels, result->v);
        if (!status) status = iterate(solver, o->iterations[k], o->ssd, go_on, level);
        const gls_status ended = solver->end(solver, status ? NULL : result->v);
        if (!status) status = ended;
        finish_pairs(pair, n_channels);
        if (!status)
            gls_log(GLS_LOG_INFO, "nonlinear, %g mm: %s %.4f to %.4f in %d iterations", level->voxel,
                    o->ssd ? "squared difference" : "squared correlation", level->first, level->last,
                    level->iterations);
    }
    if (solver) solver->destroy(solver);
    if (status) gls_velocity_finish(result);
    return status;
}
