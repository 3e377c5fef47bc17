/* Filters that give streamlines other points: an affine map, equal distances, fewer points on nearly straight parts. */
#include <glslines/filters.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "streamlines/thin.h"
#include "util/affine.h"
#include "util/status.h"

/* Of the share of the way between two points, for each mm of a step: when tckresample stops halving. */
#define MIDDLE_PRECISION 1e-3

typedef struct reshaper reshaper;
struct reshaper {
    gls_builder builder;
    gls_status (*reshape)(reshaper *reshaper, const gls_streamlines *s, size_t i);
    double map[3][4];
    gls_interpolation how;
    uint32_t n;  /* points of each, or factor */
    double step; /* mm */
    double tolerance, max_segment;
    /* of one streamline */
    size_t capacity;
    size_t *kept; /* points that stay */
    size_t n_places, places;
    struct place {
        uint64_t from;
        double share;
    } * place; /* of new points */
};

static void apply(const double map[3][4], float p[3])
{
    double q[3] = {p[0], p[1], p[2]};
    gls_affine_apply(map, q, q);
    for (int r = 0; r < 3; r++) p[r] = (float)q[r];
}

static gls_status transform(reshaper *f, const gls_streamlines *s, size_t i)
{
    gls_builder *b = &f->builder;
    uint64_t to, n = s->offset[i + 1] - s->offset[i];
    gls_status status = gls_builder_add(b, i, n, &to);
    if (status != GLS_OK) return status;
    gls_builder_copy(b, to, s->offset[i], n);
    for (uint64_t p = to; p < to + n; p++) apply((const double(*)[4])f->map, b->point[p]);
    for (size_t k = 0; k < s->n_dps; k++) {
        const gls_column *c = &s->dps[k];
        if (strcmp(c->name, GLS_DPS_SEEDS) == 0 && c->type == GLS_TYPE_FLOAT32 && c->components == 3)
            apply((const double(*)[4])f->map, (float *)b->memory[k] + 3 * (b->n - 1));
    }
    return GLS_OK;
}

static void new_point(reshaper *f, size_t i, uint64_t to, uint64_t from, double share)
{
    if (f->how == GLS_INTERPOLATE_HERMITE)
        gls_builder_spline(&f->builder, i, to, from, share);
    else
        gls_builder_mix(&f->builder, to, from, share);
}

/* Points first .. first + n - 1 of the output at multiples of step along streamline i; the last at its end. */
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

static gls_status resample(reshaper *f, const gls_streamlines *s, size_t i)
{
    uint64_t to, n = s->offset[i + 1] - s->offset[i];
    if (n == 0) return gls_builder_add(&f->builder, i, 0, &to);
    double length = gls_builder_length(s, i), step = f->step;
    uint64_t n_new = f->n;
    if (f->n > 0) {
        step = length / (f->n - 1);
    } else {
        /* a rest shorter than a rounding error makes no segment of its own */
        double steps = ceil(length / step - 1e-6);
        if (!(steps < 1e9))
            return gls_fail(GLS_ERR_UNSUPPORTED, "a streamline of %g mm in steps of %g mm", length, step);
        n_new = n == 1 ? 1 : 1 + (uint64_t)fmax(steps, 1);
    }
    gls_status status = gls_builder_add(&f->builder, i, n_new, &to);
    if (status == GLS_OK) place(f, s, i, step, to, n_new);
    return status;
}

/* Where the point lies that is `share` of the way behind point `from`. */
static void find_point(const reshaper *f, const gls_streamlines *s, size_t i, uint64_t from, double share,
                       double out[3])
{
    const uint64_t first = s->offset[i], last = s->offset[i + 1] - 1;
    const float(*p)[3] = s->point + from;
    const double t = 0.5 * 0.1, h = 0.5, m = share, m2 = m * m, m3 = m * m2;
    const double w[4] = {(h - t) * (2 * m2 - m3 - m), 1 + (1.5 + t) * m3 - (2.5 + t) * m2,
                         (2 + 2 * t) * m2 + (h - t) * m - (1.5 + t) * m3, (h - t) * (m3 - m2)};
    for (int r = 0; r < 3; r++) {
        if (from == last || f->how == GLS_INTERPOLATE_LINEAR) {
            out[r] = from == last ? p[0][r] : p[0][r] + share * ((double)p[1][r] - p[0][r]);
            continue;
        }
        double before = from > first ? p[-1][r] : 2 * (double)p[0][r] - p[1][r],
               after = from + 1 < last ? p[2][r] : 2 * (double)p[1][r] - p[0][r];
        out[r] = w[0] * before + w[1] * p[0][r] + w[2] * p[1][r] + w[3] * after;
    }
}

static double gap(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static gls_status add_place(reshaper *f, uint64_t from, double share)
{
    if (f->n_places == f->places) {
        size_t places = f->places ? 2 * f->places : 256;
        struct place *place = realloc(f->place, places * sizeof *place);
        if (!place) return gls_fail(GLS_ERR_MEMORY, "out of memory for a streamline");
        f->place = place;
        f->places = places;
    }
    f->place[f->n_places++] = (struct place){from, share};
    return GLS_OK;
}

/* Places from point `start` to the end of streamline i, or back to its start, each a step from the one before. */
static gls_status walk_from(reshaper *f, const gls_streamlines *s, size_t i, uint64_t start, bool back)
{
    const uint64_t end = back ? s->offset[i] : s->offset[i + 1] - 1;
    uint64_t at = start; /* the segment from here */
    double done = 0, here[3], p[3];
    gls_status status = GLS_OK;
    find_point(f, s, i, start, 0, here);
    while (at != end && status == GLS_OK) {
        const uint64_t next = back ? at - 1 : at + 1, from = back ? next : at;
        find_point(f, s, i, next, 0, p);
        if (gap(p, here) < f->step) {
            at = next;
            done = 0;
            continue;
        }
        double low = done, high = 1;
        do {
            done = 0.5 * (low + high);
            find_point(f, s, i, from, back ? 1 - done : done, p);
            if (gap(p, here) < f->step)
                low = done;
            else
                high = done;
        } while (high - low > fmin(MIDDLE_PRECISION * f->step, MIDDLE_PRECISION * 100));
        memcpy(here, p, sizeof here);
        status = add_place(f, from, back ? 1 - done : done);
    }
    return status == GLS_OK && start != end ? add_place(f, end, 0) : status;
}

static gls_status resample_from_middle(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t n = s->offset[i + 1] - s->offset[i], middle = s->offset[i] + n / 2;
    uint64_t to;
    if (n == 0) return gls_builder_add(&f->builder, i, 0, &to);
    f->n_places = 0;
    gls_status status = walk_from(f, s, i, middle, true);
    const size_t before = f->n_places;
    for (size_t k = 0; k < before / 2; k++) {
        struct place keep = f->place[k];
        f->place[k] = f->place[before - 1 - k];
        f->place[before - 1 - k] = keep;
    }
    if (status == GLS_OK) status = add_place(f, middle, 0);
    if (status == GLS_OK) status = walk_from(f, s, i, middle, false);
    if (status == GLS_OK) status = gls_builder_add(&f->builder, i, f->n_places, &to);
    for (size_t k = 0; k < f->n_places && status == GLS_OK; k++)
        new_point(f, i, to + k, f->place[k].from, f->place[k].share);
    return status;
}

static gls_status upsample(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t first = s->offset[i], n = s->offset[i + 1] - first;
    uint64_t to;
    gls_status status = gls_builder_add(&f->builder, i, n > 1 ? (n - 1) * f->n + 1 : n, &to);
    if (status || n == 0) return status;
    for (uint64_t p = 0; p + 1 < n; p++)
        for (uint32_t k = 0; k < f->n; k++) new_point(f, i, to + p * f->n + k, first + p, (double)k / f->n);
    gls_builder_copy(&f->builder, to + (n - 1) * f->n, first + n - 1, 1);
    return GLS_OK;
}

/* The points that stay, of streamline i. */
static gls_status thin(reshaper *f, const gls_streamlines *s, size_t i)
{
    const uint64_t first = s->offset[i];
    const size_t n = (size_t)(s->offset[i + 1] - first);
    uint64_t to;
    if (n > f->capacity) {
        size_t *kept = realloc(f->kept, n * sizeof *kept);
        if (!kept) return gls_fail(GLS_ERR_MEMORY, "out of memory for a streamline");
        f->kept = kept;
        f->capacity = n;
    }
    size_t n_kept = f->max_segment > 0 ? gls_points_compress(s->point + first, n, f->tolerance, f->max_segment, f->kept)
                                       : gls_points_downsample(n, f->n, n / 2, f->kept);
    gls_status status = gls_builder_add(&f->builder, i, n_kept, &to);
    for (size_t k = 0; k < n_kept && status == GLS_OK; k++)
        gls_builder_copy(&f->builder, to + k, first + f->kept[k], 1);
    return status;
}

static gls_status append(void *user, const gls_streamlines *s)
{
    reshaper *f = user;
    gls_status status = gls_builder_begin(&f->builder, s);
    for (size_t i = 0; i < s->n && status == GLS_OK; i++) status = f->reshape(f, s, i);
    return status == GLS_OK ? gls_builder_flush(&f->builder) : status;
}

static void discard(void *user)
{
    reshaper *f = user;
    gls_sink_abort(&f->builder.next);
    gls_builder_finish(&f->builder);
    free(f->kept);
    free(f->place);
    free(f);
}

static gls_status finish(void *user)
{
    reshaper *f = user;
    gls_status status = gls_sink_finish(&f->builder.next);
    discard(f);
    return status;
}

static gls_status create(const reshaper *like, const gls_sink *next, gls_sink *filter)
{
    reshaper *f = malloc(sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    *f = *like;
    gls_builder_init(&f->builder, next);
    *filter = (gls_sink){append, finish, discard, f};
    return GLS_OK;
}

gls_status gls_filter_transform_create(const double map[3][4], const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(map && next && next->append && filter);
    reshaper f = {.reshape = transform};
    memcpy(f.map, map, sizeof f.map);
    return create(&f, next, filter);
}

gls_status gls_filter_points_create(uint32_t n, gls_interpolation how, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(n >= 2 && (unsigned)how <= GLS_INTERPOLATE_HERMITE);
    return create(&(reshaper){.reshape = resample, .n = n, .how = how}, next, filter);
}

gls_status gls_filter_step_create(double step, gls_interpolation how, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(step > 0 && isfinite(step) && (unsigned)how <= GLS_INTERPOLATE_HERMITE);
    return create(&(reshaper){.reshape = resample, .step = step, .how = how}, next, filter);
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
    return create(&(reshaper){.reshape = upsample, .n = factor, .how = how}, next, filter);
}

gls_status gls_filter_downsample_create(uint32_t factor, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    return create(&(reshaper){.reshape = thin, .n = factor}, next, filter);
}

gls_status gls_filter_compress_create(double tolerance, double max_segment, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE(next && next->append && filter);
    GLS_REQUIRE(tolerance >= 0 && max_segment > 0);
    return create(&(reshaper){.reshape = thin, .tolerance = tolerance, .max_segment = max_segment}, next, filter);
}
