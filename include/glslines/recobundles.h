/* RecoBundles (Garyfallidis et al. 2018): the clusters of a tractogram that lie near those of a model are moved to it,
 * and those that are then near enough are its bundle, each as a whole. Since 0.2.0. */
#ifndef GLSLINES_RECOBUNDLES_H
#define GLSLINES_RECOBUNDLES_H

#include <glslines/clusters.h>
#include <glslines/slr.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gls_recobundles_options {
    size_t size;       /* size of this struct, set by the default function */
    double min_length; /* streamlines of the tractogram are longer than this, mm; default 50 */
    double max_length; /* and shorter than this; default 1e6 */
    double cluster;    /* last threshold of the clusters of the tractogram, mm, below 20; default 15 */
    uint64_t seed;     /* of its random order; default 0 */
    const gls_draws
        *draws; /* of all random choices, in place of seeds; borrowed while the object lives. Default NULL */
} gls_recobundles_options;
GLS_API gls_recobundles_options gls_recobundles_options_default(void);

/* How the bundle of one model is found. Distances are MDF of 20 points, mm. */
typedef struct gls_recobundles_model {
    size_t size;                /* size of this struct, set by the default function */
    double model_cluster;       /* last threshold of the clusters of the model, below 20; default 2.5 */
    double reduction;           /* clusters are in the neighbourhood within this distance; default 15 */
    double pruning;             /* clusters are in the bundle within this distance of the model; default 8 */
    double pruning_cluster;     /* last threshold of the clusters that are tested so, below 10; default 5 */
    bool stays;                 /* default false: the neighbourhood is moved to the model by a registration */
    const gls_slr_options *slr; /* the registration; NULL, the default: a similarity of gls_recobundles_slr() */
    uint32_t select_model;      /* streamlines of the model that are registered at most; default 400 */
    uint32_t select_near;       /* the same of the neighbourhood; default 600 */
    uint64_t seed;              /* of the random choices for this model; default 0 */
} gls_recobundles_model;
GLS_API gls_recobundles_model gls_recobundles_model_default(void);
/* A registration within the bounds of RecoBundles: 30 mm, 45 degrees, scales 0.8 to 1.2, shears 10. */
GLS_API gls_slr_options gls_recobundles_slr(gls_slr_type type);

/* The outcome of one model. */
typedef struct gls_recobundles_result {
    uint64_t centroids;    /* of the model */
    uint64_t neighbours;   /* streamlines in its neighbourhood */
    bool registered;       /* whether slr is known */
    gls_slr_result slr;    /* from the tractogram to the model */
    double coverage;       /* share of the centroids that have a streamline of the bundle within 4 mm */
    uint64_t n;            /* streamlines of the bundle */
    const uint64_t *line;  /* their numbers in the tractogram, cluster by cluster; valid until the next model */
    const float *distance; /* of each from the nearest centroid of the model, mm, after the registration */
} gls_recobundles_result;

typedef struct gls_recobundles gls_recobundles;

/* Begins without streamlines. GLS_ERR_ARGUMENT names the option that is out of range. */
GLS_API gls_status gls_recobundles_create(const gls_recobundles_options *options, gls_recobundles **recobundles);
/* Frees `recobundles`, which may be NULL. */
GLS_API void gls_recobundles_destroy(gls_recobundles *recobundles);
/* A sink that receives the streamlines of the tractogram; it stays with the caller. Memory: about 500 bytes for each.
 */
GLS_API gls_sink gls_recobundles_sink(gls_recobundles *recobundles);
/* Clusters the tractogram. Call it, or the next one, after the last streamline, before the functions below. */
GLS_API gls_status gls_recobundles_complete(gls_recobundles *recobundles);
/* Takes n clusters of the caller instead: centroids of 20 points, and members as gls_clusters_list() lists them, by
 * their numbers among the streamlines of the right length. GLS_ERR_ARGUMENT: there is no such streamline. */
GLS_API gls_status gls_recobundles_take_clusters(gls_recobundles *recobundles, size_t n, const float (*centroid)[3],
                                                 const uint64_t *first, const uint64_t *line);
/* The clusters of gls_recobundles_complete(); borrowed. Their streamlines are counted without those of other lengths:
 * gls_recobundles_line() gives the number of one in the tractogram. */
GLS_API const gls_clusters *gls_recobundles_clusters(const gls_recobundles *recobundles);
GLS_API uint64_t gls_recobundles_line(const gls_recobundles *recobundles, uint64_t k);
/* Finds the bundle of a model. around: streamlines whose clusters have the neighbourhood around them, in the space of
 * the tractogram; NULL: those of the model. The result does not depend on the number of threads. */
GLS_API gls_status gls_recobundles_recognize(gls_recobundles *recobundles, const gls_recobundles_model *options,
                                             const gls_streamlines *model, const gls_streamlines *around,
                                             gls_recobundles_result *result);

#ifdef __cplusplus
}
#endif
#endif
