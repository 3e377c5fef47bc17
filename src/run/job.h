/* Tracking again and again with one run of tracking, as a seed sphere moves or a seed region is painted. */
#ifndef GLS_RUN_JOB_H
#define GLS_RUN_JOB_H

#include <glslines/workflow.h>

#include "run/job_inputs_parts.h"

/* Tracks from nseeds seeds in a sphere (centre and radius, world mm) into a sink, as the options seed_sphere, nseeds
 * and seed_seed do, in place of the seeds of the job. The first call makes the tracker, which later calls use again.
 * monitor: of this call. Call it after gls_job_fit(); the caller finishes or aborts the sink. */
gls_status gls_job_track_sphere(gls_job *job, const double sphere[4], uint64_t nseeds, uint64_t seed,
                                const gls_monitor *monitor, const gls_sink *sink);
/* Like gls_job_track_sphere(), from seeds drawn by the weights of an image, as the option seed_rejection does. Takes
 * the image, also after a failure. name: for messages. */
gls_status gls_job_track_weights(gls_job *job, gls_image *weights, const char *name, uint64_t nseeds, uint64_t seed,
                                 const gls_monitor *monitor, const gls_sink *sink);
/* Takes the inputs and devices of another job in place of gls_job_open() and gls_job_fit(). The options of both may
 * differ in the angle, the cutoff and the step alone. The other job can only be destroyed then; a failure leaves it as
 * it is. */
gls_status gls_job_take(gls_job *job, gls_job *from);
/* Ends streamlines in n regions besides those of the options, as further --stop-at do, from the next call on. A later
 * call replaces them, and has to, after a failure. */
gls_status gls_job_stop_at(gls_job *job, const gls_job_stop *stop, size_t n);

#endif
