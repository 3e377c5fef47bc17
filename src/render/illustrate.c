#include "render/illustrate.h"

#include <string.h>
#include <strings.h>

#include <glslines/render.h>
#include <glslines/report.h>

#include "util/format.h"
#include "util/log.h"
#include "util/status.h"
#include "workflow/output.h"

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcasecmp(path + n - m, suffix) == 0;
}

gls_status gls_illustrations_check(const gls_illustrations *o, const gls_job_options *job)
{
    const char *inputs[] = {job->dwi, job->bval, job->bvec, job->mask, job->roi,
                            job->fa,  job->sh,   job->odf,  job->seeds};
    const char *others[] = {job->output, job->sidecar, job->density, o->picture};
    gls_status status = GLS_OK;
    if (o->picture && !ends_in(o->picture, ".png"))
        return gls_fail(GLS_ERR_ARGUMENT, "--picture %s: the name of a picture ends in .png", o->picture);
    if (o->picture) status = gls_place_check(o->picture, job->force, inputs, sizeof inputs / sizeof *inputs, others, 3);
    if (status || !o->report) return status;
    return gls_place_check(o->report, job->force, inputs, sizeof inputs / sizeof *inputs, others, 4);
}

static void draw(const char *picture, const gls_job_options *job, const gls_job_result *result)
{
    gls_render_options options = gls_render_options_default();
    options.image = job->fa;
    options.device = job->device;
    options.api = job->api;
    options.force = job->force;
    gls_log_mute_info(true); /* which device there is has been said */
    gls_status status = gls_render_files(&result->output, 1, picture, &options, NULL);
    gls_log_mute_info(false);
    if (status)
        gls_log(GLS_LOG_WARNING, "no picture: %s", gls_last_error());
    else
        gls_log(GLS_LOG_INFO, "picture     %s", picture);
}

static void report(const char *path, const gls_job_options *job, const gls_job_result *result)
{
    gls_report_options options = gls_report_options_default();
    gls_report_result made;
    char size[32];
    options.output = path;
    options.image = job->fa;
    options.device = job->device;
    options.api = job->api;
    options.force = job->force;
    if (gls_report_files(result->sidecar ? result->sidecar : result->output, &options, NULL, &made) == GLS_OK)
        gls_log(GLS_LOG_INFO, "report      %s, %s", path, gls_format_bytes(made.bytes, size, sizeof size));
    else
        gls_log(GLS_LOG_WARNING, "no report: %s", gls_last_error());
}

void gls_illustrations_make(const gls_illustrations *o, const gls_job_options *job, const gls_job_result *result)
{
    if (o->picture) draw(o->picture, job, result);
    if (o->report) report(o->report, job, result);
}
