/* QuickBundles in blocks, with the result of the serial algorithm.
 *
 * |a| = mean length of the points of a is a norm. If a centroid has moved by `drift` since it was copied, its distance
 * from a streamline differs from that of the copy by at most drift. So several threads find for each streamline of a
 * block the nearest copies (list_some()), and one thread decides in order (decide()): only clusters whose bounds admit
 * that they are the nearest are compared in double precision. Clusters that moved far ("hot") or were founded since the
 * copy was made are compared by their present barycentres. Where the bounds do not suffice, all clusters are searched.
 */
#include "geometry/quickbundles.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/status.h"
#include "util/threads.h"

/* Copies that are listed for a streamline. */
enum { LISTED = 8 };
/* Streamlines of a block: at first, and at most. */
enum { FIRST_BLOCK = 64, MAX_BLOCK = 16384 };
/* Clusters are copied anew when so many of them are hot or new: an eighth of all, within these limits. */
enum { MIN_EXTRA = 256, MAX_EXTRA = 4096 };
/* A cluster is hot when it has moved by so much, mm. */
#define HOT 1.0f

/* The nearest copies that a thread has found for a streamline. */
typedef struct listing {
    uint32_t n;
    /* the nearest copies: their clusters and distances in float32, ascending */
    uint32_t id[LISTED];
    float value[LISTED];
    /* no copy that is not listed is nearer than this, but for the slack */
    float rest;
    float mean[3];
    bool is_void;
} listing;

struct gls_quickbundles {
    double threshold;
    uint32_t max;
    size_t block; /* fixed number of streamlines of a block; 0: it follows from the data */
    int n_threads;
    gls_centroids now;
    /* present barycentres, capacity `mean_capacity` each */
    float *mean[3];
    size_t mean_capacity;
    /* copies of the first n_old clusters; how far each has moved since; the farthest move of one that is not hot */
    gls_cells old;
    size_t n_old;
    float *drift, cool;
    float extent; /* largest coordinate of all streamlines, in size */
    /* clusters that are hot or new, with their present barycentres; place of a cluster in this list, UINT32_MAX: none
     */
    size_t n_extra, extra_capacity;
    uint32_t *extra, *extra_place;
    float *extra_mean[3];
    /* a block: its listings, its streamlines in expanded form, direct and reversed; capacity */
    listing *list;
    float *feature;
    size_t list_capacity, next_block;
    /* candidates of a streamline, and memory for squared distances */
    uint32_t *candidate;
    float *gap;
};

gls_status gls_centroids_found(gls_centroids *c)
{
    if (c->n == c->capacity) {
        const size_t capacity = c->capacity ? 2 * c->capacity : 256;
        float *point = realloc(c->point, capacity * 3 * c->pad * sizeof *point);
        if (point) c->point = point;
        uint32_t *size = realloc(c->size, capacity * sizeof *size);
        if (size) c->size = size;
        if (!point || !size) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu clusters", capacity);
        c->capacity = capacity;
    }
    memset(c->point + c->n * 3 * c->pad, 0, 3 * c->pad * sizeof *c->point);
    c->size[c->n++] = 0;
    return GLS_OK;
}

void gls_centroids_finish(gls_centroids *c)
{
    free(c->point);
    free(c->size);
    *c = (gls_centroids){.n = 0};
}

gls_status gls_quickbundles_create(size_t points, double threshold, uint32_t max, size_t block,
                                   gls_quickbundles **clusters)
{
    gls_quickbundles *q = calloc(1, sizeof *q);
    if (!q) return gls_no_memory();
    q->threshold = threshold;
    q->max = max;
    q->block = block < MAX_BLOCK ? block : MAX_BLOCK;
    q->n_threads = omp_get_max_threads();
    q->now.points = points;
    q->now.pad = gls_point_pad(points);
    q->next_block = q->block > 0 ? q->block : FIRST_BLOCK;
    *clusters = q;
    return GLS_OK;
}

void gls_quickbundles_destroy(gls_quickbundles *q)
{
    if (!q) return;
    gls_centroids_finish(&q->now);
    gls_cells_finish(&q->old);
    for (int k = 0; k < 3; k++) {
        free(q->mean[k]);
        free(q->extra_mean[k]);
    }
    free(q->drift);
    free(q->extra);
    free(q->extra_place);
    free(q->list);
    free(q->feature);
    free(q->candidate);
    free(q->gap);
    free(q);
}

/* --- Copies. */

/* For gls_cells_fill(): the present points of a cluster. */
static void copy_cluster(const void *user, size_t id, float *out)
{
    const gls_centroids *c = user;
    memcpy(out, c->point + id * 3 * c->pad, 3 * c->pad * sizeof *out);
}

/* Copies all clusters anew, so that none is hot or new. */
static gls_status freeze(gls_quickbundles *q, float slack)
{
    const float side = (float)q->threshold + HOT + 2 * slack;
    for (size_t i = 0; i < q->n_extra; i++) q->extra_place[q->extra[i]] = UINT32_MAX;
    q->n_extra = 0;
    q->n_old = q->now.n;
    q->cool = 0;
    if (q->n_old > 0) memset(q->drift, 0, q->n_old * sizeof *q->drift);
    return gls_cells_fill(&q->old, q->n_old, q->now.points, side, copy_cluster, &q->now, q->n_threads);
}

/* Number of hot and new clusters at which all are copied anew. */
static size_t max_extra(const gls_quickbundles *q)
{
    const size_t share = q->now.n / 8;
    return share < MIN_EXTRA ? MIN_EXTRA : share > MAX_EXTRA ? MAX_EXTRA : share;
}

/* --- The work of several threads: the nearest copies of each streamline. */

/* Work on a block. */
typedef struct block_work {
    gls_quickbundles *q;
    const gls_features *f;
    /* numbers of the streamlines; NULL: from `first` on */
    const uint64_t *line;
    size_t first;
    float slack;
    /* for each thread memory for as many places and gaps as there are copies */
    uint32_t *place;
    float *gap;
} block_work;

/* Adds a copy at distance `value` to the LISTED + 1 nearest ones, ascending. */
static size_t insert(float *value, uint32_t *id, size_t n, float v, uint32_t which)
{
    size_t k = n <= LISTED ? n : LISTED;
    if (n > LISTED && v >= value[LISTED]) return n;
    for (; k > 0 && value[k - 1] > v; k--) {
        value[k] = value[k - 1];
        id[k] = id[k - 1];
    }
    value[k] = v;
    id[k] = which;
    return n <= LISTED ? n + 1 : n;
}

/* Finds the nearest copies within a radius. Returns their number, LISTED + 1 at most; value, id: LISTED + 1 elements.
 */
static size_t list_within(const block_work *w, const listing *l, const float *x, const float *y, const float *part,
                          float radius, uint32_t *place, float *gap, float *value, uint32_t *id)
{
    const gls_cells *old = &w->q->old;
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const size_t near = gls_cells_near(old, l->mean, radius, place, gap);
    size_t n = 0;
    for (size_t k = 0; k < near; k++) {
        const float bound = (n > LISTED && value[LISTED] < radius ? value[LISTED] : radius) + w->slack;
        /* the barycentres of all points and of their quarters are lower bounds */
        if (gap[k] > bound * bound || kernel->parts(old->part + place[k] * GLS_PARTS, part) > bound) continue;
        float d, e;
        kernel->both(old->point + place[k] * 3 * old->pad, x, y, old->points, old->pad, &d, &e);
        n = insert(value, id, n, d < e ? d : e, old->id[place[k]]);
    }
    return n;
}

/* Lists the nearest copies of one streamline. */
static void list_one(const block_work *w, size_t i, uint32_t *place, float *gap)
{
    const gls_quickbundles *q = w->q;
    const size_t pad = q->now.pad, line = w->line ? (size_t)w->line[w->first + i] : w->first + i;
    listing *l = &q->list[i];
    float *x = q->feature + i * 6 * pad, *y = x + 3 * pad, value[LISTED + 1], part[GLS_PARTS];
    uint32_t id[LISTED + 1];
    *l = (listing){.is_void = !gls_features_has(w->f, line), .rest = INFINITY};
    if (l->is_void) return;
    gls_features_expand(w->f, line, x, y);
    gls_points_mean(x, q->now.points, pad, l->mean);
    gls_points_parts(x, y, q->now.points, pad, part);
    const float threshold = (float)q->threshold;
    for (float radius = threshold + HOT + 2 * w->slack;; radius *= 2) {
        /* beyond all copies and streamlines there is nothing to find */
        const bool whole = q->n_old == 0 || radius > 4 * q->extent;
        const size_t n = list_within(w, l, x, y, part, whole ? INFINITY : radius, place, gap, value, id);
        l->rest = n > LISTED ? value[LISTED] : INFINITY;
        if (!whole && radius < l->rest) l->rest = radius;
        l->n = (uint32_t)(n > LISTED ? LISTED : n);
        /* A streamline that may found a cluster needs its nearest one, however far: it decides on the founder's sense.
         */
        const bool joins = n > 0 && value[0] < threshold - HOT;
        if (whole || joins || (n > 0 && value[0] + 1.5f * HOT + 3 * w->slack < l->rest)) break;
    }
    memcpy(l->value, value, l->n * sizeof *value);
    memcpy(l->id, id, l->n * sizeof *id);
}

/* For gls_parallel(): lists the nearest copies of some streamlines of the block. */
static void list_some(void *user, int thread, size_t from, size_t until)
{
    const block_work *w = user;
    const size_t room = (size_t)thread * w->q->n_old;
    for (size_t i = from; i < until; i++) list_one(w, i, w->place + room, w->gap + room);
}

/* Lists the nearest copies of n streamlines. */
static gls_status list_block(block_work *w, size_t n)
{
    gls_quickbundles *q = w->q;
    if (n > q->list_capacity) {
        free(q->list);
        free(q->feature);
        q->list_capacity = 0;
        q->list = malloc(n * sizeof *q->list);
        q->feature = malloc(n * 6 * q->now.pad * sizeof *q->feature);
        if (!q->list || !q->feature) return gls_no_memory();
        q->list_capacity = n;
    }
    const size_t room = (size_t)q->n_threads * (q->n_old + 1);
    w->place = malloc(room * sizeof *w->place);
    w->gap = malloc(room * sizeof *w->gap);
    if (w->place && w->gap) gls_parallel(n, 16, q->n_threads, list_some, w);
    const bool ok = w->place && w->gap;
    free(w->place);
    free(w->gap);
    return ok ? GLS_OK : gls_no_memory();
}

/* --- The work of one thread: decisions in order. */

/* The nearest cluster so far: in the direct and in the reversed sense, the first one of each if several are as near. */
typedef struct nearest {
    double direct, reversed;
    uint32_t direct_id, reversed_id;
} nearest;
#define NEAREST_NONE                                       \
    (nearest)                                              \
    {                                                      \
        INFINITY, INFINITY, GLS_NO_CLUSTER, GLS_NO_CLUSTER \
    }

/* Distance of the nearest cluster; INFINITY: none yet. */
static double least(const nearest *best)
{
    return best->direct < best->reversed ? best->direct : best->reversed;
}

/* Compares a streamline with a cluster. Clusters must come in ascending order. */
static void compare(gls_quickbundles *q, uint32_t id, const float *x, const float *y, nearest *best)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const float *c = q->now.point + (size_t)id * 3 * q->now.pad;
    const double d = kernel->exact(c, x, q->now.points, q->now.pad), e = kernel->exact(c, y, q->now.points, q->now.pad);
    if (d < best->direct) {
        best->direct = d;
        best->direct_id = id;
    }
    if (e < best->reversed) {
        best->reversed = e;
        best->reversed_id = id;
    }
}

/* Searches all clusters. */
static nearest search_all(gls_quickbundles *q, const float mean[3], const float *x, const float *y, float slack)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    nearest best = NEAREST_NONE, first = NEAREST_NONE;
    size_t closest = 0;
    if (q->now.n == 0) return best;
    kernel->gaps(q->mean[0], q->mean[1], q->mean[2], q->now.n, mean, q->gap);
    for (size_t k = 1; k < q->now.n; k++)
        if (q->gap[k] < q->gap[closest]) closest = k;
    /* the cluster with the nearest barycentre bounds the others, which then are compared in order */
    compare(q, (uint32_t)closest, x, y, &first);
    const float bound = (float)least(&first) + 2 * slack, limit = bound * bound;
    for (size_t k = 0; k < q->now.n; k++)
        if (q->gap[k] <= limit) compare(q, (uint32_t)k, x, y, &best);
    return best;
}

/* Sorts numbers in ascending order. */
static void sort_candidates(uint32_t *id, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t v = id[i];
        size_t k = i;
        for (; k > 0 && id[k - 1] > v; k--) id[k] = id[k - 1];
        id[k] = v;
    }
}

/* Finds the nearest cluster of a streamline from its listing. */
static nearest decide(gls_quickbundles *q, const listing *l, const float *x, const float *y, float slack)
{
    float top = l->rest + slack;
    size_t n = 0;
    for (size_t k = 0; k < l->n; k++) top = fminf(top, l->value[k] + q->drift[l->id[k]] + slack);
    for (size_t k = 0; k < l->n; k++)
        if (l->value[k] - q->drift[l->id[k]] - slack <= top && q->extra_place[l->id[k]] == UINT32_MAX)
            q->candidate[n++] = l->id[k];
    const float bound = top + slack, limit = bound * bound;
    const size_t listed = n;
    n += gls_geometry_kernels()->near(q->extra_mean[0], q->extra_mean[1], q->extra_mean[2], q->n_extra, l->mean, limit,
                                      q->candidate + n, q->gap);
    for (size_t k = listed; k < n; k++) q->candidate[k] = q->extra[q->candidate[k]];
    sort_candidates(q->candidate, n);
    nearest best = NEAREST_NONE;
    for (size_t k = 0; k < n; k++) compare(q, q->candidate[k], x, y, &best);
    /* all others are farther than this */
    if (least(&best) < (double)(l->rest - q->cool - slack)) return best;
    return isinf(l->rest) ? best : search_all(q, l->mean, x, y, slack);
}

/* Adds a cluster to those that are compared by their present barycentres. */
static gls_status add_extra(gls_quickbundles *q, uint32_t id)
{
    if (q->n_extra == q->extra_capacity) {
        const size_t capacity = q->extra_capacity ? 2 * q->extra_capacity : MIN_EXTRA + 1;
        uint32_t *extra = realloc(q->extra, capacity * sizeof *extra);
        if (!extra) return gls_no_memory();
        q->extra = extra;
        for (int k = 0; k < 3; k++) {
            float *mean = realloc(q->extra_mean[k], capacity * sizeof *mean);
            if (!mean) return gls_no_memory();
            q->extra_mean[k] = mean;
        }
        q->extra_capacity = capacity;
    }
    q->extra_place[id] = (uint32_t)q->n_extra;
    q->extra[q->n_extra++] = id;
    return GLS_OK;
}

/* Allocates what is kept for each cluster. */
static gls_status reserve_clusters(gls_quickbundles *q)
{
    if (q->now.capacity <= q->mean_capacity) return GLS_OK;
    const size_t n = q->now.capacity;
    float **floats[] = {&q->mean[0], &q->mean[1], &q->mean[2], &q->drift, &q->gap};
    uint32_t **words[] = {&q->extra_place, &q->candidate};
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        float *more = realloc(*floats[k], n * sizeof *more);
        if (!more) return gls_no_memory();
        *floats[k] = more;
    }
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        uint32_t *more = realloc(*words[k], (n + LISTED) * sizeof *more);
        if (!more) return gls_no_memory();
        *words[k] = more;
    }
    q->mean_capacity = n;
    return GLS_OK;
}

/* Founds a cluster without members. */
static gls_status found(gls_quickbundles *q)
{
    gls_status status = gls_centroids_found(&q->now);
    if (!status) status = reserve_clusters(q);
    return status ? status : add_extra(q, (uint32_t)(q->now.n - 1));
}

/* Adds a streamline to a cluster, and measures how far its centroid has moved. */
static gls_status join(gls_quickbundles *q, uint32_t id, const float *x)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const size_t pad = q->now.pad;
    float *c = q->now.point + (size_t)id * 3 * pad, mean[3];
    gls_status status = GLS_OK;
    kernel->grow(c, x, (float)q->now.size[id]++, 3 * pad);
    gls_points_mean(c, q->now.points, pad, mean);
    for (int k = 0; k < 3; k++) q->mean[k][id] = mean[k];
    if (id < q->n_old) {
        const float *was = q->old.point + q->old.place[id] * 3 * pad;
        q->drift[id] = (float)kernel->exact(c, was, q->now.points, pad) * 1.000001f;
        if (q->extra_place[id] == UINT32_MAX) {
            if (q->drift[id] > HOT)
                status = add_extra(q, id);
            else
                q->cool = fmaxf(q->cool, q->drift[id]);
        }
    }
    const uint32_t place = q->extra_place[id];
    for (int k = 0; k < 3 && place != UINT32_MAX && !status; k++) q->extra_mean[k][place] = mean[k];
    return status;
}

/* Adds streamline i of the block. */
static gls_status add_one(gls_quickbundles *q, size_t i, float slack, uint32_t *cluster)
{
    const listing *l = &q->list[i];
    const float *x = q->feature + i * 6 * q->now.pad, *y = x + 3 * q->now.pad;
    gls_status status = GLS_OK;
    *cluster = GLS_NO_CLUSTER;
    if (l->is_void) return GLS_OK;
    const nearest best = decide(q, l, x, y, slack);
    /* a founder is reversed, too, where the reverse is nearer to the nearest cluster */
    const bool turned = best.reversed < best.direct;
    uint32_t id = turned ? best.reversed_id : best.direct_id;
    if (!(least(&best) < q->threshold) && q->now.n < q->max) {
        status = found(q);
        id = (uint32_t)(q->now.n - 1);
    }
    if (!status) status = join(q, id, turned ? y : x);
    *cluster = id;
    return status;
}

gls_status gls_quickbundles_add(gls_quickbundles *q, const gls_features *f, const uint64_t *line, size_t n,
                                uint32_t *cluster)
{
    q->extent = fmaxf(q->extent, f->extent);
    block_work w = {.q = q, .f = f, .line = line, .slack = gls_distance_slack(q->extent)};
    gls_status status = GLS_OK;
    while (w.first < n && !status) {
        const size_t limit = max_extra(q);
        size_t size = q->next_block < n - w.first ? q->next_block : n - w.first, done = 0;
        if (q->n_extra >= limit / 2) status = freeze(q, w.slack);
        if (!status) status = list_block(&w, size);
        for (; done < size && !status && (done == 0 || q->n_extra < limit); done++)
            status = add_one(q, done, w.slack, &cluster[w.first + done]);
        w.first += done;
        /* the block shrinks, so that few listings are made in vain */
        if (q->block == 0) {
            q->next_block = done < size ? done + done / 4 : 2 * size > q->next_block ? 2 * size : q->next_block;
            if (q->next_block < FIRST_BLOCK) q->next_block = FIRST_BLOCK;
            if (q->next_block > MAX_BLOCK) q->next_block = MAX_BLOCK;
        }
    }
    return status;
}

gls_centroids gls_quickbundles_take(gls_quickbundles *q)
{
    const gls_centroids taken = q->now;
    q->now = (gls_centroids){.n = 0};
    return taken;
}
