/* Volumes on which PTT is tried, the tables that its kernels use, and the reference's streamlines on them. Include
 * after series.h and collect.h. */
#ifndef GLS_TEST_REF_PTT_SCENE_H
#define GLS_TEST_REF_PTT_SCENE_H

#include <glslines/odf.h>

#include "track/getter/ptt.h"
#include "track/shader/kernel_inputs.h"
#include "ref/ptt.h"
#include "util/maths.h"

typedef struct scene {
    gls_image *given, *stop; /* given: amplitudes on both ends of each pair */
    gls_image *odf;          /* on the source's sphere */
    gls_odf_source *source;
} scene;

/* Returns sums of Watson's distributions round n directions, each with its weight. */
static inline double lobes(const double v[3], const double (*direction)[3], const double *weight, int n,
                           double sharpness)
{
    double sum = 0;
    for (int f = 0; f < n; f++) {
        double c = dot3(v, direction[f]);
        sum += weight[f] * exp(sharpness * (c * c - 1));
    }
    return sum;
}

/* Finds directions and weights of the lobes in a voxel, at most three. Returns their number. */
typedef int (*lobe_field)(void *user, const gls_grid *grid, const int voxel[3], double direction[3][3],
                          double weight[3], double *stop);

static inline void scene_create(scene *s, const gls_grid *grid, lobe_field field, void *user, double sharpness)
{
    gls_sphere *half = NULL, *full = NULL;
    assert_ok(gls_sphere_create("small", &half));
    assert_ok(gls_sphere_create_full(half, &full));
    assert_ok(gls_image_create(grid, full->n, &s->given));
    assert_ok(gls_image_create(grid, 1, &s->stop));
    size_t voxels = gls_grid_voxels(grid);
    for (size_t i = 0; i < voxels; i++) {
        int voxel[3] = {(int)(i % (size_t)grid->dim[0]), (int)(i / (size_t)grid->dim[0] % (size_t)grid->dim[1]),
                        (int)(i / ((size_t)grid->dim[0] * (size_t)grid->dim[1]))};
        double direction[3][3], weight[3] = {1, 1, 1}, stop = 0;
        int n = field(user, grid, voxel, direction, weight, &stop);
        s->stop->data[i] = (float)stop;
        for (size_t v = 0; v < full->n; v++)
            s->given->data[v * voxels + i] =
                (float)(50 * lobes(full->vertex[v], (const double(*)[3])direction, weight, n, sharpness));
    }
    gls_odf_options options = gls_odf_options_default();
    assert_ok(gls_odf_source_create_amplitudes(s->given, "scene", (const double(*)[3])full->vertex, full->n,
                                               "small sphere", GLS_BVEC_IMAGE, &options, &s->source));
    assert_true(s->source->sphere->antipodal && s->source->sphere->n == half->n);
    assert_ok(gls_odf_sample(s->source, &s->odf));
    gls_sphere_destroy(half);
    gls_sphere_destroy(full);
}

static inline void scene_destroy(scene *s)
{
    gls_odf_source_destroy(s->source);
    gls_image_destroy(s->given);
    gls_image_destroy(s->odf);
    gls_image_destroy(s->stop);
    *s = (scene){0};
}

static inline gls_grid scene_grid(int x, int y, int z, double vx, double vy, double vz)
{
    gls_grid grid;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){x, y, z},
                            (const double[3][4]){{vx, 0, 0, 0}, {0, vy, 0, 0}, {0, 0, vz, 0}}));
    return grid;
}

static inline long table_define(const gls_define_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->define[i].name, name) == 0) return atol(list->define[i].value);
    fail();
    return 0;
}

/* Makes the map of nearest vertices as the kernels have it, from malloc. */
static inline uint32_t *table_nearest(const gls_sphere *sphere, size_t *size)
{
    gls_tables tables = {0};
    gls_define_list defines = {0};
    gls_ptt_table_nearest(&tables, &defines, sphere, NULL);
    *size = (size_t)table_define(&defines, "NEAREST_SIZE");
    size_t n = 2 * (size_t)table_define(&defines, "NEAREST_WORDS");
    uint32_t *map = malloc(n * sizeof *map);
    const uint32_t *word = tables.word + table_define(&defines, "MODEL_NEAREST");
    for (size_t i = 0; i < n; i++) map[i] = word[i / 2] >> (i % 2 * 16) & 0xffffu;
    gls_tables_finish(&tables);
    gls_define_finish(&defines);
    return map;
}

/* The tracker's numbers. */
typedef struct same_numbers {
    uint64_t key;
    uint32_t seed, stream;
} same_numbers;

static inline void same_words(void *user, uint32_t block, uint32_t step, uint32_t word[4])
{
    const same_numbers *r = user;
    gls_philox((const uint32_t[4]){block, step, r->seed, r->stream}, r->key, word);
}

/* Returns numbers one after the other, whatever place is asked for. */
static inline void other_words(void *user, uint32_t block, uint32_t step, uint32_t word[4])
{
    (void)block, (void)step;
    for (int i = 0; i < 4; i++) word[i] = (uint32_t)(random_bits(user) >> 32);
}

/* Tracks all seeds and keeps everything. numbers: 0 for the tracker's random numbers, else a set of others. */
static inline void run_reference(const ptt_ref *ref, const gls_seeds *seeds, uint64_t numbers,
                                 uint64_t ends[GLS_END_COUNT], collection *c)
{
    enum { MOST = 32 };
    size_t n_seeds = gls_seeds_count(seeds), capacity = 2 * (size_t)ref->max_steps + 1,
           *n_points = calloc(n_seeds * MOST, sizeof *n_points);
    float(*seed)[3] = malloc(n_seeds * sizeof *seed);
    double(**point)[3] = calloc(n_seeds * MOST, sizeof *point);
    uint64_t counted[GLS_END_COUNT] = {0};
    assert_true(n_points && seed && point);
    gls_seeds_get(seeds, 0, n_seeds, seed);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n_seeds; i++) {
        uint32_t vertex[MOST];
        double p[3] = {seed[i][0], seed[i][1], seed[i][2]};
        size_t n = ptt_initial(ref, p, vertex, (size_t)ref->params->max_directions_per_seed);
        for (size_t k = 0; k < n; k++) {
            same_numbers tracker = {ref->params->rng_seed, (uint32_t)i, (uint32_t)k << 16 | 0x80000000u};
            uint64_t state = numbers << 40 ^ (uint64_t)i << 8 ^ k;
            state = random_bits(&state);
            ptt_random random = {numbers ? other_words : same_words, numbers ? (void *)&state : (void *)&tracker};
            gls_end end[2];
            size_t at_seed;
            double(*line)[3] = malloc(capacity * sizeof *line);
            n_points[i * MOST + k] = ptt_track(ref, p, vertex[k], &random, line, &at_seed, end);
            point[i * MOST + k] = realloc(line, n_points[i * MOST + k] * sizeof *line);
            for (int h = 0; h < 2; h++) {
#pragma omp atomic
                counted[end[h]]++;
            }
        }
    }
    *c = (collection){.sound = true};
    for (size_t i = 0; i < n_seeds * MOST; i++) {
        if (!point[i]) continue;
        float(*line)[3] = malloc(n_points[i] * sizeof *line);
        for (size_t j = 0; j < 3 * n_points[i]; j++) line[j / 3][j % 3] = (float)point[i][j / 3][j % 3];
        gls_column column[2];
        gls_streamlines one =
            make_streamlines(1, (uint64_t[]){0, n_points[i]}, (const float(*)[3])line,
                             (uint32_t[]){(uint32_t)(i / MOST)}, (const float(*)[3]) & seed[i / MOST], column);
        gls_status status = collect(c, &one);
        assert_ok(status);
        free(line);
        free(point[i]);
    }
    memcpy(ends, counted, sizeof counted);
    free(point);
    free(seed);
    free(n_points);
}

static inline gls_track_params ptt_params(void)
{
    gls_track_params p = gls_track_params_default();
    p.dg = GLS_DG_PTT;
    p.precision = GLS_PRECISION_FLOAT;
    p.mapping = GLS_MAPPING_SINGLE;
    p.keep_single_points = true;
    p.rng_seed = 77;
    p.probe_length = 2;
    p.probe_quality = 8;
    return p;
}

static inline gls_track_result run_device(gls_device *device, const scene *s, const gls_track_params *params,
                                          const gls_seeds *seeds, collection *c)
{
    gls_track_input input = {.odf = s->source, .stop_map = s->stop};
    gls_tracker *tracker = NULL;
    assert_ok(gls_tracker_create(device, params, &input, &tracker));
    gls_track_result result = run_tracker(tracker, seeds, c);
    assert_sums(&result);
    gls_tracker_destroy(tracker);
    return result;
}

static inline gls_seeds *box_seeds(const gls_grid *grid, size_t n, double margin, uint64_t state)
{
    double(*p)[3] = malloc(n * sizeof *p);
    gls_seeds *seeds = NULL;
    for (size_t i = 0; i < n; i++)
        for (int a = 0; a < 3; a++) p[i][a] = random_uniform(&state, margin - 0.5, grid->dim[a] - 0.5 - margin);
    assert_ok(gls_seeds_create_list((const double(*)[3])p, n, GLS_SEEDS_VOXEL, grid, &seeds));
    free(p);
    return seeds;
}

/* Counts the streamlines that are the same within 0.05 voxel at every point. */
static inline double share_equal(const collection *a, const collection *b, const char *what)
{
    size_t equal = 0, lengths = 0;
    double worst_equal = 0;
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        size_t n = (size_t)(a->offset[i + 1] - a->offset[i]);
        double worst = 0;
        assert_int_equal(a->seed_index[i], b->seed_index[i]);
        if (n != b->offset[i + 1] - b->offset[i]) {
            lengths++;
            continue;
        }
        for (size_t j = 0; j < n; j++)
            for (int x = 0; x < 3; x++)
                worst = fmax(worst, fabs(a->point[a->offset[i] + j][x] - b->point[b->offset[i] + j][x]));
        equal += worst < 0.05;
        if (worst < 0.05) worst_equal = fmax(worst_equal, worst);
    }
    print_message("%s: %zu of %zu streamlines (%zu points) the same, the worst of them %.1e voxel off; %zu of the "
                  "others have another length\n",
                  what, equal, a->n, a->n_points, worst_equal, lengths);
    return (double)equal / (double)a->n;
}

/* Checks all stored steps: as long in mm as the short steps together, but for what the bend takes, and bent by no more
 * than the largest curvature allows. Returns the sharpest radius of curvature. */
static inline double check_steps(const collection *c, const gls_grid *grid, const gls_track_params *p)
{
    double k = gls_track_max_curvature(p), least = 2 / k * sin(k * p->step_size / 2), sharpest = 0, shortest = 1e9,
           longest = 0;
    for (size_t i = 0; i < c->n; i++) {
        double before[3] = {0}, step[3];
        for (uint64_t j = c->offset[i] + 1; j < c->offset[i + 1]; j++) {
            for (int a = 0; a < 3; a++) step[a] = ((double)c->point[j][a] - c->point[j - 1][a]) * grid->voxel_size[a];
            double length = sqrt(dot3(step, step));
            shortest = fmin(shortest, length);
            longest = fmax(longest, length);
            unit3(step);
            if (j > c->offset[i] + 1) {
                double d[3];
                for (int a = 0; a < 3; a++) d[a] = step[a] - before[a];
                sharpest = fmax(sharpest, 2 * asin(fmin(1, sqrt(dot3(d, d)) / 2)) / p->step_size);
            }
            memcpy(before, step, sizeof before);
        }
    }
    print_message("steps of %.5f to %.5f mm (%.5f to %.5f allowed), sharpest radius %.3f mm (least %.3f)\n", shortest,
                  longest, least, p->step_size, 1 / sharpest, 1 / k);
    assert_true(shortest >= least - 1e-4 && longest <= p->step_size + 1e-4 && sharpest <= k * 1.005);
    return 1 / sharpest;
}

#endif
