/* Seeds in a sphere, in proportion to an image, and on the border of grey and white matter. Each seed depends only on
 * its index and the random seed. */
#include "image/grid.h"
#include "image/tissue_interface.h"
#include "track/seed_parts.h"
#include "track/seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/tissue_image.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"

/* Largest number of attempts to find a seed on the border. */
#define MAX_TRIES 1000u

/* Allocates the struct of `count` seeds, in which draw() is not set yet; NULL if memory ran out. grid: the grid of
 * tracking. */
static gls_seeds *make(const gls_grid *grid, uint64_t count, uint64_t rng_seed)
{
    gls_seeds *s = calloc(1, sizeof *s);
    if (s) *s = (gls_seeds){.count = count, .rng_seed = rng_seed, .grid = *grid};
    return s;
}

/* Four random words of seed i. Each attempt and each purpose (GLS_PHILOX_...) has words of its own. */
static void random_words(const gls_seeds *s, uint64_t i, uint32_t attempt, uint32_t purpose, uint32_t word[4])
{
    gls_philox((const uint32_t[4]){(uint32_t)i, (uint32_t)(i >> 32), attempt, purpose}, s->rng_seed, word);
}

/* Rounds a position to single precision. */
static void to_floats(const double p[3], float out[3])
{
    for (int a = 0; a < 3; a++) out[a] = (float)p[a];
}

/* --- Sphere. */

/* Seed i, uniform in the ball. */
static void draw_in_sphere(const gls_seeds *s, uint64_t i, float point[3])
{
    uint32_t word[4];
    double inverse[3][4], p[3], offset[3];
    random_words(s, i, 0, GLS_PHILOX_SEED_SPHERE, word);
    gls_seeds_in_ball(s->sphere[3], word, offset);
    for (int a = 0; a < 3; a++) p[a] = s->sphere[a] + offset[a];
    gls_grid_inverse(&s->grid, inverse);
    gls_affine_apply((const double(*)[4])inverse, p, p);
    to_floats(p, point);
}

gls_status gls_seeds_create_sphere(const double centre[3], double radius, const gls_grid *grid, uint64_t count,
                                   uint64_t rng_seed, gls_seeds **out)
{
    GLS_REQUIRE(centre && grid && out);
    GLS_REQUIRE(count > 0 && radius > 0 && gls_is_single(radius));
    GLS_REQUIRE(gls_is_single(centre[0]) && gls_is_single(centre[1]) && gls_is_single(centre[2]));
    gls_seeds *s = make(grid, count, rng_seed);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "out of memory for the seeds");
    memcpy(s->sphere, centre, 3 * sizeof *centre);
    s->sphere[3] = radius;
    s->draw = draw_in_sphere;
    *out = s;
    return GLS_OK;
}

/* --- In proportion to an image. */

/* Draws a voxel with a probability in proportion to its weight. */
static size_t draw_voxel(const gls_seeds *s, const uint32_t word[2])
{
    /* u: uniform in 0 .. sum, from 53 random bits. Binary search for the first cumulative sum above u. */
    double u = ldexp((double)((uint64_t)word[0] << 21 ^ word[1] >> 11), -53) * s->sum[s->n_voxels - 1];
    size_t low = 0, high = s->n_voxels - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->sum[middle] > u)
            high = middle;
        else
            low = middle + 1;
    }
    return s->voxel[low];
}

/* Draws a position in the image of weights, in voxel coordinates of that image. */
static void draw_position(const gls_seeds *s, uint64_t i, uint32_t attempt, double position[3])
{
    uint32_t word[4];
    int32_t centre[3];
    random_words(s, i, attempt, GLS_PHILOX_SEED_WEIGHT, word);
    gls_grid_centre(&s->image, draw_voxel(s, word), centre);
    random_words(s, i, attempt, GLS_PHILOX_SEED, word);
    for (int a = 0; a < 3; a++)
        position[a] = gls_seed_inside_voxel(centre[a] + (gls_uniform(word[a]) - 0.5), centre[a]);
}

/* Maps a position in mm to voxel coordinates of the grid of tracking. */
static void to_streamlines(const gls_seeds *s, const double world[3], float point[3])
{
    double inverse[3][4], p[3];
    gls_grid_inverse(&s->grid, inverse);
    gls_affine_apply((const double(*)[4])inverse, world, p);
    to_floats(p, point);
}

/* Seed i, in a voxel drawn in proportion to the image, at a uniform position inside it. */
static void draw_weighted(const gls_seeds *s, uint64_t i, float point[3])
{
    double position[3], world[3];
    draw_position(s, i, 0, position);
    if (memcmp(s->image.affine, s->grid.affine, sizeof s->grid.affine) == 0) {
        to_floats(position, point);
        return;
    }
    gls_affine_apply(s->image.affine, position, world);
    to_streamlines(s, world, point);
}

/* Lists the voxels with a weight above 0 and their cumulative sums. */
static gls_status add_weights(gls_seeds *s, const gls_image *weights, const char *name)
{
    size_t n = gls_grid_voxels(&weights->grid);
    double sum = 0;
    if (n > UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has more than 2^32 - 1 voxels, too many to draw seeds from", name);
    for (size_t v = 0; v < n; v++) {
        double w = weights->data[v];
        if (!(w >= 0) || !isfinite(w))
            return gls_fail(GLS_ERR_INPUT,
                            "%s: a voxel has the seed weight %g, but weights must be finite and 0 or more", name, w);
        s->n_voxels += w > 0;
    }
    if (s->n_voxels == 0)
        return gls_fail(GLS_ERR_INPUT, "%s: has no voxel above 0 in which a seed could be drawn", name);
    s->image = weights->grid;
    s->voxel = malloc(s->n_voxels * sizeof *s->voxel);
    s->sum = malloc(s->n_voxels * sizeof *s->sum);
    if (!s->voxel || !s->sum) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for the seeds", name);
    for (size_t v = 0, i = 0; v < n; v++) {
        if (!(weights->data[v] > 0)) continue;
        sum += weights->data[v];
        s->voxel[i] = (uint32_t)v;
        s->sum[i++] = sum;
    }
    return GLS_OK;
}

/* Creates seeds in proportion to an image of weights, which is not needed afterwards. GLS_ERR_INPUT: a weight is
 * negative or not finite, or all are 0. */
static gls_status create_weighted(const gls_image *weights, const char *name, const gls_grid *grid, uint64_t count,
                                  uint64_t rng_seed, gls_seeds **out)
{
    gls_seeds *s = make(grid, count, rng_seed);
    gls_status status = s ? add_weights(s, weights, name) : gls_fail(GLS_ERR_MEMORY, "out of memory for the seeds");
    if (status) {
        gls_seeds_destroy(s);
        return status;
    }
    s->draw = draw_weighted;
    *out = s;
    return GLS_OK;
}

gls_status gls_seeds_create_weighted(const gls_image *weights, const char *name, const gls_grid *grid, uint64_t count,
                                     uint64_t rng_seed, gls_seeds **seeds)
{
    GLS_REQUIRE(weights && weights->n_volumes == 1 && name && grid && seeds);
    GLS_REQUIRE(count > 0);
    return create_weighted(weights, name, grid, count, rng_seed, seeds);
}

/* --- Border of grey and white matter. */

/* Two unit vectors that span the plane of the border at a point. Returns false if the border has no normal there. */
static bool plane_at(const gls_tissue *t, const double world[3], double u[3], double v[3])
{
    double inverse[3][4], box[3], value[GLS_TISSUE_TYPES], gradient[3], n[3], square = 0;
    /* Gradient of the tissue at the point, along the voxel axes, then along the world axes. n: the unit normal. */
    gls_grid_inverse(&t->image, inverse);
    gls_affine_apply((const double(*)[4])inverse, world, box);
    for (int a = 0; a < 3; a++) box[a] -= t->origin[a];
    if (!gls_tissue_blend(t, box, value, gradient)) return false;
    for (int a = 0; a < 3; a++) {
        n[a] = 0;
        for (int k = 0; k < 3; k++) n[a] -= inverse[k][a] * gradient[k];
        square += n[a] * n[a];
    }
    if (square == 0) return false;
    for (int a = 0; a < 3; a++) n[a] /= sqrt(square);
    /* u: the world axis at the largest angle to the normal, projected onto the plane; v: the cross product of n and
     * u. */
    int least = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2) : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    double length = sqrt(1 - n[least] * n[least]);
    for (int a = 0; a < 3; a++) u[a] = ((a == least) - n[least] * n[a]) / length;
    for (int a = 0; a < 3; a++) v[a] = n[(a + 1) % 3] * u[(a + 2) % 3] - n[(a + 2) % 3] * u[(a + 1) % 3];
    return true;
}

/* Moves a point along the border by a random distance, so that seeds do not cluster. Returns false if the
 * border has no normal at the point, or if there is no border near the new position. */
static bool spread(const gls_seeds *s, uint64_t i, uint32_t attempt, double world[3])
{
    const gls_tissue *t = s->tissue;
    const double *side = t->image.voxel_size, size = cbrt(side[0] * side[1] * side[2]);
    uint32_t word[4];
    double u[3], v[3];
    if (!plane_at(t, world, u, v)) return false;
    random_words(s, i, attempt, GLS_PHILOX_SEED_INTERFACE, word);
    for (int a = 0; a < 3; a++)
        world[a] += size * ((4 * gls_uniform(word[0]) - 2) * u[a] + (4 * gls_uniform(word[1]) - 2) * v[a]);
    return gls_tissue_find_interface(t, world);
}

/* Seed i on the border of grey and white matter: draws positions near the border until one can be moved onto it. After
 * MAX_TRIES the seed lies far outside and gives no streamline. */
static void draw_on_interface(const gls_seeds *s, uint64_t i, float point[3])
{
    for (uint32_t attempt = 0; attempt < MAX_TRIES; attempt++) {
        double position[3], world[3];
        draw_position(s, i, attempt, position);
        gls_affine_apply(s->image.affine, position, world);
        if (!gls_tissue_find_interface(s->tissue, world) || !spread(s, i, attempt, world)) continue;
        to_streamlines(s, world, point);
        return;
    }
    for (int a = 0; a < 3; a++) point[a] = GLS_SEED_FAR_AWAY;
}

gls_status gls_seeds_create_interface(const gls_tissue *tissue, const gls_image *weights, const char *name,
                                      uint64_t count, uint64_t rng_seed, gls_seeds **seeds)
{
    GLS_REQUIRE(tissue && weights && weights->n_volumes == 1 && name && seeds);
    GLS_REQUIRE(count > 0);
    gls_status status = create_weighted(weights, name, &tissue->grid, count, rng_seed, seeds);
    if (status) return status;
    (*seeds)->tissue = tissue;
    (*seeds)->draw = draw_on_interface;
    /* Try some seeds now, so that an image without a border fails before a run begins. */
    float point[3] = {GLS_SEED_FAR_AWAY};
    for (uint64_t i = 0; i < count && i < 100 && point[0] == GLS_SEED_FAR_AWAY; i++)
        draw_on_interface(*seeds, i, point);
    if (point[0] != GLS_SEED_FAR_AWAY) return GLS_OK;
    gls_seeds_destroy(*seeds);
    *seeds = NULL;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: no seed could be placed on the interface of grey and white matter: check the images of tissue",
                    name);
}
