/* Constrained fits on a device, in slices of voxels: while the device works on one slice, the CPU gathers the next. */
#include "dwi/nonneg.h"

#include "dwi/voxel_sets.h"
#include "util/clock.h"
#include "util/status.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 64 /* invocations of a work group, which fits one voxel; divides the stride of the plan */
/* maximum number of active rows: nearly all voxels need fewer, and several work groups fit on a multiprocessor */
#define MAX_ROWS 64
#define MIN_ROWS 48 /* with room for fewer active rows too many voxels would be left to the CPU */
#define SLICE ((size_t)128 * GLS_NONNEG_BLOCK) /* number of voxels of a dispatch */

/* The kernel, its buffers, and the host's copies of one slice. */
typedef struct slot {
    gls_nonneg_work *work;
    gls_kernel *kernel;
    gls_buffer *plan, *columns, *signal, *result;
    float *data, *coefficients; /* values of a slice, in the layout of the buffers */
} slot;

/* Bytes of shared memory that the kernel declares for `most` active rows. */
static size_t shared_bytes(const gls_nonneg_plan *plan, size_t most)
{
    return 8 * (most * (most + 1) + 4 * most + 2 * plan->wide + GROUP) + 4 * (plan->wide + most + 2 * GROUP);
}

static size_t max_rows(const gls_nonneg_plan *plan, gls_device *device)
{
    size_t most = MAX_ROWS, room = gls_device_get_info(device)->max_shared_bytes;
    while (most > 0 && shared_bytes(plan, most) > room) most -= 8;
    return most;
}

bool gls_nonneg_device_can(const gls_nonneg_plan *plan, gls_device *device)
{
    const gls_device_info *info = gls_device_get_info(device);
    return plan->columns && plan->wide <= GROUP && !info->gles && info->max_work_group_size >= GROUP &&
           max_rows(plan, device) >= MIN_ROWS;
}

/* Computes the rows of L^-1. */
static void invert_factor(const gls_nonneg_plan *plan, double *inverse)
{
    for (size_t c = 0; c < plan->k; c++)
        for (size_t i = c; i < plan->k; i++) {
            double sum = i == c;
            for (size_t j = c; j < i; j++) sum -= plan->factor[i * plan->k + j] * inverse[j * plan->wide + c];
            inverse[i * plan->wide + c] = sum / plan->factor[i * plan->k + i];
        }
}

static gls_status fill(gls_device *device, const char *label, size_t bytes, const void *data, gls_buffer **buffer)
{
    gls_status status = gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, label, buffer);
    return status || !data ? status : gls_buffer_write(*buffer, 0, bytes, data);
}

/* Uploads the matrices of the plan, one after the other in the layout of the buffer Plan of fit/nonneg.comp. */
static gls_status fill_plan(const gls_nonneg_plan *p, gls_device *device, slot *s)
{
    size_t wide = p->wide, count = (p->n + p->n_rows + wide) * wide + (wide + p->n_rows) * p->stride;
    double *all = calloc(count, sizeof *all), *at = all;
    if (!all) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu coefficients", p->k);
    for (size_t i = 0; i < p->n; i++, at += wide) memcpy(at, p->project + i * p->padded, p->k * sizeof *at);
    memcpy(at, p->wide_rows, p->n_rows * wide * sizeof *at);
    at += p->n_rows * wide;
    invert_factor(p, at);
    at += wide * wide;
    memcpy(at, p->columns, wide * p->stride * sizeof *at);
    at += wide * p->stride;
    memcpy(at, p->products, p->n_rows * p->stride * sizeof *at);
    gls_status status = fill(device, "fit", count * sizeof *all, all, &s->plan);
    if (!status)
        status =
            fill(device, "constraints", wide * p->stride * sizeof *p->columns_float, p->columns_float, &s->columns);
    free(all);
    return status;
}

/* Compiles the kernel for this problem: its sizes are constants, so that loops have fixed lengths. */
static gls_status load(const gls_nonneg_plan *p, gls_device *device, gls_kernel **kernel)
{
    const size_t value[] = {GROUP, max_rows(p, device), p->k, p->wide, p->n_rows, p->stride};
    static const char *const name[] = {"GROUP", "MAX_ACTIVE", "K", "WIDE", "ROWS", "STRIDE"};
    enum { N = sizeof name / sizeof *name };
    char text[N][24];
    gls_define define[N];
    for (size_t i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "%zuu", value[i]);
        define[i] = (gls_define){name[i], text[i], false, NULL};
    }
    return gls_kernel_load(device, "fit/nonneg.comp", define, N, kernel);
}

static gls_status set_up(slot *s, gls_device *device)
{
    const gls_nonneg_plan *p = s->work->plan;
    size_t voxels =
               s->work->n < SLICE ? (s->work->n + GLS_NONNEG_BLOCK - 1) / GLS_NONNEG_BLOCK * GLS_NONNEG_BLOCK : SLICE,
           data = voxels * p->n * sizeof(float), result = voxels * p->k * sizeof(float);
    s->data = malloc(data);
    s->coefficients = malloc(result);
    if (!s->data || !s->coefficients) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu voxels", voxels);
    gls_status status = load(p, device, &s->kernel);
    if (!status) status = fill_plan(p, device, s);
    if (!status) status = fill(device, "signals", data, NULL, &s->signal);
    return status ? status : fill(device, "coefficients", result, NULL, &s->result);
}

/* --- slices --------------------------------------------------------------- */

static size_t voxels_of(const gls_nonneg_work *w, size_t first)
{
    return w->n - first < SLICE ? w->n - first : SLICE;
}

static size_t blocks_of(size_t voxels)
{
    return (voxels + GLS_NONNEG_BLOCK - 1) / GLS_NONNEG_BLOCK;
}

static size_t block_end(size_t voxels, size_t block)
{
    size_t rest = voxels - block * GLS_NONNEG_BLOCK;
    return rest < GLS_NONNEG_BLOCK ? rest : GLS_NONNEG_BLOCK;
}

/* Copies the signals of a slice from the volumes of the series, in blocks of GLS_NONNEG_BLOCK voxels. */
static void gather(slot *s, size_t first)
{
    gls_nonneg_work *w = s->work;
    size_t n = w->plan->n, voxels = voxels_of(w, first), broken = 0;
#pragma omp parallel for schedule(static) reduction(+ : broken)
    for (long long b = 0; b < (long long)blocks_of(voxels); b++)
        broken += gls_blocks_gather(w->volume, n, w->index + first + (size_t)b * GLS_NONNEG_BLOCK,
                                    block_end(voxels, (size_t)b), GLS_NONNEG_BLOCK,
                                    s->data + (size_t)b * n * GLS_NONNEG_BLOCK);
    w->n_broken += broken;
}

/* Stores the coefficients of a slice in the volumes; voxels that the device could not fit, which have NaN, are listed.
 */
static void scatter(slot *s, size_t first)
{
    gls_nonneg_work *w = s->work;
    size_t k = w->plan->k, voxels = voxels_of(w, first);
#pragma omp parallel for schedule(static)
    for (long long b = 0; b < (long long)blocks_of(voxels); b++) {
        const float *from = s->coefficients + (size_t)b * k * GLS_NONNEG_BLOCK;
        const size_t *index = w->index + first + (size_t)b * GLS_NONNEG_BLOCK, n = block_end(voxels, (size_t)b);
        for (size_t j = 0; j < k; j++, from += GLS_NONNEG_BLOCK)
            for (size_t v = 0; v < n; v++) w->to[j][index[v]] = from[v];
    }
    for (size_t v = 0; v < voxels; v++)
        if (isnan(s->coefficients[v / GLS_NONNEG_BLOCK * k * GLS_NONNEG_BLOCK + v % GLS_NONNEG_BLOCK]))
            w->left[w->n_left++] = w->index[first + v];
}

static gls_status start(slot *s, size_t first)
{
    const gls_nonneg_plan *p = s->work->plan;
    size_t voxels = voxels_of(s->work, first);
    const uint32_t groups[3] = {(uint32_t)voxels, 1, 1};
    const gls_arg args[] = {gls_arg_uint(0, (uint32_t)p->n), gls_arg_uint(1, (uint32_t)(10 * p->k)),
                            gls_arg_buffer(0, s->plan),      gls_arg_buffer(1, s->columns),
                            gls_arg_buffer(2, s->signal),    gls_arg_buffer(3, s->result)};
    gls_status status =
        gls_buffer_write(s->signal, 0, blocks_of(voxels) * GLS_NONNEG_BLOCK * p->n * sizeof *s->data, s->data);
    return status ? status : gls_kernel_run(s->kernel, groups, args, sizeof args / sizeof *args, NULL);
}

/* Fits slice by slice. While the device works on one slice, the CPU gathers the next. */
static gls_status run_slices(slot *s)
{
    gls_nonneg_work *w = s->work;
    gls_status status = GLS_OK;
    gather(s, 0);
    for (size_t first = 0; first < w->n && !status; first += SLICE) {
        size_t bytes = blocks_of(voxels_of(w, first)) * GLS_NONNEG_BLOCK * w->plan->k * sizeof *s->coefficients;
        status = start(s, first);
        if (!status && first + SLICE < w->n) gather(s, first + SLICE);
        if (!status) status = gls_buffer_read(s->result, 0, bytes, s->coefficients);
        if (!status) scatter(s, first);
        size_t done = first + voxels_of(w, first);
        if (!status && w->progress && !w->progress(w->progress_user, done, w->n))
            status = gls_fail(GLS_ERR_CANCELLED, "deconvolution cancelled after %zu of %zu voxels", done, w->n);
    }
    return status;
}

gls_status gls_nonneg_device_run(gls_nonneg_work *work, gls_device *device)
{
    slot s = {.work = work};
    work->n_left = work->n_broken = 0;
    if (work->n == 0) return GLS_OK;
    gls_device_hold(device);
    double begin = gls_clock_seconds();
    gls_status status = set_up(&s, device);
    work->setup_seconds = gls_clock_seconds() - begin;
    if (!status) status = run_slices(&s);
    gls_buffer *buffers[] = {s.plan, s.columns, s.signal, s.result};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) gls_buffer_destroy(buffers[i]);
    gls_kernel_destroy(s.kernel);
    gls_device_release(device);
    free(s.data);
    free(s.coefficients);
    return status;
}
