/* Options of commands as files of rows, *.def. From a row come the field of the options' struct, its default, and the
 * option of the command line with its help.
 *
 * ROW(group, type, field, name, letter, metavar, unit, range, default, default_text, choices, help): as in
 * glslines/params.def. */
#ifndef GLS_WORKFLOW_ROWS_H
#define GLS_WORKFLOW_ROWS_H

#include "track/params.h"
#include <glslines/workflow.h>

/* A length as the command line has it. */
typedef struct gls_length {
    double value;
    bool mm; /* else voxels */
} gls_length;

#define GLS_ROW_FLAG bool
#define GLS_ROW_INT int
#define GLS_ROW_UINT64 uint64_t
#define GLS_ROW_DOUBLE double
#define GLS_ROW_LENGTH gls_length
#define GLS_ROW_STRING const char *
#define GLS_ROW_STRINGS gls_strings
#define GLS_ROW_NUMBERS gls_numbers
#define GLS_ROW_CHOICE int

/* Further ranges: of lists of numbers, at least least and at most most of them, whole ones only where whole; and that
 * of a row of glslines/params.def. */
#define GLS_VALUES(low, high, open, least, most, whole) (low, high, open, least, most, whole, NULL)
#define GLS_LIKE(name) (0, 0, false, 1, GLS_MAX_NUMBERS, false, name)

/* What a file of rows becomes in a struct, and in its initial value. */
#define GLS_ROW_FIELD(group, type, field, ...) GLS_ROW_##type field;
#define GLS_ROW_DEFAULT(group, type, field, name, letter, metavar, unit, range, default_, ...) .field = default_,
#define GLS_VOXELS(x) \
    {                 \
        x, false      \
    }
#define GLS_NO_LIST \
    {               \
        .n = 0      \
    }

#endif
