/* Bundles by rules: a table with a row for each, and the judgement of single streamlines. */
#ifndef GLS_TRACTS_BUNDLE_RULES_H
#define GLS_TRACTS_BUNDLE_RULES_H

#include <glslines/bundles.h>

#include "tracts/rois.h"

#define GLS_RULE_NONE SIZE_MAX

/* One row. Regions are numbers of a gls_rois. */
typedef struct gls_bundle_rule {
    char *name;
    size_t *include, *exclude, n_include, n_exclude;
    size_t end[2]; /* of the first and of the last point; GLS_RULE_NONE: any */
    size_t all;
    double all_fraction, min_length, max_length, min_span, max_span, max_winding;
    double max_sweep;                  /* degrees around its mean point: scilpy's angle */
    double extent[3][2], travel[3][2]; /* mm along the axes of the world: from end to end, and on the way; from, to */
    int crosses;                       /* world x = midline: 1 has to, -1 must not, 0 may */
    double midline;
    int axis; /* 1, 2, 3: the main direction; 0: any */
    bool ordered, clean;
    char *truth; /* text of a mask or file; NULL: none */
} gls_bundle_rule;

typedef struct gls_bundle_rules {
    size_t n;
    gls_bundle_rule *rule;
    gls_rois *rois;
    bool is_json; /* they come from scilpy's JSON */
    char **file;  /* regions and truths as texts: the files that the rules name */
    size_t n_files;
} gls_bundle_rules;

/* From a table or a JSON file. folder: of the files that it names; NULL: they are named as they are. grid: on which
 * tractograms are made regions; NULL: their own. chooses: gls_bundle_choose() will be called. */
gls_status gls_bundle_rules_read(const char *path, const char *folder, const gls_grid *grid, bool chooses,
                                 gls_bundle_rules *rules);
/* n bundles of these names without any test. */
gls_status gls_bundle_rules_whole(const char *const *names, size_t n, gls_bundle_rules *rules);
void gls_bundle_rules_finish(gls_bundle_rules *rules);

/* How a streamline lies in a bundle. */
typedef enum gls_bundle_direction {
    GLS_BUNDLE_ALONG,   /* it begins at the start */
    GLS_BUNDLE_AGAINST, /* it begins at the end */
    GLS_BUNDLE_UNKNOWN  /* the rule does not say */
} gls_bundle_direction;

/* The first test that failed, or GLS_BUNDLE_TESTS. hits: of all regions, by gls_rois_find(). n >= 1. */
gls_bundle_test gls_bundle_judge(const gls_bundle_rules *rules, size_t bundle, const gls_roi_hits *hits,
                                 const float (*point)[3], size_t n, double length, gls_bundle_direction *direction);

/* Which of the bundles that it passed (verdict GLS_BUNDLE_TESTS, direction as judged; a value for each bundle) gets a
 * streamline that may be in one only. The nearest: the one with the smallest sum of distances from its include, start
 * and end regions as they are drawn, without tolerance, which is 0 where all are met; of equal ones the one with the
 * smallest mean distance from the centres of these regions; of equal ones the first. Bundles without such regions come
 * last. rules->n: it passed none. */
size_t gls_bundle_choose(const gls_bundle_rules *rules, const uint8_t *verdict, const uint8_t *direction,
                         const float (*point)[3], size_t n);

#endif
