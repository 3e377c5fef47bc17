/* RecoBundles of streamlines that were resampled before. */
#ifndef GLS_GEOMETRY_RECOBUNDLES_H
#define GLS_GEOMETRY_RECOBUNDLES_H

#include <glslines/recobundles.h>

#include "geometry/features.h"

/* Points of a streamline. */
#define GLS_RECOBUNDLES_POINTS 20

/* The bundle of a model: n streamlines, cluster by cluster. All zero: none. */
typedef struct gls_recobundle {
    uint64_t n;
    uint64_t *place; /* their numbers among the features */
    uint64_t *line;  /* and in the tractogram */
    float *distance; /* as in gls_recobundles_result */
} gls_recobundle;

void gls_recobundle_finish(gls_recobundle *bundle);
/* The streamlines of the tractogram that have the length. */
const gls_features *gls_recobundles_features(const gls_recobundles *recobundles);
/* Does the work of gls_recobundles_recognize(). Several threads may call it at once. model and around have
 * GLS_RECOBUNDLES_POINTS points a streamline.
 * Finish the bundle, whose former contents are freed, also after a failure. */
gls_status gls_recobundles_find(const gls_recobundles *recobundles, const gls_recobundles_model *options,
                                const gls_features *model, const gls_features *around, gls_recobundle *bundle,
                                gls_recobundles_result *result);
/* Once more, with the neighbourhood around the bundle that was found. */
gls_status gls_recobundles_refine(const gls_recobundles *recobundles, const gls_recobundles_model *options,
                                  const gls_features *model, gls_recobundle *bundle, gls_recobundles_result *result);

#endif
