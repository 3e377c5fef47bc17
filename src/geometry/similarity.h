/* How alike two bundles are: their voxels, and their streamlines. */
#ifndef GLS_GEOMETRY_SIMILARITY_H
#define GLS_GEOMETRY_SIMILARITY_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

/* One of two bundles. */
typedef struct gls_similar gls_similar;

/* Creates a bundle without streamlines. grid: of its voxels. seed: of the random order in which it is clustered. */
gls_status gls_similar_create(const gls_grid *grid, uint64_t seed, gls_similar **bundle);
/* Frees `bundle`, which may be NULL. */
void gls_similar_destroy(gls_similar *bundle);
/* Sets *sink to one that receives the streamlines. Finish it or abort it before the bundle is destroyed. */
gls_status gls_similar_sink(gls_similar *bundle, gls_sink *sink);
/* Completes the bundle. Call it after the last streamline. */
gls_status gls_similar_complete(gls_similar *bundle);
/* Number of its streamlines. */
uint64_t gls_similar_count(const gls_similar *bundle);
/* Whether a complete bundle has streamlines, all of which lie outside the grid. */
bool gls_similar_is_outside(const gls_similar *bundle);

/* Number of measures. */
#define GLS_SIMILARITY_VALUES 15
/* Their names: those of scilpy's pairwise comparison and of DIPY. */
extern const char *const gls_similarity_name[GLS_SIMILARITY_VALUES];
/* Measures how alike two complete bundles on the same grid are. NaN: undefined, as for a bundle without streamlines. */
gls_status gls_similarity_measure(const gls_similar *a, const gls_similar *b, double value[GLS_SIMILARITY_VALUES]);

#endif
