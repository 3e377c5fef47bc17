/* A sink that keeps all streamlines. Include after gpu.h. */
#ifndef GLS_TEST_COLLECT_H
#define GLS_TEST_COLLECT_H

#include <glslines/track.h>

#include "gpu.h"
#include "lines.h"
#include "track/run/track_run.h"

typedef struct collection {
    size_t n, n_points, calls;
    uint64_t *offset; /* n + 1 */
    float (*point)[3];
    uint32_t *seed_index;
    float (*seed)[3];
    bool sound;     /* every result was well formed */
    size_t fail_at; /* the call that fails, counted from 1; 0: none */
    gls_status fail_with;
} collection;

static inline gls_status fail_here(gls_status status)
{
    /* any failure of the library leaves a message on this thread */
    gls_device *device;
    (void)gls_device_open("/failing/sink", GLS_GRAPHICS_AUTO, &device);
    return status;
}

static inline gls_status collect(void *user, const gls_streamlines *s)
{
    collection *c = user;
    const uint32_t *seed_index = seed_index_of(s);
    const float(*seed)[3] = seed_of(s);
    if (++c->calls == c->fail_at) return fail_here(c->fail_with);
    c->sound = c->sound && s->n > 0 && s->offset[0] == 0 && seed_index && seed;
    if (!c->sound) return GLS_OK;
    for (size_t i = 0; i < s->n; i++) {
        c->sound = c->sound && s->offset[i + 1] > s->offset[i];
        if (c->n + i > 0) c->sound = c->sound && seed_index[i] >= (i > 0 ? seed_index[i - 1] : c->seed_index[c->n - 1]);
    }
    size_t points = (size_t)s->offset[s->n], n = c->n + s->n;
    c->offset = realloc(c->offset, (n + 1) * sizeof *c->offset);
    c->seed_index = realloc(c->seed_index, n * sizeof *c->seed_index);
    c->seed = realloc(c->seed, n * sizeof *c->seed);
    c->point = realloc(c->point, (c->n_points + points) * sizeof *c->point);
    for (size_t i = 0; i <= s->n; i++) c->offset[c->n + i] = c->n_points + s->offset[i];
    memcpy(c->seed_index + c->n, seed_index, s->n * sizeof *c->seed_index);
    memcpy(c->seed + c->n, seed, s->n * sizeof *c->seed);
    memcpy(c->point + c->n_points, s->point, points * sizeof *c->point);
    c->n = n;
    c->n_points += points;
    return GLS_OK;
}

static inline void collection_finish(collection *c)
{
    free(c->offset);
    free(c->point);
    free(c->seed_index);
    free(c->seed);
    *c = (collection){0};
}

static const double voxel_space[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};

/* Tracks in voxel coordinates into c; NULL: nobody takes the streamlines. */
static inline gls_status run_in_voxels(gls_tracker *tracker, const gls_seeds *seeds, collection *c,
                                       gls_track_progress progress, void *user, gls_track_result *result)
{
    gls_sink sink = {.append = collect, .user = c};
    return gls_tracker_run_in(tracker, seeds, voxel_space, c ? &sink : NULL, progress, user, result);
}

/* Tracks into c, in voxel coordinates. */
static inline gls_track_result run_tracker(gls_tracker *tracker, const gls_seeds *seeds, collection *c)
{
    gls_track_result result;
    *c = (collection){.sound = true};
    assert_ok(run_in_voxels(tracker, seeds, c, NULL, NULL, &result));
    assert_true(c->sound);
    assert_true(result.streamlines == c->n && result.points == c->n_points);
    return result;
}

static inline void assert_same_collection(const collection *a, const collection *b, const char *what)
{
    bool same = a->n == b->n && a->n_points == b->n_points &&
                (a->n == 0 || (memcmp(a->offset, b->offset, (a->n + 1) * sizeof *a->offset) == 0 &&
                               memcmp(a->point, b->point, a->n_points * sizeof *a->point) == 0 &&
                               memcmp(a->seed_index, b->seed_index, a->n * sizeof *a->seed_index) == 0 &&
                               memcmp(a->seed, b->seed, a->n * sizeof *a->seed) == 0));
    if (same) return;
    print_error("%s: %zu streamlines of %zu points, expected %zu of %zu\n", what, a->n, a->n_points, b->n, b->n_points);
    fail();
}

/* Counts the streamlines that agree to 0.05 voxel, paired by seed and order. */
static inline size_t same_lines(const collection *a, const collection *b)
{
    size_t same = 0;
    for (size_t i = 0, k = 0; i < a->n; i++) {
        while (k < b->n && b->seed_index[k] < a->seed_index[i]) k++;
        if (k == b->n || b->seed_index[k] != a->seed_index[i]) continue;
        uint64_t n = a->offset[i + 1] - a->offset[i];
        bool close = n == b->offset[k + 1] - b->offset[k];
        for (uint64_t p = 0; p < n && close; p++)
            for (int x = 0; x < 3; x++)
                close = close && fabsf(a->point[a->offset[i] + p][x] - b->point[b->offset[k] + p][x]) <= 0.05f;
        same += close;
        k++;
    }
    return same;
}

/* Checks that the counts of a result agree with each other. */
static inline void assert_sums(const gls_track_result *r)
{
    uint64_t ends = 0;
    for (int e = 0; e < GLS_END_COUNT; e++) ends += r->ends[e];
    assert_int_equal(ends, 2 * r->directions);
    uint64_t verdicts = 0;
    for (int v = 0; v < GLS_VERDICT_COUNT; v++) verdicts += r->verdicts[v];
    assert_true(verdicts == r->directions && r->verdicts[GLS_VERDICT_KEPT] == r->streamlines);
    assert_true(r->truncated <= r->streamlines && r->seeds_without_direction <= r->seeds);
    assert_true(r->directions >= r->seeds - r->seeds_without_direction - r->seeds_rejected &&
                r->points >= r->streamlines);
}

/* Makes n seeds on a grid, some of them outside. */
static inline gls_seeds *seeds_on(const gls_grid *grid, size_t n)
{
    double p[256][3];
    gls_seeds *seeds = NULL;
    uint64_t state = 5;
    assert_true(n <= 256);
    for (size_t i = 0; i < n; i++)
        for (int a = 0; a < 3; a++) p[i][a] = random_uniform(&state, -0.7, grid->dim[a] - 0.3);
    assert_ok(gls_seeds_create_list((const double(*)[3])p, n, GLS_SEEDS_VOXEL, grid, &seeds));
    return seeds;
}

/* Makes one run of a new tracker, and checks that its counts add up. */
static inline gls_track_result track_once(gls_device *device, const gls_track_params *params,
                                          const gls_track_input *input, const gls_seeds *seeds, collection *c)
{
    gls_tracker *tracker = NULL;
    assert_ok(gls_tracker_create(device, params, input, &tracker));
    gls_track_result result = run_tracker(tracker, seeds, c);
    assert_sums(&result);
    gls_tracker_destroy(tracker);
    return result;
}

/* Returns parameters for a comparison with a reference in double precision, on voxels of 2 mm. */
static inline gls_track_params params_to_compare(gls_direction_getter dg)
{
    gls_track_params p = gls_track_params_default_for(dg);
    gls_track_params_scale(&p, 2);
    p.precision = GLS_PRECISION_FLOAT;
    p.keep_single_points = true;
    p.min_length = 0;
    p.rng_seed = 77;
    return p;
}

/* Adds the streamline of n points that a reference has tracked from a seed, and counts its two ends. */
static inline void collect_reference(collection *c, const gls_seeds *seeds, uint32_t i, const double (*point)[3],
                                     size_t n, const gls_end end[2], uint64_t ends[GLS_END_COUNT])
{
    float(*line)[3] = malloc(n * sizeof *line), seed[1][3];
    assert_non_null(line);
    for (size_t k = 0; k < n; k++)
        for (int a = 0; a < 3; a++) line[k][a] = (float)point[k][a];
    gls_seeds_get(seeds, i, 1, seed);
    gls_column column[2];
    gls_streamlines one =
        make_streamlines(1, (uint64_t[]){0, n}, (const float(*)[3])line, &i, (const float(*)[3])seed, column);
    assert_ok(collect(c, &one));
    free(line);
    for (int h = 0; h < 2; h++) ends[end[h]]++;
}

/* Tracks in half precision, and requires the same streamlines in batches of 1, 17 ... up to `most` seeds, and on
 * devices with each of three limits. *expected: the streamlines. */
static inline void assert_same_anyhow(gls_device *device, gls_track_params p, const gls_track_input *input,
                                      const gls_seeds *seeds, uint64_t most, const char *const limits[3],
                                      collection *expected)
{
    collection c;
    p.precision = GLS_PRECISION_HALF;
    track_once(device, &p, input, seeds, expected);
    for (p.batch_seeds = 1; p.batch_seeds <= most; p.batch_seeds += 16) {
        track_once(device, &p, input, seeds, &c);
        assert_same_collection(&c, expected, "batches");
        collection_finish(&c);
    }
    p.batch_seeds = 0;
    for (size_t i = 0; i < 3; i++) {
        gls_device *d = open_limited(limits[i]);
        track_once(d, &p, input, seeds, &c);
        assert_same_collection(&c, expected, limits[i]);
        collection_finish(&c);
        gls_device_close(d);
    }
}

#endif
