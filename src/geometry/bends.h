/* Clusters of a bundle that turn more sharply than the others. */
#ifndef GLS_GEOMETRY_BENDS_H
#define GLS_GEOMETRY_BENDS_H

#include <glslines/clusters.h>

/* Begins clusters at 40, 30, 20 and `last` mm, which are merged, as scilpy makes them; last: below 20, or 20. */
gls_status gls_bends_begin(double last, uint64_t seed, gls_clusters **clusters);
/* Completes the clusters, and marks the streamlines of those whose centroids have more mean curvature than all
 * centroids have on average. *sharp: new memory, an entry for each streamline. */
gls_status gls_bends_find(gls_clusters *clusters, bool **sharp);

#endif
