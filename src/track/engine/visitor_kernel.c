/* Loads the kernel that counts visited voxels (glsl/kernel/visit.comp), sizes its buffers, and decides where the kernel
 * pays: on NVIDIA's GPUs with grids of up to a million voxels. Elsewhere the host counts. */
#include "track/engine/visitor_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device_cache.h"
#include "gpu/fetch.h"
#include "gpu/open_device.h"
#include "util/numbers.h"
#include "util/status.h"

/* With more voxels the transfer of each round's counts costs as much as the kernel saves. */
#define MAX_VOXELS ((size_t)1 << 20)
/* Invocations of a work group; slots of its hash table, and the binary logarithm of their number. */
#define GROUP "64"
#define TABLE "1024"
#define TABLE_BITS "10"
/* About one in 1,000 short lines is left to the host, and with --dg fact, whose lines have hundreds of points, about
 * one in 140. Reserve one point for each two lines: if this is too little, all points come to the host from then on. */
#define LINES_A_POINT 2
#define MIN_CAPACITY 2048
/* Largest allowed error of the kernel's voxel coordinates, see MARGIN in glsl/kernel/visit.comp. */
#define MAX_ERROR 6e-10

static const gls_define defines[] = {
    {"GROUP_SIZE", GROUP, false, "invocations of a work group, which follow one streamline"},
    {"TABLE_SIZE", TABLE, false, "slots of the hash table of visited voxels"},
    {"TABLE_BITS", TABLE_BITS, false, "TABLE_SIZE as a power of 2"}};
/* The kernel is the same for all grids, so its definitions are constants. */
#define N_DEFINES (sizeof defines / sizeof *defines)

/* Upper bound of the rounding error of voxel coordinates in the grid. */
static double rounding(const gls_grid *grid)
{
    double inverse[3][4], most = 0;
    gls_grid_inverse(grid, inverse);
    /* For each row of the inverse map: the sum of the magnitudes of its terms at the far corner of the grid. The factor
     * of 16 covers all roundings of 2^-53 of that sum. */
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
    const char *where = gls_test_variable("GLSLINES_MAP");
    /* GLES has no doubles in shaders. In a grid far from the origin, in mm, the rounding error would come near the
     * kernel's margin around voxel faces, and the counts could differ from the counts of the host. */
    const bool forced = where && strcmp(where, "device") == 0;
    if (device->gles || (where && strcmp(where, "host") == 0) || !(rounding(grid) < MAX_ERROR)) return false;
    if (gls_grid_voxels(grid) > (forced ? (size_t)1 << 28 : MAX_VOXELS)) return false;
    return forced || (!device->software && strstr(device->vendor, "NVIDIA"));
}

void gls_visitor_announce(gls_device *device, const gls_grid *grid)
{
    if (gls_visitor_pays(gls_device_kept_info(device), grid))
        gls_kernel_announce(device, "kernel/visit.comp", defines, N_DEFINES);
}

gls_status gls_visitor_load(gls_device *device, gls_kernel **kernel)
{
    return gls_kernel_load(device, "kernel/visit.comp", defines, N_DEFINES, kernel);
}

/* Clears the words and runs the kernel for no streamline, see rehearse.c. */
static gls_status rehearse(gls_visitor *v)
{
    const gls_visit_uniforms none = {.n_lines = 0};
    uint32_t word;
    const gls_arg args[] = {gls_arg_uniforms(0, v->uniforms), gls_arg_buffer(0, v->words), gls_arg_buffer(1, v->words),
                            gls_arg_buffer(2, v->words)};
    gls_status status = gls_buffer_write(v->uniforms, 0, sizeof none, &none);
    if (!status) status = gls_buffer_clear(v->words);
    if (!status) status = gls_kernel_run(v->kernel, (uint32_t[3]){1, 1, 1}, args, sizeof args / sizeof args[0], NULL);
    if (!status) status = gls_fetch_begin(v->fetch, v->words, 0, sizeof word);
    return !status ? gls_fetch_end(v->fetch, &word) : status;
}

/* Creates kernel and buffers for rounds of up to n_lines streamlines. in_flight: results are fetched while the next
 * round runs. */
static gls_status create(gls_visitor *v, gls_device *device, const gls_grid *grid, uint32_t n_lines, bool in_flight)
{
    const size_t n_words = gls_visitor_words(grid, n_lines, gls_visitor_capacity(n_lines));
    gls_status status = gls_visitor_load(device, &v->kernel);
    if (!status)
        status =
            gls_buffer_create(device, GLS_BUFFER_UNIFORM, sizeof(gls_visit_uniforms), "visit parameters", &v->uniforms);
    if (!status) status = gls_buffer_create(device, GLS_BUFFER_STORAGE, 4 * n_words, "visited voxels", &v->words);
    if (!status) status = gls_fetch_create(device, in_flight ? 4 * n_words : 0, &v->fetch);
    if (!status && in_flight && gls_device_waits(device)) status = rehearse(v);
    return !status ? gls_device_synchronize(device) : status;
}

void gls_visitor_create(gls_visitor *v, gls_device *device, const gls_grid *grid, uint32_t n_lines, bool in_flight)
{
    const gls_device_info *info = gls_device_kept_info(device);
    if (v->words || v->failed || !gls_visitor_pays(info, grid)) return;
    gls_status status = create(v, device, grid, n_lines, in_flight);
    if (!status) return;
    gls_log(GLS_LOG_DEBUG, "%s: %s: the host counts visits", info->renderer, gls_last_error());
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

/* The words are laid out as binding 2 of glsl/kernel/visit.comp. */
size_t gls_visitor_words(const gls_grid *grid, uint32_t n_lines, uint32_t room)
{
    return gls_grid_voxels(grid) + n_lines + 1 + (room > 0 ? 6 * (size_t)n_lines + 3 * (size_t)room : 0);
}

uint32_t gls_visitor_capacity(uint32_t n_lines)
{
    return n_lines / LINES_A_POINT + MIN_CAPACITY;
}

gls_visit_uniforms gls_visitor_uniforms(const gls_grid *grid, uint32_t n_lines, uint32_t room)
{
    /* The kernel wants coordinates in which voxel k reaches from k to k + 1, hence + 0.5. */
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
        room,
        0,
        0,
        0,
    };
}
