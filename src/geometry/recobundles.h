/* RecoBundles of streamlines that were resampled before. */
#ifndef GLS_GEOMETRY_RECOBUNDLES_H
#define GLS_GEOMETRY_RECOBUNDLES_H

#include <glslines/recobundles.h>

#include "geometry/features.h"

/* Points of a streamline. */
#define GLS_RECOBUNDLES_POINTS 20

/* The streamlines of the tractogram that have the length. */
const gls_features *gls_recobundles_features(const gls_recobundles *recobundles);
/* As gls_recobundles_recognize(); model and around: of GLS_RECOBUNDLES_POINTS points. */
gls_status gls_recobundles_find(gls_recobundles *recobundles, const gls_recobundles_model *options,
                                const gls_features *model, const gls_features *around, gls_recobundles_result *result);
/* Once more, with the neighbourhood around the bundle that was found last. */
gls_status gls_recobundles_refine(gls_recobundles *recobundles, const gls_recobundles_model *options,
                                  const gls_features *model, gls_recobundles_result *result);

#endif
