/* Filters that change the points of streamlines: an affine map, points at equal distances, more points, fewer points.
 * Several threads count the new points of a block, then fill them in; resampling from the middle uses one thread. */
#include <glslines/filters.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "streamlines/filter_parts.h"
#include "streamlines/thin.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/threads.h"

#define MAX_STEPS 1e9 /* maximum number of steps of one streamline */

typedef struct reshaper reshaper;
struct reshaper {
    /* collects the new streamlines; owned */
    gls_builder builder;
    /* count() returns the number of points that streamline i gets; UINT64_MAX: too many. fill() stores them from index
     * `to` of the builder on; row: index of the new streamline in the block of the builder. */
    uint64_t (*count)(reshaper *reshaper, const gls_streamlines *s, size_t i);
    void (*fill)(reshaper *reshaper, const gls_streamlines *s, size_t i, size_t row, uint64_t to);
    /* Filters without count and fill process one streamline after another with this function. */
    gls_status (*reshape)(reshaper *reshaper, const gls_streamlines *s, size_t i);
    /* largest number of threads */
    int n_threads;
    size_t lines; /* number of streamlines for which n_new and first have memory */
    /* for each streamline of the block: its new number of points, and the index of its first new point */
    uint64_t *n_new, *first;
    /* world mm to world mm */
    double map[3][4];
    /* how positions between points are found */
    gls_interpolation how;
    uint32_t n;  /* number of points of each streamline, or the factor by which points are added or removed */
    double step; /* distance of points, mm */
    double tolerance, max_segment; /* mm, of the filter that calls gls_points_compress(); others: 0 */
    /* allocated elements of `kept` */
    size_t capacity;
    size_t *kept; /* indices, within their streamline, of the points that stay; those of a streamline are stored from
                   * the index of its first point on */
    /* number of new points of the current streamline; allocated elements of `added` */
    size_t n_added, added_capacity;
    struct added {
        uint64_t from;
        double share;
        float point[3];
    } * added; /* each new point, which lies at `share` of the way from input point `from` to the next */
};

/* Returns the error for a streamline of `length` mm that would get too many points. */
static gls_status too_many_steps(const reshaper *f, double length)
{
    return gls_fail(GLS_ERR_ARGUMENT,
                    "a step of %g mm gives a streamline of %g mm more than %g points: give a larger step", f->step,
                    length, MAX_STEPS);
}

static void apply(const double map[3][4], float p[3])
{
    double q[3] = {p[0], p[1], p[2]};
    gls_affine_apply(map, q, q);
    for (int r = 0; r < 3; r++) p[r] = (float)q[r];
}

static uint64_t count_same(reshaper *f, const gls_streamlines *s, size_t i)
{
    (void)f;
    return s->offset[i + 1] - s->offset[i];
}

/* Maps all points of streamline i and, if there is a column of seeds, its seed. */
static void transform(reshaper *f, const gls_streamlines *s, size_t i, size_t row, uint64_t to)
{
    gls_builder *b = &f->builder;
    const uint64_t n = s->offset[i + 1] - s->offset[i];
    gls_builder_copy(b, to, s->offset[i], n);
    for (uint64_t p = to; p < to + n; p++) apply((const double(*)[4])f->map, b->point[p]);
    for (size_t k = 0; k < s->n_dps; k++) {
        const gls_column *c = &s->dps[k];
        if (strcmp(c->name, GLS_DPS_SEEDS) == 0 && c->type == GLS_TYPE_FLOAT32 && c->components == 3)
            apply((const double(*)[4])f->map, (float *)b->memory[k] + 3 * row);
    }
}

/* Like gls_builder_mix(), on a cardinal spline of tension 0.1 through the points of streamline i. dpv are interpolated
 * linearly. Beyond an end of the streamline its last segment is continued. */
static void builder_spline(gls_builder *b, size_t i, uint64_t to, uint64_t from, double share)
{
    const uint64_t first = b->in->offset[i], last = b->in->offset[i + 1] - 1;
    const float(*p)[3] = b->in->point + from;
    float before[3], after[3];
    gls_builder_mix(b, to, from, share);
    if (share == 0) return;
    for (int r = 0; r < 3; r++) {
        before[r] = from > first ? p[-1][r] : p[0][r] + (p[0][r] - p[1][r]);
        after[r] = from + 1 < last ? p[2][r] : p[1][r] + (p[1][r] - p[0][r]);
    }
    gls_spline_at((float)share, before, p[0], p[1], after, b->point[to]);
}

/* Sets a new point by the interpolation of the filter. */
static void new_point(reshaper *f, size_t i, uint64_t to, uint64_t from, double share)
{
    if (f->how == GLS_INTERPOLATE_HERMITE)
        builder_spline(&f->builder, i, to, from, share);
    else
        gls_builder_mix(&f->builder, to, from, share);
}

/* Stores n points at multiples of step along streamline i, from index `to` on; the last point is the end of the
 * streamline. */
static void place(reshaper *f, const gls_streamlines *s, size_t i, double step, uint64_t to, uint64_t n)
{
    const uint64_t last = s->offset[i + 1] - 1;
    uint64_t from = s->offset[i];
    double before = 0, segment = from < last ? gls_builder_distance(s, from, from + 1) : 0;
    for (uint64_t k = 0; k + 1 < n; k++) {
        double at = (double)k * step;
        while (from + 1 < last && before + segment <= at) {
            before += segment;
            from++;
            segment = gls_builder_distance(s, from, from + 1);
        }
        double share = segment > 0 ? (at - before) / segment : 0;
        new_point(f, i, to + k, from, from < last ? fmin(fmax(share, 0), 1) : 0);
    }
    gls_builder_copy(&f->builder, to + n - 1, last, 1);
}

static uint64_t count_equal(reshaper *f, const gls_streamlines *s, size_t i)
{
    return s->offset[i + 1] > s->offset[i] ? f->n : 0;
}

/* Distance of two points in float32, in MRtrix3's order of sums. */
static float gap(const float a[3], const float b[3])
{
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrtf(x * x + (y * y + z * z));
}

/* Stores points at equal distances on the spline, where tckresample places them, with lengths in float32; unlike there,
 * the last point is the end of the streamline. */
static void make_equal_spline(reshaper *f, const gls_streamlines *s, size_t i, uint64_t to)
{
    const uint64_t last = s->offset[i + 1] - 1;
    uint64_t from = s->offset[i];
    float length = 0, before = 0;
    for (uint64_t p = from; p < last; p++) length += gap(s->point[p + 1], s->point[p]);
    for (uint32_t k = 0; k + 1 < f->n; k++) {
        const float at = length * (float)k / (float)(f->n - 1);
        float step = 0;
        while (from < last && before + (step = gap(s->point[from + 1], s->point[from])) < at) {
            before += step;
            from++;
        }
        float share = from < last && step > 0 ? (at - before) / step : 0;
        builder_spline(&f->builder, i, to + k, from, share > 0 ? (double)fminf(share, 1) : 0);
    }
    gls_builder_copy(&f->builder, to + f->n - 1, last, 1);
}

/* Places the same number of points on each streamline, at equal distances along it; a streamline without points gets
 * none. */
static void make_equal(reshaper *f, const gls_streamlines *s, size_t i, size_t row, uint64_t to)
{
    (void)row;
    if (f->how == GLS_INTERPOLATE_HERMITE && s->offset[i + 1] > s->offset[i]) {
        make_equal_spline(f, s, i, to);
        return;
    }
    if (s->offset[i + 1] > s->offset[i]) place(f, s, i, gls_builder_length(s, i) / (f->n - 1), to, f->n);
}

/* Number of points that cut a streamline into segments of one step; the last segment may be shorter. A streamline of
 * one point, or none, stays as it is. */
static uint64_t count_steps(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t n = s->offset[i + 1] - s->offset[i];
    if (n < 2) return n;
    /* a remainder below the rounding error does not make a segment */
    double steps = ceil(gls_builder_length(s, i) / f->step - 1e-6);
    return steps < MAX_STEPS ? 1 + (uint64_t)fmax(steps, 1) : UINT64_MAX;
}

static void make_steps(reshaper *f, const gls_streamlines *s, size_t i, size_t row, uint64_t to)
{
    (void)row;
    if (s->offset[i + 1] > s->offset[i]) place(f, s, i, f->step, to, f->n_new[i]);
}

/* Point k of streamline i. Beyond its ends the first and last segments are continued. */
static void point_at(const gls_streamlines *s, size_t i, int64_t k, float out[3])
{
    const int64_t last = (int64_t)(s->offset[i + 1] - s->offset[i]) - 1;
    const float(*p)[3] = s->point + s->offset[i];
    for (int r = 0; r < 3; r++)
        out[r] = k < 0      ? p[0][r] + (p[0][r] - p[1][r])
                 : k > last ? p[last][r] + (p[last][r] - p[last - 1][r])
                            : p[k][r];
}

/* Point at share mu of the way from point k to its neighbour, point k + step; step: +1 or -1. */
static void point_between(const reshaper *f, const gls_streamlines *s, size_t i, int64_t k, int step, float mu,
                          float out[3])
{
    float p[4][3];
    for (int n = 0; n < 4; n++) point_at(s, i, k + (n - 1) * step, p[n]);
    if (f->how == GLS_INTERPOLATE_HERMITE)
        gls_spline_at(mu, p[0], p[1], p[2], p[3], out);
    else
        for (int r = 0; r < 3; r++) out[r] = p[1][r] + mu * (p[2][r] - p[1][r]);
}

/* Appends a point that lies at `share` of the way from input point `from` to the next. */
static gls_status add_point(reshaper *f, uint64_t from, double share, const float point[3])
{
    if (f->n_added == f->added_capacity) {
        size_t added_capacity = f->added_capacity ? 2 * f->added_capacity : 256;
        struct added *list = realloc(f->added, added_capacity * sizeof *list);
        if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for a streamline");
        f->added = list;
        f->added_capacity = added_capacity;
    }
    f->added[f->n_added++] = (struct added){from, share, {point[0], point[1], point[2]}};
    return GLS_OK;
}

/* Finds the point at one step's distance from `here` on the segment that starts at point k, by bisection in float32
 * with the precision of tckresample, so that the points are the same. *low: share from which the search starts; gets
 * the last share that was too near. Returns the share. */
static float find_step(const reshaper *f, const gls_streamlines *s, size_t i, int64_t k, int step, float *low,
                       const float here[3], float out[3])
{
    const float length = (float)f->step;
    float near[3], far[3], high = 1, mu = 1;
    point_at(s, i, k, near);
    point_at(s, i, k + step, far);
    do {
        const float middle = 0.5f * (*low + high);
        if (middle == *low ||
            middle == high) { /* neighbouring floats are further apart than the precision: go on with the next point */
            point_at(s, i, k + step, out);
            return 1;
        }
        mu = middle;
        point_between(f, s, i, k, step, mu, out);
        bool is_near = gap(out, here) < length;
        *(is_near ? low : &high) = mu;
        memcpy(is_near ? near : far, out, sizeof near);
    } while (gap(far, near) > 0.001f * length);
    return mu;
}

/* Adds points from point `start` to the end of streamline i (back: to its beginning), each one step from the point
 * before, and last that end itself. */
static gls_status walk_from(reshaper *f, const gls_streamlines *s, size_t i, int64_t start, bool back)
{
    const uint64_t first = s->offset[i];
    const int step = back ? -1 : 1;
    const int64_t end = back ? 0 : (int64_t)(s->offset[i + 1] - first) - 1;
    int64_t k = start; /* the segment from point k to the next is searched */
    float low = 0, here[3], p[3];
    gls_status status = GLS_OK;
    point_at(s, i, start, here);
    while (k != end && !status) {
        point_at(s, i, k + step, p);
        if (gap(here, p) < (float)f->step) {
            k += step;
            low = 0;
            continue;
        }
        const float mu = find_step(f, s, i, k, step, &low, here, p);
        memcpy(here, p, sizeof here);
        status = add_point(f, first + (uint64_t)(back ? k - 1 : k), back ? 1 - (double)mu : (double)mu, here);
        if (mu < 1) continue;
        k += step;
        low = 0;
    }
    return !status && start != end ? add_point(f, first + (uint64_t)end, 0, s->point[first + (uint64_t)end]) : status;
}

/* Places points at equal distances from the middle point to both ends, as MRtrix3's tckresample -step_size does. */
static gls_status resample_from_middle(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t n = s->offset[i + 1] - s->offset[i], middle = s->offset[i] + n / 2;
    uint64_t to;
    if (n == 0) return gls_builder_add(&f->builder, i, 0, &to);
    const double length = gls_builder_length(s, i);
    if (!(length / f->step < MAX_STEPS)) return too_many_steps(f, length);
    f->n_added = 0;
    gls_status status = walk_from(f, s, i, (int64_t)(n / 2), true);
    const size_t before = f->n_added;
    for (size_t k = 0; k < before / 2; k++) {
        struct added keep = f->added[k];
        f->added[k] = f->added[before - 1 - k];
        f->added[before - 1 - k] = keep;
    }
    if (!status) status = add_point(f, middle, 0, s->point[middle]);
    if (!status) status = walk_from(f, s, i, (int64_t)(n / 2), false);
    if (!status) status = gls_builder_add(&f->builder, i, f->n_added, &to);
    for (size_t k = 0; k < f->n_added && !status; k++) {
        gls_builder_mix(&f->builder, to + k, f->added[k].from, f->added[k].share); /* this also interpolates the dpv */
        memcpy(f->builder.point[to + k], f->added[k].point, sizeof f->added[k].point);
    }
    return status;
}

static uint64_t count_between(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t n = s->offset[i + 1] - s->offset[i];
    return n > 1 ? (n - 1) * f->n + 1 : n;
}

static void make_between(reshaper *f, const gls_streamlines *s, size_t i, size_t row, uint64_t to)
{
    const uint64_t first = s->offset[i], n = s->offset[i + 1] - first;
    (void)row;
    for (uint64_t p = 0; p + 1 < n; p++)
        for (uint32_t k = 0; k < f->n; k++) new_point(f, i, to + p * f->n + k, first + p, (double)k / f->n);
    if (n > 0) gls_builder_copy(&f->builder, to + (n - 1) * f->n, first + n - 1, 1);
}

static uint64_t count_kept(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t first = s->offset[i];
    const size_t n = (size_t)(s->offset[i + 1] - first);
    return f->max_segment > 0 ? gls_points_compress(s->point + first, n, f->tolerance, f->max_segment, f->kept + first)
                              : gls_points_downsample(n, f->n, n / 2, f->kept + first);
}

static void keep(reshaper *f, const gls_streamlines *s, size_t i, size_t row, uint64_t to)
{
    const uint64_t first = s->offset[i];
    (void)row;
    for (size_t k = 0; k < f->n_new[i]; k++) gls_builder_copy(&f->builder, to + k, first + f->kept[first + k], 1);
}

/* Allocates memory for the counts of a block and, where points are only removed, for the indices of the points that
 * stay. */
static gls_status reserve(reshaper *f, const gls_streamlines *s)
{
    const size_t points = (size_t)s->offset[s->n];
    bool ok = true;
    if (s->n > f->lines) {
        uint64_t *n_new = realloc(f->n_new, s->n * sizeof *n_new), *first;
        if (n_new) f->n_new = n_new;
        first = realloc(f->first, s->n * sizeof *first);
        if (first) f->first = first;
        ok = n_new && first;
        if (ok) f->lines = s->n;
    }
    if (ok && f->count == count_kept && points > f->capacity) {
        size_t *kept = realloc(f->kept, points * sizeof *kept);
        ok = kept != NULL;
        if (ok) f->kept = kept;
        if (ok) f->capacity = points;
    }
    return ok ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for streamlines");
}

/* A block of streamlines that several threads work on. */
typedef struct reshaping {
    reshaper *reshaper;
    const gls_streamlines *lines;
    size_t first; /* first streamline of the block */
} reshaping;

static void count_one(void *user, int thread, const gls_streamlines *s, size_t i)
{
    reshaper *f = user;
    (void)thread;
    f->n_new[i] = f->count(f, s, i);
}

static void fill_some(void *user, int thread, size_t from, size_t until)
{
    const reshaping *r = user;
    reshaper *f = r->reshaper;
    (void)thread;
    for (size_t k = from; k < until; k++) f->fill(f, r->lines, r->first + k, k, f->first[r->first + k]);
}

/* Processes as many streamlines from index `from` on as fit into a block. *until: index of the first one left. */
static gls_status reshape_some(reshaper *f, const gls_streamlines *s, size_t from, size_t *until)
{
    gls_builder *b = &f->builder;
    gls_status status = GLS_OK;
    size_t i = from;
    for (; i < s->n && !status && gls_builder_fits(b, f->n_new[i]); i++)
        status = gls_builder_add(b, i, f->n_new[i], &f->first[i]);
    if (status) return status;
    *until = i;
    gls_parallel(i - from, 64, f->n_threads, fill_some, &(reshaping){f, s, from});
    return gls_builder_flush(b);
}

/* Two passes: threads count the new points of each streamline, then fill them in block by block. */
static gls_status reshape_all(reshaper *f, const gls_streamlines *s)
{
    gls_status status = reserve(f, s);
    if (status) return status;
    gls_lines_parallel(s, 64, f->n_threads, count_one, f);
    for (size_t i = 0; i < s->n; i++) /* check all streamlines before any block is handed on */
        if (f->n_new[i] == UINT64_MAX) return too_many_steps(f, gls_builder_length(s, i));
    for (size_t i = 0; i < s->n && !status;) status = reshape_some(f, s, i, &i);
    return status;
}

static gls_status append(void *user, const gls_streamlines *s)
{
    reshaper *f = user;
    gls_status status = gls_builder_begin(&f->builder, s);
    if (!status && f->count) return reshape_all(f, s);
    for (size_t i = 0; i < s->n && !status; i++) status = f->reshape(f, s, i);
    return !status ? gls_builder_flush(&f->builder) : status;
}

static void discard(void *user)
{
    reshaper *f = user;
    gls_builder_finish(&f->builder);
    free(f->n_new);
    free(f->first);
    free(f->kept);
    free(f->added);
    free(f);
}

static gls_status create(const reshaper *like, const gls_sink *next, gls_sink *filter)
{
    reshaper *f = malloc(sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    *f = *like;
    f->n_threads = omp_get_max_threads();
    *filter = gls_builder_sink(&f->builder, next, append, discard);
    return GLS_OK;
}

gls_status gls_filter_transform_create(const double map[3][4], const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(map && next && next->append && filter);
    reshaper f = {.count = count_same, .fill = transform};
    memcpy(f.map, map, sizeof f.map);
    return create(&f, next, filter);
}

gls_status gls_filter_points_create(uint32_t n, gls_interpolation how, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(n >= 2 && (unsigned)how <= GLS_INTERPOLATE_HERMITE);
    return create(&(reshaper){.count = count_equal, .fill = make_equal, .n = n, .how = how}, next, filter);
}

gls_status gls_filter_step_create(double step, gls_interpolation how, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(step > 0 && isfinite(step) && (unsigned)how <= GLS_INTERPOLATE_HERMITE);
    return create(&(reshaper){.count = count_steps, .fill = make_steps, .step = step, .how = how}, next, filter);
}

gls_status gls_filter_middle_step_create(double step, gls_interpolation how, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(step > 0 && isfinite(step) && (unsigned)how <= GLS_INTERPOLATE_HERMITE);
    return create(&(reshaper){.reshape = resample_from_middle, .step = step, .how = how}, next, filter);
}

gls_status gls_filter_upsample_create(uint32_t factor, gls_interpolation how, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(factor >= 1 && (unsigned)how <= GLS_INTERPOLATE_HERMITE);
    return create(&(reshaper){.count = count_between, .fill = make_between, .n = factor, .how = how}, next, filter);
}

gls_status gls_filter_downsample_create(uint32_t factor, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    return create(&(reshaper){.count = count_kept, .fill = keep, .n = factor}, next, filter);
}

gls_status gls_filter_compress_create(double tolerance, double max_segment, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(tolerance >= 0 && max_segment > 0);
    return create(&(reshaper){.count = count_kept, .fill = keep, .tolerance = tolerance, .max_segment = max_segment},
                  next, filter);
}
