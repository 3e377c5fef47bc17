/* Tracking again and again with one run of tracking, as a seed sphere moves. */
#ifndef GLS_RUN_JOB_H
#define GLS_RUN_JOB_H

#include <glslines/workflow.h>

/* Tracks from nseeds seeds in a sphere (centre and radius, world mm) into a sink, as the options seed_sphere, nseeds
 * and seed_seed do, in place of the seeds of the job. The first call makes the tracker, which later calls use again.
 * monitor: of this call. Call it after gls_job_fit(); the caller finishes or aborts the sink. */
gls_status gls_job_track_sphere(gls_job *job, const double sphere[4], uint64_t nseeds, uint64_t seed,
                                const gls_monitor *monitor, const gls_sink *sink);

#endif
