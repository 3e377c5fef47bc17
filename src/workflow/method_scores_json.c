/* Writes scores of methods to JSON. */
#include <cJSON.h>

#include "workflow/method_scores.h"
#include "workflow/run_params.h"
#include "workflow/sidecar.h"

/* Adds counts of streamlines by class, counts of bundles, and means over bundles (0 to 1). */
static void add_counts(cJSON *method, const gls_score_result *r)
{
    const struct {
        const char *key;
        uint64_t n;
    } counts[] = {{"streamlines", r->streamlines},      {"valid", r->valid},
                  {"wrong_path", r->wrong_path},        {"invalid_connections", r->invalid},
                  {"no_connections", r->no_connection}, {"valid_bundles", r->valid_bundles},
                  {"bundles_in_truth", r->n_bundles},   {"invalid_bundles", r->invalid_bundles}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) gls_json_uint(method, counts[i].key, counts[i].n);
    gls_json_double(method, "mean_overlap", r->mean_overlap);
    gls_json_double(method, "mean_overreach", r->mean_overreach);
    gls_json_double(method, "mean_overreach_gt", r->mean_overreach_gt);
    gls_json_double(method, "mean_f1", r->mean_f1);
}

/* Adds the voxels and shares of each bundle. `list` holds the bundles, since r->bundle may be gone. */
static void add_bundles(cJSON *method, const gls_score_result *r, const gls_score_bundle *list)
{
    cJSON *bundles = cJSON_AddArrayToObject(method, "bundles");
    for (size_t b = 0; b < r->n_bundles; b++) {
        const gls_score_bundle *s = &list[b];
        cJSON *bundle = cJSON_CreateObject();
        cJSON_AddItemToArray(bundles, bundle);
        cJSON_AddStringToObject(bundle, "name", s->name);
        gls_json_uint(bundle, "valid", s->valid);
        gls_json_uint(bundle, "voxels", s->truth);
        gls_json_uint(bundle, "voxels_found", s->found);
        gls_json_uint(bundle, "voxels_beyond", s->beyond);
        gls_json_double(bundle, "overlap", s->overlap);
        gls_json_double(bundle, "overreach", s->overreach);
        gls_json_double(bundle, "overreach_gt", s->overreach_gt);
        gls_json_double(bundle, "f1", s->f1);
    }
}

/* Adds the entry of one method. "model" is null for getters without a model. */
static void add_row(cJSON *methods, const gls_method_score *row)
{
    cJSON *method = cJSON_CreateObject();
    cJSON_AddItemToArray(methods, method);
    if (*gls_method_model(row))
        cJSON_AddStringToObject(method, "model", gls_method_model(row));
    else
        cJSON_AddNullToObject(method, "model");
    cJSON_AddStringToObject(method, "dg", gls_getter_name(row->dg));
    add_counts(method, &row->result);
    gls_json_double(method, "seconds", row->seconds);
    add_bundles(method, &row->result, row->bundle);
}

void gls_score_json(cJSON *object, const gls_score_result *result, const gls_score_bundle *bundles)
{
    add_counts(object, result);
    add_bundles(object, result, bundles);
}

void gls_method_scores_add(cJSON *root, const gls_method_scores *scores)
{
    gls_score_options rules = gls_score_options_default();
    cJSON *scoring = cJSON_AddObjectToObject(root, "scoring");
    gls_json_uint(scoring, "end_distance_voxels", (uint64_t)rules.end_distance);
    gls_json_uint(scoring, "route_distance_voxels", (uint64_t)rules.route_distance);
    gls_sidecar_add_grid(root, &scores->grid);
    cJSON_AddStringToObject(root, "device", scores->renderer);
    cJSON *methods = cJSON_AddArrayToObject(root, "methods");
    for (int i = 0; i < scores->n; i++) add_row(methods, &scores->row[i]);
}
