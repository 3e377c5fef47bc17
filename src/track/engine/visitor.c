#include "track/engine/visitor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/announce.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/status.h"

/* The map of each round goes to the host: with more voxels that costs as much as it saves. */
#define MOST_VOXELS ((size_t)1 << 20)
/* Invocations of a work group, and slots of its table: 2 to the power of the third. */
#define GROUP "64"
#define TABLE "1024"
#define TABLE_BITS "10"
/* By how much the voxel coordinates of the kernel may be off, see MARGIN of glsl/kernel/visit.comp. */
#define MOST_ERROR 6e-10

static const gls_define defines[] = {{"GROUP_SIZE", GROUP, false, "a work group takes a streamline"},
                                     {"TABLE_SIZE", TABLE, false, "voxels that a streamline may visit, and room"},
                                     {"TABLE_BITS", TABLE_BITS, false, "of that number"}};
#define N_DEFINES (sizeof defines / sizeof *defines)

/* A bound of the rounding of voxel coordinates in the grid. */
static double rounding(const gls_grid *grid)
{
    double inverse[3][4], most = 0;
    gls_grid_inverse(grid, inverse);
    for (int r = 0; r < 3; r++) {
        double sum = 1 + fabs(inverse[r][3]);
        for (int c = 0; c < 3; c++) {
            double world = fabs(grid->affine[c][3]);
            for (int k = 0; k < 3; k++) world += fabs(grid->affine[c][k]) * grid->dim[k];
            sum += fabs(inverse[r][c]) * world;
        }
        most = fmax(most, sum);
    }
    return 16 * most * 0x1p-53;
}

bool gls_visitor_pays(const gls_device_info *device, const gls_grid *grid)
{
    const char *where = getenv("GLSLINES_MAP");
    const bool forced = where && strcmp(where, "device") == 0;
    if (device->gles || (where && strcmp(where, "host") == 0) || !(rounding(grid) < MOST_ERROR)) return false;
    if (gls_grid_voxels(grid) > (forced ? (size_t)1 << 28 : MOST_VOXELS)) return false;
    return forced || (!device->software && strstr(device->vendor, "NVIDIA"));
}

void gls_visitor_announce(gls_device *device, const gls_grid *grid)
{
    if (gls_visitor_pays(gls_device_get_info(device), grid))
        gls_kernel_announce(device, "kernel/visit.comp", defines, N_DEFINES);
}

gls_status gls_visitor_load(gls_device *device, gls_kernel **kernel)
{
    return gls_kernel_load(device, "kernel/visit.comp", defines, N_DEFINES, kernel);
}

static gls_status create(gls_engine *t, gls_visitor *v)
{
    const size_t n_words = gls_grid_voxels(&t->grid) + t->plan.batch_lines;
    gls_status status = gls_visitor_load(t->device, &v->kernel);
    if (status == GLS_OK)
        status = gls_buffer_create(t->device, GLS_BUFFER_UNIFORM, sizeof(gls_visit_uniforms), "visit parameters",
                                   &v->uniforms);
    if (status == GLS_OK)
        status = gls_buffer_create(t->device, GLS_BUFFER_STORAGE, 4 * n_words, "visited voxels", &v->words);
    if (status == GLS_OK) status = gls_fetch_create(t->device, t->plan.in_flight ? 4 * n_words : 0, &v->fetch);
    return status == GLS_OK ? gls_device_synchronize(t->device) : status;
}

void gls_visitor_create(gls_engine *t)
{
    gls_visitor *v = &t->visitor;
    if (v->words || v->failed || !gls_visitor_pays(gls_device_get_info(t->device), &t->grid)) return;
    double start = gls_clock_seconds();
    gls_status status = create(t, v);
    t->seconds_compile += gls_clock_seconds() - start;
    if (status == GLS_OK) return;
    gls_log(GLS_LOG_DEBUG, "%s: %s: the host counts visits", gls_device_get_info(t->device)->renderer,
            gls_last_error());
    gls_visitor_finish(v);
    v->failed = true;
}

void gls_visitor_finish(gls_visitor *v)
{
    gls_kernel_destroy(v->kernel);
    gls_buffer_destroy(v->uniforms);
    gls_buffer_destroy(v->words);
    gls_fetch_destroy(v->fetch);
    *v = (gls_visitor){0};
}

gls_visit_uniforms gls_visitor_uniforms(const gls_grid *grid, uint32_t n_lines)
{
    double m[3][4];
    gls_grid_inverse(grid, m);
    return (gls_visit_uniforms){
        m[0][0],
        m[0][1],
        m[0][2],
        m[0][3] + 0.5,
        m[1][0],
        m[1][1],
        m[1][2],
        m[1][3] + 0.5,
        m[2][0],
        m[2][1],
        m[2][2],
        m[2][3] + 0.5,
        (uint32_t)grid->dim[0],
        (uint32_t)grid->dim[1],
        (uint32_t)grid->dim[2],
        n_lines,
    };
}

static gls_status reserve(gls_visited *to, size_t n_words)
{
    if (n_words <= to->capacity) return GLS_OK;
    free(to->word);
    to->capacity = 0;
    to->word = malloc(n_words * sizeof *to->word);
    if (!to->word) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu voxels", n_words);
    to->capacity = n_words;
    return GLS_OK;
}

gls_status gls_visitor_begin(gls_batch *c, uint32_t n_placed, gls_parcel *parcel)
{
    gls_engine *t = c->engine;
    const gls_visitor *v = &t->visitor;
    const gls_visit_uniforms u = gls_visitor_uniforms(&t->grid, n_placed);
    const size_t n_voxels = gls_grid_voxels(&t->grid);
    const uint32_t limit = gls_device_get_info(t->device)->max_work_groups;
    double start = gls_clock_seconds();
    gls_status status = reserve(&parcel->visited, n_voxels + t->plan.batch_lines);
    if (status == GLS_OK) status = gls_buffer_write(v->uniforms, 0, sizeof u, &u);
    if (status == GLS_OK) status = gls_buffer_clear(v->words);
    gls_arg args[] = {gls_arg_uniforms(0, v->uniforms), gls_arg_buffer(0, t->buffer[GLS_TRACK_LINES]),
                      gls_arg_buffer(1, t->buffer[GLS_TRACK_OUTPUT]), gls_arg_buffer(2, v->words)};
    if (status == GLS_OK)
        status = gls_engine_run(t, v->kernel, GLS_TIME_GATHER, n_placed < limit ? n_placed : limit, args,
                                sizeof args / sizeof args[0]);
    if (status == GLS_OK) status = gls_fetch_begin(v->fetch, v->words, 0, 4 * (n_voxels + n_placed));
    parcel->visited.n_voxels = n_voxels;
    parcel->visited.grid = t->grid;
    c->stats->result.seconds_gather += gls_clock_seconds() - start;
    return status;
}

gls_status gls_visitor_end(gls_batch *c, gls_parcel *parcel)
{
    gls_visited *to = &parcel->visited;
    double start = gls_clock_seconds();
    gls_status status = gls_fetch_end(c->engine->visitor.fetch, to->word);
    c->stats->result.seconds_readback += gls_clock_seconds() - start;
    if (status != GLS_OK) return status;
    /* what is told of lines that were placed becomes what is told of streamlines */
    to->left = to->word + to->n_voxels;
    to->n = 0;
    size_t n_left = 0;
    for (size_t i = 0; i < c->tally.n_outcomes; i++) {
        if (c->tally.outcome[i].verdict != GLS_VERDICT_KEPT) continue;
        to->left[to->n++] = to->left[i];
        n_left += to->left[i] != 0;
    }
    to->valid = to->n == parcel->n;
    gls_log(GLS_LOG_DEBUG, "voxels of %zu streamlines were counted on the device, of which %zu are left to the host",
            to->n, n_left);
    return GLS_OK;
}
