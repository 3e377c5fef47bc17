/* Scores that find outliers of a bundle. */
#ifndef GLS_GEOMETRY_OUTLIERS_H
#define GLS_GEOMETRY_OUTLIERS_H

#include "geometry/features.h"

/* Points to which streamlines are resampled for these scores. */
#define GLS_OUTLIER_POINTS 12

/* Computes how deep each streamline goes in a hierarchy of clusters, 0 to 1: the mean over 29 random orders of
 * streamlines. Each cluster of more than 10 streamlines is clustered again with a threshold that is smaller by 1.2,
 * down to 0.5 mm. The score of scilpy's outlier removal, with its random numbers. Bundles of at most 10 streamlines
 * have the score 1. features: of GLS_OUTLIER_POINTS points, the reverse resampled; streamlines without length get 0.
 * side: the shortest side of the box of all points, mm; half of it is the first threshold. score: memory for
 * features->n. */
gls_status gls_outliers_depth(const gls_features *features, double side, double *score);

/* Cluster confidence index (Jordan et al. 2018): the sum of 1 / distance^power over all other streamlines nearer than
 * 5 mm. Equal streamlines count as 0.01 mm; *n_equal: number of streamlines that have an equal one. features and score:
 * as above. */
gls_status gls_outliers_confidence(const gls_features *features, double power, double *score, uint64_t *n_equal);

/* Finds streamlines that repeat an earlier one: repeats[i] is set unless streamline i is farther than `tolerance` mm
 * from all earlier ones that do not repeat any. *of, if not NULL, gets the number of the nearest of these; for others
 * their own number. features: of any number of points. */
gls_status gls_outliers_repeats(const gls_features *features, double tolerance, bool *repeats, uint32_t *of);

#endif
