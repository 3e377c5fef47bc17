/* Sections of a report with text and tables. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "render/report_tables.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "render/page.h"
#include "render/report_groups.h"
#include "render/report_parts.h"
#include "util/json_text.h"
#include "util/numbers.h"

/* Number of warnings of the run and of making this report. */
static size_t count_warnings(const gls_report *report)
{
    return (size_t)cJSON_GetArraySize(gls_report_get(report, "warnings")) + report->run.warnings.n;
}

/* Appends a box with a name, a number and its unit; nothing if v is NAN. */
static void append_box(gls_text *out, const char *name, double v, const char *unit)
{
    if (isnan(v)) return;
    gls_text_printf(out, "<div><dt>%s</dt><dd>", name);
    gls_text_number(out, v);
    gls_text_printf(out, "%s</dd></div>\n", unit);
}

/* Command of the sidecar, such as "edit"; NULL: unknown. */
static const char *command_of(const gls_report *r)
{
    const char *word = cJSON_GetStringValue(cJSON_GetArrayItem(gls_report_get(r, "command_line"), 1));
    return word && *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyz")] == 0 ? word : NULL;
}

void gls_report_missing(const gls_report *r, gls_text *out, const char *what)
{
    const char *command = command_of(r);
    if (!r->sidecar)
        gls_text_printf(out, "<p>There is no sidecar, which would record %s.</p>\n", what);
    else if (command && !r->describes_tracking)
        gls_text_printf(out, "<p>The sidecar is that of glslines %s, which does not record %s.</p>\n", command, what);
    else
        gls_text_printf(out, "<p>The sidecar does not record %s.</p>\n", what);
}

/* For a sidecar of another command than track: appends the command and its first input. */
static void append_maker(const gls_report *r, gls_text *out)
{
    const char *command = command_of(r);
    const cJSON *inputs = gls_report_get(r, "inputs"), *first = cJSON_IsArray(inputs) ? inputs->child : NULL,
                *path = cJSON_GetObjectItemCaseSensitive(first, "path");
    gls_text_printf(out, "<p class=\"verdict\">Made by glslines%s%s", command ? " " : "", command ? command : "");
    if (cJSON_IsString(path)) {
        gls_text_puts(out, " from ");
        gls_html_puts(out, path->valuestring);
        if (!r->of_images) gls_text_puts(out, ". A report of that file says how its streamlines were tracked");
    }
    gls_text_puts(out, ".</p>\n");
}

/* Appends counts of the sidecar and of the objects in it, counts of 0 left out: "read 4,126; failed by: length 520". */
static void append_counts(const cJSON *counts, gls_text *out)
{
    const char *between = "";
    char text[64];
    for (const cJSON *item = gls_json_members(counts); item; item = item->next) {
        const bool shown = cJSON_IsObject(item) || (cJSON_IsNumber(item) && item->valuedouble != 0);
        if (!shown) continue;
        gls_text_puts(out, between);
        snprintf(text, sizeof text, "%s", item->string);
        for (char *c = text; *c; c++)
            if (*c == '_') *c = ' ';
        gls_html_puts(out, text);
        gls_text_puts(out, cJSON_IsObject(item) ? ": " : " ");
        if (cJSON_IsObject(item))
            append_counts(item, out);
        else
            gls_text_number(out, item->valuedouble);
        between = "; ";
    }
}

/* Appends a verdict (there is no sidecar; there are warnings; or a run of track had none) and the main numbers in
 * boxes. Between them, for a sidecar of another command than track: the command and its counts. */
static void put_summary(const gls_report *r, gls_text *out)
{
    size_t n = count_warnings(r);
    const gls_summary_result *c = r->counted;
    /* counts of the tractogram itself are used rather than counts in the sidecar, which may be older */
    double streamlines = c ? (double)c->streamlines : gls_report_number(r, "counts/streamlines"),
           directions = gls_report_number(r, "counts/directions");
    /* a sidecar of another command than track gets a verdict only if there are warnings */
    if (!r->sidecar)
        gls_text_puts(out, "<p class=\"verdict warn\">There is no sidecar: how the tractogram was made, and whether "
                           "there were warnings, is not known.</p>\n");
    else if (n == 0 && r->describes_tracking)
        gls_text_puts(out, "<p class=\"verdict ok\" id=\"verdict\">OK: no warnings.</p>\n");
    else if (n > 0)
        gls_text_printf(out,
                        "<p class=\"verdict warn\" id=\"verdict\">%zu %s: see <a href=\"#warnings\">below</a>.</p>\n",
                        n, n == 1 ? "warning" : "warnings");
    /* sidecars of other commands have counts of their own */
    const cJSON *counts = r->describes_tracking ? NULL : gls_report_get(r, "counts");
    if (r->sidecar && !r->describes_tracking) append_maker(r, out);
    if (gls_json_members(counts)) {
        gls_text_puts(out, "<p>Its counts: ");
        append_counts(counts, out);
        gls_text_puts(out, ".</p>\n");
    }
    if (!r->tractogram && !r->of_images)
        gls_text_puts(out, "<p class=\"verdict warn\">The tractogram is not there: this report has no pictures.</p>\n");
    /* numbers that are not known (NAN) have no box */
    gls_text_puts(out, "<dl class=\"numbers\">\n");
    append_box(out, "streamlines", streamlines, "");
    append_box(out, "seeds", gls_report_number(r, "counts/seeds"), "");
    append_box(out, "kept", directions > 0 ? 100 * gls_report_number(r, "counts/streamlines") / directions : NAN, " %");
    append_box(out, "mean length", c ? c->length.mean : gls_report_number(r, "lengths/mean_mm"), " mm");
    append_box(out, "median length", c ? c->length.median : gls_report_number(r, "lengths/median_mm"), " mm");
    append_box(out, "time", gls_report_number(r, "seconds/total"), " s");
    const char *renderer = gls_report_text(r, "device/renderer");
    if (renderer) {
        gls_text_puts(out, "<div><dt>device</dt><dd>");
        gls_html_puts(out, renderer);
        if (cJSON_IsTrue(gls_report_get(r, "device/software"))) gls_text_puts(out, ", a renderer on the CPU");
        gls_text_puts(out, "</dd></div>\n");
    }
    gls_text_puts(out, "</dl>\n");
}

/* Appends the warnings of the run and of the report. */
static void put_warnings(const gls_report *r, gls_text *out)
{
    const cJSON *warning, *warnings = gls_report_get(r, "warnings");
    if (count_warnings(r) == 0) {
        gls_text_puts(out, warnings     ? "<p>The run had none, and this report has none.</p>\n"
                           : r->sidecar ? "<p>The sidecar has no list of them; this report has none.</p>\n"
                                        : "<p>There is no sidecar with those of the run; this report has none.</p>\n");
        return;
    }
    gls_text_puts(out, "<ul>\n");
    cJSON_ArrayForEach(warning, warnings)
    {
        gls_text_puts(out, "<li>");
        gls_html_puts(out, cJSON_IsString(warning) ? warning->valuestring : "a warning that is no text");
        gls_text_puts(out, "</li>\n");
    }
    for (size_t i = 0; i < r->run.warnings.n; i++) {
        gls_text_puts(out, "<li>In making this report: ");
        gls_html_puts(out, r->run.warnings.line[i]);
        gls_text_puts(out, "</li>\n");
    }
    gls_text_puts(out, "</ul>\n<p class=\"note\"><code>glslines help troubleshooting</code> explains what to do about "
                       "them.</p>\n");
}

void gls_report_append_picture(const gls_report_picture *p, const char *caption, gls_text *out)
{
    gls_text_printf(out, "<figure><img width=\"%u\" height=\"%u\" alt=\"", p->width, p->height);
    gls_html_puts(out, p->alt ? p->alt : "");
    gls_text_puts(out, "\" src=\"data:image/png;base64,");
    gls_html_base64(out, p->png, p->bytes);
    gls_text_printf(out, "\"><figcaption>%s</figcaption></figure>\n", caption);
}

/* Appends the picture of the groups, and how many streamlines each has. */
static void append_bundles(const gls_report *r, gls_text *out)
{
    char count[32];
    if (!r->picture[GLS_PICTURE_BUNDLES].png) return;
    gls_report_append_picture(&r->picture[GLS_PICTURE_BUNDLES],
                              "The groups of the file, such as bundles, in the colours of the table. A streamline in "
                              "several groups has the colour of the first.",
                              out);
    gls_text_puts(out, "<table class=\"values\"><caption>Groups of streamlines</caption><thead><tr><th "
                       "scope=\"col\">group</th><th scope=\"col\">colour</th><th scope=\"col\">streamlines</th>");
    gls_report_groups_append_head(r->groups, out);
    gls_text_puts(out, "</tr></thead>\n<tbody>");
    for (size_t k = 0; k < r->n_groups; k++) {
        const gls_named_colour *g = &r->group[k];
        gls_text_puts(out, "<tr><th scope=\"row\">");
        gls_html_puts(out, g->name);
        gls_text_printf(out,
                        "</th><td><svg width=\"16\" height=\"16\" aria-hidden=\"true\"><rect width=\"16\" "
                        "height=\"16\" fill=\"#%02x%02x%02x\"/></svg></td><td class=\"number\">%s</td>",
                        g->colour & 255, g->colour >> 8 & 255, g->colour >> 16 & 255,
                        gls_format_count(g->total, count, sizeof count));
        gls_report_groups_append_cells(r->groups, g->name, out);
        gls_text_puts(out, "</tr>\n");
    }
    gls_text_puts(out, "</tbody></table>\n");
    gls_report_groups_append_recognized(r->sidecar_path, gls_report_get(r, "outputs"), out);
}

/* Appends the streamlines from three sides and in slabs, and the groups. */
static void put_pictures(const gls_report *r, gls_text *out)
{
    if (r->no_pictures) {
        gls_text_puts(out, "<p>There are no pictures: ");
        gls_html_puts(out, r->no_pictures);
        gls_text_puts(out, ".</p>\n");
        return;
    }
    gls_report_append_picture(
        &r->picture[GLS_PICTURE_VIEWS],
        "From above, from behind and from the left, at one scale. Red: left to right, green: back to front, "
        "blue: up and down.",
        out);
    gls_report_append_picture(
        &r->picture[GLS_PICTURE_SLABS],
        r->has_image ? "Axial slices of the image with the streamlines near them; left is left."
        : r->behind  ? "Axial slices of the density of streamlines with the streamlines near them; left is "
                       "left. --image shows an image instead."
                     : "Streamlines near axial planes; left is left. No image was given to show behind them.",
        out);
    append_bundles(r, out);
}

/* Appends the density map from three sides. */
static void put_density(const gls_report *r, gls_text *out)
{
    if (!r->picture[GLS_PICTURE_DENSITY].png) {
        gls_text_puts(out, "<p>There is no map: ");
        gls_html_puts(out, r->no_pictures ? r->no_pictures : r->tractogram);
        gls_text_puts(out, r->no_pictures ? ".</p>\n" : " has no grid, and neither has its sidecar.</p>\n");
        return;
    }
    gls_report_append_picture(
        &r->picture[GLS_PICTURE_DENSITY],
        "The largest number of streamlines in a voxel along each line of sight: from above, from behind and from "
        "the left. Brighter is more, on a logarithmic scale.",
        out);
}

/* Appends a value of the sidecar: text as it is, anything else as JSON. */
static void append_value(gls_text *out, const cJSON *value)
{
    char *text = cJSON_IsString(value) ? NULL : gls_json_print_line(value);
    gls_html_puts(out, text ? text : cJSON_IsString(value) ? value->valuestring : "-");
    cJSON_free(text);
}

/* Appends the command line with quotes as a shell needs them. */
static void append_command_line(gls_text *out, const cJSON *words)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
    const cJSON *word;
    cJSON_ArrayForEach(word, words)
    {
        const char *text = cJSON_IsString(word) ? word->valuestring : "";
        if (word != words->child) gls_text_puts(out, " ");
        if (*text && text[strspn(text, plain)] == 0) {
            gls_html_puts(out, text);
            continue;
        }
        /* a quote inside quotes of a shell: end the quotes, write an escaped quote, begin quotes again */
        gls_text_puts(out, "&#39;");
        for (; *text; text += strcspn(text, "'") + (text[strcspn(text, "'")] != 0)) {
            size_t n = strcspn(text, "'");
            char *part = strndup(text, n);
            if (part) gls_html_puts(out, part);
            if (text[n]) gls_text_puts(out, "&#39;\\&#39;&#39;");
            free(part);
        }
        gls_text_puts(out, "&#39;");
    }
}

/* Where the value of a parameter comes from. */
typedef enum origin { UNKNOWN, GIVEN, DEFAULT, DERIVED } origin;

/* The parameter with this key in sidecars; NULL: none. */
static const gls_param *find_param(const char *key)
{
    char own[96];
    for (const gls_param *p = gls_params; p->name; p++) {
        gls_option_key(p, own, sizeof own);
        if (strcmp(own, key) == 0) return p;
    }
    return NULL;
}

/* Whether a list contains this text. */
static bool is_in(const cJSON *list, const char *text)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0) return true;
    }
    return false;
}

/* Whether a value is the default of its parameter. For parameters that do not affect the result: they have one default,
 * whatever the getter and the model. */
static bool is_plain_default(const gls_param *param, const cJSON *value)
{
    const gls_job_options bare = gls_job_options_bare();
    cJSON *object = cJSON_CreateObject();
    if (param->owner != GLS_OF_COMMAND) gls_option_add(object, param, &bare);
    object = gls_json_written(object);
    const bool same = object && gls_json_same(value, object->child);
    cJSON_Delete(object);
    return same;
}

/* Origin of a value. Of the parameters that affect the result, the sidecar lists those that differ from the defaults of
 * the run's preset, getter and model. */
static origin origin_of(const gls_report *r, const cJSON *item)
{
    const cJSON *changed = gls_report_get(r, "defaults/changed");
    const gls_param *param = r->describes_tracking ? find_param(item->string) : NULL;
    if (!r->describes_tracking) return UNKNOWN;
    if (!param || is_in(gls_report_get(r, "defaults/set_by_bids"), item->string)) return DERIVED;
    if (!gls_role_has_part(param->role)) return is_plain_default(param, item) ? DEFAULT : GIVEN;
    return !changed ? UNKNOWN : is_in(changed, item->string) ? GIVEN : DEFAULT;
}

/* Appends the parameters that the user gave, or (given = false) all others. */
static void append_parameters(gls_text *out, const gls_report *r, bool given)
{
    static const char *const words[] = {
        [UNKNOWN] = "", [GIVEN] = "given", [DEFAULT] = "default", [DERIVED] = "derived"};
    for (const cJSON *item = gls_json_members(gls_report_get(r, "parameters")); item; item = item->next) {
        const origin from = origin_of(r, item);
        if (cJSON_IsNull(item) || (from == GIVEN) != given) continue;
        gls_text_printf(out, "<tr%s><th scope=\"row\">", given ? " class=\"changed\"" : "");
        gls_html_puts(out, item->string);
        gls_text_puts(out, "</th><td>");
        append_value(out, item);
        if (r->describes_tracking) gls_text_printf(out, "</td><td>%s", words[from]);
        gls_text_puts(out, "</td></tr>\n");
    }
}

/* Begins a table of parameters. */
static void begin_parameters(gls_text *out, const gls_report *r, const char *caption)
{
    gls_text_printf(out,
                    "<table class=\"values\"><caption>%s</caption><thead><tr><th scope=\"col\">parameter</th><th "
                    "scope=\"col\">value</th>%s</tr></thead><tbody>\n",
                    caption, r->describes_tracking ? "<th scope=\"col\">from</th>" : "");
}

/* Appends the command line, the parameters that the user gave, and, folded, all other parameters. */
static void put_parameters(const gls_report *r, gls_text *out)
{
    const cJSON *parameters = gls_report_get(r, "parameters"), *words = gls_report_get(r, "command_line");
    if (!parameters) {
        gls_report_missing(r, out, "the parameters");
        return;
    }
    if (cJSON_GetArraySize(words) > 0) {
        gls_text_puts(out, "<p>The command line: <button type=\"button\" id=\"copy\" hidden>Copy</button></p>\n<pre "
                           "id=\"command\">");
        append_command_line(out, words);
        gls_text_puts(out, "</pre>\n");
    }
    if (!r->describes_tracking) {
        begin_parameters(out, r, "Parameters of the command");
        append_parameters(out, r, false);
        gls_text_puts(out, "</tbody></table>\n");
        return;
    }
    begin_parameters(out, r, "Parameters that differ from the default");
    append_parameters(out, r, true);
    gls_text_puts(out, "</tbody></table>\n<details><summary>All other parameters that had a part in the run"
                       "</summary>\n");
    begin_parameters(out, r, "Parameters at their defaults, and what follows from others");
    append_parameters(out, r, false);
    gls_text_puts(out, "</tbody></table></details>\n");
}

/* Appends a row of the table of files; bytes NaN: no size. */
static void append_row(gls_text *out, const char *what, const char *value, double bytes)
{
    char text[32];
    gls_text_puts(out, "<tr><th scope=\"row\">");
    gls_html_puts(out, what);
    gls_text_puts(out, "</th><td>");
    gls_html_puts(out, value ? value : "-");
    gls_text_printf(out, "</td><td class=\"number\">%s</td></tr>\n",
                    bytes >= 0 && bytes < 0x1p64 ? gls_format_bytes((uint64_t)bytes, text, sizeof text) : "");
}

/* Appends the tractogram, its sidecar and inputs with sizes, and the versions of the programs. */
static void put_provenance(const gls_report *r, gls_text *out)
{
    struct stat info;
    char made[64];
    gls_text_puts(
        out, "<table class=\"values\"><caption>What the tractogram was made from, and by what</caption><thead><tr><th "
             "scope=\"col\">what</th><th scope=\"col\">value</th><th scope=\"col\">size</th></tr></thead>"
             "<tbody>\n");
    /* the size is shown only of a regular file */
    bool there = r->tractogram && stat(r->tractogram, &info) == 0 && S_ISREG(info.st_mode);
    append_row(out, "tractogram", r->tractogram ? r->tractogram : gls_report_text(r, "output/path"),
               there ? (double)info.st_size : NAN);
    append_row(out, "sidecar", r->sidecar_path, NAN);
    if (r->sidecar) {
        snprintf(made, sizeof made, "glslines %.40s", gls_report_text(r, "software/version"));
        append_row(out, "software of the run", made, NAN);
    }
    if (r->describes_tracking) {
        append_row(out, "started", gls_report_text(r, "run/started"), NAN);
        append_row(out, "device", gls_report_text(r, "device/renderer"), NAN);
        append_row(out, "driver", gls_report_text(r, "device/version"), NAN);
    }
    /* inputs: keys are the roles of the files, such as dwi */
    const cJSON *inputs = gls_report_get(r, "inputs"), *input;
    cJSON_ArrayForEach(input, inputs)
    {
        const cJSON *path = cJSON_GetObjectItemCaseSensitive(input, "path"),
                    *bytes = cJSON_GetObjectItemCaseSensitive(input, "bytes");
        if (cJSON_IsString(path))
            append_row(out, input->string ? input->string : "input", path->valuestring,
                       cJSON_IsNumber(bytes) ? bytes->valuedouble : NAN);
    }
    /* the background of the pictures belongs to the report, not to the run */
    if (r->image || r->options->image_data)
        append_row(out, "image in the pictures", r->image ? r->image : "the stop map of the run", NAN);
    snprintf(made, sizeof made, "glslines %s", gls_version());
    append_row(out, "software of this report", made, NAN);
    gls_text_puts(out, "</tbody></table>\n");
}

void gls_report_append_measures(const cJSON *object, const char *name, const gls_report_measure *row, gls_text *out)
{
    gls_text_printf(out,
                    "<table class=\"values\"><caption>%s: measures</caption><thead><tr><th scope=\"col\">what</th><th "
                    "scope=\"col\">value</th></tr></thead><tbody>\n",
                    name);
    for (; row->name; row++) {
        const cJSON *value = gls_json_at_path(object, row->path), *item = cJSON_IsArray(value) ? value->child : value;
        if (!item) continue;
        gls_text_printf(out, "<tr><th scope=\"row\">%s</th><td>", row->name);
        for (; item; item = cJSON_IsArray(value) ? item->next : NULL) {
            gls_text_printf(out, "%.4g", cJSON_GetNumberValue(item));
            if (cJSON_IsArray(value) && item->next) gls_text_puts(out, ", ");
        }
        gls_text_printf(out, "%s</td></tr>\n", row->unit);
    }
    gls_text_puts(out, "</tbody></table>\n");
}

const gls_report_section gls_report_tables[] = {{"summary", put_summary},
                                                {"warnings", put_warnings},
                                                {"pictures", put_pictures},
                                                {"density", put_density},
                                                {"parameters", put_parameters},
                                                {"provenance", put_provenance},
                                                {NULL, NULL}};

const cJSON *gls_report_get(const gls_report *report, const char *path)
{
    return gls_json_at_path(report->sidecar, path);
}

double gls_report_number(const gls_report *report, const char *path)
{
    const cJSON *item = gls_report_get(report, path);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

const char *gls_report_text(const gls_report *report, const char *path)
{
    const cJSON *item = gls_report_get(report, path);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}
