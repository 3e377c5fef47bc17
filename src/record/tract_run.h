/* One run of a command on tractograms: its inputs and outputs, its sidecar, and the readers that these commands share.
 */
#ifndef GLS_RECORD_TRACT_RUN_H
#define GLS_RECORD_TRACT_RUN_H

#include <glslines/bundles.h>
#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#include "record/run.h"
#include "track/track_params.h"
#include "tracts/tract_text.h"
#include "transform/transform.h"

/* --- The run. All outputs appear together or none does. The sidecar lies beside the first output. */

struct cJSON;

/* Options that all commands on tractograms share. */
typedef struct gls_tract_common {
    const char *reference; /* image; NULL: none */
    int vtk_space;         /* a gls_vtk_space */
    bool recover, force;
} gls_tract_common;
/* Rows of options: how tractograms are read; --force, which only commands that write files have. */
extern const gls_option gls_tract_input_rows[], gls_tract_force_row[];

/* The run of a command on tractograms. */
typedef struct gls_tract_run {
    /* options that all commands on tractograms share */
    gls_tract_common options;
    gls_tractogram_progress go_on; /* asked from time to time whether to continue */
    const gls_monitor *monitor;    /* messages and progress of commands that track or fit; NULL: none */
    gls_run files;
    struct cJSON *root, *counts; /* root: contents of the sidecar; counts: its member "counts" */
    char *message;               /* line for the user when all is written; NULL: none */
    gls_status verdict;          /* status of the command after its outputs are complete, such as a failed check; see
                                    gls_last_error() */
    char *printed;               /* text that the command prints as its result; NULL: nothing */
} gls_tract_run;

/* Begins a run. Takes ownership of root, the contents of the sidecar. Call gls_tract_run_finish() in any case. */
void gls_tract_run_init(gls_tract_run *run, const gls_tract_common *options, struct cJSON *root);
/* Calls gls_run_reads(), and lists the input in the sidecar. */
gls_status gls_tract_run_reads(gls_tract_run *run, const char *path);
/* Calls gls_run_writes(), and lists the output in the sidecar, which gets its name from the first output. */
gls_status gls_tract_run_writes(gls_tract_run *run, const char *path);
/* gls_tract_run_reads() and gls_tract_run_writes() for several paths, of which any may be NULL. GLS_PATHS(...): a list
 * and its length. */
gls_status gls_tract_run_reads_all(gls_tract_run *run, const char *const *path, size_t n);
gls_status gls_tract_run_writes_all(gls_tract_run *run, const char *const *path, size_t n);
#define GLS_PATHS(...) \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)
/* Lists an input in the sidecar without a call of gls_run_reads(). */
void gls_tract_run_lists_input(gls_tract_run *run, const char *path);
/* Lists an output in the sidecar without a call of gls_run_writes(). */
void gls_tract_run_lists_output(gls_tract_run *run, const char *path);
/* Adds the output of --json, which has no sidecar. path NULL: none; "": the text is printed. */
gls_status gls_tract_run_writes_json(gls_tract_run *run, const char *path);
/* Writes the sidecar's contents to the file of --json. path "": stores them as text to print; NULL: does nothing. */
gls_status gls_tract_run_store_json(gls_tract_run *run, const char *path);
/* Creates a text file in the output group of the run. */
gls_status gls_tract_text_open(gls_tract_run *run, const char *path, gls_tract_text *text);
/* Adds a count to the sidecar. */
void gls_tract_run_count(gls_tract_run *run, const char *key, uint64_t n);
/* Sets the line that the user sees when all is written. */
void gls_tract_run_message(gls_tract_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Gives all files of the group, with the sidecar, their final names; then logs the message. GLS_ERR_CANCELLED: the user
 * interrupted the run. */
gls_status gls_tract_run_commit(gls_tract_run *run);
/* Frees the run and discards outputs that were not committed. */
void gls_tract_run_finish(gls_tract_run *run);

/* Calls gls_bundles_read_in(), and adds the files that the table of rules names to the inputs of the run. */
gls_status gls_tract_bundles_read(gls_tract_run *run, const char *path, const gls_bundles_options *options,
                                  const gls_transform *space, gls_bundles **bundles);

/* Chooses the grid: of --reference, or else of the tractogram. GLS_ERR_ARGUMENT: there is neither. output: name of what
 * needs the grid, for the message. */
gls_status gls_tract_grid_choose(const gls_tract_run *run, const char *path, const gls_tractogram_info *info,
                                 const char *output, gls_grid *grid);
/* Sets how tractograms are read, by the options that all commands share. *reference: gets the grid of --reference, and
 * must outlive *options. */
gls_status gls_tract_read_options(const gls_tract_common *common, gls_tractogram_read_options *options,
                                  gls_grid *reference);
/* Opens a tractogram with the options of reading of the run. allow_invalid: accepts points that are not finite. */
gls_status gls_tract_open(const gls_tract_run *run, const char *path, bool allow_invalid,
                          gls_tractogram_reader **reader);
/* Opens a tractogram a second time, without the warnings that the first reader gave. */
gls_status gls_tract_open_again(const gls_tract_run *run, const char *path, gls_tractogram_reader **reader);
/* Appends all streamlines that are left in a reader. */
gls_status gls_tract_append(const gls_tract_run *run, gls_tractogram_reader *reader, const gls_sink *sink);
/* Appends all streamlines that are left in `reader` (NULL: none) and finishes the sink; aborts the sink after a
 * failure. status: result of the steps before; if it is a failure, only aborts the sink. Returns the first failure. */
gls_status gls_tract_pump(const gls_tract_run *run, gls_tractogram_reader *reader, gls_sink *sink, gls_status status);

#endif
