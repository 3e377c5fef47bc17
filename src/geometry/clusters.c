/* Clusters of streamlines: collects them, chooses their order, clusters them, and measures their distances from the
 * centroids. */
#include <glslines/clusters.h>

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/draws.h"
#include "geometry/quickbundles.h"
#include "geometry/quickbundlesx.h"
#include "streamlines/builder.h"
#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/threads.h"

struct gls_clusters {
    gls_cluster_options options;
    double threshold[GLS_CLUSTER_MAX_LEVELS];
    /* points of the streamlines: of a block where they are decided at once, else of all */
    gls_features features;
    gls_quickbundles *quick;
    gls_quickbundlesx *tree;
    /* streamlines so far, and those without length */
    uint64_t n, n_void;
    float *length; /* mm, for GLS_CLUSTER_ORDER_LENGTH */
    size_t length_capacity;
    uint64_t *order; /* numbers of streamlines in the order in which they are taken; NULL: as they come */
    uint64_t n_order;
    uint32_t *cluster; /* cluster of each streamline */
    size_t cluster_capacity;
    /* the clusters of the result, once it is complete; numbers of members */
    gls_centroids centroids;
    uint64_t *size;
    /* by the last filter: for each cluster the sum of the distances of its members from the centroid, mm, and the
     * largest of them */
    double *sum, *max;
    /* --- A second pass that assigns streamlines anew. */
    double radius;
    gls_cells cells;
    uint64_t at;
    bool complete, measured;
};

gls_cluster_options gls_cluster_options_default(void)
{
    return (gls_cluster_options){.size = sizeof(gls_cluster_options), .points = 12, .max_clusters = UINT32_MAX - 1};
}

/* Checks the options. */
static gls_status check(const gls_cluster_options *o)
{
    GLS_REQUIRE_ENUMERATOR(o->method, GLS_CLUSTER_MERGED);
    GLS_REQUIRE_ENUMERATOR(o->order, GLS_CLUSTER_ORDER_LIST);
    GLS_REQUIRE_ENUMERATOR(o->reverse, GLS_CLUSTER_REVERSE_COPIED);
    if (o->n_thresholds > GLS_CLUSTER_MAX_LEVELS)
        return gls_fail(GLS_ERR_ARGUMENT, "clusters: %zu thresholds: give %d at most", o->n_thresholds,
                        GLS_CLUSTER_MAX_LEVELS);
    if (o->n_thresholds > 1 && o->method == GLS_CLUSTER_QUICKBUNDLES)
        return gls_fail(GLS_ERR_ARGUMENT, "clusters: QuickBundles takes one threshold, not %zu", o->n_thresholds);
    for (size_t k = 0; k < o->n_thresholds; k++) {
        if (!(o->threshold[k] > 0 && isfinite(o->threshold[k])))
            return gls_fail(GLS_ERR_ARGUMENT, "clusters: the threshold %g mm must be finite and above 0",
                            o->threshold[k]);
        if (k > 0 && !(o->threshold[k] < o->threshold[k - 1]))
            return gls_fail(GLS_ERR_ARGUMENT, "clusters: thresholds must fall, but %g mm follows %g mm",
                            o->threshold[k], o->threshold[k - 1]);
    }
    if (o->points == 1 || o->points > GLS_CLUSTER_MAX_POINTS)
        return gls_fail(GLS_ERR_ARGUMENT, "clusters: %u points: give 2 to %d", o->points, GLS_CLUSTER_MAX_POINTS);
    if (o->max_clusters < 1)
        return gls_fail(GLS_ERR_ARGUMENT, "clusters: the largest number of clusters must be above 0");
    if (o->max_clusters < UINT32_MAX - 1 && o->method != GLS_CLUSTER_QUICKBUNDLES)
        return gls_fail(GLS_ERR_ARGUMENT, "clusters: a largest number of clusters goes with a single threshold only");
    return GLS_OK;
}

gls_status gls_clusters_create(const gls_cluster_options *options, gls_clusters **clusters)
{
    GLS_REQUIRE(options && clusters);
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE((options->threshold || options->n_thresholds == 0) && (options->list || options->n_list == 0));
    GLS_REQUIRE(!options->draws || options->draws->draw);
    gls_status status = check(options);
    if (status) return status;
    gls_clusters *c = calloc(1, sizeof *c);
    if (!c) return gls_no_memory();
    c->options = *options;
    if (options->n_thresholds == 0) {
        c->options.n_thresholds = 1;
        c->threshold[0] = 10;
    } else {
        memcpy(c->threshold, options->threshold, options->n_thresholds * sizeof *c->threshold);
    }
    c->options.threshold = c->threshold;
    gls_features_init(&c->features, options->points, options->reverse == GLS_CLUSTER_REVERSE_RESAMPLED);
    *clusters = c;
    return GLS_OK;
}

void gls_clusters_destroy(gls_clusters *c)
{
    if (!c) return;
    gls_features_finish(&c->features);
    gls_quickbundles_destroy(c->quick);
    gls_quickbundlesx_destroy(c->tree);
    gls_centroids_finish(&c->centroids);
    gls_cells_finish(&c->cells);
    free(c->length);
    free(c->order);
    free(c->cluster);
    free(c->size);
    free(c->sum);
    free(c);
}

/* --- Streamlines come. */

/* Allocates elements of a list of 4 bytes for n streamlines. */
static gls_status reserve(void *list, size_t *capacity, uint64_t n)
{
    return gls_list_grow(list, (size_t)n, capacity, sizeof(uint32_t))
               ? GLS_OK
               : gls_fail(GLS_ERR_MEMORY, "out of memory for %" PRIu64 " streamlines", n);
}

/* Whether streamlines are decided when they come. */
static bool at_once(const gls_clusters *c)
{
    return c->options.method == GLS_CLUSTER_QUICKBUNDLES && c->options.order == GLS_CLUSTER_ORDER_FILE;
}

/* Adds the streamlines of the features that are not decided, in the order; NULL: as they are. */
static gls_status decide(gls_clusters *c, const uint64_t *order, size_t n, uint32_t *cluster)
{
    gls_status status = GLS_OK;
    if (c->options.method == GLS_CLUSTER_QUICKBUNDLES) {
        if (!c->quick)
            status = gls_quickbundles_create(c->features.points, c->threshold[0], c->options.max_clusters,
                                             c->options.block, &c->quick);
        return status ? status : gls_quickbundles_add(c->quick, &c->features, order, n, cluster);
    }
    status = gls_quickbundlesx_create(c->features.points, c->threshold, c->options.n_thresholds, &c->tree);
    if (!status) status = gls_quickbundlesx_add(c->tree, &c->features, order, n);
    return status;
}

/* Takes a block of streamlines. */
static gls_status append(void *user, const gls_streamlines *s)
{
    gls_clusters *c = user;
    gls_status status = GLS_OK;
    if (c->n + s->n >= UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "more than %u streamlines cannot be clustered at once: use shards",
                        UINT32_MAX);
    if (c->options.order == GLS_CLUSTER_ORDER_LENGTH) {
        status = reserve(&c->length, &c->length_capacity, c->n + s->n);
        for (size_t i = 0; i < s->n && !status; i++) c->length[c->n + i] = (float)gls_builder_length(s, i);
    }
    if (!status) status = reserve(&c->cluster, &c->cluster_capacity, c->n + s->n);
    if (at_once(c)) gls_features_clear(&c->features);
    if (!status) status = gls_features_add(&c->features, s);
    if (!status && at_once(c)) {
        status = decide(c, NULL, s->n, c->cluster + c->n);
        c->n_void += c->features.n_void;
    }
    if (!status) c->n += s->n;
    return status;
}

gls_sink gls_clusters_sink(gls_clusters *c)
{
    return (gls_sink){.append = append, .user = c};
}

/* --- Orders. */

/* Makes the order by length, the longest first. */
static gls_status sort_by_length(uint64_t n, const float *length, uint64_t **order)
{
    gls_keyed *k = malloc((n + 1) * sizeof *k);
    *order = malloc((n + 1) * sizeof **order);
    if (!k || !*order) {
        free(k);
        return gls_no_memory();
    }
    for (uint64_t i = 0; i < n; i++) {
        uint32_t bits;
        /* floats from 0 on are ordered as their bits are */
        memcpy(&bits, &length[i], sizeof bits);
        k[i] = (gls_keyed){UINT32_MAX - bits, i};
    }
    gls_keyed_sort(k, n);
    for (uint64_t i = 0; i < n; i++) (*order)[i] = k[i].number;
    free(k);
    return GLS_OK;
}

/* Checks and copies the order of GLS_CLUSTER_ORDER_LIST. */
static gls_status take_list(gls_clusters *c)
{
    const gls_cluster_options *o = &c->options;
    c->n_order = o->n_list;
    c->order = malloc((o->n_list + 1) * sizeof *c->order);
    if (!c->order) return gls_no_memory();
    if (o->n_list > 0) memcpy(c->order, o->list, o->n_list * sizeof *c->order);
    return gls_draws_check(c->order, o->n_list, c->n);
}

/* Makes the order in which streamlines are taken; NULL: as they come. */
static gls_status make_order(gls_clusters *c)
{
    c->n_order = c->n;
    switch (c->options.order) {
    case GLS_CLUSTER_ORDER_RANDOM:
        if (c->options.most > 0 && c->options.most < c->n) c->n_order = c->options.most;
        return gls_draws_take(c->options.draws, c->options.seed, 0, c->n, c->n_order, &c->order);
    case GLS_CLUSTER_ORDER_LENGTH: return sort_by_length(c->n, c->length, &c->order);
    case GLS_CLUSTER_ORDER_LIST: return take_list(c);
    case GLS_CLUSTER_ORDER_FILE: break;
    }
    return GLS_OK;
}

/* --- The result. */

/* Sorts the order in which streamlines were taken by that of their n clusters, which were taken in `order`; NULL: as
 * they are. */
static gls_status sort_order(gls_clusters *c, const uint64_t *order, size_t n)
{
    uint64_t *at = calloc(n + 2, sizeof *at), *rank = malloc((n + 1) * sizeof *rank),
             *sorted = malloc((c->n_order + 1) * sizeof *sorted);
    const gls_status status = at && rank && sorted ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) rank[order ? order[k] : k] = k;
    /* streamlines in no cluster come last */
    for (int fills = 0; fills < 2 && !status; fills++) {
        for (uint64_t k = 0; k < c->n_order; k++) {
            const uint64_t line = c->order ? c->order[k] : k;
            const uint64_t r = c->cluster[line] == GLS_CLUSTER_NONE ? n : rank[c->cluster[line]];
            if (fills)
                sorted[at[r]++] = line;
            else if (r < n)
                at[r + 1]++;
        }
        for (size_t k = 0; k < n && !fills; k++) at[k + 1] += at[k];
    }
    if (!status) {
        free(c->order);
        c->order = sorted;
        sorted = NULL;
    }
    free(at);
    free(rank);
    free(sorted);
    return status;
}

/* Clusters the centroids of the tree once more, and replaces the clusters of streamlines by those. */
static gls_status merge(gls_clusters *c)
{
    const gls_centroids *leaves = &c->centroids;
    gls_features f;
    gls_quickbundlesx *again = NULL;
    gls_centroids merged = {.n = 0};
    uint64_t *order = NULL;
    const size_t points = leaves->points, n = leaves->n;
    uint32_t *of_order = malloc((n + 1) * sizeof *of_order), *of_leaf = malloc((n + 1) * sizeof *of_leaf);
    gls_features_init(&f, points, false);
    f.n = n;
    f.extent = c->features.extent;
    f.point = malloc((n * points + 1) * sizeof *f.point);
    gls_status status = f.point && of_order && of_leaf ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k++)
        gls_points_pack(leaves->point + k * 3 * leaves->pad, points, leaves->pad, f.point + k * points);
    if (!status && c->options.order == GLS_CLUSTER_ORDER_RANDOM)
        status = gls_draws_take(c->options.draws, c->options.seed, 1, n, n, &order);
    if (!status) status = sort_order(c, order, n);
    const double *last = &c->threshold[c->options.n_thresholds - 1];
    if (!status) status = gls_quickbundlesx_create(points, last, 1, &again);
    if (!status) status = gls_quickbundlesx_add(again, &f, order, n);
    if (!status) status = gls_quickbundlesx_level(again, 0, &merged, of_order);
    if (!status) {
        for (size_t k = 0; k < n; k++) of_leaf[order ? order[k] : k] = of_order[k];
        for (uint64_t i = 0; i < c->n; i++)
            if (c->cluster[i] != GLS_CLUSTER_NONE) c->cluster[i] = of_leaf[c->cluster[i]];
        gls_centroids_finish(&c->centroids);
        c->centroids = merged;
        merged = (gls_centroids){.n = 0};
    }
    gls_quickbundlesx_destroy(again);
    gls_centroids_finish(&merged);
    gls_features_finish(&f);
    free(order);
    free(of_order);
    free(of_leaf);
    return status;
}

/* Sets the clusters of streamlines from those in the order in which they were taken. */
static gls_status spread(gls_clusters *c, const uint32_t *taken)
{
    for (uint64_t i = 0; i < c->n; i++) c->cluster[i] = GLS_CLUSTER_NONE;
    for (uint64_t k = 0; k < c->n_order; k++) c->cluster[c->order ? c->order[k] : k] = taken[k];
    return GLS_OK;
}

/* Copies the clusters of a level of the tree. */
static gls_status take_level(gls_clusters *c, size_t level)
{
    uint32_t *taken = malloc((c->n_order + 1) * sizeof *taken);
    gls_centroids_finish(&c->centroids);
    gls_status status = taken ? GLS_OK : gls_no_memory();
    if (!status) status = gls_quickbundlesx_level(c->tree, level, &c->centroids, taken);
    if (!status) status = spread(c, taken);
    free(taken);
    return status;
}

/* Counts the members of all clusters, and allocates the measures of each. */
static gls_status count_members(gls_clusters *c)
{
    const size_t n = c->centroids.n;
    free(c->size);
    free(c->sum);
    c->size = calloc(n + 1, sizeof *c->size);
    c->sum = calloc(2 * n + 1, sizeof *c->sum);
    if (!c->size || !c->sum) return gls_no_memory();
    c->max = c->sum + n;
    c->measured = false;
    for (uint64_t i = 0; i < c->n; i++)
        if (c->cluster[i] != GLS_CLUSTER_NONE) c->size[c->cluster[i]]++;
    return GLS_OK;
}

/* Clusters all streamlines that were kept. */
static gls_status cluster_all(gls_clusters *c)
{
    gls_status status = make_order(c);
    uint32_t *taken = malloc((c->n_order + 1) * sizeof *taken);
    if (!taken && !status) status = gls_no_memory();
    if (!status) status = decide(c, c->order, (size_t)c->n_order, taken);
    if (!status && c->quick) status = spread(c, taken);
    free(taken);
    if (!status && c->tree) status = take_level(c, c->options.n_thresholds - 1);
    c->n_void = c->features.n_void;
    /* frees the points, which are not needed any more */
    gls_features_finish(&c->features);
    if (!status && c->options.method == GLS_CLUSTER_MERGED) status = merge(c);
    return status;
}

gls_status gls_clusters_complete(gls_clusters *c)
{
    GLS_REQUIRE(c);
    gls_status status = GLS_OK;
    if (!c->complete && c->n > 0 && !at_once(c)) status = cluster_all(c);
    if (!c->complete && !status && c->quick) {
        c->centroids = gls_quickbundles_take(c->quick);
        gls_quickbundles_destroy(c->quick);
        c->quick = NULL;
    }
    c->complete = true;
    return status ? status : count_members(c);
}

gls_status gls_clusters_set_level(gls_clusters *c, size_t level)
{
    GLS_REQUIRE(c && c->complete && level < c->options.n_thresholds);
    GLS_REQUIRE(c->options.method == GLS_CLUSTER_QUICKBUNDLESX);
    if (!c->tree) return GLS_OK;
    gls_status status = take_level(c, level);
    return status ? status : count_members(c);
}

size_t gls_clusters_count(const gls_clusters *c)
{
    return c->centroids.n;
}

size_t gls_clusters_points(const gls_clusters *c)
{
    return c->centroids.points;
}

uint64_t gls_clusters_streamlines(const gls_clusters *c)
{
    return c->n;
}

uint64_t gls_clusters_void(const gls_clusters *c)
{
    return c->n_void;
}

uint64_t gls_clusters_size(const gls_clusters *c, size_t k)
{
    return k < c->centroids.n ? c->size[k] : 0;
}

void gls_clusters_centroid(const gls_clusters *c, size_t k, float (*out)[3])
{
    if (k < c->centroids.n)
        gls_points_pack(c->centroids.point + k * 3 * c->centroids.pad, c->centroids.points, c->centroids.pad, out);
}

const uint32_t *gls_clusters_members(const gls_clusters *c)
{
    return c->cluster;
}

gls_status gls_clusters_list(const gls_clusters *c, uint64_t *first, uint64_t *line)
{
    GLS_REQUIRE(c && c->complete && first && line);
    uint64_t *at = malloc((c->centroids.n + 1) * sizeof *at);
    if (!at) return gls_no_memory();
    first[0] = 0;
    for (size_t k = 0; k < c->centroids.n; k++) {
        at[k] = first[k];
        first[k + 1] = first[k] + c->size[k];
    }
    const uint64_t n = c->order ? c->n_order : c->n;
    for (uint64_t k = 0; k < n; k++) {
        const uint64_t i = c->order ? c->order[k] : k;
        if (c->cluster[i] != GLS_CLUSTER_NONE) line[at[c->cluster[i]]++] = i;
    }
    free(at);
    return GLS_OK;
}

double gls_clusters_mean_distance(const gls_clusters *c, size_t k)
{
    return k < c->centroids.n && c->size[k] > 0 ? c->sum[k] / (double)c->size[k] : NAN;
}

double gls_clusters_max_distance(const gls_clusters *c, size_t k)
{
    return k < c->centroids.n && c->size[k] > 0 ? c->max[k] : NAN;
}

gls_status gls_clusters_append_centroids(const gls_clusters *c, const gls_sink *sink)
{
    GLS_REQUIRE(c && c->complete && sink && sink->append);
    enum { BLOCK = 1024 };
    const size_t n = gls_clusters_count(c), points = gls_clusters_points(c);
    uint64_t offset[BLOCK + 1];
    uint32_t size[BLOCK];
    float mean[BLOCK], max[BLOCK];
    float(*point)[3] = malloc(BLOCK * points * sizeof *point);
    gls_status status = point ? GLS_OK : gls_no_memory();
    const gls_column columns[] = {{"size", GLS_TYPE_UINT32, 1, size},
                                  {"mean_distance", GLS_TYPE_FLOAT32, 1, mean},
                                  {"max_distance", GLS_TYPE_FLOAT32, 1, max}};
    for (size_t from = 0, count; from < n && !status; from += count) {
        count = n - from < BLOCK ? n - from : BLOCK;
        for (size_t i = 0; i < count; i++) {
            offset[i] = i * points;
            size[i] = (uint32_t)gls_clusters_size(c, from + i);
            mean[i] = (float)gls_clusters_mean_distance(c, from + i);
            max[i] = (float)gls_clusters_max_distance(c, from + i);
            gls_clusters_centroid(c, from + i, point + i * points);
        }
        offset[count] = count * points;
        const gls_streamlines s = {.n = count,
                                   .offset = offset,
                                   .point = (const float(*)[3])point,
                                   .n_dps = c->measured ? 3 : 1,
                                   .dps = columns};
        status = gls_sink_append(sink, &s);
    }
    free(point);
    return status;
}

/* --- Other numbers. */

gls_status gls_clusters_reduce(gls_clusters *c, uint64_t min_size, gls_cluster_numbers numbers)
{
    GLS_REQUIRE(c && c->complete);
    const size_t n = c->centroids.n, one = 3 * c->centroids.pad;
    size_t kept = 0;
    gls_sized *s = malloc((n + 1) * sizeof *s);
    uint32_t *number = malloc((n + 1) * sizeof *number), *size = malloc((n + 1) * sizeof *size);
    float *point = malloc((n * one + 1) * sizeof *point);
    gls_status status = s && number && size && point ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n && !status; k++) {
        number[k] = GLS_CLUSTER_NONE;
        if (c->size[k] >= min_size) s[kept++] = (gls_sized){c->size[k], (uint32_t)k};
    }
    if (!status && numbers == GLS_CLUSTER_NUMBERS_SIZE) qsort(s, kept, sizeof *s, gls_sized_compare);
    for (size_t k = 0; k < kept && !status; k++) {
        number[s[k].id] = (uint32_t)k;
        size[k] = c->centroids.size[s[k].id];
        memcpy(point + k * one, c->centroids.point + s[k].id * one, one * sizeof *point);
    }
    free(s);
    if (status) {
        free(point);
        free(size);
    } else {
        for (uint64_t i = 0; i < c->n; i++)
            if (c->cluster[i] != GLS_CLUSTER_NONE) c->cluster[i] = number[c->cluster[i]];
        free(c->centroids.point);
        free(c->centroids.size);
        c->centroids.point = point;
        c->centroids.size = size;
        c->centroids.n = c->centroids.capacity = kept;
        status = count_members(c);
    }
    free(number);
    return status;
}

/* --- Other passes. */

/* For gls_cells_fill(): the points of a centroid. */
static void copy_centroid(const void *user, size_t id, float *out)
{
    const gls_centroids *c = user;
    memcpy(out, c->point + id * 3 * c->pad, 3 * c->pad * sizeof *out);
}

/* Work of several threads on the streamlines of a block in another pass. */
typedef struct pass {
    gls_clusters *c;
    gls_features f;
    /* for each streamline its distance from the centroid of its cluster; NaN: none */
    float *distance;
    size_t capacity;
    /* for each thread, memory for the search */
    uint32_t *place;
    float *gap;
} pass;

/* Distance of a streamline from centroid k. */
static double distance(const gls_clusters *c, size_t k, const float *x, const float *y)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const float *point = c->centroids.point + k * 3 * c->centroids.pad;
    const double d = kernel->exact(point, x, c->centroids.points, c->centroids.pad),
                 e = kernel->exact(point, y, c->centroids.points, c->centroids.pad);
    return d < e ? d : e;
}

/* Finds the nearest centroid of some streamlines. */
static void assign_some(void *user, int thread, size_t from, size_t until)
{
    const pass *p = user;
    gls_clusters *c = p->c;
    const size_t room = (size_t)thread * c->centroids.n;
    float x[3 * GLS_MAX_POINTS], y[3 * GLS_MAX_POINTS], mean[3];
    for (size_t i = from; i < until; i++) {
        double best = INFINITY;
        uint32_t which = GLS_CLUSTER_NONE;
        if (gls_features_has(&p->f, i)) {
            gls_features_expand(&p->f, i, x, y);
            gls_points_mean(x, p->f.points, p->f.pad, mean);
            const float wide = (float)c->radius + gls_distance_slack(p->f.extent);
            const size_t n = gls_cells_near(&c->cells, mean, wide, p->place + room, p->gap + room);
            for (size_t k = 0; k < n; k++) {
                const uint32_t id = c->cells.id[p->place[room + k]];
                const double d = distance(c, id, x, y);
                if (d < c->radius && (d < best || (d == best && id < which))) {
                    best = d;
                    which = id;
                }
            }
        }
        c->cluster[c->at + i] = which;
    }
}

/* Resamples the streamlines of a block. */
static gls_status take_block(pass *p, const gls_streamlines *s)
{
    if (p->c->at + s->n > p->c->n)
        return gls_fail(GLS_ERR_INPUT, "there are more streamlines than the %" PRIu64 " that were clustered", p->c->n);
    gls_features_clear(&p->f);
    return gls_features_add(&p->f, s);
}

/* Begins the features of a pass as those of the clusters were. */
static void begin_pass(pass *p, gls_clusters *c)
{
    p->c = c;
    gls_features_init(&p->f, c->options.points, c->options.reverse == GLS_CLUSTER_REVERSE_RESAMPLED);
}

/* Assigns a block of streamlines to the nearest centroids. */
static gls_status reassign(void *user, const gls_streamlines *s)
{
    gls_clusters *c = user;
    pass p;
    memset(&p, 0, sizeof p);
    begin_pass(&p, c);
    const size_t threads = (size_t)omp_get_max_threads();
    p.place = malloc(threads * (c->centroids.n + 1) * sizeof *p.place);
    p.gap = malloc(threads * (c->centroids.n + 1) * sizeof *p.gap);
    gls_status status = p.place && p.gap ? take_block(&p, s) : gls_no_memory();
    if (!status && c->cells.n != c->centroids.n)
        status = gls_cells_fill(&c->cells, c->centroids.n, c->centroids.points, (float)c->radius, copy_centroid,
                                &c->centroids, (int)threads);
    if (!status) gls_parallel(s->n, 64, (int)threads, assign_some, &p);
    c->at += s->n;
    free(p.place);
    free(p.gap);
    gls_features_finish(&p.f);
    return status;
}

gls_sink gls_clusters_reassign(gls_clusters *c, double radius)
{
    c->radius = radius;
    c->at = 0;
    /* streamlines that an order lacks are assigned, too */
    free(c->order);
    c->order = NULL;
    gls_cells_finish(&c->cells);
    return (gls_sink){.append = reassign, .user = c};
}

/* The filter that adds columns. */
typedef struct marker {
    pass pass;
    gls_sink next;
    gls_column *column;
    size_t n_columns;
} marker;

/* Measures the distances of some streamlines. */
static void measure_some(void *user, int thread, size_t from, size_t until)
{
    const pass *p = user;
    const gls_clusters *c = p->c;
    float x[3 * GLS_MAX_POINTS], y[3 * GLS_MAX_POINTS];
    (void)thread;
    for (size_t i = from; i < until; i++) {
        const uint32_t k = c->cluster[c->at + i];
        p->distance[i] = NAN;
        if (k == GLS_CLUSTER_NONE) continue;
        gls_features_expand(&p->f, i, x, y);
        p->distance[i] = (float)distance(c, k, x, y);
    }
}

/* Passes a block on with two more columns, in front of the others; they replace those of the same names. */
static gls_status mark(void *user, const gls_streamlines *s)
{
    marker *m = user;
    pass *p = &m->pass;
    gls_clusters *c = p->c;
    gls_status status = take_block(p, s);
    if (!status) status = reserve(&p->distance, &p->capacity, s->n);
    if (!status && s->n_dps + 2 > m->n_columns) {
        gls_column *more = realloc(m->column, (s->n_dps + 2) * sizeof *more);
        if (!more) return gls_no_memory();
        m->column = more;
        m->n_columns = s->n_dps + 2;
    }
    if (status) return status;
    gls_parallel(s->n, 64, p->f.n_threads, measure_some, p);
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t k = c->cluster[c->at + i];
        if (k == GLS_CLUSTER_NONE) continue;
        c->sum[k] += (double)p->distance[i];
        c->max[k] = fmax(c->max[k], (double)p->distance[i]);
    }
    size_t n = 0;
    m->column[n++] = (gls_column){GLS_DPS_CLUSTER, GLS_TYPE_UINT32, 1, c->cluster + c->at};
    m->column[n++] = (gls_column){GLS_DPS_CLUSTER_DISTANCE, GLS_TYPE_FLOAT32, 1, p->distance};
    for (size_t k = 0; k < s->n_dps; k++)
        if (strcmp(s->dps[k].name, GLS_DPS_CLUSTER) != 0 && strcmp(s->dps[k].name, GLS_DPS_CLUSTER_DISTANCE) != 0)
            m->column[n++] = s->dps[k];
    c->at += s->n;
    gls_streamlines out = *s;
    out.dps = m->column;
    out.n_dps = n;
    return gls_sink_append(&m->next, &out);
}

/* Frees the filter. */
static void discard(void *user)
{
    marker *m = user;
    gls_sink_abort(&m->next);
    gls_features_finish(&m->pass.f);
    free(m->pass.distance);
    free(m->column);
    free(m);
}

/* Requires as many streamlines as were clustered. */
static gls_status finish(void *user)
{
    marker *m = user;
    const gls_clusters *c = m->pass.c;
    gls_status status =
        c->at == c->n
            ? GLS_OK
            : gls_fail(GLS_ERR_INPUT, "there are %" PRIu64 " streamlines, but %" PRIu64 " were clustered", c->at, c->n);
    if (!status) status = gls_sink_finish(&m->next);
    discard(m);
    return status;
}

gls_status gls_clusters_filter(gls_clusters *c, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(c && c->complete && next && filter);
    marker *m = calloc(1, sizeof *m);
    if (!m) return gls_no_memory();
    begin_pass(&m->pass, c);
    c->at = 0;
    memset(c->sum, 0, 2 * c->centroids.n * sizeof *c->sum);
    c->measured = true;
    m->next = *next;
    *filter = (gls_sink){mark, finish, discard, m};
    return GLS_OK;
}
