/* Data of a report for programs: streamlines for the script of the 3-D view, in the page; files for MultiQC and
 * versions of the software, beside the page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_files.h"
#include "record/sidecar.h"
#include "render/page.h"
#include "render/report_parts.h"
#include "render/report_plots.h"
#include "render/report_tables.h"
#include "render/stage.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* --- Streamlines ---------------------------------------------------------- */

/* Appends the streamlines of the 3-D view, compressed. A failure is only a warning: the page then has no 3-D view. */
static void put_lines(const gls_report *report, gls_text *out)
{
    if (report->options->no_view || report->scene.n_lines == 0) return;
    gls_text bytes = {0};
    gls_status status = gls_stage_lines(&report->scene, &bytes);
    const size_t n = bytes.length;
    char *raw = gls_text_take(&bytes);
    if (!status) status = raw ? gls_html_packed(out, raw, n) : gls_no_memory();
    free(raw);
    if (status) gls_log(GLS_LOG_WARNING, "the report has no 3-D view: %s", gls_last_error());
}

/* Appends the columns and groups of the streamlines of the 3-D view as a JSON array. */
static void put_columns(const gls_report *report, gls_text *out)
{
    if (report->options->no_view)
        gls_text_puts(out, "[]");
    else
        gls_stage_columns(&report->scene, out);
}

const gls_report_section gls_report_data[] = {{"lines", put_lines}, {"columns", put_columns}, {NULL, NULL}};

/* --- MultiQC -------------------------------------------------------------- */

/* Checks that a file may be written to `path`, and adds it, with these bytes, to the output group of the run. */
static gls_status add_file(gls_report *r, const char *path, const void *data, size_t bytes)
{
    gls_status status = gls_run_writes(&r->run, path);
    return status ? status : gls_file_write(path, r->options->force, &r->run.group, data, bytes);
}

/* Writes a file of MultiQC, FOLDER/NAME_glslines_WHAT_mqc.json; frees root. */
static gls_status write_json(gls_report *r, const char *what, cJSON *root)
{
    char *path = NULL, *text = gls_json_print(root);
    gls_status status = GLS_OK;
    if (!text || gls_asprintf(&path, "%s/%s_glslines_%s_mqc.json", r->options->mqc, r->name, what) < 0)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for the files of MultiQC");
    if (!status) status = add_file(r, path, text, strlen(text));
    cJSON_Delete(root);
    cJSON_free(text);
    free(path);
    return status;
}

/* Adds a column to the table of general statistics, if v is a number. format and suffix: as MultiQC's. */
static void add_column(cJSON *pconfig, cJSON *values, const char *key, const char *title, const char *format,
                       const char *suffix, double v)
{
    if (!isfinite(v)) return;
    cJSON *column = cJSON_CreateObject();
    cJSON *about = cJSON_AddObjectToObject(column, key);
    cJSON_AddStringToObject(about, "title", title);
    cJSON_AddStringToObject(about, "namespace", "glslines");
    cJSON_AddStringToObject(about, "format", format);
    if (suffix) cJSON_AddStringToObject(about, "suffix", suffix);
    cJSON_AddItemToArray(pconfig, column);
    gls_json_double(values, key, v);
}

/* The row of this run in MultiQC's table of general statistics. */
static cJSON *general(const gls_report *r)
{
    const gls_summary_result *c = r->counted;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "id", "glslines_general");
    cJSON_AddStringToObject(root, "plot_type", "generalstats");
    cJSON *pconfig = cJSON_AddArrayToObject(root, "pconfig");
    cJSON *values = cJSON_AddObjectToObject(cJSON_AddObjectToObject(root, "data"), r->name);
    double directions = gls_report_number(r, "counts/directions"),
           streamlines = gls_report_number(r, "counts/streamlines");
    add_column(pconfig, values, "streamlines", "Streamlines", "{:,.0f}", NULL,
               c ? (double)c->streamlines : streamlines);
    add_column(pconfig, values, "kept_percent", "Kept", "{:.1f}", " %",
               directions > 0 ? 100 * streamlines / directions : NAN);
    add_column(pconfig, values, "mean_mm", "Mean length", "{:.1f}", " mm", c ? c->length.mean : NAN);
    add_column(pconfig, values, "median_mm", "Median length", "{:.1f}", " mm", c ? c->length.median : NAN);
    add_column(pconfig, values, "seconds", "Time", "{:.1f}", " s", gls_report_number(r, "seconds/total"));
    add_column(pconfig, values, "warnings", "Warnings", "{:.0f}", NULL,
               r->sidecar ? cJSON_GetArraySize(gls_report_get(r, "warnings")) : NAN);
    return root;
}

/* The histogram of lengths as a line of MultiQC's plot. */
static cJSON *lengths(const gls_report *r)
{
    double width;
    uint64_t bins[40];
    char key[32];
    size_t n = gls_report_bins(r, &width, bins);
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "id", "glslines_lengths");
    cJSON_AddStringToObject(root, "section_name", "Lengths of streamlines");
    cJSON_AddStringToObject(root, "plot_type", "linegraph");
    cJSON *pconfig = cJSON_AddObjectToObject(root, "pconfig");
    cJSON_AddStringToObject(pconfig, "id", "glslines_lengths_plot");
    cJSON_AddStringToObject(pconfig, "title", "glslines: lengths of streamlines");
    cJSON_AddStringToObject(pconfig, "xlab", "length, mm");
    cJSON_AddStringToObject(pconfig, "ylab", "streamlines");
    cJSON *values = cJSON_AddObjectToObject(cJSON_AddObjectToObject(root, "data"), r->name);
    for (size_t i = 0; i < n; i++) {
        gls_snprintf(key, sizeof key, "%g", width * ((double)i + 0.5));
        gls_json_uint(values, key, bins[i]);
    }
    return root;
}

/* Adds the files for MultiQC. */
static gls_status add_mqc(gls_report *r)
{
    const gls_report_picture *views = &r->picture[GLS_PICTURE_VIEWS];
    char *path = NULL;
    gls_status status = gls_folders_make(r->options->mqc, NULL);
    if (!status) status = write_json(r, "general", general(r));
    if (!status && r->n_lengths > 0) status = write_json(r, "lengths", lengths(r));
    if (status || !views->png) return status;
    if (gls_asprintf(&path, "%s/%s_glslines_tractogram_mqc.png", r->options->mqc, r->name) < 0)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the files of MultiQC");
    status = add_file(r, path, views->png, views->bytes);
    free(path);
    return status;
}

/* Appends `text` up to its first character that is listed in `end`. */
static void append_part(gls_text *out, const char *text, const char *end)
{
    char *part = strndup(text, strcspn(text, end));
    if (part) gls_text_show(out, part);
    out->failed |= !part;
    free(part);
}

/* Appends a line of YAML, NAME: "VERSION". The name is cut at its first blank or special character, the version at a
 * quote. */
static void append_version(gls_text *out, const char *name, const char *version)
{
    gls_text_puts(out, "    ");
    append_part(out, name, " :#\"\\\r\n\t");
    gls_text_puts(out, ": \"");
    append_part(out, version, "\"\\\r\n");
    gls_text_puts(out, "\"\n");
}

/* Adds the file of versions of program and libraries, for pipelines. */
static gls_status add_versions(gls_report *r)
{
    gls_text out = {0};
    const char *of_run = gls_report_text(r, "software/version"), *driver = gls_report_text(r, "device/version");
    gls_text_puts(&out, "\"glslines report\":\n");
    append_version(&out, "glslines", gls_version());
    if (of_run) {
        gls_text_puts(&out, "\"glslines track\":\n");
        append_version(&out, "glslines", of_run);
        if (driver) append_version(&out, "opengl", driver);
        const cJSON *library = gls_json_members(gls_report_get(r, "software/libraries"));
        for (; library; library = library->next) {
            if (cJSON_IsString(library)) append_version(&out, library->string, library->valuestring);
        }
    }
    char *text = gls_text_take(&out);
    gls_status status = text ? gls_file_write(r->options->versions, r->run.force, &r->run.group, text, strlen(text))
                             : gls_fail(GLS_ERR_MEMORY, "out of memory for the file of --versions");
    free(text);
    return status;
}

gls_status gls_report_add_files(gls_report *r)
{
    gls_status status = r->options->mqc ? add_mqc(r) : GLS_OK;
    return !status && r->options->versions ? add_versions(r) : status;
}
