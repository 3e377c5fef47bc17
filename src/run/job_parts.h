/* Inside a run of tracking (gls_job): its state, and the functions that the files of the run share. */
#ifndef GLS_RUN_JOB_PARTS_H
#define GLS_RUN_JOB_PARTS_H

#include <cJSON.h>
#include <time.h>

#include <glslines/device.h>
#include <glslines/seeds.h>
#include <glslines/shard.h>
#include <glslines/track.h>
#include <glslines/tractogram.h>
#include <glslines/workflow.h>

#include "anat/anat_files.h"
#include "gpu/devices.h"
#include "record/run.h"
#include "run/job_inputs.h"
#include "run/job_inputs_parts.h"
#include "sinks/sinks.h"
#include "track/run/journal.h"
#include "util/output_file.h"
#include "weights/dynamic_seeds.h"

/* --- State of the run. */

/* An output file of a run, with its role in the sidecar. */
typedef struct gls_job_file {
    char role[40]; /* "tractogram", or the name of the option that asks for the file, with _ for -, and _2, _3 and so on
                      for further files of the option */
    const char *path; /* borrowed */
} gls_job_file;

/* Files that the program makes beside the outputs of a run: pictures and reports are made from the outputs. */
typedef enum gls_job_extra {
    GLS_EXTRA_PICTURE,
    GLS_EXTRA_REPORT,
    GLS_EXTRA_TRACE,
    GLS_EXTRA_JSON,
    GLS_JOB_EXTRAS
} gls_job_extra;

/* Largest number of output files, without the sidecar. */
#define GLS_JOB_FILES (2 + GLS_MAX_SINKS)

struct gls_job {
    gls_job_options options, options_given; /* options_given: complete, before the run looked at its files; options:
                                               with the values that it chose by them */
    gls_monitor monitor;
    /* images, seeds and model */
    gls_job_inputs inputs;
    gls_shard shard; /* count 0: the whole run. The hashes in it are set with a journal or a shard only; runs that give
                      * the same streamlines have equal hashes */
    gls_track_params params; /* lengths in mm; set once the inputs are read */
    gls_tractogram_format format;
    char *output; /* path of the tractogram; with --output none, of the first other output */
    bool no_tractogram;
    char *bval, *bvec;                 /* paths found beside the series, owned; NULL: the options give them */
    gls_anat_names anatomy;            /* files of --t1; empty: none */
    char *connectome[GLS_MAX_STRINGS]; /* texts of --connectome in which the word atlas was replaced, owned */
    gls_run run;          /* run.force: existing outputs may be replaced, or are known to be this run's own */
    char *sidecar_second; /* path of the sidecar if its first name is taken when the run ends; NULL: none */
    bool sidecar_moved;   /* true: the sidecar has the second name */
    bool axes_checked;
    bool plans;     /* true: the job is only planned, and makes no anatomy */
    bool undecided; /* true: only an anatomy that a plan does not make shows whether this run was done before */
    char *mask;     /* path of the mask to write; NULL: none */
    gls_job_file file[GLS_JOB_FILES]; /* the n_files files that the run writes, except the sidecar */
    size_t n_files;
    char *extra[GLS_JOB_EXTRAS]; /* names of the files beside them, owned; NULL: none */
    cJSON *written; /* the sidecar's entries of the files that were written, by this run or by an equal run before;
                       NULL: not known yet */
    char *journal;  /* path of the journal of --resume; NULL: none */
    uint64_t other_inputs; /* hash of regions, tissue and inputs of sinks, which are not among the files of `inputs`; 0:
                              none */
    gls_run_sinks sinks;
    gls_dynamic_seeds *dynamic; /* draws the seeds of --seed-dynamic; NULL: seeds are drawn before */
    /* the devices that track */
    gls_device_set devices;
    const gls_device_info *device; /* properties of the first device */
    gls_tracker *tracker;          /* of gls_job_track_sphere(), kept for its next call; NULL: none yet */
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

/* --- Text about the run. */

/* --- --skip-existing: was this run done before? The sidecar records the outputs for that. */

/* --- Warnings of results that look wrong although nothing failed. Each names the option to change. */

/* --- Memory: how much a run needs, and how it stays within a limit. */

/* --- The sidecar. */

/* --- Shards: the part of a run that one process tracks. */

/* --- Merging sidecars: check that shards belong to one run, and make the sidecar of that run. */

#endif
