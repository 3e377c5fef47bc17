/* Tracking while a seed sphere moves or a seed region is painted: the run of 'glslines track' is prepared once; then
 * each takes only the time of its streamlines. The controls of the page are words of the command line, so that they
 * have its rules. The answer has the command line that gives the same streamlines without the window. */
#include "view/live.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/region_area.h"
#include "record/method.h"
#include "record/run_params.h"
#include "render/scene.h"
#include "run/job.h"
#include "run/job_inputs.h"
#include "run/job_parts.h"
#include "transform/bring.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/status.h"
#include "view/command.h"

/* Radius of the first sphere, mm. */
#define RADIUS 5
/* Time from a movement to the picture of its preview, seconds, on a GPU and on a software renderer. The page takes a
 * part of it, but leaves at least this share. Seeds of the first preview. */
#define BUDGET 0.1
#define SOFTWARE_BUDGET 0.4
#define MIN_SHARE 0.25
#define FIRST_PREVIEW 200

/* --- Words of the command line. */

enum { GETTER, WORD_BYTES = GLS_VIEW_CONTROL + 16 };

/* The value that a word, or the next one, gives to an option; NULL: it is another word. *n: number of words. */
static const char *value_of(const gls_view_track *track, size_t i, const char *name, size_t *n)
{
    const char *word = track->word[i];
    const size_t length = strlen(name);
    if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, length) != 0) return NULL;
    *n = word[2 + length] == '=' ? 1 : 2;
    if (*n == 1) return word + 3 + length;
    return !word[2 + length] && i + 1 < track->n ? track->word[i + 1] : NULL;
}

/* Divides the words of the user into those of the controls and others. */
static gls_status take_words(gls_view_live *live)
{
    const gls_view_track *track = &live->track;
    live->base.word = calloc(track->n + 1, sizeof *live->base.word);
    if (!live->base.word) return gls_no_memory();
    for (size_t i = 0, n = 1; i < track->n; i += n) {
        const char *value = value_of(track, i, "act", &n);
        char *to = NULL;
        if (value) {
            live->act = value;
            continue;
        }
        for (int k = 0; k < GLS_VIEW_CONTROLS && !to; k++) {
            value = value_of(track, i, gls_view_control_name[k], &n);
            if (value && strlen(value) < GLS_VIEW_CONTROL) to = live->first.controls.value[k];
        }
        if (to) {
            strcpy(to, value);
        } else {
            live->base.word[live->base.n++] = track->word[i];
            n = 1;
        }
    }
    live->first.controls.act = live->act;
    live->first.has_controls = true;
    return GLS_OK;
}

gls_status gls_view_live_words(const gls_view_live *live, const gls_view_request *request, gls_view_words *words)
{
    const gls_view_controls *controls = request->has_controls ? &request->controls : &live->first.controls;
    const size_t most = live->base.n + GLS_VIEW_CONTROLS + 2;
    words->n = live->base.n;
    words->word = malloc(most * sizeof *words->word + GLS_VIEW_CONTROLS * WORD_BYTES);
    if (!words->word) return gls_no_memory();
    char *room = (char *)(words->word + most);
    memcpy(words->word, live->base.word, words->n * sizeof *words->word);
    for (int k = 0; k < GLS_VIEW_CONTROLS; k++, room += WORD_BYTES) {
        if (!*controls->value[k]) continue;
        gls_snprintf(room, WORD_BYTES, "--%s=%s", gls_view_control_name[k], controls->value[k]);
        words->word[words->n++] = room;
    }
    if (!controls->act || !live->act) return GLS_OK;
    words->word[words->n++] = "--act";
    words->word[words->n++] = live->act;
    return GLS_OK;
}

void gls_view_words_finish(gls_view_words *words)
{
    free(words->word);
    *words = (gls_view_words){.n = 0};
}

/* --- The run. */

/* Makes a run by the controls of a request, up to its inputs. words: to be freed behind the run. */
static gls_status make_job(const gls_view_live *live, const gls_view_request *request, const gls_monitor *monitor,
                           gls_view_words *words, gls_job **job)
{
    gls_job_options options;
    gls_status status = gls_view_live_words(live, request, words);
    if (!status) status = live->track.read(live->track.user, words->word, words->n, &options);
    if (!status) status = gls_job_create(&options, monitor, job);
    if (!status) (*job)->inputs.seeds_move = true;
    return status;
}

/* Whether two sets of controls have the same inputs and fits: getter and tissue decide about them. */
static bool have_same_inputs(const gls_view_controls *a, const gls_view_controls *b)
{
    return strcmp(a->value[GETTER], b->value[GETTER]) == 0 && a->act == b->act;
}

static bool are_same(const gls_view_controls *a, const gls_view_controls *b)
{
    bool same = have_same_inputs(a, b);
    for (int k = 0; k < GLS_VIEW_CONTROLS; k++) same &= strcmp(a->value[k], b->value[k]) == 0;
    return same;
}

/* Tracks by the controls of a request from now on. A failure leaves the run as it is. */
static gls_status control(gls_view_live *live, const gls_view_request *request, const gls_monitor *monitor)
{
    const gls_view_controls *controls = request->has_controls ? &request->controls : &live->first.controls;
    gls_view_words words = {0};
    gls_job *job = NULL;
    if (live->job && are_same(controls, &live->controls)) return GLS_OK;
    const bool takes = live->job && have_same_inputs(controls, &live->controls);
    gls_status status = make_job(live, request, monitor, &words, &job);
    if (!status && takes) {
        status = gls_job_take(job, live->job);
    } else if (!status) {
        status = gls_job_open(job);
        if (!status) status = gls_job_fit(job);
    }
    if (status) {
        gls_job_destroy(job);
        gls_view_words_finish(&words);
        return status;
    }
    gls_job_destroy(live->job);
    gls_view_words_finish(&live->words);
    if (!takes) {
        free(live->stops);
        live->stops = gls_text_copy("");
    }
    live->speed = 0;
    live->job = job;
    live->words = words;
    live->controls = *controls;
    return GLS_OK;
}

/* Finds the getters that the data allow: those for which a run can be made. */
static void find_getters(gls_view_live *live)
{
    gls_log_mute_info(true);
    for (int dg = 0; dg < GLS_DG_COUNT; dg++) {
        gls_view_request request = {.has_controls = true, .controls.act = live->act};
        gls_view_words words = {0};
        gls_job *job = NULL;
        gls_snprintf(request.controls.value[GETTER], GLS_VIEW_CONTROL, "%s", gls_getter_name((gls_direction_getter)dg));
        live->offered[dg] = make_job(live, &request, NULL, &words, &job) == GLS_OK;
        gls_job_destroy(job);
        gls_view_words_finish(&words);
    }
    gls_log_mute_info(false);
}

/* Keeps a copy of the image that the page shows: another run has other images. */
static gls_status keep_image(gls_view_live *live)
{
    const gls_image *scalar = gls_job_inputs_scalar(&live->job->inputs), *from = scalar;
    live->image_name = scalar ? "the stop map" : "the mask";
    if (!scalar) from = live->job->inputs.mask;
    gls_status status = gls_image_create(&from->grid, 1, &live->image);
    if (!status) memcpy(live->image->data, from->data, gls_grid_voxels(&from->grid) * sizeof *from->data);
    return status;
}

gls_status gls_view_live_open(gls_view_live *live, const gls_view_track *track, const gls_monitor *monitor)
{
    live->track = *track;
    gls_status status = take_words(live);
    if (!status) status = control(live, &live->first, monitor);
    if (!status) status = keep_image(live);
    if (status) return status;
    find_getters(live);
    const gls_job_options *options = &live->job->options;
    double low[3], high[3];
    gls_region_text text;
    if (*live->first.controls.value[GETTER])
        gls_snprintf(live->first.controls.value[GETTER], GLS_VIEW_CONTROL, "%s", gls_getter_name(options->track.dg));
    live->controls = live->first.controls;
    live->first.sphere[3] = RADIUS;
    gls_grid_extent(live->job->inputs.grid, low, high);
    for (int a = 0; a < 3; a++) live->first.sphere[a] = (low[a] + high[a]) / 2;
    if (track->sphere && gls_region_text_parse("seed-sphere", track->sphere, &text) == GLS_OK && text.is_sphere)
        memcpy(live->first.sphere, text.number, sizeof live->first.sphere);
    live->first.nseeds = options->nseeds;
    live->first.seed = options->seed_seed;
    const double *at = live->first.sphere;
    gls_log(GLS_LOG_INFO, "seeds: the sphere begins with %s in %.4g,%.4g,%.4g,%.4g", GLS_COUNT(options->nseeds), at[0],
            at[1], at[2], at[3]);
    return GLS_OK;
}

void gls_view_live_describe(const gls_view_live *live, cJSON *object)
{
    const gls_view_controls *first = &live->first.controls;
    cJSON_AddItemToObject(object, "sphere", cJSON_CreateDoubleArray(live->first.sphere, 4));
    gls_json_uint(object, "nseeds", live->first.nseeds);
    gls_json_uint(object, "seed", live->first.seed);
    cJSON_AddBoolToObject(object, "tissue", live->act != NULL);
    cJSON_AddStringToObject(object, "getter", gls_getter_name(live->job->options.track.dg));
    cJSON *getters = cJSON_AddArrayToObject(object, "getters");
    for (int dg = 0; dg < GLS_DG_COUNT; dg++)
        if (live->offered[dg])
            cJSON_AddItemToArray(getters, cJSON_CreateString(gls_getter_name((gls_direction_getter)dg)));
    cJSON *controls = cJSON_AddObjectToObject(object, "controls");
    for (int k = 0; k < GLS_VIEW_CONTROLS; k++)
        cJSON_AddStringToObject(controls, gls_view_control_name[k], first->value[k]);
    cJSON_AddBoolToObject(controls, "act", first->act);
}

/* --- Regions in which streamlines stop. */

/* Reads a region of a request. */
static gls_status read_stop(const gls_view_live *live, gls_view_paint *paint, const gls_view_region *region,
                            gls_job_stop *stop)
{
    const gls_view_mask *mask;
    if (region->mask > 0) {
        gls_status status = gls_view_paint_find(paint, region->mask, &mask);
        return status ? status : gls_view_mask_area(mask, &paint->grid, &stop->area);
    }
    gls_status status = gls_region_area_read("stop-at", stop->text, &stop->area);
    return status ? status : gls_region_area_bring(&stop->area, &live->job->inputs.space, stop->text);
}

/* Appends the regions of a request as words of the command line. */
static gls_status append_stops(const gls_view_live *live, const gls_view_request *request, gls_text *out)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < request->n_regions && !status; i++) {
        gls_text text = {0};
        status = gls_view_region_text(&request->region[i], live->track.atlas, &text);
        char *word = gls_text_take(&text);
        /* with =, because the first number of a region may be negative */
        gls_text_puts(out, " --stop-at=");
        if (word) gls_view_word(out, word);
        if (!status && !word) status = gls_no_memory();
        free(word);
    }
    return status;
}

/* Ends streamlines in the regions of a request from now on. stops: the regions as text, which is taken. */
static gls_status stop_at(gls_view_live *live, gls_view_paint *paint, const gls_view_request *request, char *stops)
{
    gls_job_stop stop[GLS_VIEW_REGIONS];
    gls_status status = GLS_OK;
    size_t n = 0;
    for (; n < request->n_regions && !status; n++) {
        gls_text text = {0};
        stop[n] = (gls_job_stop){.text = NULL};
        status = gls_view_region_text(&request->region[n], live->track.atlas, &text);
        stop[n].text = gls_text_take(&text);
        if (!status && !stop[n].text) status = gls_no_memory();
        if (!status) status = read_stop(live, paint, &request->region[n], &stop[n]);
    }
    free(live->stops);
    live->stops = NULL;
    if (!status) status = gls_job_stop_at(live->job, stop, n);
    for (size_t i = 0; i < n; i++) {
        gls_region_area_finish(&stop[i].area);
        free(stop[i].text);
    }
    if (status)
        free(stops);
    else
        live->stops = stops;
    return status;
}

/* Takes the regions of a request, if they are others than before. */
static gls_status take_stops(gls_view_live *live, gls_view_paint *paint, const gls_view_request *request)
{
    gls_text text = {0};
    gls_status status = append_stops(live, request, &text);
    char *stops = gls_text_take(&text);
    if (!status && !stops) status = gls_no_memory();
    if (!status && (!live->stops || strcmp(live->stops, stops) != 0)) return stop_at(live, paint, request, stops);
    free(stops);
    return status;
}

/* --- Tracking. */

/* Tracks from a painted region. */
static gls_status track_mask(gls_view_live *live, gls_view_paint *paint, const gls_view_request *request,
                             const char *name, const gls_monitor *monitor, const gls_sink *sink)
{
    const gls_view_mask *mask;
    gls_image *image = NULL;
    gls_status status = gls_view_paint_find(paint, request->mask, &mask);
    if (!status) status = gls_image_create(&paint->grid, 1, &image);
    if (status) return status;
    for (size_t i = 0; i < mask->n; i++)
        for (uint32_t v = 0; v < mask->run[i].n; v++) image->data[mask->run[i].first + v] = 1;
    return gls_job_track_weights(live->job, image, name, request->nseeds, request->seed, monitor, sink);
}

/* Number of seeds of a preview: as many as the time allows, by the speed of the last run. Seeds outside the mask take
 * no time, and say nothing about those inside: it grows by steps. */
static uint64_t preview_seeds(const gls_view_live *live, const gls_view_request *request)
{
    const double all = live->job->device->software ? SOFTWARE_BUDGET : BUDGET;
    const double time = fmax(all - request->page_seconds, MIN_SHARE * all);
    const double n = live->speed > 0 ? fmin(fmax(1, live->speed * time), 4.0 * (double)live->n) : FIRST_PREVIEW;
    return n < (double)request->nseeds ? (uint64_t)n : request->nseeds;
}

/* Adds the values that are in use where the controls leave them open; null: the getter has no such value. */
static void add_values(const gls_job *job, cJSON *root)
{
    const gls_param *cutoff = &gls_params[ROW_fod_cutoff];
    cJSON *values = cJSON_AddObjectToObject(root, "values");
    gls_json_double(values, "max-angle", job->params.max_angle);
    gls_json_double(values, "step-size", job->params.step_size);
    if (gls_param_is_used(cutoff, &job->inputs.method, &job->options))
        gls_json_double(values, "cutoff", job->params.fod_cutoff);
    else
        cJSON_AddNullToObject(values, "cutoff");
}

/* Appends the answer. asked: with the number of seeds of the page; n: seeds that were tracked. */
static gls_status answer(const gls_view_live *live, const gls_view_request *asked, const char *seeds, uint64_t n,
                         const gls_scene *scene, double seconds, gls_text *json)
{
    gls_text command = {0};
    gls_text_puts(&command, "glslines track");
    for (size_t i = 0; i < live->words.n; i++) {
        gls_text_puts(&command, " ");
        gls_view_word(&command, live->words.word[i]);
    }
    /* with =, because the first number of a sphere may be negative */
    gls_text_printf(&command, " --seed-%s=%s --nseeds %llu --seed-seed %llu", asked->mask > 0 ? "rejection" : "sphere",
                    seeds, (unsigned long long)asked->nseeds, (unsigned long long)asked->seed);
    gls_status status = append_stops(live, asked, &command);
    gls_text_puts(&command, " -o tracks.trx");
    char *text = gls_text_take(&command);
    if (!status && text) {
        cJSON *root = gls_view_answer_begin(asked->id, "track");
        gls_json_uint(root, "seeds", n);
        gls_json_uint(root, "of", asked->nseeds);
        gls_json_uint(root, "streamlines", scene->n_lines);
        gls_json_double(root, "seconds", seconds);
        add_values(live->job, root);
        cJSON_AddStringToObject(root, "command", text);
        status = gls_view_answer_end(root, json);
    }
    if (!text) status = gls_no_memory();
    free(text);
    return status;
}

gls_status gls_view_live_track(gls_view_live *live, gls_view_paint *painted, const gls_view_request *request,
                               const gls_monitor *monitor, gls_text *json, gls_text *lines)
{
    const gls_paint paint = {.colouring = GLS_COLOUR_PLAIN};
    gls_scene scene = {.n_lines = 0};
    gls_painting painting = {&scene, &paint};
    const gls_sink sink = gls_scene_sink(&painting);
    gls_view_request asked = *request;
    char text[160];
    if (!live->job)
        return gls_fail(GLS_ERR_ARGUMENT, "nothing to track: give 'glslines view' options of 'track' behind --");
    gls_status status = control(live, request, monitor);
    if (!status) status = take_stops(live, painted, request);
    if (status) return status;
    const double start = gls_clock_seconds();
    if (asked.mask > 0)
        gls_snprintf(text, sizeof text, "mask-%u.nii.gz", (unsigned)asked.mask);
    else
        gls_view_numbers(asked.sphere, 4, text);
    if (asked.preview) asked.nseeds = preview_seeds(live, &asked);
    status = asked.mask > 0 ? track_mask(live, painted, &asked, text, monitor, &sink)
                            : gls_job_track_sphere(live->job, asked.sphere, asked.nseeds, asked.seed, monitor, &sink);
    if (!status) status = gls_view_answer_lines(asked.id, 1, &scene, lines);
    const double seconds = gls_clock_seconds() - start;
    if (!status) {
        live->speed = (double)asked.nseeds / fmax(seconds, 1e-4);
        live->n = asked.nseeds;
        asked.nseeds = request->nseeds;
        status = answer(live, &asked, text, live->n, &scene, seconds, json);
    }
    gls_scene_finish(&scene);
    return status;
}

/* --- What others ask about it. */

const gls_image *gls_view_live_image(const gls_view_live *live, const char **name)
{
    if (live->image) *name = live->image_name;
    return live->image;
}

bool gls_view_live_moves(const gls_view_live *live)
{
    return live->job && live->job->inputs.space.n > 0;
}

gls_status gls_view_live_spares(const gls_view_live *live, const char *file)
{
    return live->job ? gls_inputs_check(&live->job->run.inputs, file) : GLS_OK;
}

void gls_view_live_close(gls_view_live *live)
{
    gls_job_destroy(live->job);
    gls_view_words_finish(&live->words);
    gls_view_words_finish(&live->base);
    gls_image_destroy(live->image);
    free(live->stops);
    *live = (gls_view_live){.job = NULL};
}
