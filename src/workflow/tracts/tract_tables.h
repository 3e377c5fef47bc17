/* Tables of profiles, samples and bundles. */
#ifndef GLS_WORKFLOW_TRACTS_TRACT_TABLES_H
#define GLS_WORKFLOW_TRACTS_TRACT_TABLES_H

#include <glslines/bundles.h>
#include <glslines/sample.h>
#include <glslines/select.h>

#include "util/option.h"
#include "util/output_file.h"
#include "workflow/tracts/tract_run.h"

/* --- Tables of bundle profiles. */

typedef struct gls_profile_table {
    const gls_image *const *image; /* of one volume or more each */
    const char *const *name;       /* of their columns; further volumes get _1, _2 ... */
    size_t n_images;
    gls_sample_options sampling;
    gls_profile_weights weights;
    bool stats, tidy;
    bool *nowhere; /* of each image: set where it has no number anywhere along the bundles; NULL: a warning */
} gls_profile_table;

/* Writes the profiles of complete bundles, which keep nodes, to a .csv or .tsv file in the group. */
gls_status gls_profile_table_write(const gls_profile_table *table, const gls_bundles *bundles, uint32_t nodes,
                                   const char *path, bool overwrite, gls_output_group *group);

/* "dir/fa.nii.gz" -> "fa"; from malloc. */
char *gls_profile_column(const char *path);

/* --- Statistics of images along streamlines, as glslines sample and glslines track make them: which there are, what
 * their columns are called, and the table of their values. */

typedef struct gls_sample_set {
    size_t n_images, n_columns, n_stats;
    gls_image **image;
    gls_track_stat stat[GLS_TRACK_STATS];
    gls_sample_column *column;
    char **name; /* of columns */
} gls_sample_set;

/* How columns are called that are not called after their image and statistic; NULL: they are. */
typedef struct gls_sample_names {
    const char *to_dps; /* of the one column of a statistic */
    const char *to_dpv; /* of values of points; of several images NAME_IMAGE */
} gls_sample_names;

/* The statistics by their names, as --stat-tck gives them. GLS_ERR_ARGUMENT names one that there is not or that comes
 * twice. */
gls_status gls_sample_set_choose(gls_sample_set *set, const gls_strings *stats);
/* Reads n images and makes the columns: of each image its statistics, and with per_vertex its values at points. names
 * may be NULL. To be finished even after a failure. */
gls_status gls_sample_set_read(gls_sample_set *set, const char *const *path, size_t n, bool per_vertex,
                               const gls_sample_names *names);
void gls_sample_set_finish(gls_sample_set *set);
/* Warns of streamlines beyond the images; name: of the streamlines. */
void gls_sample_warn(const gls_sample_counts *counts, const char *name);

/* The table: a row for each streamline; .txt has the numbers alone, others a header line and the number of the row. */
typedef struct gls_sample_rows {
    const gls_sample_set *set;
    gls_tract_text text;
    bool plain;
    uint64_t row;
} gls_sample_rows;

/* The set is borrowed until the end. */
gls_status gls_sample_rows_begin(gls_sample_rows *rows, const gls_sample_set *set, const char *path, bool overwrite,
                                 gls_output_group *group);
/* Takes streamlines with the columns of the set; stays with the caller. */
gls_sink gls_sample_rows_sink(gls_sample_rows *rows);
/* Leaves the file to the group, or removes it after a failure. Harmless where it was not begun. */
gls_status gls_sample_rows_end(gls_sample_rows *rows, gls_status status);

/* --- What glslines segment writes besides one tractogram: the table of bundles, a file for each, and pyAFQ's counts.
 */

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
gls_status gls_bundle_files_create(gls_tract_run *run, const char *each, const gls_bundles *bundles,
                                   const gls_grid *grid, const gls_tractogram_info *info, gls_bundle_files *files);
/* After the sinks were finished or aborted. */
void gls_bundle_files_finish(gls_bundle_files *files);

/* The table of --table: a row for each bundle; volume: mm3 of each, NaN where it is not known. */
gls_status gls_bundle_table_write(const gls_bundles *bundles, const double *volume, const char *path, bool overwrite,
                                  gls_output_group *group);
/* The table of pyAFQ's _desc-slCount_tractography.csv; recognized: streamlines of any bundle. */
gls_status gls_bundle_counts_write(gls_tract_run *run, const char *path, const gls_bundles *bundles,
                                   uint64_t recognized);

#endif
