/* Commands that send tractograms through filters into writers, and what they read: several files as one stream. */
#ifndef GLS_RUN_TRACT_COMMANDS_H
#define GLS_RUN_TRACT_COMMANDS_H

#include <glslines/select.h>
#include <glslines/streamlines.h>

#include "record/tract_run.h"
#include "sinks/tract_results.h"

/* --- Several tractograms as one stream. */

/* Several tractograms as one stream. Free with gls_tract_sources_close(). */
typedef struct gls_tract_sources {
    const gls_tract_run *run;
    const char *const *path;
    size_t n;
    bool allow_invalid;
    bool by_file; /* make a group for each file */
    gls_tractogram_reader *first;
    /* dps, dpv and groups that are passed on, in the order of the first file: all, or those that every file has */
    gls_column *kept[3];
    size_t n_kept[3];
    char **stem; /* names of the groups of files */
    /* from the headers of TCK files, joined as MRtrix3 joins them; 0: not given, NaN: they differ */
    double step_size, downsample_factor;
} gls_tract_sources;

/* Opens the first file and compares the others with it. Grids must agree to 1e-4 mm. Columns and groups must agree,
 * unless common is set, which keeps only those that all files have. */
gls_status gls_tract_sources_open(gls_tract_sources *sources, const gls_tract_run *run, const char *const *path,
                                  size_t n, bool allow_invalid, bool common, bool by_file);
/* Information of the first file. */
const gls_tractogram_info *gls_tract_sources_info(const gls_tract_sources *sources);
/* Passes all streamlines to the sink, then finishes it; aborts the sink after a failure. May be called several times.
 */
gls_status gls_tract_sources_pump(gls_tract_sources *sources, gls_sink *sink, gls_status status);
/* Frees the sources. Call it also after a failure of gls_tract_sources_open(). */
void gls_tract_sources_close(gls_tract_sources *sources);

/* --- The commands. As in sinks/tract_results.h: each runs one command and leaves all outputs complete in the group of
 * the run. */

#define ROW GLS_ROW_FIELD
typedef struct gls_edit_cli {
#include "run/edit.def"
} gls_edit_cli;
typedef struct gls_convert_cli {
#include "run/convert.def"
} gls_convert_cli;
#undef ROW

/* file: inputs, and the output last. */
gls_status gls_tract_edit(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: IN OUT */
gls_status gls_tract_convert(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* file: TRACKS, or nothing for the phantom */
gls_status gls_tract_score(gls_tract_run *run, const void *options, const char *const *file, size_t n);
/* Default options. Rows that the tracker also has get the tracker's defaults. */
gls_score_cli gls_score_cli_default(void);

#endif
