/* Messages between the page of the window and its server: JSON from the page, bytes of streamlines to it. */
#include "view/messages.h"

#include <cJSON.h>
#include <math.h>

#include "render/stage.h"
#include "util/json_text.h"
#include "util/status.h"

/* A number of an object, from low to high. GLS_ERR_ARGUMENT: it is none. */
static gls_status read_number(const cJSON *entry, const char *name, double low, double high, bool whole, double *v)
{
    *v = cJSON_IsNumber(entry) ? entry->valuedouble : NAN;
    if (*v >= low && *v <= high && (!whole || *v == floor(*v))) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "message: %s must be %s number from %.0f to %.0f", name, whole ? "a whole" : "a",
                    low, high);
}

static gls_status read_track(const cJSON *track, gls_view_request *request)
{
    const cJSON *sphere = cJSON_GetObjectItemCaseSensitive(track, "sphere");
    double id, nseeds, seed, radius;
    if (!cJSON_IsObject(track) || cJSON_GetArraySize(track) != 4 || !cJSON_IsArray(sphere) ||
        cJSON_GetArraySize(sphere) != 4)
        return gls_fail(GLS_ERR_ARGUMENT, "message: track takes id, sphere [x, y, z, r], nseeds and seed");
    gls_status status = read_number(cJSON_GetObjectItemCaseSensitive(track, "id"), "id", 0, UINT32_MAX, true, &id);
    for (int i = 0; i < 3 && !status; i++)
        status = read_number(cJSON_GetArrayItem(sphere, i), "sphere", -GLS_VIEW_PLACE, GLS_VIEW_PLACE, false,
                             &request->sphere[i]);
    if (!status) status = read_number(cJSON_GetArrayItem(sphere, 3), "radius", 0, GLS_VIEW_RADIUS, false, &radius);
    if (!status && radius < 0.001) status = gls_fail(GLS_ERR_ARGUMENT, "message: radius must be 0.001 mm or more");
    if (!status)
        status =
            read_number(cJSON_GetObjectItemCaseSensitive(track, "nseeds"), "nseeds", 1, GLS_VIEW_SEEDS, true, &nseeds);
    /* above 2^53 JSON's numbers are not all whole numbers */
    if (!status)
        status =
            read_number(cJSON_GetObjectItemCaseSensitive(track, "seed"), "seed", 0, 9007199254740992.0, true, &seed);
    if (status) return status;
    request->id = (uint32_t)id;
    request->sphere[3] = radius;
    request->nseeds = (uint64_t)nseeds;
    request->seed = (uint64_t)seed;
    return GLS_OK;
}

gls_status gls_view_request_read(const char *text, size_t bytes, gls_view_request *request)
{
    const char *stopped = NULL;
    cJSON *root = bytes <= GLS_VIEW_MESSAGE ? gls_json_parse_whole(text, bytes, &stopped) : NULL;
    const cJSON *track = cJSON_GetObjectItemCaseSensitive(root, "track");
    gls_status status = !root ? gls_fail(GLS_ERR_ARGUMENT, "message: is no JSON of up to %d bytes", GLS_VIEW_MESSAGE)
                        : !cJSON_IsObject(root) || cJSON_GetArraySize(root) != 1 || !track
                            ? gls_fail(GLS_ERR_ARGUMENT, "message: must be an object with the member track alone")
                            : read_track(track, request);
    cJSON_Delete(root);
    return status;
}

gls_status gls_view_answer_lines(uint32_t id, const gls_scene *scene, gls_text *out)
{
    const uint32_t n = (uint32_t)scene->n_lines;
    const char head[12] = {1,
                           1,
                           0,
                           0,
                           (char)id,
                           (char)(id >> 8),
                           (char)(id >> 16),
                           (char)(id >> 24),
                           (char)n,
                           (char)(n >> 8),
                           (char)(n >> 16),
                           (char)(n >> 24)};
    gls_text_append(out, head, sizeof head);
    return gls_stage_lines(scene, out);
}

void gls_view_answer_error(uint32_t id, const char *why, gls_text *out)
{
    cJSON *root = cJSON_CreateObject();
    gls_json_uint(root, "id", id);
    cJSON_AddStringToObject(root, "error", why);
    char *text = gls_json_print_line(root);
    if (text) gls_text_puts(out, text);
    cJSON_free(text);
    cJSON_Delete(root);
}
