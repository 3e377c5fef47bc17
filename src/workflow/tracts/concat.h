/* Several tractograms as one stream. */
#ifndef GLS_WORKFLOW_TRACTS_CONCAT_H
#define GLS_WORKFLOW_TRACTS_CONCAT_H

#include "workflow/tracts/job.h"

typedef struct gls_tract_sources {
    const gls_tract_job *job;
    const char *const *path;
    size_t n;
    bool allow_invalid;
    bool by_file; /* a group for each file */
    gls_tractogram_reader *first;
    /* dps, dpv and groups that are handed on, in the order of the first file: all of it, or those that all have */
    gls_column *kept[3];
    size_t n_kept[3];
    char **stem; /* names of the groups of files */
    /* of the headers of TCK files, as MRtrix3 joins them; 0: none says it, NaN: they differ */
    double step_size, downsample_factor;
} gls_tract_sources;

/* Opens the first and compares the others with it: grids to 1e-4 mm, columns and groups, unless only common ones are
 * wanted. */
gls_status gls_tract_sources_open(gls_tract_sources *sources, const gls_tract_job *job, const char *const *path,
                                  size_t n, bool allow_invalid, bool common, bool by_file);
/* Of the first. */
const gls_tractogram_info *gls_tract_sources_info(const gls_tract_sources *sources);
/* By how much tckedit exceeds limits of length, mm: a tenth of the step in the header, or the half of one after
 * downsampling. */
double gls_tract_sources_length_slack(const gls_tract_sources *sources);
/* Sends all streamlines through, any number of times, then finishes the sink, or aborts it after a failure. */
gls_status gls_tract_sources_pump(gls_tract_sources *sources, gls_sink *sink, gls_status status);
void gls_tract_sources_close(gls_tract_sources *sources);

#endif
