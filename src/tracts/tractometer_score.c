/* Scores against known bundles (Tractometer). A set of bundles is a word of bits, and each kind of region has such a
 * word for each voxel: the bundles that a streamline may belong to are the intersection along its way. */
#include <glslines/score.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"

/* Largest distance by which regions are widened, voxels. */
#define MAX_DISTANCE 16
#define NO_VOXEL SIZE_MAX
#define FAR_AWAY 1000.0 /* lines are cut off at this distance from the grid, voxels */

/* One bit for each bundle, GLS_SCORE_MAX_BUNDLES at most. */
typedef uint64_t bundle_set;

/* Kinds of regions: mask of the bundle, its two ends, its ends widened by end_distance, its mask and ends widened by
 * route_distance, and voxels where valid streamlines have been. */
enum { IN_BUNDLE, IN_END_0, IN_END_1, NEAR_END_0, NEAR_END_1, ON_ROUTE, BEEN_THERE, N_MAPS };

struct gls_score {
    /* number of bundles; bundle b has bit b in the words of the maps */
    size_t n_bundles;
    /* size of the grid in voxels */
    int32_t dim[3];
    /* from world mm to voxel coordinates */
    double world_to_voxel[3][4];
    /* dim[0] * dim[1] * dim[2] */
    size_t n_voxels;
    bundle_set *map[N_MAPS]; /* a word for each voxel; BEEN_THERE: bundles of which a valid streamline passed through
                                the voxel */
    /* any_route: only ends are tested; ends_are_beyond: voxels of ends outside the mask count as overreach */
    bool any_route, ends_are_beyond;
    /* further test by the caller: returns which of the bundles `joined` the streamline may belong to; NULL: no further
     * test */
    uint64_t (*keep)(void *user, const float (*point)[3], size_t n, uint64_t joined);
    /* first argument of keep() */
    void *user;
    /* sums over all streamlines so far */
    gls_score_result result;
    /* counts of each bundle */
    gls_score_bundle bundle[GLS_SCORE_MAX_BUNDLES];
    uint8_t
        *joined; /* for each pair of end regions (indices 2 bundle + end) whether an invalid connection joins them */
};

gls_score_options gls_score_options_default(void)
{
    return (gls_score_options){.size = sizeof(gls_score_options), .end_distance = 1, .route_distance = 2};
}

/* Sets the bit of a bundle in all voxels of a mask. */
static void mark(bundle_set *map, const uint8_t *inside, size_t n, bundle_set bit)
{
    for (size_t v = 0; v < n; v++)
        if (inside[v]) map[v] |= bit;
}

/* Spreads every bit by `distance` voxels along one axis. line: memory for dim[axis] words. */
static void spread_axis(const gls_score *s, bundle_set *map, int axis, int distance, bundle_set *line)
{
    const size_t stride[3] = {1, (size_t)s->dim[0], (size_t)s->dim[0] * (size_t)s->dim[1]};
    int n = s->dim[axis];
    for (size_t first = 0; first < s->n_voxels; first++) {
        if (first / stride[axis] % (size_t)n != 0) continue;
        for (int i = 0; i < n; i++) line[i] = map[first + (size_t)i * stride[axis]];
        for (int i = 0; i < n; i++) {
            bundle_set all = 0;
            for (int j = i - distance < 0 ? 0 : i - distance; j < n && j <= i + distance; j++) all |= line[j];
            map[first + (size_t)i * stride[axis]] = all;
        }
    }
}

/* Widens all regions of a map by `distance` voxels along each axis, one axis after the other, so that a voxel becomes a
 * cube. */
static gls_status spread(const gls_score *s, bundle_set *map, int distance)
{
    int longest = s->dim[0] > s->dim[1] ? s->dim[0] : s->dim[1];
    if (s->dim[2] > longest) longest = s->dim[2];
    bundle_set *line = malloc((size_t)longest * sizeof *line);
    if (!line) return gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of bundles");
    for (int axis = 0; axis < 3; axis++) spread_axis(s, map, axis, distance, line);
    free(line);
    return GLS_OK;
}

/* Builds the maps of bundles, ends, widened ends and widened routes. */
static gls_status make_maps(gls_score *s, const gls_score_truth *truth, const gls_score_options *options)
{
    for (int m = 0; m < N_MAPS; m++) {
        s->map[m] = calloc(s->n_voxels, sizeof *s->map[m]);
        if (!s->map[m]) return gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of bundles");
    }
    for (size_t b = 0; b < s->n_bundles; b++) {
        const struct gls_score_truth_bundle *bundle = &truth->bundle[b];
        bundle_set bit = (bundle_set)1 << b;
        if (bundle->mask) mark(s->map[IN_BUNDLE], bundle->mask, s->n_voxels, bit);
        for (int e = 0; e < 2; e++) mark(s->map[IN_END_0 + e], bundle->ends[e], s->n_voxels, bit);
        s->bundle[b].name = bundle->name;
        for (size_t v = 0; v < s->n_voxels; v++) s->bundle[b].truth += bundle->mask && bundle->mask[v];
    }
    for (int e = 0; e < 2; e++) memcpy(s->map[NEAR_END_0 + e], s->map[IN_END_0 + e], s->n_voxels * sizeof(bundle_set));
    for (size_t v = 0; v < s->n_voxels; v++)
        s->map[ON_ROUTE][v] = s->map[IN_BUNDLE][v] | s->map[IN_END_0][v] | s->map[IN_END_1][v];
    gls_status status = s->any_route ? GLS_OK : spread(s, s->map[ON_ROUTE], options->route_distance);
    /* without a mask a bundle has no route: a streamline may go anywhere */
    for (size_t b = 0; b < s->n_bundles; b++)
        for (size_t v = 0; v < s->n_voxels && !truth->bundle[b].mask; v++) s->map[ON_ROUTE][v] |= (bundle_set)1 << b;
    for (int e = 0; e < 2 && !status; e++) status = spread(s, s->map[NEAR_END_0 + e], options->end_distance);
    return status;
}

gls_status gls_score_create_for(const gls_score_truth *truth, const gls_score_options *options, gls_score **score)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(truth && score && (truth->bundle || truth->n == 0));
    /* the mask of a bundle may be missing, its ends may not */
    for (size_t b = 0; b < truth->n; b++)
        GLS_REQUIRE(truth->bundle[b].name && truth->bundle[b].ends[0] && truth->bundle[b].ends[1]);
    gls_score_options o = options ? *options : gls_score_options_default();
    GLS_REQUIRE(o.end_distance >= 0 && o.end_distance <= MAX_DISTANCE);
    GLS_REQUIRE(o.route_distance >= GLS_SCORE_ANY_ROUTE && o.route_distance <= MAX_DISTANCE);
    if (truth->n == 0) return gls_fail(GLS_ERR_ARGUMENT, "there is no bundle to score against");
    if (truth->n > GLS_SCORE_MAX_BUNDLES)
        return gls_fail(GLS_ERR_UNSUPPORTED, "there are %zu bundles; at most %d can be scored", truth->n,
                        GLS_SCORE_MAX_BUNDLES);
    size_t n_ends = 2 * truth->n;
    /* a score that is made in part is destroyed like a whole one */
    gls_score *s = calloc(1, sizeof *s);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "out of memory for a score");
    s->n_bundles = truth->n;
    s->any_route = o.route_distance == GLS_SCORE_ANY_ROUTE;
    s->ends_are_beyond = o.ends_are_beyond;
    s->keep = truth->keep;
    s->user = truth->user;
    s->n_voxels = gls_grid_voxels(&truth->grid);
    memcpy(s->dim, truth->grid.dim, sizeof s->dim);
    gls_grid_inverse(&truth->grid, s->world_to_voxel);
    /* n_ends x n_ends bytes: which pairs of ends are joined */
    s->joined = calloc(n_ends * n_ends, 1);
    gls_status status = s->joined ? make_maps(s, truth, &o) : gls_fail(GLS_ERR_MEMORY, "out of memory for a score");
    if (status) {
        gls_score_destroy(s);
        return status;
    }
    *score = s;
    return GLS_OK;
}

/* Makes bytes of an image: 1 where the value is positive. The caller frees them; NULL: memory ran out. */
static uint8_t *inside(const gls_image *image)
{
    size_t n = gls_grid_voxels(&image->grid);
    uint8_t *bytes = malloc(n);
    for (size_t v = 0; v < n && bytes; v++) bytes[v] = image->data[v] > 0;
    return bytes;
}

gls_status gls_score_create(const gls_phantom *phantom, const gls_score_options *options, gls_score **score)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(phantom && score);
    const size_t n = phantom->n_bundles;
    GLS_REQUIRE((phantom->bundle && phantom->dwi) || n == 0);
    for (size_t b = 0; b < n; b++)
        GLS_REQUIRE(phantom->bundle[b].mask && phantom->bundle[b].ends[0] && phantom->bundle[b].ends[1]);
    if (n == 0)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "the phantom was made without its ground truth, so there is nothing to score against");
    /* regions as bytes, only for the call: the score makes its own maps */
    struct gls_score_truth_bundle *bundle = calloc(n, sizeof *bundle);
    bool done = bundle;
    for (size_t b = 0; b < n && done; b++) {
        const gls_phantom_bundle *from = &phantom->bundle[b];
        bundle[b].name = from->name;
        bundle[b].mask = inside(from->mask);
        for (int e = 0; e < 2; e++) bundle[b].ends[e] = inside(from->ends[e]);
        done = bundle[b].mask && bundle[b].ends[0] && bundle[b].ends[1];
    }
    const gls_score_truth truth = {.grid = phantom->dwi->grid, .n = n, .bundle = bundle};
    gls_status status = done ? gls_score_create_for(&truth, options, score)
                             : gls_fail(GLS_ERR_MEMORY, "out of memory for the regions of bundles");
    for (size_t b = 0; b < n && bundle; b++) {
        free((void *)bundle[b].mask);
        for (int e = 0; e < 2; e++) free((void *)bundle[b].ends[e]);
    }
    free(bundle);
    return status;
}

void gls_score_destroy(gls_score *s)
{
    if (!s) return;
    for (int m = 0; m < N_MAPS; m++) free(s->map[m]);
    free(s->joined);
    free(s);
}

/* Voxel coordinates with voxel corners at whole numbers, so that floor() gives the voxel. */
static void to_corner(const gls_score *s, const float point[3], double p[3])
{
    double world[3] = {point[0], point[1], point[2]};
    gls_affine_apply(s->world_to_voxel, world, p);
    for (int a = 0; a < 3; a++) p[a] += 0.5;
}

/* Index of a voxel; NO_VOXEL: outside the grid. */
static size_t voxel_at(const gls_score *s, const int64_t i[3])
{
    for (int a = 0; a < 3; a++)
        if (i[a] < 0 || i[a] >= s->dim[a]) return NO_VOXEL;
    return ((size_t)i[2] * (size_t)s->dim[1] + (size_t)i[1]) * (size_t)s->dim[0] + (size_t)i[0];
}

/* Index of the voxel of a point, world mm; NO_VOXEL: outside, or not a number. */
static size_t voxel_of(const gls_score *s, const float point[3])
{
    double p[3];
    to_corner(s, point, p);
    for (int a = 0; a < 3; a++)
        if (!(p[a] >= 0 && p[a] < s->dim[a])) return NO_VOXEL;
    return voxel_at(s, (const int64_t[3]){(int64_t)p[0], (int64_t)p[1], (int64_t)p[2]});
}

/* Cuts off those parts of the segment from p to q that lie more than FAR_AWAY voxels outside the grid. Returns false if
 * nothing remains. */
static bool cut_far(const gls_score *s, double p[3], double q[3])
{
    double from = 0, until = 1, d[3];
    for (int a = 0; a < 3; a++) {
        const double low = -FAR_AWAY, high = s->dim[a] + FAR_AWAY;
        d[a] = q[a] - p[a];
        if ((p[a] < low && q[a] < low) || (p[a] > high && q[a] > high)) return false;
        if (p[a] < low || p[a] > high) from = fmax(from, ((p[a] < low ? low : high) - p[a]) / d[a]);
        if (q[a] < low || q[a] > high) until = fmin(until, ((q[a] < low ? low : high) - p[a]) / d[a]);
    }
    for (int a = 0; a < 3; a++) { /* clamp: with such large numbers even the sum is inexact */
        const double low = -FAR_AWAY, high = s->dim[a] + FAR_AWAY;
        if (until < 1) q[a] = fmin(fmax(p[a] + until * d[a], low), high);
        if (from > 0) p[a] = fmin(fmax(p[a] + from * d[a], low), high);
    }
    return from <= until;
}

/* Marks the voxels that a segment passes (Amanatides and Woo 1987): always crosses the nearest face next. */
static void visit_segment(gls_score *s, const float from[3], const float to[3], bundle_set bit)
{
    double p[3], q[3], next[3], pitch[3];
    int64_t i[3], left = 0;
    int step[3];
    to_corner(s, from, p);
    to_corner(s, to, q);
    if (!cut_far(s, p, q)) return;
    /* left: faces to cross until the last voxel; pitch: share of the segment between two faces of an axis; next:
     * share at which the next face is crossed */
    for (int a = 0; a < 3; a++) {
        double d = q[a] - p[a];
        i[a] = (int64_t)floor(p[a]);
        int64_t last = (int64_t)floor(q[a]);
        left += last > i[a] ? last - i[a] : i[a] - last;
        step[a] = d > 0 ? 1 : -1;
        pitch[a] = d != 0 ? 1 / fabs(d) : INFINITY;
        next[a] = d != 0 ? (d > 0 ? (double)i[a] + 1 - p[a] : p[a] - (double)i[a]) * pitch[a] : INFINITY;
    }
    for (;; left--) {
        size_t v = voxel_at(s, i);
        if (v != NO_VOXEL) s->map[BEEN_THERE][v] |= bit;
        if (left <= 0) return;
        int a = next[0] <= next[1] ? (next[0] <= next[2] ? 0 : 2) : (next[1] <= next[2] ? 1 : 2);
        i[a] += step[a];
        next[a] += pitch[a];
    }
}

/* Counts a valid streamline for the candidate whose mask contains the largest number of its points, of equal candidates
 * the first. Marks the voxels of the streamline. */
static void add_valid(gls_score *s, const float (*point)[3], size_t n, bundle_set candidates)
{
    size_t best = 0, most = 0;
    bool one = (candidates & (candidates - 1)) == 0;
    /* +1, so that a candidate without a point in its mask is chosen where there is no better */
    for (size_t b = 0; b < s->n_bundles; b++) {
        bundle_set bit = (bundle_set)1 << b;
        size_t inside = 0;
        if (!(candidates & bit)) continue;
        for (size_t i = 0; i < n && !one; i++) {
            size_t v = voxel_of(s, point[i]);
            inside += v != NO_VOXEL && (s->map[IN_BUNDLE][v] & bit);
        }
        if (one || inside + 1 > most) {
            best = b;
            most = inside + 1;
        }
    }
    s->result.valid++;
    s->bundle[best].valid++;
    for (size_t i = 0; i + 1 < n; i++) visit_segment(s, point[i], point[i + 1], (bundle_set)1 << best);
}

/* Lists the end regions of a voxel by their indices, 2 bundle + end: first regions that contain the voxel, then regions
 * near it. */
static size_t end_regions(const gls_score *s, size_t voxel, uint32_t *region)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t r = 0; r < 2 * s->n_bundles; r++) {
            bundle_set bit = (bundle_set)1 << (r / 2), inside = s->map[IN_END_0 + (r & 1)][voxel] & bit;
            if (pass == 0 ? inside : !inside && (s->map[NEAR_END_0 + (r & 1)][voxel] & bit)) region[n++] = (uint32_t)r;
        }
    }
    return n;
}

/* Counts ends that no bundle joins: an invalid connection if they lie in or near different regions, otherwise no
 * connection. Each new pair of regions is a new invalid bundle. first, last: voxels of the ends. */
static void add_unjoined(gls_score *s, size_t first, size_t last)
{
    uint32_t a[2 * GLS_SCORE_MAX_BUNDLES], b[2 * GLS_SCORE_MAX_BUNDLES];
    size_t na = end_regions(s, first, a), nb = end_regions(s, last, b), n = 2 * s->n_bundles;
    /* pairs in the order of the sum of their indices in both lists, so that regions that contain the ends come before
     * regions near the ends */
    for (size_t sum = 0; na && nb && sum < na + nb - 1; sum++) {
        for (size_t i = 0; i <= sum && i < na; i++) {
            if (sum - i >= nb || a[i] == b[sum - i]) continue;
            size_t low = a[i] < b[sum - i] ? a[i] : b[sum - i], high = a[i] + b[sum - i] - low;
            s->result.invalid_bundles += !s->joined[low * n + high];
            s->joined[low * n + high] = 1;
            s->result.invalid++;
            return;
        }
    }
    s->result.no_connection++;
}

/* Classifies one streamline: valid, wrong path, invalid connection or no connection. */
static void add_one(gls_score *s, const float (*point)[3], size_t n)
{
    s->result.streamlines++;
    size_t first = n > 1 ? voxel_of(s, point[0]) : NO_VOXEL,
           last = n > 1 ? voxel_of(s, point[n - 1]) : NO_VOXEL; /* a single point connects nothing */
    if (first == NO_VOXEL || last == NO_VOXEL) {
        s->result.no_connection++;
        return;
    }
    bundle_set *const *m = s->map;
    /* bundles that have one end near the first point and the other near the last; a streamline is valid for those on
     * whose route all its points lie, with any_route for all of them */
    bundle_set joined = (m[NEAR_END_0][first] & m[NEAR_END_1][last]) | (m[NEAR_END_1][first] & m[NEAR_END_0][last]),
               valid = joined;
    for (size_t i = 0; i < n && valid && !s->any_route; i++) {
        size_t v = voxel_of(s, point[i]);
        valid &= v == NO_VOXEL ? 0 : m[ON_ROUTE][v];
    }
    if (valid && s->keep) valid &= s->keep(s->user, point, n, valid);
    if (valid)
        add_valid(s, point, n, valid);
    else if (joined)
        s->result.wrong_path++;
    else
        add_unjoined(s, first, last);
}

/* append() of the sink; `score` is a gls_score. Not for several threads at the same time. */
gls_status gls_score_add(void *score, const gls_streamlines *streamlines)
{
    GLS_REQUIRE(score && streamlines && ((streamlines->offset && streamlines->point) || streamlines->n == 0));
    for (size_t i = 0; i < streamlines->n; i++) {
        uint64_t first = streamlines->offset[i];
        add_one(score, streamlines->point + first, (size_t)(streamlines->offset[i + 1] - first));
    }
    return GLS_OK;
}

/* Computes overlap (share of the true voxels that streamlines visit), overreach (voxels visited beyond the truth, as a
 * share of these and the true voxels visited), overreach_gt (the same voxels divided by the true voxels), and F1 of
 * overlap and overreach. Visited voxels of the ends outside the mask count only if ends_are_beyond. All are NaN for a
 * bundle without truth. */
static void complete_bundle(const gls_score *s, size_t b, gls_score_bundle *bundle)
{
    bundle_set bit = (bundle_set)1 << b;
    bundle->found = bundle->beyond = 0;
    for (size_t v = 0; v < s->n_voxels; v++) {
        if (!(s->map[BEEN_THERE][v] & bit)) continue;
        if (s->map[IN_BUNDLE][v] & bit)
            bundle->found++;
        else if (s->ends_are_beyond || !((s->map[IN_END_0][v] | s->map[IN_END_1][v]) & bit))
            bundle->beyond++;
    }
    double found = (double)bundle->found, beyond = (double)bundle->beyond, truth = (double)bundle->truth;
    bundle->overlap = truth > 0 ? found / truth : 0;
    bundle->overreach = beyond > 0 ? beyond / (found + beyond) : 0;
    bundle->overreach_gt = truth > 0 ? beyond / truth : 0;
    double precision = 1 - bundle->overreach;
    bundle->f1 = bundle->overlap > 0 ? 2 * precision * bundle->overlap / (precision + bundle->overlap) : 0;
    if (truth == 0) bundle->overlap = bundle->overreach = bundle->overreach_gt = bundle->f1 = NAN;
}

void gls_score_get(gls_score *s, gls_score_result *result)
{
    size_t n = 0;
    *result = s->result;
    for (size_t b = 0; b < s->n_bundles; b++) n += s->bundle[b].truth > 0;
    if (n == 0) result->mean_overlap = result->mean_overreach = result->mean_overreach_gt = result->mean_f1 = NAN;
    for (size_t b = 0; b < s->n_bundles; b++) {
        complete_bundle(s, b, &s->bundle[b]);
        result->valid_bundles += s->bundle[b].valid > 0;
        if (s->bundle[b].truth == 0) continue;
        result->mean_overlap += s->bundle[b].overlap / (double)n;
        result->mean_overreach += s->bundle[b].overreach / (double)n;
        result->mean_overreach_gt += s->bundle[b].overreach_gt / (double)n;
        result->mean_f1 += s->bundle[b].f1 / (double)n;
    }
    result->n_bundles = s->n_bundles;
    result->bundle = s->bundle;
}
