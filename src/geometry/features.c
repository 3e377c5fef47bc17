/* Streamlines resampled to equally many points, as DIPY resamples them to the bit. Several threads resample a block. */
#include "geometry/features.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "tracts/line_geometry.h"
#include "util/allocation.h"
#include "util/status.h"

void gls_features_init(gls_features *f, size_t points, bool resamples_reverse)
{
    *f = (gls_features){.points = points,
                        .pad = gls_point_pad(points),
                        .resamples_reverse = resamples_reverse && points > 0,
                        .as_is = points == 0,
                        .n_threads = omp_get_max_threads()};
}

void gls_features_clear(gls_features *f)
{
    f->n = f->n_odd = f->n_void = 0;
}

void gls_features_finish(gls_features *f)
{
    free(f->point);
    free(f->odd);
    free(f->odd_point);
    *f = (gls_features){.points = 0};
}

/* Work of one call of gls_features_add(). */
typedef struct addition {
    gls_features *f;
    /* for each streamline of the block: whether its reverse has other points, whether a point is not finite */
    bool *odd, *invalid;
    /* for each thread: its largest coordinate */
    float *extent;
} addition;

/* Whether the reverse of a streamline, resampled anew, has other points than the streamline in reverse order. */
static bool is_odd(const gls_features *f, const float (*point)[3], size_t n, const float (*own)[3])
{
    float again[GLS_MAX_POINTS][3];
    bool odd = false;
    gls_line_resample_backwards(point, n, f->points, again);
    for (size_t p = 0; p < f->points && !odd; p++) odd = memcmp(again[p], own[f->points - 1 - p], sizeof *again) != 0;
    return odd;
}

/* Resamples one streamline. */
static void add_one(void *user, int thread, const gls_streamlines *s, size_t i)
{
    const addition *a = user;
    gls_features *f = a->f;
    const float(*point)[3] = s->point + s->offset[i];
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    float(*out)[3] = f->point + (f->n + i) * f->points;
    const float extent = gls_points_extent(point[0], 3 * n);
    bool moves = false;
    a->invalid[i] = !isfinite(extent);
    a->odd[i] = false;
    if (a->invalid[i]) return;
    for (size_t p = 1; p < n && !moves; p++) moves = memcmp(point[p], point[0], sizeof *point) != 0;
    a->extent[thread] = extent > a->extent[thread] ? extent : a->extent[thread];
    if (moves) {
        gls_line_resample(point, n, f->points, out);
        a->odd[i] = f->resamples_reverse && is_odd(f, point, n, (const float(*)[3])out);
    } else {
        memset(out, 0, f->points * sizeof *out);
        out[0][0] = NAN;
    }
}

/* Copies the streamlines of a block whose number of points is that of all. */
static gls_status copy_all(gls_features *f, const gls_streamlines *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        if (n != f->points)
            return gls_fail(GLS_ERR_INPUT,
                            "streamline %zu has %zu points, but the first one has %zu: resample them to one number",
                            f->n + i, n, f->points);
        float(*out)[3] = f->point + (f->n + i) * f->points;
        memcpy(out, s->point + s->offset[i], n * sizeof *out);
        for (size_t p = 0; p < n; p++)
            for (int k = 0; k < 3; k++) {
                if (!isfinite(out[p][k]))
                    return gls_fail(GLS_ERR_INPUT, "streamline %zu (counted from 0) has a point that is not finite",
                                    f->n + i);
                f->extent = fmaxf(f->extent, fabsf(out[p][k]));
            }
    }
    f->n += s->n;
    return GLS_OK;
}

/* Allocates memory for n more streamlines. */
static gls_status reserve(gls_features *f, size_t n)
{
    if (f->n + n <= f->capacity) return GLS_OK;
    size_t capacity = f->capacity + f->capacity / 2;
    if (capacity < f->n + n) capacity = f->n + n;
    float(*point)[3] = realloc(f->point, capacity * f->points * sizeof *point);
    if (!point) return gls_fail(GLS_ERR_MEMORY, "out of memory for the points of %zu streamlines", capacity);
    f->point = point;
    f->capacity = capacity;
    return GLS_OK;
}

/* Stores the resampled reverse of streamline i of the block. */
static gls_status keep_odd(gls_features *f, const gls_streamlines *s, size_t i)
{
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    size_t capacity = f->odd_capacity;
    /* both lists have the same capacity */
    if (!gls_list_reserve(&f->odd, f->n_odd, &capacity, 16, sizeof *f->odd) ||
        !gls_list_reserve(&f->odd_point, f->n_odd, &f->odd_capacity, 16, f->points * sizeof *f->odd_point))
        return gls_no_memory();
    gls_line_resample_backwards(s->point + s->offset[i], n, f->points, f->odd_point + f->n_odd * f->points);
    f->odd[f->n_odd++] = f->n + i;
    return GLS_OK;
}

gls_status gls_features_add(gls_features *f, const gls_streamlines *s)
{
    if (s->n == 0) return GLS_OK;
    if (f->points == 0) {
        f->points = (size_t)(s->offset[1] - s->offset[0]);
        f->pad = gls_point_pad(f->points);
        if (f->points < 1 || f->points > GLS_MAX_POINTS)
            return gls_fail(GLS_ERR_INPUT, "streamline 0 has %zu points; distances are computed of 1 to %d points",
                            f->points, GLS_MAX_POINTS);
    }
    gls_status status = reserve(f, s->n);
    if (status || f->as_is) return status ? status : copy_all(f, s);
    addition a = {
        .f = f, .odd = malloc(s->n * 2 * sizeof(bool)), .extent = calloc((size_t)f->n_threads, sizeof(float))};
    a.invalid = a.odd + s->n;
    if (!a.odd || !a.extent) status = gls_no_memory();
    if (!status) gls_lines_parallel(s, 64, f->n_threads, add_one, &a);
    for (size_t i = 0; i < s->n && !status; i++) {
        if (a.invalid[i])
            status =
                gls_fail(GLS_ERR_INPUT, "streamline %zu (counted from 0) has a point that is not finite", f->n + i);
        else if (a.odd[i])
            status = keep_odd(f, s, i);
        if (!status) f->n_void += isnan(f->point[(f->n + i) * f->points][0]);
    }
    for (int k = 0; k < f->n_threads && a.extent; k++) f->extent = fmaxf(f->extent, a.extent[k]);
    if (!status) f->n += s->n;
    free(a.odd);
    free(a.extent);
    return status;
}

bool gls_features_has(const gls_features *f, size_t i)
{
    return !isnan(f->point[i * f->points][0]);
}

/* Comparison for bsearch(): numbers of streamlines. */
static int by_line(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void gls_features_expand(const gls_features *f, size_t i, float *x, float *y)
{
    const float(*point)[3] = (const float(*)[3])f->point + i * f->points;
    const uint64_t line = i, *odd = f->n_odd ? bsearch(&line, f->odd, f->n_odd, sizeof line, by_line) : NULL;
    gls_points_expand(point, f->points, f->pad, false, x);
    if (odd)
        gls_points_expand((const float(*)[3])f->odd_point + (size_t)(odd - f->odd) * f->points, f->points, f->pad,
                          false, y);
    else
        gls_points_expand(point, f->points, f->pad, true, y);
}

void gls_points_expand(const float (*point)[3], size_t points, size_t pad, bool reversed, float *out)
{
    for (size_t p = 0; p < points; p++) {
        const float *from = point[reversed ? points - 1 - p : p];
        for (int k = 0; k < 3; k++) out[(size_t)k * pad + p] = from[k];
    }
    for (size_t p = points; p < pad; p++)
        for (int k = 0; k < 3; k++) out[(size_t)k * pad + p] = 0;
}

void gls_points_pack(const float *expanded, size_t points, size_t pad, float (*point)[3])
{
    for (size_t p = 0; p < points; p++)
        for (int k = 0; k < 3; k++) point[p][k] = expanded[(size_t)k * pad + p];
}

/* Function `append` of the sink. */
static gls_status append(void *user, const gls_streamlines *s)
{
    return gls_features_add(user, s);
}

gls_sink gls_features_sink(gls_features *f)
{
    return (gls_sink){.append = append, .user = f};
}
