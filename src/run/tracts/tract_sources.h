/* What commands on tractograms read: several files as one stream, the value of --orient. */
#ifndef GLS_RUN_TRACTS_TRACT_SOURCES_H
#define GLS_RUN_TRACTS_TRACT_SOURCES_H

#include <glslines/select.h>
#include <glslines/streamlines.h>

#include "record/tract_run.h"

/* --- Several tractograms as one stream. */

/* Several tractograms as one stream. Free with gls_tract_sources_finish(). */
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

/* --- The value of --orient. */

/* What --orient says, with the line or centre that it points to. */
typedef struct gls_tract_orient {
    gls_orientation orientation;
    double centre[3];
    float (*line)[3]; /* from malloc */
} gls_tract_orient;

/* The part of the text that may be the name of an input file. Borrowed; NULL: none. */
const char *gls_tract_orient_file(const char *text);
/* Parses the value and reads the file that it names: x, y or z; a region, whose centre counts; or a tractogram, whose
 * first streamline counts. text NULL: all zero. Call gls_tract_orient_finish() also after a failure. */
gls_status gls_tract_orient_read(gls_tract_orient *orient, const gls_tract_run *run, const char *text);
/* Frees the line. */
void gls_tract_orient_finish(gls_tract_orient *orient);

#endif
