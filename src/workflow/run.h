/* One run of a command as far as files go: what it reads and writes, and calls of its monitor. */
#ifndef GLS_WORKFLOW_RUN_H
#define GLS_WORKFLOW_RUN_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "util/output_file.h"
#include "util/status.h"

/* --- Files that a run reads: whether they can be read, what tells them from others, and that no output takes their
 * place. A reader may open a second file along with the one that is named, its companion: the other file of a .hdr/.img
 * pair, the values of a .mih, the data of a TCK file. Of a TRX folder it opens what lies in it. */

/* An input file and its size, for messages and the sidecar. */
typedef struct gls_input_file {
    const char *role; /* "dwi" and so on */
    const char *path; /* NULL: not a file */
    const char *hint; /* follows the message where it does not exist; NULL: none */
    uint64_t bytes;
    uint64_t hash;           /* of its contents; 0 before gls_input_file_hash() */
    uint64_t companion_hash; /* of the contents of its companion; 0: there is none */
} gls_input_file;

/* Checks that the file (none: fine) can be read, before anything slow is done, and fills in its size. */
gls_status gls_input_file_check(gls_input_file *file);
/* Fills in the hashes, by which the file can be told from others wherever it lies. */
gls_status gls_input_file_hash(gls_input_file *file);
/* One hash of both. */
uint64_t gls_input_file_identity(const gls_input_file *file);

/* The companion of a file, from malloc; *companion is NULL where there is none. */
gls_status gls_input_companion(const char *path, char **companion);
/* A hash of all that a reader opens where this file or folder is named. GLS_ERR_INPUT names what cannot be read. */
gls_status gls_input_hash(const char *path, uint64_t *hash);
/* The file of an input as command lines have it: FILE, or FILE:LABELS and FILE=NAME where no file has the whole of that
 * name. From malloc; NULL: it names no file that is there, or memory ran out. */
char *gls_input_named_file(const char *text);

/* GLS_ERR_OUTPUT: the output is this input (NULL: there is none) or its companion. */
gls_status gls_input_keep(const char *text, const char *output);

/* What a run reads, companions among it. All zero is an empty set. */
typedef struct gls_inputs {
    size_t n, capacity;
    struct gls_input_entry {
        char *path, *named; /* the file, and the text by which the user named it */
    } * entry;
} gls_inputs;

/* Adds an input as command lines have it; NULL adds nothing. */
gls_status gls_inputs_add(gls_inputs *inputs, const char *text);
gls_status gls_inputs_add_all(gls_inputs *inputs, const char *const *text, size_t n);
/* GLS_ERR_OUTPUT: the output is one of the inputs, under any name, or lies in a folder that is one. inputs NULL: none.
 */
gls_status gls_inputs_check(const gls_inputs *inputs, const char *output);
void gls_inputs_finish(gls_inputs *inputs);

/* --- One run of a command, as far as files go: what it reads, what it writes, the warnings that it gave, and the
 * sidecar that tells how the outputs were made. No output is an input, and all outputs appear together or none does. */

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

/* --- Calls of a gls_monitor whose members, or which itself, may be missing. */

static inline void gls_monitor_begin(const gls_monitor *m, gls_phase phase)
{
    if (m && m->begin) m->begin(m->user, phase);
}

static inline void gls_monitor_end(const gls_monitor *m, gls_phase phase)
{
    if (m && m->end) m->end(m->user, phase);
}

/* False: the caller asks to stop. */
static inline bool gls_monitor_step(const gls_monitor *m, const gls_progress *progress)
{
    return !m || !m->step || m->step(m->user, progress);
}

static inline bool gls_monitor_cancelled(const gls_monitor *m, gls_phase phase)
{
    return !gls_monitor_step(m, &(gls_progress){.phase = phase});
}

#endif
