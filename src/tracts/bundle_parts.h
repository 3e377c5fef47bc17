/* Bundles: the rules that define bundles, the members of bundles, and the rows of text from which rules are read. */
#ifndef GLS_TRACTS_BUNDLE_PARTS_H
#define GLS_TRACTS_BUNDLE_PARTS_H

#include <glslines/bundles.h>

#include "tracts/rois.h"

/* --- Rules: a row for each bundle, and the tests of single streamlines. */

/* Stands in place of an index of a region if the rule names no region. */
#define GLS_RULE_NONE SIZE_MAX

/* The rule of one bundle. Regions are indices of a gls_rois. */
typedef struct gls_bundle_rule {
    /* name of the bundle: letters, digits, _ and -. Owned, as all pointers here */
    char *name;
    /* all include regions must be met, one of the include_any regions, and no exclude region */
    size_t *include, *include_any, *exclude, n_include, n_include_any, n_exclude;
    size_t end[2]; /* regions of the first and of the last point; GLS_RULE_NONE: any */
    /* region in which the streamline must lie; GLS_RULE_NONE: any */
    size_t all;
    /* all_fraction: share of the line that must lie in `all`, 0 to 1; length along the line and span between the
     * ends in mm; max_winding: sum of the angles between steps, degrees */
    double all_fraction, min_length, max_length, min_span, max_span, max_winding;
    double max_sweep; /* the angle swept around the mean point must be below this, degrees (scilpy's angle) */
    double extent[3][2], travel[3][2]; /* smallest and largest value along each world axis, mm; extent: between the
                                          ends; travel: along the line */
    int crosses; /* crossing of the plane x = midline, world mm: 1: required; -1: forbidden; 0: not tested */
    double midline;
    int axis; /* main direction: 1, 2, 3 for x, y, z; 0: any */
    /* ordered: include regions are met in the order of the rule; clean: outliers of this bundle are removed */
    bool ordered, clean;
    char *truth; /* name of a mask or file with the true bundle; NULL: none */
} gls_bundle_rule;

/* The rules of all bundles, and the regions that they name. Read-only while streamlines are tested. */
typedef struct gls_bundle_rules {
    /* number of bundles; one rule each */
    size_t n;
    gls_bundle_rule *rule;
    /* all regions of all rules, each once */
    gls_rois *rois;
    bool is_json; /* true: the rules were read from scilpy's JSON */
    char **file;  /* files that the rules name, with their folder */
    size_t n_files;
} gls_bundle_rules;

/* --- The struct behind gls_bundles. */

/* A streamline of a bundle. */
typedef struct gls_member {
    uint64_t index; /* index of the streamline in the input, from 0 */
    double length, weight;
    /* number of points of the streamline */
    uint32_t points;
    /* true: the streamline runs against the bundle's direction, and its nodes are reversed */
    bool turned;
} gls_member;

/* The members of one bundle. node: each streamline resampled to the same number of nodes; failed: how many streamlines
 * each test rejected. */
typedef struct gls_bundle {
    /* numbers of members, and of members for which memory is allocated; members are in the order of the stream */
    size_t n, capacity;
    gls_member *member;
    float *node;                /* n x nodes x 3, mm; NULL: not kept */
    bool keeps_nodes, directed; /* directed: directions of members are given, so that gls_bundle_orient() is not
                                 * called */
    bool any_unknown;           /* true: there is a member whose direction is not known */
    /* streamlines that each test rejected */
    uint64_t failed[GLS_BUNDLE_TESTS];
} gls_bundle;

struct gls_bundles {
    /* a copy of the caller's options; strings and lists belong to the caller */
    gls_bundles_options options;
    /* the rules of all bundles; owned */
    gls_bundle_rules rules;
    bool by_group; /* true: bundles are the groups of the input streamlines */
    /* the bundles, one for each rule */
    gls_bundle *bundle;
    /* streamlines appended so far */
    uint64_t streamlines;
    /* number of threads that test streamlines */
    int n_threads;
    /* one for each thread */
    gls_roi_hits *hits;
    size_t verdict_capacity; /* allocated elements, streamlines x bundles, of verdict and direction */
    uint8_t *verdict, *direction;
    /* the line of options.given, resampled to GLS_ORIENT_POINTS points, mm */
    float standard[12][3];
};

/* Whether outliers of bundle i are removed once all streamlines are collected. */
static inline bool gls_bundles_cleans(const gls_bundles *b, size_t i)
{
    return b->options.clean || b->rules.rule[i].clean;
}

/* The regions and masks that the rules name, FILE or FILE:LABELS, with the folder of the files; *n of them. Owned by
 * the bundles. */
static inline const char *const *gls_bundles_files(const gls_bundles *b, size_t *n)
{
    *n = b->rules.n_files;
    return (const char *const *)b->rules.file;
}

/* --- A rule as text, cell by cell: tables and JSON files of rules both become such rows. */

/* The columns of a table, by the names that messages use. */
#define GLS_BUNDLE_CELLS(CELL)                   \
    CELL(BUNDLE, "bundle")                       \
    CELL(INCLUDE, "include")                     \
    CELL(INCLUDE_ANY, "include_any")             \
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

#endif
