/* Recognition of bundles. The tractogram and the models are clustered; each model is moved to the clusters near it by a
 * registration of centroids; then one search finds for each streamline the models near it, and atlases vote. */
#include <glslines/recognition.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/clusters.h>

#include "geometry/features.h"
#include "geometry/recognition.h"
#include "geometry/sorted_cells.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"

/* Number of points of a streamline; largest number of centroids in a registration. */
enum { POINTS = 12, SELECTED = 250 };
/* A centroid is covered by streamlines within this distance, mm. */
#define COVERED 4.0

/* A model bundle of an atlas. */
typedef struct model {
    gls_model_info info;
    char *atlas;
    gls_features features;  /* the streamlines of the bundle; moved by the registration */
    gls_clusters *clusters; /* clusters of its streamlines; NULL as soon as the centroids are copied */
    float (*centroid)[3];   /* centroids of its clusters, POINTS each; moved by the registration */
    uint8_t *covered;       /* whether a centroid has a streamline near it */
} model;

/* Models near one streamline, on one thread. */
typedef struct worker {
    gls_hit *list;
    size_t n, capacity;
    double *nearest; /* distance of the nearest streamline of each model */
    uint64_t *votes; /* for each model the number of streamlines that it recognises */
    uint32_t *near, n_near;
    uint32_t *place; /* candidates of a search */
    float *gap;
    bool failed;
} worker;

/* Where the bundles of a streamline lie. */
typedef struct where {
    int thread;
    size_t from, n;
} where;

/* A bundle, and what is known of it at the end. */
typedef struct bundle {
    gls_recognized info;
    char *name;
    float *distance; /* distance of each of its streamlines from the models of the bundle, mm */
    size_t capacity;
} bundle;

struct gls_recognition {
    gls_recognition_options options;
    model *model;
    bundle *bundle;
    size_t n_models, n_bundles;
    gls_features features; /* streamlines of the tractogram */
    gls_clusters *clusters;
    /* centroids of the tractogram, and streamlines of the moved models */
    float (*centroid)[3];
    size_t n_centroids;
    gls_cells cells;
    uint32_t *owner; /* the model of each set of the cells */
    uint64_t *first; /* number of the first streamline of each model among these sets */
    double widest;   /* largest threshold, mm */
    worker *worker;
    where *where;
    int n_threads;
    uint64_t found, shared;
    double gap; /* distance between the means of models and tractogram, mm */
};

gls_recognition_options gls_recognition_options_default(void)
{
    return (gls_recognition_options){.size = sizeof(gls_recognition_options),
                                     .cluster = 12,
                                     .model_cluster = 4,
                                     .reduction = 16,
                                     .vote_ratio = 0.5,
                                     .local = true};
}

gls_status gls_recognition_create(const gls_recognition_options *o, gls_recognition **recognition)
{
    GLS_REQUIRE(o && recognition);
    GLS_REQUIRE_SIZE(o);
    if (!(o->cluster > 0 && o->cluster < 25))
        return gls_fail(GLS_ERR_ARGUMENT, "recognition: the threshold of clusters, %g mm, must be above 0 and below 25",
                        o->cluster);
    if (!(o->model_cluster > 0 && o->model_cluster < 15))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "recognition: the threshold of clusters of models, %g mm, must be above 0 and below 15",
                        o->model_cluster);
    if (!(o->reduction > 0) || !(o->vote_ratio > 0 && o->vote_ratio <= 1))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "recognition: the reduction, %g mm, must be above 0, and the ratio of votes, %g, above 0 and at "
            "most 1",
            o->reduction, o->vote_ratio);
    gls_recognition *r = calloc(1, sizeof *r);
    if (!r) return gls_no_memory();
    r->options = *o;
    r->n_threads = omp_get_max_threads();
    gls_features_init(&r->features, POINTS, false);
    *recognition = r;
    return GLS_OK;
}

void gls_recognition_destroy(gls_recognition *r)
{
    if (!r) return;
    for (size_t k = 0; k < r->n_models; k++) {
        free(r->model[k].atlas);
        gls_features_finish(&r->model[k].features);
        gls_clusters_destroy(r->model[k].clusters);
        free(r->model[k].centroid);
        free(r->model[k].covered);
    }
    for (size_t k = 0; k < r->n_bundles; k++) {
        free(r->bundle[k].name);
        free(r->bundle[k].distance);
    }
    for (int t = 0; r->worker && t < r->n_threads; t++) {
        free(r->worker[t].list);
        free(r->worker[t].nearest);
        free(r->worker[t].votes);
        free(r->worker[t].near);
        free(r->worker[t].place);
        free(r->worker[t].gap);
    }
    free(r->worker);
    gls_features_finish(&r->features);
    gls_clusters_destroy(r->clusters);
    gls_cells_finish(&r->cells);
    free(r->model);
    free(r->bundle);
    free(r->centroid);
    free(r->owner);
    free(r->first);
    free(r->where);
    free(r);
}

/* --- Streamlines come. */

/* Begins clusters whose centroids are merged. last: their last threshold. */
static gls_status begin_clusters(const double *above, double last, uint64_t seed, gls_clusters **clusters)
{
    const double levels[] = {above[0], above[1], above[2], last};
    gls_cluster_options o = gls_cluster_options_default();
    o.method = GLS_CLUSTER_MERGED;
    o.threshold = levels;
    o.n_thresholds = 4;
    o.points = POINTS;
    o.reverse = GLS_CLUSTER_REVERSE_COPIED;
    o.order = GLS_CLUSTER_ORDER_RANDOM;
    o.seed = seed;
    return gls_clusters_create(&o, clusters);
}

/* Returns a seed that differs between models and does not depend on their order. */
static uint64_t seed_of(const gls_recognition *r, const char *name)
{
    uint64_t hash = 14695981039346656037u ^ r->options.seed;
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

/* Takes streamlines of a model. */
static gls_status append_model(void *user, const gls_streamlines *s)
{
    gls_recognition *r = user;
    model *m = &r->model[r->n_models - 1];
    const gls_sink sink = gls_clusters_sink(m->clusters);
    gls_status status = gls_features_add(&m->features, s);
    return status ? status : gls_sink_append(&sink, s);
}

/* Finds the bundle of this name, or adds it. */
static gls_status find_bundle(gls_recognition *r, const char *name, size_t *index)
{
    for (*index = 0; *index < r->n_bundles; (*index)++)
        if (strcmp(r->bundle[*index].name, name) == 0) return GLS_OK;
    bundle *more = realloc(r->bundle, (r->n_bundles + 1) * sizeof *more);
    if (!more) return gls_no_memory();
    r->bundle = more;
    r->bundle[r->n_bundles] = (bundle){.name = gls_text_copy(name)};
    if (!r->bundle[r->n_bundles].name) return gls_no_memory();
    r->bundle[r->n_bundles].info.name = r->bundle[r->n_bundles].name;
    r->n_bundles++;
    return GLS_OK;
}

gls_status gls_recognition_add(gls_recognition *r, const char *atlas, const char *name, double threshold,
                               gls_sink *sink)
{
    static const double above[] = {30, 20, 15};
    GLS_REQUIRE(r && atlas && name && sink && !r->clusters);
    if (!(threshold > 0 && isfinite(threshold)))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: the threshold %g mm must be finite and above 0", name, threshold);
    for (size_t k = 0; k < r->n_models; k++)
        if (strcmp(r->model[k].info.bundle, name) == 0 && strcmp(r->model[k].atlas, atlas) == 0)
            return gls_fail(GLS_ERR_ARGUMENT, "%s: two files have the bundle %s", atlas, name);
    size_t index = 0;
    gls_status status = find_bundle(r, name, &index);
    if (!status && index >= GLS_BUNDLE_NONE)
        status = gls_fail(GLS_ERR_UNSUPPORTED, "more than %u bundles cannot be recognised at once", GLS_BUNDLE_NONE);
    if (status) return status;
    model *more = realloc(r->model, (r->n_models + 1) * sizeof *more);
    if (!more) return gls_no_memory();
    r->model = more;
    model *m = &r->model[r->n_models];
    *m = (model){.atlas = gls_text_copy(atlas)};
    if (!m->atlas) return gls_no_memory();
    m->info = (gls_model_info){
        .bundle = r->bundle[index].name, .atlas = m->atlas, .index = index, .threshold = threshold, .scale = 1};
    gls_features_init(&m->features, POINTS, false);
    r->n_models++;
    *sink = (gls_sink){.append = append_model, .user = r};
    return begin_clusters(above, r->options.model_cluster, seed_of(r, name), &m->clusters);
}

/* Takes streamlines of the tractogram. */
static gls_status append(void *user, const gls_streamlines *s)
{
    static const double above[] = {45, 35, 25};
    gls_recognition *r = user;
    gls_status status = GLS_OK;
    if (r->features.n + s->n >= UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "bundles of more than %u streamlines cannot be recognised at once",
                        UINT32_MAX);
    if (!r->clusters) status = begin_clusters(above, r->options.cluster, r->options.seed, &r->clusters);
    if (!status) status = gls_features_add(&r->features, s);
    if (status || !r->options.local) return status;
    const gls_sink sink = gls_clusters_sink(r->clusters);
    return gls_sink_append(&sink, s);
}

gls_sink gls_recognition_sink(gls_recognition *r)
{
    return (gls_sink){.append = append, .user = r};
}

/* --- Registration of models. */

/* Completes clusters and copies their centroids. */
static gls_status take_centroids(gls_clusters *clusters, float (**centroid)[3], size_t *n)
{
    *n = 0;
    if (!clusters) return GLS_OK;
    gls_status status = gls_clusters_complete(clusters);
    if (status) return status;
    const size_t count = gls_clusters_count(clusters);
    *centroid = malloc((count * POINTS + 1) * sizeof **centroid);
    if (!*centroid) return gls_no_memory();
    for (size_t k = 0; k < count; k++) gls_clusters_centroid(clusters, k, *centroid + k * POINTS);
    *n = count;
    return GLS_OK;
}

/* Returns the MDF distance of two point sets, mm. */
static double measure(const float (*a)[3], const float (*b)[3])
{
    double direct = 0, turned = 0;
    for (size_t p = 0; p < POINTS; p++) {
        const float *x = a[p], *y = b[p], *z = b[POINTS - 1 - p];
        const double u[3] = {(double)(x[0] - y[0]), (double)(x[1] - y[1]), (double)(x[2] - y[2])},
                     v[3] = {(double)(x[0] - z[0]), (double)(x[1] - z[1]), (double)(x[2] - z[2])};
        direct += sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        turned += sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return fmin(direct, turned) / POINTS;
}

/* Whether the barycentres of two point sets lie within a distance. Those of sets that are nearer than it always do. */
static bool may_be_near(const float (*a)[3], const float (*b)[3], double distance)
{
    double gap[3] = {0};
    for (size_t p = 0; p < POINTS; p++)
        for (int k = 0; k < 3; k++) gap[k] += (double)a[p][k] - (double)b[p][k];
    return sqrt(gap[0] * gap[0] + gap[1] * gap[1] + gap[2] * gap[2]) <= POINTS * (distance + 1e-3);
}

/* An item with its random key. */
typedef struct keyed {
    uint64_t key;
    uint32_t item;
} keyed;

/* Comparison for qsort(): by key, then by number. */
static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Copies at most SELECTED of the centroids list[0 .. n - 1], chosen by random keys. Returns their number. */
static size_t choose(const float (*centroid)[3], keyed *list, size_t n, uint64_t seed, uint32_t use, float (*out)[3])
{
    for (size_t k = 0; k < n; k++) {
        uint32_t word[4];
        gls_philox((const uint32_t[4]){list[k].item, use, 1, GLS_PHILOX_ORDER}, seed, word);
        list[k].key = (uint64_t)word[1] << 32 | word[0];
    }
    qsort(list, n, sizeof *list, by_key);
    n = n < SELECTED ? n : SELECTED;
    for (size_t k = 0; k < n; k++) memcpy(out + k * POINTS, centroid + list[k].item * POINTS, POINTS * sizeof *out);
    return n;
}

/* Moves points by a matrix. */
static void move(const double m[3][4], float (*point)[3], size_t n)
{
    for (size_t p = 0; p < n; p++) {
        const double x = (double)point[p][0], y = (double)point[p][1], z = (double)point[p][2];
        for (int k = 0; k < 3; k++) point[p][k] = (float)(m[k][0] * x + m[k][1] * y + m[k][2] * z + m[k][3]);
    }
}

/* Computes how far a model is moved: it moves by the inverse of the matrix that brings its neighbourhood to it. */
static void describe(model *m, const double map[3][4])
{
    double mean[3] = {0}, to[3], square = 0, trace = 0;
    const size_t n = m->info.centroids * POINTS;
    for (size_t p = 0; p < n; p++)
        for (int k = 0; k < 3; k++) mean[k] += (double)m->centroid[p][k] / (double)n;
    for (int k = 0; k < 3; k++) {
        to[k] = map[k][0] * mean[0] + map[k][1] * mean[1] + map[k][2] * mean[2] + map[k][3];
        square += (to[k] - mean[k]) * (to[k] - mean[k]);
    }
    m->info.shift = sqrt(square);
    m->info.scale = 1 / m->info.slr.parameter[6];
    for (int k = 0; k < 3; k++) trace += map[k][k] / m->info.scale;
    m->info.angle = acos(fmin(fmax((trace - 1) / 2, -1), 1)) * 180 / acos(-1.0);
}

/* Registers the chosen centroids, and moves the model. own, near: its centroids, and those of its neighbourhood. */
static gls_status move_model(gls_recognition *r, model *m, keyed *own, keyed *near, size_t n_near)
{
    gls_slr_options o = gls_slr_options_default();
    double map[3][4];
    const uint64_t seed = seed_of(r, m->info.bundle);
    for (int k = 0; k < 9; k++) {
        o.high[k] = k < 3 ? 20 : k < 6 ? 10 : 1.2;
        o.low[k] = k < 6 ? -o.high[k] : 0.8;
    }
    float(*fixed)[3] = malloc(2 * SELECTED * POINTS * sizeof *fixed), (*moving)[3] = fixed + SELECTED * POINTS;
    if (!fixed) return gls_no_memory();
    const size_t a = choose((const float(*)[3])m->centroid, own, m->info.centroids, seed, 0, fixed),
                 b = choose((const float(*)[3])r->centroid, near, n_near, seed, 1, moving);
    gls_status status =
        gls_slr_find(&o, (const float(*)[3])fixed, a, (const float(*)[3])moving, b, POINTS, &m->info.slr);
    free(fixed);
    if (status) return status;
    gls_affine_invert((const double(*)[4])m->info.slr.matrix, map);
    describe(m, (const double(*)[4])map);
    move((const double(*)[4])map, m->features.point, m->features.n * POINTS);
    move((const double(*)[4])map, m->centroid, m->info.centroids * POINTS);
    m->info.registered = true;
    return GLS_OK;
}

/* Finds the neighbourhood of a model, and moves the model to it. */
static gls_status place_model(gls_recognition *r, model *m)
{
    size_t n_near = 0, n = 0;
    gls_status status = take_centroids(m->clusters, &m->centroid, &n);
    m->info.centroids = n;
    m->info.streamlines = m->features.n - m->features.n_void;
    gls_clusters_destroy(m->clusters);
    m->clusters = NULL;
    keyed *own = malloc((n + 1) * sizeof *own), *near = malloc((r->n_centroids + 1) * sizeof *near);
    m->covered = calloc(n + 1, 1);
    if (!status && (!own || !near || !m->covered)) status = gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) own[k].item = (uint32_t)k;
    for (size_t k = 0; k < r->n_centroids && !status; k++) {
        const float(*wide)[3] = (const float(*)[3])r->centroid + k * POINTS;
        for (size_t j = 0; j < n; j++) {
            const float(*at)[3] = (const float(*)[3])m->centroid + j * POINTS;
            if (!may_be_near(at, wide, r->options.reduction) || !(measure(at, wide) <= r->options.reduction)) continue;
            near[n_near++].item = (uint32_t)k;
            m->info.neighbours += gls_clusters_size(r->clusters, k);
            break;
        }
    }
    m->info.is_far = r->options.local && n > 0 && n_near == 0;
    if (!status && n_near > 0) status = move_model(r, m, own, near, n_near);
    free(own);
    free(near);
    return status;
}

/* --- Search. */

/* For gls_cells_fill(): a streamline of a model. */
static void copy_line(const void *user, size_t id, float *out)
{
    const gls_recognition *r = user;
    const uint32_t k = r->owner[id];
    const gls_features *f = &r->model[k].features;
    const size_t i = id - r->first[k];
    if (gls_features_has(f, i))
        gls_points_expand((const float(*)[3])f->point + i * POINTS, POINTS, f->pad, false, out);
    else
        for (size_t p = 0; p < 3 * f->pad; p++) out[p] = 1e6f; /* near nothing */
}

/* Sorts the streamlines of all models into cells. */
static gls_status sort_models(gls_recognition *r)
{
    uint64_t n = 0;
    r->first = malloc((r->n_models + 1) * sizeof *r->first);
    if (!r->first) return gls_no_memory();
    for (size_t k = 0; k < r->n_models; k++) {
        r->first[k] = n;
        n += r->model[k].features.n;
        r->widest = fmax(r->widest, r->model[k].info.threshold);
    }
    if (n >= UINT32_MAX) return gls_fail(GLS_ERR_UNSUPPORTED, "the models have more than %u streamlines", UINT32_MAX);
    r->owner = malloc((size_t)(n + 1) * sizeof *r->owner);
    if (!r->owner) return gls_no_memory();
    for (size_t k = 0; k < r->n_models; k++)
        for (size_t i = 0; i < r->model[k].features.n; i++) r->owner[r->first[k] + i] = (uint32_t)k;
    return gls_cells_fill(&r->cells, (size_t)n, POINTS, (float)r->widest, copy_line, r, r->n_threads);
}

/* Adds a bundle to those of the streamline that a thread works on. */
static void add_hit(worker *w, gls_hit one)
{
    if (w->n == w->capacity) {
        const size_t capacity = 2 * w->capacity + 256;
        gls_hit *more = realloc(w->list, capacity * sizeof *more);
        if (!more) {
            w->failed = true;
            return;
        }
        w->list = more;
        w->capacity = capacity;
    }
    w->list[w->n++] = one;
}

/* Comparison for qsort(): the nearest bundle first, then by number. */
static int by_distance(const void *a, const void *b)
{
    const gls_hit *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return (x->bundle > y->bundle) - (x->bundle < y->bundle);
}

/* Finds the nearest streamline of each model that is near enough. */
static void find_models(gls_recognition *r, worker *w, size_t i)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const gls_cells *c = &r->cells;
    float x[3 * GLS_MAX_POINTS], y[3 * GLS_MAX_POINTS], mean[3];
    const float slack = gls_distance_slack(r->features.extent) + gls_distance_slack(r->widest > 0 ? 300 : 0);
    gls_features_expand(&r->features, i, x, y);
    gls_points_mean(x, POINTS, c->pad, mean);
    const size_t n = gls_cells_near(c, mean, (float)r->widest + slack, w->place, w->gap);
    w->n_near = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t m = r->owner[c->id[w->place[k]]];
        const double best = w->nearest[m], limit = fmin(best, r->model[m].info.threshold);
        const float gap = (float)limit + slack, *at = c->point + w->place[k] * 3 * c->pad;
        float d, e;
        if (w->gap[k] > gap * gap) continue;
        kernel->both(at, x, y, POINTS, c->pad, &d, &e);
        if (fminf(d, e) > gap) continue;
        const double near = fmin(kernel->exact(at, x, POINTS, c->pad), kernel->exact(at, y, POINTS, c->pad));
        if (!(near < limit)) continue;
        if (isinf(best)) w->near[w->n_near++] = m;
        w->nearest[m] = near;
    }
}

/* Comparison for qsort(): by number. */
static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Lets the models vote. */
static void vote(gls_recognition *r, worker *w)
{
    const size_t from = w->n;
    /* in the order of models, so that sums are rounded alike whatever was found first */
    qsort(w->near, w->n_near, sizeof *w->near, by_number);
    for (uint32_t k = 0; k < w->n_near; k++) {
        const uint32_t b = (uint32_t)r->model[w->near[k]].info.index;
        w->votes[w->near[k]]++;
        size_t at = from;
        while (at < w->n && w->list[at].bundle != b) at++;
        if (at == w->n) add_hit(w, (gls_hit){.bundle = b});
        if (w->failed) return;
        w->list[at].votes++;
        w->list[at].distance += w->nearest[w->near[k]];
    }
    size_t n = from;
    for (size_t k = from; k < w->n; k++) {
        gls_hit h = w->list[k];
        const double need = ceil(r->options.vote_ratio * (double)r->bundle[h.bundle].info.models - 1e-9);
        h.distance /= h.votes;
        if ((double)h.votes >= need) w->list[n++] = h;
    }
    w->n = n;
    if (w->n > from) qsort(w->list + from, w->n - from, sizeof *w->list, by_distance);
    if (r->options.unique && w->n > from) w->n = from + 1;
}

/* Recognises some streamlines. */
static void recognise_some(void *user, int thread, size_t from, size_t until)
{
    gls_recognition *r = user;
    worker *w = &r->worker[thread];
    for (size_t i = from; i < until; i++) {
        r->where[i] = (where){thread, w->n, 0};
        if (w->failed || !gls_features_has(&r->features, i)) continue;
        find_models(r, w, i);
        vote(r, w);
        r->where[i].n = w->n - r->where[i].from;
        for (uint32_t k = 0; k < w->n_near; k++) w->nearest[w->near[k]] = INFINITY;
    }
}

/* Allocates the memory of all threads. */
static gls_status begin_search(gls_recognition *r)
{
    r->worker = calloc((size_t)r->n_threads, sizeof *r->worker);
    r->where = calloc(r->features.n + 1, sizeof *r->where);
    if (!r->worker || !r->where) return gls_no_memory();
    for (int t = 0; t < r->n_threads; t++) {
        worker *w = &r->worker[t];
        w->nearest = malloc((r->n_models + 1) * sizeof *w->nearest);
        w->votes = calloc(r->n_models + 1, sizeof *w->votes);
        w->near = malloc((r->n_models + 1) * sizeof *w->near);
        w->place = malloc((r->cells.n + 1) * sizeof *w->place);
        w->gap = malloc((r->cells.n + 1) * sizeof *w->gap);
        if (!w->nearest || !w->votes || !w->near || !w->place || !w->gap) return gls_no_memory();
        for (size_t k = 0; k < r->n_models; k++) w->nearest[k] = INFINITY;
    }
    return GLS_OK;
}

const gls_hit *gls_recognition_hits(const gls_recognition *r, uint64_t i, size_t *n)
{
    *n = r->where[i].n;
    return r->worker[r->where[i].thread].list + r->where[i].from;
}

/* --- Summary. */

/* Marks the centroids of the models of a bundle that have streamline i near them. */
static void cover(gls_recognition *r, uint32_t b, uint64_t i)
{
    const float(*line)[3] = (const float(*)[3])r->features.point + i * POINTS;
    for (size_t k = 0; k < r->n_models; k++) {
        model *m = &r->model[k];
        if (m->info.index != b) continue;
        for (size_t j = 0; j < m->info.centroids; j++) {
            const float(*at)[3] = (const float(*)[3])m->centroid + j * POINTS;
            if (!m->covered[j] && may_be_near(at, line, COVERED)) m->covered[j] = measure(at, line) < COVERED;
        }
    }
}

/* Adds the distance of a streamline to those of a bundle. */
static gls_status add_distance(bundle *b, double distance)
{
    if (b->info.count == b->capacity) {
        const size_t capacity = 2 * b->capacity + 64;
        float *more = realloc(b->distance, capacity * sizeof *more);
        if (!more) return gls_no_memory();
        b->distance = more;
        b->capacity = capacity;
    }
    b->distance[b->info.count++] = (float)distance;
    return GLS_OK;
}

/* Comparison for qsort(): numbers. */
static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Counts the streamlines of bundles, and finds their distances and coverage. */
static gls_status sum_up(gls_recognition *r)
{
    gls_status status = GLS_OK;
    for (uint64_t i = 0; i < r->features.n && !status; i++) {
        size_t n;
        const gls_hit *h = gls_recognition_hits(r, i, &n);
        r->found += n > 0;
        r->shared += n > 1;
        for (size_t k = 0; k < n && !status; k++) {
            status = add_distance(&r->bundle[h[k].bundle], h[k].distance);
            cover(r, h[k].bundle, i);
        }
    }
    for (size_t k = 0; k < r->n_models; k++) {
        model *m = &r->model[k];
        size_t covered = 0;
        for (int t = 0; t < r->n_threads; t++) m->info.votes += r->worker[t].votes[k];
        for (size_t j = 0; j < m->info.centroids; j++) covered += m->covered[j];
        m->info.coverage = m->info.centroids > 0 ? (double)covered / (double)m->info.centroids : 0;
        if (m->info.streamlines > 0)
            r->bundle[m->info.index].info.coverage += m->info.coverage / (double)r->bundle[m->info.index].info.models;
    }
    for (size_t k = 0; k < r->n_bundles; k++) {
        bundle *b = &r->bundle[k];
        const size_t n = (size_t)b->info.count;
        b->info.distance = NAN;
        if (n == 0) continue;
        qsort(b->distance, n, sizeof *b->distance, by_value);
        b->info.distance = ((double)b->distance[(n - 1) / 2] + (double)b->distance[n / 2]) / 2;
    }
    return status;
}

/* Adds up the points of streamlines. */
static void add_points(const gls_features *f, double sum[3], double *n)
{
    for (size_t i = 0; i < f->n; i++) {
        if (!gls_features_has(f, i)) continue;
        for (size_t p = 0; p < POINTS; p++)
            for (int k = 0; k < 3; k++) sum[k] += (double)f->point[i * POINTS + p][k];
        *n += POINTS;
    }
}

/* Finds the distance between the means of all models and of the tractogram. */
static double find_gap(const gls_recognition *r)
{
    double own[3] = {0}, models[3] = {0}, n_own = 0, n_models = 0, square = 0;
    add_points(&r->features, own, &n_own);
    for (size_t k = 0; k < r->n_models; k++) add_points(&r->model[k].features, models, &n_models);
    if (!(n_own > 0 && n_models > 0)) return 0;
    for (int k = 0; k < 3; k++) square += pow(own[k] / n_own - models[k] / n_models, 2);
    return sqrt(square);
}

gls_status gls_recognition_complete(gls_recognition *r)
{
    GLS_REQUIRE(r && !r->where);
    gls_status status = GLS_OK;
    r->gap = find_gap(r);
    if (r->options.local) status = take_centroids(r->clusters, &r->centroid, &r->n_centroids);
    for (size_t k = 0; k < r->n_models && !status; k++) status = place_model(r, &r->model[k]);
    for (size_t k = 0; k < r->n_models && !status; k++)
        r->bundle[r->model[k].info.index].info.models += r->model[k].info.streamlines > 0;
    if (!status) status = sort_models(r);
    if (!status) status = begin_search(r);
    if (!status) gls_parallel(r->features.n, 64, r->n_threads, recognise_some, r);
    for (int t = 0; t < r->n_threads && !status; t++)
        if (r->worker[t].failed) status = gls_fail(GLS_ERR_MEMORY, "out of memory for the bundles of streamlines");
    return status ? status : sum_up(r);
}

/* --- Results. */

bool gls_recognition_is_complete(const gls_recognition *r)
{
    return r->where != NULL;
}

size_t gls_recognition_bundles(const gls_recognition *r)
{
    return r->n_bundles;
}

size_t gls_recognition_models(const gls_recognition *r)
{
    return r->n_models;
}

uint64_t gls_recognition_streamlines(const gls_recognition *r)
{
    return r->features.n;
}

uint64_t gls_recognition_found(const gls_recognition *r)
{
    return r->found;
}

uint64_t gls_recognition_shared(const gls_recognition *r)
{
    return r->shared;
}

double gls_recognition_gap(const gls_recognition *r)
{
    return r->gap;
}

gls_recognized gls_recognition_bundle(const gls_recognition *r, size_t k)
{
    return r->bundle[k].info;
}

gls_model_info gls_recognition_model(const gls_recognition *r, size_t k)
{
    return r->model[k].info;
}
