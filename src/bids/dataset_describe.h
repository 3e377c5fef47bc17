/* Files of a data set as a whole: its description and what validators and pybids read; its log, logs/units.tsv; files
 * that each run rewrites; locks between processes. */
#ifndef GLS_BIDS_DATASET_DESCRIBE_H
#define GLS_BIDS_DATASET_DESCRIBE_H

#include <cJSON.h>

#include <glslines/common.h>

#include "bids/dataset.h"
#include "util/output_file.h"

struct gls_output_group;

/* Writes the files that a data set of derivatives needs. Keeps existing files, but adds this version of glslines to the
 * dataset_description.json of another version. */
gls_status gls_dataset_describe(const gls_dataset_options *options);
/* Whether a file that each run rewrites may be written: it does not exist, or glslines wrote it, which the text `mark`
 * within its first 64 KiB shows. */
bool gls_dataset_owns(const char *path, const char *mark);
/* gls_dataset_owns(), with a warning that the file is left as it is. */
bool gls_dataset_may_write(const char *path, const char *mark);
/* Writes the file if gls_dataset_owns() is true, else fails with GLS_ERR_OUTPUT. group: gives the file its name later,
 * together with its other files; NULL: the file gets its name at once. */
gls_status gls_dataset_rewrite(const char *path, const char *mark, const char *text, size_t bytes,
                               struct gls_output_group *group);
/* Sets the member Sources of the sidecar `root`, which BIDS asks for: the series of the unit and its gradient table if
 * `series` is true, then the n files of path[], any of which may be NULL. If unit is not NULL, adds the member
 * SpatialReference, too. */
void gls_dataset_add_sources(const gls_dataset_options *options, const gls_dataset_unit *unit, bool series,
                             const char *const *path, size_t n, struct cJSON *root);
/* Adds lines "NAME, tab, state, tab, reason". They replace older lines of the same series, except that a line with the
 * state busy replaces none. Keeps the lines of all other series. */
gls_status gls_dataset_log_add(const gls_dataset_options *options, const char *lines);
/* Makes the file at path and locks it. The lock ends with the process. *fd is -1 if another process holds the lock and
 * wait is false; with wait the call waits. On a file system without locks it warns and succeeds without a lock.
 * GLS_ERR_OUTPUT: the file cannot be opened or made. */
gls_status gls_dataset_lock(const char *path, bool wait, int *fd);
/* Releases the lock and removes the file if it is empty. Accepts fd = -1. */
void gls_dataset_unlock(const char *path, int fd);

#endif
