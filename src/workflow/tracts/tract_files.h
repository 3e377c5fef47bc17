/* Tractograms and files beside them: several inputs as one stream, outputs, columns, labels, orientation. */
#ifndef GLS_WORKFLOW_TRACTS_TRACT_FILES_H
#define GLS_WORKFLOW_TRACTS_TRACT_FILES_H

#include <glslines/common.h>
#include <glslines/select.h>
#include <glslines/streamlines.h>

#include "tractogram/file_formats.h"
#include "workflow/tracts/tract_run.h"

/* --- Columns of streamlines from files beside a tractogram: tables, and track scalar files. */

/* A table with a header line; neighbouring columns x_0, x_1 ... are components of one column x. */
typedef struct gls_tract_table {
    size_t n;
    uint64_t rows;
    gls_column *column;
    char *header;   /* holds the names */
    double *values; /* each column's rows, one column behind the other */
} gls_tract_table;
/* NULL path: no column. GLS_ERR_INPUT names the file and what is wrong. */
gls_status gls_tract_table_read(gls_tract_table *table, const char *path);
void gls_tract_table_finish(gls_tract_table *table);

/* A track scalar file, read along with the streamlines. */
typedef struct gls_tract_scalars {
    char *path;
    const char *name; /* within path */
    int fd;           /* of path; -1: not open */
    gls_tck_header header;
    gls_cursor cursor;
    char *stamp;   /* of the TCK file to which it belongs; NULL: not said */
    uint64_t line; /* streamlines read */
} gls_tract_scalars;
/* text: "FILE=NAME". */
gls_status gls_tract_scalars_open(gls_tract_scalars *scalars, const char *text);
/* Puts a filter in front of sink that adds the column; the scalars have to outlive it. GLS_ERR_INPUT: more or fewer
 * values than vertices. */
gls_status gls_tract_scalars_sink(gls_tract_scalars *scalars, gls_sink *sink);
void gls_tract_scalars_close(gls_tract_scalars *scalars);

/* --- Several tractograms as one stream. */

typedef struct gls_tract_sources {
    const gls_tract_run *run;
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
gls_status gls_tract_sources_open(gls_tract_sources *sources, const gls_tract_run *run, const char *const *path,
                                  size_t n, bool allow_invalid, bool common, bool by_file);
/* Of the first. */
const gls_tractogram_info *gls_tract_sources_info(const gls_tract_sources *sources);
/* By how much tckedit exceeds limits of length, mm: a tenth of the step in the header, or the half of one after
 * downsampling. */
double gls_tract_sources_length_slack(const gls_tract_sources *sources);
/* Sends all streamlines through, any number of times, then finishes the sink, or aborts it after a failure. */
gls_status gls_tract_sources_pump(gls_tract_sources *sources, gls_sink *sink, gls_status status);
void gls_tract_sources_close(gls_tract_sources *sources);

/* --- Pairs of labels that streamlines join, from a file of assignments: for selecting them, and as groups. */

#define GLS_MAX_EDGES 65535

typedef struct gls_tract_edges {
    uint64_t n;         /* streamlines */
    int32_t (*pair)[2]; /* of each, the smaller label first; 0: none, or more than two */
    size_t n_edges;
    uint32_t *edge; /* of each streamline, n_edges: none */
    char **name;    /* of edges: "3-7" */
} gls_tract_edges;

/* A line of labels for each streamline; NULL path: nothing. Finish it after a failure, too. */
gls_status gls_tract_edges_read(gls_tract_edges *edges, const char *path);
/* Places of the streamlines that join one of these pairs "A,B", ascending, from malloc. */
gls_status gls_tract_edges_select(const gls_tract_edges *edges, const gls_strings *pairs, uint64_t **id, size_t *n);
/* Numbers and names the pairs of at least min_count streamlines, in ascending order. GLS_ERR_UNSUPPORTED: more than
 * GLS_MAX_EDGES. */
gls_status gls_tract_edges_number(gls_tract_edges *edges, uint64_t min_count);
/* Puts a filter in front of sink that adds a group for each pair; the edges have to outlive it. GLS_ERR_INPUT: more or
 * fewer streamlines than lines. */
gls_status gls_tract_edges_sink(const gls_tract_edges *edges, const char *path, gls_sink *sink);
void gls_tract_edges_finish(gls_tract_edges *edges);

/* --- Names of labels from colour tables. */

typedef struct gls_label_names {
    char *text; /* of the file, in which the names end with zeros */
    size_t n;
    struct gls_label_name {
        int32_t label;
        const char *name;
    } * list; /* by label */
} gls_label_names;

/* A colour table of FreeSurfer or MRtrix3 (index name ...), of ITK-SNAP (index, six numbers, "name"), or a table of
 * index and name with or without a header line; NULL path: no names. GLS_ERR_INPUT names the file. Finish it after a
 * failure, too. */
gls_status gls_label_names_read(gls_label_names *names, const char *path);
/* NULL: the table does not have it. */
const char *gls_label_names_find(const gls_label_names *names, int32_t label);
void gls_label_names_finish(gls_label_names *names);

/* --- The text of --orient. */

typedef struct gls_tract_orient {
    gls_orientation orientation;
    double centre[3];
    float (*line)[3]; /* from malloc */
} gls_tract_orient;

/* x, y, z, a region whose centre counts, or a tractogram whose first streamline counts; NULL: all zero. */
/* What of it may name a file, which is an input; NULL: nothing. Borrowed. */
const char *gls_tract_orient_file(const char *text);
gls_status gls_tract_orient_read(gls_tract_orient *orient, const gls_tract_run *run, const char *text);
void gls_tract_orient_finish(gls_tract_orient *orient);

/* --- A tractogram that a command writes: its header, its fields, and, for formats without columns, files beside it. */

typedef struct gls_tract_output {
    const char *path;
    const gls_grid *grid;            /* NULL: the format needs none */
    const gls_tractogram_info *info; /* of the input: its header, and the columns that there will be */
    const char *fields;              /* "all" or NULL, "none", or names with commas */
    const char *added[72];           /* columns that come in addition, NULL-terminated */
    bool half_precision;
    bool drops_group_data;     /* dpg are about other streamlines */
    const gls_group_data *dpg; /* in place of those of the input; NULL: none */
    size_t n_dpg;
} gls_tract_output;

/* A sink that writes the file in the group of the run. A TCK file gets its columns beside it: OUT_weights.txt,
 * OUT_dps.tsv, OUT_NAME.tsf for values per vertex. What the format does not hold is told in a warning. */
gls_status gls_tract_writer_create(gls_tract_run *run, const gls_tract_output *output, gls_sink *sink);

/* TRX and TRK files lie on a grid. */
bool gls_tract_needs_grid(gls_tractogram_format format);

/* Files beside a TCK file for columns that it does not hold; takes the columns away and hands the rest on. */
gls_status gls_tract_side_create(gls_tract_run *run, const char *tck, const gls_sink *next, gls_sink *sink);
/* A track scalar file of MRtrix3: a component of a dpv column, in the group of the run. stamp: that of the TCK file to
 * which it belongs; NULL: it is written along with this one. Values that are not finite become 0, with a warning, as
 * NaN and infinity end streamlines and the file. */
gls_status gls_tract_tsf_create(gls_tract_run *run, const char *path, const char *stamp, const char *column,
                                uint32_t component, gls_sink *sink);
/* The same for a tractogram that is there: a TCK file with a stamp. */
gls_status gls_tract_scalars_create(gls_tract_run *run, const char *path, const gls_tractogram_info *info,
                                    const char *column, gls_sink *sink);

#endif
