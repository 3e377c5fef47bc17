/* The tractogram that a command writes: its header, its fields, the filters in front of the writer, and the files
 * beside a TCK file. */
#ifndef GLS_TOOLS_WRITER_H
#define GLS_TOOLS_WRITER_H

#include <glslines/common.h>
#include <glslines/filters.h>
#include <glslines/image.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>

#include "record/tract_run.h"

/* The tractogram that a command writes: file, format and columns. All pointers belong to the caller. */
typedef struct gls_tract_output {
    /* path of the file, whose suffix decides on the format */
    const char *path;
    const gls_grid *grid;            /* grid of the output; NULL: the format needs none */
    const gls_tractogram_info *info; /* header and columns of the input */
    const char *fields;    /* columns and groups to write: "all" or NULL, "none", or names separated by commas */
    const char *added[72]; /* names of columns that the command adds, NULL-terminated; `fields` may name these, too */
    bool half_precision;
    bool drops_group_data;     /* leave out dpg (values of groups), because the groups of the output have other
                                * streamlines */
    const gls_group_data *dpg; /* written instead of the dpg of the input; NULL: keep that */
    size_t n_dpg;
} gls_tract_output;

/* Makes a sink that writes the file in the output group of the run. Beside a TCK file it writes OUT_weights.txt,
 * OUT_dps.tsv with the other values of streamlines, and OUT_NAME.tsf with values of points, as far as there are such
 * columns. A warning names what the format cannot hold. */
gls_status gls_tract_writer_create(gls_tract_run *run, const gls_tract_output *output, gls_sink *sink);
/* Most files that the writer of a tractogram has open at a time. info: its columns; n_added: number of columns of
 * streamlines that the command adds. */
size_t gls_tract_writer_files(gls_tractogram_format format, const gls_tractogram_info *info, size_t n_added);
/* Puts a filter before *sink that drops the groups of the input and passes on its columns, and the column "weights". */
gls_status gls_tract_drop_groups(const gls_tractogram_info *info, gls_sink *sink);
/* Warns that the output lacks the data of groups (dpg) of its input. */
void gls_tract_warn_no_group_data(const char *path);
/* Warns of the streamlines that the filter of gls_filter_valid_create() left out. name: name of the tractogram. */
void gls_tract_warn_left_out(const char *name, const gls_filter_counts *valid);
/* Whether the format needs a grid (TRX and TRK). */
bool gls_tract_needs_grid(gls_tractogram_format format);

#endif
