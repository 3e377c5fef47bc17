/* Selecting streamlines by regions that move. For each region the streamlines that meet it are a set of bits, so that
 * only the region that moved is searched; the selection is made of these sets. */
#include "view/dissect.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "image/labels.h"
#include "image/region_area.h"
#include "render/scene.h"
#include "render/stage.h"
#include "transform/bring.h"
#include "util/allocation.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "view/command.h"

/* Memory of the sets of streamlines that are remembered, bytes, where a request does not need more. */
#define REMEMBERED_BYTES ((size_t)16 << 20)
/* Tolerance of the streamlines that are shown, mm: points are left out where a streamline is so straight. */
#define TOLERANCE 0.1

/* --- Labels. */

gls_status gls_view_dissection_open(gls_view_dissection *d)
{
    gls_status status = gls_transform_read(d->transform->value, (size_t)d->transform->n, &d->space);
    if (status || !d->atlas) return status;
    status = gls_label_table_read(&d->names, d->lut);
    if (!status) status = gls_labels_read(d->atlas, &d->labels);
    return status ? status : gls_labels_bring(&d->labels, &d->space, d->atlas);
}

gls_status gls_view_dissection_labels(const gls_view_dissection *d, gls_text *json)
{
    int32_t *label = NULL;
    size_t n = 0;
    gls_status status = d->labels ? gls_labels_distinct(d->labels, d->atlas, &label, &n) : GLS_OK;
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < n && !status; i++) {
        const char *name = gls_label_table_name(&d->names, label[i]);
        cJSON *row = cJSON_CreateArray();
        cJSON_AddItemToArray(row, cJSON_CreateNumber(label[i]));
        cJSON_AddItemToArray(row, cJSON_CreateString(name ? name : ""));
        const uint8_t *colour = gls_label_table_colour(&d->names, label[i]);
        if (colour) cJSON_AddItemToArray(row, cJSON_CreateIntArray((const int[]){colour[0], colour[1], colour[2]}, 3));
        cJSON_AddItemToArray(list, row);
    }
    free(label);
    const gls_status printed = gls_view_answer_end(list, json);
    return status ? status : printed;
}

gls_status gls_view_dissection_slices(const gls_view_dissection *d, double max_voxels, gls_text *out)
{
    int32_t *label = NULL;
    size_t n = 0;
    gls_status status = gls_labels_distinct(d->labels, d->atlas, &label, &n);
    if (!status) status = gls_stage_labels(d->labels, label, n, max_voxels, out);
    free(label);
    return status;
}

gls_status gls_view_dissection_pick(const gls_view_dissection *d, const gls_view_request *request, gls_text *json)
{
    double to_voxel[3][4], at[3];
    size_t voxel;
    int32_t label = 0;
    if (!d->labels && d->gallery->n == 0)
        return gls_fail(GLS_ERR_ARGUMENT, "place: give 'glslines view' an image, or the option --atlas");
    cJSON *root = gls_view_answer_begin(request->id, "pick");
    gls_view_gallery_values(d->gallery, request->sphere, root);
    if (!d->labels) return gls_view_answer_end(root, json);
    gls_grid_inverse(&d->labels->grid, to_voxel);
    gls_affine_apply((const double(*)[4])to_voxel, request->sphere, at);
    if (gls_region_voxel_at(&d->labels->grid, at, &voxel)) label = d->labels->data[voxel];
    const char *name = gls_label_table_name(&d->names, label);
    cJSON_AddNumberToObject(root, "label", label);
    cJSON_AddStringToObject(root, "name", name ? name : "");
    return gls_view_answer_end(root, json);
}

/* --- Reading. */

static gls_status read_lines(void *user)
{
    gls_view_dissection *d = user;
    gls_status status =
        gls_view_lines_read(&d->lines, d->path, d->n_paths, d->box, d->n_lines, d->n_points, d->read, d->go_on);
    gls_memory_give_back();
    d->measures = (gls_view_measures){
        .path = d->path, .n_paths = d->n_paths, .n = d->lines.n, .read = d->read, .go_on = d->go_on};
    return status;
}

gls_status gls_view_dissection_begin(gls_view_dissection *d)
{
    if (d->n_paths == 0) return GLS_OK;
    d->reading = (gls_beside){.name = "reading", .work = read_lines, .user = d};
    return gls_beside_begin(&d->reading);
}

/* --- The sets of streamlines that meet regions. */

/* The remembered set of a region; NULL: none. */
static gls_view_met *find_met(gls_view_dissection *d, const char *key)
{
    for (size_t i = 0; i < GLS_VIEW_REMEMBERED; i++)
        if (d->met[i].key && strcmp(d->met[i].key, key) == 0) return &d->met[i];
    return NULL;
}

/* The texts and keys of the regions of a request. */
typedef struct texts {
    char *text[GLS_VIEW_REGIONS], *key[GLS_VIEW_REGIONS];
    size_t n;
} texts;

static void finish_texts(texts *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->text[i]);
        free(t->key[i]);
    }
}

/* Whether a region has voxels, and is looked up with all others that have: as 'glslines edit' looks up regions of one
 * grid. */
static bool is_joint(const gls_view_region *region)
{
    return region->n == 0 && !gls_view_region_is_of_ends(region);
}

/* Writes the texts of the regions of a request, and their keys. */
static gls_status make_texts(const gls_view_dissection *d, const gls_view_request *request, texts *t)
{
    gls_text joint = {0};
    gls_status status = GLS_OK;
    for (size_t i = 0; i < request->n_regions && !status; i++) {
        gls_text text = {0};
        status = gls_view_region_text(&request->region[i], d->atlas, &text);
        t->text[t->n] = gls_text_take(&text);
        t->key[t->n++] = NULL;
        if (is_joint(&request->region[i]))
            gls_text_printf(&joint, "%d/%u,", (int)request->region[i].label, (unsigned)request->region[i].mask);
    }
    char *all = gls_text_take(&joint);
    for (size_t i = 0; i < t->n && !status; i++) {
        gls_text key = {0};
        if (is_joint(&request->region[i])) gls_text_printf(&key, "%s ", all ? all : "");
        if (gls_view_region_is_of_ends(&request->region[i])) gls_text_puts(&key, "end ");
        gls_text_puts(&key, t->text[i] ? t->text[i] : "");
        t->key[i] = gls_text_take(&key);
        if (!t->text[i] || !t->key[i]) status = gls_no_memory();
    }
    free(all);
    return status;
}

/* Finds the set that was not used for longest, or an empty one while their memory is within its bound. bytes: of the
 * bits of a set; ends: it has both. */
static gls_view_met *oldest_met(gls_view_dissection *d, size_t bytes, bool ends)
{
    gls_view_met *oldest = NULL, *empty = NULL;
    size_t used = ends ? 2 * bytes : bytes;
    for (size_t i = 0; i < GLS_VIEW_REMEMBERED; i++) {
        gls_view_met *met = &d->met[i];
        used += (met->bits ? bytes : 0) + (met->last ? bytes : 0);
        if (!met->bits)
            empty = met;
        else if (!oldest || met->used < oldest->used)
            oldest = met;
    }
    return empty && (!oldest || oldest->used == d->n_requests || used <= REMEMBERED_BYTES) ? empty : oldest;
}

/* Makes room for a set. NULL: out of memory. */
static gls_view_met *add_met(gls_view_dissection *d, const char *key, bool ends)
{
    const size_t bytes = GLS_VIEW_WORDS(d->lines.n) * sizeof(uint64_t);
    gls_view_met *oldest = oldest_met(d, bytes, ends);
    free(oldest->key);
    oldest->key = NULL;
    if (!oldest->bits) oldest->bits = malloc(bytes);
    if (!oldest->last && ends) oldest->last = malloc(bytes);
    if (oldest->bits && (oldest->last || !ends)) oldest->key = gls_text_copy(key);
    oldest->used = d->n_requests;
    return oldest->key ? oldest : NULL;
}

/* Adds a region to a set. */
static gls_status add_region(const gls_view_dissection *d, const gls_view_region *region, const char *text,
                             gls_rois *rois, size_t *index)
{
    const gls_view_mask *mask;
    gls_region_area area = {.inside = NULL};
    if (region->mask == 0) return gls_rois_add(rois, "region", text, 0, index);
    gls_status status = gls_view_paint_find(d->paint, region->mask, &mask);
    if (!status) status = gls_view_mask_area(mask, &d->paint->grid, &area);
    if (!status) status = gls_rois_add_area(rois, &area, text, 0, index);
    gls_region_area_finish(&area);
    return status;
}

/* Searches for the streamlines that meet the regions which[0 .. n - 1] of a request, or end in them, and remembers them
 * under their keys. */
static gls_status search(gls_view_dissection *d, const gls_view_request *request, const texts *t, const size_t *which,
                         size_t n)
{
    const bool ends = gls_view_region_is_of_ends(&request->region[which[0]]);
    uint64_t *met[GLS_VIEW_REGIONS], *last[GLS_VIEW_REGIONS];
    gls_view_met *entry[GLS_VIEW_REGIONS];
    gls_rois *rois = NULL;
    size_t index, made = 0;
    gls_status status = gls_rois_create(GLS_ROI_TEST_SEGMENT, &d->space, &rois);
    for (size_t i = 0; i < n && !status; i++) {
        status = add_region(d, &request->region[which[i]], t->text[which[i]], rois, &index);
        if (status || index < made) continue;
        entry[made] = add_met(d, t->key[which[i]], ends);
        if (!entry[made]) status = gls_no_memory();
        if (!status) met[made] = entry[made]->bits;
        if (!status) last[made] = entry[made]->last;
        made++;
    }
    if (!status) status = gls_view_lines_meet(&d->lines, rois, made, met, ends ? last : NULL);
    gls_rois_destroy(rois);
    /* sets that were not filled */
    for (size_t i = 0; i < made && status; i++) {
        if (!entry[i]) continue;
        free(entry[i]->key);
        entry[i]->key = NULL;
    }
    return status;
}

/* Searches for the regions of a request that are not remembered: those with voxels together, each other one by itself.
 */
static gls_status search_missing(gls_view_dissection *d, const gls_view_request *request, const texts *t)
{
    size_t joint[GLS_VIEW_REGIONS], n_joint = 0;
    bool misses = false;
    gls_status status = GLS_OK;
    d->n_requests++;
    /* none of the sets of this request may be replaced by another one */
    for (size_t i = 0; i < t->n; i++) {
        gls_view_met *met = find_met(d, t->key[i]);
        if (met) met->used = d->n_requests;
        if (!is_joint(&request->region[i])) continue;
        misses |= !met;
        joint[n_joint++] = i;
    }
    if (misses) {
        for (size_t i = 0; i < n_joint; i++) {
            gls_view_met *met = find_met(d, t->key[joint[i]]);
            if (!met) continue;
            free(met->key);
            /* it may be replaced before all others */
            met->key = NULL;
            met->used = 0;
        }
        status = search(d, request, t, joint, n_joint);
    }
    for (size_t i = 0; i < t->n && !status; i++)
        if (!is_joint(&request->region[i]) && !find_met(d, t->key[i])) status = search(d, request, t, &i, 1);
    return status;
}

/* --- The selection. */

/* The bits of word w of the streamlines that have their ends in the regions of ends: in one of them, either end; of
 * two, one end in each. */
static uint64_t ends_of(const gls_view_met *const *end, size_t n, size_t w)
{
    if (n == 1) return end[0]->bits[w] | end[0]->last[w];
    return (end[0]->bits[w] & end[1]->last[w]) | (end[0]->last[w] & end[1]->bits[w]);
}

/* The sets of the regions of a request, by what they do. */
typedef struct sets {
    const gls_view_met *met[GLS_VIEW_REGIONS], *any[GLS_VIEW_REGIONS], *avoided[GLS_VIEW_REGIONS],
        *end[GLS_VIEW_REGIONS], *both[GLS_VIEW_REGIONS], *without[GLS_VIEW_REGIONS];
    size_t n_met, n_any, n_avoided, n_ends, n_both, n_without;
} sets;

static gls_status find_sets(gls_view_dissection *d, const gls_view_request *request, const texts *t, sets *s)
{
    for (size_t i = 0; i < t->n; i++) {
        const gls_view_met *set = find_met(d, t->key[i]);
        if (!set) return gls_fail(GLS_ERR_ARGUMENT, "%s: was not searched: select again", t->text[i]);
        switch (request->region[i].role) {
        case GLS_REGION_INCLUDE_ANY: s->any[s->n_any++] = set; break;
        case GLS_REGION_EXCLUDE: s->avoided[s->n_avoided++] = set; break;
        case GLS_REGION_INCLUDE_END: s->end[s->n_ends++] = set; break;
        case GLS_REGION_INCLUDE_BOTH_ENDS: s->both[s->n_both++] = set; break;
        case GLS_REGION_EXCLUDE_END: s->without[s->n_without++] = set; break;
        default: s->met[s->n_met++] = set;
        }
    }
    return GLS_OK;
}

/* Makes the set of streamlines that fit all regions and criteria. *count: their number. */
static gls_status combine(gls_view_dissection *d, const gls_view_request *request, const texts *t, uint64_t *count)
{
    const size_t n = GLS_VIEW_WORDS(d->lines.n);
    sets s = {.n_met = 0};
    if (!d->selected && !(d->selected = malloc((n + 1) * sizeof *d->selected))) return gls_no_memory();
    gls_status status = find_sets(d, request, t, &s);
    for (size_t w = 0; w < n && !status; w++) {
        uint64_t bits = d->lines.usable[w], any = 0, first = 0, last = 0;
        for (size_t i = 0; i < s.n_met; i++) bits &= s.met[i]->bits[w];
        for (size_t i = 0; i < s.n_any; i++) any |= s.any[i]->bits[w];
        if (s.n_any > 0) bits &= any;
        for (size_t i = 0; i < s.n_avoided; i++) bits &= ~s.avoided[i]->bits[w];
        for (size_t i = 0; i < s.n_without; i++) bits &= ~(s.without[i]->bits[w] | s.without[i]->last[w]);
        for (size_t i = 0; i < s.n_both; i++) {
            first |= s.both[i]->bits[w];
            last |= s.both[i]->last[w];
        }
        if (s.n_both > 0) bits &= first & last;
        if (s.n_ends > 0) bits &= ends_of(s.end, s.n_ends, w);
        d->selected[w] = bits;
    }
    if (!status) status = gls_view_measures_apply(&d->measures, &request->criteria, d->selected);
    *count = 0;
    for (size_t w = 0; w < n; w++) *count += (uint64_t)__builtin_popcountll(d->selected[w]);
    return status;
}

/* Appends criteria as options. */
static void append_criteria(const gls_view_criteria *criteria, gls_text *out)
{
    char *word[GLS_VIEW_CRITERIA_WORDS];
    const size_t n = gls_view_criteria_words(criteria, word);
    for (size_t i = 0; i < n; i++) {
        out->failed |= !word[i];
        gls_text_puts(out, " ");
        if (word[i]) gls_view_word(out, word[i]);
        free(word[i]);
    }
}

/* Appends the command line that selects the same streamlines. */
static void append_edit(const gls_view_dissection *d, const gls_view_request *request, const texts *t, gls_text *out)
{
    const char *word[GLS_VIEW_READ_WORDS], *dot = strrchr(d->path[0], '.');
    gls_text_puts(out, "glslines edit");
    for (size_t i = 0; i < d->n_paths; i++) {
        gls_text_puts(out, " ");
        gls_view_word(out, d->path[i]);
    }
    gls_text_puts(out, " selected");
    gls_tractogram_format format;
    gls_text_puts(out, dot && gls_tractogram_format_parse(d->path[0], &format) == GLS_OK ? dot : ".trx");
    /* with =, because the first number of a region may be negative */
    for (size_t i = 0; i < t->n; i++) {
        gls_text_printf(out, " --%s=", gls_region_role_name(request->region[i].role));
        gls_view_word(out, t->text[i]);
    }
    append_criteria(&request->criteria, out);
    for (int i = 0; i < d->transform->n && gls_view_request_has_label(request); i++) {
        gls_text_puts(out, " --space-transform=");
        gls_view_word(out, d->transform->value[i]);
    }
    const size_t n = gls_view_read_words(d->input, d->input->reference, word);
    for (size_t i = 0; i < n; i++) {
        gls_text_puts(out, " ");
        gls_view_word(out, word[i]);
    }
    if (d->lines.mixed) gls_text_puts(out, " --fields common");
    /* 'edit --invalid keep' drops the streamlines that cannot be used; 'drop' would also drop those with points
     * outside the grid */
    if (d->lines.n_unusable > 0) gls_text_puts(out, " --invalid keep");
}

/* Packs the streamlines that are shown. *n: their number. */
static gls_status pack(const gls_view_dissection *d, const gls_view_request *request, uint64_t count, gls_text *lines,
                       uint64_t *n)
{
    const gls_paint paint = {.colouring = GLS_COLOUR_PLAIN};
    gls_scene scene = {.n_lines = 0};
    gls_painting painting = {&scene, &paint};
    const gls_sink sink = gls_scene_sink(&painting);
    gls_sink filter;
    gls_status status = gls_filter_compress_create(TOLERANCE, INFINITY, &sink, &filter);
    if (!status) {
        status = gls_view_lines_send(&d->lines, d->selected, count, request->shown, &filter);
        if (status)
            gls_sink_abort(&filter);
        else
            status = gls_sink_finish(&filter);
    }
    if (!status) status = gls_view_answer_lines(request->id, 2, &scene, lines);
    *n = scene.n_lines;
    gls_scene_finish(&scene);
    return status;
}

gls_status gls_view_dissection_select(gls_view_dissection *d, const gls_view_request *request, gls_text *json,
                                      gls_text *lines)
{
    const double start = gls_clock_seconds();
    texts t = {.n = 0};
    gls_text command = {0};
    uint64_t count = 0, shown = 0;
    gls_status status = gls_beside_end(&d->reading, GLS_OK);
    if (status) return status;
    if (d->lines.n == 0) return gls_fail(GLS_ERR_ARGUMENT, "nothing to select: give 'glslines view' a tractogram");
    /* points come from the file that was opened; measures, saves and the command line read that of its name */
    status = gls_view_lines_check(&d->lines);
    if (!status) status = make_texts(d, request, &t);
    if (!status) status = search_missing(d, request, &t);
    if (!status) status = combine(d, request, &t, &count);
    const double found = gls_clock_seconds() - start;
    if (!status) status = pack(d, request, count, lines, &shown);
    if (!status) {
        append_edit(d, request, &t, &command);
        cJSON *root = gls_view_answer_begin(request->id, "select");
        gls_json_uint(root, "selected", count);
        gls_json_uint(root, "of", d->lines.n);
        gls_json_uint(root, "shown", shown);
        gls_json_double(root, "seconds", found);
        char *text = gls_text_take(&command);
        if (text) cJSON_AddStringToObject(root, "command", text);
        free(text);
        status = gls_view_answer_end(root, json);
    }
    finish_texts(&t);
    return status;
}

void gls_view_dissection_close(gls_view_dissection *d)
{
    gls_beside_end(&d->reading, GLS_OK);
    for (size_t i = 0; i < GLS_VIEW_REMEMBERED; i++) {
        free(d->met[i].key);
        free(d->met[i].bits);
        free(d->met[i].last);
    }
    free(d->selected);
    gls_labels_destroy(d->labels);
    gls_transform_finish(&d->space);
    gls_label_table_finish(&d->names);
    gls_view_measures_finish(&d->measures);
    gls_view_lines_finish(&d->lines);
    *d = (gls_view_dissection){.path = NULL};
}
