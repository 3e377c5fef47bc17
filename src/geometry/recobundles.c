/* RecoBundles: clusters of the tractogram near a model, a registration of both, and the clusters that are near the
 * model then. Registration and pruning work on streamlines of 20 points, which are moved as they are. */
#include "geometry/recobundles.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/draws.h"
#include "geometry/model_clusters.h"
#include "geometry/sorted_cells.h"
#include "streamlines/builder.h"
#include "util/allocation.h"
#include "util/status.h"
#include "util/threads.h"

enum { POINTS = GLS_RECOBUNDLES_POINTS, PAD = 24, MOST = 500000, BLOCK = 16384 };
_Static_assert(PAD % GLS_POINT_LANES == 0 && PAD >= POINTS && PAD < POINTS + GLS_POINT_LANES, "as gls_point_pad()");
/* A centroid is covered by streamlines within this distance, mm. */
#define COVERED 4.0
/* Beyond this distance, mm, all centroids are compared. */
#define FAR 1e4

/* Clusters of streamlines: their centroids, and their members one after the other. */
typedef struct groups {
    float (*centroid)[3];
    size_t n;
    uint64_t *first, *line;
} groups;

struct gls_recobundles {
    gls_recobundles_options options;
    gls_features features; /* streamlines of the right length */
    uint64_t *id;          /* the number of each in the tractogram */
    size_t capacity;
    uint64_t n; /* streamlines of the tractogram */
    gls_clusters *clusters;
    groups wide;         /* the clusters of the tractogram */
    gls_recobundle last; /* what gls_recobundles_recognize() found last */
};

gls_recobundles_options gls_recobundles_options_default(void)
{
    return (gls_recobundles_options){
        .size = sizeof(gls_recobundles_options), .min_length = 50, .max_length = 1e6, .cluster = 15};
}

gls_recobundles_model gls_recobundles_model_default(void)
{
    return (gls_recobundles_model){.size = sizeof(gls_recobundles_model),
                                   .model_cluster = 2.5,
                                   .reduction = 15,
                                   .pruning = 8,
                                   .pruning_cluster = 5,
                                   .select_model = 400,
                                   .select_near = 600};
}

gls_slr_options gls_recobundles_slr(gls_slr_type type)
{
    gls_slr_options o = gls_slr_options_default();
    o.type = type;
    o.progressive = false;
    for (int k = 0; k < GLS_SLR_MAX; k++) {
        o.high[k] = k < 3 ? 30 : k < 6 ? 45 : k < 9 ? 1.2 : 10;
        o.low[k] = k >= 6 && k < 9 ? 0.8 : -o.high[k];
    }
    return o;
}

static void finish(groups *g)
{
    free(g->centroid);
    free(g->first);
    free(g->line);
    *g = (groups){.n = 0};
}

void gls_recobundle_finish(gls_recobundle *b)
{
    free(b->place);
    free(b->line);
    free(b->distance);
    *b = (gls_recobundle){.n = 0};
}

void gls_recobundles_destroy(gls_recobundles *r)
{
    if (!r) return;
    gls_features_finish(&r->features);
    gls_clusters_destroy(r->clusters);
    finish(&r->wide);
    gls_recobundle_finish(&r->last);
    free(r->id);
    free(r);
}

gls_status gls_recobundles_create(const gls_recobundles_options *o, gls_recobundles **recobundles)
{
    GLS_REQUIRE(o && recobundles);
    GLS_REQUIRE_SIZE(o);
    if (!(o->cluster > 0 && o->cluster < 20))
        return gls_fail(GLS_ERR_ARGUMENT, "RecoBundles: the threshold of clusters, %g mm, must be above 0 and below 20",
                        o->cluster);
    if (!(o->min_length >= 0 && o->min_length < o->max_length))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "RecoBundles: min_length %g mm must be 0 or more, and below max_length, %g mm", o->min_length,
                        o->max_length);
    gls_recobundles *r = calloc(1, sizeof *r);
    if (!r) return gls_no_memory();
    r->options = *o;
    gls_features_init(&r->features, POINTS, false);
    *recobundles = r;
    return GLS_OK;
}

/* --- The tractogram. */

/* Lengths of the streamlines of a block. */
static void measure_one(void *user, int thread, const gls_streamlines *s, size_t i)
{
    float *length = user;
    (void)thread;
    length[i] = (float)gls_builder_length(s, i);
}

/* Takes those streamlines of a block that have the length. */
static gls_status append(void *user, const gls_streamlines *s)
{
    gls_recobundles *r = user;
    const gls_recobundles_options *o = &r->options;
    const size_t points = s->n > 0 ? (size_t)(s->offset[s->n] - s->offset[0]) : 0;
    if (!gls_list_grow(&r->id, r->features.n + s->n, &r->capacity, sizeof *r->id)) return gls_no_memory();
    float *length = malloc((s->n + 1) * sizeof *length), (*point)[3] = malloc((points + 1) * sizeof *point);
    uint64_t *offset = malloc((s->n + 1) * sizeof *offset);
    gls_streamlines kept = {.offset = offset, .point = (const float(*)[3])point};
    gls_status status = length && point && offset ? GLS_OK : gls_no_memory();
    if (!status) gls_lines_parallel(s, 256, r->features.n_threads, measure_one, length);
    if (!status) offset[0] = 0;
    for (size_t i = 0; i < s->n && !status; i++) {
        const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        /* one whose length is no number is taken, so that its point is refused */
        if (isfinite(length[i]) && !((double)length[i] > o->min_length && (double)length[i] < o->max_length)) continue;
        memcpy(point + offset[kept.n], s->point + s->offset[i], n * sizeof *point);
        r->id[r->features.n + kept.n] = r->n + i;
        offset[kept.n + 1] = offset[kept.n] + n;
        kept.n++;
    }
    if (!status) status = gls_features_add(&r->features, &kept);
    if (!status) r->n += s->n;
    free(length);
    free(point);
    free(offset);
    return status;
}

gls_sink gls_recobundles_sink(gls_recobundles *r)
{
    return (gls_sink){.append = append, .user = r};
}

/* Hands streamlines of POINTS points to clusters. */
static gls_status cluster(gls_clusters *clusters, const float (*point)[3], size_t n)
{
    const gls_sink sink = gls_clusters_sink(clusters);
    uint64_t *offset = malloc((BLOCK + 1) * sizeof *offset);
    gls_status status = offset ? GLS_OK : gls_no_memory();
    for (size_t i = 0; i <= BLOCK && !status; i++) offset[i] = i * POINTS;
    for (size_t from = 0; from < n && !status; from += BLOCK) {
        const gls_streamlines s = {
            .n = n - from < BLOCK ? n - from : BLOCK, .offset = offset, .point = point + from * POINTS};
        status = gls_sink_append(&sink, &s);
    }
    free(offset);
    return status;
}

/* Takes centroids and members of clusters. */
static gls_status take(gls_clusters *clusters, groups *g)
{
    gls_status status = gls_model_clusters_take(clusters, &g->centroid, &g->n);
    if (status) return status;
    g->first = malloc((g->n + 1) * sizeof *g->first);
    g->line = malloc((size_t)(gls_clusters_streamlines(clusters) + 1) * sizeof *g->line);
    return g->first && g->line ? gls_clusters_list(clusters, g->first, g->line) : gls_no_memory();
}

gls_status gls_recobundles_complete(gls_recobundles *r)
{
    static const double above[] = {40, 25, 20};
    GLS_REQUIRE(r && !r->wide.first);
    const gls_recobundles_options *o = &r->options;
    gls_status status = gls_model_clusters_begin(above, 3, o->cluster, 0, 0, o->seed, o->draws, &r->clusters);
    if (!status) status = cluster(r->clusters, (const float(*)[3])r->features.point, r->features.n);
    return status ? status : take(r->clusters, &r->wide);
}

gls_status gls_recobundles_take_clusters(gls_recobundles *r, size_t n, const float (*centroid)[3],
                                         const uint64_t *first, const uint64_t *line)
{
    GLS_REQUIRE(r && !r->wide.first && first && (n == 0 || (centroid && line)));
    groups *g = &r->wide;
    for (uint64_t k = 0; k < first[n]; k++)
        if (line[k] >= r->features.n)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "RecoBundles: a cluster has streamline %" PRIu64 ", but there are %zu (counted from 0)",
                            line[k], r->features.n);
    g->centroid = malloc((n * POINTS + 1) * sizeof *g->centroid);
    g->first = malloc((n + 1) * sizeof *g->first);
    g->line = malloc((size_t)(first[n] + 1) * sizeof *g->line);
    if (!g->centroid || !g->first || !g->line) return gls_no_memory();
    if (n > 0) memcpy(g->centroid, centroid, n * POINTS * sizeof *g->centroid);
    if (n > 0) memcpy(g->line, line, (size_t)first[n] * sizeof *g->line);
    memcpy(g->first, first, (n + 1) * sizeof *g->first);
    g->n = n;
    return GLS_OK;
}

const gls_clusters *gls_recobundles_clusters(const gls_recobundles *r)
{
    return r->clusters;
}

uint64_t gls_recobundles_line(const gls_recobundles *r, uint64_t k)
{
    return k < r->features.n ? r->id[k] : UINT64_MAX;
}

const gls_features *gls_recobundles_features(const gls_recobundles *r)
{
    return &r->features;
}

/* --- A model. */

/* A model, and how far the search for its bundle has come. */
typedef struct search {
    const gls_recobundles *r;
    const gls_recobundles_model *o;
    gls_recobundle *bundle;
    float (*model)[3], (*near)[3]; /* streamlines of the model, and of its neighbourhood */
    uint64_t *line;                /* those of the neighbourhood among the features */
    size_t n_model, n_near;
    groups own;    /* clusters of the model */
    groups around; /* clusters with the neighbourhood around them; empty: those of the model */
    groups pruned; /* clusters of the moved neighbourhood */
    /* centroids of `sorted`, and for each thread memory for those near a streamline */
    gls_cells cells;
    const groups *sorted;
    uint32_t *place;
    float *gap;
    atomic_bool *covered; /* whether a centroid of the model has a streamline of the bundle near it */
} search;

/* Copies the streamlines that have a length. */
static gls_status copy(const gls_features *f, float (**point)[3], size_t *n)
{
    *n = 0;
    *point = malloc((f->n * POINTS + 1) * sizeof **point);
    if (!*point) return gls_no_memory();
    for (size_t i = 0; i < f->n; i++)
        if (gls_features_has(f, i)) memcpy(*point + (*n)++ * POINTS, f->point + i * POINTS, POINTS * sizeof **point);
    return GLS_OK;
}

/* Clusters streamlines. use: so that random orders differ. */
static gls_status group(const search *s, const float (*point)[3], size_t n, const double *above, size_t n_above,
                        double last, uint32_t use, groups *g)
{
    gls_clusters *clusters = NULL;
    const uint64_t seed = s->o->seed ^ (uint64_t)use << 32;
    gls_status status = gls_model_clusters_begin(above, n_above, last, 0, MOST, seed, s->r->options.draws, &clusters);
    if (!status) status = cluster(clusters, point, n);
    if (!status) status = take(clusters, g);
    gls_clusters_destroy(clusters);
    return status;
}

/* For gls_cells_fill(): a centroid. */
static void copy_centroid(const void *user, size_t id, float *out)
{
    const groups *g = user;
    gls_points_expand((const float(*)[3])g->centroid + id * POINTS, POINTS, PAD, false, out);
}

/* Sorts the centroids of clusters, and allocates memory for those near a streamline. side: of cells, mm. */
static gls_status sort_centroids(search *s, const groups *g, double side)
{
    const size_t room = (size_t)s->r->features.n_threads * (g->n + 1);
    gls_status status =
        gls_cells_fill(&s->cells, g->n, POINTS, (float)side, copy_centroid, g, s->r->features.n_threads);
    free(s->place);
    free(s->gap);
    s->place = malloc(room * sizeof *s->place);
    s->gap = malloc(room * sizeof *s->gap);
    s->sorted = g;
    return status || (s->place && s->gap) ? status : gls_no_memory();
}

/* A streamline that is compared with the sorted centroids, and how far distances in float32 may be from the true ones.
 */
typedef struct probe {
    const float (*line)[3];
    float x[3 * PAD], y[3 * PAD], mean[3], slack;
} probe;

static void aim(const search *s, const float (*line)[3], probe *p)
{
    float extent = s->cells.extent;
    p->line = line;
    gls_points_expand(line, POINTS, PAD, false, p->x);
    gls_points_expand(line, POINTS, PAD, true, p->y);
    gls_points_mean(p->x, POINTS, PAD, p->mean);
    for (size_t k = 0; k < 3 * PAD; k++) extent = fmaxf(extent, fabsf(p->x[k]));
    p->slack = gls_distance_slack(extent);
}

/* Distance from the centroid at a place in float32. */
static float estimate(const search *s, const probe *p, uint32_t place)
{
    float d, e;
    gls_geometry_kernels()->both(s->cells.point + (size_t)place * 3 * PAD, p->x, p->y, POINTS, PAD, &d, &e);
    return fminf(d, e);
}

/* The same in double precision. */
static double measure(const search *s, const probe *p, uint32_t place)
{
    const float(*centroid)[3] = (const float(*)[3])s->sorted->centroid + s->cells.id[place] * POINTS;
    return gls_centroids_distance(centroid, p->line, POINTS);
}

/* Whether a streamline lies within a distance of any of the sorted centroids, or at it. */
static bool is_near(const search *s, int thread, const float (*line)[3], double distance)
{
    const size_t room = (size_t)thread * (s->cells.n + 1);
    const uint32_t *place = s->place + room;
    probe p;
    aim(s, line, &p);
    const size_t n = gls_cells_near(&s->cells, p.mean, (float)distance + p.slack, s->place + room, s->gap + room);
    for (size_t k = 0; k < n; k++)
        if (estimate(s, &p, place[k]) <= (float)distance + p.slack && measure(s, &p, place[k]) <= distance) return true;
    return false;
}

/* A search for centroids that lie near the sorted ones. */
typedef struct nearby {
    const search *s;
    const groups *g;
    double distance;
    bool *near;
} nearby;

static void mark_some(void *user, int thread, size_t from, size_t until)
{
    const nearby *w = user;
    for (size_t k = from; k < until; k++)
        w->near[k] = is_near(w->s, thread, (const float(*)[3])w->g->centroid + k * POINTS, w->distance);
}

/* Lists the streamlines of those clusters that lie near the sorted centroids. */
static gls_status list_near(const search *s, const groups *g, double distance, uint64_t **line, size_t *n)
{
    nearby w = {s, g, distance, malloc((g->n + 1) * sizeof *w.near)};
    if (!w.near) return gls_no_memory();
    gls_parallel(g->n, 64, s->r->features.n_threads, mark_some, &w);
    *n = 0;
    for (size_t k = 0; k < g->n; k++)
        if (w.near[k]) *n += (size_t)(g->first[k + 1] - g->first[k]);
    *line = malloc((*n + 1) * sizeof **line);
    *n = 0;
    for (size_t k = 0; k < g->n && *line; k++)
        for (uint64_t m = g->first[k]; m < g->first[k + 1] && w.near[k]; m++) (*line)[(*n)++] = g->line[m];
    free(w.near);
    return *line ? GLS_OK : gls_no_memory();
}

/* Finds the clusters of the tractogram near the model, and copies their streamlines. */
static gls_status find_neighbourhood(search *s)
{
    const gls_features *f = &s->r->features;
    const bool other = s->around.centroid != NULL;
    gls_status status = sort_centroids(s, other ? &s->around : &s->own, s->o->reduction);
    if (!status) status = list_near(s, &s->r->wide, s->o->reduction, &s->line, &s->n_near);
    if (status) return status;
    s->near = malloc((s->n_near * POINTS + 1) * sizeof *s->near);
    if (!s->near) return gls_no_memory();
    for (size_t i = 0; i < s->n_near; i++)
        memcpy(s->near + i * POINTS, f->point + s->line[i] * POINTS, POINTS * sizeof *s->near);
    return GLS_OK;
}

/* Copies at most k of n streamlines, which are drawn. */
static gls_status choose(const search *s, const float (*point)[3], size_t n, size_t k, uint32_t use, float (**out)[3],
                         size_t *n_out)
{
    uint64_t *drawn = NULL;
    *n_out = n < k ? n : k;
    *out = malloc((*n_out * POINTS + 1) * sizeof **out);
    gls_status status = *out ? GLS_OK : gls_no_memory();
    if (!status) status = gls_draws_take(s->r->options.draws, s->o->seed, use, n, *n_out, &drawn);
    for (size_t i = 0; i < *n_out && !status; i++)
        memcpy(*out + i * POINTS, point + drawn[i] * POINTS, POINTS * sizeof **out);
    free(drawn);
    return status;
}

/* Registers the neighbourhood to the model, and moves it. */
static gls_status move(search *s, gls_recobundles_result *result)
{
    const gls_slr_options similar = gls_recobundles_slr(GLS_SLR_SIMILARITY), *o = s->o->slr ? s->o->slr : &similar;
    float(*fixed)[3] = NULL, (*moving)[3] = NULL;
    size_t n_fixed = 0, n_moving = 0;
    gls_status status = choose(s, (const float(*)[3])s->model, s->n_model, s->o->select_model, 2, &fixed, &n_fixed);
    if (!status) status = choose(s, (const float(*)[3])s->near, s->n_near, s->o->select_near, 3, &moving, &n_moving);
    if (!status)
        status = gls_slr_find(o, (const float(*)[3])fixed, n_fixed, (const float(*)[3])moving, n_moving, POINTS,
                              &result->slr);
    if (!status) gls_centroids_move((const double(*)[4])result->slr.matrix, s->near, s->n_near * POINTS);
    result->registered = !status;
    free(fixed);
    free(moving);
    return status;
}

/* Finds the distances of some streamlines of the bundle from the model, and which centroids they cover. */
static void measure_some(void *user, int thread, size_t from, size_t until)
{
    const search *s = user;
    const size_t room = (size_t)thread * (s->cells.n + 1);
    const uint32_t *place = s->place + room;
    const float *gap = s->gap + room;
    for (size_t i = from; i < until; i++) {
        double least = INFINITY, radius = fmax(s->o->pruning, COVERED);
        bool whole = false;
        probe p;
        aim(s, (const float(*)[3])s->near + s->bundle->place[i] * POINTS, &p);
        for (; !whole && !(least <= radius / 2); radius *= 2) {
            whole = radius > FAR;
            const float wide = whole ? INFINITY : (float)radius;
            const size_t n = gls_cells_near(&s->cells, p.mean, wide, s->place + room, s->gap + room);
            size_t closest = 0;
            /* one with the nearest barycentre bounds the others */
            for (size_t k = 1; k < n; k++)
                if (gap[k] < gap[closest]) closest = k;
            if (n > 0) least = measure(s, &p, place[closest]);
            for (size_t k = 0; k < n; k++) {
                atomic_bool *covered = &s->covered[s->cells.id[place[k]]];
                const bool known = atomic_load_explicit(covered, memory_order_relaxed);
                const float limit = (float)(known ? least : fmax(least, COVERED)) + p.slack;
                if (gap[k] > limit * limit || estimate(s, &p, place[k]) > limit) continue;
                const double d = measure(s, &p, place[k]);
                least = fmin(least, d);
                if (d <= COVERED) atomic_store_explicit(covered, true, memory_order_relaxed);
            }
        }
        s->bundle->distance[i] = (float)least;
    }
}

/* Measures the bundle. Sets the share of the model's centroids that have a streamline of it near them. */
static gls_status measure_all(search *s, double *coverage)
{
    gls_recobundle *b = s->bundle;
    size_t covered = 0;
    b->distance = malloc((size_t)(b->n + 1) * sizeof *b->distance);
    s->covered = malloc((s->own.n + 1) * sizeof *s->covered);
    if (!b->distance || !s->covered) return gls_no_memory();
    for (size_t k = 0; k < s->own.n; k++) atomic_init(&s->covered[k], false);
    gls_parallel((size_t)b->n, 64, s->r->features.n_threads, measure_some, s);
    for (size_t k = 0; k < s->own.n; k++) covered += atomic_load(&s->covered[k]);
    *coverage = s->own.n > 0 ? (double)covered / (double)s->own.n : 0;
    return GLS_OK;
}

/* Keeps the clusters of the moved neighbourhood that are near the model. */
static gls_status prune(search *s, gls_recobundles_result *result)
{
    static const double above[] = {40, 30, 20, 10};
    gls_recobundle *b = s->bundle;
    size_t n = 0;
    gls_status status = group(s, (const float(*)[3])s->near, s->n_near, above, 4, s->o->pruning_cluster, 2, &s->pruned);
    if (!status) status = sort_centroids(s, &s->own, s->o->pruning);
    if (!status) status = list_near(s, &s->pruned, s->o->pruning, &b->place, &n);
    b->n = n;
    if (!status) status = measure_all(s, &result->coverage);
    b->line = malloc((n + 1) * sizeof *b->line);
    if (status || !b->line) return status ? status : gls_no_memory();
    for (size_t i = 0; i < n; i++) {
        b->place[i] = s->line[b->place[i]];
        b->line[i] = s->r->id[b->place[i]];
    }
    result->n = n;
    result->line = b->line;
    result->distance = b->distance;
    return GLS_OK;
}

/* Checks what options may be. */
static gls_status check(const gls_recobundles_model *o)
{
    if (!(o->model_cluster > 0 && o->model_cluster < 20) || !(o->pruning_cluster > 0 && o->pruning_cluster < 10))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "RecoBundles: the thresholds of clusters, %g mm for the model and %g mm for pruning, must be above 0, "
            "and below 20 and 10",
            o->model_cluster, o->pruning_cluster);
    if (!(o->reduction > 0 && o->pruning > 0))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "RecoBundles: the distances %g mm (reduction) and %g mm (pruning) must be above 0",
                        o->reduction, o->pruning);
    if (o->select_model < 1 || o->select_near < 1)
        return gls_fail(GLS_ERR_ARGUMENT, "RecoBundles: at least one streamline of each side must be registered");
    return GLS_OK;
}

gls_status gls_recobundles_find(const gls_recobundles *r, const gls_recobundles_model *o, const gls_features *model,
                                const gls_features *around, gls_recobundle *bundle, gls_recobundles_result *result)
{
    static const double above[] = {40, 25, 20};
    search s = {.r = r, .o = o, .bundle = bundle};
    float(*other)[3] = NULL;
    size_t n_other = 0;
    *result = (gls_recobundles_result){.n = 0};
    gls_status status = check(o);
    if (!status) status = copy(model, &s.model, &s.n_model);
    if (!status && around) status = copy(around, &other, &n_other);
    gls_recobundle_finish(bundle);
    if (!status) status = group(&s, (const float(*)[3])s.model, s.n_model, above, 3, o->model_cluster, 0, &s.own);
    if (!status && around)
        status = group(&s, (const float(*)[3])other, n_other, above, 3, o->model_cluster, 1, &s.around);
    if (!status) status = find_neighbourhood(&s);
    result->centroids = s.own.n;
    result->neighbours = s.n_near;
    if (!status && s.n_near > 0 && !o->stays) status = move(&s, result);
    if (!status && s.n_near > 0) status = prune(&s, result);
    free(s.model);
    free(s.near);
    free(s.line);
    free(other);
    finish(&s.own);
    finish(&s.around);
    finish(&s.pruned);
    gls_cells_finish(&s.cells);
    free(s.place);
    free(s.gap);
    free(s.covered);
    return status;
}

gls_status gls_recobundles_refine(const gls_recobundles *r, const gls_recobundles_model *o, const gls_features *model,
                                  gls_recobundle *bundle, gls_recobundles_result *result)
{
    if (bundle->n == 0) return GLS_OK;
    gls_features around;
    gls_features_init(&around, POINTS, false);
    around.n = (size_t)bundle->n;
    around.point = malloc(around.n * POINTS * sizeof *around.point);
    if (!around.point) return gls_no_memory();
    for (size_t i = 0; i < around.n; i++)
        memcpy(around.point + i * POINTS, r->features.point + bundle->place[i] * POINTS, POINTS * sizeof *around.point);
    gls_status status = gls_recobundles_find(r, o, model, &around, bundle, result);
    gls_features_finish(&around);
    return status;
}

gls_status gls_recobundles_recognize(gls_recobundles *r, const gls_recobundles_model *o, const gls_streamlines *model,
                                     const gls_streamlines *around, gls_recobundles_result *result)
{
    GLS_REQUIRE(r && r->wide.first && o && model && result);
    GLS_REQUIRE_SIZE(o);
    gls_features own, other;
    gls_features_init(&own, POINTS, false);
    gls_features_init(&other, POINTS, false);
    gls_status status = gls_features_add(&own, model);
    if (!status && around) status = gls_features_add(&other, around);
    if (!status) status = gls_recobundles_find(r, o, &own, around ? &other : NULL, &r->last, result);
    gls_features_finish(&own);
    gls_features_finish(&other);
    return status;
}
