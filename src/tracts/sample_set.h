/* Statistics of images along streamlines: their choice, the names of their columns, their table. */
#ifndef GLS_TRACTS_SAMPLE_SET_H
#define GLS_TRACTS_SAMPLE_SET_H

#include <glslines/params_fields.h>
#include <glslines/sample.h>

#include "tracts/tract_text.h"
#include "transform/transform.h"

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
/* Reads n images, brings them by a transform, which may be NULL, and makes the columns: the statistics of each image,
 * and with per_vertex its values at points. nearest: values are looked up, not interpolated. names may be NULL. Call
 * gls_sample_set_finish() also after a failure. */
gls_status gls_sample_set_read(gls_sample_set *set, const char *const *path, size_t n, const gls_transform *transform,
                               bool nearest, bool per_vertex, const gls_sample_names *names);
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

#endif
