/* Functions for all commands on tractograms. They read weights, tables, track scalars, assignments and colour tables
 * from files beside a tractogram, parse --orient, write a tractogram with its columns, and read several tractograms as
 * one stream. */
#ifndef GLS_TOOLS_TRACT_FILES_H
#define GLS_TOOLS_TRACT_FILES_H

#include <glslines/common.h>
#include <glslines/filters.h>
#include <glslines/select.h>
#include <glslines/streamlines.h>

#include "record/tract_run.h"
#include "tractogram/file_formats.h"

/* --- Weights of streamlines. */

/* Weights of streamlines: none (each counts 1), from a text file, or from a column of the tractogram. */
typedef struct gls_tract_weights {
    const char *column; /* name of the column with the weights; NULL: there are no weights */
    double *values;     /* weights from a text file, one for each streamline; NULL: none */
    const char *path;   /* path of the file */
    /* number of weights in the file, or in the column if its range was measured */
    uint64_t n;
    double max; /* largest absolute value; 0: not measured */
} gls_tract_weights;
/* Returns the file that `text` names; NULL if text is NULL or dps:NAME. */
const char *gls_tract_weights_file(const char *text);
/* Reads the weights that `text` names: a file, or dps:NAME for a column. text NULL: no weights. For a column with
 * `range` set, reads the tractogram at `path` once to find the largest absolute value and the number of weights. */
gls_status gls_tract_weights_open(gls_tract_weights *weights, const char *text, const gls_tract_run *run,
                                  const char *path, bool range);
/* For weights from a text file: replaces *sink by a filter that adds them as a column and passes on to the old *sink.
 * For weights from a column: checks that the tractogram at `path` with the contents `info` has this column. Without
 * weights does nothing. */
gls_status gls_tract_weights_sink(const gls_tract_weights *weights, const gls_tractogram_info *info, const char *path,
                                  gls_sink *sink);
/* Whether the header says that the tractogram has no streamlines; such a file has no columns either. */
bool gls_tract_is_empty(const gls_tractogram_info *info);
/* Checks that a tractogram has the column `name` with one value for each streamline. A tractogram without streamlines
 * passes. path: for the message. name NULL: there is nothing to check. */
gls_status gls_tract_column_check(const gls_tractogram_info *info, const char *path, const char *name);
/* Frees the weights. */
void gls_tract_weights_close(gls_tract_weights *weights);

/* --- Columns of streamlines from files beside a tractogram: tables, and track scalar files. */

/* A table with a header line. Neighbouring columns x_0, x_1 ... become the components of one column x. */
typedef struct gls_tract_table {
    /* number of columns */
    size_t n;
    /* number of rows, one for each streamline */
    uint64_t rows;
    /* owned; the values of each column lie in `values` */
    gls_column *column;
    char *header;   /* text of the header line, which holds the names */
    double *values; /* rows of the first column, then of the second, and so on */
} gls_tract_table;
/* Reads a table. path NULL: no columns. GLS_ERR_INPUT names the file and the fault. */
gls_status gls_tract_table_read(gls_tract_table *table, const char *path);
/* Frees the table. */
void gls_tract_table_finish(gls_tract_table *table);

/* A track scalar file, read in step with the streamlines. */
typedef struct gls_tract_scalars {
    /* owned */
    char *path;
    const char *name; /* name of the column, the text behind = in the memory of `path` */
    int fd;           /* -1: not open */
    /* header, like that of a TCK file */
    gls_tck_header header;
    /* position in the values */
    gls_cursor cursor;
    char *stamp;   /* timestamp of the TCK file that the scalars belong to; NULL: not given */
    uint64_t line; /* streamlines read so far */
} gls_tract_scalars;
/* Opens a track scalar file. text: "FILE=NAME" with the name of the column. */
gls_status gls_tract_scalars_open(gls_tract_scalars *scalars, const char *text);
/* Puts a filter that adds the column in front of *sink. scalars must outlive the sink. The filter fails with
 * GLS_ERR_INPUT if a streamline has more or fewer points than values. */
gls_status gls_tract_scalars_sink(gls_tract_scalars *scalars, gls_sink *sink);
/* Closes the file. Does nothing if it was not opened. */
void gls_tract_scalars_close(gls_tract_scalars *scalars);

/* --- Pairs of labels that streamlines join, from a file of assignments. Used to select streamlines, and to make
 * groups. */

/* Largest number of groups that --edges-to-groups may make. */
#define GLS_MAX_EDGES 65535

/* The pair of labels that each streamline of a file joins. */
typedef struct gls_tract_edges {
    uint64_t n;         /* number of streamlines */
    int32_t (*pair)[2]; /* labels of each streamline, the smaller first; 0 0: it has not exactly two labels, or one of
                           them is 0 */
    size_t n_edges;
    uint32_t *edge; /* index of each streamline's pair in name[]; n_edges: its pair has no name */
    char **name;    /* names of the n_edges numbered pairs, such as "3-7" */
} gls_tract_edges;

/* Reads a file with one line of labels for each streamline. path NULL: nothing. Call gls_tract_edges_finish() also
 * after a failure. */
gls_status gls_tract_edges_read(gls_tract_edges *edges, const char *path);
/* Sets *id to the indices, ascending, of the streamlines that join one of the pairs "A,B", and *n to their number. *id
 * comes from malloc. */
gls_status gls_tract_edges_select(const gls_tract_edges *edges, const gls_strings *pairs, uint64_t **id, size_t *n);
/* Numbers and names, in ascending order, the pairs with at least min_count streamlines. GLS_ERR_UNSUPPORTED: more than
 * GLS_MAX_EDGES. */
gls_status gls_tract_edges_number(gls_tract_edges *edges, uint64_t min_count);
/* Puts a filter that adds a group for each numbered pair in front of *sink. edges must outlive the sink. path: for
 * messages. The filter fails with GLS_ERR_INPUT if there are more or fewer streamlines than lines. */
gls_status gls_tract_edges_sink(const gls_tract_edges *edges, const char *path, gls_sink *sink);
/* Frees everything. */
void gls_tract_edges_finish(gls_tract_edges *edges);

/* --- The value of --orient. */

/* The value of --orient, with the centre of a region or the streamline that it names. */
typedef struct gls_tract_orient {
    /* axis, centre or line, of which one is set */
    gls_orientation orientation;
    /* centre of the region, world mm */
    double centre[3];
    float (*line)[3]; /* the streamline, world mm, from malloc */
} gls_tract_orient;

/* Returns the text if it may name an input file, else NULL. Borrowed. */
const char *gls_tract_orient_file(const char *text);
/* Parses the value and reads the file that it names: x, y or z; a region, of which the centre is kept; or a tractogram,
 * of which the first streamline is kept. text NULL: all zero. Call gls_tract_orient_finish() also after a failure. */
gls_status gls_tract_orient_read(gls_tract_orient *orient, const gls_tract_run *run, const char *text);
/* Frees the streamline that was read. */
void gls_tract_orient_finish(gls_tract_orient *orient);

/* --- A tractogram that a command writes. A TCK file cannot hold columns: they go to files beside it. */

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

/* Warns of the streamlines that the filter of gls_filter_valid_create() left out. name: name of the tractogram. */
void gls_tract_warn_left_out(const char *name, const gls_filter_counts *valid);

/* Whether the format needs a grid (TRX and TRK). */
bool gls_tract_needs_grid(gls_tractogram_format format);

/* Makes a sink that writes a component of a dpv column as a track scalar file of MRtrix3, in the group of the run.
 * stamp: timestamp of the TCK file that the scalars belong to; NULL: that file is being written, too. Values that are
 * not finite become 0, with a warning, because NaN and infinity separate streamlines in this format. */
gls_status gls_tract_tsf_create(gls_tract_run *run, const char *path, const char *stamp, const char *column,
                                uint32_t component, gls_sink *sink);

/* --- Several tractograms as one stream. */

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
    /* columns that are passed on: kept[0] dps, kept[1] dpv, kept[2] groups. All of the first file, or with `common`
     * those of file path[lead] that every file with streamlines has; in the order of that file */
    gls_column *kept[3];
    size_t n_kept[3];
    char **stem;         /* names of the groups of files */
    bool has_group_data; /* a file has data of groups (dpg) */
    /* values from the headers of TCK files, joined as MRtrix3 joins them; 0: no file has one; NaN: the files differ */
    double step_size, downsample_factor;
} gls_tract_sources;

/* Opens the first file and compares the others with it. Grids, where two files have them, must agree to 1e-4 mm.
 * common: keep those columns and groups of the first file with streamlines that all others with streamlines have;
 * false: all files must have the same. weights: a column that every file with streamlines must have; NULL: none. */
gls_status gls_tract_sources_open(gls_tract_sources *sources, const gls_tract_run *run, const char *const *path,
                                  size_t n, bool allow_invalid, bool common, bool by_file, const char *weights);
/* Information of the first file. */
const gls_tractogram_info *gls_tract_sources_info(const gls_tract_sources *sources);
/* Passes all streamlines to the sink and finishes it. After a failure, also one in `status`, aborts the sink and
 * returns the failure. May be called several times. */
gls_status gls_tract_sources_pump(gls_tract_sources *sources, gls_sink *sink, gls_status status);
/* Frees the sources. Call it also after a failure of gls_tract_sources_open(). */
void gls_tract_sources_close(gls_tract_sources *sources);

#endif
