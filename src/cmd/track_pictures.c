#include "cmd/track_pictures.h"

#include <string.h>
#include <strings.h>

#include <glslines/render.h>
#include <glslines/report.h>

#include "cmd/message.h"
#include "util/format.h"
#include "util/log.h"
#include "workflow/output.h"

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && strcasecmp(path + n - m, suffix) == 0;
}

int track_pictures_check(const track_options *o, const gls_job_options *job)
{
    const char *inputs[] = {job->dwi, job->bval, job->bvec, job->mask, job->roi,
                            job->fa,  job->sh,   job->odf,  job->seeds};
    const char *others[] = {job->output, job->sidecar, job->density, o->picture};
    gls_status status = GLS_OK;
    if (o->picture && !ends_in(o->picture, ".png"))
        return cmd_error(CMD_EXIT_USAGE, "--picture %s: the name of a picture ends in .png", o->picture);
    if (o->picture) status = gls_place_check(o->picture, o->force, inputs, sizeof inputs / sizeof *inputs, others, 3);
    if (!status && o->report)
        status = gls_place_check(o->report, o->force, inputs, sizeof inputs / sizeof *inputs, others, 4);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

void track_pictures_make(const track_options *o, const gls_job_result *result)
{
    char size[32];
    if (o->picture) {
        gls_render_options options = gls_render_options_default();
        options.image = o->fa;
        options.device = o->device;
        options.api = (gls_graphics)o->api;
        options.force = o->force;
        gls_log_mute_info(true); /* which device there is has been said */
        gls_status status = gls_render_files(&result->output, 1, o->picture, &options, NULL);
        gls_log_mute_info(false);
        if (status == GLS_OK)
            cmd_info("picture     %s", o->picture);
        else
            cmd_warn("no picture: %s", gls_last_error());
    }
    if (o->report) {
        gls_report_options options = gls_report_options_default();
        gls_report_result report;
        options.output = o->report;
        options.image = o->fa;
        options.device = o->device;
        options.api = (gls_graphics)o->api;
        options.force = o->force;
        const char *input = result->sidecar ? result->sidecar : result->output;
        if (gls_report_files(input, &options, NULL, &report) == GLS_OK)
            cmd_info("report      %s, %s", o->report, gls_format_bytes(report.bytes, size, sizeof size));
        else
            cmd_warn("no report: %s", gls_last_error());
    }
}
