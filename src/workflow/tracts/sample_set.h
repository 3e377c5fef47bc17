/* Statistics of images along streamlines, as glslines sample and glslines track make them: which there are, what their
 * columns are called, and the table of their values. */
#ifndef GLS_WORKFLOW_TRACTS_SAMPLE_SET_H
#define GLS_WORKFLOW_TRACTS_SAMPLE_SET_H

#include <glslines/sample.h>

#include "util/option.h"
#include "workflow/tracts/job.h"

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

#endif
