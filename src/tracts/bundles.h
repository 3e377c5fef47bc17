/* Inside of <glslines/bundles.h>. */
#ifndef GLS_TRACTS_BUNDLES_H
#define GLS_TRACTS_BUNDLES_H

#include "tracts/bundle_rules.h"

/* A streamline that is in a bundle. */
typedef struct gls_member {
    uint64_t place; /* in the stream */
    double length, weight;
    uint32_t points;
    bool turned;
} gls_member;

typedef struct gls_bundle {
    size_t n, capacity;
    gls_member *member;
    float *node;                /* n x nodes x 3; NULL: not kept */
    bool keeps_nodes, directed; /* directed: member.turned is known for all */
    bool any_unknown;
    uint64_t failed[GLS_BUNDLE_TESTS];
} gls_bundle;

struct gls_bundles {
    gls_bundles_options options;
    gls_bundle_rules rules;
    bool by_group; /* rules are groups of the streamlines */
    gls_bundle *bundle;
    uint64_t streamlines;
    int n_threads;
    gls_roi_hits *hits;
    size_t room; /* verdicts: a row of bundles for each streamline of a parcel */
    uint8_t *verdict, *direction;
    float standard[12][3];
};

/* Whether outliers of a bundle are dropped once all streamlines are collected. */
bool gls_bundles_cleans(const gls_bundles *bundles, size_t i);
/* Texts of the regions that the rules name, each FILE or FILE:LABELS; borrowed. */
const char *const *gls_bundles_files(const gls_bundles *bundles, size_t *n);

/* Turns all the members of a bundle one way; drops outliers. */
void gls_bundle_orient(gls_bundle *bundle, uint32_t nodes);
gls_status gls_bundle_clean(gls_bundle *bundle, uint32_t nodes, const gls_clean_options *options);
const float (*gls_bundle_nodes(const gls_bundle *bundle, size_t i, uint32_t nodes))[3];

/* Eigenvalues and eigenvectors (columns) of a symmetric matrix, which is destroyed. */
void gls_symmetric_decompose(double a[3][3], double value[3], double vector[3][3]);
/* The distance of each of n points, `stride` floats apart, from their mean, in units of their spread: sqrt(d^T C^+ d)
 * with their covariance C, divisor n. triangle: with the inverse of the upper triangle of C, as DIPY. false: C is 0. */
bool gls_mahalanobis(const float *point, size_t n, size_t stride, bool triangle, double *distance);

#endif
