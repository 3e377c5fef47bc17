/* Recognition of bundles. By search: the tractogram and the models are clustered; each model is moved to the clusters
 * near it by a registration of centroids; then one search finds for each streamline the models near it. Or by
 * RecoBundles, one model after the other. Then atlases vote. */
#include <glslines/recognition.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/features.h"
#include "geometry/model_clusters.h"
#include "geometry/recobundles.h"
#include "geometry/recognition.h"
#include "geometry/recognition_mirror.h"
#include "geometry/recognition_search.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"

/* A centroid is covered by streamlines within this distance, mm. */
#define COVERED 4.0
/* --refine multiplies both distances by these factors. With the defaults they become those of the method's authors:
 * 15 mm becomes 12, and 8 mm becomes 6. */
#define REFINED_REDUCTION 0.8
#define REFINED_PRUNING 0.75
/* Largest number of streamlines that are clustered to register models. More of them make no difference. */
#define CLUSTERED 50000

gls_recognition_options gls_recognition_options_default(void)
{
    return (gls_recognition_options){
        .size = sizeof(gls_recognition_options), .min_length = 50, .vote_ratio = 0.5, .local = true};
}

/* Replaces 0 by the default of the method. */
static void set_defaults(gls_recognition_options *o)
{
    const bool reco = o->method == GLS_RECOGNITION_RECOBUNDLES;
    if (o->cluster == 0) o->cluster = reco ? 15 : 5;
    if (o->model_cluster == 0) o->model_cluster = reco ? 2.5 : 4;
    if (o->reduction == 0) o->reduction = reco ? 15 : 16;
}

/* Checks what options may be. */
static gls_status check(const gls_recognition_options *o)
{
    const bool reco = o->method == GLS_RECOGNITION_RECOBUNDLES;
    const double most = reco ? 20 : 25, most_model = reco ? 20 : 15;
    if (o->method != GLS_RECOGNITION_SEARCH && !reco)
        return gls_fail(GLS_ERR_ARGUMENT, "recognition: there is no method %d", (int)o->method);
    if (!(o->cluster > 0 && o->cluster < most))
        return gls_fail(GLS_ERR_ARGUMENT, "recognition: the threshold of clusters, %g mm, must be above 0 and below %g",
                        o->cluster, most);
    if (!(o->model_cluster > 0 && o->model_cluster < most_model))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "recognition: the threshold of clusters of models, %g mm, must be above 0 and below %g",
                        o->model_cluster, most_model);
    if (!(o->reduction > 0) || !(o->vote_ratio > 0 && o->vote_ratio <= 1))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "recognition: the reduction, %g mm, must be above 0, and the ratio of votes, %g, above 0 and at "
            "most 1",
            o->reduction, o->vote_ratio);
    if (!(o->min_length >= 0))
        return gls_fail(GLS_ERR_ARGUMENT, "recognition: min_length, %g mm, must be 0 or more", o->min_length);
    return GLS_OK;
}

/* Makes what RecoBundles needs. */
static gls_status create_reco(gls_recognition *r)
{
    gls_recobundles_options o = gls_recobundles_options_default();
    o.cluster = r->options.cluster;
    o.min_length = r->options.min_length;
    o.seed = r->options.seed;
    return gls_recobundles_create(&o, &r->reco);
}

gls_status gls_recognition_create(const gls_recognition_options *options, gls_recognition **recognition)
{
    GLS_REQUIRE(options && recognition);
    GLS_REQUIRE_SIZE(options);
    gls_recognition_options o = *options;
    set_defaults(&o);
    gls_status status = check(&o);
    if (status) return status;
    gls_recognition *r = calloc(1, sizeof *r);
    if (!r) return gls_no_memory();
    r->options = o;
    r->n_threads = omp_get_max_threads();
    gls_features_init(&r->features, GLS_RECOGNITION_POINTS, false);
    if (o.method == GLS_RECOGNITION_RECOBUNDLES) status = create_reco(r);
    if (status)
        gls_recognition_destroy(r);
    else
        *recognition = r;
    return status;
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
    gls_recobundles_destroy(r->reco);
    free(r->candidate);
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

/* Takes streamlines of a model. */
static gls_status append_model(void *user, const gls_streamlines *s)
{
    gls_recognition *r = user;
    gls_model *m = &r->model[r->n_models - 1];
    gls_status status = gls_features_add(&m->features, s);
    if (status || !m->clusters) return status;
    const gls_sink sink = gls_clusters_sink(m->clusters);
    return gls_sink_append(&sink, s);
}

/* Finds the bundle of this name, or adds it. */
static gls_status find_bundle(gls_recognition *r, const char *name, size_t *index)
{
    for (*index = 0; *index < r->n_bundles; (*index)++)
        if (strcmp(r->bundle[*index].name, name) == 0) return GLS_OK;
    gls_found_bundle *more = realloc(r->bundle, (r->n_bundles + 1) * sizeof *more);
    if (!more) return gls_no_memory();
    r->bundle = more;
    r->bundle[r->n_bundles] = (gls_found_bundle){.name = gls_text_copy(name)};
    if (!r->bundle[r->n_bundles].name) return gls_no_memory();
    r->bundle[r->n_bundles].info.name = r->bundle[r->n_bundles].name;
    r->n_bundles++;
    return GLS_OK;
}

gls_status gls_recognition_add(gls_recognition *r, const char *atlas, const char *name, double threshold,
                               gls_sink *sink)
{
    static const double above[] = {30, 20, 15};
    GLS_REQUIRE(r && atlas && name && sink && r->n == 0);
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
    gls_model *more = realloc(r->model, (r->n_models + 1) * sizeof *more);
    if (!more) return gls_no_memory();
    r->model = more;
    gls_model *m = &r->model[r->n_models];
    *m = (gls_model){.atlas = gls_text_copy(atlas)};
    if (!m->atlas) return gls_no_memory();
    m->info = (gls_model_info){
        .bundle = r->bundle[index].name, .atlas = m->atlas, .index = index, .threshold = threshold, .scale = 1};
    gls_features_init(&m->features, r->reco ? GLS_RECOBUNDLES_POINTS : GLS_RECOGNITION_POINTS, false);
    r->n_models++;
    *sink = (gls_sink){.append = append_model, .user = r};
    if (r->reco) return GLS_OK;
    return gls_model_clusters_begin(above, 3, r->options.model_cluster, GLS_RECOGNITION_POINTS, 0,
                                    gls_model_seed(r->options.seed, name), NULL, &m->clusters);
}

/* Takes streamlines of the tractogram. */
static gls_status append(void *user, const gls_streamlines *s)
{
    static const double above[] = {45, 35, 25};
    gls_recognition *r = user;
    gls_status status = GLS_OK;
    gls_sink sink = {0};
    if (r->n + s->n >= UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "bundles of more than %u streamlines cannot be recognised at once",
                        UINT32_MAX);
    if (!r->reco && !r->clusters)
        status = gls_model_clusters_begin(above, 3, r->options.cluster, GLS_RECOGNITION_POINTS, CLUSTERED,
                                          r->options.seed, NULL, &r->clusters);
    if (!status && !r->reco) status = gls_features_add(&r->features, s);
    if (!status && (r->reco || r->options.local)) {
        sink = r->reco ? gls_recobundles_sink(r->reco) : gls_clusters_sink(r->clusters);
        status = gls_sink_append(&sink, s);
    }
    if (!status) r->n += s->n;
    return status;
}

gls_sink gls_recognition_sink(gls_recognition *r)
{
    return (gls_sink){.append = append, .user = r};
}

/* --- RecoBundles. */

/* Work on a model, and what it finds. */
typedef struct finding {
    size_t model;
    gls_recobundle bundle;
    gls_recobundles_result result;
    uint64_t neighbours;
    gls_status status;
    char message[GLS_MESSAGE_BYTES]; /* of the failure; last errors belong to threads */
} finding;

/* Work of several threads on all models. */
typedef struct findings {
    gls_recognition *r;
    finding *list;
} findings;

/* Finds the bundle of a model. */
static gls_status find_bundle_of(const gls_recognition *r, finding *f)
{
    const gls_slr_options affine = gls_recobundles_slr(GLS_SLR_AFFINE);
    const gls_model *m = &r->model[f->model];
    gls_recobundles_model o = gls_recobundles_model_default();
    o.model_cluster = r->options.model_cluster;
    o.reduction = r->options.reduction;
    o.pruning = m->info.threshold;
    o.stays = !r->options.local;
    o.seed = gls_model_seed(r->options.seed, m->info.bundle);
    gls_status status = gls_recobundles_find(r->reco, &o, &m->features, NULL, &f->bundle, &f->result);
    f->neighbours = f->result.neighbours;
    if (status || !r->options.refine) return status;
    o.reduction *= REFINED_REDUCTION;
    o.pruning *= REFINED_PRUNING;
    o.slr = &affine;
    return gls_recobundles_refine(r->reco, &o, &m->features, &f->bundle, &f->result);
}

/* For gls_parallel(): finds the bundles of some models. */
static void find_some(void *user, int thread, size_t from, size_t until)
{
    const findings *all = user;
    (void)thread;
    for (size_t k = from; k < until; k++) {
        finding *f = &all->list[k];
        f->status = find_bundle_of(all->r, f);
        if (f->status) snprintf(f->message, sizeof f->message, "%s", gls_last_error());
    }
}

/* Comparison for qsort(): models with more streamlines, which take longer, first. */
static int by_streamlines(const void *a, const void *b)
{
    const gls_model *x = *(const gls_model *const *)a, *y = *(const gls_model *const *)b;
    if (x->features.n != y->features.n) return x->features.n > y->features.n ? -1 : 1;
    return (x > y) - (x < y);
}

/* Takes what was found for a model. */
static gls_status take_finding(gls_recognition *r, finding *f)
{
    const gls_recobundles_result *found = &f->result;
    gls_model *m = &r->model[f->model];
    double map[3][4];
    if (f->status) return gls_fail(f->status, "%s", f->message);
    m->info.centroids = found->centroids;
    m->info.neighbours = f->neighbours;
    m->info.coverage = found->coverage;
    m->info.is_far = f->neighbours == 0 && m->info.streamlines > 0;
    if (found->registered) gls_model_invert(&m->features, &found->slr, &m->info, map);
    if (!gls_list_grow(&r->candidate, r->n_candidates + (size_t)found->n, &r->candidate_capacity, sizeof *r->candidate))
        return gls_no_memory();
    for (uint64_t i = 0; i < found->n; i++)
        r->candidate[r->n_candidates++] = (gls_candidate){found->line[i], (uint32_t)f->model, found->distance[i]};
    return GLS_OK;
}

/* Comparison for qsort(): by streamline, then by model. */
static int by_line(const void *a, const void *b)
{
    const gls_candidate *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->model > y->model) - (x->model < y->model);
}

/* Compares the models with the clusters of the tractogram. */
static gls_status find_mirror(gls_recognition *r)
{
    const gls_clusters *clusters = gls_recobundles_clusters(r->reco);
    const size_t n = gls_clusters_count(clusters);
    float(*centroid)[3] = malloc((n * GLS_RECOBUNDLES_POINTS + 1) * sizeof *centroid);
    if (!centroid) return gls_no_memory();
    for (size_t k = 0; k < n; k++) gls_clusters_centroid(clusters, k, centroid + k * GLS_RECOBUNDLES_POINTS);
    gls_status status = gls_recognition_find_mirror(r, (const float(*)[3])centroid, n);
    free(centroid);
    return status;
}

/* Finds the bundles of all models, which do not depend on each other. */
static gls_status find_bundles(gls_recognition *r)
{
    findings all = {.r = r};
    const gls_model **order = malloc((r->n_models + 1) * sizeof *order);
    gls_status status = order ? gls_recobundles_complete(r->reco) : gls_no_memory();
    all.list = calloc(r->n_models + 1, sizeof *all.list);
    if (!status && !all.list) status = gls_no_memory();
    if (!status) status = find_mirror(r);
    for (size_t k = 0; k < r->n_models && !status; k++) order[k] = &r->model[k];
    if (!status && r->n_models > 1) qsort(order, r->n_models, sizeof *order, by_streamlines);
    for (size_t k = 0; k < r->n_models && !status; k++) all.list[k].model = (size_t)(order[k] - r->model);
    if (!status) gls_parallel(r->n_models, 1, r->n_threads, find_some, &all);
    for (size_t k = 0; k < r->n_models && all.list; k++) {
        if (!status) status = take_finding(r, &all.list[k]);
        gls_recobundle_finish(&all.list[k].bundle);
    }
    free(order);
    free(all.list);
    if (!status && r->n_candidates > 0) qsort(r->candidate, r->n_candidates, sizeof *r->candidate, by_line);
    return status;
}

/* Finds the models that recognise streamline i. */
static void take_candidates(const gls_recognition *r, gls_worker *w, size_t i)
{
    size_t low = 0, high = r->n_candidates;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (r->candidate[middle].line < i)
            low = middle + 1;
        else
            high = middle;
    }
    w->n_near = 0;
    for (; low < r->n_candidates && r->candidate[low].line == i; low++) {
        w->near[w->n_near++] = r->candidate[low].model;
        w->nearest[r->candidate[low].model] = (double)r->candidate[low].distance;
    }
}

/* --- Votes. */

/* Adds a bundle to those of the streamline that a thread works on. */
static void add_hit(gls_worker *w, gls_hit one)
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

/* Comparison for qsort(): by number. */
static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Lets the models vote. */
static void vote(gls_recognition *r, gls_worker *w)
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
    gls_worker *w = &r->worker[thread];
    for (size_t i = from; i < until; i++) {
        r->where[i] = (gls_hits_of){thread, w->n, 0};
        if (w->failed || (!r->reco && !gls_features_has(&r->features, i))) continue;
        if (r->reco)
            take_candidates(r, w, i);
        else
            gls_recognition_look(r, w, i);
        vote(r, w);
        r->where[i].n = w->n - r->where[i].from;
        for (uint32_t k = 0; k < w->n_near; k++) w->nearest[w->near[k]] = INFINITY;
    }
}

/* Allocates the memory of all threads. */
static gls_status begin_search(gls_recognition *r)
{
    r->worker = calloc((size_t)r->n_threads, sizeof *r->worker);
    r->where = calloc((size_t)r->n + 1, sizeof *r->where);
    if (!r->worker || !r->where) return gls_no_memory();
    for (int t = 0; t < r->n_threads; t++) {
        gls_worker *w = &r->worker[t];
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

gls_recognition_row gls_recognition_row_get(const gls_recognition *r, uint64_t i)
{
    size_t n;
    const gls_hit *h = gls_recognition_hits(r, i, &n);
    if (n == 0) return (gls_recognition_row){GLS_BUNDLE_NONE, 0, NAN, NAN};
    const double gap = n > 1 ? (h[1].distance - h->distance) / r->bundle[h->bundle].info.threshold : 1;
    return (gls_recognition_row){(uint16_t)h->bundle, (uint16_t)h->votes, (float)h->distance, (float)gap};
}

/* --- Summary. */

/* Marks the centroids of the models of a bundle that have streamline i near them. */
static void cover(gls_recognition *r, uint32_t b, uint64_t i)
{
    const float(*line)[3] = (const float(*)[3])r->features.point + i * GLS_RECOGNITION_POINTS;
    for (size_t k = 0; k < r->n_models; k++) {
        gls_model *m = &r->model[k];
        if (m->info.index != b) continue;
        for (size_t j = 0; j < m->info.centroids; j++) {
            const float(*at)[3] = (const float(*)[3])m->centroid + j * GLS_RECOGNITION_POINTS;
            if (!m->covered[j]) m->covered[j] = gls_centroids_within(at, line, GLS_RECOGNITION_POINTS, COVERED);
        }
    }
}

/* Adds the distance of a streamline to those of a bundle. */
static gls_status add_distance(gls_found_bundle *b, double distance)
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
    for (uint64_t i = 0; i < r->n && !status; i++) {
        size_t n;
        const gls_hit *h = gls_recognition_hits(r, i, &n);
        r->found += n > 0;
        r->shared += n > 1;
        for (size_t k = 0; k < n && !status; k++) {
            status = add_distance(&r->bundle[h[k].bundle], h[k].distance);
            if (!r->reco) cover(r, h[k].bundle, i);
        }
    }
    for (size_t k = 0; k < r->n_models; k++) {
        gls_model *m = &r->model[k];
        size_t covered = 0;
        for (int t = 0; t < r->n_threads; t++) m->info.votes += r->worker[t].votes[k];
        for (size_t j = 0; j < m->info.centroids && m->covered; j++) covered += m->covered[j];
        if (m->covered) m->info.coverage = m->info.centroids > 0 ? (double)covered / (double)m->info.centroids : 0;
        if (m->info.streamlines > 0)
            r->bundle[m->info.index].info.coverage += m->info.coverage / (double)r->bundle[m->info.index].info.models;
    }
    for (size_t k = 0; k < r->n_bundles; k++) {
        gls_found_bundle *b = &r->bundle[k];
        const size_t n = (size_t)b->info.count;
        b->info.distance = NAN;
        if (n == 0) continue;
        qsort(b->distance, n, sizeof *b->distance, by_value);
        b->info.distance = ((double)b->distance[(n - 1) / 2] + (double)b->distance[n / 2]) / 2;
    }
    return status;
}

/* Finds the distance between the means of all models and of the tractogram. */
static double find_gap(const gls_recognition *r)
{
    double own[3] = {0}, models[3] = {0}, n_own = 0, n_models = 0, square = 0;
    gls_model_add_points(r->reco ? gls_recobundles_features(r->reco) : &r->features, own, &n_own);
    for (size_t k = 0; k < r->n_models; k++) gls_model_add_points(&r->model[k].features, models, &n_models);
    if (!(n_own > 0 && n_models > 0)) return 0;
    for (int k = 0; k < 3; k++) square += pow(own[k] / n_own - models[k] / n_models, 2);
    return sqrt(square);
}

gls_status gls_recognition_complete(gls_recognition *r)
{
    GLS_REQUIRE(r && !r->where);
    r->gap = find_gap(r);
    for (size_t k = 0; k < r->n_models; k++) {
        gls_model_info *m = &r->model[k].info;
        m->streamlines = r->model[k].features.n - r->model[k].features.n_void;
        gls_recognized *b = &r->bundle[m->index].info;
        b->models += m->streamlines > 0;
        b->threshold = fmax(b->threshold, m->threshold);
    }
    gls_status status = r->reco ? find_bundles(r) : gls_recognition_place(r);
    if (!status) status = begin_search(r);
    if (!status) gls_parallel((size_t)r->n, 64, r->n_threads, recognise_some, r);
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
    return r->n;
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

gls_mirror gls_recognition_mirror(const gls_recognition *r)
{
    return r->mirror;
}

gls_recognized gls_recognition_bundle(const gls_recognition *r, size_t k)
{
    return r->bundle[k].info;
}

gls_model_info gls_recognition_model(const gls_recognition *r, size_t k)
{
    return r->model[k].info;
}
