/* Compares streamlines of the models, as they are and mirrored at the planes x = 0, y = 0 and both, with the clusters
 * of the tractogram. */
#include "geometry/recognition_mirror.h"

#include <math.h>
#include <stdlib.h>

#include "util/allocation.h"
#include "util/status.h"
#include "util/threads.h"

/* Streamlines of the models that are compared; ways to mirror them, bit 0 x, bit 1 y. */
enum { SAMPLES = 1000, LPS = 3, WAYS = 4 };
/* Side of cells, mm; beyond FAR all clusters are compared. */
#define SIDE 16.0f
#define FAR 1e4f
/* A mirrored atlas must be nearer by this factor. */
#define BETTER 0.8
/* Ways whose distances differ by less than this factor fit as well. */
#define AS_WELL 1.1

/* Work of several threads on the samples. */
typedef struct comparison {
    const float (*centroid)[3];
    size_t points;
    gls_cells cells;
    const float (*sample[SAMPLES])[3];
    double nearest[SAMPLES][WAYS];
    uint32_t *place; /* for each thread, as many as there are clusters */
    float *gap;
} comparison;

/* For gls_cells_fill(): a centroid. */
static void copy_centroid(const void *user, size_t id, float *out)
{
    const comparison *c = user;
    gls_points_expand(c->centroid + id * c->points, c->points, c->cells.pad, false, out);
}

/* Distance of the nearest centroid. */
static double find_nearest(const comparison *c, size_t room, const float *x, const float *y)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const float slack = gls_distance_slack(c->cells.extent);
    const uint32_t *place = c->place + room;
    const float *gap = c->gap + room;
    float mean[3];
    double least = INFINITY;
    gls_points_mean(x, c->points, c->cells.pad, mean);
    for (float radius = SIDE; !(least <= (double)radius / 2); radius *= 2) {
        const bool whole = radius > FAR;
        const size_t n = gls_cells_near(&c->cells, mean, whole ? INFINITY : radius, c->place + room, c->gap + room);
        for (size_t k = 0; k < n; k++) {
            const float limit = (float)least + slack, *at = c->cells.point + place[k] * 3 * c->cells.pad;
            if (gap[k] > limit * limit) continue;
            least = fmin(least, fmin(kernel->exact(at, x, c->points, c->cells.pad),
                                     kernel->exact(at, y, c->points, c->cells.pad)));
        }
        if (whole) break;
    }
    return least;
}

/* Compares some samples. */
static void compare_some(void *user, int thread, size_t from, size_t until)
{
    comparison *c = user;
    const size_t pad = c->cells.pad, room = (size_t)thread * c->cells.n;
    float x[3 * GLS_MAX_POINTS], y[3 * GLS_MAX_POINTS];
    for (size_t i = from; i < until; i++)
        for (int way = 0; way < WAYS; way++) {
            gls_points_expand(c->sample[i], c->points, pad, false, x);
            gls_points_expand(c->sample[i], c->points, pad, true, y);
            for (size_t axis = 0; axis < 2; axis++)
                for (size_t p = axis * pad; p < (axis + 1) * pad && way >> axis & 1; p++) {
                    x[p] = -x[p];
                    y[p] = -y[p];
                }
            c->nearest[i][way] = find_nearest(c, room, x, y);
        }
}

/* Takes streamlines of all models at equal intervals. */
static size_t take_samples(const gls_recognition *r, comparison *c)
{
    size_t total = 0, count = 0, taken = 0;
    for (size_t k = 0; k < r->n_models; k++) total += r->model[k].features.n;
    const size_t every = total / SAMPLES + 1;
    for (size_t k = 0; k < r->n_models; k++) {
        const gls_features *f = &r->model[k].features;
        for (size_t i = 0; i < f->n; i++)
            if (count++ % every == 0 && gls_features_has(f, i))
                c->sample[taken++] = (const float(*)[3])f->point + i * f->points;
    }
    return taken;
}

gls_status gls_recognition_find_mirror(gls_recognition *r, const float (*centroid)[3], size_t n)
{
    gls_status status = GLS_OK;
    double sum[WAYS] = {0};
    comparison *c = calloc(1, sizeof *c);
    if (!c) return gls_no_memory();
    const size_t samples = take_samples(r, c);
    if (n > 0 && samples > 0) {
        const size_t room = (size_t)r->n_threads * n;
        c->centroid = centroid;
        c->points = r->model[0].features.points;
        status = gls_cells_fill(&c->cells, n, c->points, SIDE, copy_centroid, c, r->n_threads);
        c->place = malloc(room * sizeof *c->place);
        c->gap = malloc(room * sizeof *c->gap);
        if (!status && (!c->place || !c->gap)) status = gls_no_memory();
        if (!status) gls_parallel(samples, 16, r->n_threads, compare_some, c);
        for (size_t i = 0; i < samples && !status; i++)
            for (int way = 0; way < WAYS; way++) sum[way] += c->nearest[i][way];
    }
    for (int way = 1; way < WAYS; way++)
        if (sum[way] < BETTER * sum[0] && sum[way] < sum[r->mirror.axes]) r->mirror.axes = way;
    /* both halves of a brain are alike: of two ways that fit as well, this is the usual mistake */
    if (r->mirror.axes && sum[LPS] < BETTER * sum[0] && sum[LPS] < AS_WELL * sum[r->mirror.axes]) r->mirror.axes = LPS;
    if (samples > 0) {
        r->mirror.before = sum[0] / (double)samples;
        r->mirror.after = sum[r->mirror.axes] / (double)samples;
    }
    gls_cells_finish(&c->cells);
    free(c->place);
    free(c->gap);
    free(c);
    return status;
}
