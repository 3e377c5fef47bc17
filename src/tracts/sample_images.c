/* The filter that samples images along streamlines and adds the values or their statistics as columns. */
#include <glslines/sample.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "tracts/line_geometry.h"
#include "tracts/visits.h"
#include "tracts/visits_list.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/threads.h"

#define SAME_WEIGHT 1e-9 /* relative tolerance for a sum of weights that is half of the total */

gls_sample_options gls_sample_options_default(void)
{
    return (gls_sample_options){.size = sizeof(gls_sample_options), .edge = GLS_EDGE_CLAMP};
}

const char *gls_track_stat_name(gls_track_stat stat)
{
    static const char *const names[GLS_TRACK_STATS] = {
        "mean",         "median",   "min",      "max",       "sum",       "std",      "mean_nonzero",
        "upper_median", "ends_min", "ends_max", "ends_mean", "ends_prod", "ends_corr"};
    return (unsigned)stat < GLS_TRACK_STATS ? names[stat] : "unknown";
}

/* Sets n values. */
static void fill(double *out, size_t n, double value)
{
    for (size_t t = 0; t < n; t++) out[t] = value;
}

/* Sets out[] to the values of the voxel nearest to v, voxel coordinates. Returns false outside the image. */
static bool sample_nearest(const gls_image *image, const double v[3], double *out)
{
    size_t at = 0, n = gls_grid_voxels(&image->grid);
    for (int a = 2; a >= 0; a--) {
        double i = floor(v[a] + 0.5);
        if (!(i >= 0 && i < image->grid.dim[a])) return false;
        at = at * (size_t)image->grid.dim[a] + (size_t)i;
    }
    for (size_t t = 0; t < image->n_volumes; t++) out[t] = image->data[t * n + at];
    return true;
}

/* Like sample_nearest(), but linear. Beyond the outermost centres values stay the same up to the edge; zero_edge: they
 * fall to 0 within one voxel. all: a voxel that is not finite counts even with weight 0, as in MRtrix3 and DIPY. */
static bool sample_linear(const gls_image *image, const double v[3], bool zero_edge, bool all, double *out)
{
    const size_t n = gls_grid_voxels(&image->grid);
    const int32_t *dim = image->grid.dim;
    size_t index[3][2];
    double weight[3][2];
    for (int a = 0; a < 3; a++) {
        double reach = zero_edge ? 1 : 0.5, low = floor(v[a]);
        if (!(v[a] > -reach && v[a] < dim[a] - 1 + reach)) return false;
        for (int k = 0; k < 2; k++) {
            double i = low + k, inside = fmin(fmax(i, 0), dim[a] - 1);
            weight[a][k] = k ? v[a] - low : 1 - (v[a] - low);
            if (zero_edge && i != inside) weight[a][k] = 0;
            index[a][k] = (size_t)inside;
        }
    }
    fill(out, image->n_volumes, 0);
    for (int c = 0; c < 8; c++) {
        double w = weight[0][c & 1] * weight[1][c >> 1 & 1] * weight[2][c >> 2];
        size_t at = (index[2][c >> 2] * (size_t)dim[1] + index[1][c >> 1 & 1]) * (size_t)dim[0] + index[0][c & 1];
        if (w == 0 && !all) continue;
        for (size_t t = 0; t < image->n_volumes; t++) out[t] += w * image->data[t * n + at];
    }
    return true;
}

/* Replaces values that are not finite by NaN, unless `keep`. Returns true if a value was not finite. */
static bool replace_not_finite(double *value, size_t n, bool keep)
{
    bool found = false;
    for (size_t t = 0; t < n; t++) {
        if (isfinite(value[t])) continue;
        found = true;
        if (!keep) value[t] = NAN;
    }
    return found;
}

enum { SAMPLE_FINITE, SAMPLE_NOT_FINITE, SAMPLE_OUTSIDE };

/* Samples all volumes at a point, world mm. Returns SAMPLE_OUTSIDE, or inside SAMPLE_FINITE or SAMPLE_NOT_FINITE. */
static int sample(const gls_image *image, const double inverse[3][4], const gls_sample_options *o, const float point[3],
                  double *out)
{
    const double p[3] = {point[0], point[1], point[2]};
    double v[3];
    gls_affine_apply(inverse, p, v);
    const bool inside = o->nearest ? sample_nearest(image, v, out)
                                   : sample_linear(image, v, o->edge == GLS_EDGE_ZERO, o->keep_not_finite, out);
    if (inside)
        return replace_not_finite(out, image->n_volumes, o->keep_not_finite) ? SAMPLE_NOT_FINITE : SAMPLE_FINITE;
    fill(out, image->n_volumes, o->outside_zero ? 0 : NAN);
    return SAMPLE_OUTSIDE;
}

void gls_sample_at(const gls_image *image, const gls_sample_options *options, const float point[3], double *out)
{
    const gls_sample_options defaults = gls_sample_options_default();
    double inverse[3][4];
    if (!image || !image->data || !point || !out) return;
    gls_grid_inverse(&image->grid, inverse);
    sample(image, (const double(*)[4])inverse, options ? options : &defaults, point, out);
}

/* A value with its weight, for sorting. */
typedef struct weighted {
    double value, weight;
} weighted;

/* Work space of one thread: for one streamline n values of each volume, and n weights. */
typedef struct scratch {
    size_t capacity;
    double *value, *weight;
    weighted *sorted;
    gls_visits visits;
    /* counts of this thread, added up at the end of a call */
    uint64_t points, outside, not_finite, without;
    bool failed;
} scratch;

/* The filter. Threads share streamlines and have scratch memory of their own. */
typedef struct sampler {
    gls_sink next;
    gls_sample_options o;
    /* the caller's counters, or `own` */
    gls_sample_counts *counts, own;
    size_t n;
    gls_sample_column *column;
    double (*inverse)[3][4]; /* for each column, the affine map from world mm to voxel coordinates of its image */
    gls_visit_grid *grid;
    void **data;          /* values of each column */
    size_t lines, points; /* allocated streamlines and points */
    gls_column *list;     /* columns passed to the next sink */
    size_t list_capacity;
    int n_threads;
    scratch *scratch;
} sampler;

/* Allocates memory for `values` values and n weights. */
static bool reserve(scratch *r, size_t values, size_t n)
{
    if (values <= r->capacity && n <= r->capacity && r->value) return true;
    size_t capacity = (values > n ? values : n) * 2;
    double *value = realloc(r->value, capacity * sizeof *value);
    if (value) r->value = value;
    double *weight = realloc(r->weight, capacity * sizeof *weight);
    if (weight) r->weight = weight;
    weighted *sorted = realloc(r->sorted, capacity * sizeof *sorted);
    if (sorted) r->sorted = sorted;
    r->failed |= !value || !weight || !sorted;
    if (!r->failed) r->capacity = capacity;
    return !r->failed;
}

/* Whether a column is computed from the voxels that a streamline passes, not from its points. */
static bool is_by_voxel(const sampler *s, const gls_sample_column *c)
{
    return s->o.weight >= GLS_SAMPLE_BY_VOXEL && !c->per_vertex;
}

/* Collects the values of the voxels that a streamline passes, weighted by the mm inside. Returns their number. */
static size_t collect_voxels(const sampler *s, scratch *r, size_t k, const float (*point)[3], size_t n)
{
    const gls_image *image = s->column[k].image;
    const size_t volumes = image->n_volumes, voxels = gls_grid_voxels(&image->grid);
    const gls_density_options options = {.size = sizeof options,
                                         .mapping = s->o.weight == GLS_SAMPLE_BY_SPLINE ? GLS_DENSITY_PRECISE
                                                                                        : GLS_DENSITY_LENGTH,
                                         .upsample = 1};
    gls_visits_find(&r->visits, &s->grid[k], &options, point, n);
    r->failed |= r->visits.failed;
    if (r->failed || !reserve(r, r->visits.n * volumes, r->visits.n)) return 0;
    for (size_t i = 0; i < r->visits.n; i++) {
        const uint64_t voxel = r->visits.voxel[i];
        const double mm = r->visits.mm[i], share = s->o.total ? mm / s->o.total[voxel] : 1;
        r->weight[i] = mm;
        for (size_t t = 0; t < volumes; t++) r->value[i * volumes + t] = image->data[t * voxels + voxel] * share;
        r->not_finite += replace_not_finite(r->value + i * volumes, volumes, s->o.keep_not_finite);
    }
    r->points += r->visits.n;
    return r->visits.n;
}

/* Collects values and weights of a streamline: value[i * volumes + t] at point or voxel i. Returns their number. */
static size_t collect(const sampler *s, scratch *r, size_t k, const float (*point)[3], size_t n)
{
    const gls_sample_column *c = &s->column[k];
    const size_t volumes = c->image->n_volumes;
    if (is_by_voxel(s, c)) return collect_voxels(s, r, k, point, n);
    if (!reserve(r, n * volumes, n)) return 0;
    const bool weighted = s->o.weight == GLS_SAMPLE_BY_LENGTH && gls_sample_steps(point, n, r->weight) != 0;
    for (size_t i = 0; i < n && !weighted; i++) r->weight[i] = 1;
    const bool quick = volumes == 1 && !s->o.nearest;
    if (quick) gls_sample_line(c->image, (const double(*)[4])s->inverse[k], point, n, r->value);
    for (size_t i = 0; i < n; i++) {
        if (quick && !isnan(r->value[i])) continue;
        const int found = sample(c->image, (const double(*)[4])s->inverse[k], &s->o, point[i], r->value + i * volumes);
        r->outside += found == SAMPLE_OUTSIDE;
        r->not_finite += found == SAMPLE_NOT_FINITE;
    }
    r->points += n;
    return n;
}

/* Comparison for qsort(): values in ascending order. */
static int by_value(const void *a, const void *b)
{
    const weighted *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* The statistics of both ends, as MRtrix3's tckmap defines them; NaN if one of the ends is NaN. */
static double of_ends(gls_track_stat stat, double first, double last)
{
    switch (stat) {
    case GLS_TRACK_ENDS_MIN: return isnan(first) || fabs(first) < fabs(last) ? first : last;
    case GLS_TRACK_ENDS_MAX: return isnan(first) || fabs(first) > fabs(last) ? first : last;
    case GLS_TRACK_ENDS_MEAN: return 0.5 * (first + last);
    default: return isnan(first * last) ? NAN : fmax(first * last, 0);
    }
}

/* Correlation of the series at both ends; NaN if one of them is constant. */
static double correlate(const double *a, const double *b, size_t n)
{
    double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    for (size_t t = 0; t < n; t++) {
        mean_a += a[t] / (double)n;
        mean_b += b[t] / (double)n;
    }
    for (size_t t = 0; t < n; t++) {
        aa += (a[t] - mean_a) * (a[t] - mean_a);
        bb += (b[t] - mean_b) * (b[t] - mean_b);
        ab += (a[t] - mean_a) * (b[t] - mean_b);
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}

/* Sums over the values of one streamline in one volume: over all values, or over those that are not NaN. */
typedef struct sums {
    /* m: number of values in the sums; nonzero: number of these values that are not 0 */
    size_t m, nonzero;
    /* total: sum of weights; weighted: sum of value times weight; plain: sum of values without weights */
    double total, weighted, plain;
} sums;

/* Sums of the samples of volume t; NaN is left out unless `all` is set. */
static sums add_up(const scratch *r, size_t n, size_t volumes, size_t t, bool all)
{
    sums s = {0};
    for (size_t i = 0; i < n; i++) {
        double v = r->value[i * volumes + t], w = r->weight[i];
        if (isnan(v) && !all) continue;
        s.m++;
        s.nonzero += v != 0;
        s.total += w;
        s.weighted += w * v;
        s.plain += v;
    }
    return s;
}

static double extreme_of(const scratch *r, size_t n, size_t volumes, size_t t, bool least)
{
    double found = NAN;
    for (size_t i = 0; i < n; i++) {
        double v = r->value[i * volumes + t];
        if (isnan(found) || (least ? v < found : v > found)) found = v;
    }
    return found;
}

/* Value at which the sum of weights exceeds half of the total; the mean of this value and the value before if the sum
 * before is half exactly. below: always the value before, if there is one, as in tcksample -precise. */
static double weighted_median(const weighted *sorted, size_t n, bool below)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) total += sorted[i].weight;
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i].weight;
        const double over = sum - 0.5 * total;
        if (!below && fabs(over) <= SAME_WEIGHT * total && i + 1 < n)
            return 0.5 * (sorted[i].value + sorted[i + 1].value);
        if (over > 0) return sorted[below && i > 0 ? i - 1 : i].value;
    }
    return sorted[n - 1].value;
}

/* Median of the samples of volume t. Without `upper`: NaN is left out, and samples of voxels are weighted by length.
 * upper: without weights; NaN counts as larger than all numbers; of two middle values the upper one is the median. */
static double median_of(const sampler *s, scratch *r, size_t n, size_t volumes, size_t t, bool upper)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(r->value[i * volumes + t])) r->sorted[m++] = (weighted){r->value[i * volumes + t], r->weight[i]};
    if (m == 0) return NAN;
    qsort(r->sorted, m, sizeof *r->sorted, by_value);
    if (upper) return n / 2 < m ? r->sorted[n / 2].value : NAN;
    if (s->o.weight >= GLS_SAMPLE_BY_VOXEL) return weighted_median(r->sorted, m, s->o.weight == GLS_SAMPLE_BY_SPLINE);
    const gls_quantile at = gls_quantile_find(m, 0.5);
    return gls_quantile_between(&at, r->sorted[at.lower].value, r->sorted[at.upper].value);
}

/* One statistic of volume t over the n samples of a streamline. */
static double statistic(const sampler *sampler, scratch *r, gls_track_stat stat, size_t n, size_t volumes, size_t t)
{
    const bool keep = sampler->o.keep_not_finite;
    if (n > 0 && stat == GLS_TRACK_ENDS_CORR) return correlate(r->value, r->value + (n - 1) * volumes, volumes);
    if (n > 0 && stat >= GLS_TRACK_ENDS_MIN) return of_ends(stat, r->value[t], r->value[(n - 1) * volumes + t]);
    if (stat == GLS_TRACK_MIN || stat == GLS_TRACK_MAX) return extreme_of(r, n, volumes, t, stat == GLS_TRACK_MIN);
    if (stat == GLS_TRACK_MEDIAN || stat == GLS_TRACK_UPPER_MEDIAN)
        return median_of(sampler, r, n, volumes, t, stat == GLS_TRACK_UPPER_MEDIAN);
    const sums s = add_up(r, n, volumes, t, keep);
    if (s.m == 0) return NAN;
    double mean = s.total > 0 ? s.weighted / s.total : s.plain / (double)s.m, square = 0;
    if (stat == GLS_TRACK_MEAN) return mean;
    if (stat == GLS_TRACK_SUM) return s.plain;
    if (stat == GLS_TRACK_MEAN_NONZERO) return s.nonzero > 0 ? s.plain / (double)s.nonzero : NAN;
    for (size_t i = 0; i < n; i++) {
        double d = r->value[i * volumes + t] - mean;
        if (keep || !isnan(d)) square += (s.total > 0 ? r->weight[i] : 1) * d * d;
    }
    return sqrt(square / (s.total > 0 ? s.total : (double)s.m));
}

/* Number of values of a streamline or point in a column: 1 for a correlation of series, else one for each volume. */
static size_t components_of(const gls_sample_column *c)
{
    return !c->per_vertex && c->stat == GLS_TRACK_ENDS_CORR ? 1 : c->image->n_volumes;
}

/* Whether column k samples the same values as the column before. */
static bool has_same_values(const sampler *s, size_t k)
{
    return k > 0 && s->column[k - 1].image == s->column[k].image &&
           is_by_voxel(s, &s->column[k - 1]) == is_by_voxel(s, &s->column[k]);
}

/* Samples all images along streamline i, and stores values of points or statistics. */
static void sample_line(void *user, int thread, const gls_streamlines *in, size_t i)
{
    const sampler *s = user;
    scratch *r = &s->scratch[thread];
    const size_t n = (size_t)(in->offset[i + 1] - in->offset[i]);
    size_t m = 0;
    bool without = false;
    for (size_t k = 0; k < s->n && !r->failed; k++) {
        const gls_sample_column *c = &s->column[k];
        const size_t volumes = c->image->n_volumes;
        if (n > 0 && !has_same_values(s, k)) m = collect(s, r, k, in->point + in->offset[i], n);
        if (c->per_vertex) {
            float *out = (float *)s->data[k] + in->offset[i] * volumes;
            for (size_t j = 0; j < m * volumes; j++) out[j] = (float)r->value[j];
            continue;
        }
        const size_t components = components_of(c);
        double *out = (double *)s->data[k] + i * components;
        for (size_t t = 0; t < components; t++) {
            out[t] = statistic(s, r, c->stat, m, volumes, t);
            if (!isfinite(out[t])) out[t] = NAN;
            without |= isnan(out[t]);
        }
    }
    r->without += without;
}

/* Allocates memory for the new columns of a block. */
static gls_status reserve_columns(sampler *s, const gls_streamlines *in)
{
    const size_t points = (size_t)in->offset[in->n], n = s->n + in->n_dps + in->n_dpv;
    for (size_t k = 0; k < s->n; k++) {
        const gls_sample_column *c = &s->column[k];
        size_t bytes = c->image->n_volumes * (c->per_vertex ? sizeof(float) * points : sizeof(double) * in->n);
        if (in->n <= s->lines && points <= s->points && s->data[k]) continue;
        free(s->data[k]);
        s->data[k] = malloc(bytes + 1);
        if (!s->data[k]) return gls_fail(GLS_ERR_MEMORY, "out of memory for values along streamlines");
    }
    if (in->n > s->lines || points > s->points) {
        s->lines = in->n;
        s->points = points;
    }
    if (n <= s->list_capacity) return GLS_OK;
    gls_column *list = realloc(s->list, n * sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for columns");
    s->list = list;
    s->list_capacity = n;
    return GLS_OK;
}

/* Lists the new columns of one kind, then the old ones with other names. */
static size_t list_columns(const sampler *s, bool per_vertex, const gls_column *old, size_t n_old, gls_column *list)
{
    size_t n = 0;
    for (size_t k = 0; k < s->n; k++)
        if (s->column[k].per_vertex == per_vertex)
            list[n++] = (gls_column){s->column[k].name, per_vertex ? GLS_TYPE_FLOAT32 : GLS_TYPE_FLOAT64,
                                     (uint32_t)components_of(&s->column[k]), s->data[k]};
    const size_t fresh = n;
    for (size_t k = 0; k < n_old; k++)
        if (!gls_column_find(list, fresh, old[k].name)) list[n++] = old[k];
    return n;
}

static gls_status append(void *user, const gls_streamlines *in)
{
    sampler *s = user;
    gls_status status = reserve_columns(s, in);
    if (status) return status;
    gls_lines_parallel(in, 64, s->n_threads, sample_line, s);
    s->counts->streamlines += in->n;
    for (int i = 0; i < s->n_threads; i++) {
        scratch *r = &s->scratch[i];
        if (r->failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the values of a streamline");
        s->counts->points += r->points;
        s->counts->outside += r->outside;
        s->counts->not_finite += r->not_finite;
        s->counts->without_value += r->without;
        r->points = r->outside = r->not_finite = r->without = 0;
    }
    gls_streamlines out = *in;
    out.dps = s->list;
    out.n_dps = list_columns(s, false, in->dps, in->n_dps, s->list);
    out.dpv = s->list + out.n_dps;
    out.n_dpv = list_columns(s, true, in->dpv, in->n_dpv, s->list + out.n_dps);
    return gls_sink_append(&s->next, &out);
}

static void discard(void *user)
{
    sampler *s = user;
    gls_sink_abort(&s->next);
    for (int i = 0; s->scratch && i < s->n_threads; i++) {
        free(s->scratch[i].value);
        free(s->scratch[i].weight);
        free(s->scratch[i].sorted);
        gls_visits_finish(&s->scratch[i].visits);
    }
    for (size_t k = 0; s->data && k < s->n; k++) free(s->data[k]);
    free(s->scratch);
    free(s->data);
    free(s->column);
    free(s->inverse);
    free(s->grid);
    free(s->list);
    free(s);
}

static gls_status finish(void *user)
{
    sampler *s = user;
    gls_status status = gls_sink_finish(&s->next);
    discard(s);
    return status;
}

gls_status gls_filter_sample_create(const gls_sample_column *columns, size_t n, const gls_sample_options *options,
                                    gls_sample_counts *counts, const gls_sink *next, gls_sink *filter)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(columns && n >= 1 && next && next->append && filter);
    GLS_REQUIRE(!options || !options->total || options->weight >= GLS_SAMPLE_BY_VOXEL);
    for (size_t k = 0; k < n; k++)
        GLS_REQUIRE(columns[k].image && columns[k].name && (unsigned)columns[k].stat < GLS_TRACK_STATS);
    sampler *s = calloc(1, sizeof *s);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    s->o = options ? *options : gls_sample_options_default();
    s->counts = counts ? counts : &s->own;
    *s->counts = (gls_sample_counts){0};
    s->n = n;
    s->n_threads = omp_get_max_threads();
    s->scratch = calloc((size_t)s->n_threads, sizeof *s->scratch);
    s->column = malloc(n * sizeof *s->column);
    s->inverse = malloc(n * sizeof *s->inverse);
    s->grid = malloc(n * sizeof *s->grid);
    s->data = calloc(n, sizeof *s->data);
    if (!s->scratch || !s->column || !s->inverse || !s->grid || !s->data) {
        discard(s);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a filter");
    }
    memcpy(s->column, columns, n * sizeof *columns);
    for (size_t k = 0; k < n; k++) {
        gls_grid_inverse(&columns[k].image->grid, s->inverse[k]);
        gls_visit_grid_init(&s->grid[k], &columns[k].image->grid);
    }
    s->next = *next;
    *filter = (gls_sink){append, finish, discard, s};
    return GLS_OK;
}
