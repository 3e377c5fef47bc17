/* Makes a report: finds and reads its inputs, and fills the page. The 3-D view of the page is made here; other files
 * make the other sections. */
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/filters.h>

#include "render/report.h"
#include "render/report_anatomy.h"
#include "record/run.h"
#include "record/sidecar.h"
#include "render/backdrop.h"
#include "render/methods.h"
#include "render/page.h"
#include "render/planes.h"
#include "render/report_connectome.h"
#include "render/report_draw.h"
#include "render/report_files.h"
#include "render/report_groups.h"
#include "render/report_matrix.h"
#include "render/report_parts.h"
#include "render/report_registration.h"
#include "render/report_tables.h"
#include "render/report_weights.h"
#include "render/stage.h"
#include "tracts/line_geometry.h"
#include "transform/bring.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/option.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* Largest number of voxels of the image in the 3-D view; they take about 0.25 MB of the report. */
#define MAX_VOXELS 4e5

/* Makes the image behind the streamlines from their density: its logarithm, so that thin bundles are seen beside thick
 * ones. */
static gls_status take_density(gls_report *r)
{
    const size_t voxels = gls_grid_voxels(&r->grid);
    double *values = malloc(voxels * sizeof *values);
    gls_status status = values ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the density of streamlines");
    if (!status) status = gls_image_create(&r->grid, 1, &r->image_read);
    if (!status) {
        gls_density_get(r->density, values);
        for (size_t v = 0; v < voxels; v++) r->image_read->data[v] = (float)log1p(values[v]);
    }
    free(values);
    return status;
}

/* Brings the image that the user named to the space of the streamlines. */
static gls_status bring_image(gls_report *r)
{
    gls_transform space;
    const gls_strings *chain = &r->options->transform;
    gls_status status = gls_transform_read(chain->value, (size_t)chain->n, &space);
    if (!status) status = gls_image_bring(&r->image_read, &space, GLS_RESAMPLE_LINEAR, NAN, r->image);
    gls_transform_finish(&space);
    return status;
}

/* Finds what stands behind the streamlines: an image, or their density. GLS_ERR_INPUT: an image that cannot be read. */
static gls_status find_image(gls_report *r)
{
    gls_status status = GLS_OK;
    r->behind = r->image ? NULL : r->options->image_data;
    r->has_image = r->behind || r->image;
    if (r->image) status = gls_image_read(r->image, GLS_IMAGE_ANY, &r->image_read);
    if (!status && r->image) status = bring_image(r);
    if (!r->has_image && r->density) status = take_density(r);
    if (!status && r->image_read) r->behind = r->image_read;
    return status;
}

/* Appends the image that find_image() found, on a grid along the axes of the world, compressed; nothing if the page has
 * no 3-D view. */
static gls_status append_image(const gls_report *report, gls_text *out)
{
    if (!report->behind || report->options->no_view || report->scene.n_lines == 0) return GLS_OK;
    gls_text bytes = {0};
    gls_status status = gls_stage_slices(report->behind, MAX_VOXELS, &bytes);
    const size_t n = bytes.length;
    char *raw = gls_text_take(&bytes);
    if (!status) status = raw ? gls_html_packed(out, raw, n) : gls_no_memory();
    free(raw);
    return status;
}

/* Appends the 3-D view of streamlines, or a sentence that says why there is none. */
static void append_view(const gls_report *r, gls_text *out)
{
    if (r->options->no_view || r->scene.n_lines == 0)
        gls_text_printf(out, "<p id=\"status\">%s</p>\n",
                        r->options->no_view ? "The report was asked for without it."
                                            : "There are no streamlines that could be shown.");
    else
        gls_stage_controls(out, r->scene.n_lines, r->counted->streamlines,
                           r->has_image ? "the image" : "the density of streamlines",
                           "The pictures above show the same streamlines.");
}

/* --- The report. */

gls_report_options gls_report_options_default(void)
{
    return (gls_report_options){
#define ROW GLS_ROW_DEFAULT
#include "render/report.def"
#undef ROW
        .size = sizeof(gls_report_options),
        .read = gls_tractogram_read_options_default(),
    };
}

/* --- Inputs ----------------------------------------------------------------- */

/* Length of a name without trailing slashes. */
static size_t without_slashes(const char *input)
{
    size_t n = strlen(input);
    while (n > 1 && input[n - 1] == '/') n--;
    return n;
}

/* Reads a sidecar, and notes whether it describes tracking. */
static gls_status read_sidecar(gls_report *r, const char *path)
{
    gls_status status = gls_sidecar_read(path, &r->sidecar_text, &r->sidecar);
    if (r->sidecar) r->sidecar_path = gls_text_copy(path);
    r->describes_tracking = gls_sidecar_describes_tracking(r->sidecar);
    return status;
}

/* Tractogram that the sidecar names: its output or, if the output is a matrix, its first input; NULL: none. */
static const char *tractogram_of(const gls_report *r)
{
    if (gls_report_is_anatomy(r->sidecar) || gls_report_is_registration(r->sidecar)) return NULL;
    const char *output = gls_report_text(r, "output/path");
    if (!output) output = cJSON_GetStringValue(cJSON_GetArrayItem(gls_report_get(r, "outputs"), 0));
    if (!output || !gls_report_is_matrix(output)) return output;
    const cJSON *input = cJSON_GetArrayItem(gls_report_get(r, "inputs"), 0);
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(input, "path"));
}

/* Finds tractogram, sidecar and image from the file that the user named, and adds them to the inputs of the run. */
static gls_status find_inputs(gls_report *r, const char *input)
{
    gls_status status = GLS_OK;
    if (gls_case_ends(input, ".json")) {
        status = read_sidecar(r, input);
    } else {
        if (access(input, R_OK) != 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", input, strerror(errno));
        if (!gls_report_is_matrix(input)) r->tractogram = gls_text_copy(input);
        char *sidecar = gls_sidecar_find(input);
        /* a file that has the name of the sidecar, but is none, must not prevent a report */
        if (sidecar && access(sidecar, R_OK) == 0 && read_sidecar(r, sidecar) != GLS_OK) {
            gls_log(GLS_LOG_WARNING, "%s", gls_last_error());
            cJSON_Delete(r->sidecar);
            r->sidecar = NULL;
        }
        free(sidecar);
    }
    const char *output = status || r->tractogram ? NULL : tractogram_of(r);
    if (output) r->tractogram = gls_file_beside(r->sidecar_path, output);
    /* name of the report: without folder and suffix; a folder's name may have dots */
    const char *fa = r->options->image;
    size_t n = without_slashes(input), from = n;
    while (from > 0 && input[from - 1] != '/') from--;
    r->name = strndup(input + from, n - from);
    if (!status && !r->name) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    char *dot = status ? NULL : strrchr(r->name, '.');
    if (dot && dot > r->name) *dot = 0;
    if (!fa) fa = gls_report_text(r, "inputs/fa/path");
    if (fa) r->image = r->options->image ? gls_text_copy(fa) : gls_file_beside(r->sidecar_path, fa);
    const char *const inputs[] = {input, r->tractogram, r->sidecar_path, r->image, r->options->image};
    if (!status) status = gls_run_reads_all(&r->run, inputs, sizeof inputs / sizeof *inputs);
    if (!status) status = gls_run_reads_chain(&r->run, &r->options->transform);
    if (!status) status = gls_report_find_anatomy(r);
    if (!status) status = gls_report_find_registration(r);
    return status ? status : gls_report_find_weights(r);
}

/* --- The tractogram --------------------------------------------------- */

/* Keeps the length of each streamline, mm, for the histogram. */
static gls_status append_lengths(void *user, const gls_streamlines *s)
{
    gls_report *r = user;
    if (r->n_lengths + s->n > r->length_room) {
        size_t room = 2 * (r->n_lengths + s->n);
        float *length = realloc(r->length, room * sizeof *length);
        if (!length) return gls_fail(GLS_ERR_MEMORY, "out of memory for the lengths of streamlines");
        r->length = length;
        r->length_room = room;
    }
    for (size_t i = 0; i < s->n; i++) {
        const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        r->length[r->n_lengths++] = (float)fmin(gls_line_length(s->point + s->offset[i], n), FLT_MAX);
    }
    return GLS_OK;
}

/* Progress callback of gls_tractogram_pump(): returns false, which ends the reading, if go_on() of the options returns
 * false. */
static bool go_on(void *user, double share)
{
    const gls_report_options *o = user;
    (void)share;
    return !o->go_on || o->go_on();
}

/* Takes the grid of the tractogram, else the grid in the sidecar. */
static void choose_grid(gls_report *r, const gls_tractogram_info *info)
{
    const cJSON *dims = gls_report_get(r, "grid/dimensions"), *rows = gls_report_get(r, "grid/voxel_to_rasmm");
    int32_t dim[3];
    double affine[3][4];
    if (info && info->has_grid) {
        r->grid = info->grid;
        r->has_grid = true;
        return;
    }
    if (cJSON_GetArraySize(dims) != 3 || cJSON_GetArraySize(rows) < 3) return;
    for (int a = 0; a < 3; a++) {
        double n = cJSON_GetNumberValue(cJSON_GetArrayItem(dims, a));
        dim[a] = n >= 1 && n < 65536 ? (int32_t)n : 0;
        for (int c = 0; c < 4; c++)
            affine[a][c] = cJSON_GetNumberValue(cJSON_GetArrayItem(cJSON_GetArrayItem(rows, a), c));
    }
    r->has_grid = gls_grid_init(&r->grid, dim, affine) == GLS_OK;
}

/* Reads the tractogram once, for the summary, the lengths and the density. */
static gls_status read_tractogram(gls_report *r)
{
    gls_tractogram_reader *reader = NULL;
    gls_tractogram_read_options read = r->options->read;
    read.allow_invalid = true;
    gls_status status = gls_tractogram_reader_open(r->tractogram, &read, &reader);
    if (status) return status;
    choose_grid(r, gls_tractogram_reader_info(reader));
    r->has_groups = gls_tractogram_reader_info(reader)->n_groups > 0;
    /* one pass over the file serves up to four sinks */
    gls_sink sinks[4] = {{append_lengths, NULL, NULL, r}}, tee, chain;
    size_t n = 1;
    if (r->has_grid && gls_grid_voxels(&r->grid) < UINT32_MAX) status = gls_density_create(&r->grid, NULL, &r->density);
    if (!status) status = gls_summary_create(NULL, &r->summary);
    if (!status)
        status =
            gls_report_groups_create(gls_tractogram_reader_info(reader), r->has_grid ? &r->grid : NULL, &r->groups);
    if (r->groups) sinks[n++] = gls_report_groups_sink(r->groups);
    if (r->density) sinks[n++] = gls_density_sink(r->density);
    if (!status) sinks[n++] = gls_summary_sink(r->summary);
    if (!status) status = gls_sink_tee(sinks, n, &tee);
    if (!status && (status = gls_filter_valid_create(NULL, &tee, &chain)) != GLS_OK) gls_sink_abort(&tee);
    if (!status) {
        status = gls_tractogram_pump(reader, &chain, go_on, (void *)(uintptr_t)r->options);
        if (status)
            gls_sink_abort(&chain);
        else
            status = gls_sink_finish(&chain);
    }
    if (!status) status = gls_report_groups_complete(r->groups);
    if (!status) r->counted = gls_summary_get(r->summary);
    gls_tractogram_reader_close(reader);
    return status == GLS_ERR_CANCELLED ? gls_fail(status, "interrupted: no report was written") : status;
}

/* Draws the pictures. If that fails, their section gives the reason instead. */
static gls_status draw_pictures(gls_report *r)
{
    const char *why = r->tractogram ? "the tractogram has no streamlines" : "the tractogram is not there";
    if (r->tractogram && r->counted->streamlines > 0) {
        gls_log_mute_info(true); /* the device is logged once, not for each picture */
        gls_status status = find_image(r);
        if (!status) status = gls_report_draw(r);
        gls_log_mute_info(false);
        /* An image that the user named must be readable. Any other failure, such as no device, leaves a report without
         * pictures. */
        const bool own_image = r->options->image && status == GLS_ERR_INPUT;
        if (status == GLS_ERR_CANCELLED || !status || own_image) return status;
        why = gls_last_error();
        gls_log(GLS_LOG_WARNING, "the report has no pictures: %s", why);
    }
    r->no_pictures = gls_text_copy(why);
    return GLS_OK;
}

/* --- The page ----------------------------------------------------------------- */

/* Appends the part of the page with this name: a section, an embedded file, or a value. */
static void append_value(void *user, gls_text *out, const char *name)
{
    static const gls_report_section own[] = {{"view", append_view},
                                             {"anatomy", gls_report_anatomy},
                                             {"anatomy-link", gls_report_anatomy_link},
                                             {"registration", gls_report_registration},
                                             {"registration-link", gls_report_registration_link},
                                             {"connectome", gls_report_connectome},
                                             {"weights", gls_report_weights},
                                             {"weights-link", gls_report_weights_link},
                                             {"methods", gls_report_methods},
                                             {NULL, NULL}},
                                    *const sections[] = {own, gls_report_tables, gls_report_plots, gls_report_data};
    const gls_report *r = user;
    const char *part = gls_page_part(name);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        for (const gls_report_section *s = sections[i]; s->name; s++)
            if (strcmp(name, s->name) == 0) s->put(r, out);
    if (part) gls_text_puts(out, part);
    if (strcmp(name, "name") == 0) gls_html_puts(out, r->name);
    if (strcmp(name, "json") == 0) gls_html_json(out, r->sidecar ? r->sidecar_text : "null");
    if (strcmp(name, "slices") == 0 && append_image(r, out) != GLS_OK)
        gls_log(GLS_LOG_WARNING, "the 3-D view has no slices: %s", gls_last_error());
}

/* The page without its blocks from {{tracts}} to {{/tracts}}, which are about streamlines; from malloc. */
static char *without_tracts(const char *page)
{
    static const char from[] = "{{tracts}}", to[] = "{{/tracts}}";
    gls_text left = {0};
    for (const char *at; (at = strstr(page, from)); page = strstr(at, to) + sizeof to - 1)
        gls_text_append(&left, page, (size_t)(at - page));
    gls_text_puts(&left, page);
    return gls_text_take(&left);
}

/* Fills the page and writes the file as part of the run. */
static gls_status write_page(gls_report *r, const char *path, gls_report_result *result)
{
    gls_text page = {0};
    const char *whole = gls_page_part("report.html");
    char *chosen = r->of_images ? without_tracts(whole) : NULL;
    if (r->of_images && !chosen) return gls_no_memory();
    gls_page_fill(&page, chosen ? chosen : whole, append_value, r);
    free(chosen);
    size_t bytes = page.length;
    char *text = gls_text_take(&page);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    gls_status status = gls_file_write(path, r->run.force, &r->run.group, text, bytes);
    free(text);
    if (status) return status;
    *result = (gls_report_result){bytes, r->counted ? r->counted->streamlines : 0,
                                  (size_t)cJSON_GetArraySize(gls_report_get(r, "warnings")) + r->run.warnings.n};
    return GLS_OK;
}

char *gls_report_name(const char *input)
{
    char *name = NULL;
    size_t n = without_slashes(input), dot = n;
    while (dot > 0 && input[dot] != '.' && input[dot - 1] != '/') dot--;
    if (dot > 0 && input[dot] == '.' && input[dot - 1] != '/') n = dot;
    return gls_asprintf(&name, "%.*s.html", (int)n, input) < 0 ? NULL : name;
}

/* Frees everything; also a report that was made only in part. */
static void report_finish(gls_report *r)
{
    gls_run_end(&r->run);
    gls_density_destroy(r->density);
    gls_summary_destroy(r->summary);
    gls_report_groups_destroy(r->groups);
    gls_scene_finish(&r->scene);
    gls_image_destroy(r->image_read);
    gls_report_matrix_finish(&r->matrix);
    cJSON_Delete(r->sidecar);
    cJSON_Delete(r->anatomy);
    cJSON_Delete(r->weights_read);
    for (int k = 0; k < GLS_SIGNAL_N_MAPS; k++) free(r->weights_map[k]);
    free(r->anatomy_stem);
    for (int i = 0; i < GLS_N_PICTURES; i++) {
        free(r->picture[i].png);
        free(r->picture[i].alt);
    }
    free(r->group);
    free(r->sidecar_text);
    free(r->sidecar_path);
    free(r->tractogram);
    free(r->no_pictures);
    free(r->length);
    free(r->image);
    free(r->name);
}

gls_status gls_report_files(const char *input, const gls_report_options *options, char **output,
                            gls_report_result *result)
{
    GLS_REQUIRE_SIZE(options);
    gls_report_options defaults = gls_report_options_default();
    gls_report r = {.options = options ? options : &defaults};
    gls_report_result made;
    GLS_REQUIRE(input);
    GLS_REQUIRE(r.options->size == sizeof *r.options);
    GLS_REQUIRE(r.options->max_streamlines >= 1 && r.options->max_streamlines <= 100000);
    if (r.options->transform.n > 0 && !r.options->image)
        return gls_fail(GLS_ERR_ARGUMENT, "--transform: needs --image");
    /* the order matters: inputs are known before outputs are checked, and outputs before anything is drawn */
    char *path = r.options->output ? gls_text_copy(r.options->output) : gls_report_name(input);
    if (!path) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    gls_run_begin(&r.run, r.options->force);
    gls_status status = find_inputs(&r, input);
    if (!status) status = gls_run_writes(&r.run, path);
    if (!status) status = gls_run_writes(&r.run, r.options->versions);
    if (!status) status = gls_report_find_matrix(&r, input);
    /* without a tractogram, the report has only the sections that the sidecar gives */
    if (!status && r.tractogram)
        status = read_tractogram(&r);
    else if (!status)
        choose_grid(&r, NULL);
    if (!status) status = draw_pictures(&r);
    if (!status) status = gls_report_add_files(&r);
    if (!status) status = write_page(&r, path, &made);
    if (!status) status = gls_run_commit(&r.run, NULL);
    report_finish(&r);
    if (!status && result) *result = made;
    /* a caller that wants the name of the page gets it, and frees it */
    if (!status && output)
        *output = path;
    else
        free(path);
    return status;
}
