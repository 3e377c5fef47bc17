/* One run of tracking, as its sidecar and its reports see it. */
#ifndef GLS_WORKFLOW_JOB_H
#define GLS_WORKFLOW_JOB_H

#include <time.h>

#include "util/log.h"
#include "workflow/devices.h"
#include "workflow/maps.h"
#include "workflow/shard.h"
#include "workflow/study.h"

struct gls_job {
    gls_job_options options, options_given; /* the latter as they came, with lengths in voxels */
    gls_monitor monitor;
    gls_study study;
    gls_shard shard;         /* count 0: the whole run */
    gls_track_params params; /* lengths in mm; once the study is read */
    gls_tractogram_format format;
    char *output; /* the tractogram; without one the first map */
    bool maps_alone;
    char *bval, *bvec;         /* found beside the series */
    char *sidecar;             /* NULL: none */
    char *sidecar_second;      /* name it gets if the first is taken when the run ends; NULL: none */
    bool sidecar_moved;        /* it was taken */
    char *journal;             /* by which the run can be resumed; NULL: none */
    bool overwrite;            /* outputs that exist: they may be, or are this run's own */
    gls_run_identity identity; /* with a journal */
    uint64_t other_inputs;     /* hash of regions, tissue and what maps read, beside the files of the study; 0: none */
    gls_maps maps;
    gls_device_set devices;
    const gls_device_info *device; /* the first */
    gls_track_share share[GLS_TRACKER_MAX_DEVICES];
    gls_job_result result;
    gls_warnings warnings;
    uint64_t memory_bytes; /* that the run takes of the host at most */
    time_t started;
    double start; /* of gls_clock_seconds() */
};

/* Sets other_inputs, once the study is read. */
gls_status gls_job_hash_others(gls_job *job);
/* Sets result.skipped where all outputs are there and are those of this run. Outputs of another run are an error, as
 * they are without skip_existing. The job is open. */
gls_status gls_job_find_done(gls_job *job);

/* What would be done, as JSON, after gls_job_plan(). From malloc; NULL: out of memory. */
char *gls_job_plan_json(const gls_job *job, const gls_track_memory *memory);

/* Seeds of the whole run. */
uint64_t gls_job_seeds(const gls_job *job);

#endif
