/* Seeds that follow the densities of streamlines (Smith et al. 2015). Each fixel has a probability with which a seed
 * in it is taken, computed anew for each round: the rate at which the density of streamlines in the fixel reaches that
 * of its FOD when twice as many streamlines are there. All sums that threads share are of integers. */
#include "weights/dynamic_seeds.h"

#include <cJSON.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/tissue_interface.h"
#include "track/seeds.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/threads.h"
#include "weights/fixel_parts.h"
#include "weights/voxel_walk.h"

#define FIRST_PROBABILITY 1e-3
#define MIN_DENSITY 0.1      /* fixels of a lower density keep the first probability */
#define MIN_PROBABILITY 1e-6 /* of all fixels, once no fixel wants seeds */
/* Probabilities are drawn from as whole multiples of this, and one above 0 has at least 16 of them. */
#define PROBABILITY_UNIT 0x1p-32
#define MIN_UNITS 16
#define LENGTH_UNIT 0x1p-20 /* of sums of lengths, mm */
#define FIRST_SEEDS 64      /* fewest seeds of a round; later rounds have an eighth of the streamlines */
#define MAX_ATTEMPTS 1000u  /* to find a seed that tissue allows */

struct gls_dynamic_seeds {
    gls_fod fod;
    gls_dynamic_options options;
    gls_walk_grid walk_grid;
    gls_walk *walk; /* one for each thread */
    int n_threads;
    double inverse[3][4];     /* from world mm to voxels of the grid of tracking */
    float *weight;            /* for each fixel: weight of its voxel in the model */
    double *mean, *applied;   /* for each fixel: mean probability of the streamlines so far; that of the last round */
    uint64_t *sum;            /* probabilities up to each fixel, in units */
    _Atomic uint64_t *length; /* for each fixel the lengths of streamlines in it, in units */
    float (*position)[3], (*direction)[3];
    atomic_size_t mapped;         /* streamlines that meet the grid */
    uint64_t mapped_before;       /* the same before the last round */
    uint64_t rounds, wanted_none; /* rounds; rounds in which no fixel wanted seeds */
    double density;               /* sum over fixels of density times weight */
};

/* --- Probabilities. */

/* Density of FODs for each mm of streamline in a voxel. */
static double scale_of(const gls_dynamic_seeds *d)
{
    double sum = 1e-6;
    for (size_t f = 0; f < d->fod.fixels->n; f++)
        sum += (double)d->weight[f] * ((double)atomic_load_explicit(&d->length[f], memory_order_relaxed) * LENGTH_UNIT);
    return d->density / sum;
}

/* The probability that lets the ratio r of densities reach 1 when `soon` streamlines are there, of which n are there
 * now. mean: the mean probability so far. */
static double probability_of(double r, double mean, double n, double soon)
{
    if (r == 0) return mean;
    if (!(r < 1)) return 0;
    const double p = mean * (soon - n * r) / (r * (soon - n));
    return p > 0 ? fmin(p, 1) : 0;
}

/* Computes the probabilities of all fixels for the next round. */
static void find_probabilities(gls_dynamic_seeds *d)
{
    const gls_fixel *fixel = d->fod.fixels->fixel;
    const size_t n_fixels = d->fod.fixels->n;
    const double n = (double)atomic_load(&d->mapped), before = (double)d->mapped_before, mu = scale_of(d),
                 soon = fmin((double)d->options.select, 2 * n);
    uint64_t units = 0;
    for (size_t f = 0; f < n_fixels; f++) {
        if ((double)fixel[f].fd * (double)d->weight[f] >= MIN_DENSITY) {
            const double td = (double)atomic_load_explicit(&d->length[f], memory_order_relaxed) * LENGTH_UNIT;
            if (n > before) d->mean[f] = (before * d->mean[f] + (n - before) * d->applied[f]) / n;
            d->applied[f] = probability_of(mu * td / (double)fixel[f].fd, d->mean[f], n, soon);
        }
        const uint64_t own = (uint64_t)(d->applied[f] / PROBABILITY_UNIT + 0.5);
        units += d->applied[f] > 0 && own < MIN_UNITS ? MIN_UNITS : own;
        d->sum[f] = units;
    }
    d->mapped_before = (uint64_t)n;
    if (units > 0) return;
    d->wanted_none++;
    for (size_t f = 0; f < n_fixels; f++) {
        d->applied[f] = fmax(d->mean[f], MIN_PROBABILITY);
        d->sum[f] = units += (uint64_t)(d->applied[f] / PROBABILITY_UNIT + 0.5);
    }
}

/* --- Seeds. */

/* Draws a fixel with its probability. */
static size_t draw_fixel(const gls_dynamic_seeds *d, const uint32_t word[2])
{
    const uint64_t all = d->sum[d->fod.fixels->n - 1];
    uint64_t at = (uint64_t)(ldexp((double)((uint64_t)word[0] << 21 ^ word[1] >> 11), -53) * (double)all);
    if (at >= all) at = all - 1;
    size_t low = 0, high = d->fod.fixels->n - 1;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (d->sum[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Whether a position in world mm lies in the voxel with this centre. */
static bool is_in_voxel(const gls_grid *grid, const double world[3], const int32_t centre[3])
{
    double inverse[3][4], p[3];
    gls_grid_inverse(grid, inverse);
    gls_affine_apply((const double(*)[4])inverse, world, p);
    return fabs(p[0] - centre[0]) <= 0.5 && fabs(p[1] - centre[1]) <= 0.5 && fabs(p[2] - centre[2]) <= 0.5;
}

/* Whether tissue allows a seed at a point, given in voxels of the grid of tracking and in world mm. Moves a point that
 * is not in white matter to the interface. */
static bool is_allowed(const gls_dynamic_seeds *d, const float point[3], double world[3], const int32_t centre[3])
{
    float value[GLS_TISSUE_TYPES];
    if (!d->options.tissue) return true;
    if (!gls_tissue_at(d->options.tissue, point, value)) return false;
    const float grey = value[GLS_TISSUE_CGM] + value[GLS_TISSUE_SGM], white = value[GLS_TISSUE_WM];
    if (value[GLS_TISSUE_CSF] > white + grey) return false;
    if (white > grey) return true;
    return gls_tissue_find_interface(d->options.tissue, world) &&
           is_in_voxel(gls_fixels_grid(d->fod.fixels), world, centre);
}

/* Maps a position in mm to voxels of the grid of tracking. */
static void to_tracking(const gls_dynamic_seeds *d, const double world[3], float point[3])
{
    double p[3];
    gls_affine_apply((const double(*)[4])d->inverse, world, p);
    for (int a = 0; a < 3; a++) point[a] = (float)p[a];
}

/* Draws the seed with index i, uniform in the voxel of a fixel. Returns false if tissue does not allow it. */
static bool draw(const gls_dynamic_seeds *d, uint64_t i, uint32_t attempt, float point[3], float direction[3])
{
    const gls_grid *grid = gls_fixels_grid(d->fod.fixels);
    uint32_t word[4];
    int32_t centre[3];
    double position[3], world[3], along[3];
    const uint32_t counter[4] = {(uint32_t)i, (uint32_t)(i >> 32), attempt, GLS_PHILOX_SEED_FIXEL};
    gls_philox(counter, d->options.rng_seed, word);
    const gls_fixel *fixel = &d->fod.fixels->fixel[draw_fixel(d, word)];
    gls_grid_centre(grid, fixel->voxel, centre);
    gls_philox((const uint32_t[4]){counter[0], counter[1], attempt, GLS_PHILOX_SEED}, d->options.rng_seed, word);
    for (int a = 0; a < 3; a++)
        position[a] = (double)gls_seed_inside_voxel(centre[a] + (gls_uniform(word[a]) - 0.5), centre[a]);
    gls_affine_apply(grid->affine, position, world);
    if (memcmp(grid->affine, d->options.grid->affine, sizeof grid->affine) == 0)
        for (int a = 0; a < 3; a++) point[a] = (float)position[a];
    else
        to_tracking(d, world, point);
    double start[3];
    memcpy(start, world, sizeof start);
    if (!is_allowed(d, point, world, centre)) return false;
    if (memcmp(start, world, sizeof start) != 0) to_tracking(d, world, point);
    for (int a = 0; a < 3; a++) world[a] = (double)fixel->direction[a];
    gls_grid_direction(d->options.grid, world, along);
    for (int a = 0; a < 3; a++) direction[a] = (float)along[a];
    return true;
}

/* Draws seeds from .. until - 1 of the next round; called by gls_parallel(). A seed that tissue never allows lies
 * outside every grid. */
static void draw_some(void *user, int thread, size_t from, size_t until)
{
    const gls_dynamic_seeds *d = user;
    const uint64_t first = gls_seeds_end(d->options.seeds);
    (void)thread;
    for (size_t i = from; i < until; i++) {
        uint32_t attempt = 0;
        while (attempt < MAX_ATTEMPTS && !draw(d, first + i, attempt, d->position[i], d->direction[i])) attempt++;
        for (int a = 0; a < 3 && attempt == MAX_ATTEMPTS; a++) {
            d->position[i][a] = GLS_SEED_FAR_AWAY;
            d->direction[i][a] = a == 2;
        }
    }
}

gls_status gls_dynamic_seeds_draw(void *dynamic)
{
    gls_dynamic_seeds *d = dynamic;
    const uint64_t left = gls_seeds_count(d->options.seeds) - gls_seeds_end(d->options.seeds);
    uint64_t n = atomic_load(&d->mapped) / 8;
    if (n < FIRST_SEEDS) n = FIRST_SEEDS;
    if (n > d->options.round_seeds) n = d->options.round_seeds;
    if (n > left) n = left;
    find_probabilities(d);
    gls_parallel(n, 256, d->n_threads, draw_some, d);
    gls_seeds_add_round(d->options.seeds, n, (const float(*)[3])d->position, (const float(*)[3])d->direction);
    d->rounds++;
    return GLS_OK;
}

/* --- Densities of streamlines. */

/* Streamlines that threads map. */
typedef struct mapping {
    gls_dynamic_seeds *dynamic;
    const gls_streamlines *s;
} mapping;

/* Adds the lengths of streamlines from .. until - 1 in fixels; called by gls_parallel(). */
static void map_some(void *user, int thread, size_t from, size_t until)
{
    const mapping *m = user;
    gls_dynamic_seeds *d = m->dynamic;
    gls_walk *walk = &d->walk[thread];
    for (size_t i = from; i < until && !walk->failed; i++) {
        const uint64_t first = m->s->offset[i];
        gls_walk_visits(walk, &d->walk_grid, m->s->point + first, (size_t)(m->s->offset[i + 1] - first));
        for (size_t k = 0; k < walk->n; k++) {
            const gls_visit *v = &walk->visit[k];
            const uint32_t fixel = gls_fixel_at(d->fod.fixels, v->voxel, v->direction);
            if (fixel != GLS_NO_FIXEL)
                atomic_fetch_add_explicit(&d->length[fixel], (uint64_t)(v->length / LENGTH_UNIT + 0.5),
                                          memory_order_relaxed);
        }
        if (walk->n > 0) atomic_fetch_add_explicit(&d->mapped, 1, memory_order_relaxed);
    }
}

gls_status gls_dynamic_seeds_append(gls_dynamic_seeds *d, const gls_streamlines *s)
{
    gls_parallel(s->n, 32, d->n_threads, map_some, &(mapping){d, s});
    for (int i = 0; i < d->n_threads; i++)
        if (d->walk[i].failed) return gls_no_memory();
    return GLS_OK;
}

/* --- Begin and end. */

/* Pieces into which segments between points are cut, so that each is at most a quarter of a voxel long. */
static uint32_t ratio_of(double step, const gls_grid *grid)
{
    const double *s = grid->voxel_size, ratio = ceil(step / (0.25 * fmin(s[0], fmin(s[1], s[2]))) - 1e-6);
    return ratio < 1 ? 1 : ratio > GLS_WALK_MAX_RATIO ? GLS_WALK_MAX_RATIO : (uint32_t)ratio;
}

/* Weights of fixels: of their voxels in the mask; without a mask, where there is tissue, the square of the fraction of
 * white matter in the middle of the voxel. */
static void find_weights(gls_dynamic_seeds *d)
{
    const gls_fixels *fixels = d->fod.fixels;
    for (size_t f = 0; f < fixels->n; f++) {
        const uint32_t voxel = fixels->fixel[f].voxel;
        float white = 1;
        if (!d->fod.mask && d->options.tissue) {
            float point[3], value[GLS_TISSUE_TYPES];
            int32_t centre[3];
            double world[3];
            gls_grid_centre(&fixels->grid, voxel, centre);
            gls_affine_apply(fixels->grid.affine, (const double[3]){centre[0], centre[1], centre[2]}, world);
            to_tracking(d, world, point);
            white = gls_tissue_at(d->options.tissue, point, value) ? value[GLS_TISSUE_WM] : 0;
        }
        d->weight[f] = d->fod.mask ? d->fod.mask->data[voxel] : white * white;
        d->density += (double)d->weight[f] * (double)fixels->fixel[f].fd;
    }
}

/* Allocates the arrays. */
static gls_status allocate(gls_dynamic_seeds *d)
{
    const size_t n = d->fod.fixels->n, most = d->options.round_seeds;
    d->walk = calloc((size_t)d->n_threads, sizeof *d->walk);
    d->weight = malloc(n * sizeof *d->weight);
    d->mean = malloc(n * sizeof *d->mean);
    d->applied = malloc(n * sizeof *d->applied);
    d->sum = malloc(n * sizeof *d->sum);
    d->length = calloc(n, sizeof *d->length);
    d->position = malloc(most * sizeof *d->position);
    d->direction = malloc(most * sizeof *d->direction);
    const bool ok = d->walk && d->weight && d->mean && d->applied && d->sum && d->length && d->position && d->direction;
    return ok ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for seeds of %zu fixels", n);
}

gls_status gls_dynamic_seeds_create(gls_fod *fod, const gls_dynamic_options *options, gls_dynamic_seeds **dynamic)
{
    gls_dynamic_seeds *d = calloc(1, sizeof *d);
    if (!d) return gls_no_memory();
    d->fod = *fod;
    d->options = *options;
    d->n_threads = omp_get_max_threads();
    *fod = (gls_fod){0};
    *dynamic = d;
    gls_status status = allocate(d);
    if (status) return status;
    gls_grid_inverse(options->grid, d->inverse);
    gls_walk_grid_init(&d->walk_grid, &d->fod.fixels->grid, ratio_of(options->step_size, &d->fod.fixels->grid), false,
                       LENGTH_UNIT);
    find_weights(d);
    for (size_t f = 0; f < d->fod.fixels->n; f++) d->mean[f] = d->applied[f] = FIRST_PROBABILITY;
    return gls_dynamic_seeds_draw(d);
}

void gls_dynamic_seeds_describe(const gls_dynamic_seeds *d, cJSON *object)
{
    const size_t n = d->fod.fixels->n;
    const double mu = scale_of(d);
    double cost = 0;
    uint64_t untracked = 0;
    for (size_t f = 0; f < n; f++) {
        const uint64_t units = atomic_load_explicit(&d->length[f], memory_order_relaxed);
        const double excess = mu * ((double)units * LENGTH_UNIT) - (double)d->fod.fixels->fixel[f].fd;
        untracked += units == 0;
        cost += (double)d->weight[f] * excess * excess;
    }
    gls_json_uint(object, "fixels", n);
    gls_json_uint(object, "fixels_untracked", untracked);
    gls_json_uint(object, "rounds", d->rounds);
    gls_json_uint(object, "streamlines_in_grid", atomic_load(&d->mapped));
    gls_json_double(object, "mu", mu);
    gls_json_double(object, "cost", cost);
    if (d->wanted_none)
        gls_log(GLS_LOG_WARNING,
                "--seed-dynamic: in %s of %s rounds no fixel wanted more streamlines, and seeds were drawn in all",
                GLS_COUNT(d->wanted_none), GLS_COUNT(d->rounds));
}

void gls_dynamic_seeds_destroy(gls_dynamic_seeds *d)
{
    if (!d) return;
    for (int i = 0; i < d->n_threads && d->walk; i++) gls_walk_finish(&d->walk[i]);
    free(d->walk);
    free(d->weight);
    free(d->mean);
    free(d->applied);
    free(d->sum);
    free(d->length);
    free(d->position);
    free(d->direction);
    gls_fod_finish(&d->fod);
    free(d);
}
