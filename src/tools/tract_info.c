/* `glslines info`: what tractograms of any program and images hold. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>
#include <glslines/summary.h>
#include <glslines/tractogram.h>

#include "record/sidecar.h"
#include "tools/image_info.h"
#include "tools/tract_results.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

/* --- Header and summary as JSON. */

/* Whether the quartiles of the step lengths differ by at most a thousandth of the median. After points were left out
 * they usually differ more. */
static bool tract_is_regular(const gls_spread *step)
{
    return step->quartile[1] - step->quartile[0] <= 1e-3 * step->median;
}

/* Adds number, mean, standard deviation, extremes and quartiles. */
static void add_spread(cJSON *object, const char *key, const gls_spread *spread)
{
    cJSON *to = cJSON_AddObjectToObject(object, key);
    GLS_JSON_MEMBERS(to, spread, n, mean, sd, min);
    gls_json_double(to, "quartile_1", spread->quartile[0]);
    gls_json_double(to, "median", spread->median);
    gls_json_double(to, "quartile_3", spread->quartile[1]);
    gls_json_double(to, "max", spread->max);
}

/* Adds name, type and number of components of each column. */
static void add_columns(cJSON *object, const char *key, const gls_column *columns, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);
    for (size_t k = 0; k < n; k++) {
        cJSON *column = cJSON_CreateObject();
        cJSON_AddStringToObject(column, "name", columns[k].name);
        cJSON_AddStringToObject(column, "type", gls_type_name(columns[k].type));
        gls_json_uint(column, "components", columns[k].components);
        cJSON_AddItemToArray(list, column);
    }
}

/* Adds what was counted in the streamlines. */
static void add_summary(cJSON *object, const gls_summary_result *s)
{
    static const char *const kinds[] = {"dps", "dpv", "group"};
    /* keys are fixed: programs read them */
    cJSON *counted = cJSON_AddObjectToObject(object, "counted");
    GLS_JSON_MEMBERS(counted, s, streamlines, points, empty, single_points, not_finite, zero_steps);
    gls_json_uint(counted, "outside_grid", s->outside);
    gls_json_uint(counted, "points_outside_grid", s->points_outside);
    /* corners of the box around all points, world mm */
    cJSON *low = cJSON_AddArrayToObject(counted, "low_mm"), *high = cJSON_AddArrayToObject(counted, "high_mm");
    for (int a = 0; a < 3; a++) {
        gls_json_append_double(low, s->low[a]);
        gls_json_append_double(high, s->high[a]);
    }
    add_spread(counted, "length_mm", &s->length);
    add_spread(counted, "step_mm", &s->step);
    cJSON_AddBoolToObject(counted, "step_is_regular", s->step.n > 0 && tract_is_regular(&s->step));
    /* "values": one object for each column of dps, dpv and groups */
    cJSON *values = cJSON_AddArrayToObject(counted, "values");
    for (size_t k = 0; k < s->n_columns; k++) {
        const gls_column_summary *c = &s->column[k];
        cJSON *value = cJSON_CreateObject();
        cJSON_AddStringToObject(value, "kind", kinds[c->kind]);
        GLS_JSON_MEMBERS(value, c, name, n);
        gls_json_uint(value, "not_finite", c->n_not_finite);
        GLS_JSON_MEMBERS(value, c, min, mean, max);
        cJSON_AddItemToArray(values, value);
    }
}

/* The JSON of one tractogram: its header and, unless summary is NULL, what its streamlines hold. */
static cJSON *tract_info_json(const char *path, const gls_tractogram_info *info, const gls_summary_result *summary)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "path", path);
    cJSON_AddStringToObject(object, "format", gls_tractogram_format_name(info->format));
    GLS_JSON_MEMBERS(object, info, version, bytes);
    if (info->counts_streamlines) gls_json_uint(object, "streamlines", info->n_streamlines);
    if (info->counts_points) gls_json_uint(object, "points", info->n_points);
    cJSON_AddStringToObject(object, "position_type", gls_type_name(info->position_type));
    if (info->has_grid) gls_sidecar_add_grid(object, &info->grid);
    add_columns(object, "dps", info->dps, info->n_dps);
    add_columns(object, "dpv", info->dpv, info->n_dpv);
    cJSON *groups = cJSON_AddObjectToObject(object, "groups");
    for (size_t k = 0; k < info->n_groups; k++) gls_json_uint(groups, info->group[k].name, info->group_size[k]);
    cJSON *header = cJSON_AddObjectToObject(object, "header");
    for (size_t k = 0; k < info->n_header; k++)
        cJSON_AddStringToObject(header, info->header[k].key, info->header[k].value);
    if (summary) add_summary(object, summary);
    return object;
}

/* Prints the first cells of a line: a kind and a name, which may hold any characters. */
static void print_name(gls_text *text, const char *kind, const char *name)
{
    gls_text_printf(text, "  %-12s ", kind);
    gls_text_show(text, name);
}

/* Prints a line for each column: type and number of components. */
static void print_columns(gls_text *text, const char *kind, const gls_column *column, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        print_name(text, kind, column[k].name);
        gls_text_printf(text, ": %u x %s\n", column[k].components, gls_type_name(column[k].type));
    }
}

/* Prints a key with the first line of its value. */
static void print_key(gls_text *text, const gls_header_field *field)
{
    const size_t n = strcspn(field->value, "\n");
    char *line = strndup(field->value, n);
    print_name(text, "key", field->key);
    gls_text_puts(text, ": ");
    if (line) gls_text_show(text, line);
    gls_text_puts(text, field->value[n] ? " ...\n" : "\n");
    text->failed |= !line;
    free(line);
}

/* Prints what the header of the file says. */
static void print_header(gls_text *text, const char *path, const gls_tractogram_info *info)
{
    gls_text_show(text, path);
    gls_text_printf(text, "\n  format       %s", gls_tractogram_format_name(info->format));
    if (info->format == GLS_FORMAT_TRK) gls_text_printf(text, " version %d", info->version);
    if (info->format == GLS_FORMAT_VTK && info->version == 0) gls_text_puts(text, " in XML");
    if (info->format == GLS_FORMAT_VTK && info->version > 0)
        gls_text_printf(text, " version %d.%d", info->version / 10, info->version % 10);
    gls_text_printf(text, ", %s positions%s, %" PRIu64 " bytes\n", gls_type_name(info->position_type),
                    info->is_packed ? ", compressed" : "", info->bytes);
    if (info->counts_streamlines)
        gls_text_printf(text, "  header       %" PRIu64 " streamlines\n", info->n_streamlines);
    if (info->counts_points) gls_text_printf(text, "  header       %" PRIu64 " points\n", info->n_points);
    if (info->has_grid) gls_grid_info(text, &info->grid);
    /* columns, groups with their sizes, and keys of the header */
    print_columns(text, "dps", info->dps, info->n_dps);
    print_columns(text, "dpv", info->dpv, info->n_dpv);
    for (size_t k = 0; k < info->n_groups; k++) {
        print_name(text, "group", info->group[k].name);
        gls_text_printf(text, ": %" PRIu64 " streamlines\n", info->group_size[k]);
    }
    for (size_t k = 0; k < info->n_header; k++) print_key(text, &info->header[k]);
}

/* Prints a line with mean, median, standard deviation and extremes in mm. */
static void print_spread(gls_text *text, const char *what, const gls_spread *s)
{
    gls_text_printf(text, "  %-12s mean %.6g, median %.6g, sd %.4g, min %.6g, max %.6g mm\n", what, s->mean, s->median,
                    s->sd, s->min, s->max);
}

/* Prints what was counted in the streamlines; oddities only if there are any. */
static void print_summary(gls_text *text, const gls_summary_result *r)
{
    gls_text_printf(text, "  counted      %" PRIu64 " streamlines, %" PRIu64 " points\n", r->streamlines, r->points);
    if (r->length.n > 0) {
        gls_text_printf(text, "  box          %.6g .. %.6g, %.6g .. %.6g, %.6g .. %.6g mm\n", r->low[0], r->high[0],
                        r->low[1], r->high[1], r->low[2], r->high[2]);
        print_spread(text, "length", &r->length);
    }
    if (r->step.n > 0) {
        print_spread(text, "step", &r->step);
        if (tract_is_regular(&r->step))
            gls_text_printf(text, "  %-12s regular, %.3f mm\n", "", r->step.median);
        else
            gls_text_printf(text, "  %-12s compressed, or of different lengths\n", "");
    }
    /* groups are left out: the header has listed them */
    for (size_t k = 0; k < r->n_columns; k++) {
        const gls_column_summary *c = &r->column[k];
        if (c->kind == GLS_COLUMN_GROUP) continue;
        print_name(text, "values", c->name);
        gls_text_printf(text, ": min %.6g, mean %.6g, max %.6g%s\n", c->min, c->mean, c->max,
                        c->n_not_finite > 0 ? ", some not finite" : "");
    }
    /* the lines below are written only for streamlines that need attention */
    if (r->empty) gls_text_printf(text, "  empty        %" PRIu64 " streamlines without points\n", r->empty);
    if (r->single_points)
        gls_text_printf(text, "  single       %" PRIu64 " streamlines of one point\n", r->single_points);
    if (r->zero_steps)
        gls_text_printf(text, "  repeated     %" PRIu64 " points equal to the one before\n", r->zero_steps);
    if (r->outside)
        gls_text_printf(text,
                        "  outside      %" PRIu64 " streamlines leave the grid with %" PRIu64
                        " points, the first is %" PRIu64 "\n",
                        r->outside, r->points_outside, r->first_outside);
    if (r->not_finite)
        gls_text_printf(
            text, "  invalid      %" PRIu64 " streamlines with a point that is not finite, the first is %" PRIu64 "\n",
            r->not_finite, r->first_not_finite);
}

/* State and findings of --check, which reads all streamlines. */
typedef struct inspection {
    /* all streamlines so far, to find equal ones */
    gls_line_set *set;
    /* taken: number of all streamlines; kept: number of streamlines that equal no earlier one */
    gls_filter_counts equal;
    /* at: index of the next streamline; zero: number of streamlines whose points are all 0; first_zero: index of the
     * first of them */
    uint64_t at, zero, first_zero;
} inspection;

/* Looks for streamlines all of whose points are 0 0 0, as a faulty conversion leaves them. */
static gls_status inspect(void *user, const gls_streamlines *s)
{
    inspection *n = user;
    for (size_t i = 0; i < s->n; i++, n->at++) {
        bool zero = s->offset[i + 1] > s->offset[i];
        for (uint64_t p = s->offset[i]; p < s->offset[i + 1] && zero; p++)
            zero = s->point[p][0] == 0 && s->point[p][1] == 0 && s->point[p][2] == 0;
        if (zero && n->zero++ == 0) n->first_zero = n->at;
    }
    return GLS_OK;
}

/* Function `append` of a sink that takes all and keeps nothing. */
static gls_status take(void *user, const gls_streamlines *s)
{
    (void)user;
    (void)s;
    return GLS_OK;
}

/* Makes *sink: the summary and, with `check`, the inspection. */
static gls_status create_sinks(gls_summary *summary, bool check, inspection *n, gls_sink *sink)
{
    gls_sink all[3] = {gls_summary_sink(summary), {.append = inspect, .user = n}}, nothing = {.append = take};
    *sink = all[0];
    if (!check) return GLS_OK;
    /* streamlines count as equal if they agree to 1e-4 mm */
    gls_status status = gls_line_set_create(4, GLS_LINES_DIRECTED, &n->set);
    if (!status) status = gls_filter_set_create(n->set, GLS_KEEP_NEW, &n->equal, &nothing, &all[2]);
    if (status) return status;
    status = gls_sink_tee(all, 3, sink);
    if (status) gls_sink_abort(&all[2]);
    return status;
}

/* Prints one tractogram and adds its JSON to the list. *invalid: with --count or --check, set to true if a point is not
 * finite. */
static gls_status inform(gls_tract_run *run, const gls_info_cli *o, const char *path, gls_text *text, cJSON *list,
                         bool *invalid)
{
    gls_tractogram_reader *reader = NULL;
    gls_summary *summary = NULL;
    const gls_summary_result *result = NULL;
    inspection more = {.set = NULL};
    /* also read streamlines with points that are not finite, and count them */
    gls_status status = gls_tract_open(run, path, true, &reader);
    if (status) return status;
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    /* without --count and --check the header alone is read */
    if (o->count || o->check) status = gls_summary_create(info->has_grid ? &info->grid : NULL, &summary);
    if (!status && summary) {
        gls_sink sink = {0};
        status = create_sinks(summary, o->check, &more, &sink);
        if (!status) status = gls_tract_append(run, reader, &sink);
        gls_sink_abort(&sink);
        result = gls_summary_get(summary);
    }
    /* print lines for people, and add an object for --json */
    if (!status) {
        print_header(text, path, info);
        if (result) print_summary(text, result);
        /* only --check finds equal streamlines and streamlines of zeros */
        if (more.equal.kept < more.equal.taken)
            gls_text_printf(text, "  equal        %" PRIu64 " streamlines equal an earlier one\n",
                            more.equal.taken - more.equal.kept);
        if (more.zero > 0)
            gls_text_printf(text, "  zero         %" PRIu64 " streamlines of zeros alone, the first is %" PRIu64 "\n",
                            more.zero, more.first_zero);
        *invalid |= result && result->not_finite > 0;
        cJSON *json = tract_info_json(path, info, result), *counted = cJSON_GetObjectItem(json, "counted");
        if (o->check && counted) {
            gls_json_uint(counted, "equal_to_earlier", more.equal.taken - more.equal.kept);
            gls_json_uint(counted, "zero_streamlines", more.zero);
        }
        cJSON_AddItemToArray(list, json);
    }
    gls_line_set_destroy(more.set);
    gls_summary_destroy(summary);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status gls_tract_info(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_info_cli *o = options;
    gls_text text = {0};
    bool invalid = false;
    gls_status status = GLS_OK;
    /* this command has counts for each tractogram instead of one for the run */
    cJSON_DeleteItemFromObject(run->root, "counts");
    run->counts = NULL;
    for (size_t i = 0; i < n && !status; i++) status = gls_run_reads(&run->files, file[i]);
    if (!status) status = gls_run_reads(&run->files, run->options.reference);
    if (!status) status = gls_tract_run_writes_json(run, o->json);
    cJSON *list = cJSON_AddArrayToObject(run->root, "tractograms");
    cJSON *images = cJSON_AddArrayToObject(run->root, "images");
    for (size_t i = 0; i < n && !status; i++)
        status = gls_image_is_name(file[i]) ? gls_image_info(file[i], o->count || o->check, &text, images)
                                            : inform(run, o, file[i], &text, list, &invalid);
    run->printed = gls_text_take(&text);
    if (!status) status = gls_tract_run_store_json(run, o->json);
    /* the output is complete all the same; the exit code shows the fault */
    if (!status && invalid && o->check)
        run->verdict =
            gls_fail(GLS_ERR_INPUT,
                     "--check: a tractogram has streamlines with points that are not finite; the output counts them");
    return status;
}
