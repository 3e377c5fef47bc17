/* Summarises tractograms of any size in constant memory. Quartiles are exact for up to MAX_KEPT values; for more values
 * they come from histograms over the leading bits of float32 values. */
#include <glslines/summary.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"

/* Bits of a float32 that a bin ignores: values in one bin agree in sign, exponent and 14 bits of the mantissa. */
#define BIN_SHIFT 9
/* Bins for all values >= 0, which have no sign bit. */
#define BINS ((size_t)1 << (31 - BIN_SHIFT))
/* Number of values of a quantity that are kept: 512 kB. */
#define MAX_KEPT ((size_t)1 << 16)

/* The distribution of a quantity. */
typedef struct spread {
    /* number of values */
    uint64_t n;
    double mean, m2, min, max; /* m2: sum of squared deviations from the mean (Welford) */
    /* BINS counts, 16 MB of which only touched pages take memory */
    uint32_t *bin;
    double *kept; /* the first MAX_KEPT values */
    bool sorted;  /* `kept` is sorted */
} spread;

struct gls_summary {
    /* true: counts points outside `grid` */
    bool has_grid;
    gls_grid grid;
    /* world mm to voxels */
    double world_to_voxel[3][4];
    /* lengths of streamlines and of steps between points, mm */
    spread length, step;
    /* true: the first block has come; all later blocks must have its columns */
    bool defined;
    /* owned, with the names; result.column points here */
    gls_column_summary *column;
    /* counts of the streamlines appended so far */
    gls_summary_result result;
};

/* Bits of the value as float32; for values >= 0 they have the order of the values. */
static uint32_t bits_of(double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* Allocates histogram and kept values. Returns false if memory ran out; the caller must call spread_finish() even then.
 */
static bool spread_init(spread *s)
{
    s->bin = calloc(BINS, sizeof *s->bin);
    s->kept = malloc(MAX_KEPT * sizeof *s->kept);
    return s->bin && s->kept;
}

/* Frees the memory of spread_init(), also after its failure. */
static void spread_finish(spread *s)
{
    free(s->bin);
    free(s->kept);
}

/* Adds a value: mean and squared deviations by Welford's method, extremes, histogram. */
static void spread_add(spread *s, double value)
{
    s->n++;
    double d = value - s->mean;
    s->mean += d / (double)s->n;
    s->m2 += d * (value - s->mean);
    if (s->n == 1 || value < s->min) s->min = value;
    if (s->n == 1 || value > s->max) s->max = value;
    s->bin[bits_of(value) >> BIN_SHIFT]++;
    if (s->n > MAX_KEPT) return;
    s->kept[s->n - 1] = value;
    s->sorted = false;
}

/* The value of a rank, from 0. If not all values are kept: the middle of its bin, 0 for the first bin, limited to min
 * .. max. */
static double value_of_rank(const spread *s, uint64_t rank)
{
    uint64_t before = 0;
    size_t b = 0;
    if (s->n <= MAX_KEPT) return s->kept[rank];
    while (b + 1 < BINS && before + s->bin[b] <= rank) before += s->bin[b++];
    uint32_t bits = (uint32_t)(b << BIN_SHIFT) + (b > 0 ? 1u << (BIN_SHIFT - 1) : 0);
    float value;
    memcpy(&value, &bits, sizeof value);
    return fmin(fmax(value, s->min), s->max);
}

/* Quantile q, 0 to 1, as numpy's: interpolates between the two nearest ranks. */
static double quantile(const spread *s, double q)
{
    const gls_quantile at = gls_quantile_find(s->n, q);
    return gls_quantile_between(&at, value_of_rank(s, at.lower), value_of_rank(s, at.upper));
}

/* The statistics so far. sd has n - 1 in the denominator. */
static gls_spread spread_get(spread *s)
{
    gls_spread r = {.n = s->n, .mean = s->mean, .min = s->min, .max = s->max};
    if (s->n == 0) return r;
    if (s->n > 1) r.sd = sqrt(s->m2 / (double)(s->n - 1));
    if (s->n <= MAX_KEPT && !s->sorted) gls_sort(s->kept, s->n);
    s->sorted = true;
    r.median = quantile(s, 0.5);
    r.quartile[0] = quantile(s, 0.25);
    r.quartile[1] = quantile(s, 0.75);
    return r;
}

/* Copies names, types and numbers of components of the columns from the first block of streamlines. */
static gls_status define_columns(gls_summary *m, const gls_streamlines *s)
{
    const struct {
        const gls_column *column;
        size_t n;
    } kinds[] = {{s->dps, s->n_dps}, {s->dpv, s->n_dpv}, {s->group, s->n_groups}};
    size_t n = s->n_dps + s->n_dpv + s->n_groups;
    m->column = calloc(n + 1, sizeof *m->column);
    if (!m->column) return gls_fail(GLS_ERR_MEMORY, "out of memory for a summary");
    m->defined = true;
    m->result.column = m->column;
    for (int kind = 0; kind < 3; kind++) {
        for (size_t k = 0; k < kinds[kind].n; k++) {
            const gls_column *c = &kinds[kind].column[k];
            char *name = strdup(c->name);
            if (!name) return gls_fail(GLS_ERR_MEMORY, "out of memory for a summary");
            m->column[m->result.n_columns++] =
                (gls_column_summary){.kind = kind, .name = name, .type = c->type, .components = c->components};
        }
    }
    return GLS_OK;
}

/* Adds the values of a block to the summary of a column; of groups only members count. rows: streamlines, or
 * points for dpv. */
static void add_column(gls_column_summary *to, const gls_column *column, uint64_t rows)
{
    for (uint64_t i = 0; i < rows * column->components; i++) {
        double value = gls_column_value(column, i);
        if (to->kind == GLS_COLUMN_GROUP && value == 0) continue;
        if (!isfinite(value)) {
            to->n_not_finite++;
            continue;
        }
        to->n++;
        to->mean += (value - to->mean) / (double)to->n;
        if (to->n == 1 || value < to->min) to->min = value;
        if (to->n == 1 || value > to->max) to->max = value;
    }
}

/* Whether a point, world mm, lies in no voxel of the grid; a coordinate that is not a number lies outside. */
static bool is_outside(const gls_summary *m, const float point[3])
{
    double v[3] = {point[0], point[1], point[2]};
    gls_affine_apply(m->world_to_voxel, v, v);
    for (int a = 0; a < 3; a++)
        if (!(v[a] >= -0.5 && v[a] <= m->grid.dim[a] - 0.5)) return true;
    return false;
}

/* Whether all coordinates are finite. */
static bool is_finite(const float (*point)[3], size_t n)
{
    for (size_t p = 0; p < n; p++)
        if (!isfinite(point[p][0]) || !isfinite(point[p][1]) || !isfinite(point[p][2])) return false;
    return true;
}

/* Adds a streamline of n >= 1 finite points. */
static void add_points(gls_summary *m, const float (*point)[3], size_t n)
{
    gls_summary_result *r = &m->result;
    double length = 0;
    uint64_t outside = 0;
    for (size_t p = 0; p < n; p++) {
        bool first = m->length.n == 0 && p == 0;
        for (int a = 0; a < 3; a++) {
            if (first || point[p][a] < r->low[a]) r->low[a] = point[p][a];
            if (first || point[p][a] > r->high[a]) r->high[a] = point[p][a];
        }
        if (m->has_grid) outside += is_outside(m, point[p]);
        if (p == 0) continue;
        double x = (double)point[p][0] - point[p - 1][0], y = (double)point[p][1] - point[p - 1][1],
               z = (double)point[p][2] - point[p - 1][2], step = sqrt(x * x + y * y + z * z);
        length += step;
        r->zero_steps += step == 0;
        spread_add(&m->step, step);
    }
    spread_add(&m->length, length);
    r->single_points += n == 1;
    r->points_outside += outside;
    if (outside > 0 && r->outside++ == 0) r->first_outside = r->streamlines;
}

/* Function `append` of the sink. Streamlines without points, and those with points that are not finite, are counted
 * but not measured. */
static gls_status append(void *user, const gls_streamlines *s)
{
    gls_summary *m = user;
    gls_summary_result *r = &m->result;
    gls_status status = m->defined ? GLS_OK : define_columns(m, s);
    if (status) return status;
    if (r->n_columns != s->n_dps + s->n_dpv + s->n_groups) /* columns are matched by their position */
        return gls_fail(GLS_ERR_ARGUMENT, "streamlines have other columns than those before");
    for (size_t i = 0; i < s->n; i++) {
        size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        const float(*point)[3] = s->point + s->offset[i];
        if (n == 0)
            r->empty++;
        else if (is_finite(point, n))
            add_points(m, point, n);
        else if (r->not_finite++ == 0)
            r->first_not_finite = r->streamlines;
        r->streamlines++;
        r->points += n;
    }
    /* columns in the order dps, dpv, groups, as define_columns() made them */
    gls_column_summary *to = m->column;
    for (size_t k = 0; k < s->n_dps; k++) add_column(to++, &s->dps[k], s->n);
    for (size_t k = 0; k < s->n_dpv; k++) add_column(to++, &s->dpv[k], s->offset[s->n]);
    for (size_t k = 0; k < s->n_groups; k++) add_column(to++, &s->group[k], s->n);
    return GLS_OK;
}

gls_status gls_summary_create(const gls_grid *grid, gls_summary **summary)
{
    GLS_REQUIRE(summary);
    gls_summary *m = calloc(1, sizeof *m);
    if (!m || !spread_init(&m->length) || !spread_init(&m->step)) {
        gls_summary_destroy(m);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a summary");
    }
    if (grid) {
        m->has_grid = true;
        m->grid = *grid;
        gls_grid_inverse(grid, m->world_to_voxel);
    }
    *summary = m;
    return GLS_OK;
}

gls_sink gls_summary_sink(gls_summary *summary)
{
    return (gls_sink){.append = append, .user = summary};
}

const gls_summary_result *gls_summary_get(gls_summary *summary)
{
    if (!summary) return NULL;
    summary->result.length = spread_get(&summary->length);
    summary->result.step = spread_get(&summary->step);
    return &summary->result;
}

void gls_summary_destroy(gls_summary *m)
{
    if (!m) return;
    for (size_t k = 0; k < m->result.n_columns; k++) free((char *)m->column[k].name);
    free(m->column);
    spread_finish(&m->length);
    spread_finish(&m->step);
    free(m);
}
