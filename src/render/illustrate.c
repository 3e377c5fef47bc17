/* Makes the report and the picture of a run of tracking. */
#include "render/illustrate.h"

#include <stdlib.h>

#include <glslines/render.h>
#include <glslines/report.h>

#include "render/report.h"
#include "run/job_create.h"
#include "run/job_inputs.h"
#include "run/job_parts.h"
#include "run/run_identity.h"
#include "util/status.h"
#include "util/text.h"

gls_status gls_illustrations_name(gls_job *job, const gls_run_options *run)
{
    const bool illustrated = run->picture || run->report;
    if (run->picture && !gls_case_ends(run->picture, ".png"))
        return gls_fail(GLS_ERR_ARGUMENT, "--picture %s: the name of a picture ends in .png", run->picture);
    if (job->no_tractogram && illustrated)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs a tractogram: leave it out, or name a file in place of -o none",
                        run->report ? "report" : "picture");
    /* the picture shows the stop map of the run, which the job then keeps */
    job->inputs.wants_fa |= illustrated;
    /* a report without a name lies beside the output */
    char *beside = run->report && !*run->report ? gls_report_name(job->output) : NULL;
    if (run->report && !*run->report && !beside) return gls_no_memory();
    const char *const path[GLS_JOB_EXTRAS] = {[GLS_EXTRA_PICTURE] = run->picture,
                                              [GLS_EXTRA_REPORT] = beside ? beside : run->report,
                                              [GLS_EXTRA_TRACE] = run->trace,
                                              [GLS_EXTRA_JSON] = run->json};
    gls_status status = gls_job_add_extras(job, path);
    free(beside);
    return status;
}

/* Draws the picture, with the device that tracked. */
static void draw(gls_job *job)
{
    const char *picture = job->extra[GLS_EXTRA_PICTURE], *drawn = job->result.output;
    gls_render_options options = gls_render_options_default();
    options.image = job->options.fa;
    options.image_data = gls_job_inputs_scalar(&job->inputs);
    options.device = job->options.device;
    options.api = job->options.api;
    options.force = job->options.force;
    gls_log_mute_info(true); /* the device was logged before */
    gls_status status = gls_render_files(&drawn, 1, picture, &options, NULL);
    gls_log_mute_info(false);
    if (!status) status = gls_job_note_extra(job, GLS_EXTRA_PICTURE);
    if (status)
        gls_log(GLS_LOG_WARNING, "the picture was not made: %s", gls_last_error());
    else
        gls_log(GLS_LOG_INFO, "picture     %s", picture);
}

/* Makes the report. */
static void report(gls_job *job)
{
    gls_report_options options = gls_report_options_default();
    gls_report_result made;
    char size[32];
    const char *input = job->result.sidecar ? job->result.sidecar : job->result.output;
    options.output = job->extra[GLS_EXTRA_REPORT];
    options.image = job->options.fa;
    options.image_data = gls_job_inputs_scalar(&job->inputs);
    options.device = job->options.device;
    options.api = job->options.api;
    options.force = job->options.force;
    gls_status status = gls_report_files(input, &options, NULL, &made);
    if (!status) status = gls_job_note_extra(job, GLS_EXTRA_REPORT);
    if (!status)
        gls_log(GLS_LOG_INFO, "report      %s, %s", options.output, gls_format_bytes(made.bytes, size, sizeof size));
    else
        gls_log(GLS_LOG_WARNING, "the report was not made: %s", gls_last_error());
}

void gls_illustrations_make(gls_job *job)
{
    if (job->extra[GLS_EXTRA_PICTURE]) draw(job);
    if (job->extra[GLS_EXTRA_REPORT]) report(job);
}
