/* The struct behind gls_recognition. */
#ifndef GLS_GEOMETRY_RECOGNITION_PARTS_H
#define GLS_GEOMETRY_RECOGNITION_PARTS_H

#include <glslines/recognition.h>

#include "geometry/features.h"
#include "geometry/recobundles.h"
#include "geometry/sorted_cells.h"

/* Points of a streamline in a search. */
#define GLS_RECOGNITION_POINTS 12

/* A streamline that is in a bundle. */
typedef struct gls_hit {
    uint32_t bundle, votes;
    double distance; /* mean over the models that vote for it, mm */
} gls_hit;

/* A model bundle of an atlas. */
typedef struct gls_model {
    gls_model_info info;
    char *atlas;
    gls_features features;  /* the streamlines of the bundle; a search moves them */
    gls_clusters *clusters; /* clusters of its streamlines; NULL as soon as the centroids are copied */
    float (*centroid)[3];   /* centroids of its clusters, GLS_RECOGNITION_POINTS each; moved, too */
    uint8_t *covered;       /* whether a centroid has a streamline near it */
} gls_model;

/* Models near one streamline, on one thread. */
typedef struct gls_worker {
    gls_hit *list;
    size_t n, capacity;
    double *nearest; /* distance of the nearest streamline of each model */
    uint64_t *votes; /* for each model the number of streamlines that it recognises */
    uint32_t *near, n_near;
    uint32_t *place; /* candidates of a search */
    float *gap;
    bool failed;
} gls_worker;

/* Where the bundles of a streamline lie. */
typedef struct gls_hits_of {
    int thread;
    size_t from, n;
} gls_hits_of;

/* A bundle, and what is known of it at the end. */
typedef struct gls_found_bundle {
    gls_recognized info;
    char *name;
    float *distance; /* distance of each of its streamlines from the models of the bundle, mm */
    size_t capacity;
} gls_found_bundle;

/* A streamline that a model of RecoBundles recognises. */
typedef struct gls_candidate {
    uint64_t line;
    uint32_t model;
    float distance;
} gls_candidate;

/* Fit of the models to the streamlines as they lie, and mirrored. */
typedef struct gls_mirror {
    int axes;             /* bit 0: mirrored along x they fit much better, bit 1: along y; 0: as they lie */
    double before, after; /* mean distance of their streamlines from the nearest cluster, mm: as they lie, and so */
} gls_mirror;

struct gls_recognition {
    gls_recognition_options options;
    uint64_t n; /* streamlines of the tractogram */
    gls_model *model;
    gls_found_bundle *bundle;
    size_t n_models, n_bundles;
    /* --- RecoBundles; NULL with a search. */
    gls_recobundles *reco;
    gls_candidate *candidate; /* by streamlines */
    size_t n_candidates, candidate_capacity;
    /* --- A search. */
    gls_features features; /* streamlines of the tractogram */
    gls_clusters *clusters;
    /* centroids of the tractogram, and streamlines of the moved models */
    float (*centroid)[3];
    size_t n_centroids;
    gls_cells cells;
    uint32_t *owner; /* the model of each set of the cells */
    uint64_t *first; /* number of the first streamline of each model among these sets */
    double widest;   /* largest threshold, mm */
    /* --- The result. */
    gls_worker *worker;
    gls_hits_of *where;
    int n_threads;
    uint64_t found, shared;
    double gap; /* distance between the means of models and tractogram, mm */
    gls_mirror mirror;
};

#endif
