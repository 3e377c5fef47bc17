/* Options of commands as files of rows, *.def. From a row come the field of the options' struct, its default, and the
 * option of the command line with its help.
 *
 * ROW(group, type, field, name, letter, metavar, unit, range, default, default_text, choices, help): as in
 * glslines/params.def. */
#ifndef GLS_WORKFLOW_ROWS_H
#define GLS_WORKFLOW_ROWS_H

#include "track/params.h"
#include <glslines/workflow.h>

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
