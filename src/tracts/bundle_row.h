/* A bundle's rule as text, cell by cell: what tables and JSON files of rules have in common. */
#ifndef GLS_TRACTS_BUNDLE_ROW_H
#define GLS_TRACTS_BUNDLE_ROW_H

#include "tracts/bundle_rules.h"

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
