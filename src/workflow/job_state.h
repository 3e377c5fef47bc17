/* One run of tracking: what its parts, its sidecar and its reports see of it. */
#ifndef GLS_WORKFLOW_JOB_STATE_H
#define GLS_WORKFLOW_JOB_STATE_H

#include <time.h>

#include "util/status.h"
#include "workflow/devices.h"
#include "workflow/inputs.h"
#include "workflow/shard.h"
#include "workflow/sinks/sinks.h"
#include "workflow/study_state.h"

struct gls_job {
    gls_job_options options, options_given; /* the latter as they came, with lengths in voxels */
    gls_monitor monitor;
    gls_study study;
    gls_shard shard;         /* count 0: the whole run */
    gls_track_params params; /* lengths in mm; once the study is read */
    gls_tractogram_format format;
    char *output; /* the tractogram; without one the first result of a sink */
    bool maps_alone;
    char *bval, *bvec;         /* found beside the series */
    gls_inputs inputs;         /* what it reads, which no output may be */
    char *sidecar;             /* NULL: none */
    char *sidecar_second;      /* name it gets if the first is taken when the run ends; NULL: none */
    bool sidecar_moved;        /* it was taken */
    char *mask;                /* file to write the mask to; NULL: none */
    struct cJSON *written;     /* for the sidecar: what the run wrote, or one before that did the same; NULL: not yet */
    char *journal;             /* by which the run can be resumed; NULL: none */
    bool overwrite;            /* outputs that exist: they may be, or are this run's own */
    gls_run_identity identity; /* with a journal */
    uint64_t other_inputs;     /* hash of regions, tissue and what sinks read, beside the files of the study; 0: none */
    gls_run_sinks sinks;
    gls_device_set devices;
    const gls_device_info *device; /* the first */
    gls_track_share share[GLS_TRACKER_MAX_DEVICES];
    gls_job_result result;
    gls_warnings warnings;
    uint64_t memory_bytes; /* that the run takes of the host at most */
    bool shared_memory;    /* the device's memory is the host's */
    time_t started;
    double start; /* of gls_clock_seconds() */
};

/* Whether the tractogram holds columns and groups. */
static inline bool gls_job_writes_trx(const gls_job *job)
{
    return !job->maps_alone && job->format == GLS_FORMAT_TRX;
}

/* Seeds of the whole run. */
static inline uint64_t gls_job_seeds(const gls_job *job)
{
    if (!job->study.seeds) return job->options.nseeds; /* they are made after the fit */
    return job->shard.count > 0 ? job->shard.total_seeds : gls_seeds_count(job->study.seeds);
}

#endif
