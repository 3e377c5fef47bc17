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
#include "weights/map_device.h"
#include "weights/voxel_walk.h"

#define FIRST_PROBABILITY 1e-3
#define MIN_DENSITY 0.1      /* fixels of a lower density keep the first probability */
#define MIN_PROBABILITY 1e-6 /* of all fixels, once no fixel wants seeds */
/* Probabilities are drawn from as whole multiples of this, and one above 0 has at least 16 of them. */
#define PROBABILITY_UNIT 0x1p-32
#define MIN_UNITS 16
#define LENGTH_UNIT 0x1p-20        /* of sums of lengths, mm */
#define FIXEL_BLOCK ((size_t)8192) /* fixels whose sums a thread makes at a time; belongs to the result */
#define FIRST_SEEDS 64             /* fewest seeds of a round; later rounds have a seed for each 4 streamlines */
#define ROUND_PART 4
#define MEAN_FIXELS 4      /* fixels of a voxel that the estimate of memory takes; brains have less than 3 */
#define MAX_ATTEMPTS 1000u /* to find a seed that tissue allows */

struct gls_dynamic_seeds {
    gls_fod fod;
    gls_dynamic_options options;
    gls_walk_grid walk_grid;
    gls_walk *walk; /* one for each thread */
    int n_threads;
    double inverse[3][4];   /* from world mm to voxels of the grid of tracking */
    double to_fixels[3][4]; /* from world mm to voxels of the fixels */
    float *weight;          /* for each fixel: weight of its voxel in the model */
    double *mean, *applied; /* for each fixel: mean probability of the streamlines so far; that of the last round */
    uint64_t *sum;          /* probabilities up to each fixel, in units */
    double *block_length;   /* see probabilities */
    uint64_t *block_units;
    _Atomic uint64_t *length; /* for each fixel the lengths of streamlines in it that threads mapped, in units */
    gls_device *device;       /* maps streamlines, and keeps their sums; NULL: threads map all */
    gls_mapper *mapper;
    bool device_failed;  /* to map more streamlines: threads map the rest */
    uint64_t *on_device; /* for each fixel the sum of the device before the last round */
    uint32_t met;        /* streamlines that the device had counted then */
    float (*position)[3], (*direction)[3];
    atomic_size_t mapped;         /* streamlines that meet the grid */
    uint64_t mapped_before;       /* the same before the last round */
    uint64_t rounds, wanted_none; /* rounds; rounds in which no fixel wanted seeds */
    double density;               /* sum over fixels of density times weight */
};

/* --- Probabilities. */

/* Length of streamlines in a fixel, mm. */
static double length_in(const gls_dynamic_seeds *d, size_t f)
{
    const uint64_t units = atomic_load_explicit(&d->length[f], memory_order_relaxed);
    return (double)(units + (d->on_device ? d->on_device[f] : 0)) * LENGTH_UNIT;
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

/* Threads compute the probabilities of the next round by these numbers. Sums over each block of fixels are joined in
 * the order of blocks, so that they do not depend on the number of threads. */
typedef struct probabilities {
    gls_dynamic_seeds *dynamic;
    double n, before, soon, mu; /* streamlines now, before the last round, and soon; density for each mm in a voxel */
    bool in_all;                /* no fixel wants seeds: all get some */
    double *length;             /* for each block the sum of lengths times weights */
    uint64_t *units;            /* for each block the units of its fixels */
} probabilities;

/* Number of blocks of fixels. */
static size_t blocks_of(const gls_dynamic_seeds *d)
{
    return (d->fod.fixels->n + FIXEL_BLOCK - 1) / FIXEL_BLOCK;
}

/* The fixel behind the last of a block. */
static size_t block_end(const gls_dynamic_seeds *d, size_t block)
{
    const size_t n = d->fod.fixels->n;
    return block + 1 < blocks_of(d) ? (block + 1) * FIXEL_BLOCK : n;
}

/* Sums up lengths times weights in blocks; called by gls_parallel(). */
static void sum_lengths(void *user, int thread, size_t from, size_t until)
{
    const probabilities *p = user;
    const gls_dynamic_seeds *d = p->dynamic;
    (void)thread;
    for (size_t b = from; b < until; b++) {
        p->length[b] = 0;
        for (size_t f = b * FIXEL_BLOCK; f < block_end(d, b); f++)
            p->length[b] += (double)d->weight[f] * length_in(d, f);
    }
}

/* Density of FODs for each mm of streamline in a voxel. length: room for a number for each block. */
static double scale_of(gls_dynamic_seeds *d, double *length)
{
    double sum = 1e-6;
    gls_parallel(blocks_of(d), 1, d->n_threads, sum_lengths, &(probabilities){.dynamic = d, .length = length});
    for (size_t b = 0; b < blocks_of(d); b++) sum += length[b];
    return d->density / sum;
}

/* The probability of a fixel, in units. */
static uint64_t units_of(const probabilities *p, size_t f)
{
    const gls_dynamic_seeds *d = p->dynamic;
    if (p->in_all) {
        d->applied[f] = fmax(d->mean[f], MIN_PROBABILITY);
        return (uint64_t)(d->applied[f] / PROBABILITY_UNIT + 0.5);
    }
    const double fd = (double)d->fod.fixels->fixel[f].fd;
    if (fd * (double)d->weight[f] >= MIN_DENSITY) {
        if (p->n > p->before) d->mean[f] = (p->before * d->mean[f] + (p->n - p->before) * d->applied[f]) / p->n;
        d->applied[f] = probability_of(p->mu * length_in(d, f) / fd, d->mean[f], p->n, p->soon);
    }
    const uint64_t own = (uint64_t)(d->applied[f] / PROBABILITY_UNIT + 0.5);
    return d->applied[f] > 0 && own < MIN_UNITS ? MIN_UNITS : own;
}

/* Computes the probabilities of the fixels in blocks, and sums them up within each block; called by gls_parallel(). */
static void find_some(void *user, int thread, size_t from, size_t until)
{
    const probabilities *p = user;
    (void)thread;
    for (size_t b = from; b < until; b++) {
        p->units[b] = 0;
        for (size_t f = b * FIXEL_BLOCK; f < block_end(p->dynamic, b); f++)
            p->dynamic->sum[f] = p->units[b] += units_of(p, f);
    }
}

/* Adds to the sums in blocks those of the blocks before; called by gls_parallel(). */
static void join_some(void *user, int thread, size_t from, size_t until)
{
    const probabilities *p = user;
    (void)thread;
    for (size_t b = from > 0 ? from : 1; b < until; b++)
        for (size_t f = b * FIXEL_BLOCK; f < block_end(p->dynamic, b); f++) p->dynamic->sum[f] += p->units[b - 1];
}

/* Computes the probabilities of all fixels for the next round. */
static void find_probabilities(gls_dynamic_seeds *d)
{
    const size_t n_blocks = blocks_of(d);
    const double n = (double)atomic_load(&d->mapped);
    probabilities p = {.dynamic = d,
                       .n = n,
                       .before = (double)d->mapped_before,
                       .soon = fmin((double)d->options.select, 2 * n),
                       .mu = scale_of(d, d->block_length),
                       .units = d->block_units};
    for (int k = 0; k < 2; k++) {
        gls_parallel(n_blocks, 1, d->n_threads, find_some, &p);
        for (size_t b = 1; b < n_blocks; b++) p.units[b] += p.units[b - 1];
        if (p.units[n_blocks - 1] > 0) break;
        p.in_all = true;
        d->wanted_none++;
    }
    gls_parallel(n_blocks, 1, d->n_threads, join_some, &p);
    d->mapped_before = (uint64_t)n;
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

/* Whether a position in world mm lies in the voxel of the fixels with this centre. */
static bool is_in_voxel(const gls_dynamic_seeds *d, const double world[3], const int32_t centre[3])
{
    double p[3];
    gls_affine_apply((const double(*)[4])d->to_fixels, world, p);
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
    return gls_tissue_find_interface(d->options.tissue, world) && is_in_voxel(d, world, centre);
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

gls_status gls_dynamic_seeds_end(gls_dynamic_seeds *d)
{
    uint32_t met = 0;
    if (!d->mapper) return GLS_OK;
    const gls_status status = gls_mapper_read_sums(d->mapper, d->on_device, &met);
    if (!status) atomic_fetch_add(&d->mapped, met - d->met);
    d->met = met;
    return status;
}

gls_status gls_dynamic_seeds_draw(void *dynamic)
{
    gls_dynamic_seeds *d = dynamic;
    gls_status status = gls_dynamic_seeds_end(d);
    if (status) return status;
    const uint64_t left = gls_seeds_count(d->options.seeds) - gls_seeds_end(d->options.seeds);
    uint64_t n = atomic_load(&d->mapped) / ROUND_PART;
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
    size_t done = 0;
    if (d->mapper && !d->device_failed && gls_mapper_add(d->mapper, s, &done)) {
        d->device_failed = true;
        gls_log(GLS_LOG_INFO, "streamlines are mapped on the CPU: %s", gls_last_error());
    }
    if (done == s->n) return GLS_OK;
    const gls_streamlines rest = {.n = s->n - done, .offset = s->offset + done, .point = s->point};
    gls_parallel(rest.n, 32, d->n_threads, map_some, &(mapping){d, &rest});
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

/* Opens a second context on a device, which maps streamlines while the tracker continues. If that fails, threads map.
 */
static void open_mapper(gls_dynamic_seeds *d, gls_device *device)
{
    if (!gls_mapper_suits(gls_device_get_info(device))) return;
    d->on_device = calloc(d->fod.fixels->n, sizeof *d->on_device);
    if ((!d->on_device && gls_no_memory()) || gls_device_reopen(device, &d->device) ||
        gls_mapper_create(&(gls_mapper_source){.device = d->device,
                                               .device_bytes = d->options.device_bytes,
                                               .fixels = d->fod.fixels,
                                               .grid = &d->walk_grid,
                                               .sums_alone = true},
                          &d->mapper))
        gls_log(GLS_LOG_INFO, "streamlines are mapped on the CPU: %s", gls_last_error());
}

gls_dynamic_memory gls_dynamic_seeds_memory(uint64_t n_voxels, uint64_t n_lobed, const gls_device_info *device,
                                            const gls_dynamic_options *options)
{
    const gls_dynamic_seeds *d = NULL; /* for the sizes of its members */
    const uint64_t n = MEAN_FIXELS * n_lobed, each = sizeof(gls_fixel) + sizeof *d->weight + sizeof *d->mean +
                                                     sizeof *d->applied + sizeof *d->sum + sizeof *d->length +
                                                     sizeof *d->on_device;
    return (gls_dynamic_memory){.host = n_voxels * sizeof(gls_fixel_voxel) + n_lobed * GLS_LOBE_TABLE + n * each +
                                        options->round_seeds * (sizeof *d->position + sizeof *d->direction),
                                .device = device && gls_mapper_suits(device)
                                              ? gls_mapper_sums_memory(n_voxels, n_lobed, n, options->device_bytes)
                                              : 0};
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
    d->block_length = malloc(blocks_of(d) * sizeof *d->block_length);
    d->block_units = malloc(blocks_of(d) * sizeof *d->block_units);
    d->position = malloc(most * sizeof *d->position);
    d->direction = malloc(most * sizeof *d->direction);
    const bool ok = d->block_length && d->block_units && d->walk && d->weight && d->mean && d->applied && d->sum &&
                    d->length && d->position && d->direction;
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
    gls_grid_inverse(gls_fixels_grid(d->fod.fixels), d->to_fixels);
    gls_walk_grid_init(&d->walk_grid, &d->fod.fixels->grid, ratio_of(options->step_size, &d->fod.fixels->grid), false,
                       LENGTH_UNIT);
    find_weights(d);
    if (options->device) open_mapper(d, options->device);
    for (size_t f = 0; f < d->fod.fixels->n; f++) d->mean[f] = d->applied[f] = FIRST_PROBABILITY;
    return gls_dynamic_seeds_draw(d);
}

void gls_dynamic_seeds_describe(gls_dynamic_seeds *d, cJSON *object)
{
    const size_t n = d->fod.fixels->n;
    const double mu = scale_of(d, d->block_length);
    double cost = 0;
    uint64_t untracked = 0;
    for (size_t f = 0; f < n; f++) {
        const double length = length_in(d, f), excess = mu * length - (double)d->fod.fixels->fixel[f].fd;
        untracked += length == 0;
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
    free(d->block_length);
    free(d->block_units);
    free(d->length);
    gls_mapper_destroy(d->mapper);
    gls_device_close(d->device);
    free(d->on_device);
    free(d->position);
    free(d->direction);
    gls_fod_finish(&d->fod);
    free(d);
}
