/* QuickBundlesX (Garyfallidis et al. 2016): a tree of clusters with falling thresholds. The result is that of the
 * serial algorithm to the bit, whatever the number of threads. */
#ifndef GLS_GEOMETRY_QUICKBUNDLESX_H
#define GLS_GEOMETRY_QUICKBUNDLESX_H

#include "geometry/quickbundles.h"

/* Largest number of thresholds. */
#define GLS_MAX_LEVELS 16

typedef struct gls_quickbundlesx gls_quickbundlesx;

/* Begins with a tree without clusters. threshold: n of them, mm. points: as those of all streamlines. */
gls_status gls_quickbundlesx_create(size_t points, const double *threshold, size_t n, gls_quickbundlesx **tree);
/* Frees `tree`, which may be NULL. */
void gls_quickbundlesx_destroy(gls_quickbundlesx *tree);
/* Adds streamlines of features in the order of their numbers in line[0 .. n - 1]; line NULL: the first n. */
gls_status gls_quickbundlesx_add(gls_quickbundlesx *tree, const gls_features *features, const uint64_t *line, size_t n);
/* Copies the clusters of a level, from 0 on, in depth-first order. cluster: gets the number of the cluster of each
 * streamline in the order of adding. Call gls_centroids_finish(). */
gls_status gls_quickbundlesx_level(const gls_quickbundlesx *tree, size_t level, gls_centroids *centroids,
                                   uint32_t *cluster);

#endif
