/* Makes the report and the picture of a run of tracking. */
#include "render/illustrate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/render.h>
#include <glslines/report.h>

#include "record/sidecar.h"
#include "render/report.h"
#include "run/job_create.h"
#include "run/job_inputs.h"
#include "run/job_parts.h"
#include "run/run_identity.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* Checks the names of picture, report and other files: the suffix of the picture, that no file is an input, and that no
 * two files are the same. */
static gls_status check(const gls_illustrations *o, const gls_job *job)
{
    gls_status status = GLS_OK;
    if (o->picture && !gls_case_ends(o->picture, ".png"))
        return gls_fail(GLS_ERR_ARGUMENT, "--picture %s: the name of a picture ends in .png", o->picture);
    if (job->no_tractogram && (o->picture || o->report))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs a tractogram: leave it out, or name a file in place of -o none",
                        o->report ? "report" : "picture");
    const char *all[] = {o->picture, o->report, o->trace, o->json}, *path[4];
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++) {
        if (!all[i] || !*all[i]) continue;
        status = gls_job_check_beside(job, all[i]);
        if (!status) status = gls_output_check(all[i], true, path, n);
        path[n++] = all[i];
    }
    return status;
}

/* Returns GLS_ERR_OUTPUT unless the file was made from the existing output of this job. role: what the sidecar calls
 * the file; command: the command that makes it. */
static gls_status find(const char *path, const gls_job *job, const char *role, const char *command)
{
    const bool missing = access(path, F_OK) != 0;
    if (!missing && gls_written_is(cJSON_GetObjectItemCaseSensitive(job->written, role), path)) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT,
                    "%s: is %s, and this run makes nothing, because %s was made before: make the file from that "
                    "tractogram with 'glslines %s'",
                    path, missing ? "missing" : "not the file that was made from this run", job->result.output,
                    command);
}

/* For a run that is skipped because it was done before: checks that report and picture are those of the earlier run. */
static gls_status find_all(const gls_illustrations *o, const gls_job *job)
{
    gls_status status = o->picture ? find(o->picture, job, "picture", "render") : GLS_OK;
    return !status && o->report ? find(o->report, job, "report", "report") : status;
}

gls_status gls_illustrations_open(gls_illustrations *o, gls_job *job)
{
    if (o->report && !*o->report) {
        o->report = o->beside = gls_report_name(job->output);
        if (!o->report) return gls_no_memory();
    }
    const bool may_be_there = job->options.skip_existing;
    /* the picture shows the stop map of the run, which the job then keeps */
    job->inputs.wants_fa |= o->picture || o->report;
    gls_status status = may_be_there ? GLS_OK : check(o, job);
    if (!status) status = gls_job_open(job);
    if (status || job->undecided) return status;
    return job->result.skipped ? find_all(o, job) : check(o, job); /* check once more: opening the job has read the
                                                                      rules of bundles, which name further inputs */
}

/* Draws the picture, with the device that tracked. */
static void draw(const char *picture, gls_job *job)
{
    gls_render_options options = gls_render_options_default();
    options.image = job->options.fa;
    options.image_data = gls_job_inputs_scalar(&job->inputs);
    options.device = job->options.device;
    options.api = job->options.api;
    options.force = job->options.force;
    gls_log_mute_info(true); /* the device was logged before */
    const char *drawn = job->result.output;
    gls_status status = gls_render_files(&drawn, 1, picture, &options, NULL);
    gls_log_mute_info(false);
    if (!status) status = gls_job_note_made(job, "picture", picture);
    if (status)
        gls_log(GLS_LOG_WARNING, "the picture was not made: %s", gls_last_error());
    else
        gls_log(GLS_LOG_INFO, "picture     %s", picture);
}

/* Makes the report. */
static void report(const char *path, gls_job *job)
{
    gls_report_options options = gls_report_options_default();
    gls_report_result made;
    char size[32];
    const char *input = job->result.sidecar ? job->result.sidecar : job->result.output;
    options.output = path;
    options.image = job->options.fa;
    options.image_data = gls_job_inputs_scalar(&job->inputs);
    options.device = job->options.device;
    options.api = job->options.api;
    options.force = job->options.force;
    gls_status status = gls_report_files(input, &options, NULL, &made);
    if (!status) status = gls_job_note_made(job, "report", path);
    if (!status)
        gls_log(GLS_LOG_INFO, "report      %s, %s", path, gls_format_bytes(made.bytes, size, sizeof size));
    else
        gls_log(GLS_LOG_WARNING, "the report was not made: %s", gls_last_error());
}

void gls_illustrations_make(const gls_illustrations *o, gls_job *job)
{
    if (o->picture) draw(o->picture, job);
    if (o->report) report(o->report, job);
}

void gls_illustrations_finish(gls_illustrations *o)
{
    free(o->beside);
}
