/* Filters that give streamlines other points: an affine map, equal distances, fewer points on nearly straight parts. */
#include <glslines/filters.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "streamlines/thin.h"
#include "util/affine.h"
#include "util/status.h"

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
