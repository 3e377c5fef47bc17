/* Which one of several bundles a streamline belongs to, where it may belong to one only: the nearest. */
#include <math.h>

#include "tracts/bundle_rules.h"

/* Distances that differ by less are equal: 1e-4 mm. */
#define STEPS_OF_MM 1e4

/* How far a streamline is from what a bundle asks for, in steps. */
typedef struct nearness {
    double from_regions; /* sum over its include, start and end regions as they are drawn */
    double from_centres; /* mean over the centres of the same */
} nearness;

static nearness add(nearness sum, const gls_roi_distance *d, const float (*point)[3], size_t n)
{
    sum.from_regions += gls_roi_distance_of_line(d, point, n);
    sum.from_centres += gls_roi_distance_of_centre(d, point, n);
    return sum;
}

/* A streamline whose rule does not say which end is the start: the better way round. */
static nearness measure(const gls_bundle_rules *rules, const gls_bundle_rule *r, gls_bundle_direction direction,
                        const float (*point)[3], size_t n)
{
    nearness sum = {0, 0}, ends[2] = {{0, 0}, {0, 0}};
    size_t n_regions = r->n_include;
    for (size_t k = 0; k < r->n_include; k++) sum = add(sum, gls_rois_distance(rules->rois, r->include[k]), point, n);
    for (int e = 0; e < 2; e++) {
        if (r->end[e] == GLS_RULE_NONE) continue;
        for (int backwards = 0; backwards < 2; backwards++)
            ends[backwards] =
                add(ends[backwards], gls_rois_distance(rules->rois, r->end[e]), &point[e == backwards ? 0 : n - 1], 1);
        n_regions++;
    }
    bool is_backwards = direction == GLS_BUNDLE_AGAINST;
    if (direction == GLS_BUNDLE_UNKNOWN)
        is_backwards = ends[1].from_regions < ends[0].from_regions ||
                       (ends[1].from_regions == ends[0].from_regions && ends[1].from_centres < ends[0].from_centres);
    if (n_regions == 0) return (nearness){INFINITY, INFINITY};
    sum.from_regions = rint((sum.from_regions + ends[is_backwards].from_regions) * STEPS_OF_MM);
    sum.from_centres = rint((sum.from_centres + ends[is_backwards].from_centres) / (double)n_regions * STEPS_OF_MM);
    return sum;
}

size_t gls_bundle_choose(const gls_bundle_rules *rules, const uint8_t *verdict, const uint8_t *direction,
                         const float (*point)[3], size_t n)
{
    nearness best = {INFINITY, INFINITY};
    size_t chosen = rules->n;
    for (size_t k = 0; k < rules->n; k++) {
        if (verdict[k] != GLS_BUNDLE_TESTS) continue;
        const nearness one = measure(rules, &rules->rule[k], (gls_bundle_direction)direction[k], point, n);
        const bool is_nearer = one.from_regions < best.from_regions ||
                               (one.from_regions == best.from_regions && one.from_centres < best.from_centres);
        if (chosen < rules->n && !is_nearer) continue;
        best = one;
        chosen = k;
    }
    return chosen;
}
