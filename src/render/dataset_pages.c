/* Writes the report, the picture and the list of what to cite for the tractogram of a unit of a data set. */
#include "render/dataset_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/render.h>
#include <glslines/report.h>

#include "bids/dataset_describe.h"
#include "bids/dataset_track.h"
#include "render/cite.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

#define CITATION_TITLE "# What to cite for these tractograms"
#define REPORT_MARK "<title>glslines: "
#define PICTURE_MARK "glslines" /* text that marks a PNG as made by this program: value of its chunk Software */

/* Whether the report and its files for MultiQC may be written. */
static bool may_report(const gls_dataset_files *files)
{
    static const struct {
        const char *end, *mark;
    } parts[] = {{"general_mqc.json", "glslines_general"},
                 {"lengths_mqc.json", "glslines_lengths"},
                 {"tractogram_mqc.png", PICTURE_MARK}};
    const char *name = strrchr(files->sidecar, '/') + 1;
    char path[GLS_DATASET_MAX_PATH + 64];
    bool may = gls_dataset_may_write(files->report, REPORT_MARK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && may; i++) {
        snprintf(path, sizeof path, "%s/%.*s_glslines_%s", files->logs, (int)strcspn(name, "."), name, parts[i].end);
        may = gls_dataset_may_write(path, parts[i].mark);
    }
    return may;
}

/* Makes report and picture of a tracked unit: both if the unit was tracked just now (anew), else those that are
 * missing. Does not replace files of other programs. A failure is a warning. */
static void illustrate(const gls_dataset_task *run, const gls_dataset_unit *u, const gls_job_options *job, bool anew)
{
    /* a finished unit may lack its report or its picture, for example if an earlier run was interrupted */
    gls_dataset_files files;
    gls_dataset_name(run->dataset, u, job, &files);
    /* anew: the unit was tracked just now, so an older report or picture is out of date */
    const bool wants_report = anew || access(files.report, F_OK) != 0,
               wants_picture = anew || access(files.picture, F_OK) != 0;
    if (!wants_report && !wants_picture) return;
    gls_report_options report = gls_report_options_default();
    report.output = files.report;
    report.mqc = files.logs;
    report.image = u->dwi;
    report.device = job->device;
    report.api = job->api;
    report.go_on = run->go_on;
    report.force = true;
    gls_render_options picture = gls_render_options_default();
    const char *tractogram = files.tractogram;
    picture.image = u->dwi;
    picture.device = job->device;
    picture.api = job->api;
    /* a small picture of few streamlines */
    picture.tile = "400x420";
    picture.max_streamlines = 5000;
    picture.palette = true;
    picture.go_on = run->go_on;
    picture.force = true;
    /* report and picture log the device and their sizes, which are of no interest here */
    gls_log_mute_info(true);
    gls_report_result result;
    if (wants_report && may_report(&files) && gls_report_files(files.sidecar, &report, NULL, &result) != GLS_OK &&
        run->go_on())
        gls_log(GLS_LOG_WARNING, "the report was not made: %s", gls_last_error());
    if (wants_picture && run->go_on() && gls_dataset_may_write(files.picture, PICTURE_MARK) &&
        gls_render_files(&tractogram, 1, files.picture, &picture, NULL) != GLS_OK && run->go_on())
        gls_log(GLS_LOG_WARNING, "the picture was not made: %s", gls_last_error());
    gls_log_mute_info(run->jobs > 1);
}

/* Writes what to cite. Each tracked unit writes the same file anew: all units have the same options. */
static void write_citation(const gls_dataset_task *run, const gls_dataset_unit *u, const gls_job_options *job)
{
    gls_dataset_files files;
    char path[1600], *methods = NULL, *text = NULL;
    gls_dataset_name(run->dataset, u, job, &files);
    snprintf(path, sizeof path, "%s/CITATION.md", files.logs);
    if (!gls_dataset_may_write(path, CITATION_TITLE)) return;
    gls_status status = gls_cite(files.sidecar, GLS_CITE_METHODS, &methods);
    gls_text page = {0};
    gls_text_puts(&page, CITATION_TITLE "\n\n");
    gls_text_puts(&page, methods ? methods : "");
    text = gls_text_take(&page);
    if (!status && !text) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!status) status = gls_file_write(path, true, NULL, text, strlen(text));
    if (status) gls_log(GLS_LOG_WARNING, "%s", gls_last_error());
    free(text);
    free(methods);
}

void gls_dataset_document(const gls_dataset_task *run, const gls_dataset_unit *u, const gls_job_options *job, bool anew)
{
    if (anew) write_citation(run, u, job);
    if (!run->no_report) illustrate(run, u, job, anew);
}
