/* Both ways to recognise bundles use this file: clusters of models and of tractograms, distances between their
 * centroids, and how a model is moved. */
#ifndef GLS_GEOMETRY_MODEL_CLUSTERS_H
#define GLS_GEOMETRY_MODEL_CLUSTERS_H

#include <glslines/clusters.h>
#include <glslines/recognition.h>

#include "geometry/features.h"

/* Begins merged clusters. above: n thresholds in front of the `last`, at most 4, mm. points: of a streamline; 0: they
 * keep theirs. most: streamlines that are taken; 0: all. draws: as in gls_cluster_options. */
gls_status gls_model_clusters_begin(const double *above, size_t n, double last, uint32_t points, uint64_t most,
                                    uint64_t seed, const gls_draws *draws, gls_clusters **clusters);
/* Completes clusters and copies their centroids, *n of them; clusters NULL: none. */
gls_status gls_model_clusters_take(gls_clusters *clusters, float (**centroid)[3], size_t *n);

/* Returns the MDF distance of two sets of points, mm. */
double gls_centroids_distance(const float (*a)[3], const float (*b)[3], size_t points);
/* Whether two sets of points are within a distance, mm, or at it. */
bool gls_centroids_within(const float (*a)[3], const float (*b)[3], size_t points, double distance);
/* Moves n points by a matrix. */
void gls_centroids_move(const double m[3][4], float (*point)[3], size_t n);

/* Returns a seed that differs between models and does not depend on their order. */
uint64_t gls_model_seed(uint64_t seed, const char *name);
/* Adds up the points of streamlines. */
void gls_model_add_points(const gls_features *features, double sum[3], double *n);
/* Inverts a registration from a tractogram to a model: sets map, and in `info` how it moves the model. */
void gls_model_invert(const gls_features *model, const gls_slr_result *slr, gls_model_info *info, double map[3][4]);

#endif
