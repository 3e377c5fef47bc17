/* Several tractograms as one stream: compares their headers, passes on the same columns for each, and adds a group for
 * each file if asked. */
#ifndef GLS_TOOLS_TRACT_SOURCES_H
#define GLS_TOOLS_TRACT_SOURCES_H

#include <glslines/common.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>

#include "record/tract_run.h"

/* Several tractograms as one stream. Free with gls_tract_sources_close(). */
typedef struct gls_tract_sources {
    const gls_tract_run *run;
    const char *const *path;
    size_t n;
    bool allow_invalid;
    bool by_file;        /* make a group for each file */
    const char *weights; /* column of weights that every file with streamlines must have; NULL: none */
    /* first: reader of the first file; leader: reader of file path[lead], the first that has streamlines (if none has,
     * lead is 0) */
    gls_tractogram_reader *first, *leader;
    size_t lead;
    /* columns that are passed on: kept[0] dps, kept[1] dpv, kept[2] groups. All of file path[lead], or with
     * `common` those of it that every file with streamlines has; in the order of that file */
    gls_column *kept[3];
    size_t n_kept[3];
    char **stem;         /* names of the groups of files */
    bool has_group_data; /* a file has data of groups (dpg) */
    /* values from the headers of TCK files, joined as MRtrix3 joins them; 0: no file has one; NaN: the files differ */
    double step_size, downsample_factor;
} gls_tract_sources;

/* Opens the first file and compares the others with it. Grids, where two files have them, must agree to 1e-4 mm.
 * common: keep those columns and groups of the first file with streamlines that all others with streamlines have;
 * false: all files with streamlines must have the same. weights: a column that every file with streamlines must have;
 * NULL: none. */
gls_status gls_tract_sources_open(gls_tract_sources *sources, const gls_tract_run *run, const char *const *path,
                                  size_t n, bool allow_invalid, bool common, bool by_file, const char *weights);
/* Information of the first file. */
const gls_tractogram_info *gls_tract_sources_info(const gls_tract_sources *sources);
/* Information of the first file that has streamlines, whose columns are passed on; of the first file if none has. */
const gls_tractogram_info *gls_tract_sources_lead(const gls_tract_sources *sources);
/* Passes all streamlines to the sink and finishes it. After a failure, also one in `status`, aborts the sink and
 * returns the failure. May be called several times. */
gls_status gls_tract_sources_pump(gls_tract_sources *sources, gls_sink *sink, gls_status status);
/* Frees the sources. Call it also after a failure of gls_tract_sources_open(). */
void gls_tract_sources_close(gls_tract_sources *sources);

#endif
