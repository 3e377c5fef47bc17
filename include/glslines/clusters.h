/* Clusters of streamlines: QuickBundles (Garyfallidis et al. 2012), QuickBundlesX (Garyfallidis et al. 2016), and
 * QuickBundlesX whose clusters are merged. Streamlines and orders that are the same give the clusters of DIPY 1.12 to
 * the bit, whatever the number of threads. Since 0.2.0. */
#ifndef GLSLINES_CLUSTERS_H
#define GLSLINES_CLUSTERS_H

#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Number of the cluster of a streamline that is in none. */
#define GLS_CLUSTER_NONE UINT32_MAX
/* Largest number of thresholds, and of points of a streamline. */
#define GLS_CLUSTER_MAX_LEVELS 16
#define GLS_CLUSTER_MAX_POINTS 256

typedef enum gls_cluster_method {
    GLS_CLUSTER_QUICKBUNDLES,  /* one threshold: a streamline joins the nearest cluster within it, or founds one */
    GLS_CLUSTER_QUICKBUNDLESX, /* a tree: the clusters of each threshold are divided at the next one */
    GLS_CLUSTER_MERGED         /* the centroids of the last threshold of the tree are clustered once more */
} gls_cluster_method;

/* The order in which streamlines are taken, on which clusters depend. */
typedef enum gls_cluster_order {
    GLS_CLUSTER_ORDER_FILE,   /* as they come */
    GLS_CLUSTER_ORDER_RANDOM, /* by random keys of `seed` */
    GLS_CLUSTER_ORDER_LENGTH, /* longest first */
    GLS_CLUSTER_ORDER_LIST    /* by their numbers in `list`; streamlines that it lacks are in no cluster */
} gls_cluster_order;

/* How a reversed streamline is resampled. */
typedef enum gls_cluster_reverse {
    GLS_CLUSTER_REVERSE_RESAMPLED, /* from its other end, as ResampleFeature of DIPY; last bits may differ */
    GLS_CLUSTER_REVERSE_COPIED     /* its resampled points in reverse order, as qbx_and_merge() of DIPY */
} gls_cluster_reverse;

/* A source of random numbers. */
typedef struct gls_draws {
    /* Sets out[0 .. k - 1] to k of the numbers 0 to n - 1, none of them twice, in random order. */
    void (*draw)(void *user, uint64_t n, uint64_t k, uint64_t *out);
    void *user;
} gls_draws;

typedef struct gls_cluster_options {
    size_t size;                 /* size of this struct, set by the default function */
    gls_cluster_method method;   /* default GLS_CLUSTER_QUICKBUNDLES */
    const double *threshold;     /* mm, above 0, falling; borrowed during the call. Default NULL: 10 mm */
    size_t n_thresholds;         /* default 0; GLS_CLUSTER_QUICKBUNDLES: 1 */
    uint32_t points;             /* points to which streamlines are resampled, 2 to GLS_CLUSTER_MAX_POINTS; 0: they keep
                                    their points, of which all have as many. Default 12 */
    gls_cluster_reverse reverse; /* default GLS_CLUSTER_REVERSE_RESAMPLED */
    uint32_t max_clusters;       /* GLS_CLUSTER_QUICKBUNDLES: once there are so many, streamlines join the nearest one,
                                    however       far; default UINT32_MAX - 1 */
    gls_cluster_order order;     /* default GLS_CLUSTER_ORDER_FILE */
    uint64_t seed;               /* of GLS_CLUSTER_ORDER_RANDOM; default 0 */
    uint64_t most;               /* GLS_CLUSTER_ORDER_RANDOM takes at most so many streamlines; default 0: all */
    const gls_draws *draws;      /* of GLS_CLUSTER_ORDER_RANDOM in place of `seed`: once for the streamlines, and with
                                    GLS_CLUSTER_MERGED once for the clusters that are merged, as qbx_and_merge() of DIPY;
                                    borrowed until gls_clusters_complete(). Default NULL */
    const uint64_t *list;        /* of GLS_CLUSTER_ORDER_LIST, n_list different numbers; borrowed until
                                    gls_clusters_complete(). Default NULL */
    size_t n_list;
    uint32_t block; /* streamlines that are prepared at a time; affects only the time. Default 0: chosen */
} gls_cluster_options;
GLS_API gls_cluster_options gls_cluster_options_default(void);

typedef struct gls_clusters gls_clusters;

/* Begins without streamlines. GLS_ERR_ARGUMENT names the option that is out of range. */
GLS_API gls_status gls_clusters_create(const gls_cluster_options *options, gls_clusters **clusters);
/* Frees `clusters`, which may be NULL. */
GLS_API void gls_clusters_destroy(gls_clusters *clusters);
/* A sink that receives the streamlines; the clusters stay with the caller. QuickBundles in the order
 * GLS_CLUSTER_ORDER_FILE decides at once and keeps 4 bytes for each streamline; else the points of all are kept, 12
 * bytes each. GLS_ERR_INPUT: a point is not finite. A streamline without length is in no cluster. */
GLS_API gls_sink gls_clusters_sink(gls_clusters *clusters);
/* Assigns the streamlines that are left. Call it after the last streamline, before the functions below.
 * GLS_ERR_ARGUMENT: the list has a number twice, or one that no streamline has. */
GLS_API gls_status gls_clusters_complete(gls_clusters *clusters);

/* Number of clusters. They are numbered from 0 in the order in which they were founded; those of a tree in depth-first
 * order. */
GLS_API size_t gls_clusters_count(const gls_clusters *clusters);
/* Number of points of a centroid. */
GLS_API size_t gls_clusters_points(const gls_clusters *clusters);
/* Number of streamlines, and number of those without length. */
GLS_API uint64_t gls_clusters_streamlines(const gls_clusters *clusters);
GLS_API uint64_t gls_clusters_void(const gls_clusters *clusters);
/* Number of members of cluster k; of a merged cluster, of all its members. */
GLS_API uint64_t gls_clusters_size(const gls_clusters *clusters, size_t k);
/* Copies the centroid of cluster k, world mm; out: memory for gls_clusters_points() points. */
GLS_API void gls_clusters_centroid(const gls_clusters *clusters, size_t k, float (*out)[3]);
/* Hands all centroids to a sink, which stays with the caller, with the columns size (uint32) and, once a filter has
 * measured distances, mean_distance and max_distance (float32, mm). */
GLS_API gls_status gls_clusters_append_centroids(const gls_clusters *clusters, const gls_sink *sink);
/* Number of the cluster of each streamline, gls_clusters_streamlines() elements; GLS_CLUSTER_NONE: in none. Valid until
 * the next call that changes the clusters. */
GLS_API const uint32_t *gls_clusters_members(const gls_clusters *clusters);
/* Lists the members of all clusters: those of cluster k are line[first[k]] to line[first[k + 1] - 1], in the order in
 * which they came; those of merged clusters cluster by cluster, as DIPY lists them. first: memory for
 * gls_clusters_count() + 1 elements, line: for gls_clusters_streamlines(). */
GLS_API gls_status gls_clusters_list(const gls_clusters *clusters, uint64_t *first, uint64_t *line);
/* GLS_CLUSTER_QUICKBUNDLESX: replaces the clusters by those of another threshold, from 0 on. */
GLS_API gls_status gls_clusters_set_level(gls_clusters *clusters, size_t level);

/* A sink for a second pass over the same streamlines: each goes to the nearest centroid, if its distance is below
 * `radius` mm, else to none. Then call gls_clusters_complete() again. */
GLS_API gls_sink gls_clusters_reassign(gls_clusters *clusters, double radius);
/* How clusters are numbered. */
typedef enum gls_cluster_numbers {
    GLS_CLUSTER_NUMBERS_FOUNDED, /* in the order in which they were founded */
    GLS_CLUSTER_NUMBERS_SIZE     /* the largest first */
} gls_cluster_numbers;
/* Dissolves clusters with fewer members than min_size, and numbers the others anew. */
GLS_API gls_status gls_clusters_reduce(gls_clusters *clusters, uint64_t min_size, gls_cluster_numbers numbers);

/* Names of the columns that gls_clusters_filter() adds: uint32 and float32. */
#define GLS_DPS_CLUSTER "cluster"
#define GLS_DPS_CLUSTER_DISTANCE "cluster_distance"
/* Makes a filter for another pass over the same streamlines, which adds the columns above: number of the cluster, and
 * MDF distance from its centroid, mm, NaN if there is none. The clusters must outlive the filter, which owns `next`. */
GLS_API gls_status gls_clusters_filter(gls_clusters *clusters, const gls_sink *next, gls_sink *filter);
/* Mean and largest distance of the members of cluster k from its centroid, mm, as the last filter has seen them; NaN
 * without members. */
GLS_API double gls_clusters_mean_distance(const gls_clusters *clusters, size_t k);
GLS_API double gls_clusters_max_distance(const gls_clusters *clusters, size_t k);

#ifdef __cplusplus
}
#endif
#endif
