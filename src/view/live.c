/* Tracking while a seed sphere moves or a seed region is painted: the run of 'glslines track' is prepared once; then
 * each takes only the time of its streamlines. The answer has the command line that gives the same streamlines without
 * the window. */
#include "view/live.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "image/region_area.h"
#include "render/scene.h"
#include "run/job.h"
#include "run/job_inputs.h"
#include "run/job_parts.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/status.h"
#include "view/command.h"

/* Radius of the first sphere, mm. */
#define RADIUS 5

gls_status gls_view_live_open(gls_view_live *live, const gls_job_options *options, const gls_monitor *monitor,
                              const char *const *words, size_t n, const char *sphere)
{
    gls_text command = {0};
    gls_text_puts(&command, "glslines track");
    for (size_t i = 0; i < n; i++) {
        gls_text_puts(&command, " ");
        gls_view_word(&command, words[i]);
    }
    live->command = gls_text_take(&command);
    gls_status status = live->command ? GLS_OK : gls_no_memory();
    if (!status) status = gls_job_create(options, monitor, &live->job);
    if (!status) live->job->inputs.seeds_move = true;
    if (!status) status = gls_job_open(live->job);
    if (!status) status = gls_job_fit(live->job);
    if (status) return status;
    double low[3], high[3];
    gls_region_text text;
    live->first.sphere[3] = RADIUS;
    gls_grid_extent(live->job->inputs.grid, low, high);
    for (int a = 0; a < 3; a++) live->first.sphere[a] = (low[a] + high[a]) / 2;
    if (sphere && gls_region_text_parse("seed-sphere", sphere, &text) == GLS_OK && text.is_sphere)
        memcpy(live->first.sphere, text.number, sizeof live->first.sphere);
    live->first.nseeds = options->nseeds;
    live->first.seed = options->seed_seed;
    const double *at = live->first.sphere;
    gls_log(GLS_LOG_INFO, "seeds: the sphere begins with %s in %.4g,%.4g,%.4g,%.4g", GLS_COUNT(options->nseeds), at[0],
            at[1], at[2], at[3]);
    return GLS_OK;
}

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

gls_status gls_view_live_track(gls_view_live *live, gls_view_paint *painted, const gls_view_request *request,
                               const gls_monitor *monitor, gls_text *json, gls_text *lines)
{
    const double start = gls_clock_seconds();
    const gls_paint paint = {.colouring = GLS_COLOUR_PLAIN};
    gls_scene scene = {.n_lines = 0};
    gls_painting painting = {&scene, &paint};
    const gls_sink sink = gls_scene_sink(&painting);
    gls_view_request asked = *request;
    char text[160], *command = NULL;
    if (!live->job)
        return gls_fail(GLS_ERR_ARGUMENT, "nothing to track: give 'glslines view' options of 'track' behind --");
    if (asked.mask > 0)
        snprintf(text, sizeof text, "mask-%u.nii.gz", (unsigned)asked.mask);
    else
        gls_view_numbers(asked.sphere, 4, text);
    gls_status status = asked.mask > 0
                            ? track_mask(live, painted, &asked, text, monitor, &sink)
                            : gls_job_track_sphere(live->job, asked.sphere, asked.nseeds, asked.seed, monitor, &sink);
    if (!status) status = gls_view_answer_lines(asked.id, 1, &scene, lines);
    /* with =, because the first number of a sphere may be negative */
    if (!status && gls_asprintf(&command, "%s --seed-%s=%s --nseeds %llu --seed-seed %llu -o tracks.trx", live->command,
                                asked.mask > 0 ? "rejection" : "sphere", text, (unsigned long long)asked.nseeds,
                                (unsigned long long)asked.seed) < 0)
        status = gls_no_memory();
    if (!status) {
        cJSON *root = gls_view_answer_begin(asked.id, "track");
        gls_json_uint(root, "seeds", asked.nseeds);
        gls_json_uint(root, "streamlines", scene.n_lines);
        gls_json_double(root, "seconds", gls_clock_seconds() - start);
        cJSON_AddStringToObject(root, "command", command);
        status = gls_view_answer_end(root, json);
    }
    free(command);
    gls_scene_finish(&scene);
    return status;
}

const gls_image *gls_view_live_image(const gls_view_live *live, const char **name)
{
    if (!live->job) return NULL;
    const gls_image *scalar = gls_job_inputs_scalar(&live->job->inputs);
    *name = scalar ? "the stop map" : "the mask";
    return scalar ? scalar : live->job->inputs.mask;
}

bool gls_view_live_moves(const gls_view_live *live)
{
    return live->job && live->job->inputs.space.n > 0;
}

const gls_inputs *gls_view_live_inputs(const gls_view_live *live)
{
    return live->job ? &live->job->run.inputs : NULL;
}

void gls_view_live_close(gls_view_live *live)
{
    gls_job_destroy(live->job);
    free(live->command);
    *live = (gls_view_live){.job = NULL};
}
