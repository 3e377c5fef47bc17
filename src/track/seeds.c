/* Seeds from lists and files, and random or regular seeds in the voxels of a region. A drawn seed depends only on its
 * index and the random seed, so any range of seeds can be computed by any thread or process. Positions are voxel
 * coordinates of the grid of tracking. */
#include "track/seeds.h"
#include "track/seed_parts.h"

#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text_tables.h"
#include "util/threads.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

void gls_seeds_destroy(gls_seeds *seeds)
{
    if (!seeds) return;
    free(seeds->point);
    free(seeds->voxel);
    free(seeds->sum);
    free(seeds);
}

uint64_t gls_seeds_count(const gls_seeds *seeds)
{
    return seeds->count;
}

uint64_t gls_seeds_first(const gls_seeds *seeds)
{
    return seeds->first;
}

gls_status gls_seeds_restrict(gls_seeds *seeds, uint64_t first, uint64_t n)
{
    GLS_REQUIRE(seeds);
    GLS_REQUIRE(first >= seeds->first && first - seeds->first <= seeds->count &&
                n <= seeds->count - (first - seeds->first));
    seeds->first = first;
    seeds->count = n;
    return GLS_OK;
}

float gls_seed_inside_voxel(double position, int32_t centre)
{
    float f = (float)position;
    if (f >= centre + 0.5) return nextafterf((float)(centre + 0.5), -INFINITY);
    if (f <= centre - 0.5) return nextafterf((float)(centre - 0.5), INFINITY);
    return f;
}

/* Whether a voxel with this value of the region or mask gets seeds. */
static bool eligible(float value)
{
    return value > 0 && isfinite(value);
}

/* Fisher-Yates shuffle. Each index comes from 64 random bits, so the bias is negligible. */
static void shuffle(uint32_t *list, uint64_t n, uint64_t rng_seed)
{
    for (uint64_t i = n; i > 1; i--) {
        uint32_t word[4];
        gls_philox((const uint32_t[4]){(uint32_t)i, (uint32_t)(i >> 32), 0, GLS_PHILOX_SHUFFLE}, rng_seed, word);
        uint64_t j = ((uint64_t)word[1] << 32 | word[0]) % i;
        uint32_t t = list[i - 1];
        list[i - 1] = list[j];
        list[j] = t;
    }
}

/* Voxel coordinates of the centre of the voxel with this index; x varies fastest. */
static void centre_of(const gls_seeds *seeds, uint32_t voxel, int32_t centre[3])
{
    uint32_t row = voxel / seeds->dim[0];
    centre[0] = (int32_t)(voxel % seeds->dim[0]);
    centre[1] = (int32_t)(row % seeds->dim[1]);
    centre[2] = (int32_t)(row / seeds->dim[1]);
}

/* Seed i, uniform in its voxel, whose index in the shuffled list is i modulo n_voxels. */
static void draw_in_voxel(const gls_seeds *seeds, uint64_t i, float point[3])
{
    uint32_t word[4];
    int32_t centre[3];
    centre_of(seeds, seeds->voxel[i % seeds->n_voxels], centre);
    gls_philox((const uint32_t[4]){(uint32_t)i, (uint32_t)(i >> 32), 0, GLS_PHILOX_SEED}, seeds->rng_seed, word);
    for (int a = 0; a < 3; a++) point[a] = gls_seed_inside_voxel(centre[a] + (gls_uniform(word[a]) - 0.5), centre[a]);
}

void gls_seeds_in_ball(double radius, const uint32_t word[3], double offset[3])
{
    const double r = radius * cbrt(gls_uniform(word[0])), z = 2 * gls_uniform(word[1]) - 1,
                 phi = 2 * acos(-1.0) * gls_uniform(word[2]), across = sqrt(1 - z * z);
    offset[0] = r * across * cos(phi);
    offset[1] = r * across * sin(phi);
    offset[2] = r * z;
}

/* Seed i, uniform in the ball around the centre of its voxel, whose index in the shuffled list is i modulo n_voxels. */
static void draw_around_centre(const gls_seeds *seeds, uint64_t i, float point[3])
{
    uint32_t word[4];
    int32_t centre[3];
    centre_of(seeds, seeds->voxel[i % seeds->n_voxels], centre);
    gls_philox((const uint32_t[4]){(uint32_t)i, (uint32_t)(i >> 32), 0, GLS_PHILOX_SEED_SPHERE}, seeds->rng_seed, word);
    double offset[3];
    gls_seeds_in_ball(seeds->sphere[3], word, offset);
    for (int a = 0; a < 3; a++) point[a] = (float)(centre[a] + offset[a] / seeds->sphere[a]);
}

/* Seed i of a regular grid of side x side x side positions in each voxel: first one position in all voxels, then the
 * next position. */
static void draw_on_grid(const gls_seeds *seeds, uint64_t i, float point[3])
{
    int32_t centre[3];
    uint64_t n = seeds->side, position = i / seeds->n_voxels;
    const uint64_t at[3] = {position / (n * n), position / n % n, position % n};
    centre_of(seeds, seeds->voxel[i % seeds->n_voxels], centre);
    for (int a = 0; a < 3; a++) point[a] = (float)(centre[a] - 0.5 + (2.0 * (double)at[a] + 1) / (2.0 * (double)n));
}

/* Creates seeds in the voxels of roi (and mask, unless NULL) with values above 0, in random order. */
static gls_status create_random(const gls_image *roi, const gls_image *mask, uint64_t rng_seed, gls_seeds **seeds)
{
    GLS_REQUIRE(roi->n_volumes == 1 && (!mask || mask->n_volumes == 1));
    size_t n = gls_grid_voxels(&roi->grid), kept = 0, in_roi = 0;
    if (n > UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "the image of the seed region has %zu voxels, more than 2^32 - 1", n);
    if (mask) {
        gls_status status = gls_grid_require_equal(&roi->grid, "the seed region", &mask->grid, "the mask");
        if (status) return status;
    }
    for (size_t i = 0; i < n; i++) {
        in_roi += eligible(roi->data[i]);
        kept += eligible(roi->data[i]) && (!mask || eligible(mask->data[i]));
    }
    /* No voxel left is an error of the input: say whether the region or the mask is empty. */
    if (in_roi == 0) return gls_fail(GLS_ERR_INPUT, "the seed region has no voxel above 0");
    if (kept == 0) return gls_fail(GLS_ERR_INPUT, "none of the %zu voxels of the seed region lies in the mask", in_roi);
    gls_seeds *s = calloc(1, sizeof *s);
    if (s) s->voxel = malloc(kept * sizeof *s->voxel);
    if (!s || !s->voxel) {
        gls_seeds_destroy(s);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the %zu voxels of the seed region", kept);
    }
    for (size_t i = 0; i < n; i++) {
        if (eligible(roi->data[i]) && (!mask || eligible(mask->data[i]))) s->voxel[s->n_voxels++] = (uint32_t)i;
    }
    shuffle(s->voxel, s->n_voxels, rng_seed);
    s->rng_seed = rng_seed;
    s->draw = draw_in_voxel;
    s->dim[0] = (uint32_t)roi->grid.dim[0];
    s->dim[1] = (uint32_t)roi->grid.dim[1];
    *seeds = s;
    return GLS_OK;
}

gls_status gls_seeds_create_random(const gls_image *roi, const gls_image *mask, uint64_t count, uint64_t rng_seed,
                                   gls_seeds **seeds)
{
    GLS_REQUIRE(roi && seeds);
    GLS_REQUIRE(count > 0);
    gls_seeds *s = NULL;
    gls_status status = create_random(roi, mask, rng_seed, &s);
    if (status) return status;
    s->count = count;
    *seeds = s;
    return GLS_OK;
}

gls_status gls_seeds_create_per_voxel(const gls_image *roi, const gls_image *mask, uint32_t per_voxel,
                                      uint64_t rng_seed, gls_seeds **seeds)
{
    GLS_REQUIRE(roi && seeds);
    GLS_REQUIRE(per_voxel > 0);
    gls_seeds *s = NULL;
    gls_status status = create_random(roi, mask, rng_seed, &s);
    if (status) return status;
    s->count = s->n_voxels * per_voxel;
    *seeds = s;
    return GLS_OK;
}

gls_status gls_seeds_create_around_centres(const gls_image *roi, const gls_image *mask, uint32_t per_voxel,
                                           double radius, uint64_t rng_seed, gls_seeds **seeds)
{
    GLS_REQUIRE(roi && seeds);
    GLS_REQUIRE(per_voxel > 0 && radius >= 0 && gls_is_single(radius));
    gls_seeds *s = NULL;
    gls_status status = create_random(roi, mask, rng_seed, &s);
    if (status) return status;
    s->count = s->n_voxels * per_voxel;
    s->draw = draw_around_centre;
    memcpy(s->sphere, roi->grid.voxel_size, sizeof roi->grid.voxel_size);
    s->sphere[3] = radius;
    *seeds = s;
    return GLS_OK;
}

gls_status gls_seeds_create_grid(const gls_image *roi, const gls_image *mask, uint32_t side, uint64_t rng_seed,
                                 gls_seeds **seeds)
{
    GLS_REQUIRE(roi && seeds);
    GLS_REQUIRE(side > 0 && side <= 1000);
    gls_seeds *s = NULL;
    gls_status status = create_random(roi, mask, rng_seed, &s);
    if (status) return status;
    s->side = side;
    s->count = s->n_voxels * side * side * side;
    s->draw = draw_on_grid;
    *seeds = s;
    return GLS_OK;
}

/* Stores a point in voxel coordinates. Returns false if the point lies outside the grid; rounding to float never moves
 * an inside point out. */
static bool set_point(const double p[3], const gls_grid *grid, float out[3])
{
    bool inside = true;
    for (int a = 0; a < 3; a++) {
        double end = grid->dim[a] - 0.5;
        out[a] = (float)fmax(-GLS_SEED_FAR_AWAY, fmin(GLS_SEED_FAR_AWAY, p[a]));
        if (p[a] < end && out[a] >= end) out[a] = nextafterf((float)end, -INFINITY);
        if (p[a] < -0.5 || p[a] >= end) inside = false;
    }
    return inside;
}

/* Creates seeds from a list of n points in `space`. name: file name for messages, or NULL. Points outside the grid are
 * kept, so that each seed has the index of its point in the list; they give no streamline. GLS_ERR_INPUT: the
 * list is empty, a point is not finite, or none lies inside. */
static gls_status create_list(const char *name, const double (*point)[3], size_t n, gls_seed_space space,
                              const gls_grid *grid, gls_seeds **seeds)
{
    double inverse[3][4];
    size_t outside = 0, first_outside = 0;
    gls_status status = GLS_OK;
    if (!name) name = "seed list";
    if (n == 0) return gls_fail(GLS_ERR_INPUT, "%s: holds no seeds", name);
    gls_seeds *s = calloc(1, sizeof *s);
    if (s) s->point = malloc(n * sizeof *s->point);
    if (!s || !s->point) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu seeds", n);
        goto fail;
    }
    gls_grid_inverse(grid, inverse);
    for (size_t i = 0; i < n; i++) {
        double p[3];
        memcpy(p, point[i], sizeof p);
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) {
            status = gls_fail(GLS_ERR_INPUT, "%s: seed %zu is not finite (%g %g %g)", name, i + 1, p[0], p[1], p[2]);
            goto fail;
        }
        if (space == GLS_SEEDS_WORLD) gls_affine_apply((const double(*)[4])inverse, p, p);
        if (!set_point(p, grid, s->point[i]) && outside++ == 0) first_outside = i;
    }
    const double *p = point[first_outside];
    if (outside == n) {
        status =
            gls_fail(GLS_ERR_INPUT,
                     "%s: all %zu seeds lie outside the image, e.g. seed %zu (%g %g %g), taken as %s coordinates: "
                     "check --seed-space",
                     name, n, first_outside + 1, p[0], p[1], p[2], space == GLS_SEEDS_WORLD ? "world (mm)" : "voxel");
        goto fail;
    }
    if (outside > 0)
        gls_log(GLS_LOG_WARNING,
                "%s: %zu of %zu seeds lie outside the image and give no streamline; the first is seed %zu (%g %g %g)",
                name, outside, n, first_outside + 1, p[0], p[1], p[2]);
    s->count = n;
    *seeds = s;
    return GLS_OK;
fail:
    gls_seeds_destroy(s);
    return status;
}

gls_status gls_seeds_create_list(const double (*point)[3], size_t n, gls_seed_space space, const gls_grid *grid,
                                 gls_seeds **seeds)
{
    GLS_REQUIRE((point || n == 0) && grid && seeds);
    return create_list(NULL, point, n, space, grid, seeds);
}

gls_status gls_seeds_read(const char *path, gls_seed_space space, const gls_grid *grid, gls_seeds **seeds)
{
    GLS_REQUIRE(path && grid && seeds);
    double *value = NULL;
    size_t rows = 0, columns = 0;
    gls_status status = gls_table_read(path, &value, &rows, &columns);
    if (status) return status;
    if (columns == 3)
        status = create_list(path, (const double(*)[3])value, rows, space, grid, seeds);
    else
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu columns, but seeds need 3 (x y z)", path, columns);
    free(value);
    return status;
}

/* Seeds that several threads draw; `first` is the index of the first of them. */
typedef struct drawing {
    const gls_seeds *seeds;
    uint64_t first;
    float (*point)[3];
} drawing;

/* Draws seeds first + from .. first + until - 1; called by gls_parallel(). */
static void draw_some(void *user, int thread, size_t from, size_t until)
{
    const drawing *d = user;
    (void)thread;
    for (size_t i = from; i < until; i++) d->seeds->draw(d->seeds, d->first + i, d->point[i]);
}

/* --- Seeds that come in rounds. */

gls_status gls_seeds_create_in_rounds(uint64_t count, gls_seeds **seeds)
{
    gls_seeds *s = calloc(1, sizeof *s);
    if (!s) return gls_no_memory();
    *s = (gls_seeds){.count = count, .in_rounds = true};
    *seeds = s;
    return GLS_OK;
}

void gls_seeds_add_round(gls_seeds *seeds, size_t n, const float (*position)[3], const float (*direction)[3])
{
    seeds->fed += seeds->n_fed;
    seeds->n_fed = n;
    seeds->position = position;
    seeds->direction = direction;
}

bool gls_seeds_are_in_rounds(const gls_seeds *seeds)
{
    return seeds->in_rounds;
}

uint64_t gls_seeds_end(const gls_seeds *seeds)
{
    return seeds->in_rounds ? seeds->fed + seeds->n_fed : seeds->first + seeds->count;
}

/* Copies the vectors of seeds of the last round; a seed that is not in it lies far away. */
static void copy_round(const gls_seeds *seeds, const float (*of_round)[3], uint64_t first, size_t n, float (*to)[3])
{
    for (size_t i = 0; i < n; i++) {
        const bool there = first + i >= seeds->fed && first + i - seeds->fed < seeds->n_fed;
        for (int a = 0; a < 3; a++) to[i][a] = there ? of_round[first + i - seeds->fed][a] : GLS_SEED_FAR_AWAY;
    }
}

void gls_seeds_get_directions(const gls_seeds *seeds, uint64_t first, size_t n, float (*direction)[3])
{
    copy_round(seeds, seeds->direction, first, n, direction);
}

void gls_seeds_get(const gls_seeds *seeds, uint64_t first, size_t n, float (*point)[3])
{
    if (seeds->in_rounds) {
        copy_round(seeds, seeds->position, first, n, point);
        return;
    }
    if (seeds->point) {
        memcpy(point, seeds->point + first, n * sizeof *point);
        return;
    }
    gls_parallel(n, 2048, omp_get_max_threads(), draw_some, &(drawing){seeds, first, point});
}
