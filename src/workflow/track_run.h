/* Inside a run of tracking, for the files that share it. */
#ifndef GLS_WORKFLOW_TRACK_RUN_H
#define GLS_WORKFLOW_TRACK_RUN_H

#include <time.h>

#include "track/run/journal.h"
#include "util/output_file.h"
#include "workflow/devices.h"
#include "workflow/run.h"
#include "workflow/run_shards.h"
#include "workflow/sinks/sinks.h"
#include "workflow/track_inputs.h"

/* --- One run of tracking: what its parts, its sidecar and its reports see of it. */

struct gls_job {
    gls_job_options options, options_given; /* the latter as they came, with lengths in voxels */
    gls_monitor monitor;
    gls_job_inputs inputs;
    gls_shard shard;         /* count 0: the whole run */
    gls_track_params params; /* lengths in mm; once the inputs is read */
    gls_tractogram_format format;
    char *output; /* the tractogram; without one the first result of a sink */
    bool no_tractogram;
    char *bval, *bvec;         /* found beside the series */
    gls_run run;               /* force: outputs that exist may be replaced, or are this run's own */
    char *sidecar;             /* NULL: none */
    char *sidecar_second;      /* name it gets if the first is taken when the run ends; NULL: none */
    bool sidecar_moved;        /* it was taken */
    char *mask;                /* file to write the mask to; NULL: none */
    struct cJSON *written;     /* for the sidecar: what the run wrote, or one before that did the same; NULL: not yet */
    char *journal;             /* by which the run can be resumed; NULL: none */
    gls_run_identity identity; /* with a journal */
    uint64_t other_inputs; /* hash of regions, tissue and what sinks read, beside the files of the inputs; 0: none */
    gls_run_sinks sinks;
    gls_device_set devices;
    const gls_device_info *device; /* the first */
    gls_track_share share[GLS_TRACKER_MAX_DEVICES];
    gls_job_result result;
    uint64_t memory_bytes; /* that the run takes of the host at most */
    bool shared_memory;    /* the device's memory is the host's */
    time_t started;
};

/* Whether the tractogram holds columns and groups. */
static inline bool gls_job_writes_trx(const gls_job *job)
{
    return !job->no_tractogram && job->format == GLS_FORMAT_TRX;
}

/* Seeds of the whole run. */
static inline uint64_t gls_job_seeds(const gls_job *job)
{
    if (!job->inputs.seeds) return job->options.nseeds; /* they are made after the fit */
    return job->shard.count > 0 ? job->shard.total_seeds : gls_seeds_count(job->inputs.seeds);
}

/* --- Names and formats of what a job writes, and whether they can be written without harm to an input. */

gls_status gls_job_choose_format(gls_job *job);
/* The files that the options name, but for those that sinks read. */
gls_status gls_job_options_inputs(const gls_job_options *options, gls_inputs *inputs);
/* All of them, once sinks have taken the options. */
gls_status gls_job_name_inputs(gls_job *job);
/* Names the tractogram; without one its name stays NULL. */
gls_status gls_job_name_tractogram(gls_job *job);
/* Names all other files that the job writes. */
gls_status gls_job_name_outputs(gls_job *job);
/* The files that the job writes, but for its sidecar; returns how many. */
#define GLS_JOB_FILES (2 + GLS_MAX_SINKS)
typedef struct gls_job_file {
    const char *role; /* the option that asks for it */
    const char *path;
} gls_job_file;
size_t gls_job_files(const gls_job *job, gls_job_file file[GLS_JOB_FILES]);
/* Each place is free or may be overwritten, and is none of the inputs. */
gls_status gls_job_check_outputs(gls_job *job);
/* The same for a file that is made from the output, beside all of them. */
gls_status gls_job_check_beside(const gls_job *job, const char *path);
gls_status gls_job_create_writer(const gls_job *job, gls_tractogram_writer **writer);

/* --- What there is to tell of a run. */

/* What is known before tracking, of a job that is open; from malloc, NULL: out of memory. */
char *gls_job_plan_text(const gls_job *job, const gls_track_memory *memory);
/* Logs what came out. */
void gls_job_log_result(const gls_job *job);

/* The name of a mapping, for auto of what that takes on this device; *lanes gets the invocations per streamline. */
const char *gls_device_mapping(const gls_device_info *device, gls_mapping asked, uint32_t *lanes);

/* --- Whether a run was done before, and what a run notes of its outputs so that a later one sees this. */

/* Sets other_inputs, once the inputs is read. */
gls_status gls_job_hash_others(gls_job *job);
/* Sets result.skipped where all outputs are there and are those of this run. Outputs of another run are an error, as
 * they are without skip_existing. The job is open. */
gls_status gls_job_find_done(gls_job *job);
/* Notes the outputs, complete in the group, for the sidecar. */
gls_status gls_job_note_outputs(gls_job *job, const gls_output_group *group);
/* The same of a file that was made from them and has its name, such as a picture; the sidecar is written anew. */
gls_status gls_job_note_made(gls_job *job, const char *role, const char *path);

/* --- Why a run gave no streamline. */

/* Warns, once tracked, where there is no streamline: how many seeds and streamlines each stage lost, and what to try.
 */
void gls_job_explain_empty(const gls_job *job);

/* --- Results that look wrong although nothing failed: warnings that name the option to turn. */

/* Of masks, once they are read: one that leaves nothing out, a seed mask that seems to be something else, a stop map in
 * other units than those of FA. */
void gls_advise_of_masks(const gls_job *job);
/* Of the fit: a response that no single bundle has, and seeds where streamlines end at once. */
void gls_advise_of_fit(const gls_job *job);
/* Of the streamlines, once tracked: too many that are longer than a brain allows. */
void gls_advise_of_lengths(const gls_job *job);

/* --- What a run takes of memory, and how it is kept within a limit. */

/* Before images are read: whether their voxels alone are over the limit, by the headers of the files. */
gls_status gls_job_memory_check(const gls_job_inputs *inputs, uint64_t limit_mb);
/* Once they are read: tells what the run will take. With a limit batches are made smaller until it is kept, and the
 * devices refuse more; GLS_ERR_ARGUMENT with the figures where even the smallest batch is over it. */
gls_status gls_job_memory_plan(gls_job *job);
/* After the plan: what to request of a scheduler, MiB. */
uint64_t gls_job_memory_request(const gls_job *job);
/* After the fit: gives back what tracking does not read any more. */
void gls_job_memory_release(gls_job *job);

/* --- What a run would do, for a program that asks before. */

/* What would be done, as JSON, after gls_job_plan(). From malloc; NULL: out of memory. */
char *gls_job_plan_json(const gls_job *job, const gls_track_memory *memory);

/* --- Runs that go on where one before them was killed: the journal beside the output, which is there until the outputs
 * have their names. */

/* The journal's name; from malloc, NULL: no memory. */
char *gls_resume_name(const char *output);
/* Whether what stands at path was written by a run whose journal says that it is complete: it was killed before it
 * could remove the journal. */
bool gls_resume_is_own(const char *journal, const char *path);
/* The journal of the job's run, which is NULL where none is wanted. Tells what is there already. */
gls_status gls_resume_open(const gls_job *job, gls_journal **journal);
/* Notes the outputs before they get their names. */
gls_status gls_resume_complete(gls_journal *journal, const gls_output_group *group);

/* --- The JSON file beside a tractogram: everything needed to know how it was made. */

/* Takes the sidecar's place in the group: the first time, or in place of the one that was begun before under a name
 * that is taken by now. */
gls_status gls_track_sidecar_begin(gls_job *job, gls_output_group *group, gls_output *sidecar);
/* The text, from malloc; NULL without memory. */
char *gls_track_sidecar_text(const gls_job *job);

#endif
