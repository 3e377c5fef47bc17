/* Scores of a tractogram against the bundles of the phantom, with the definitions of the Tractometer (Cote et al. 2013,
 * Renauld et al. 2023). */
#ifndef GLSLINES_SCORE_H
#define GLSLINES_SCORE_H

#include <glslines/phantom.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most bundles of a phantom that can be scored. */
#define GLS_SCORE_MAX_BUNDLES 64

typedef struct gls_score_options {
    size_t size;        /* of this struct */
    int end_distance;   /* voxels along each axis, 0 .. 16: an end point within this distance of an end region counts as
                           inside;   default 1 */
    int route_distance; /* voxels along each axis, 0 .. 16: a valid streamline stays within this distance of the bundle
                           and its end regions; default 2 */
} gls_score_options;
GLS_API gls_score_options gls_score_options_default(void); /* also what NULL options mean */

typedef struct gls_score_bundle {
    const char *name;    /* the phantom's */
    uint64_t valid;      /* streamlines */
    uint64_t truth;      /* voxels of the bundle */
    uint64_t found;      /* voxels of the bundle that a valid streamline visits */
    uint64_t beyond;     /* voxels that its valid streamlines visit outside the bundle and its end regions */
    double overlap;      /* found / truth */
    double overreach;    /* beyond / (found + beyond); 0 for a bundle without valid streamlines */
    double overreach_gt; /* beyond / truth; may exceed 1 */
    double f1;           /* 2 P R / (P + R), P = 1 - overreach, R = overlap; 0 where overlap is 0 */
} gls_score_bundle;

/* Every streamline belongs to one of four classes: valid + wrong_path + invalid + no_connection = streamlines. */
typedef struct gls_score_result {
    uint64_t streamlines;
    uint64_t valid;           /* VS: joins both end regions of a bundle and stays near the bundle */
    uint64_t wrong_path;      /* WPC: joins both end regions of a bundle, but leaves it on the way */
    uint64_t invalid;         /* IC: joins two end regions that are not those of one bundle */
    uint64_t no_connection;   /* NC: the rest */
    uint64_t valid_bundles;   /* VB: bundles with a valid streamline */
    uint64_t invalid_bundles; /* IB: pairs of end regions that an invalid connection joins */
    double mean_overlap, mean_overreach, mean_overreach_gt,
        mean_f1; /* over all bundles; those without a valid streamline count as 0, in overreach too */
    size_t n_bundles;
    const gls_score_bundle *bundle; /* in the phantom's order; belongs to the score */
} gls_score_result;

typedef struct gls_score gls_score;

/* The phantom must have its ground truth and outlive the score. GLS_ERR_ARGUMENT for options out of range or a phantom
 * without bundles; GLS_ERR_UNSUPPORTED for more than GLS_SCORE_MAX_BUNDLES. */
GLS_API gls_status gls_score_create(const gls_phantom *phantom, const gls_score_options *options, gls_score **score);
/* The append of a gls_sink whose user is the gls_score. A streamline that is valid for several bundles counts for the
 * one in which most of its points lie. A voxel is visited if a segment passes through it. */
GLS_API gls_status gls_score_add(void *score, const gls_streamlines *streamlines);
/* Of the streamlines so far; result->bundle is valid until the next call for this score. */
GLS_API void gls_score_get(gls_score *score, gls_score_result *result);
/* Accepts NULL. */
GLS_API void gls_score_destroy(gls_score *score);

#ifdef __cplusplus
}
#endif
#endif
