/* The first run on a renderer that glslines does not know tracks the small scene, and finds a mapping that works. */
#include "track/check/self_test.h"

#include <string.h>

#include "gpu/renderers.h"
#include "track/check/checked.h"
#include "track/check/known_scene.h"
#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "track/track_params.h"
#include "track/tracker.h"
#include "util/clock.h"
#include "util/status.h"

/* Time limit for the test of each gls_mapping, s. A renderer on the CPU may take minutes for all seeds; then only the
 * streamlines that it has made by the limit are compared, at least one. */
#define SECONDS 5
/* seeds in a batch on a software renderer, so that the first streamlines come soon */
#define SLOW_BATCH 16

/* The test ends at time `until`, or, if no streamline was compared by then, with the first comparison. */
typedef struct watch {
    /* time by gls_clock_seconds(), s */
    double until;
    /* comparison; the test goes on until it has compared a streamline */
    const gls_known_comparison *found;
} watch;

/* Returns false, which ends the run, once the time limit has passed and a streamline has been compared. */
static bool goes_on(void *user, uint64_t done, uint64_t total, uint64_t streamlines, uint64_t points)
{
    const watch *w = user;
    (void)done, (void)total, (void)streamlines, (void)points;
    return w->found->seen == 0 || gls_clock_seconds() < w->until;
}

/* Fills in *right: whether the known streamlines resulted. A mapping that the driver does not support is not right. */
static gls_status try_mapping(gls_device *device, gls_known_scene *s, gls_mapping mapping, bool *right)
{
    gls_tracker *tracker = NULL;
    gls_track_result result;
    gls_known_comparison found = {.scene = s};
    const gls_sink sink = {.append = gls_known_compare, .user = &found};
    *right = false;
    s->params.mapping = mapping;
    /* 0: the tracker chooses the number of seeds in a batch */
    s->params.batch_seeds = gls_device_get_info(device)->software ? SLOW_BATCH : 0;
    gls_status status = gls_tracker_create_mapped(&device, 1, &s->params, &s->input, &mapping, &tracker);
    watch w = {.until = gls_clock_seconds() + SECONDS, .found = &found};
    if (!status) status = gls_tracker_run(tracker, s->seeds, &sink, goes_on, &w, &result);
    gls_tracker_destroy(tracker);
    /* a run that was ended early is compared up to the last seed that it reached */
    const size_t halves = gls_known_halves(s, status == GLS_ERR_CANCELLED ? found.seen : gls_seeds_count(s->seeds));
    if (status == GLS_ERR_CANCELLED) status = GLS_OK;
    if (!status) *right = gls_known_fits(found.same, halves);
    gls_log(GLS_LOG_DEBUG, "self-test of the mapping '%s': %zu of %zu half-streamlines as they must be",
            gls_mapping_name(mapping), found.same, halves);
    /* another mapping may work even if the device refuses this mapping */
    return status == GLS_ERR_DEVICE || status == GLS_ERR_UNSUPPORTED ? GLS_OK : status;
}

/* Lists all mappings of the device, beginning with the mapping that a run would use. */
static size_t list_mappings(const gls_device_info *info, const gls_getter *getter, gls_mapping list[GLS_MAPPING_COUNT])
{
    size_t n = 0;
    list[n++] = getter->one_lane ? GLS_MAPPING_SINGLE : gls_mapping_auto(info);
    static const gls_mapping all[] = {GLS_MAPPING_SUBGROUP, GLS_MAPPING_GROUP, GLS_MAPPING_SINGLE};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] != list[0] && gls_mapping_lanes(all[i], info) > 0) list[n++] = all[i];
    return n;
}

/* Fills in *mapping: the first mapping that tracks the scene correctly; unchanged if none does. */
static gls_status find_mapping(gls_device *device, size_t variant, gls_mapping *mapping)
{
    const gls_device_info *info = gls_device_get_info(device);
    const char *name = gls_getter_name(gls_known_variants[variant].dg);
    gls_known_scene s;
    gls_mapping list[GLS_MAPPING_COUNT];
    bool right = false;
    gls_log(GLS_LOG_INFO,
            "%s: nobody has tracked on this renderer yet; %s first tracks a small scene whose streamlines are known",
            info->renderer, name);
    gls_log_mute_info(true);
    gls_status status = gls_known_scene_create(variant, &s);
    const size_t n = status ? 0 : list_mappings(info, gls_getter_of(&s.params), list);
    for (size_t i = 0; i < n && !status && !right; i++) {
        status = try_mapping(device, &s, list[i], &right);
        if (right) *mapping = list[i];
        if (!status && !right && i + 1 < n)
            gls_log(GLS_LOG_WARNING, "%s: the mapping '%s' of %s gives wrong streamlines: '%s' is tried",
                    info->renderer, gls_mapping_name(list[i]), name, gls_mapping_name(list[i + 1]));
    }
    gls_log_mute_info(false);
    gls_known_scene_finish(&s);
    return status;
}

gls_status gls_self_test(gls_device *device, const gls_track_params *params, int sh_order, gls_mapping *mapping)
{
    const gls_device_info *info = gls_device_get_info(device);
    char name[32];
    size_t v = 0;
    gls_status status = GLS_OK;
    *mapping = GLS_MAPPING_AUTO;
    if (gls_renderer_is_known(info)) return GLS_OK;
    gls_checked_name(params, sh_order, name, sizeof name);
    while (v < GLS_KNOWN_VARIANTS && strcmp(gls_known_variants[v].name, name) != 0) v++;
    if (v == GLS_KNOWN_VARIANTS) return GLS_OK;
    *mapping = gls_checked_mapping_of(info, params, sh_order);
    if (*mapping != GLS_MAPPING_AUTO) return GLS_OK;
    status = find_mapping(device, v, mapping);
    if (!status && *mapping != GLS_MAPPING_AUTO)
        gls_checked_keep(info, name, *mapping);
    else if (!status)
        status = gls_fail(GLS_ERR_DEVICE,
                          "%s: %s gives wrong streamlines on this renderer in every mapping, see 'glslines devices "
                          "--check'; choose another --device, or name a --mapping to track on this one all the same",
                          info->renderer, gls_getter_name(params->dg));
    return status;
}
