/* A tractogram for each bundle: the option --each of commands that find bundles. */
#ifndef GLS_TOOLS_BUNDLE_FILES_H
#define GLS_TOOLS_BUNDLE_FILES_H

#include <glslines/select.h>
#include <glslines/tractogram.h>

#include "record/tract_run.h"

/* The tractogram of one bundle. */
typedef struct gls_bundle_file {
    char *path;
    const char *group[1]; /* name of the bundle; borrowed */
    gls_selection *selection;
} gls_bundle_file;

/* A tractogram for each of n bundles. */
typedef struct gls_bundle_files {
    size_t n;
    gls_bundle_file *file;
    gls_sink *sink;
} gls_bundle_files;

/* Returns GLS_ERR_ARGUMENT unless the pattern contains {}, which stands for the bundle's name. NULL is fine. */
gls_status gls_bundle_files_check(const char *each);
/* Makes, for each of n bundles, a sink that writes the members of the group of its name. The sinks belong to the
 * caller; after a failure they are aborted. each: pattern of the paths. info: of the input. */
gls_status gls_bundle_files_create(gls_tract_run *run, const char *each, const char *const *name, size_t n,
                                   const gls_grid *grid, const gls_tractogram_info *info, gls_bundle_files *files);
/* Number of streamlines of a bundle. */
typedef struct gls_bundle_count {
    const char *name; /* borrowed */
    uint64_t count;
} gls_bundle_count;

/* Writes the table of --counts, pyAFQ's _desc-slCount_tractography.csv. recognized: streamlines in any bundle. */
gls_status gls_bundle_counts_write(gls_tract_run *run, const char *path, const gls_bundle_count *bundle, size_t n,
                                   uint64_t recognized);
/* Frees the files. Call it after the sinks were finished or aborted. */
void gls_bundle_files_finish(gls_bundle_files *files);

#endif
