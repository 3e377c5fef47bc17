/* Text files and tables that commands on tractograms and sinks of `track` write: bundle profiles, samples of images,
 * bundles. */
#ifndef GLS_SINKS_TRACT_TABLES_H
#define GLS_SINKS_TRACT_TABLES_H

#include <glslines/bundles.h>
#include <glslines/sample.h>
#include <glslines/select.h>

#include "record/tract_run.h"
#include "util/option.h"
#include "util/output_file.h"

/* --- Text files, line by line. */

/* A text file that is written line by line in an output group. An error is kept in `failed` until
 * gls_tract_text_close(). */
typedef struct gls_tract_text {
    gls_output output;
    char separator; /* ',' if the file's name ends in .csv, else a tab */
    char *buffer;
    size_t n;
    bool begun;          /* the line has a field */
    const char *missing; /* text for NaN; NULL: nan */
    gls_status failed;
} gls_tract_text;
/* Creates the file at `path` in the output group of the run. */
gls_status gls_tract_text_open(gls_tract_run *run, const char *path, gls_tract_text *text);
/* Like gls_tract_text_open(), in any group. */
gls_status gls_tract_text_create(const char *path, bool overwrite, gls_output_group *group, gls_tract_text *text);
/* Appends formatted text as it is. */
void gls_tract_text_printf(gls_tract_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a name as gls_field_append() writes it, with a separator before it unless it begins the line. */
void gls_tract_text_field(gls_tract_text *text, const char *field);
/* Appends the name of component i of n: NAME if n is 1, NAME_I otherwise. */
void gls_tract_text_component(gls_tract_text *text, const char *name, size_t i, size_t n);
/* Ends the current line of the file. */
void gls_tract_text_end_row(gls_tract_text *text);
/* Appends the shortest decimal that reads back as value, with a separator before it unless it begins the line. NaN: see
 * `missing`. */
void gls_tract_text_number(gls_tract_text *text, double value);
/* Appends value i of a column. Integers keep all digits. */
void gls_tract_text_value(gls_tract_text *text, const gls_column *column, uint64_t i);
/* Completes the file in its group and returns the first error of `status` and of the text; after an error removes the
 * file. Returns `status` if the file was not opened. */
gls_status gls_tract_text_close(gls_tract_text *text, gls_status status);

/* --- Bundle profiles. */

/* How a table of profiles is written. */
typedef struct gls_profile_table {
    const gls_image *const *image; /* images of one or more volumes */
    const char *const *name; /* column name of each image; further volumes of an image get _1, _2 ... behind its name */
    size_t n_images;
    /* how images are read at nodes */
    gls_sample_options sampling;
    /* how streamlines are averaged */
    gls_profile_weights weights;
    /* stats: also the standard deviation and the number of values at each node, and the node's position; tidy: one
     * value in each row; set one of the two at most */
    bool stats, tidy;
    bool *nowhere; /* for each image: set to whether its first volume has no value along any bundle; NULL: warn
                    * instead */
} gls_profile_table;

/* Writes the profiles of complete bundles that keep their nodes, to a .csv or .tsv file in the group. */
gls_status gls_profile_table_write(const gls_profile_table *table, const gls_bundles *bundles, uint32_t nodes,
                                   const char *path, bool overwrite, gls_output_group *group);

/* Name of a column or group from a path: "dir/fa.nii.gz" -> "fa". From malloc. */
char *gls_profile_column(const char *path);

/* --- Statistics of images along streamlines: their choice, the names of their columns, their table. */

/* The images that are sampled, and a column for each statistic of each image. Owns images and names. */
typedef struct gls_sample_set {
    /* numbers of images, of columns, and of statistics; a column is a statistic of an image, or its values at points */
    size_t n_images, n_columns, n_stats;
    /* n_images elements */
    gls_image **image;
    /* the first n_stats elements are set */
    gls_track_stat stat[GLS_TRACK_STATS];
    /* n_columns elements */
    gls_sample_column *column;
    char **name; /* names of the columns */
} gls_sample_set;

/* Names that replace the default names (image and statistic). NULL: default. */
typedef struct gls_sample_names {
    const char *to_dps; /* name of the column of the statistic, if the set has a single image and a single statistic */
    const char *to_dpv; /* name of the column of values at points; with several images NAME_IMAGE */
} gls_sample_names;

/* Sets the statistics. stats: names as for --stat-tck. GLS_ERR_ARGUMENT: an unknown name, or one that occurs twice. */
gls_status gls_sample_set_choose(gls_sample_set *set, const gls_strings *stats);
/* Reads n images and makes the columns: the statistics of each image, and with per_vertex its values at points. names
 * may be NULL. Call gls_sample_set_finish() also after a failure. */
gls_status gls_sample_set_read(gls_sample_set *set, const char *const *path, size_t n, bool per_vertex,
                               const gls_sample_names *names);
/* Frees images and names. */
void gls_sample_set_finish(gls_sample_set *set);
/* Warns if more than 1 % of the samples lie outside the images, and if more than 1 % lie where an image is not finite.
 * name: the tractogram or the option with which the message begins. */
void gls_sample_warn(const gls_sample_counts *counts, const char *name);

/* The table of samples, one row for each streamline. A .txt file holds only numbers; others have a header line and row
 * numbers. */
typedef struct gls_sample_rows {
    /* the set whose statistics are written, borrowed */
    const gls_sample_set *set;
    /* the table that is written */
    gls_tract_text text;
    /* numbers without header and row numbers */
    bool plain;
    /* number of rows so far */
    uint64_t row;
} gls_sample_rows;

/* Opens the table. set is borrowed until gls_sample_rows_end(). */
gls_status gls_sample_rows_begin(gls_sample_rows *rows, const gls_sample_set *set, const char *path, bool overwrite,
                                 gls_output_group *group);
/* Returns a sink that writes a row for each streamline, with the statistics of the set but not its values at points.
 * rows must outlive the sink. */
gls_sink gls_sample_rows_sink(gls_sample_rows *rows);
/* Completes the file in its group; removes the file after a failure. Does nothing if the table was not begun. */
gls_status gls_sample_rows_end(gls_sample_rows *rows, gls_status status);

/* --- The table of bundles that `glslines segment` and `track --segment` write. */

/* Writes a table of bundles, one row for each. volume: mm3 of each bundle; NaN: not known. */
gls_status gls_bundle_table_write(const gls_bundles *bundles, const double *volume, const char *path, bool overwrite,
                                  gls_output_group *group);

#endif
