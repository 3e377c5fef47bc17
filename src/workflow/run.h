/* One run of a command, as far as files go: what it reads, what it writes, the warnings that it gave, and the sidecar
 * that tells how the outputs were made. No output is an input, and all outputs appear together or none does. */
#ifndef GLS_WORKFLOW_RUN_H
#define GLS_WORKFLOW_RUN_H

#include "util/status.h"
#include "util/output_file.h"
#include "workflow/inputs.h"

struct cJSON;

typedef struct gls_run {
    bool force; /* outputs may replace files */
    gls_inputs inputs;
    char **output; /* paths that were checked, the sidecar among them */
    size_t n_outputs, capacity;
    char *sidecar; /* NULL: none */
    bool leads;    /* the sidecar gets its name before the outputs, of which it tells */
    gls_output_group group;
    gls_warnings warnings;
    double begun; /* by gls_clock_seconds() */
} gls_run;

/* Begins to collect warnings. To be ended by gls_run_end(), whatever comes. */
void gls_run_begin(gls_run *run, bool force);
void gls_run_end(gls_run *run);

/* Notes inputs as command lines have them; NULL is none. GLS_ERR_OUTPUT: an input is one of the outputs. */
gls_status gls_run_reads(gls_run *run, const char *text);
gls_status gls_run_reads_all(gls_run *run, const char *const *text, size_t n);
/* The same for files that have to be there: fills in their sizes. */
gls_status gls_run_reads_files(gls_run *run, gls_input_file *file, size_t n);

/* Checks that an output can be written, before anything slow is done, and notes it; NULL is none. */
gls_status gls_run_writes(gls_run *run, const char *path);
/* The same for a file that may be there even without force. */
gls_status gls_run_rewrites(gls_run *run, const char *path);
/* The output whose path is prefix and suffix; *path is the run's. */
gls_status gls_run_writes_named(gls_run *run, const char *prefix, const char *suffix, const char **path);
/* The sidecar, for which a file is never replaced that is no sidecar of ours or is that of another output. */
gls_status gls_run_writes_sidecar(gls_run *run, const char *prefix, const char *suffix);

/* Completes the group: adds the warnings to root, writes it as the sidecar, and gives all files their names. */
gls_status gls_run_commit(gls_run *run, struct cJSON *root);
/* Says where the outputs are. */
void gls_run_log_outputs(const gls_run *run);

/* What gls_run_writes() asks of a place, for outputs of no run: the folder is there and can be written, the file does
 * not exist or force is set, it is a regular file, none of the inputs (NULL: there are none) and none of the other
 * outputs (NULL entries count for nothing). */
gls_status gls_place_check(const char *path, bool force, const gls_inputs *inputs, const char *const *others,
                           size_t n_others);

#endif
