/* Inside a run of tracking (gls_job): its state, and the functions that the files of the run share. */
#ifndef GLS_RUN_JOB_H
#define GLS_RUN_JOB_H

#include <cJSON.h>
#include <time.h>

#include "gpu/devices.h"
#include "record/run.h"
#include "run/job_inputs.h"
#include "sinks/sinks.h"
#include "track/run/journal.h"
#include "util/output_file.h"

/* --- State of the run. */

/* An output file of a run, with its role in the sidecar. */
typedef struct gls_job_file {
    const char *role; /* "tractogram", or the name of the option that asks for the file, with _ for - */
    const char *path; /* borrowed */
} gls_job_file;
/* Largest number of output files, without the sidecar. */
#define GLS_JOB_FILES (2 + GLS_MAX_SINKS)

struct gls_job {
    gls_job_options options,
        options_given; /* options_given: as the caller gave them; options: with the values that the run chose instead */
    gls_monitor monitor;
    /* images, seeds and model */
    gls_job_inputs inputs;
    gls_shard shard; /* count 0: the whole run. The hashes in it are set with a journal or a shard only; runs that give
                      * the same streamlines have equal hashes */
    gls_track_params params; /* lengths in mm; set once the inputs are read */
    gls_tractogram_format format;
    char *output; /* path of the tractogram; with --output none, of the first other output */
    bool no_tractogram;
    char *bval, *bvec;    /* paths found beside the series, owned; NULL: the options give them */
    gls_run run;          /* run.force: existing outputs may be replaced, or are known to be this run's own */
    char *sidecar_second; /* path of the sidecar if its first name is taken when the run ends; NULL: none */
    bool sidecar_moved;   /* true: the sidecar has the second name */
    bool axes_checked;
    char *mask;                       /* path of the mask to write; NULL: none */
    gls_job_file file[GLS_JOB_FILES]; /* the n_files files that the run writes, except the sidecar */
    size_t n_files;
    cJSON *written; /* the sidecar's entries of the files that were written, by this run or by an equal run before;
                       NULL: not known yet */
    char *journal;  /* path of the journal of --resume; NULL: none */
    uint64_t other_inputs; /* hash of regions, tissue and inputs of sinks, which are not among the files of `inputs`; 0:
                              none */
    gls_run_sinks sinks;
    /* the devices that track */
    gls_device_set devices;
    const gls_device_info *device; /* properties of the first device */
    /* for each device what it did: seeds, streamlines, batches, time in use */
    gls_track_share share[GLS_TRACKER_MAX_DEVICES];
    /* counts, times and paths for the caller */
    gls_job_result result;
    uint64_t memory_bytes; /* upper bound of the host memory that the run needs, bytes */
    bool shared_memory;    /* true: device memory is host memory */
    time_t started;
};

/* Whether the run writes a TRX file, which holds columns and groups. */
static inline bool gls_job_writes_trx(const gls_job *job)
{
    return !job->no_tractogram && job->format == GLS_FORMAT_TRX;
}

/* Number of seeds of the whole run, not of one shard. */
static inline uint64_t gls_job_seeds(const gls_job *job)
{
    if (!job->inputs.seeds) return job->options.nseeds; /* made after the fit */
    return job->shard.count > 0 ? job->shard.total_seeds : gls_seeds_count(job->inputs.seeds);
}

/* --- Names and formats of the outputs. They must not harm an input. */

/* Adds the input files that the options name, except files that sinks read. */
gls_status gls_job_options_inputs(const gls_job_options *options, gls_inputs *inputs);
/* Checks that each output can be written and is not an input, and adds it to the outputs of the run. */
gls_status gls_job_check_outputs(gls_job *job);
/* Checks that a further file of the run, such as a picture of the outputs, can be written and is neither an input nor
 * an output. */
gls_status gls_job_check_beside(const gls_job *job, const char *path);

/* --- Text about the run. */

/* Returns what is known before tracking, as text. memory: result of gls_job_plan(). From malloc; NULL: no memory. */
char *gls_job_plan_text(const gls_job *job, const gls_track_memory *memory);
/* Logs the result. */
void gls_job_log_result(const gls_job *job);

/* Sets the hashes in job->shard. Call it after the inputs are read and the lengths are in mm. */
gls_status gls_job_identify(gls_job *job);

/* --- --skip-existing: was this run done before? The sidecar records the outputs for that. */

/* Sets job->other_inputs. Call it after the inputs are read. */
gls_status gls_job_hash_others(gls_job *job);
/* If all outputs exist and an equal run wrote them: sets result.skipped. If all exist, but no equal run is known to
 * have written them, and force is not set: returns GLS_ERR_OUTPUT. Otherwise acts like gls_job_check_outputs(). */
gls_status gls_job_find_done(gls_job *job);
/* Records in job->written the outputs, which are complete in the output group but do not have their final names. */
gls_status gls_job_note_outputs(gls_job *job);
/* Records a file that was made from the outputs and has its final name, such as a picture. Writes the sidecar again.
 * Does nothing if the run has no sidecar. */
gls_status gls_job_note_made(gls_job *job, const char *role, const char *path);

/* If the run gave no streamline: warns at which stage how many seeds and streamlines were lost, and what to try. */
void gls_job_explain_empty(const gls_job *job);

/* --- Warnings of results that look wrong although nothing failed. Each names the option to change. */

/* Warns of a mask that leaves out nothing, of a seed mask that looks like another kind of image, and of a stop map in
 * other units than FA or without numbers in many voxels. Call this after the masks are read. */
void gls_advise_of_masks(const gls_job *job);
/* Warns of a response too round for a single bundle, of FODs in other units, of long steps, and of seeds where
 * streamlines end at once. Call this after the fit. */
void gls_advise_of_fit(const gls_job *job);
/* Warns if too many streamlines were cut at the maximum length, or are longer than a brain allows. Call this after
 * tracking. */
void gls_advise_of_lengths(const gls_job *job);

/* --- Memory: how much a run needs, and how it stays within a limit. */

/* Checks the headers of series, ODFs and the first file of peaks, as far as they are NIfTI: GLS_ERR_ARGUMENT if their
 * voxels alone exceed the limit (0: none). Call this before images are read. */
gls_status gls_job_memory_check(const gls_job_inputs *inputs, uint64_t limit_mb);
/* Computes and logs how much memory the run needs. Call this after images are read. With a limit, makes batches smaller
 * until they fit and lets devices refuse to allocate more. GLS_ERR_ARGUMENT: even the smallest batch does not fit; the
 * message says how much memory is needed. */
gls_status gls_job_memory_plan(gls_job *job);
/* Frees the values of the series, unless tracking reads them. Call this after the fit. */
void gls_job_memory_release(gls_job *job);

/* Returns the plan of the run as JSON. memory: result of gls_job_plan(). From malloc; NULL: out of memory. */
char *gls_job_plan_json(const gls_job *job, const gls_track_memory *memory);

/* --- The sidecar. */

/* Composes the text of the sidecar from the job and its result. From malloc; NULL: out of memory. */
char *gls_track_sidecar_text(const gls_job *job);

/* --- Shards: the part of a run that one process tracks. */

/* Sets index and count of the shard. text: "3/8", or "auto": from the variables of Slurm, Open MPI or PMI. */
gls_status gls_shard_choose(const char *text, gls_shard *shard);

/* Restricts the seeds to the part of this shard. select: number of streamlines of --select. Does nothing if the shard's
 * count is 0. */
gls_status gls_shard_restrict(gls_shard *shard, gls_seeds *seeds, uint64_t select);

/* --- Merging sidecars: check that shards belong to one run, and make the sidecar of that run. */

/* A shard and its sidecar. */
typedef struct gls_merge_shard {
    /* path of the shard */
    const char *path;
    char *sidecar; /* path of the sidecar */
    cJSON *root;   /* contents of the sidecar */
} gls_merge_shard;

/* Reads the sidecar of a shard x.trx: x.trx.json if it exists, else x.json. GLS_ERR_INPUT: there is none, or it is
 * not that of a shard, or it records another size, number of streamlines or index than this shard has. */
gls_status gls_merge_shard_read(gls_merge_shard *shard);
/* Frees the sidecar. path is borrowed. */
void gls_merge_shard_finish(gls_merge_shard *shard);
/* Returns GLS_ERR_INPUT if b is not a shard of the same run as a; the message names the first difference. Warns once if
 * devices differ. *warned: false before the first call. */
gls_status gls_merge_shard_compare(const gls_merge_shard *a, const gls_merge_shard *b, bool *warned);
/* Fills in *sidecar: the sidecar of the whole run. output: the complete merged tractogram. Sorts shards by index. */
gls_status gls_merge_sidecar(gls_merge_shard *shards, size_t n, const gls_merge_options *options,
                             const gls_warnings *warnings, const gls_merge_result *result, const gls_output *output,
                             cJSON **sidecar);

#endif
