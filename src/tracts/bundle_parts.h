/* Bundles: rules, members, and the text of rules in tables. */
#ifndef GLS_TRACTS_BUNDLE_PARTS_H
#define GLS_TRACTS_BUNDLE_PARTS_H

#include <glslines/bundles.h>

#include "tracts/rois.h"

/* --- Bundles by rules: a table with a row for each, and the judgement of single streamlines. */

#define GLS_RULE_NONE SIZE_MAX

/* One row. Regions are numbers of a gls_rois. */
typedef struct gls_bundle_rule {
    char *name;
    size_t *include, *exclude, n_include, n_exclude;
    size_t end[2]; /* of the first and of the last point; GLS_RULE_NONE: any */
    size_t all;
    double all_fraction, min_length, max_length, min_span, max_span, max_winding;
    double max_sweep;                  /* degrees around its mean point: scilpy's angle */
    double extent[3][2], travel[3][2]; /* mm along the axes of the world: from end to end, and on the way; from, to */
    int crosses;                       /* world x = midline: 1 has to, -1 must not, 0 may */
    double midline;
    int axis; /* 1, 2, 3: the main direction; 0: any */
    bool ordered, clean;
    char *truth; /* text of a mask or file; NULL: none */
} gls_bundle_rule;

typedef struct gls_bundle_rules {
    size_t n;
    gls_bundle_rule *rule;
    gls_rois *rois;
    bool is_json; /* they come from scilpy's JSON */
    char **file;  /* regions and truths as texts: the files that the rules name */
    size_t n_files;
} gls_bundle_rules;

/* From a table or a JSON file. folder: of the files that it names; NULL: they are named as they are. grid: on which
 * tractograms are made regions; NULL: their own. chooses: gls_bundle_choose() will be called. */
gls_status gls_bundle_rules_read(const char *path, const char *folder, const gls_grid *grid, bool chooses,
                                 gls_bundle_rules *rules);
/* n bundles of these names without any test. */
gls_status gls_bundle_rules_whole(const char *const *names, size_t n, gls_bundle_rules *rules);
void gls_bundle_rules_finish(gls_bundle_rules *rules);

/* How a streamline lies in a bundle. */
typedef enum gls_bundle_direction {
    GLS_BUNDLE_ALONG,   /* it begins at the start */
    GLS_BUNDLE_AGAINST, /* it begins at the end */
    GLS_BUNDLE_UNKNOWN  /* the rule does not say */
} gls_bundle_direction;

/* The first test that failed, or GLS_BUNDLE_TESTS. hits: of all regions, by gls_rois_find(). n >= 1. */
gls_bundle_test gls_bundle_judge(const gls_bundle_rules *rules, size_t bundle, const gls_roi_hits *hits,
                                 const float (*point)[3], size_t n, double length, gls_bundle_direction *direction);

/* Which of the bundles that it passed (verdict GLS_BUNDLE_TESTS, direction as judged; a value for each bundle) gets a
 * streamline that may be in one only. The nearest: the one with the smallest sum of distances from its include, start
 * and end regions as they are drawn, without tolerance, which is 0 where all are met; of equal ones the one with the
 * smallest mean distance from the centres of these regions; of equal ones the first. Bundles without such regions come
 * last. rules->n: it passed none. */
size_t gls_bundle_choose(const gls_bundle_rules *rules, const uint8_t *verdict, const uint8_t *direction,
                         const float (*point)[3], size_t n);

/* --- Inside of <glslines/bundles.h>. */

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
    size_t verdict_capacity; /* verdicts: a row of bundles for each streamline of a parcel */
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

/* --- A bundle's rule as text, cell by cell: what tables and JSON files of rules have in common. */

/* Columns of a table, in the order in which messages name them. */
#define GLS_BUNDLE_CELLS(CELL)                   \
    CELL(BUNDLE, "bundle")                       \
    CELL(INCLUDE, "include")                     \
    CELL(EXCLUDE, "exclude")                     \
    CELL(START, "start")                         \
    CELL(END, "end")                             \
    CELL(ENDS, "ends")                           \
    CELL(ALL, "all")                             \
    CELL(ALL_FRACTION, "all_fraction")           \
    CELL(MIN_LENGTH, "min_length")               \
    CELL(MAX_LENGTH, "max_length")               \
    CELL(MIN_SPAN, "min_span")                   \
    CELL(MAX_SPAN, "max_span")                   \
    CELL(LENGTH_X, "length_x")                   \
    CELL(LENGTH_Y, "length_y")                   \
    CELL(LENGTH_Z, "length_z")                   \
    CELL(LENGTH_X_ABS, "length_x_abs")           \
    CELL(LENGTH_Y_ABS, "length_y_abs")           \
    CELL(LENGTH_Z_ABS, "length_z_abs")           \
    CELL(MAX_WINDING, "max_winding")             \
    CELL(ANGLE, "angle")                         \
    CELL(CROSS_MIDLINE, "cross_midline")         \
    CELL(MIDLINE, "midline")                     \
    CELL(PRIMARY_AXIS, "primary_axis")           \
    CELL(INCLUDE_TOLERANCE, "include_tolerance") \
    CELL(EXCLUDE_TOLERANCE, "exclude_tolerance") \
    CELL(END_TOLERANCE, "end_tolerance")         \
    CELL(ORDERED, "ordered")                     \
    CELL(CLEAN, "clean")                         \
    CELL(TRUTH, "truth")

#define GLS_CELL_ENUM(cell, name) GLS_CELL_##cell,
typedef enum gls_bundle_cell { GLS_BUNDLE_CELLS(GLS_CELL_ENUM) GLS_CELLS } gls_bundle_cell;
#undef GLS_CELL_ENUM

/* A row on its way into the rules. */
typedef struct gls_bundle_row {
    const char *path, *where; /* of messages: the file, and "line 3" or "bundle NAME" */
    const char *folder;       /* of the files that it names; NULL: none */
    const gls_grid *grid;     /* on which tractograms are made regions; NULL: their own */
    char *cell[GLS_CELLS];    /* NULL: empty */
} gls_bundle_row;

/* Adds a bundle; cells may be changed. NULL: one without any test. */
gls_status gls_bundle_rules_add(gls_bundle_rules *rules, const gls_bundle_row *row);

#endif
