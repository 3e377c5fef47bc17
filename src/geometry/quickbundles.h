/* QuickBundles (Garyfallidis et al. 2012): streamlines join the nearest cluster, or found one, in their order. The
 * result is that of the serial algorithm to the bit, whatever the number of threads and the sizes of blocks. */
#ifndef GLS_GEOMETRY_QUICKBUNDLES_H
#define GLS_GEOMETRY_QUICKBUNDLES_H

#include "geometry/sorted_cells.h"
#include "geometry/features.h"

/* Cluster of a streamline that is in none, because it has no length. */
#define GLS_NO_CLUSTER UINT32_MAX

typedef struct gls_quickbundles gls_quickbundles;

/* Clusters in the order in which they were founded. */
typedef struct gls_centroids {
    size_t n, capacity, points, pad;
    float *point;   /* n x 3 pad, expanded */
    uint32_t *size; /* numbers of members */
} gls_centroids;

/* Makes memory for one more cluster and founds it, empty, at the origin. */
gls_status gls_centroids_found(gls_centroids *centroids);
/* Frees everything. */
void gls_centroids_finish(gls_centroids *centroids);

/* Begins without clusters. threshold: mm; max: largest number of clusters; block: streamlines that are prepared at a
 * time, 0: as many as suit. points: as those of all streamlines. */
gls_status gls_quickbundles_create(size_t points, double threshold, uint32_t max, size_t block,
                                   gls_quickbundles **clusters);
/* Frees `clusters`, which may be NULL. */
void gls_quickbundles_destroy(gls_quickbundles *clusters);
/* Adds streamlines of features in the order of their numbers in line[0 .. n - 1]; line NULL: the first n. cluster: gets
 * the number of the cluster of each, n elements. */
gls_status gls_quickbundles_add(gls_quickbundles *clusters, const gls_features *features, const uint64_t *line,
                                size_t n, uint32_t *cluster);
/* Hands the clusters over to the caller, after all streamlines were added. Call gls_centroids_finish(). */
gls_centroids gls_quickbundles_take(gls_quickbundles *clusters);

#endif
