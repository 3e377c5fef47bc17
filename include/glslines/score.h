/* Scores of a tractogram against known bundles, of the phantom or others, with the definitions of the
 * Tractometer (Cote et al. 2013, Renauld et al. 2023). */
#ifndef GLSLINES_SCORE_H
#define GLSLINES_SCORE_H

#include <glslines/phantom.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of bundles in a truth. */
#define GLS_SCORE_MAX_BUNDLES 64

/* Value of gls_score_options.route_distance without a limit. */
#define GLS_SCORE_ANY_ROUTE (-1)

typedef struct gls_score_options {
    size_t size;        /* size of this struct, set by the default function */
    int end_distance;   /* voxels along each axis, 0 .. 16: an end point within this distance of an end region counts as
                           inside; default 1 */
    int route_distance; /* voxels along each axis, 0 .. 16: a valid streamline stays within this distance of the bundle
                           and its end regions; GLS_SCORE_ANY_ROUTE: it may go anywhere; default 2 */
    bool ends_are_beyond; /* voxels of a bundle's end regions that are not voxels of the bundle count as beyond it, as
                             in scilpy; default false: they count nowhere */
} gls_score_options;
GLS_API gls_score_options gls_score_options_default(void); /* NULL options mean these */

typedef struct gls_score_bundle {
    const char *name;    /* name of the bundle in the ground truth */
    uint64_t valid;      /* number of valid streamlines of the bundle */
    uint64_t truth;      /* voxels of the bundle; 0 where they are not known: the doubles below are then NaN */
    uint64_t found;      /* voxels of the bundle that a valid streamline visits */
    uint64_t beyond;     /* voxels that its valid streamlines visit outside the bundle and its end regions, see
                            ends_are_beyond */
    double overlap;      /* found / truth */
    double overreach;    /* beyond / (found + beyond); 0 for a bundle without valid streamlines */
    double overreach_gt; /* beyond / truth; may exceed 1 */
    double f1;           /* 2 P R / (P + R), P = 1 - overreach, R = overlap; 0 where overlap is 0 */
} gls_score_bundle;

/* Every streamline belongs to one of four classes: valid + wrong_path + invalid + no_connection = streamlines. */
typedef struct gls_score_result {
    uint64_t streamlines;
    uint64_t valid;           /* VS: streamlines that join both end regions of a bundle, stay near its mask if that is
                                 known, and pass its other rules */
    uint64_t wrong_path;      /* WPC: streamlines that join both end regions of a bundle, but leave its mask on the
                                 way or fail another of its rules */
    uint64_t invalid;         /* IC: streamlines that join two end regions of different bundles */
    uint64_t no_connection;   /* NC: all other streamlines */
    uint64_t valid_bundles;   /* VB: number of bundles with a valid streamline */
    uint64_t invalid_bundles; /* IB: number of pairs of end regions that an invalid connection joins */
    double mean_overlap, mean_overreach, mean_overreach_gt,
        mean_f1; /* means over all bundles whose voxels are known, NaN if there are none; a bundle without a valid
                    streamline counts as 0 in all of them */
    size_t n_bundles;
    const gls_score_bundle *bundle; /* in the order of the bundles of the ground truth; belongs to the score */
} gls_score_result;

typedef struct gls_score gls_score;

/* The truth against which streamlines are scored: bundles on one grid. */
typedef struct gls_score_truth {
    gls_grid grid;
    size_t n;
    const struct gls_score_truth_bundle {
        const char *name;
        const uint8_t *mask, *ends[2]; /* a byte for each voxel of the grid; mask NULL: not known, any route will do */
    } * bundle;
    /* Tests a streamline against the other rules of bundles. joined: bit b is set if the streamline joins the ends of
     * bundle b and stays near its mask. Returns the bits of `joined` for the bundles whose other rules the streamline
     * passes, too; if it passes those of no bundle, it is a wrong path. NULL: there are no other rules. Called by one
     * thread at a time. */
    uint64_t (*keep)(void *user, const float (*point)[3], size_t n, uint64_t joined);
    void *user;
} gls_score_truth;
/* Creates a score. The names of the bundles must outlive it. GLS_ERR_ARGUMENT: an option is out of range, or there is
 * no bundle; GLS_ERR_UNSUPPORTED: more than GLS_SCORE_MAX_BUNDLES. */
GLS_API gls_status gls_score_create_for(const gls_score_truth *truth, const gls_score_options *options,
                                        gls_score **score);
/* Like gls_score_create_for(), for a phantom, which must have its ground truth and outlive the score. */
GLS_API gls_status gls_score_create(const gls_phantom *phantom, const gls_score_options *options, gls_score **score);
/* Adds streamlines; may be the append function of a gls_sink whose user is the gls_score. A streamline that is valid
 * for several bundles counts for the bundle that contains most of its points. A voxel is visited if a segment passes
 * through it. */
GLS_API gls_status gls_score_add(void *score, const gls_streamlines *streamlines);
/* Scores of the streamlines added so far. result->bundle is valid until the next call for this score. */
GLS_API void gls_score_get(gls_score *score, gls_score_result *result);
/* Frees `score`, which may be NULL. */
GLS_API void gls_score_destroy(gls_score *score);

#ifdef __cplusplus
}
#endif
#endif
