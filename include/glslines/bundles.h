/* Bundles: streamlines chosen by rules, turned so that all run one way, cleaned of outliers, and the profiles of images
 * along them. */
#ifndef GLSLINES_BUNDLES_H
#define GLSLINES_BUNDLES_H

#include <glslines/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The tests of a bundle, in the order in which they are made. */
typedef enum gls_bundle_test {
    GLS_BUNDLE_LENGTH,
    GLS_BUNDLE_SPAN,
    GLS_BUNDLE_MIDLINE,
    GLS_BUNDLE_ENDS,
    GLS_BUNDLE_INCLUDE,
    GLS_BUNDLE_EXCLUDE,
    GLS_BUNDLE_ALL,
    GLS_BUNDLE_AXIS,
    GLS_BUNDLE_WINDING,
    GLS_BUNDLE_CLEAN,  /* an outlier among its streamlines */
    GLS_BUNDLE_UNIQUE, /* belongs to another bundle */
    GLS_BUNDLE_TESTS
} gls_bundle_test;
/* "length", "span" ... */
GLS_API const char *gls_bundle_test_name(gls_bundle_test test);

/* How outliers are found: pyAFQ's clean_bundle. */
typedef struct gls_clean_options {
    double distance; /* Mahalanobis distance from which on a point is too far from the core; default 4 */
    double length_z; /* standard deviations by which a streamline is too long; default 4 */
    int rounds;      /* default 5 */
    int min;         /* streamlines that always stay; bundles with fewer are not cleaned; default 20 */
    double core;     /* share of the nodes, in the middle, that are tested; default 0.6 */
    bool by_points;  /* length is the number of points, as in pyAFQ; default false: mm */
} gls_clean_options;

/* How streamlines of a bundle without start and end are turned. */
typedef enum gls_bundle_orientation {
    GLS_ORIENT_AUTO, /* along their mean, which then grows along its longest axis: to the right, front or top */
    GLS_ORIENT_NONE, /* as they are */
    GLS_ORIENT_GIVEN /* as a gls_orientation says: see <glslines/select.h> */
} gls_bundle_orientation;

typedef struct gls_bundles_options {
    size_t size;    /* of this struct */
    uint32_t nodes; /* points at equal distances along each; default 100 */
    bool unique;    /* a streamline that passes the tests of several bundles belongs to the nearest of them: the
                       smallest sum of distances, mm, from the include, start and end regions of a rule as they are
                       drawn, without tolerance (0 for those that it meets, which without tolerances are all); of equal
                       ones the smallest mean distance from the centres of these regions; of equal ones the first.
                       Bundles without such regions come last. Memory: 4 bytes for each voxel of the box round each
                       region that has a tolerance. Default false */
    bool clean;     /* clean all bundles; default false: those whose rule says so */
    gls_clean_options cleaning;
    gls_bundle_orientation orientation; /* default GLS_ORIENT_AUTO */
    const struct gls_orientation *given;
    const char *weights; /* column per streamline of one component, for GLS_PROFILE_COLUMN and gls_bundle_info; borrowed
                            until all are collected. Default NULL: 1 each */
    bool clip;           /* nodes lie between the first and the last include region of a rule, both included, of which
                            it has to have two; default false: along the whole streamline */
    bool keep_nodes;     /* for profiles; default false: only where orientation or cleaning needs them */
    const char *folder;  /* of the files that a table of rules names; borrowed during the call. Default NULL: they are
                            named as they are */
    const gls_grid *grid; /* on which tractograms that a table names are made regions; borrowed during the call. Default
                             NULL: their own */
} gls_bundles_options;
GLS_API gls_bundles_options gls_bundles_options_default(void);

typedef struct gls_bundles gls_bundles;

/* Bundles by a table of rules, see `glslines help segment`: tab-separated, a header line with names of columns, a row
 * a bundle; or by scilpy's JSON. GLS_ERR_INPUT names file, line and column, or bundle and key. */
GLS_API gls_status gls_bundles_read(const char *path, const gls_bundles_options *options, gls_bundles **bundles);
/* One bundle of all streamlines. */
GLS_API gls_status gls_bundles_whole(const char *name, const gls_bundles_options *options, gls_bundles **bundles);
/* A bundle for each of these groups of the streamlines. directed[k] (may be NULL): they all run one way already. */
GLS_API gls_status gls_bundles_groups(const char *const *names, const bool *directed, size_t n,
                                      const gls_bundles_options *options, gls_bundles **bundles);
/* Accepts NULL. */
GLS_API void gls_bundles_destroy(gls_bundles *bundles);

/* Collects streamlines; the bundles stay with the caller. Several threads judge. Memory: 24 bytes for each that is in
 * a bundle, and 12 bytes a node where nodes are kept. */
GLS_API gls_sink gls_bundles_sink(gls_bundles *bundles);
/* Turns and cleans, once all streamlines are collected and before the calls below. */
GLS_API gls_status gls_bundles_complete(gls_bundles *bundles);

typedef struct gls_bundle_info {
    const char *name;
    uint64_t count;                               /* streamlines that are in it */
    double weight;                                /* their weights' sum; without weights the count */
    uint64_t turned;                              /* of them run the other way in the tractogram */
    double mean_length, median_length, sd_length; /* mm; NaN where count is 0 */
    uint64_t failed[GLS_BUNDLE_TESTS];            /* by the first test that failed */
} gls_bundle_info;
GLS_API size_t gls_bundles_count(const gls_bundles *bundles);
GLS_API gls_bundle_info gls_bundles_get(const gls_bundles *bundles, size_t i);
GLS_API uint64_t gls_bundles_streamlines(const gls_bundles *bundles);

/* Streamlines of no bundle. */
typedef enum gls_bundles_rest { GLS_BUNDLES_REST_DROPPED, GLS_BUNDLES_REST_KEPT } gls_bundles_rest;
/* A filter for a second pass over the same streamlines: those of any bundle (with GLS_BUNDLES_REST_KEPT the others,
 * too) go on, turned as in the first bundle that holds them, with a group for each bundle. */
GLS_API gls_status gls_bundles_filter(const gls_bundles *bundles, gls_bundles_rest rest, const gls_sink *next,
                                      gls_sink *filter);

/* How streamlines weigh in a profile. */
typedef enum gls_profile_weights {
    GLS_PROFILE_MAHALANOBIS, /* by 1 / their distance from the core at the node; alike for fewer than 15. As pyAFQ */
    GLS_PROFILE_DIPY,        /* as DIPY's gaussian_weights(), which inverts the upper triangle of the covariance */
    GLS_PROFILE_MEAN,        /* alike */
    GLS_PROFILE_MEDIAN,      /* the median in place of a mean */
    GLS_PROFILE_COLUMN       /* by the column that the options name */
} gls_profile_weights;

typedef struct gls_profile_node {
    double value, sd; /* NaN without values */
    uint64_t n;       /* streamlines with a value */
} gls_profile_node;
/* The profile of one volume of an image along bundle i: out has room for as many as there are nodes. An empty bundle
 * has NaN. */
GLS_API gls_status gls_bundles_profile(const gls_bundles *bundles, size_t i, const gls_image *image, size_t volume,
                                       const gls_sample_options *sampling, gls_profile_weights weights,
                                       gls_profile_node *out);
/* The mean position of each node, world mm. */
GLS_API void gls_bundles_core(const gls_bundles *bundles, size_t i, double (*out)[3]);

#ifdef __cplusplus
}
#endif
#endif
