/* Recognition of bundles: streamlines that lie near those of model bundles, which are moved to them first (BundleSeg,
 * St-Onge et al. 2023), or RecoBundles; and votes of several atlases. Since 0.2.0. */
#ifndef GLSLINES_RECOGNITION_H
#define GLSLINES_RECOGNITION_H

#include <glslines/bundles.h>
#include <glslines/slr.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How bundles are found. */
typedef enum gls_recognition_method {
    GLS_RECOGNITION_SEARCH,     /* streamlines near those of a model that was moved to them */
    GLS_RECOGNITION_RECOBUNDLES /* clusters near a model to which they were moved, each as a whole */
} gls_recognition_method;

typedef struct gls_recognition_options {
    size_t size;                   /* size of this struct, set by the default function */
    gls_recognition_method method; /* default GLS_RECOGNITION_SEARCH */
    /* thresholds, mm; 0, the default: of the method, a search or RecoBundles */
    double cluster;       /* last one of the clusters of the tractogram: 5, below 25; 15, below 20 */
    double model_cluster; /* the same of a model: 4, below 15; 2.5, below 20 */
    double reduction;     /* clusters are in the neighbourhood of a model within this distance: 16; 15 */
    double min_length;    /* RecoBundles: streamlines of the tractogram are longer, mm; default 50 */
    bool refine;          /* RecoBundles: once more around what was found, by an affine transform; default false */
    double vote_ratio;    /* share of the atlases that must recognise a streamline, above 0, at most 1; default 0.5 */
    bool local;           /* default true: register each model and its neighbourhood */
    bool unique;          /* each streamline is in the nearest bundle only; default false */
    uint64_t seed;        /* seed of random orders and choices; default 0 */
} gls_recognition_options;
GLS_API gls_recognition_options gls_recognition_options_default(void);

/* Bundle of a streamline that is in none. */
#define GLS_BUNDLE_NONE UINT16_MAX

typedef struct gls_recognition gls_recognition;

/* The outcome of one model. */
typedef struct gls_model_info {
    const char *bundle, *atlas;
    size_t index;               /* number of the bundle */
    double threshold;           /* mm */
    uint64_t streamlines;       /* number of streamlines of the model */
    uint64_t centroids;         /* number of clusters of the model */
    uint64_t neighbours;        /* streamlines of the tractogram in its neighbourhood */
    bool is_far;                /* nothing lies in its neighbourhood; never where `local` is false */
    bool registered;            /* whether the members below are known */
    gls_slr_result slr;         /* registration of the neighbourhood to the model. before, after, mm^2: of a search the
                                   square of the mean distance of the model's centroids from the nearest ones of the
                                   neighbourhood, of RecoBundles the bundle minimum distance */
    double shift, angle, scale; /* what the matrix does: mm by which it moves the mean of the model, degrees, factor */
    uint64_t votes;             /* streamlines of the tractogram that it recognises */
    double coverage;            /* share of its centroids that have a streamline of the bundle within 4 mm */
} gls_model_info;

/* A recognised bundle. */
typedef struct gls_recognized {
    const char *name;
    double threshold; /* the largest one of its models, mm */
    uint64_t models;  /* atlases that have it with streamlines */
    uint64_t count;   /* its streamlines */
    double distance;  /* median distance of its streamlines from models, mm; NaN: none */
    double coverage;  /* mean over its models */
} gls_recognized;

/* Begins without models. GLS_ERR_ARGUMENT names the option that is out of range. */
GLS_API gls_status gls_recognition_create(const gls_recognition_options *options, gls_recognition **recognition);
/* Frees `recognition`, which may be NULL. */
GLS_API void gls_recognition_destroy(gls_recognition *recognition);
/* Adds a model: the bundle of this name in an atlas; a streamline, of
 * RecoBundles a cluster, is near it within `threshold` mm. *model: a sink that
 * receives the streamlines, in the space of the tractogram; valid until the next model. All models before
 * gls_recognition_sink(). GLS_ERR_ARGUMENT: the atlas has the bundle already; the threshold is not above 0. */
GLS_API gls_status gls_recognition_add(gls_recognition *recognition, const char *atlas, const char *bundle,
                                       double threshold, gls_sink *model);
/* A sink that receives the streamlines of the tractogram; it stays with the caller. Memory: about 320 bytes for each,
 * 500 with RecoBundles. */
GLS_API gls_sink gls_recognition_sink(gls_recognition *recognition);
/* Recognises the bundles. Call it after the last streamline, before the functions below. The result does not depend on
 * the number of threads. */
GLS_API gls_status gls_recognition_complete(gls_recognition *recognition);

/* Numbers of bundles, in the order in which they were first named, of models, and of streamlines. */
GLS_API size_t gls_recognition_bundles(const gls_recognition *recognition);
GLS_API size_t gls_recognition_models(const gls_recognition *recognition);
GLS_API uint64_t gls_recognition_streamlines(const gls_recognition *recognition);
/* Number of streamlines in any bundle, and in more than one. */
GLS_API uint64_t gls_recognition_found(const gls_recognition *recognition);
GLS_API uint64_t gls_recognition_shared(const gls_recognition *recognition);
/* Returns the distance between the mean of all models, as they were added, and the mean of the tractogram, mm. */
GLS_API double gls_recognition_gap(const gls_recognition *recognition);
/* Return bundle k, and model k; borrowed. */
GLS_API gls_recognized gls_recognition_bundle(const gls_recognition *recognition, size_t k);
GLS_API gls_model_info gls_recognition_model(const gls_recognition *recognition, size_t k);

/* Names of the columns that the filter adds: number of the nearest bundle (uint16, GLS_BUNDLE_NONE), mean distance from
 * its models (float32, mm), number of its models that are near (uint16), and how much farther the second nearest bundle
 * is, as a share of the threshold (float32; 1: there is none). */
#define GLS_DPS_BUNDLE "bundle"
#define GLS_DPS_BUNDLE_DISTANCE "bundle_distance"
#define GLS_DPS_BUNDLE_VOTES "bundle_votes"
#define GLS_DPS_BUNDLE_MARGIN "bundle_margin"
/* Name of the group of streamlines in no bundle. */
#define GLS_GROUP_UNRECOGNIZED "unrecognized"
/* Makes a filter for a second pass over the same streamlines, which adds the columns above, a group for each bundle
 * that has streamlines, and GLS_GROUP_UNRECOGNIZED; with GLS_BUNDLES_REST_DROPPED streamlines in no bundle are left
 * out. The recognition must outlive the filter, which owns `next`. */
GLS_API gls_status gls_recognition_filter(const gls_recognition *recognition, gls_bundles_rest rest,
                                          const gls_sink *next, gls_sink *filter);

#ifdef __cplusplus
}
#endif
#endif
