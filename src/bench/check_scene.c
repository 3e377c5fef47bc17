/* One part of the check of a device: a getter in a mapping on a small phantom, compiled and tracked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glslines/glslines.h>

#include "bench/check.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/status.h"

enum { N_SEEDS = 48, N_TIMED_SEEDS = 20000 };

/* mm; directions are those of a sphere or come from random numbers, so what drivers round differently hardly moves a
 * point before a choice between two directions falls otherwise. */
#define TOLERANCE 0.005f

const check_variant check_variants[CHECK_VARIANTS] = {
    {"boot4", GLS_DG_BOOT, 4}, {"boot8", GLS_DG_BOOT, 8}, {"prob4", GLS_DG_PROB, 4}, {"prob8", GLS_DG_PROB, 8},
    {"det4", GLS_DG_DET, 4},   {"det8", GLS_DG_DET, 8},   {"ptt4", GLS_DG_PTT, 4},
};

typedef struct scene {
    gls_phantom *phantom;
    gls_image *stop_map, *sh;
    gls_qball *qball;
    gls_sphere *sphere;
    gls_odf_source *odf;
    gls_track_params params;
    gls_track_input input;
} scene;

static void scene_finish(scene *s)
{
    gls_odf_source_destroy(s->odf);
    gls_image_destroy(s->sh);
    gls_image_destroy(s->stop_map);
    gls_qball_destroy(s->qball);
    gls_sphere_destroy(s->sphere);
    gls_phantom_destroy(s->phantom);
}

static gls_status scene_create(const check_variant *variant, scene *s)
{
    gls_phantom_params shape = gls_phantom_params_default();
    gls_qball_options options = gls_qball_options_default();
    for (int a = 0; a < 3; a++) {
        shape.shape[a] = (int32_t[]){20, 26, 20}[a];
        shape.voxel_size[a] = 4;
    }
    shape.ground_truth = false;
    gls_odf_options clipped = gls_odf_options_default();
    options.sh_order = variant->sh_order;
    *s = (scene){.params = gls_track_params_default()};
    gls_log_mute_info(true);
    gls_status status = gls_phantom_create(&shape, &s->phantom);
    if (!status) status = gls_sphere_create("default", &s->sphere);
    if (!status) status = gls_qball_create(s->phantom->gradients, &options, GLS_SHELLS_ANY, &s->qball);
    if (!status)
        status =
            gls_tensor_fit(s->phantom->dwi, s->phantom->gradients, s->phantom->mask, NULL, &s->stop_map, NULL, NULL);
    bool boot = variant->dg == GLS_DG_BOOT;
    if (!status && !boot)
        status = gls_qball_fit_image(s->qball, s->phantom->dwi, s->phantom->gradients, s->phantom->mask, &s->sh);
    if (!status && !boot)
        status = gls_odf_source_create_sh(s->sh, "phantom", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, s->sphere,
                                          &clipped, &s->odf);
    if (status) return status;
    gls_track_params_scale(&s->params, shape.voxel_size[0]);
    s->params.dg = variant->dg;
    /* steps add up what drivers round differently; GPUs filter textures with few bits */
    s->params.max_length = 60;
    s->input = (gls_track_input){.odf = s->odf, .stop_map = s->stop_map, .sphere = s->sphere};
    if (!boot) return GLS_OK;
    s->input.dwi = s->phantom->dwi;
    s->input.gradients = s->phantom->gradients;
    s->input.qball = s->qball;
    return GLS_OK;
}

static void print_kernel(void *user, const char *label, double seconds, const char *messages)
{
    (void)user;
    printf("kernel\t%s\t%.3f\t", label, seconds);
    for (const char *at = messages; *at; at++) putchar(*at == '\n' || *at == '\t' ? ' ' : *at);
    putchar('\n');
    fflush(stdout);
}

typedef struct comparison {
    const check_expected *expected;
    const gls_seeds *seeds;
    const gls_grid *grid;
    size_t next, same, halves;
    bool lines;
} comparison;

static bool near(const float a[3], const float b[3], float tolerance)
{
    return fabsf(a[0] - b[0]) < tolerance && fabsf(a[1] - b[1]) < tolerance && fabsf(a[2] - b[2]) < tolerance;
}

/* Index of the point where a streamline began, n if there is none. */
static size_t find_seed(const comparison *c, uint32_t seed, const float (*point)[3], size_t n)
{
    float voxel[1][3], world[3];
    gls_seeds_get(c->seeds, seed, 1, voxel);
    for (int a = 0; a < 3; a++) {
        const double *row = c->grid->affine[a];
        world[a] = (float)(row[0] * voxel[0][0] + row[1] * voxel[0][1] + row[2] * voxel[0][2] + row[3]);
    }
    for (size_t i = 0; i < n; i++)
        if (near(point[i], world, TOLERANCE)) return i;
    return n;
}

/* Half 0 goes back from the seed, half 1 forward. */
static bool near_half(const check_line *line, int half, const float (*point)[3], size_t n, size_t seed)
{
    size_t wanted = (size_t)abs(line->n[half]), there = half ? n - 1 - seed : seed;
    if (seed == n || there < wanted || (line->n[half] < 0 && there > wanted)) return false;
    return near(point[half ? seed + wanted : seed - wanted], line->end[half], TOLERANCE);
}

static void print_line(uint32_t seed, const float (*point)[3], size_t n, size_t at)
{
    printf("line\t%u\t%zu", seed, at);
    for (size_t i = 0; i < n; i++) printf("\t%.4f %.4f %.4f", point[i][0], point[i][1], point[i][2]);
    putchar('\n');
}

/* Lines come in the order of seeds, then of directions. */
static gls_status compare(void *user, const gls_streamlines *found)
{
    comparison *c = user;
    const gls_column *seed_index = gls_column_find(found->dps, found->n_dps, GLS_DPS_SEED_INDEX);
    for (size_t i = 0; i < found->n; i++) {
        const float(*point)[3] = &found->point[found->offset[i]];
        size_t n = (size_t)(found->offset[i + 1] - found->offset[i]);
        uint32_t seed = (uint32_t)gls_column_value(seed_index, i);
        size_t at = find_seed(c, seed, point, n);
        if (c->lines) print_line(seed, point, n, at);
        while (c->next < c->expected->n && c->expected->line[c->next].seed < seed) c->next++;
        if (c->next == c->expected->n || c->expected->line[c->next].seed != seed) continue;
        const check_line *line = &c->expected->line[c->next++];
        for (int half = 0; half < 2; half++) c->same += line->n[half] != 0 && near_half(line, half, point, n, at);
    }
    return GLS_OK;
}

static size_t count_halves(const check_expected *expected)
{
    size_t n = 0;
    for (size_t i = 0; i < expected->n; i++)
        n += (size_t)((expected->line[i].n[0] != 0) + (expected->line[i].n[1] != 0));
    return n;
}

static gls_status drop(void *user, const gls_streamlines *found)
{
    (void)user, (void)found;
    return GLS_OK;
}

static gls_status track(gls_tracker *tracker, const scene *s, bool software, comparison *c)
{
    gls_seeds *seeds = NULL;
    gls_track_result result = {0};
    const gls_sink sink = {.append = compare, .user = c}, none = {.append = drop};
    gls_status status = gls_seeds_create_random(s->phantom->roi, s->phantom->mask, N_SEEDS, 0, &seeds);
    c->seeds = seeds;
    c->grid = &s->phantom->mask->grid;
    if (!status) status = gls_tracker_run(tracker, seeds, &sink, NULL, NULL, &result);
    gls_seeds_destroy(seeds);
    if (status || c->lines) return status;
    c->seeds = seeds = NULL;
    double start = gls_clock_seconds();
    status = gls_seeds_create_random(s->phantom->roi, s->phantom->mask, software ? 500 : N_TIMED_SEEDS, 0, &seeds);
    if (!status) status = gls_tracker_run(tracker, seeds, &none, NULL, NULL, &result);
    double seconds = gls_clock_seconds() - start;
    gls_seeds_destroy(seeds);
    if (!status)
        printf("tracked\t%zu\t%zu\t%.0f\n", c->same, count_halves(c->expected), (double)result.points / seconds);
    return status;
}

/* The same seeds in small batches, several at a time where the device does that. */
static gls_status compare_batches(gls_device *device, const scene *s, bool software)
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

static bool parse(const char *what, size_t *variant, gls_mapping *mapping)
{
    const char *colon = strchr(what, ':');
    size_t n = colon ? (size_t)(colon - what) : 0;
    *variant = 0;
    while (*variant < CHECK_VARIANTS &&
           (strlen(check_variants[*variant].name) != n || strncmp(check_variants[*variant].name, what, n) != 0))
        ++*variant;
    for (*mapping = GLS_MAPPING_SINGLE; *mapping < GLS_MAPPING_COUNT && colon; ++*mapping)
        if (strcmp(gls_mapping_name(*mapping), colon + 1) == 0) break;
    return *variant < CHECK_VARIANTS && colon && *mapping < GLS_MAPPING_COUNT;
}

gls_status check_one(const check_options *options, const char *what)
{
    bool lines = strncmp(what, "lines:", 6) == 0;
    gls_device *device = NULL;
    gls_tracker *tracker = NULL;
    scene s = {0};
    size_t variant;
    gls_mapping mapping;
    if (!parse(lines ? what + 6 : what, &variant, &mapping))
        return gls_fail(GLS_ERR_ARGUMENT, "--variant: '%s' is not a variant and a mapping, as in boot4:group", what);
    gls_status status = gls_device_open(options->device, options->api, &device);
    if (!status) status = scene_create(&check_variants[variant], &s);
    s.params.mapping = mapping;
    if (!status)
        status = gls_device_listen(device, print_kernel, NULL,
                                   options->compile_only ? GLS_LISTEN_NEVER_WAIT : GLS_LISTEN_WAIT);
    if (!status) status = gls_tracker_create(device, &s.params, &s.input, &tracker);
    if (!status && options->compile_only) {
        fflush(stdout);
        _exit(EXIT_SUCCESS); /* a driver without its hardware never comes to the end of what it was given */
    }
    comparison c = {.expected = &check_scene_lines[variant], .lines = lines};
    const bool software = !status && gls_device_get_info(device)->software;
    if (!status) status = track(tracker, &s, software, &c);
    if (!status && !lines) status = compare_batches(device, &s, software);
    if (status) {
        printf("error\t%s\n", gls_last_error());
        fflush(stdout);
        if (options->compile_only) _exit(EXIT_FAILURE);
    }
    gls_tracker_destroy(tracker);
    scene_finish(&s);
    gls_device_close(device);
    return status;
}
