#include "cmd/tract_files.h"

#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <glslines/filters.h>

#include "cmd/interrupt.h"
#include "util/output.h"
#include "util/status.h"
#include "util/table.h"
#include "workflow/json.h"
#include "workflow/output.h"
#include "workflow/sidecar.h"

gls_status tract_grid_read(const char *path, gls_grid *grid)
{
    gls_image *image = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, &image);
    if (status) return status;
    *grid = image->grid;
    gls_image_destroy(image);
    return GLS_OK;
}

gls_status tract_open(const tract_input *input, const char *path, bool allow_invalid, gls_tractogram_reader **reader)
{
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    gls_grid reference;
    gls_status status = input->reference ? tract_grid_read(input->reference, &reference) : GLS_OK;
    if (status) return status;
    if (input->reference) options.reference = &reference;
    options.vtk_space = (gls_vtk_space)input->vtk_space;
    options.recover = input->recover;
    options.allow_invalid = allow_invalid;
    return gls_tractogram_reader_open(path, &options, reader);
}

static bool go_on(void *user, double share)
{
    (void)user;
    (void)share;
    return !cmd_interrupted();
}

gls_status tract_pump(gls_tractogram_reader *reader, const gls_sink *sink, const char *output)
{
    gls_status status = gls_tractogram_pump(reader, sink, go_on, NULL);
    return status == GLS_ERR_CANCELLED ? gls_fail(status, "interrupted: %s was not written", output) : status;
}

gls_status tract_weights_read(const char *path, double **weights, size_t *n)
{
    size_t rows, columns;
    gls_status status = gls_table_read(path, weights, &rows, &columns);
    if (!status) *n = rows * columns;
    return status;
}

const char *tract_weights_file(const char *text)
{
    return text && strncmp(text, "dps:", 4) != 0 ? text : NULL;
}

static gls_status measure_column(tract_weights *w, const tract_input *input, const char *path)
{
    gls_tractogram_reader *reader = NULL;
    gls_summary *summary = NULL;
    gls_status status = tract_open(input, path, false, &reader);
    if (!status) status = gls_summary_create(NULL, &summary);
    if (!status) {
        const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
        const gls_column *column = gls_column_find(info->dps, info->n_dps, w->column);
        gls_sink sink = gls_summary_sink(summary);
        if (!column || column->components != 1)
            status = gls_fail(GLS_ERR_INPUT, "%s: has no column \"%s\" of one value a streamline", path, w->column);
        if (!status) status = tract_pump(reader, &sink, path);
    }
    const gls_summary_result *r = status ? NULL : gls_summary_get(summary);
    for (size_t k = 0; r && k < r->n_columns; k++) {
        const gls_column_summary *c = &r->column[k];
        if (c->kind != GLS_COLUMN_DPS || strcmp(c->name, w->column) != 0) continue;
        w->most = fmax(fabs(c->min), fabs(c->max));
        w->n = r->streamlines;
    }
    gls_summary_destroy(summary);
    gls_tractogram_reader_close(reader);
    return status;
}

gls_status tract_weights_open(tract_weights *w, const char *text, const tract_input *input, const char *path)
{
    size_t n = 0;
    *w = (tract_weights){.column = NULL};
    if (!text) return GLS_OK;
    if (!tract_weights_file(text)) {
        w->column = text + 4;
        return measure_column(w, input, path);
    }
    w->column = "weights";
    gls_status status = tract_weights_read(text, &w->values, &n);
    w->n = n;
    for (size_t i = 0; i < n && !status; i++) {
        if (!isfinite(w->values[i])) status = gls_fail(GLS_ERR_INPUT, "%s: value %zu is not finite", text, i + 1);
        w->most = fmax(w->most, fabs(w->values[i]));
    }
    if (status) tract_weights_close(w);
    return status;
}

gls_status tract_weights_sink(const tract_weights *w, gls_sink next, gls_sink *sink)
{
    const gls_column column = {w->column, GLS_TYPE_FLOAT64, 1, w->values};
    *sink = next;
    return w->values ? gls_filter_dps_create(&column, w->n, &next, sink) : GLS_OK;
}

void tract_weights_close(tract_weights *w)
{
    free(w->values);
    w->values = NULL;
}

gls_status tract_output_check(const char *output, bool force, const char *const *inputs, size_t n_inputs,
                              char **sidecar)
{
    gls_status status = gls_place_check(output, force, inputs, n_inputs, NULL, 0);
    if (status) return status;
    *sidecar = gls_sidecar_name(output);
    if (!*sidecar) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    return gls_place_check(*sidecar, force, inputs, n_inputs, &output, 1);
}

cJSON *tract_sidecar_begin(const char *description, const cmd_command *command, const void *values,
                           const cmd_arguments *arguments, const char *const *inputs, size_t n_inputs,
                           const char *output)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_CreateArray();
    struct stat info;
    cJSON_AddStringToObject(root, "Description", description);
    gls_sidecar_add_software(root, arguments->argc, arguments->argv);
    for (size_t i = 0; i < n_inputs; i++) {
        if (!inputs[i]) continue;
        cJSON *file = cJSON_CreateObject();
        cJSON_AddStringToObject(file, "path", inputs[i]);
        if (stat(inputs[i], &info) == 0) gls_json_uint(file, "bytes", (uint64_t)info.st_size);
        cJSON_AddItemToArray(list, file);
    }
    cJSON_AddItemToObject(root, "inputs", list);
    cmd_options_json(cJSON_AddObjectToObject(root, "parameters"), command, values);
    if (output) cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "output"), "path", output);
    return root;
}

gls_status tract_sidecar_write(const char *path, bool force, cJSON *root)
{
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    cmd_interrupt_catch();
    gls_status status = gls_sidecar_write(path, force, NULL, text);
    cmd_interrupt_release();
    free(text);
    return status;
}

static void add_spread(cJSON *object, const char *key, const gls_spread *spread)
{
    cJSON *to = cJSON_AddObjectToObject(object, key);
    gls_json_uint(to, "n", spread->n);
    gls_json_double(to, "mean", spread->mean);
    gls_json_double(to, "sd", spread->sd);
    gls_json_double(to, "min", spread->min);
    gls_json_double(to, "quartile_1", spread->quartile[0]);
    gls_json_double(to, "median", spread->median);
    gls_json_double(to, "quartile_3", spread->quartile[1]);
    gls_json_double(to, "max", spread->max);
}

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

static void add_summary(cJSON *object, const gls_summary_result *s)
{
    static const char *const kinds[] = {"dps", "dpv", "group"};
    cJSON *counted = cJSON_AddObjectToObject(object, "counted");
    gls_json_uint(counted, "streamlines", s->streamlines);
    gls_json_uint(counted, "points", s->points);
    gls_json_uint(counted, "empty", s->empty);
    gls_json_uint(counted, "single_points", s->single_points);
    gls_json_uint(counted, "not_finite", s->not_finite);
    gls_json_uint(counted, "zero_steps", s->zero_steps);
    gls_json_uint(counted, "outside_grid", s->outside);
    cJSON *low = cJSON_AddArrayToObject(counted, "low_mm"), *high = cJSON_AddArrayToObject(counted, "high_mm");
    for (int a = 0; a < 3; a++) {
        gls_json_append_double(low, s->low[a]);
        gls_json_append_double(high, s->high[a]);
    }
    add_spread(counted, "length_mm", &s->length);
    add_spread(counted, "step_mm", &s->step);
    cJSON *values = cJSON_AddArrayToObject(counted, "values");
    for (size_t k = 0; k < s->n_columns; k++) {
        const gls_column_summary *c = &s->column[k];
        cJSON *value = cJSON_CreateObject();
        cJSON_AddStringToObject(value, "kind", kinds[c->kind]);
        cJSON_AddStringToObject(value, "name", c->name);
        gls_json_uint(value, "n", c->n);
        gls_json_uint(value, "not_finite", c->n_not_finite);
        gls_json_double(value, "min", c->min);
        gls_json_double(value, "mean", c->mean);
        gls_json_double(value, "max", c->max);
        cJSON_AddItemToArray(values, value);
    }
}

cJSON *tract_info_json(const char *path, const gls_tractogram_info *info, const gls_summary_result *summary)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "path", path);
    cJSON_AddStringToObject(object, "format", gls_tractogram_format_name(info->format));
    cJSON_AddNumberToObject(object, "version", info->version);
    gls_json_uint(object, "bytes", info->bytes);
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
