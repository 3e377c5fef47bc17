/* Weights of streamlines from a text file or from a column. */
#ifndef GLS_TOOLS_STREAMLINE_WEIGHTS_H
#define GLS_TOOLS_STREAMLINE_WEIGHTS_H

#include <glslines/common.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>

#include "record/tract_run.h"

/* Weights of streamlines: none (each counts 1), from a text file, or from a column of the tractogram. */
typedef struct gls_tract_weights {
    const char *column; /* name of the column with the weights; NULL: there are no weights */
    double *values;     /* weights from a text file, one for each streamline; NULL: none */
    const char *path;   /* path of the file */
    /* number of weights in the file, or in the column if its range was measured */
    uint64_t n;
    double max; /* largest absolute value; 0: not measured */
} gls_tract_weights;

/* Returns the file that `text` names; NULL if text is NULL or dps:NAME. */
const char *gls_tract_weights_file(const char *text);
/* Reads the weights that `text` names: a file, or dps:NAME for a column. text NULL: no weights. For a column with
 * `range` set, reads the tractogram at `path` once to find the largest absolute value and the number of weights. */
gls_status gls_tract_weights_open(gls_tract_weights *weights, const char *text, const gls_tract_run *run,
                                  const char *path, bool range);
/* For weights from a text file: replaces *sink by a filter that adds them as a column and passes on to the old *sink.
 * For weights from a column: checks that the tractogram at `path` with the contents `info` has this column. Without
 * weights does nothing. */
gls_status gls_tract_weights_sink(const gls_tract_weights *weights, const gls_tractogram_info *info, const char *path,
                                  gls_sink *sink);
/* Whether the header says that the tractogram has no streamlines; such a file has no columns either. */
bool gls_tract_is_empty(const gls_tractogram_info *info);
/* Checks that a tractogram has the column `name` with one value for each streamline. A tractogram without streamlines
 * passes. path: for the message. name NULL: there is nothing to check. */
gls_status gls_tract_column_check(const gls_tractogram_info *info, const char *path, const char *name);
/* Frees the weights. */
void gls_tract_weights_close(gls_tract_weights *weights);

#endif
