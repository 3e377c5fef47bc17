/* Neighbours of streamlines within a radius, and the nearest ones. Lower bounds choose candidates: distances of
 * barycentres for distances of points at equal places, gaps between boxes for distances of nearest points. Their
 * distances are computed in float32 first, and those that may be near enough in double. Distances of nearest points in
 * float32 may come from a device. */
#include <glslines/neighbours.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/features.h"
#include "geometry/nearest_device.h"
#include "geometry/sorted_cells.h"
#include "util/allocation.h"
#include "util/status.h"
#include "util/threads.h"

/* The pairs that one thread has found. */
typedef struct finds {
    gls_neighbour *list;
    size_t n, capacity;
    /* memory for candidates: places, and squared bounds or, from a device, distances */
    uint32_t *place;
    float *gap;
    bool failed;
} finds;

/* Where the neighbours of a streamline lie. */
typedef struct where {
    int thread;
    size_t from, n;
} where;

struct gls_neighbours {
    gls_neighbours_options options;
    size_t points; /* number of points that distances compare; 2: the ends; 0: not known before the first reference */
    int n_threads;
    gls_features references, queries;
    gls_cells cells;
    bool ready;
    /* boxes of the references, by place; for distances of nearest points */
    float *low[3], *high[3];
    /* borrowed, and what computes on it; NULL: the CPU */
    gls_device *device;
    gls_nearest_device *nearest;
    bool is_listed;          /* whether the device looks for these streamlines */
    gls_nearest_list listed; /* what it has found */
    size_t listed_from;      /* for streamlines from this number on */
    finds *finds;            /* for each thread */
    where *where;
    double *limit; /* for each streamline: how far it looks next, mm; negative: its neighbours are found */
    uint64_t *first;
    size_t line_capacity;
    gls_neighbour *all;
    size_t capacity;
};

gls_neighbours_options gls_neighbours_options_default(void)
{
    return (gls_neighbours_options){.size = sizeof(gls_neighbours_options), .points = 24, .radius = 8};
}

/* Whether the distance compares nearest points, and therefore is the same for both senses of a streamline. */
static bool is_of_nearest(const gls_neighbours *b)
{
    return b->options.distance == GLS_DISTANCE_MAM || b->options.distance == GLS_DISTANCE_HAUSDORFF;
}

gls_status gls_neighbours_create(const gls_neighbours_options *options, gls_neighbours **neighbours)
{
    GLS_REQUIRE(options && neighbours);
    GLS_REQUIRE_SIZE(options);
    if (!(options->radius > 0))
        return gls_fail(GLS_ERR_ARGUMENT, "neighbours: the radius %g mm must be above 0", options->radius);
    if (isinf(options->radius) && options->nearest == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "neighbours: give a radius, or a number of nearest ones");
    if (options->points == 1 || options->points > GLS_MAX_POINTS)
        return gls_fail(GLS_ERR_ARGUMENT, "neighbours: %u points: give 2 to %d", options->points, GLS_MAX_POINTS);
    if (options->distance < GLS_DISTANCE_MDF || options->distance > GLS_DISTANCE_ENDPOINTS)
        return gls_fail(GLS_ERR_ARGUMENT, "neighbours: there is no distance %d", (int)options->distance);
    gls_neighbours *b = calloc(1, sizeof *b);
    if (!b) return gls_no_memory();
    b->options = *options;
    b->points = options->distance == GLS_DISTANCE_ENDPOINTS ? 2 : options->points;
    b->n_threads = omp_get_max_threads();
    gls_features_init(&b->references, b->points, false);
    gls_features_init(&b->queries, b->points, false);
    b->finds = calloc((size_t)b->n_threads, sizeof *b->finds);
    if (!b->finds) {
        free(b);
        return gls_no_memory();
    }
    *neighbours = b;
    return GLS_OK;
}

void gls_neighbours_destroy(gls_neighbours *b)
{
    if (!b) return;
    for (int t = 0; t < b->n_threads; t++) {
        free(b->finds[t].list);
        free(b->finds[t].place);
        free(b->finds[t].gap);
    }
    free(b->finds);
    gls_features_finish(&b->references);
    gls_features_finish(&b->queries);
    gls_cells_finish(&b->cells);
    gls_nearest_device_destroy(b->nearest);
    gls_nearest_list_finish(&b->listed);
    free(b->low[0]);
    free(b->where);
    free(b->limit);
    free(b->first);
    free(b->all);
    free(b);
}

gls_status gls_neighbours_set_device(gls_neighbours *b, gls_device *device)
{
    GLS_REQUIRE(b);
    if (b->ready) return gls_fail(GLS_ERR_ARGUMENT, "neighbours: set the device before the first search");
    b->device = device;
    return GLS_OK;
}

gls_sink gls_neighbours_references(gls_neighbours *b)
{
    return gls_features_sink(&b->references);
}

uint64_t gls_neighbours_count(const gls_neighbours *b)
{
    return b->references.n;
}

uint64_t gls_neighbours_void(const gls_neighbours *b)
{
    return b->references.n_void;
}

/* --- References. */

/* For gls_cells_fill(): a reference. Those without length lie at the origin, and are left out when they are found. */
static void copy_reference(const void *user, size_t id, float *out)
{
    const gls_features *f = user;
    if (gls_features_has(f, id))
        gls_points_expand((const float(*)[3])f->point + id * f->points, f->points, f->pad, false, out);
    else
        memset(out, 0, 3 * f->pad * sizeof *out);
}

/* Finds the boxes of the references. */
static gls_status find_boxes(gls_neighbours *b)
{
    const gls_cells *c = &b->cells;
    b->low[0] = malloc((6 * c->n + 1) * sizeof *b->low[0]);
    if (!b->low[0]) return gls_no_memory();
    for (int k = 0; k < 3; k++) {
        b->low[k] = b->low[0] + (size_t)k * c->n;
        b->high[k] = b->low[0] + (size_t)(3 + k) * c->n;
        for (size_t i = 0; i < c->n; i++) {
            const float *at = c->point + i * 3 * c->pad + (size_t)k * c->pad;
            float low = at[0], high = at[0];
            for (size_t p = 1; p < c->points; p++) {
                low = at[p] < low ? at[p] : low;
                high = at[p] > high ? at[p] : high;
            }
            b->low[k][i] = low;
            b->high[k][i] = high;
        }
    }
    return GLS_OK;
}

/* Lets the CPU compute if the memory of the device does not suffice; else returns the status. */
static gls_status leave_device(gls_neighbours *b, gls_status status)
{
    if (status != GLS_ERR_UNSUPPORTED && status != GLS_ERR_DEVICE_MEMORY) return status;
    gls_log(GLS_LOG_WARNING, "distances are computed on the CPU, since the device cannot: %s", gls_last_error());
    gls_nearest_device_destroy(b->nearest);
    b->nearest = NULL;
    return GLS_OK;
}

/* Sorts the references, once. */
static gls_status prepare(gls_neighbours *b)
{
    if (b->ready) return GLS_OK;
    if (b->points == 0) b->points = b->references.points;
    if (b->options.nearest > b->references.n) b->options.nearest = b->references.n > 0 ? (uint32_t)b->references.n : 1;
    /* without a radius, cells that hold about one reference each */
    const float side = isinf(b->options.radius) ? 8 : (float)b->options.radius;
    gls_status status =
        gls_cells_fill(&b->cells, b->references.n, b->points, side, copy_reference, &b->references, b->n_threads);
    if (!status && is_of_nearest(b)) status = find_boxes(b);
    for (int t = 0; t < b->n_threads && !status; t++) {
        b->finds[t].place = malloc((b->cells.n + 1) * sizeof *b->finds[t].place);
        b->finds[t].gap = malloc((b->cells.n + 1) * sizeof *b->finds[t].gap);
        if (!b->finds[t].place || !b->finds[t].gap) status = gls_no_memory();
    }
    if (!status && b->device && is_of_nearest(b) && b->cells.n > 0 && b->cells.extent < GLS_NEAREST_EXTENT)
        status =
            leave_device(b, gls_nearest_device_create(b->device, &b->cells, b->low, b->high,
                                                      b->options.distance == GLS_DISTANCE_HAUSDORFF,
                                                      b->options.nearest > 0 ? 0 : b->options.radius, &b->nearest));
    b->ready = !status;
    return status;
}

/* --- Distances. */

/* A streamline whose neighbours are sought. */
typedef struct query {
    size_t line;
    const gls_nearest_list *listed; /* what a device has found; NULL: nothing was sought there */
    float x[3 * GLS_MAX_POINTS], y[3 * GLS_MAX_POINTS], mean[3], low[3], high[3], part[GLS_PARTS];
} query;

/* Whether bounds and distances in float32 show that the nearest points of a streamline and of the reference at a place
 * are farther than a limit. */
static bool is_beyond(const gls_neighbours *b, const query *q, uint32_t place, float limit)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const gls_cells *c = &b->cells;
    const float *r = c->point + place * 3 * c->pad;
    const int which = b->options.distance == GLS_DISTANCE_HAUSDORFF;
    float there[2], back[2], low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = b->low[k][place];
        high[k] = b->high[k][place];
    }
    for (int exact = 0; exact < 2; exact++) {
        if (exact) {
            kernel->nearest(r, q->x, c->points, c->pad, there, back);
        } else {
            kernel->outside(r, q->low, q->high, c->points, c->pad, there);
            kernel->outside(q->x, low, high, c->points, c->pad, back);
        }
        if ((which ? fmaxf(there[1], back[1]) : (there[0] + back[0]) / 2) > limit) return true;
    }
    return false;
}

/* Distance of a streamline from candidate k, in double; INFINITY where float32 shows that it is above limit. */
static double distance(const gls_neighbours *b, const query *q, const finds *f, size_t k, float limit, bool *reversed)
{
    const gls_geometry_kernel *kernel = gls_geometry_kernels();
    const gls_cells *c = &b->cells;
    const uint32_t place = f->place[k];
    const float *r = c->point + place * 3 * c->pad;
    *reversed = false;
    if (q->listed && q->listed->is_final && f->gap[k] >= 0) /* rounded, perhaps to the radius, but below it */
        return fmin((double)f->gap[k], nextafter(b->options.radius, 0));
    if (is_of_nearest(b)) {
        if (q->listed ? f->gap[k] * (1 - GLS_NEAREST_ERROR) > (double)limit : is_beyond(b, q, place, limit))
            return INFINITY;
        const bool largest = b->options.distance == GLS_DISTANCE_HAUSDORFF;
        const double there = kernel->from_nearest(q->x, r, c->points, c->pad, largest),
                     back = kernel->from_nearest(r, q->x, c->points, c->pad, largest);
        return largest ? fmax(there, back) : (there + back) / 2;
    }
    float d, e;
    if (kernel->parts(c->part + place * GLS_PARTS, q->part) > limit) return INFINITY;
    kernel->both(r, q->x, q->y, c->points, c->pad, &d, &e);
    if (fminf(d, e) > limit) return INFINITY;
    const double direct = kernel->exact(r, q->x, c->points, c->pad), turned = kernel->exact(r, q->y, c->points, c->pad);
    *reversed = turned < direct;
    return *reversed ? turned : direct;
}

/* Whether a reference has a length. */
static bool has_reference(const gls_neighbours *b, size_t id)
{
    return b->references.n_void == 0 || gls_features_has(&b->references, id);
}

/* Finds references whose boxes are within a radius. Returns their number. */
static size_t boxes_near(const gls_neighbours *b, const query *q, float radius, uint32_t *place, float *gap)
{
    const gls_cells *c = &b->cells;
    const float wide = radius + gls_distance_slack(c->extent), limit = wide * wide;
    size_t n = 0;
#pragma omp simd
    for (size_t i = 0; i < c->n; i++) {
        float square = 0;
        for (int k = 0; k < 3; k++) {
            const float above = b->low[k][i] - q->high[k], below = q->low[k] - b->high[k][i];
            float side = above > below ? above : below;
            side = side > 0 ? side : 0;
            square += side * side;
        }
        gap[i] = square;
    }
    for (size_t i = 0; i < c->n; i++)
        if (gap[i] <= limit) place[n++] = (uint32_t)i;
    return n;
}

/* Copies the references that a device has found. Returns their number. */
static size_t copy_listed(const query *q, uint32_t *place, float *mm)
{
    const gls_nearest_list *l = q->listed;
    size_t n = 0;
    for (uint32_t k = l->start[q->line]; k < l->start[q->line + 1]; k++)
        for (uint32_t i = 0; i < l->run[k].n; i++, n++) {
            const gls_nearest_entry *entry = &l->entry[l->run[k].first + i];
            place[n] = entry->place;
            mm[n] = entry->mm;
        }
    return n;
}

/* Finds the places of references that may be within a radius, at most as far as the device has looked. Returns their
 * number. */
static size_t candidates(const gls_neighbours *b, const query *q, float radius, finds *f)
{
    if (q->listed) return copy_listed(q, f->place, f->gap);
    return is_of_nearest(b) ? boxes_near(b, q, radius, f->place, f->gap)
                            : gls_cells_near(&b->cells, q->mean, radius, f->place, f->gap);
}

/* --- Search. */

/* Comparison for qsort(): by number. */
static int by_number(const void *a, const void *b)
{
    const gls_neighbour *x = a, *y = b;
    return (x->reference > y->reference) - (x->reference < y->reference);
}

/* Whether a neighbour comes before another one of those that are sorted by distance. */
static bool is_before(const gls_neighbour *a, double a_mm, const gls_neighbour *b, double b_mm)
{
    return a_mm < b_mm || (!(b_mm < a_mm) && a->reference < b->reference);
}

/* Allocates memory for n more neighbours of a thread. */
static bool reserve(finds *f, size_t n)
{
    if (f->n + n <= f->capacity) return true;
    const size_t capacity = f->n + n > 2 * f->capacity ? f->n + n + 64 : 2 * f->capacity;
    gls_neighbour *list = realloc(f->list, capacity * sizeof *list);
    if (!list) return false;
    f->list = list;
    f->capacity = capacity;
    return true;
}

/* Adds all neighbours within the radius. */
static bool find_within(const gls_neighbours *b, const query *q, finds *f)
{
    const gls_cells *c = &b->cells;
    const float slack = gls_distance_slack(fmaxf(c->extent, b->queries.extent)),
                limit = (float)b->options.radius + slack;
    const size_t n = candidates(b, q, limit, f), from = f->n;
    for (size_t k = 0; k < n; k++) {
        bool reversed;
        const uint32_t id = c->id[f->place[k]];
        const double d = distance(b, q, f, k, limit, &reversed);
        if (!(d < b->options.radius) || !has_reference(b, id)) continue;
        if (!reserve(f, 1)) return false;
        f->list[f->n++] = (gls_neighbour){id, (float)d, reversed};
    }
    if (f->n > from) qsort(f->list + from, f->n - from, sizeof *f->list, by_number);
    return true;
}

/* Finds the nearest ones among those that may be within `radius`. mm: their distances; memory for `nearest`. Returns
 * their number. */
static size_t nearest_within(const gls_neighbours *b, const query *q, finds *f, float radius, gls_neighbour *best,
                             double *mm)
{
    const gls_cells *c = &b->cells;
    const float slack = gls_distance_slack(fmaxf(c->extent, b->queries.extent));
    const size_t most = b->options.nearest, n = candidates(b, q, radius + slack, f);
    size_t found = 0;
    for (size_t k = 0; k < n; k++) {
        gls_neighbour one = {.reference = c->id[f->place[k]]};
        const float limit = (found == most && mm[most - 1] < (double)radius ? (float)mm[most - 1] : radius) + slack;
        const double d = distance(b, q, f, k, limit, &one.reversed);
        if (!(d < b->options.radius) || !has_reference(b, one.reference)) continue;
        one.distance = (float)d;
        if (found == most && !is_before(&one, d, &best[most - 1], mm[most - 1])) continue;
        size_t at = found < most ? found++ : most - 1;
        for (; at > 0 && is_before(&one, d, &best[at - 1], mm[at - 1]); at--) {
            best[at] = best[at - 1];
            mm[at] = mm[at - 1];
        }
        best[at] = one;
        mm[at] = d;
    }
    return found;
}

/* Whether a search for the nearest within `radius` is the last one: beyond the radius of the options, or of all
 * references, there is nothing to find. */
static bool is_whole(const gls_neighbours *b, double radius)
{
    return radius >= b->options.radius || radius > 4 * (double)fmaxf(b->cells.extent, b->queries.extent);
}

/* Adds the nearest neighbours, searching from *limit on wider and wider, until so many lie within what was searched;
 * then *limit is negative. What a device has found is searched once. */
static bool find_nearest(const gls_neighbours *b, const query *q, finds *f, double *limit)
{
    const size_t most = b->options.nearest;
    double *mm = malloc(most * sizeof *mm);
    if (!mm || !reserve(f, most)) {
        free(mm);
        return false;
    }
    do {
        const bool whole = is_whole(b, *limit);
        const double radius = whole ? b->options.radius : *limit;
        const size_t n = nearest_within(b, q, f, (float)radius, f->list + f->n, mm);
        const bool ends = whole || (n == most && mm[n - 1] < radius);
        *limit = ends ? -1 : 2 * *limit;
        if (ends) f->n += n;
    } while (*limit > 0 && !q->listed);
    free(mm);
    return true;
}

/* Fills in a streamline. */
static void set_query(const gls_neighbours *b, size_t i, query *q)
{
    const size_t pad = b->queries.pad;
    gls_features_expand(&b->queries, i, q->x, q->y);
    gls_points_mean(q->x, b->points, pad, q->mean);
    for (int k = 0; k < 3; k++) {
        const float *at = q->x + (size_t)k * pad;
        q->low[k] = q->high[k] = at[0];
        for (size_t p = 1; p < b->points; p++) {
            q->low[k] = fminf(q->low[k], at[p]);
            q->high[k] = fmaxf(q->high[k], at[p]);
        }
    }
    gls_points_parts(q->x, q->y, b->points, pad, q->part);
    /* padding lies far away, so that it is never the nearest point */
    for (size_t p = b->points; p < pad && is_of_nearest(b); p++)
        q->x[p] = q->x[pad + p] = q->x[2 * pad + p] = GLS_POINT_FAR;
}

/* Finds the neighbours of some streamlines; numbers are counted from listed_from on. */
static void find_some(void *user, int thread, size_t from, size_t until)
{
    gls_neighbours *b = user;
    finds *f = &b->finds[thread];
    query q = {.listed = b->is_listed ? &b->listed : NULL};
    for (q.line = from; q.line < until; q.line++) {
        const size_t i = b->listed_from + q.line, before = f->n;
        if (b->limit[i] < 0 || f->failed) continue;
        set_query(b, i, &q);
        if (b->options.nearest > 0) {
            f->failed = !find_nearest(b, &q, f, &b->limit[i]);
        } else {
            f->failed = !find_within(b, &q, f);
            b->limit[i] = -1;
        }
        b->where[i] = (where){thread, before, f->n - before};
    }
}

/* Sets how far streamlines look first: to the radius, or 4 mm for the nearest ones. Returns whether one of them looks
 * anywhere. */
static bool set_limits(gls_neighbours *b, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        b->where[i] = (where){0, 0, 0};
        b->limit[i] = !gls_features_has(&b->queries, i) ? -1 : b->options.nearest > 0 ? 4 : b->options.radius;
        any |= b->limit[i] > 0;
    }
    return any;
}

/* Lets the device look for the neighbours of streamlines from number `from` on. */
static gls_status begin_listing(gls_neighbours *b, size_t from, size_t n)
{
    double limit[GLS_NEAREST_LINES];
    const size_t count = n - from < GLS_NEAREST_LINES ? n - from : GLS_NEAREST_LINES;
    for (size_t i = 0; i < count; i++) {
        limit[i] = b->limit[from + i];
        if (limit[i] > 0 && is_whole(b, limit[i])) limit[i] = b->options.radius;
    }
    return gls_nearest_device_begin(b->nearest, (const float(*)[3])b->queries.point + from * b->points, limit, count);
}

/* Finds the neighbours of n streamlines with the device, which looks for those of the next ones meanwhile. */
static gls_status find_listed(gls_neighbours *b, size_t n)
{
    gls_status status = GLS_OK;
    for (bool more = true; more && !status;) {
        size_t count = 0;
        status = begin_listing(b, 0, n);
        for (size_t from = 0; from < n && !status; from += count) {
            status = gls_nearest_device_end(b->nearest, &count, &b->listed);
            if (!status && from + count < n) status = begin_listing(b, from + count, n);
            b->listed_from = from;
            if (!status) gls_parallel(count, 16, b->n_threads, find_some, b);
        }
        more = false;
        for (size_t i = 0; i < n && !more; i++) more = b->limit[i] > 0;
    }
    return status;
}

/* Finds the neighbours of n streamlines. */
static gls_status find_all(gls_neighbours *b, size_t n)
{
    gls_status status = GLS_OK;
    const bool any = set_limits(b, n);
    b->is_listed = any && b->nearest && b->queries.extent < GLS_NEAREST_EXTENT;
    if (b->is_listed) {
        gls_device_hold(b->device);
        status = leave_device(b, find_listed(b, n));
        gls_device_release(b->device);
    }
    /* those that no device looked for */
    b->is_listed = false;
    b->listed_from = 0;
    if (any && !status) gls_parallel(n, 16, b->n_threads, find_some, b);
    return status;
}

/* Allocates what is kept for each of n streamlines. */
static gls_status reserve_lines(gls_neighbours *b, size_t n)
{
    if (n <= b->line_capacity && b->where) return GLS_OK;
    free(b->where);
    free(b->first);
    free(b->limit);
    b->line_capacity = 0;
    b->where = malloc((n + 1) * sizeof *b->where);
    b->first = malloc((n + 1) * sizeof *b->first);
    b->limit = malloc((n + 1) * sizeof *b->limit);
    if (!b->where || !b->first || !b->limit) return gls_no_memory();
    b->line_capacity = n;
    return GLS_OK;
}

gls_status gls_neighbours_find(gls_neighbours *b, const gls_streamlines *s, const uint64_t **first,
                               const gls_neighbour **found)
{
    GLS_REQUIRE(b && s && first && found);
    gls_features_clear(&b->queries);
    gls_status status = prepare(b);
    if (!status) status = reserve_lines(b, s->n);
    if (!status) status = gls_features_add(&b->queries, s);
    if (!status && s->n > 0 && b->references.n > 0 && b->queries.points != b->points)
        status = gls_fail(GLS_ERR_INPUT,
                          "streamlines have %zu points, but references have %zu: resample them to one "
                          "number",
                          b->queries.points, b->points);
    if (status) return status;
    for (int t = 0; t < b->n_threads; t++) b->finds[t].n = 0;
    status = find_all(b, s->n);
    if (status) return status;
    size_t total = 0;
    for (int t = 0; t < b->n_threads; t++) {
        if (b->finds[t].failed) return gls_no_memory();
        total += b->finds[t].n;
    }
    if (total > b->capacity || !b->all) {
        free(b->all);
        b->capacity = 0;
        b->all = malloc((total + 1) * sizeof *b->all);
        if (!b->all) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu pairs of neighbours", total);
        b->capacity = total;
    }
    b->first[0] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const where *w = &b->where[i];
        if (w->n > 0) memcpy(b->all + b->first[i], b->finds[w->thread].list + w->from, w->n * sizeof *b->all);
        b->first[i + 1] = b->first[i] + w->n;
    }
    *first = b->first;
    *found = b->all;
    return GLS_OK;
}
