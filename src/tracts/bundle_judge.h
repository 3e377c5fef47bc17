/* Tests whether a streamline belongs to a bundle, cheap tests first. */
#ifndef GLS_TRACTS_BUNDLE_JUDGE_H
#define GLS_TRACTS_BUNDLE_JUDGE_H

#include <glslines/bundles.h>

#include "tracts/bundle_parts.h"
#include "tracts/rois.h"

/* Which way a streamline runs in its bundle. */
typedef enum gls_bundle_direction {
    GLS_BUNDLE_ALONG,   /* from start to end */
    GLS_BUNDLE_AGAINST, /* from end to start */
    GLS_BUNDLE_UNKNOWN  /* the rule does not say which way */
} gls_bundle_direction;

/* Returns the first test that failed, or GLS_BUNDLE_TESTS if all were passed; only then is *direction set. hits: from
 * gls_rois_find(). n >= 1 points; length: mm. */
gls_bundle_test gls_bundle_judge(const gls_bundle_rules *rules, size_t bundle, const gls_roi_hits *hits,
                                 const float (*point)[3], size_t n, double length, gls_bundle_direction *direction);

#endif
