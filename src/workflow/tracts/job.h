/* A command on tractograms: what it reads, and what it writes, all or nothing, with a sidecar beside the first output.
 */
#ifndef GLS_WORKFLOW_TRACTS_JOB_H
#define GLS_WORKFLOW_TRACTS_JOB_H

#include <glslines/bundles.h>
#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#include "track/track_params.h"
#include "workflow/run.h"

struct cJSON;

#define ROW GLS_ROW_FIELD
typedef struct gls_tract_common {
#include "workflow/tracts/common.def"
} gls_tract_common;
#undef ROW

typedef struct gls_tract_job {
    gls_tract_common options;
    gls_tractogram_progress go_on; /* asked now and then */
    const gls_monitor *monitor;    /* of what tracks or fits; NULL: none */
    gls_run run;
    struct cJSON *root, *counts; /* the sidecar in the making */
    char *said;                  /* a line for the user once all is written; NULL: none */
    gls_status verdict;          /* of what was printed and written: an error after all is done; see gls_last_error() */
    char *printed;               /* what the command prints as its result; NULL: nothing */
} gls_tract_job;

/* root: of the sidecar, which then belongs to the job. */
void gls_tract_job_init(gls_tract_job *job, const gls_tract_common *options, struct cJSON *root);
/* gls_run_reads() with a line in the sidecar. */
gls_status gls_tract_job_reads(gls_tract_job *job, const char *path);
/* gls_run_writes() with a line in the sidecar, which lies beside the first output. */
gls_status gls_tract_job_writes(gls_tract_job *job, const char *path);
/* The line in the sidecar alone. */
void gls_tract_job_lists_input(gls_tract_job *job, const char *path);
void gls_tract_job_lists_output(gls_tract_job *job, const char *path);
/* Notes the file of --json, which gets no sidecar; NULL: none, "": the text is printed. */
gls_status gls_tract_job_writes_json(gls_tract_job *job, const char *path);
/* Writes the root of the sidecar to that file, or makes it the text that is printed. */
gls_status gls_tract_job_put_json(gls_tract_job *job, const char *path);
void gls_tract_job_count(gls_tract_job *job, const char *key, uint64_t n);
void gls_tract_job_say(gls_tract_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Gives all files in the group their names, the sidecar among them. */
gls_status gls_tract_job_commit(gls_tract_job *job);
void gls_tract_job_finish(gls_tract_job *job);

/* gls_bundles_read(), and notes what the table names. */
gls_status gls_tract_bundles_read(gls_tract_job *job, const char *path, const gls_bundles_options *options,
                                  gls_bundles **bundles);

/* The grid of an image. */
gls_status gls_tract_grid_read(const char *path, gls_grid *grid);
/* The grid of --reference, else that of the tractogram; GLS_ERR_ARGUMENT: neither, for what names the output. */
gls_status gls_tract_grid_choose(const gls_tract_job *job, const char *path, const gls_tractogram_info *info,
                                 const char *output, gls_grid *grid);
gls_status gls_tract_open(const gls_tract_job *job, const char *path, bool allow_invalid,
                          gls_tractogram_reader **reader);
/* A file that was opened and read before: it gives its warnings once. */
gls_status gls_tract_open_again(const gls_tract_job *job, const char *path, gls_tractogram_reader **reader);
/* Appends what is left in a reader. */
gls_status gls_tract_append(const gls_tract_job *job, gls_tractogram_reader *reader, const gls_sink *sink);
/* The same, then finishes the sink, or aborts it after a failure; NULL reader: nothing is appended. */
gls_status gls_tract_pump(const gls_tract_job *job, gls_tractogram_reader *reader, gls_sink *sink, gls_status status);

/* A file of text that is written line by line, in the group of a job. */
typedef struct gls_tract_text {
    gls_output output;
    char separator; /* by the name: ',' of .csv, else a tab */
    char *buffer;
    size_t n;
    bool begun;          /* the line has something */
    const char *missing; /* stands for what is not a number; NULL: nan */
    gls_status failed;
} gls_tract_text;
gls_status gls_tract_text_open(gls_tract_job *job, const char *path, gls_tract_text *text);
/* The same in any group. */
gls_status gls_tract_text_create(const char *path, bool overwrite, gls_output_group *group, gls_tract_text *text);
void gls_tract_text_printf(gls_tract_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A name, after a separator unless it is the first of its line: see gls_field_append(). */
void gls_tract_text_field(gls_tract_text *text, const char *field);
/* The name of component i of n of a column: NAME, or NAME_I where there are several. */
void gls_tract_text_component(gls_tract_text *text, const char *name, size_t i, size_t n);
void gls_tract_text_end_row(gls_tract_text *text);
/* A number, after a separator unless it is the first of its line: the shortest that reads back, "nan" for what is none.
 */
void gls_tract_text_number(gls_tract_text *text, double value);
/* Value i of a column; integers to their last digit, which a double has up to 2^53. */
void gls_tract_text_value(gls_tract_text *text, const gls_column *column, uint64_t i);
/* Leaves the file to the group, or removes it after a failure. Harmless where it was not opened. */
gls_status gls_tract_text_close(gls_tract_text *text, gls_status status);

/* What streamlines count: nothing (1 each), a text file, or a column of the tractogram itself. */
typedef struct gls_tract_weights {
    const char *column; /* under which they go with the streamlines; NULL: none */
    double *values;     /* of a file; NULL: none */
    const char *path;   /* of that file */
    uint64_t n;
    double most; /* largest absolute value */
} gls_tract_weights;
/* The file that text names, NULL where it is NULL or dps:NAME. */
const char *gls_tract_weights_file(const char *text);
/* Reads a file, or, where the range is wanted, passes over the tractogram at path for that of a column. */
gls_status gls_tract_weights_open(gls_tract_weights *weights, const char *text, const gls_tract_job *job,
                                  const char *path, bool range);
/* A sink that gives the streamlines their weights and hands them on. */
gls_status gls_tract_weights_sink(const gls_tract_weights *weights, gls_sink *sink);
void gls_tract_weights_close(gls_tract_weights *weights);

#endif
