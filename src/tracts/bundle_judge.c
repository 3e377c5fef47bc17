/* Tests whether a streamline belongs to a bundle, cheap tests first. */
#include <math.h>
#include <string.h>

#include "tracts/bundle_judge.h"
#include "tracts/bundle_parts.h"
#include "tracts/line_geometry.h"

#define LENGTH_SLACK 1e-4 /* tolerance of lengths, mm */
#define DEGREE (3.14159265358979323846 / 180)

const char *gls_bundle_test_name(gls_bundle_test test)
{
    static const char *const names[GLS_BUNDLE_TESTS] = {
        "length", "span", "midline", "ends", "include", "exclude", "all", "axis", "winding", "outlier", "other_bundle"};
    return (unsigned)test < GLS_BUNDLE_TESTS ? names[test] : "unknown";
}

/* Whether extent (between the ends) and travel (along the line, forth and back) along each world axis are within the
 * rule's limits, mm. */
static bool extends(const gls_bundle_rule *r, const float (*point)[3], size_t n)
{
    for (int a = 0; a < 3; a++) {
        double extent = fabs((double)point[n - 1][a] - point[0][a]), travel = 0;
        if (!(extent >= r->extent[a][0] && extent <= r->extent[a][1])) return false;
        if (r->travel[a][0] <= 0 && isinf(r->travel[a][1])) continue;
        for (size_t p = 1; p < n; p++) travel += fabs((double)point[p][a] - point[p - 1][a]);
        if (!(travel >= r->travel[a][0] && travel <= r->travel[a][1])) return false;
    }
    return true;
}

/* Whether a streamline has points on both sides of the plane at this x, world mm. */
static bool crosses(const float (*point)[3], size_t n, double x)
{
    bool low = false, high = false;
    for (size_t p = 0; p < n; p++) {
        low |= point[p][0] < x;
        high |= point[p][0] > x;
    }
    return low && high;
}

/* The world axis along which b lies farthest from a: 1, 2, 3 for x, y, z; the first of equal ones. */
static int largest_axis(const float *a, const float *b)
{
    int axis = 0;
    for (int r = 1; r < 3; r++)
        if (fabs((double)b[r] - a[r]) > fabs((double)b[axis] - a[axis])) axis = r;
    return axis + 1;
}

/* Whether the way between the ends, and more than half of the steps in the middle 60 % of the line, go farther along
 * `axis` than along the other axes. */
static bool runs_along(const float (*point)[3], size_t n, int axis)
{
    size_t first = (size_t)((double)(n - 1) * 0.2), last = (size_t)((double)(n - 1) * 0.8), along = 0;
    if (n < 2 || largest_axis(point[0], point[n - 1]) != axis) return false;
    if (last <= first) last = first + 1;
    for (size_t p = first; p < last; p++) along += largest_axis(point[p], point[p + 1]) == axis;
    return 2 * along > last - first;
}

/* Whether the streamline fits the start and the end of the rule and, if the rule is ordered, the order of its include
 * regions. backwards: the streamline is read from its last point to its first. Sets *at_ends to true if start and end
 * fit; otherwise leaves it. */
static bool fits(const gls_bundle_rules *rules, const gls_bundle_rule *r, const gls_roi_hits *hits,
                 const float (*point)[3], size_t n, bool backwards, bool *at_ends)
{
    const float *first = point[backwards ? n - 1 : 0], *last = point[backwards ? 0 : n - 1];
    bool held = (r->end[0] == GLS_RULE_NONE || gls_rois_has(rules->rois, r->end[0], first)) &&
                (r->end[1] == GLS_RULE_NONE || gls_rois_has(rules->rois, r->end[1], last));
    *at_ends |= held;
    return held && (!r->ordered || gls_rois_ordered(rules->rois, hits, r->include, r->n_include, backwards));
}

gls_bundle_test gls_bundle_judge(const gls_bundle_rules *rules, size_t bundle, const gls_roi_hits *hits,
                                 const float (*point)[3], size_t n, double length, gls_bundle_direction *direction)
{
    const gls_bundle_rule *r = &rules->rule[bundle];
    double span = 0;
    for (int a = 0; a < 3; a++) span += pow((double)point[n - 1][a] - point[0][a], 2);
    span = sqrt(span);
    if (!(length >= r->min_length - LENGTH_SLACK && length <= r->max_length + LENGTH_SLACK)) return GLS_BUNDLE_LENGTH;
    if (!(span >= r->min_span - LENGTH_SLACK && span <= r->max_span + LENGTH_SLACK)) return GLS_BUNDLE_SPAN;
    if (!extends(r, point, n)) return GLS_BUNDLE_SPAN;
    if (r->crosses && crosses(point, n, r->midline) != (r->crosses > 0)) return GLS_BUNDLE_MIDLINE;
    /* ends and the order of regions: read from the first point to the last, then from the last to the first */
    bool at_ends = false, along = fits(rules, r, hits, point, n, false, &at_ends),
         against = fits(rules, r, hits, point, n, true, &at_ends);
    if (!at_ends) return GLS_BUNDLE_ENDS;
    for (size_t k = 0; k < r->n_include; k++)
        if (!hits->met[r->include[k]]) return GLS_BUNDLE_INCLUDE;
    bool meets_any = r->n_include_any == 0;
    for (size_t k = 0; k < r->n_include_any; k++) meets_any |= hits->met[r->include_any[k]];
    if (!meets_any) return GLS_BUNDLE_INCLUDE;
    if (!along && !against) return GLS_BUNDLE_INCLUDE; /* all regions are met, but in another order */
    for (size_t k = 0; k < r->n_exclude; k++)
        if (hits->met[r->exclude[k]]) return GLS_BUNDLE_EXCLUDE;
    if (r->all != GLS_RULE_NONE && gls_rois_share(rules->rois, hits, r->all) < r->all_fraction - 1e-9)
        return GLS_BUNDLE_ALL;
    if (r->axis && !runs_along(point, n, r->axis)) return GLS_BUNDLE_AXIS;
    if (isfinite(r->max_winding) && gls_line_winding(point, n) > r->max_winding) return GLS_BUNDLE_WINDING;
    if (isfinite(r->max_sweep) && !(gls_line_sweep(point, n) < r->max_sweep)) return GLS_BUNDLE_WINDING;
    /* If the streamline fits in both directions, the include regions decide: it runs ALONG if it first meets the rule's
     * first include region before the last one, AGAINST if after it. The direction is UNKNOWN if it meets both at the
     * same position, or if there are fewer than two include regions. */
    *direction = along != against ? (along ? GLS_BUNDLE_ALONG : GLS_BUNDLE_AGAINST) : GLS_BUNDLE_UNKNOWN;
    if (*direction == GLS_BUNDLE_UNKNOWN && r->n_include >= 2) {
        double a = gls_rois_first(rules->rois, hits, r->include[0]),
               b = gls_rois_first(rules->rois, hits, r->include[r->n_include - 1]);
        if (a != b) *direction = a < b ? GLS_BUNDLE_ALONG : GLS_BUNDLE_AGAINST;
    }
    return GLS_BUNDLE_TESTS;
}
