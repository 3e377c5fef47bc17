/* What glslines segment writes besides one tractogram: the table of bundles, a file for each, and pyAFQ's counts. */
#ifndef GLS_WORKFLOW_TRACTS_SEGMENT_FILES_H
#define GLS_WORKFLOW_TRACTS_SEGMENT_FILES_H

#include <glslines/bundles.h>
#include <glslines/select.h>

#include "workflow/tracts/job.h"

typedef struct gls_bundle_file {
    char *path;
    const char *group[1];
    gls_selection *selection;
} gls_bundle_file;

typedef struct gls_bundle_files {
    size_t n; /* bundles that have streamlines */
    gls_bundle_file *file;
    gls_sink *sink;
} gls_bundle_files;

/* Whether names can be made from it: {} stands for the bundle. */
gls_status gls_bundle_files_check(const char *each);
/* Sinks that write the streamlines of each bundle that has any, by their groups; info: of the input. */
gls_status gls_bundle_files_create(gls_tract_job *job, const char *each, const gls_bundles *bundles,
                                   const gls_grid *grid, const gls_tractogram_info *info, gls_bundle_files *files);
/* After the sinks were finished or aborted. */
void gls_bundle_files_finish(gls_bundle_files *files);

/* The table of --table: a row for each bundle; volume: mm3 of each, NaN where it is not known. */
gls_status gls_bundle_table_write(const gls_bundles *bundles, const double *volume, const char *path, bool overwrite,
                                  gls_output_group *group);
/* The table of pyAFQ's _desc-slCount_tractography.csv; recognized: streamlines of any bundle. */
gls_status gls_bundle_counts_write(gls_tract_job *job, const char *path, const gls_bundles *bundles,
                                   uint64_t recognized);

#endif
