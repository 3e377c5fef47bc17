/* Lengths, quartiles, steps and shape of a bundle from its streamlines. */
#include "tracts/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_area.h"
#include "image/region_set.h"
#include "tracts/line_geometry.h"
#include "tracts/ranks.h"
#include "tracts/visits.h"
#include "tracts/visits_list.h"
#include "util/maths.h"
#include "util/status.h"

#define PI 3.14159265358979323846

/* Bins for steps from 2^-16 to 2^16 mm: by exponent and 12 bits of the mantissa. */
#define STEP_BITS 12
#define STEP_BINS ((size_t)32 << STEP_BITS)
/* Exponent of the first bin in the encoding of float32, whose bias is 127. */
#define STEP_LOWEST (127 - 16)

/* Masks: the voxels that streamlines pass, the voxels of their first points, and the voxels of their last points. */
enum { BODY, START, END, N_MASKS };
enum { N_QUARTILES = 3 };

struct gls_bundle_stats {
    /* numbers of streamlines with points, of their points, and of streamlines without points */
    uint64_t n, points, empty;
    double weight, mean, square; /* running weighted mean and sum of squares (West 1979) */
    double min, max;
    gls_ranks *ranks; /* NULL: no quartiles */
    uint64_t *steps;  /* number of steps in each of STEP_BINS bins */
    uint64_t n_steps;
    /* measures of shape; only with has_shape */
    bool has_shape;
    /* grid of the masks */
    gls_grid grid;
    /* the grid, prepared for finding visited voxels */
    gls_visit_grid visit_grid;
    /* voxels of the current streamline */
    gls_visits visits;
    uint8_t *mask[N_MASKS]; /* one bit for each voxel */
    /* sums over streamlines of length and span, mm, and over points of curvature, 1 / mm */
    double sum_length, sum_span, sum_curvature;
    /* number of points in sum_curvature */
    uint64_t n_curvature;
    /* points that `resampled` can hold */
    size_t resampled_capacity;
    /* the streamline at equal distances, world mm */
    float (*resampled)[3];
};

gls_status gls_bundle_stats_create(const gls_grid *grid, size_t kept, gls_bundle_stats **stats)
{
    gls_bundle_stats *s = calloc(1, sizeof *s);
    bool done = s && (kept == 0 || gls_ranks_create(kept, &s->ranks) == GLS_OK) &&
                (s->steps = calloc(STEP_BINS, sizeof *s->steps));
    if (done && grid) {
        s->has_shape = true;
        s->grid = *grid;
        gls_visit_grid_init(&s->visit_grid, grid);
        for (int m = 0; m < N_MASKS && done; m++) done = (s->mask[m] = calloc(gls_grid_voxels(grid) / 8 + 1, 1));
    }
    if (!done) {
        gls_bundle_stats_destroy(s);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the shape of a bundle");
    }
    *stats = s;
    return GLS_OK;
}

void gls_bundle_stats_destroy(gls_bundle_stats *s)
{
    if (!s) return;
    for (int m = 0; m < N_MASKS; m++) free(s->mask[m]);
    gls_visits_finish(&s->visits);
    gls_ranks_destroy(s->ranks);
    free(s->steps);
    free(s->resampled);
    free(s);
}

/* Counts the length of a step in a histogram whose bins follow the leading bits of a float, so that bins grow with the
 * length. */
static void add_step(gls_bundle_stats *s, const float *p, const float *q)
{
    float x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2], mm = sqrtf(x * x + y * y + z * z);
    uint32_t bits;
    memcpy(&bits, &mm, sizeof bits);
    int64_t bin = (int64_t)(bits >> (23 - STEP_BITS)) - ((int64_t)STEP_LOWEST << STEP_BITS);
    if (bin < 0) bin = 0;
    if (bin >= (int64_t)STEP_BINS) bin = STEP_BINS - 1;
    s->steps[bin]++;
    s->n_steps++;
}

/* Middle of the bin that holds the step of this rank. */
static double ranked_step(const gls_bundle_stats *s, uint64_t rank)
{
    const size_t bin = gls_histogram_bin(s->steps, STEP_BINS, rank);
    const uint32_t bits = (uint32_t)((bin + ((size_t)STEP_LOWEST << STEP_BITS)) << (23 - STEP_BITS)) + (1u << 10);
    float mm;
    memcpy(&mm, &bits, sizeof mm);
    return (double)mm;
}

/* Median of all steps, mm, as numpy's, with the precision of a bin; 0: no steps. */
static double median_step(const gls_bundle_stats *s)
{
    if (s->n_steps == 0) return 0;
    const gls_quantile at = gls_quantile_find(s->n_steps, 0.5);
    return gls_quantile_between(&at, ranked_step(s, at.lower), ranked_step(s, at.upper));
}

/* Sets the bit of a voxel. Not for several threads. */
static void mark(uint8_t *mask, uint64_t voxel)
{
    mask[voxel / 8] |= (uint8_t)(1 << voxel % 8);
}

/* Whether mark() set the bit of a voxel. */
static bool is_marked(const uint8_t *mask, uint64_t voxel)
{
    return mask[voxel / 8] >> voxel % 8 & 1;
}

/* Marks the voxel of an end in mask m; an end outside the grid is left out. */
static void mark_end(gls_bundle_stats *s, int m, const float point[3])
{
    const double at[3] = {point[0], point[1], point[2]};
    double v[3];
    size_t voxel;
    gls_affine_apply((const double(*)[4])s->visit_grid.world_to_voxel, at, v);
    if (gls_region_voxel_at(&s->grid, v, &voxel)) mark(s->mask[m], voxel);
}

/* Adds the curvature abs(x' x x'') / abs(x')^3 at inner points about 1 mm apart: the streamline is resampled to
 * points at equal distances, and derivatives are central differences. length: of the streamline, mm. Streamlines
 * under 1.5 mm have no inner point. */
static gls_status add_curvature(gls_bundle_stats *s, const float (*point)[3], size_t n, double length)
{
    /* 1e6: bounds memory for coordinates without sense */
    size_t m = (size_t)fmin(rint(length), 1e6) + 1;
    if (m < 3) return GLS_OK;
    /* the buffer serves all streamlines */
    if (m > s->resampled_capacity) {
        float(*more)[3] = realloc(s->resampled, m * sizeof *more);
        if (!more) return gls_fail(GLS_ERR_MEMORY, "out of memory for a streamline");
        s->resampled = more;
        s->resampled_capacity = m;
    }
    gls_line_resample(point, n, m, s->resampled);
    for (size_t k = 1; k + 1 < m; k++) {
        /* d: first derivative, e: second derivative, for a step of 1 */
        double d[3], e[3], cross = 0, square = 0;
        for (int r = 0; r < 3; r++) {
            double before = s->resampled[k - 1][r], at = s->resampled[k][r], after = s->resampled[k + 1][r];
            d[r] = 0.5 * (after - before);
            e[r] = after - 2 * at + before;
            square += d[r] * d[r];
        }
        /* length of the cross product, squared */
        for (int r = 0; r < 3; r++) {
            double c = d[(r + 1) % 3] * e[(r + 2) % 3] - d[(r + 2) % 3] * e[(r + 1) % 3];
            cross += c * c;
        }
        /* where the two neighbours coincide, there is no direction */
        if (square == 0) continue;
        s->sum_curvature += sqrt(cross) / (square * sqrt(square));
        s->n_curvature++;
    }
    return GLS_OK;
}

/* Marks the voxels and the ends of a streamline, and adds its length, span and curvature to the sums (Yeh 2020). */
static gls_status add_shape(gls_bundle_stats *s, const float (*point)[3], size_t n, double length)
{
    const gls_density_options options = {.size = sizeof options, .mapping = GLS_DENSITY_SEGMENT, .upsample = 1};
    double span = 0;
    gls_visits_find(&s->visits, &s->visit_grid, &options, point, n);
    if (s->visits.failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the voxels of a streamline");
    for (size_t i = 0; i < s->visits.n; i++) mark(s->mask[BODY], s->visits.voxel[i]);
    mark_end(s, START, point[0]);
    mark_end(s, END, point[n - 1]);
    for (int r = 0; r < 3; r++) span += pow((double)point[n - 1][r] - point[0][r], 2);
    s->sum_span += sqrt(span);
    s->sum_length += length;
    return add_curvature(s, point, n, length);
}

gls_status gls_bundle_stats_add(gls_bundle_stats *s, const float (*point)[3], size_t n, double weight)
{
    if (n == 0) {
        s->empty++;
        return GLS_OK;
    }
    double length = gls_line_length(point, n), before = s->weight, d = length - s->mean;
    gls_status status = s->ranks ? gls_ranks_add(s->ranks, length) : GLS_OK;
    if (status) return status;
    if (s->n == 0 || length < s->min) s->min = length;
    if (s->n == 0 || length > s->max) s->max = length;
    s->n++;
    s->points += n;
    s->weight += weight;
    /* West's update of the weighted mean and the weighted sum of squares; a total weight of 0 leaves both as they are
     */
    if (s->weight != 0) {
        s->mean += weight / s->weight * d;
        s->square += before * weight / s->weight * d * d;
    }
    for (size_t i = 1; i < n; i++) add_step(s, point[i - 1], point[i]);
    return s->has_shape ? add_shape(s, point, n, length) : GLS_OK;
}

/* Ranks and share for quartile k, 0 to 2, of all lengths. */
static gls_quantile quartile(const gls_bundle_stats *s, int k)
{
    return gls_quantile_find(s->n, 0.25 * (k + 1));
}

gls_status gls_bundle_stats_end_pass(gls_bundle_stats *s, bool *again)
{
    uint64_t rank[2 * N_QUARTILES];
    *again = false;
    if (s->n == 0 || !s->ranks) return GLS_OK;
    for (int k = 0; k < N_QUARTILES; k++) {
        const gls_quantile at = quartile(s, k);
        rank[2 * k] = at.lower;
        rank[2 * k + 1] = at.upper;
    }
    return gls_ranks_end_pass(s->ranks, rank, 2 * N_QUARTILES, again);
}

gls_status gls_bundle_stats_add_again(gls_bundle_stats *s, double length)
{
    return gls_ranks_add(s->ranks, length);
}

const double *gls_bundle_stats_sorted(gls_bundle_stats *s, size_t *n)
{
    *n = 0;
    return s->ranks ? gls_ranks_sorted(s->ranks, n) : NULL;
}

gls_lengths gls_bundle_stats_lengths(const gls_bundle_stats *s)
{
    gls_lengths l = {.n = s->n, .points = s->points, .empty = s->empty, .weight = s->weight};
    if (s->n == 0) return l;
    double divisor = (double)(s->n - 1) / (double)s->n * s->weight;
    l.mean = s->mean;
    l.sd = s->n > 1 && divisor != 0 ? sqrt(s->square / divisor) : 0;
    l.min = s->min;
    l.max = s->max;
    double *const to[N_QUARTILES] = {&l.q25, &l.median, &l.q75};
    for (size_t k = 0; k < N_QUARTILES && s->ranks; k++) {
        const gls_quantile at = quartile(s, (int)k);
        *to[k] = gls_quantile_between(&at, gls_ranks_get(s->ranks, 2 * k), gls_ranks_get(s->ranks, 2 * k + 1));
    }
    l.step = median_step(s);
    return l;
}

/* Area of the faces between voxels of the bundle and other voxels or the outside of the grid, mm2. */
static double find_surface(const gls_bundle_stats *s)
{
    const int32_t *dim = s->grid.dim;
    const double *side = s->grid.voxel_size;
    const size_t stride[3] = {1, (size_t)dim[0], (size_t)dim[0] * (size_t)dim[1]};
    double area = 0;
    size_t at[3];
    for (size_t v = 0, n = gls_grid_voxels(&s->grid); v < n; v++) {
        if (!is_marked(s->mask[BODY], v)) continue;
        at[0] = v % stride[1];
        at[1] = v / stride[1] % (size_t)dim[1];
        at[2] = v / stride[2];
        for (int a = 0; a < 3; a++) {
            double face = side[(a + 1) % 3] * side[(a + 2) % 3];
            if (at[a] == 0 || !is_marked(s->mask[BODY], v - stride[a])) area += face;
            if (at[a] + 1 == (size_t)dim[a] || !is_marked(s->mask[BODY], v + stride[a])) area += face;
        }
    }
    return area;
}

/* 1.5 times the mean distance of the voxels of mask m from the mean of their positions, world mm: the radius of a disc
 * with this mean distance. *count: number of these voxels. NaN without voxels. */
static double find_radius(const gls_bundle_stats *s, int m, uint64_t *count)
{
    double mean[3] = {0}, sum = 0, p[3];
    *count = 0;
    /* the mean first, then distances from it */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t v = 0, n = gls_grid_voxels(&s->grid); v < n; v++) {
            if (!is_marked(s->mask[m], v)) continue;
            gls_region_centre(&s->grid, v, p);
            gls_affine_apply(s->grid.affine, p, p);
            double square = 0;
            for (int r = 0; r < 3; r++) {
                if (pass == 0) mean[r] += p[r];
                square += (p[r] - mean[r]) * (p[r] - mean[r]);
            }
            if (pass == 0) ++*count;
            if (pass == 1) sum += sqrt(square);
        }
        for (int r = 0; r < 3 && pass == 0; r++) mean[r] /= (double)*count;
    }
    return 1.5 * sum / (double)*count;
}

gls_shape gls_bundle_stats_shape(gls_bundle_stats *s)
{
    gls_shape shape;
    uint64_t voxels = 0, count;
    for (size_t v = 0, n = gls_grid_voxels(&s->grid); v < n; v++) voxels += is_marked(s->mask[BODY], v);
    const double one = fabs(gls_affine_det((const double(*)[4])s->grid.affine)), n = (double)s->n;
    double length = s->sum_length / n;
    shape.volume = s->n > 0 ? (double)voxels * one : NAN;
    shape.span = s->sum_span / n;
    shape.curl = length / shape.span;
    shape.diameter = 2 * sqrt(shape.volume / (PI * length));
    shape.elongation = length / shape.diameter;
    shape.surface_area = s->n > 0 ? find_surface(s) : NAN;
    shape.irregularity = shape.surface_area / (PI * shape.diameter * length);
    for (int e = 0; e < 2; e++) {
        shape.radius[e] = find_radius(s, START + e, &count);
        /* area of an end: its voxels times the area of a face of a cube of the voxel's volume */
        shape.area[e] = count > 0 ? (double)count * pow(one, 2.0 / 3) : NAN;
        shape.end_irregularity[e] = PI * shape.radius[e] * shape.radius[e] / shape.area[e];
    }
    shape.mean_curvature = s->sum_curvature / (double)s->n_curvature;
    return shape;
}
