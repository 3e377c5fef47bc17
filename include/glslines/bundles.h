/* Bundles: streamlines selected by rules, oriented in one direction, cleaned of outliers; and profiles of images along
 * them. */
#ifndef GLSLINES_BUNDLES_H
#define GLSLINES_BUNDLES_H

#include <glslines/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The tests of a bundle, in the order in which they are made. A streamline that fails a test does not belong to the
 * bundle. */
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
    GLS_BUNDLE_CLEAN,  /* fails if the streamline is an outlier among the streamlines of the bundle */
    GLS_BUNDLE_UNIQUE, /* fails if the streamline was given to another bundle, see gls_bundles_options.unique */
    GLS_BUNDLE_TESTS
} gls_bundle_test;
/* Name of a test: "length", "span" ... */
GLS_API const char *gls_bundle_test_name(gls_bundle_test test);

/* How outliers are found; the method is clean_bundle of pyAFQ. */
typedef struct gls_clean_options {
    double distance; /* Mahalanobis distance from the core at which a point is too far away; default 4 */
    double length_z; /* how many standard deviations above the mean a length is too long; default 4 */
    int rounds;      /* largest number of rounds of cleaning; default 5 */
    int min;         /* this many streamlines always stay, and bundles with fewer are not cleaned; default 20 */
    double core;     /* share of the nodes, in the middle of the bundle, that are tested; 0: all; default 0.6 */
    bool by_points;  /* length is the number of points, as in pyAFQ; default false: length in mm */
} gls_clean_options;

/* How the streamlines of bundles are oriented. */
typedef enum gls_bundle_orientation {
    GLS_ORIENT_AUTO, /* from the start to the end region of the rule, or in the order of its include regions. If the
                        rule gives no direction: along the mean of the bundle, which runs to the right, front or top
                        along the axis on which its ends lie farthest apart */
    GLS_ORIENT_NONE, /* not changed, whatever the rule says */
    GLS_ORIENT_GIVEN /* all by gls_bundles_options.given, whatever the rule says */
} gls_bundle_orientation;

typedef struct gls_bundles_options {
    size_t size;    /* size of this struct, set by the default function */
    uint32_t nodes; /* number of points at equal distances along each streamline, >= 2; default 100 */
    bool unique;    /* a streamline that passes the tests of several bundles belongs only to the nearest of them. The
                       distance from a bundle is the sum of the distances, mm, from the include, start and end regions
                       of its rule, without tolerances; a region that the streamline meets adds 0. Of bundles at equal
                       distance, the bundle with the smallest mean distance from the centres of these regions counts,
                       then the first bundle. Bundles without such regions come last. Memory: 4 bytes for each voxel of
                       the box round each region that has a tolerance. Default false */
    bool clean;     /* clean all bundles; default false: only the bundles whose rule asks for it */
    gls_clean_options cleaning;
    gls_bundle_orientation orientation;  /* default GLS_ORIENT_AUTO */
    const struct gls_orientation *given; /* for GLS_ORIENT_GIVEN, see <glslines/select.h>; borrowed until all
                                            streamlines are collected. Default NULL */
    const char *weights; /* column of one component for each streamline, for GLS_PROFILE_COLUMN and gls_bundle_info;
                            borrowed until all streamlines are collected. Default NULL: all weights are 1 */
    bool clip;       /* nodes lie between the first and the last include region of a rule; a rule with fewer than two is
                        GLS_ERR_INPUT; default false: along the whole streamline */
    bool keep_nodes; /* keep the nodes for profiles; default false: only where orientation or cleaning needs them */
    const char *folder;   /* folder of the files that a table of rules names; borrowed during the call. Default NULL:
                             paths are used as they are */
    const gls_grid *grid; /* grid on which tractograms that a table names become regions; borrowed during the call.
                             Default NULL: each tractogram gets a grid of its own */
} gls_bundles_options;
GLS_API gls_bundles_options gls_bundles_options_default(void);

typedef struct gls_bundles gls_bundles;

/* Reads bundles from a table of rules, see `glslines help segment`: tab-separated, a header line with names of columns,
 * one row for each bundle; or from a JSON file of scilpy. GLS_ERR_INPUT names file, line and column, or bundle and
 * key. */
GLS_API gls_status gls_bundles_read(const char *path, const gls_bundles_options *options, gls_bundles **bundles);
/* Makes a bundle of all streamlines. */
GLS_API gls_status gls_bundles_whole(const char *name, const gls_bundles_options *options, gls_bundles **bundles);
/* Makes a bundle for each of n groups of the streamlines. directed[k]: true if the streamlines of group k run in one
 * direction already; directed may be NULL. A streamline outside a group fails GLS_BUNDLE_INCLUDE. */
GLS_API gls_status gls_bundles_groups(const char *const *names, const bool *directed, size_t n,
                                      const gls_bundles_options *options, gls_bundles **bundles);
/* Frees `bundles`, which may be NULL. */
GLS_API void gls_bundles_destroy(gls_bundles *bundles);

/* A sink that collects streamlines; the bundles stay with the caller. Several threads test streamlines. Memory: 32
 * bytes for each streamline in a bundle, and 12 bytes for each node that is kept. GLS_ERR_INPUT: the column of weights
 * or a group is missing. */
GLS_API gls_sink gls_bundles_sink(gls_bundles *bundles);
/* Orients and cleans the bundles. Call it once all streamlines are collected, before the functions below. */
GLS_API gls_status gls_bundles_complete(gls_bundles *bundles);

typedef struct gls_bundle_info {
    const char *name;
    uint64_t count;  /* number of streamlines in the bundle */
    double weight;   /* sum of the weights of these streamlines; `count` if there are no weights */
    uint64_t turned; /* number of these streamlines that run against the bundle's direction in the tractogram */
    double mean_length, median_length, sd_length; /* mm; NaN where count is 0 */
    uint64_t failed[GLS_BUNDLE_TESTS];            /* number of streamlines by the first test that they failed */
} gls_bundle_info;
/* Number of bundles. */
GLS_API size_t gls_bundles_count(const gls_bundles *bundles);
/* Information on bundle i, which must be below gls_bundles_count(). The name is valid as long as the bundles. */
GLS_API gls_bundle_info gls_bundles_get(const gls_bundles *bundles, size_t i);
/* Number of streamlines that the sink has received, whether in a bundle or not. */
GLS_API uint64_t gls_bundles_streamlines(const gls_bundles *bundles);

/* Whether a filter drops or keeps streamlines that are in no bundle. */
typedef enum gls_bundles_rest { GLS_BUNDLES_REST_DROPPED, GLS_BUNDLES_REST_KEPT } gls_bundles_rest;
/* Creates a filter for a second pass over the same streamlines: streamlines of any bundle go on, oriented as in the
 * first bundle that contains them, with a group for each bundle. With GLS_BUNDLES_REST_KEPT all other streamlines go
 * on, too. The bundles must outlive the filter, which owns `next`. */
GLS_API gls_status gls_bundles_filter(const gls_bundles *bundles, gls_bundles_rest rest, const gls_sink *next,
                                      gls_sink *filter);

/* How streamlines are weighted in a profile. */
typedef enum gls_profile_weights {
    GLS_PROFILE_MAHALANOBIS, /* weight: the inverse of the distance from the core at the node; all equal if there are
                                fewer than 15 streamlines; as pyAFQ */
    GLS_PROFILE_DIPY,        /* weights of DIPY's gaussian_weights(), which inverts the upper triangle of the
                                covariance */
    GLS_PROFILE_MEAN,        /* weight 1 for every point */
    GLS_PROFILE_MEDIAN,      /* median instead of mean; sd is still about the mean */
    GLS_PROFILE_COLUMN       /* weight: value of the column gls_bundles_options.weights */
} gls_profile_weights;

typedef struct gls_profile_node {
    double value, sd; /* NaN without values */
    uint64_t n;       /* number of streamlines with a value */
} gls_profile_node;
/* Computes the profile of one volume of an image along bundle i. GLS_ERR_ARGUMENT: its nodes were not kept, see
 * gls_bundles_options.keep_nodes. out: memory for as many entries as there are nodes. An empty bundle gives NaN. */
GLS_API gls_status gls_bundles_profile(const gls_bundles *bundles, size_t i, const gls_image *image, size_t volume,
                                       const gls_sample_options *sampling, gls_profile_weights weights,
                                       gls_profile_node *out);
/* Computes the mean position of each node of bundle i, world mm; NaN for an empty bundle, and where the nodes were not
 * kept, see gls_bundles_options.keep_nodes. out: memory for as many points as there are nodes. */
GLS_API void gls_bundles_core(const gls_bundles *bundles, size_t i, double (*out)[3]);

#ifdef __cplusplus
}
#endif
#endif
