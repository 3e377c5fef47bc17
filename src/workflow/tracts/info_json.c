/* A tractogram's header and summary as JSON. */
#include "workflow/tracts/info_json.h"

#include "workflow/json.h"

bool gls_tract_is_regular(const gls_spread *step)
{
    return step->quartile[1] - step->quartile[0] <= 1e-3 * step->median;
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
    gls_json_uint(counted, "points_outside_grid", s->points_outside);
    cJSON *low = cJSON_AddArrayToObject(counted, "low_mm"), *high = cJSON_AddArrayToObject(counted, "high_mm");
    for (int a = 0; a < 3; a++) {
        gls_json_append_double(low, s->low[a]);
        gls_json_append_double(high, s->high[a]);
    }
    add_spread(counted, "length_mm", &s->length);
    add_spread(counted, "step_mm", &s->step);
    cJSON_AddBoolToObject(counted, "step_is_regular", s->step.n > 0 && gls_tract_is_regular(&s->step));
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

cJSON *gls_tract_info_json(const char *path, const gls_tractogram_info *info, const gls_summary_result *summary)
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
