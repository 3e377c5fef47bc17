/* Messages between the page of the window and its server: JSON from the page, bytes of streamlines to it. */
#include "view/messages.h"

#include <cJSON.h>
#include <math.h>
#include <string.h>

#include "render/stage.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

void gls_view_numbers(double *number, int n, char text[160])
{
    size_t length = 0;
    for (int i = 0; i < n; i++) {
        const size_t from = length;
        length += (size_t)gls_snprintf(text + length, 24, "%.7g", number[i]);
        number[i] = gls_strtod(text + from, NULL);
        if (i < n - 1) text[length++] = ',';
    }
}

/* A number of an object, from low to high. GLS_ERR_ARGUMENT: it is none. */
static gls_status read_number(const cJSON *entry, const char *name, double low, double high, bool whole, double *v)
{
    *v = cJSON_IsNumber(entry) ? entry->valuedouble : NAN;
    if (*v >= low && *v <= high && (!whole || *v == floor(*v))) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "message: %s must be %s number from %.0f to %.0f", name, whole ? "a whole" : "a",
                    low, high);
}

/* The member of an object. */
static const cJSON *at(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Reads a list of n coordinates from -most to most. name: for messages. */
static gls_status read_place(const cJSON *list, const char *name, int n, double most, double *place)
{
    gls_status status = GLS_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != n)
        return gls_fail(GLS_ERR_ARGUMENT, "message: %s must be a list of %d numbers", name, n);
    for (int i = 0; i < n && !status; i++)
        status = read_number(cJSON_GetArrayItem(list, i), name, -most, most, false, &place[i]);
    return status;
}

/* Reads the centre and radius of a sphere. */
static gls_status read_sphere(const cJSON *list, double sphere[4])
{
    gls_status status = read_place(list, "sphere", 4, GLS_VIEW_PLACE, sphere);
    if (!status && !(sphere[3] >= 0.001 && sphere[3] <= GLS_VIEW_RADIUS))
        status = gls_fail(GLS_ERR_ARGUMENT, "message: radius must be from 0.001 to %d mm", GLS_VIEW_RADIUS);
    return status;
}

const char *const gls_view_control_name[GLS_VIEW_CONTROLS] = {"dg", "max-angle", "cutoff", "step-size"};

static gls_status read_id(const cJSON *object, gls_view_request *request)
{
    double id;
    gls_status status = read_number(at(object, "id"), "id", 0, UINT32_MAX, true, &id);
    if (!status) request->id = (uint32_t)id;
    return status;
}

/* Reads the number of a painted region. least: 1, or 0, which is none. */
static gls_status read_mask(const cJSON *from, double least, uint32_t *mask)
{
    double number;
    gls_status status = read_number(from, "mask", least, UINT32_MAX, true, &number);
    if (!status) *mask = (uint32_t)number;
    return status;
}

static gls_status read_pick(const cJSON *pick, gls_view_request *request)
{
    if (cJSON_GetArraySize(pick) != 2) return gls_fail(GLS_ERR_ARGUMENT, "message: pick takes id and at [x, y, z]");
    return read_place(at(pick, "at"), "at", 3, GLS_VIEW_PLACE, request->sphere);
}

/* Reads a limit of values. none: what null is. */
static gls_status read_limit(const cJSON *from, const char *name, double none, double *limit)
{
    *limit = none;
    return cJSON_IsNull(from) ? GLS_OK : read_number(from, name, -GLS_VIEW_VALUE, GLS_VIEW_VALUE, false, limit);
}

static gls_status read_paint(const cJSON *paint, gls_view_request *request)
{
    const cJSON *list = at(paint, "at"), *adds = at(paint, "adds"), *replaces = at(paint, "replaces"),
                *part = at(paint, "part"), *place;
    const int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    double plane = -1;
    if (cJSON_GetArraySize(paint) != 10 || !cJSON_IsBool(adds) || !cJSON_IsBool(replaces) || !cJSON_IsBool(part))
        return gls_fail(GLS_ERR_ARGUMENT, "message: paint takes id, mask, replaces, adds, part, plane, radius, low, "
                                          "high and at");
    if (n < 1 || n > GLS_VIEW_PLACES)
        return gls_fail(GLS_ERR_ARGUMENT, "message: at must be a list of 1 to %d places", GLS_VIEW_PLACES);
    gls_status status = read_mask(at(paint, "mask"), 0, &request->mask);
    if (!status && !cJSON_IsNull(at(paint, "plane")))
        status = read_number(at(paint, "plane"), "plane", 0, 2, true, &plane);
    if (!status) status = read_number(at(paint, "radius"), "radius", 0, GLS_VIEW_BRUSH, false, &request->radius);
    if (!status) status = read_limit(at(paint, "low"), "low", -INFINITY, &request->low);
    if (!status) status = read_limit(at(paint, "high"), "high", INFINITY, &request->high);
    if (!status && request->low > request->high)
        status = gls_fail(GLS_ERR_ARGUMENT, "message: low must not be above high");
    cJSON_ArrayForEach(place, list)
    {
        if (!status) status = read_place(place, "at", 3, GLS_VIEW_PLACE, request->point[request->n_points++]);
    }
    if (status) return status;
    request->plane = (int)plane;
    request->adds = cJSON_IsTrue(adds);
    request->replaces = cJSON_IsTrue(replaces);
    request->whole_part = cJSON_IsTrue(part);
    return GLS_OK;
}

/* The roles of regions, and their words in messages. */
static const struct {
    const char *word;
    gls_region_role role;
} roles[] = {{"include", GLS_REGION_INCLUDE},    {"exclude", GLS_REGION_EXCLUDE},
             {"end", GLS_REGION_INCLUDE_END},    {"both-ends", GLS_REGION_INCLUDE_BOTH_ENDS},
             {"no-end", GLS_REGION_EXCLUDE_END}, {"any", GLS_REGION_INCLUDE_ANY},
             {"stop", GLS_REGION_STOP_AT}};
enum { N_ROLES = sizeof roles / sizeof *roles };

/* Reads one region of n members, and adds it to the request. stops: the role must be stop, or must not be. */
static gls_status read_region(const cJSON *from, int n, bool stops, gls_view_request *request)
{
    const char *role = cJSON_GetStringValue(at(from, "role"));
    const cJSON *sphere = at(from, "sphere"), *box = at(from, "box"), *mask = at(from, "mask");
    double label = 0;
    int r = 0;
    if (request->n_regions == GLS_VIEW_ALL_REGIONS)
        return gls_fail(GLS_ERR_ARGUMENT, "message: all bundles may have %d regions", GLS_VIEW_ALL_REGIONS);
    gls_view_region *to = &request->region[request->n_regions++];
    while (role && r < N_ROLES && strcmp(role, roles[r].word) != 0) r++;
    if (!role || r == N_ROLES || (roles[r].role == GLS_REGION_STOP_AT) != stops || cJSON_GetArraySize(from) != n)
        return gls_fail(GLS_ERR_ARGUMENT, "message: a region has role (%s) and sphere, box, label or mask",
                        stops ? "stop" : "include, any, exclude, end, both-ends, no-end");
    *to = (gls_view_region){.role = roles[r].role, .n = sphere ? 4 : box ? 6 : 0};
    if (mask) return read_mask(mask, 1, &to->mask);
    if (sphere) return read_sphere(sphere, to->number);
    if (box) {
        gls_status status = read_place(box, "box", 6, GLS_VIEW_PLACE + GLS_VIEW_RADIUS, to->number);
        for (int a = 0; a < 3 && !status; a++)
            if (!(to->number[a + 3] - to->number[a] >= 0.01))
                status =
                    gls_fail(GLS_ERR_ARGUMENT, "message: box must be [x, y, z, X, Y, Z], 0.01 mm or more each way");
        return status;
    }
    gls_status status = read_number(at(from, "label"), "label", 1, INT32_MAX, true, &label);
    to->label = (int32_t)label;
    return status;
}

/* Reads a text of 1 to GLS_VIEW_NAME - 1 bytes without control characters. */
static gls_status read_text(const cJSON *from, char text[GLS_VIEW_NAME])
{
    const char *given = cJSON_GetStringValue(from);
    const size_t n = given ? strlen(given) : 0;
    bool fits = n > 0 && n < GLS_VIEW_NAME;
    for (size_t i = 0; i < n && fits; i++) fits = (unsigned char)given[i] >= ' ' && given[i] != 127;
    if (!fits)
        return gls_fail(GLS_ERR_ARGUMENT, "message: a column or group has a name of 1 to %d bytes", GLS_VIEW_NAME - 1);
    memcpy(text, given, n + 1);
    return GLS_OK;
}

/* Reads a list [low, high], as command lines have these numbers; null is no limit; no list: neither is one. */
static gls_status read_limits(const cJSON *list, const char *name, double *low, double *high)
{
    if (!list) return GLS_OK;
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 2)
        return gls_fail(GLS_ERR_ARGUMENT, "message: %s must be a list of 2 numbers or null", name);
    gls_status status = read_limit(cJSON_GetArrayItem(list, 0), name, *low, low);
    if (!status) status = read_limit(cJSON_GetArrayItem(list, 1), name, *high, high);
    char text[160];
    if (!status && isfinite(*low)) gls_view_numbers(low, 1, text);
    if (!status && isfinite(*high)) gls_view_numbers(high, 1, text);
    if (!status && *low > *high) status = gls_fail(GLS_ERR_ARGUMENT, "message: %s must not end below its begin", name);
    return status;
}

/* Reads names of groups, behind the k of before. NULL: none. */
static gls_status read_groups(const cJSON *list, gls_view_criteria *c, size_t k, size_t *n)
{
    const cJSON *name;
    gls_status status = GLS_OK;
    if (list && (!cJSON_IsArray(list) || (size_t)cJSON_GetArraySize(list) > GLS_VIEW_GROUPS - k))
        return gls_fail(GLS_ERR_ARGUMENT, "message: up to %d groups can be chosen", GLS_VIEW_GROUPS);
    cJSON_ArrayForEach(name, list)
    {
        if (!status) status = read_text(name, c->group[k + (*n)++]);
    }
    return status;
}

/* Reads criteria; NULL: there are none. */
static gls_status read_criteria(const cJSON *from, gls_view_criteria *c)
{
    const cJSON *column = at(from, "column"), *values = at(from, "values"), *length = at(from, "length"),
                *groups = at(from, "groups"), *not_groups = at(from, "not_groups");
    *c = (gls_view_criteria){.max_length = INFINITY, .min_value = -INFINITY, .max_value = INFINITY};
    if (!from) return GLS_OK;
    if (!cJSON_IsObject(from) || !column != !values ||
        cJSON_GetArraySize(from) != (column ? 2 : 0) + (length != NULL) + (groups != NULL) + (not_groups != NULL))
        return gls_fail(GLS_ERR_ARGUMENT, "message: criteria take length, column and values, groups and not_groups");
    gls_status status = read_limits(length, "length", &c->min_length, &c->max_length);
    if (!status && !(c->min_length >= 0)) status = gls_fail(GLS_ERR_ARGUMENT, "message: length must be 0 or more");
    if (!status && column) status = read_text(column, c->column);
    if (!status) status = read_limits(values, "values", &c->min_value, &c->max_value);
    if (!status) status = read_groups(groups, c, 0, &c->n_groups);
    if (!status) status = read_groups(not_groups, c, c->n_groups, &c->n_not_groups);
    return status;
}

/* Reads the regions of the next bundle. */
static gls_status read_regions(const cJSON *list, int least, gls_view_request *request)
{
    const cJSON *region;
    const size_t first = request->n_regions;
    int n_ends = 0;
    const int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    gls_status status = cJSON_IsArray(list) && n >= least && n <= GLS_VIEW_REGIONS
                            ? GLS_OK
                            : gls_fail(GLS_ERR_ARGUMENT, "message: regions must be a list of %d to %d regions", least,
                                       GLS_VIEW_REGIONS);
    cJSON_ArrayForEach(region, list)
    {
        if (!status) status = read_region(region, 2, false, request);
    }
    for (size_t i = first; i < request->n_regions; i++) n_ends += request->region[i].role == GLS_REGION_INCLUDE_END;
    if (!status && n_ends > 2)
        status = gls_fail(GLS_ERR_ARGUMENT, "message: a streamline has two ends: at most 2 regions may be of the role "
                                            "end");
    request->end[request->n_bundles++] = request->n_regions;
    return status;
}

/* Reads the controls of live tracking. */
static gls_status read_controls(const cJSON *controls, gls_view_request *request)
{
    const cJSON *act = at(controls, "act");
    bool fits = cJSON_GetArraySize(controls) == GLS_VIEW_CONTROLS + 1 && cJSON_IsBool(act);
    for (int i = 0; i < GLS_VIEW_CONTROLS && fits; i++) {
        const char *text = cJSON_GetStringValue(at(controls, gls_view_control_name[i]));
        const size_t n = text ? strlen(text) : GLS_VIEW_CONTROL;
        fits = n < GLS_VIEW_CONTROL;
        for (size_t k = 0; k < n && fits; k++) fits = text[k] > ' ' && text[k] <= '~';
        if (fits) memcpy(request->controls.value[i], text, n + 1);
    }
    request->has_controls = true;
    request->controls.act = cJSON_IsTrue(act);
    return fits ? GLS_OK
                : gls_fail(GLS_ERR_ARGUMENT,
                           "message: controls are dg, max-angle, cutoff, step-size, texts of up to "
                           "%d letters, and act",
                           GLS_VIEW_CONTROL - 1);
}

/* Reads the regions in which streamlines stop. */
static gls_status read_stops(const cJSON *list, gls_view_request *request)
{
    const cJSON *region;
    gls_status status =
        cJSON_IsArray(list) && cJSON_GetArraySize(list) <= GLS_VIEW_REGIONS
            ? GLS_OK
            : gls_fail(GLS_ERR_ARGUMENT, "message: stop must be a list of up to %d regions", GLS_VIEW_REGIONS);
    cJSON_ArrayForEach(region, list)
    {
        if (!status) status = read_region(region, 2, true, request);
    }
    return status;
}

/* Reads what is tracked. n: number of members that every such message has. */
static gls_status read_tracked(const cJSON *track, int n, gls_view_request *request)
{
    const cJSON *mask = at(track, "mask"), *controls = at(track, "controls"), *stop = at(track, "stop");
    double nseeds, seed;
    if (cJSON_GetArraySize(track) != n + (controls ? 1 : 0) + (stop ? 1 : 0))
        return gls_fail(GLS_ERR_ARGUMENT, "message: track takes id, sphere [x, y, z, r] or mask, nseeds, seed, "
                                          "controls, stop, preview, page_seconds");
    gls_status status = mask ? read_mask(mask, 1, &request->mask) : read_sphere(at(track, "sphere"), request->sphere);
    if (!status) status = read_number(at(track, "nseeds"), "nseeds", 1, GLS_VIEW_SEEDS, true, &nseeds);
    if (!status) status = read_number(at(track, "seed"), "seed", 0, (double)GLS_VIEW_SEED, true, &seed);
    if (!status && controls) status = read_controls(controls, request);
    if (!status && stop) status = read_stops(stop, request);
    if (status) return status;
    request->nseeds = (uint64_t)nseeds;
    request->seed = (uint64_t)seed;
    return GLS_OK;
}

static gls_status read_track(const cJSON *track, gls_view_request *request)
{
    const cJSON *preview = at(track, "preview"), *page = at(track, "page_seconds");
    if (preview && !cJSON_IsBool(preview)) return gls_fail(GLS_ERR_ARGUMENT, "message: preview must be true or false");
    request->preview = cJSON_IsTrue(preview);
    if (page && !request->preview) return gls_fail(GLS_ERR_ARGUMENT, "message: page_seconds belongs to a preview");
    gls_status status =
        page ? read_number(page, "page_seconds", 0, GLS_VIEW_PAGE, false, &request->page_seconds) : GLS_OK;
    return status ? status : read_tracked(track, 4 + (preview ? 1 : 0) + (page ? 1 : 0), request);
}

static gls_status read_select(const cJSON *select, gls_view_request *request)
{
    const cJSON *criteria = at(select, "criteria");
    double shown;
    if (cJSON_GetArraySize(select) != (criteria ? 4 : 3))
        return gls_fail(GLS_ERR_ARGUMENT, "message: select takes id, shown and regions");
    gls_status status = read_number(at(select, "shown"), "shown", 0, GLS_VIEW_SHOWN, true, &shown);
    if (!status) status = read_criteria(criteria, &request->criteria);
    if (!status) status = read_regions(at(select, "regions"), criteria ? 0 : 1, request);
    if (!status) request->shown = (uint64_t)shown;
    return status;
}

/* Reads a name of a bundle or of files. The letters are those that a table of bundles takes. */
static gls_status read_name(const cJSON *from, char name[GLS_VIEW_NAME])
{
    const char *text = cJSON_GetStringValue(from);
    const size_t n = text ? strlen(text) : 0;
    bool fits = n > 0 && n < GLS_VIEW_NAME && *text != '-';
    for (size_t i = 0; i < n && fits; i++) fits = gls_is_alnum((unsigned char)text[i]) || strchr("_-", text[i]);
    if (!fits)
        return gls_fail(GLS_ERR_ARGUMENT, "message: a name has 1 to %d letters, digits, _ and -", GLS_VIEW_NAME - 1);
    memcpy(name, text, n + 1);
    return GLS_OK;
}

static gls_status read_save(const cJSON *save, gls_view_request *request)
{
    const cJSON *list = at(save, "bundles"), *bundle, *force = at(save, "force"), *seeds = at(save, "seeds"),
                *criteria = at(save, "criteria"), *track = at(save, "track");
    const int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    request->force = cJSON_IsTrue(force);
    request->tracks = track;
    if (track) {
        if (cJSON_GetArraySize(save) != 4 || !cJSON_IsBool(force) || !cJSON_IsObject(track))
            return gls_fail(GLS_ERR_ARGUMENT, "message: save takes id, name, force and track, or bundles");
        gls_status named = read_name(at(save, "name"), request->name);
        return named ? named : read_tracked(track, 3, request);
    }
    if (cJSON_GetArraySize(save) != 4 + (seeds != NULL) + (criteria != NULL) || !cJSON_IsBool(force) || n < 1 ||
        n > GLS_VIEW_BUNDLES)
        return gls_fail(GLS_ERR_ARGUMENT, "message: save takes id, name, force and 1 to %d bundles", GLS_VIEW_BUNDLES);
    gls_status status = read_name(at(save, "name"), request->name);
    if (!status && seeds) status = read_mask(seeds, 1, &request->mask);
    if (!status) status = read_criteria(criteria, &request->criteria);
    cJSON_ArrayForEach(bundle, list)
    {
        const size_t k = request->n_bundles;
        if (!status && cJSON_GetArraySize(bundle) != 2)
            status = gls_fail(GLS_ERR_ARGUMENT, "message: a bundle has name and regions");
        if (!status) status = read_name(at(bundle, "name"), request->bundle[k]);
        for (size_t i = 0; i < k && !status; i++)
            if (strcmp(request->bundle[i], request->bundle[k]) == 0)
                status = gls_fail(GLS_ERR_ARGUMENT, "message: two bundles have the name %s", request->bundle[k]);
        if (!status) status = read_regions(at(bundle, "regions"), 1, request);
    }
    return status;
}

static gls_status read_glyphs(const cJSON *glyphs, gls_view_request *request)
{
    double axis;
    if (cJSON_GetArraySize(glyphs) != 5)
        return gls_fail(GLS_ERR_ARGUMENT, "message: glyphs takes id, axis, at, low and high");
    gls_status status = read_number(at(glyphs, "axis"), "axis", 0, 2, true, &axis);
    if (!status) status = read_number(at(glyphs, "at"), "at", -GLS_VIEW_PLACE, GLS_VIEW_PLACE, false, request->sphere);
    if (!status) status = read_place(at(glyphs, "low"), "low", 3, GLS_VIEW_PLACE, request->point[0]);
    if (!status) status = read_place(at(glyphs, "high"), "high", 3, GLS_VIEW_PLACE, request->point[1]);
    if (!status) request->plane = (int)axis;
    return status;
}

static const char *const judgements[] = {
    [GLS_VIEW_UNJUDGED] = "n/a", [GLS_VIEW_GOOD] = "good", [GLS_VIEW_DOUBTFUL] = "doubtful", [GLS_VIEW_BAD] = "bad"};

gls_view_judgement gls_view_judgement_parse(const char *word)
{
    int k = 0;
    while (k < GLS_VIEW_JUDGEMENTS && strcmp(word, judgements[k]) != 0) k++;
    return (gls_view_judgement)k;
}

const char *gls_view_judgement_word(gls_view_judgement judgement)
{
    return judgements[judgement];
}

/* Copies a note of a participant, with blanks for characters that are no text. */
static void copy_note(const char *text, char note[GLS_VIEW_NOTE])
{
    char escape[GLS_ESCAPE_BYTES];
    size_t used = 0;
    for (size_t n; *text; text += n) {
        n = gls_escape_next(text, escape);
        const size_t bytes = *escape ? 1 : n;
        memcpy(note + used, *escape ? " " : text, bytes);
        used += bytes;
    }
    note[used] = 0;
}

static gls_status read_judge(const cJSON *judge, gls_view_request *request)
{
    const char *word = cJSON_GetStringValue(at(judge, "judgement")), *note = cJSON_GetStringValue(at(judge, "note"));
    double participant;
    if (cJSON_GetArraySize(judge) != 4 || !word || !note || strlen(note) >= GLS_VIEW_NOTE)
        return gls_fail(GLS_ERR_ARGUMENT, "message: judge takes id, participant, judgement and note, up to %d bytes",
                        GLS_VIEW_NOTE - 1);
    request->judgement = gls_view_judgement_parse(word);
    if (request->judgement == GLS_VIEW_JUDGEMENTS)
        return gls_fail(GLS_ERR_ARGUMENT, "message: judgement must be good, doubtful, bad or n/a");
    gls_status status = read_number(at(judge, "participant"), "participant", 0, UINT32_MAX, true, &participant);
    if (status) return status;
    request->participant = (size_t)participant;
    copy_note(note, request->note);
    return GLS_OK;
}

static gls_status read_join(const cJSON *join, gls_view_request *request)
{
    (void)request;
    return cJSON_GetArraySize(join) == 1 ? GLS_OK : gls_fail(GLS_ERR_ARGUMENT, "message: join takes id");
}

/* Reads the number of the state that a page knew. */
static gls_status read_base(const cJSON *from, gls_view_request *request)
{
    double base;
    gls_status status = read_number(at(from, "base"), "base", 0, (double)GLS_VIEW_SEED, true, &base);
    if (!status) request->base = (uint64_t)base;
    return status;
}

static gls_status read_undo(const cJSON *undo, gls_view_request *request)
{
    request->forward = cJSON_IsTrue(at(undo, "forward"));
    if (cJSON_GetArraySize(undo) != 3 || !cJSON_IsBool(at(undo, "forward")))
        return gls_fail(GLS_ERR_ARGUMENT, "message: undo takes id, base and forward");
    return read_base(undo, request);
}

static gls_status read_voxels(const cJSON *voxels, gls_view_request *request)
{
    if (cJSON_GetArraySize(voxels) != 2) return gls_fail(GLS_ERR_ARGUMENT, "message: voxels takes id and mask");
    return read_mask(at(voxels, "mask"), 1, &request->mask);
}

/* Checks regions of a scene, which have names. A painted one may have no voxels yet, and be that of the seeds. */
static gls_status check_regions(const cJSON *list, gls_view_request *request)
{
    const cJSON *region;
    char name[GLS_VIEW_NAME];
    uint32_t number;
    gls_status status =
        cJSON_IsArray(list) && cJSON_GetArraySize(list) <= GLS_VIEW_REGIONS
            ? GLS_OK
            : gls_fail(GLS_ERR_ARGUMENT, "message: regions must be a list of up to %d regions", GLS_VIEW_REGIONS);
    request->n_regions = 0;
    cJSON_ArrayForEach(region, list)
    {
        const char *role = cJSON_GetStringValue(at(region, "role"));
        const cJSON *mask = at(region, "mask");
        const bool unpainted = mask && cJSON_IsNumber(mask) && mask->valuedouble == 0;
        const bool sows = role && strcmp(role, "seed") == 0;
        int r = 0;
        while (role && r < N_ROLES && strcmp(role, roles[r].word) != 0) r++;
        if (!status) status = read_text(at(region, "name"), name);
        if (!status && mask && (sows || (unpainted && role && r < N_ROLES)) && cJSON_GetArraySize(region) == 3)
            status = read_mask(mask, 0, &number);
        else if (!status)
            status = read_region(region, 3, role && strcmp(role, "stop") == 0, request);
    }
    return status;
}

/* Checks a scene, which stays a text: pages alone look into it. */
static gls_status read_scene(const cJSON *scene, gls_view_request *request)
{
    const cJSON *joins = at(scene, "joins"), *track = at(scene, "track"), *criteria = at(scene, "criteria"),
                *list = at(scene, "bundles"), *bundle;
    gls_view_request part = {.id = 0}; /* what is checked */
    double count;
    char name[GLS_VIEW_NAME];
    if (cJSON_GetArraySize(scene) != 5 + (track != NULL) + (criteria != NULL) || !cJSON_IsBool(joins) ||
        !cJSON_IsArray(list) || cJSON_GetArraySize(list) > GLS_VIEW_BUNDLES || (track && !cJSON_IsObject(track)))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "message: scene takes id, base, joins, regions, up to %d bundles, track, "
                        "criteria",
                        GLS_VIEW_BUNDLES);
    gls_status status = read_base(scene, request);
    if (!status) status = check_regions(at(scene, "regions"), &part);
    if (!status && track) status = read_tracked(track, 3, &part);
    if (!status) status = read_criteria(criteria, &part.criteria);
    cJSON_ArrayForEach(bundle, list)
    {
        const cJSON *counted = at(bundle, "count");
        if (!status && cJSON_GetArraySize(bundle) != 2 + (counted != NULL))
            status = gls_fail(GLS_ERR_ARGUMENT, "message: a bundle of a scene has name, regions and count");
        if (!status) status = read_name(at(bundle, "name"), name);
        if (!status && counted) status = read_number(counted, "count", 0, (double)GLS_VIEW_SEED, true, &count);
        if (!status) status = check_regions(at(bundle, "regions"), &part);
    }
    if (!status) request->joins = cJSON_IsTrue(joins);
    return status;
}

/* Whether a text of n bytes is UTF-8 without NUL. */
static bool is_utf8(const char *text, size_t n)
{
    size_t i = 0;
    for (size_t more; i < n; i += more)
        if (!text[i] || !(more = gls_utf8_bytes(text + i)) || i + more > n) return false;
    return true;
}

gls_status gls_view_request_read(const char *text, size_t bytes, gls_view_request *request)
{
    static const struct {
        const char *name;
        gls_status (*read)(const cJSON *from, gls_view_request *request);
    } kinds[] = {[GLS_VIEW_TRACK] = {"track", read_track},    [GLS_VIEW_SELECT] = {"select", read_select},
                 [GLS_VIEW_PICK] = {"pick", read_pick},       [GLS_VIEW_PAINT] = {"paint", read_paint},
                 [GLS_VIEW_GLYPHS] = {"glyphs", read_glyphs}, [GLS_VIEW_SAVE] = {"save", read_save},
                 [GLS_VIEW_JUDGE] = {"judge", read_judge},    [GLS_VIEW_JOIN] = {"join", read_join},
                 [GLS_VIEW_SCENE] = {"scene", read_scene},    [GLS_VIEW_UNDO] = {"undo", read_undo},
                 [GLS_VIEW_VOXELS] = {"voxels", read_voxels}};
    enum { N_KINDS = sizeof kinds / sizeof *kinds };
    const char *stopped = NULL;
    const bool fits = bytes <= GLS_VIEW_MESSAGE && is_utf8(text, bytes);
    cJSON *root = fits ? gls_json_parse_whole(text, bytes, &stopped) : NULL;
    int kind = 0;
    *request = (gls_view_request){.id = 0};
    while (kind < N_KINDS && !at(root, kinds[kind].name)) kind++;
    const cJSON *from = kind < N_KINDS ? at(root, kinds[kind].name) : NULL;
    gls_status status =
        !root ? gls_fail(GLS_ERR_INPUT, "message: is no JSON in UTF-8 of up to %d bytes", GLS_VIEW_MESSAGE)
        : !cJSON_IsObject(root) || cJSON_GetArraySize(root) != 1 || !cJSON_IsObject(from)
            ? gls_fail(GLS_ERR_ARGUMENT,
                       "message: must be an object with one of track, select, pick, paint, glyphs, save, judge, join, "
                       "scene, undo, voxels")
            : read_id(from, request);
    request->kind = (gls_view_kind)(kind % N_KINDS);
    if (!status) status = kinds[kind].read(from, request);
    cJSON_Delete(root);
    return status;
}

void gls_view_put32(uint32_t v, gls_text *out)
{
    const char bytes[4] = {(char)v, (char)(v >> 8), (char)(v >> 16), (char)(v >> 24)};
    gls_text_append(out, bytes, sizeof bytes);
}

void gls_view_answer_head(uint32_t id, int kind, uint32_t n, gls_text *out)
{
    const char head[4] = {1, (char)kind, 0, 0};
    gls_text_append(out, head, sizeof head);
    gls_view_put32(id, out);
    gls_view_put32(n, out);
}

bool gls_view_region_is_of_ends(const gls_view_region *region)
{
    return region->role == GLS_REGION_INCLUDE_END || region->role == GLS_REGION_INCLUDE_BOTH_ENDS ||
           region->role == GLS_REGION_EXCLUDE_END;
}

bool gls_view_request_has_label(const gls_view_request *request)
{
    bool has = false;
    for (size_t i = 0; i < request->n_regions; i++) has |= request->region[i].n == 0 && request->region[i].mask == 0;
    return has;
}

gls_status gls_view_answer_lines(uint32_t id, int kind, const gls_scene *scene, gls_text *out)
{
    gls_view_answer_head(id, kind, (uint32_t)scene->n_lines, out);
    return gls_stage_lines(scene, out);
}

cJSON *gls_view_answer_begin(uint32_t id, const char *kind)
{
    cJSON *root = cJSON_CreateObject();
    gls_json_uint(root, "id", id);
    if (kind) cJSON_AddStringToObject(root, "kind", kind);
    return root;
}

gls_status gls_view_answer_end(cJSON *root, gls_text *out)
{
    char *text = gls_json_print_line(root);
    if (text) gls_text_puts(out, text);
    const bool printed = text && !out->failed;
    cJSON_free(text);
    cJSON_Delete(root);
    return printed ? GLS_OK : gls_no_memory();
}

void gls_view_answer_error(uint32_t id, const char *why, bool exists, gls_text *out)
{
    cJSON *root = gls_view_answer_begin(id, NULL);
    cJSON_AddStringToObject(root, "error", why);
    if (exists) cJSON_AddTrueToObject(root, "exists");
    (void)gls_view_answer_end(root, out);
}
