/* QuickBundlesX. At each level a streamline is compared with the children whose boxes meet its own. The first level is
 * decided in order by one thread; below, the trees of its clusters are independent, and several threads decide each in
 * order. */
#include "geometry/quickbundlesx.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/status.h"
#include "util/threads.h"

/* Streamlines of a block. */
enum { BLOCK = 16384 };

/* A cluster with its children. Arrays have an element for each child. */
typedef struct node {
    gls_centroids kids;
    struct node *node; /* NULL at the last level */
    /* boxes of the centroids, and their barycentres */
    float *mid[3], *half[3], *mean[3];
    uint32_t *leaf; /* at the last level: number of the leaf in the tree below its cluster of the first level */
    size_t capacity;
} node;

/* A cluster of the first level: its number of leaves so far, and its streamlines in the block. */
typedef struct top {
    uint32_t n_leaves;
    size_t from, until;
    gls_status status;
} top;

struct gls_quickbundlesx {
    size_t points, pad, n_levels;
    float threshold[GLS_MAX_LEVELS], extent;
    int n_threads;
    node root;
    top *top;
    size_t top_capacity;
    /* for each streamline in the order of adding: its cluster of the first level, GLS_NO_CLUSTER: none; its leaf there
     */
    uint32_t *first, *leaf;
    size_t n, capacity;
};

gls_status gls_quickbundlesx_create(size_t points, const double *threshold, size_t n, gls_quickbundlesx **tree)
{
    gls_quickbundlesx *q = calloc(1, sizeof *q);
    if (!q) return gls_no_memory();
    q->points = points;
    q->pad = gls_point_pad(points);
    q->n_levels = n;
    for (size_t k = 0; k < n; k++) q->threshold[k] = (float)threshold[k];
    q->n_threads = omp_get_max_threads();
    q->root.kids = (gls_centroids){.points = points, .pad = q->pad};
    *tree = q;
    return GLS_OK;
}

/* Frees what is below a cluster. */
static void free_node(node *d)
{
    for (size_t k = 0; k < d->kids.n && d->node; k++) free_node(&d->node[k]);
    for (int k = 0; k < 3; k++) {
        free(d->mid[k]);
        free(d->half[k]);
        free(d->mean[k]);
    }
    free(d->node);
    free(d->leaf);
    gls_centroids_finish(&d->kids);
}

void gls_quickbundlesx_destroy(gls_quickbundlesx *q)
{
    if (!q) return;
    free_node(&q->root);
    free(q->top);
    free(q->first);
    free(q->leaf);
    free(q);
}

/* Middle and half sides of the box of points, as QuickBundlesX rounds them. */
static void find_box(const float *point, size_t points, size_t pad, float mid[3], float half[3])
{
    for (int k = 0; k < 3; k++, point += pad) {
        float low = point[0], high = point[0];
        for (size_t p = 1; p < points; p++) {
            low = point[p] < low ? point[p] : low;
            high = point[p] > high ? point[p] : high;
        }
        half[k] = (high - low) / 2;
        mid[k] = low + half[k];
    }
}

/* A streamline that is added: its points in both senses, its box and barycentre. */
typedef struct line {
    float x[3 * GLS_MAX_POINTS], y[3 * GLS_MAX_POINTS], mid[3], half[3], mean[3];
} line;

/* Prepares streamline i. */
static void expand(const gls_quickbundlesx *q, const gls_features *f, size_t i, line *l)
{
    gls_features_expand(f, i, l->x, l->y);
    gls_points_mean(l->x, q->points, q->pad, l->mean);
    find_box(l->x, q->points, q->pad, l->mid, l->half);
}

/* The nearest child of a cluster. */
typedef struct choice {
    uint32_t kid;
    float distance;
    bool turned;
} choice;

/* Compares a streamline with child k: the direct sense first, then the reversed one. */
static void compare(const gls_quickbundlesx *q, const node *d, size_t k, const line *l, choice *best)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const float *c = d->kids.point + k * 3 * q->pad;
    const float direct = (float)kernel->exact(c, l->x, q->points, q->pad),
                reversed = (float)kernel->exact(c, l->y, q->points, q->pad);
    if (direct < best->distance) *best = (choice){(uint32_t)k, direct, false};
    if (reversed < best->distance) *best = (choice){(uint32_t)k, reversed, true};
}

/* Children that are tested at a time. */
enum { STRIP = 256 };

/* Finds the nearest of the children whose box, widened by the threshold, meets that of the streamline. */
static choice nearest_kid(const gls_quickbundlesx *q, const node *d, float threshold, const line *l)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const float slack = gls_distance_slack(q->extent);
    choice best = {GLS_NO_CLUSTER, INFINITY, false};
    float bound = INFINITY;
    for (size_t from = 0, n; from < d->kids.n; from += n) {
        uint8_t hit[STRIP];
        float gap[STRIP];
        n = d->kids.n - from < STRIP ? d->kids.n - from : STRIP;
        const float *mid[3], *half[3];
        for (int k = 0; k < 3; k++) {
            mid[k] = d->mid[k] + from;
            half[k] = d->half[k] + from;
        }
        kernel->boxes(mid, half, n, l->mid, l->half, threshold, hit);
        kernel->gaps(d->mean[0] + from, d->mean[1] + from, d->mean[2] + from, n, l->mean, gap);
        /* one with the nearest barycentre bounds the others */
        size_t closest = n;
        for (size_t k = 0; k < n; k++)
            if (hit[k] && (closest == n || gap[k] < gap[closest])) closest = k;
        if (closest == n) continue;
        choice first = {GLS_NO_CLUSTER, INFINITY, false};
        compare(q, d, from + closest, l, &first);
        bound = fminf(bound, first.distance);
        const float limit = (bound + 2 * slack) * (bound + 2 * slack);
        for (size_t k = 0; k < n; k++)
            if (hit[k] && gap[k] <= limit) compare(q, d, from + k, l, &best);
    }
    return best;
}

/* Allocates what a cluster has for each child. has_nodes: the children have children. */
static gls_status reserve_kids(node *d, bool has_nodes)
{
    const size_t n = d->kids.capacity;
    if (n <= d->capacity) return GLS_OK;
    float **all[] = {&d->mid[0],  &d->mid[1],  &d->mid[2],  &d->half[0], &d->half[1],
                     &d->half[2], &d->mean[0], &d->mean[1], &d->mean[2]};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        float *more = realloc(*all[k], n * sizeof *more);
        if (!more) return gls_no_memory();
        *all[k] = more;
    }
    if (has_nodes) {
        node *more = realloc(d->node, n * sizeof *more);
        if (!more) return gls_no_memory();
        d->node = more;
    } else {
        uint32_t *more = realloc(d->leaf, n * sizeof *more);
        if (!more) return gls_no_memory();
        d->leaf = more;
    }
    d->capacity = n;
    return GLS_OK;
}

/* Founds a child. */
static gls_status found(const gls_quickbundlesx *q, node *d, bool has_nodes)
{
    gls_status status = gls_centroids_found(&d->kids);
    if (!status) status = reserve_kids(d, has_nodes);
    if (status) {
        if (d->kids.n > 0) d->kids.n--;
        return status;
    }
    if (has_nodes) d->node[d->kids.n - 1] = (node){.kids = {.points = q->points, .pad = q->pad}};
    return GLS_OK;
}

/* Adds a streamline to one of the children of a cluster at a level, or to a new one. *kid: which. */
static gls_status add_at(const gls_quickbundlesx *q, node *d, size_t level, const line *l, uint32_t *kid)
{
    choice best = nearest_kid(q, d, q->threshold[level], l);
    if (best.distance > q->threshold[level]) {
        /* the founder has the sense in which it is nearest to the nearest child that was tested */
        gls_status status = found(q, d, level + 1 < q->n_levels);
        if (status) return status;
        best.kid = (uint32_t)(d->kids.n - 1);
    }
    float *c = d->kids.point + best.kid * 3 * q->pad, mid[3], half[3], mean[3];
    gls_geometry_kernels()->grow(c, best.turned ? l->y : l->x, (float)d->kids.size[best.kid]++, 3 * q->pad);
    find_box(c, q->points, q->pad, mid, half);
    gls_points_mean(c, q->points, q->pad, mean);
    for (int k = 0; k < 3; k++) {
        d->mid[k][best.kid] = mid[k];
        d->half[k][best.kid] = half[k];
        d->mean[k][best.kid] = mean[k];
    }
    *kid = best.kid;
    return GLS_OK;
}

/* Work of several threads below the first level. */
typedef struct descent {
    gls_quickbundlesx *q;
    const gls_features *f;
    /* numbers of the streamlines of the call; NULL: from 0 on */
    const uint64_t *number;
    /* the streamlines of the block, sorted by their clusters of the first level */
    const uint32_t *sorted;
    size_t from; /* index of the first one in the call */
} descent;

/* Number in the features of the streamline that is the i-th of the call. */
static size_t line_at(const uint64_t *line, size_t i)
{
    return line ? (size_t)line[i] : i;
}

/* Adds the streamlines of one cluster of the first level to the tree below it. */
static gls_status descend(const descent *w, size_t which, line *l)
{
    gls_quickbundlesx *q = w->q;
    top *t = &q->top[which];
    for (size_t k = t->from; k < t->until; k++) {
        const size_t i = w->sorted[k];
        node *d = &q->root;
        uint32_t kid = (uint32_t)which;
        expand(q, w->f, line_at(w->number, w->from + i), l);
        for (size_t level = 1; level < q->n_levels; level++) {
            d = &d->node[kid];
            const size_t before = d->kids.n;
            gls_status status = add_at(q, d, level, l, &kid);
            if (status) return status;
            if (level + 1 == q->n_levels && d->kids.n > before) d->leaf[kid] = t->n_leaves++;
        }
        q->leaf[q->n + i] = d->leaf[kid];
    }
    return GLS_OK;
}

/* For gls_parallel(): works on some clusters of the first level. */
static void descend_some(void *user, int thread, size_t from, size_t until)
{
    const descent *w = user;
    (void)thread;
    line *l = malloc(sizeof *l);
    for (size_t k = from; k < until; k++) w->q->top[k].status = l ? descend(w, k, l) : gls_no_memory();
    free(l);
}

/* Allocates memory for n more streamlines. */
static gls_status reserve_lines(gls_quickbundlesx *q, size_t n)
{
    if (q->n + n <= q->capacity) return GLS_OK;
    const size_t capacity = q->n + n > 2 * q->capacity ? q->n + n : 2 * q->capacity;
    uint32_t *first = realloc(q->first, capacity * sizeof *first);
    if (first) q->first = first;
    uint32_t *leaf = realloc(q->leaf, capacity * sizeof *leaf);
    if (leaf) q->leaf = leaf;
    if (!first || !leaf) return gls_no_memory();
    q->capacity = capacity;
    return GLS_OK;
}

/* Decides on the first level for n streamlines of the call. */
static gls_status add_first_level(gls_quickbundlesx *q, const gls_features *f, const uint64_t *number, size_t from,
                                  size_t n, line *l)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) {
        const size_t at = line_at(number, from + i);
        uint32_t kid = GLS_NO_CLUSTER;
        if (gls_features_has(f, at)) {
            expand(q, f, at, l);
            status = add_at(q, &q->root, 0, l, &kid);
        }
        q->first[q->n + i] = kid;
        q->leaf[q->n + i] = 0;
        while (q->n_levels > 1 && q->top_capacity < q->root.kids.capacity && !status) {
            top *more = realloc(q->top, q->root.kids.capacity * sizeof *more);
            if (!more) return gls_no_memory();
            q->top = more;
            memset(q->top + q->top_capacity, 0, (q->root.kids.capacity - q->top_capacity) * sizeof *more);
            q->top_capacity = q->root.kids.capacity;
        }
    }
    return status;
}

/* Adds a block of n streamlines. sorted: memory for n. */
static gls_status add_block(gls_quickbundlesx *q, const gls_features *f, const uint64_t *number, size_t from, size_t n,
                            line *l, uint32_t *sorted)
{
    gls_status status = add_first_level(q, f, number, from, n, l);
    const size_t n_tops = q->root.kids.n;
    if (status || q->n_levels == 1) {
        q->n += n;
        return status;
    }
    /* sort by clusters; those of a cluster keep their order */
    size_t place = 0;
    for (size_t k = 0; k < n_tops; k++) q->top[k].until = 0;
    for (size_t i = 0; i < n; i++)
        if (q->first[q->n + i] != GLS_NO_CLUSTER) q->top[q->first[q->n + i]].until++;
    for (size_t k = 0; k < n_tops; k++) {
        const size_t count = q->top[k].until;
        q->top[k].from = q->top[k].until = place;
        place += count;
    }
    for (size_t i = 0; i < n; i++)
        if (q->first[q->n + i] != GLS_NO_CLUSTER) sorted[q->top[q->first[q->n + i]].until++] = (uint32_t)i;
    descent w = {.q = q, .f = f, .number = number, .sorted = sorted, .from = from};
    gls_parallel(n_tops, 1, q->n_threads, descend_some, &w);
    for (size_t k = 0; k < n_tops && !status; k++)
        if (q->top[k].status) status = gls_no_memory();
    q->n += n;
    return status;
}

gls_status gls_quickbundlesx_add(gls_quickbundlesx *q, const gls_features *f, const uint64_t *number, size_t n)
{
    line *l = malloc(sizeof *l);
    uint32_t *sorted = malloc(BLOCK * sizeof *sorted);
    gls_status status = l && sorted ? reserve_lines(q, n) : gls_no_memory();
    q->extent = fmaxf(q->extent, f->extent);
    for (size_t from = 0, count; from < n && !status; from += count) {
        count = n - from < BLOCK ? n - from : BLOCK;
        status = add_block(q, f, number, from, count, l, sorted);
    }
    free(l);
    free(sorted);
    return status;
}

/* --- Levels. */

/* Where the clusters of a level go. */
typedef struct levels {
    const gls_quickbundlesx *q;
    size_t level;
    gls_centroids *centroids;
    /* for each leaf below each cluster of the first level: its cluster of the level */
    uint32_t **map;
} levels;

/* Copies the clusters of the level below a cluster, and maps its leaves. depth: level of the children; which: cluster
 * of the first level; current: the cluster of the level above, if it was passed. */
static gls_status copy_level(const levels *w, const node *d, size_t depth, size_t which, uint32_t current)
{
    gls_status status = GLS_OK;
    for (size_t k = 0; k < d->kids.n && !status; k++) {
        uint32_t own = current;
        const size_t first = depth == 0 ? k : which;
        if (depth == w->level) {
            gls_centroids *c = w->centroids;
            status = gls_centroids_found(c);
            if (status) return status;
            own = (uint32_t)(c->n - 1);
            c->size[own] = d->kids.size[k];
            memcpy(c->point + own * 3 * c->pad, d->kids.point + k * 3 * c->pad, 3 * c->pad * sizeof *c->point);
        }
        if (depth + 1 == w->q->n_levels)
            w->map[first][depth == 0 ? 0 : d->leaf[k]] = own;
        else
            status = copy_level(w, &d->node[k], depth + 1, first, own);
    }
    return status;
}

gls_status gls_quickbundlesx_level(const gls_quickbundlesx *q, size_t level, gls_centroids *centroids,
                                   uint32_t *cluster)
{
    const size_t n_tops = q->root.kids.n;
    *centroids = (gls_centroids){.points = q->points, .pad = q->pad};
    levels w = {q, level, centroids, calloc(n_tops + 1, sizeof *w.map)};
    gls_status status = w.map ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < n_tops && !status; k++) {
        w.map[k] = malloc((q->n_levels > 1 ? q->top[k].n_leaves + 1 : 1) * sizeof **w.map);
        if (!w.map[k]) status = gls_no_memory();
    }
    if (!status) status = copy_level(&w, &q->root, 0, 0, GLS_NO_CLUSTER);
    for (size_t i = 0; i < q->n && !status; i++)
        cluster[i] = q->first[i] == GLS_NO_CLUSTER ? GLS_NO_CLUSTER : w.map[q->first[i]][q->leaf[i]];
    for (size_t k = 0; k < n_tops && w.map; k++) free(w.map[k]);
    free(w.map);
    return status;
}
