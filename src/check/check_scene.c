/* One part of the check of a device: compiles the kernels of a getter for a gls_mapping, compares streamlines with
 * known ones, times a run, and tests whether batches in flight stay apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check_scene.h"
#include "track/check/known_scene.h"
#include "track/run/journal.h"
#include "tracts/density_map.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/status.h"

/* --- Does a device keep batches apart that are in flight at the same time? Runs in small batches, for several sizes of
 * a batch, must give the streamlines, and the map counted on the device, of a run in one batch. */

/* Result of a run: a hash of its streamlines in their order, their number, and the density map. */
typedef struct outcome {
    uint64_t hash, n;
    gls_density *map;
    const gls_visited *visited; /* counts made on the device for the streamlines being delivered */
    double *voxel;              /* values of the map at the end, from malloc */
} outcome;

/* Hashes streamlines in their order and adds them to a density map, to compare runs in small and large batches. */
static gls_status take(void *user, const gls_streamlines *s)
{
    outcome *o = user;
    const gls_sink map = gls_density_sink(o->map);
    for (size_t i = 0; i < s->n; i++) {
        const uint64_t n = s->offset[i + 1] - s->offset[i];
        const uint64_t link[3] = {o->hash, n, gls_hash(s->point[s->offset[i]], n * sizeof *s->point)};
        o->hash = gls_hash(link, sizeof link);
    }
    o->n += s->n;
    return gls_sink_append(&map, s);
}

/* Tracks all seeds in batches of this size and stores the result in *o. */
static gls_status run(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                      const gls_seeds *seeds, uint32_t batch, outcome *o)
{
    const gls_grid *grid = &input->stop_map->grid;
    const gls_density_options options = gls_density_options_default();
    gls_track_params own = *params;
    gls_tracker *tracker = NULL;
    gls_track_result result;
    *o = (outcome){.voxel = malloc(gls_grid_voxels(grid) * sizeof *o->voxel)};
    own.batch_seeds = batch;
    gls_status status = o->voxel ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a map");
    if (!status) status = gls_density_create(grid, &options, &o->map);
    if (!status) gls_density_use_visited(o->map, &o->visited);
    if (!status) status = gls_tracker_create(device, &own, input, &tracker);
    const gls_sink sink = {.append = take, .user = o};
    const gls_track_extras extras = {.visited = &o->visited};
    if (!status) status = gls_tracker_run_journaled(tracker, seeds, &sink, &extras, NULL, NULL, &result);
    if (!status) gls_density_get(o->map, o->voxel);
    gls_tracker_destroy(tracker);
    gls_density_destroy(o->map);
    o->map = NULL;
    return status;
}

/* Tracks all seeds at once, then in batches of each of the n sizes. *same: how many sizes gave the streamlines and the
 * map of the first run. */
static gls_status check_batches(gls_device *device, const gls_track_params *params, const gls_track_input *input,
                                const gls_seeds *seeds, const uint32_t *batch, size_t n, size_t *same)
{
    const size_t bytes = gls_grid_voxels(&input->stop_map->grid) * sizeof(double);
    outcome whole;
    *same = 0;
    gls_status status = run(device, params, input, seeds, (uint32_t)gls_seeds_count(seeds), &whole);
    for (size_t i = 0; i < n && !status; i++) {
        outcome parts;
        status = run(device, params, input, seeds, batch[i], &parts);
        *same +=
            !status && parts.hash == whole.hash && parts.n == whole.n && memcmp(parts.voxel, whole.voxel, bytes) == 0;
        free(parts.voxel);
    }
    free(whole.voxel);
    return status;
}

enum { N_TIMED_SEEDS = 20000 };

/* Prints a line for check_device() after a kernel was compiled. user: CPU seconds of this process up to the last
 * kernel; then the line has the CPU seconds since, which other programs do not lengthen. user NULL: the line has
 * `seconds`, the time that passed. */
static void print_kernel(void *user, const char *label, double seconds, const char *messages)
{
    double *spent = user;
    if (spent) {
        seconds = gls_clock_cpu_seconds() - *spent;
        *spent += seconds;
    }
    printf("kernel\t%s\t%.3f\t", label, seconds);
    for (const char *at = messages; *at; at++) putchar(*at == '\n' || *at == '\t' ? ' ' : *at);
    putchar('\n');
    fflush(stdout);
}

/* The comparison of streamlines with the known lines, the stored half-streamlines that a correct device gives. */
typedef struct comparison {
    gls_known_comparison known;
    bool lines; /* true: print the streamlines */
} comparison;

/* Prints one streamline with its seed. at: index of the seed among the n points; n: none is the seed. */
static void print_line(uint32_t seed, const float (*point)[3], size_t n, size_t at)
{
    printf("line\t%u\t%zu", seed, at);
    for (size_t i = 0; i < n; i++) printf("\t%.4f %.4f %.4f", point[i][0], point[i][1], point[i][2]);
    putchar('\n');
}

/* Receives streamlines and compares them with the known lines; prints the streamlines if asked to. */
static gls_status compare(void *user, const gls_streamlines *found)
{
    comparison *c = user;
    const gls_column *seed_index = gls_column_find(found->dps, found->n_dps, GLS_DPS_SEED_INDEX);
    for (size_t i = 0; i < found->n && c->lines; i++) {
        const float(*point)[3] = &found->point[found->offset[i]];
        size_t n = (size_t)(found->offset[i + 1] - found->offset[i]);
        uint32_t seed = (uint32_t)gls_column_value(seed_index, i);
        print_line(seed, point, n, gls_known_find_seed(c->known.scene, seed, point, n));
    }
    return gls_known_compare(&c->known, found);
}

/* Drops the streamlines of a run that is only timed. */
static gls_status drop(void *user, const gls_streamlines *found)
{
    (void)user, (void)found;
    return GLS_OK;
}

/* Tracks the seeds of the known lines and compares, then times a run of random seeds (fewer on software renderers), and
 * prints both results. With c->lines only prints the streamlines from the seeds of the known lines. */
static gls_status track(gls_tracker *tracker, const gls_known_scene *s, bool software, comparison *c)
{
    gls_seeds *seeds = NULL;
    gls_track_result result = {0};
    const gls_sink sink = {.append = compare, .user = c}, none = {.append = drop};
    gls_status status = gls_tracker_run(tracker, s->seeds, &sink, NULL, NULL, &result);
    if (status || c->lines) return status;
    double start = gls_clock_seconds();
    status = gls_seeds_create_random(s->phantom->roi, s->phantom->mask, software ? 500 : N_TIMED_SEEDS, 0, &seeds);
    if (!status) status = gls_tracker_run(tracker, seeds, &none, NULL, NULL, &result);
    double seconds = gls_clock_seconds() - start;
    gls_seeds_destroy(seeds);
    if (!status)
        printf("tracked\t%zu\t%zu\t%.0f\n", c->known.same, gls_known_halves(s, gls_seeds_count(s->seeds)),
               (double)result.points / seconds);
    return status;
}

/* Tracks random seeds in one batch, then in small batches of each size in batch[] (in software: of the first size),
 * several of which are in flight if the device does that. Prints how many of these runs gave what one batch gives. */
static gls_status compare_batches(gls_device *device, const gls_known_scene *s, bool software)
{
    static const uint32_t batch[] = {23, 7, 97, 23, 41};
    const size_t n = software ? 1 : sizeof batch / sizeof *batch;
    gls_seeds *seeds = NULL;
    size_t same = 0;
    gls_status status = gls_seeds_create_random(s->phantom->roi, s->phantom->mask, software ? 60 : 600, 0, &seeds);
    if (!status) status = check_batches(device, &s->params, &s->input, seeds, batch, n, &same);
    gls_seeds_destroy(seeds);
    if (!status) printf("batches\t%zu\t%zu\n", same, n);
    return status;
}

/* Parses "VARIANT:MAPPING". Returns false if either is unknown. */
static bool parse(const char *what, size_t *variant, gls_mapping *mapping)
{
    const char *colon = strchr(what, ':');
    size_t n = colon ? (size_t)(colon - what) : 0;
    *variant = 0;
    while (*variant < GLS_KNOWN_VARIANTS &&
           (strlen(gls_known_variants[*variant].name) != n || strncmp(gls_known_variants[*variant].name, what, n) != 0))
        ++*variant;
    for (*mapping = GLS_MAPPING_SINGLE; *mapping < GLS_MAPPING_COUNT && colon; ++*mapping)
        if (strcmp(gls_mapping_name(*mapping), colon + 1) == 0) break;
    return *variant < GLS_KNOWN_VARIANTS && colon && *mapping < GLS_MAPPING_COUNT;
}

gls_status check_one(const check_options *options, const char *what)
{
    bool lines = strncmp(what, "lines:", 6) == 0;
    gls_device *device = NULL;
    gls_tracker *tracker = NULL;
    gls_known_scene s = {0};
    size_t variant;
    gls_mapping mapping;
    double spent = 0;
    if (!parse(lines ? what + 6 : what, &variant, &mapping))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--variant '%s': without --check, a getter with its order and a mapping are needed, as in boot4:group",
            what);
    gls_status status = gls_device_open(options->device, options->api, &device);
    gls_log_mute_info(true);
    if (!status) status = gls_known_scene_create(variant, &s);
    s.params.mapping = mapping;
    if (options->compile_only) spent = gls_clock_cpu_seconds();
    if (!status)
        status = gls_device_listen(device, print_kernel, options->compile_only ? &spent : NULL,
                                   options->compile_only ? GLS_LISTEN_NEVER_WAIT : GLS_LISTEN_WAIT);
    if (!status) status = gls_tracker_create(device, &s.params, &s.input, &tracker);
    if (!status && options->compile_only) {
        fflush(stdout);
        _exit(EXIT_SUCCESS); /* Exit at once: a driver without its hardware would never finish the work that it was
                                given. */
    }
    comparison c = {.known = {.scene = &s}, .lines = lines};
    const bool software = !status && gls_device_get_info(device)->software;
    if (!status) status = track(tracker, &s, software, &c);
    if (!status && !lines) status = compare_batches(device, &s, software);
    if (status) {
        printf("error\t%s\n", gls_last_error());
        fflush(stdout);
        if (options->compile_only) _exit(EXIT_FAILURE);
    }
    gls_tracker_destroy(tracker);
    gls_known_scene_finish(&s);
    gls_device_close(device);
    return status;
}
