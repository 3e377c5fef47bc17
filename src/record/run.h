/* One run of a command, seen from its files: which inputs it reads, which outputs it writes, and how all outputs appear
 * together or not at all. */
#ifndef GLS_RECORD_RUN_H
#define GLS_RECORD_RUN_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "record/inputs.h"
#include "util/clock.h"
#include "util/output_file.h"
#include "util/status.h"

/* --- The run itself. No output is an input. All outputs appear together, or none does. */

struct cJSON;

/* Begin with gls_run_begin(); end with gls_run_end(), which removes uncommitted outputs. Used by one thread. */
typedef struct gls_run {
    bool force; /* true: outputs may replace existing files */
    gls_inputs inputs;
    char **output; /* paths that passed gls_run_writes(), that of the sidecar included; owned */
    size_t n_outputs, capacity;
    char *sidecar; /* path of the sidecar, owned; NULL: none */
    bool leads;    /* true: the sidecar gets its final name before the outputs that it describes */
    gls_output_group group;
    /* warnings since gls_run_begin(), for the sidecar */
    gls_warnings warnings;
    double begun; /* seconds of gls_clock_seconds() at gls_run_begin() */
} gls_run;

/* Begins the run and collects warnings from now on. Call gls_run_end() at the end, also after a failure. */
void gls_run_begin(gls_run *run, bool force);
/* Ends the run: discards outputs that were not committed, and frees everything. */
void gls_run_end(gls_run *run);

/* Adds an input as the user typed it. NULL adds nothing. GLS_ERR_OUTPUT: the input is an output of this run. */
gls_status gls_run_reads(gls_run *run, const char *text);
/* Calls gls_run_reads() for n texts. */
gls_status gls_run_reads_all(gls_run *run, const char *const *text, size_t n);
/* Adds the files of a chain of transforms to the inputs. */
gls_status gls_run_reads_chain(gls_run *run, const gls_strings *chain);

/* Checks that a file of this name can be written and is no input, and adds it to the outputs. Call it before any slow
 * work. NULL adds nothing. */
gls_status gls_run_writes(gls_run *run, const char *path);
/* Like gls_run_writes() for a file that may exist even without force. */
gls_status gls_run_rewrites(gls_run *run, const char *path);
/* Makes the name PREFIX + SUFFIX, from malloc. A prefix that is the name of an image, such as x.mif, gives images of
 * that format: x_fa.mif for the suffix _fa.nii.gz. GLS_ERR_ARGUMENT: the prefix is empty or ends as the name of a
 * folder does, so that names of files would begin with the suffix, and some would be hidden. */
gls_status gls_run_join(const char *prefix, const char *suffix, char **name);
/* Adds the output of the name that gls_run_join() makes. *path: the name, owned by the run. */
gls_status gls_run_writes_named(gls_run *run, const char *prefix, const char *suffix, const char **path);
/* Names the sidecar PREFIX + SUFFIX and adds it to the outputs. GLS_ERR_OUTPUT: as for gls_run_writes(); also, even
 * with force, if a file of this name exists that is not a sidecar of glslines, or is the sidecar of another output. */
gls_status gls_run_writes_sidecar(gls_run *run, const char *prefix, const char *suffix);

/* If the run has a sidecar, adds the warnings to root and writes root as the sidecar; root NULL: the caller has written
 * it. Then gives all files of the group their final names. */
gls_status gls_run_commit(gls_run *run, struct cJSON *root);
/* Logs the names of the outputs. */
void gls_run_log_outputs(const gls_run *run);

/* Name of an output of a shard: "dir/out.trx" -> "dir/out_shard-3of8.trx", from malloc. NULL: out of memory. */
char *gls_shard_name(const char *path, const gls_shard *shard);
/* The checks of gls_run_writes() for an output that belongs to no run: the folder exists and is writable; the file does
 * not exist, or force is set and it is a regular file; it is none of the inputs (NULL: no inputs) and none of others[],
 * the other outputs (NULL entries are skipped). GLS_ERR_OUTPUT: a check failed. */
gls_status gls_place_check(const char *path, bool force, const gls_inputs *inputs, const char *const *others,
                           size_t n_others);

#endif
