/* Multi-tissue deconvolution of a whole series (Jeurissen et al. 2014), on the CPU or on a device. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/msmt.h>

#include "dwi/blocks.h"
#include "dwi/csd_directions.h"
#include "dwi/gradients_shells.h"
#include "dwi/msmt_plan.h"
#include "dwi/nonneg.h"
#include "dwi/nonneg_kernel.h"
#include "gpu/buffer.h"
#include "gpu/handle.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/threads.h"

/* --- Constrained fits on a device, SLICE voxels at a time: while the device fits one slice, the CPU gathers the next
 * one. */

#define GROUP 64 /* invocations of a work group, which fits one voxel; divides the stride of the plan */
/* maximum number of active rows: nearly all voxels need fewer; with more, fewer work groups would run on a
 * multiprocessor at the same time */
#define MAX_ROWS 64
#define MIN_ROWS 48 /* smallest number of active rows; with fewer too many voxels would be left to the CPU */
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

/* Whether a device can run this fit: it needs double precision and enough shared memory, and the plan must not
 * have more coefficients than a work group has invocations. */
static bool nonneg_device_can(const gls_nonneg_plan *plan, gls_device *device)
{
    const gls_device_info *info = gls_device_get_info(device);
    return plan->wide <= GROUP && !info->gles && info->max_work_group_size >= GROUP &&
           max_rows(plan, device) >= MIN_ROWS;
}

/* Writes L^-1, where L is the factor of the plan, in rows of plan->wide numbers. */
static void invert_factor(const gls_nonneg_plan *plan, double *inverse)
{
    for (size_t c = 0; c < plan->k; c++)
        for (size_t i = c; i < plan->k; i++) {
            double sum = i == c;
            for (size_t j = c; j < i; j++) sum -= plan->factor[i * plan->k + j] * inverse[j * plan->wide + c];
            inverse[i * plan->wide + c] = sum / plan->factor[i * plan->k + i];
        }
}

/* Uploads the matrices of the plan, one after the other in the layout of the buffer Plan of fit/nonneg.comp, and the
 * constraints in single precision. */
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
    gls_status status = gls_storage_create(device, "fit", count * sizeof *all, all, &s->plan);
    if (!status)
        status = gls_storage_create(device, "constraints", wide * p->stride * sizeof *p->columns_float,
                                    p->columns_float, &s->columns);
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
    if (!status) status = gls_storage_create(device, "signals", data, NULL, &s->signal);
    return status ? status : gls_storage_create(device, "coefficients", result, NULL, &s->result);
}

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

/* Stores the coefficients of a slice in the volumes, and lists voxels that the device could not fit, which have NaN. */
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

/* Fits all voxels of the work on the device; sets left, n_left, n_broken and setup_seconds. GLS_ERR_CANCELLED if
 * progress returned false. */
static gls_status nonneg_device_run(gls_nonneg_work *work, gls_device *device)
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

#define USUAL_MAX_ORDER 8 /* largest SH order of a tissue for which the options give no order */

gls_msmt_options gls_msmt_options_default(void)
{
    gls_msmt_options options = {.size = sizeof options, .direction = NULL};
    for (int t = 0; t < GLS_MSMT_MAX_TISSUES; t++) options.order[t] = -1;
    return options;
}

/* Data shared by all threads. */
typedef struct job {
    gls_msmt_plan plan;
    gls_nonneg_kernel kernel;
    const float **volume;
    size_t voxels;
    gls_image *tissue[GLS_MSMT_MAX_TISSUES];
    atomic_size_t n_unconverged, n_broken;
} job;

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Bytes of a thread's scratch memory: memory of the kernel, then coefficients, data and signal of a block. */
static size_t workspace_bytes(const gls_nonneg_plan *fit)
{
    return round_up(gls_nonneg_scratch_bytes(fit)) + (fit->k + fit->n) * GLS_NONNEG_BLOCK * sizeof(double) +
           fit->n * GLS_NONNEG_BLOCK * sizeof(float);
}

/* Deconvolves n voxels on the CPU and stores the coefficients of each tissue in the volumes of its image. */
static void solve_block(void *user, const size_t *index, size_t n, void *memory)
{
    job *job = user;
    const gls_nonneg_plan *fit = &job->plan.fit;
    double *coefficients = (double *)((char *)memory + round_up(gls_nonneg_scratch_bytes(fit)));
    double *data = coefficients + fit->k * GLS_NONNEG_BLOCK;
    float *signal = (float *)(data + fit->n * GLS_NONNEG_BLOCK);
    size_t n_broken = gls_blocks_gather((const float *const *)job->volume, fit->n, index, n, GLS_NONNEG_BLOCK, signal);
    for (size_t i = 0; i < fit->n * GLS_NONNEG_BLOCK; i++) data[i] = signal[i];
    size_t n_unconverged = job->kernel(fit, data, n, memory, coefficients);
    for (size_t t = 0; t < job->plan.n_tissues; t++)
        for (size_t j = job->plan.first[t]; j < job->plan.first[t + 1]; j++) {
            float *to = job->tissue[t]->data + (j - job->plan.first[t]) * job->voxels;
            for (size_t v = 0; v < n; v++) to[index[v]] = (float)coefficients[j * GLS_NONNEG_BLOCK + v];
        }
    if (n_broken) atomic_fetch_add(&job->n_broken, n_broken);
    if (n_unconverged) atomic_fetch_add(&job->n_unconverged, n_unconverged);
}

/* GLS_ERR_INPUT: there is no weighted shell; there are fewer shells than tissues; or there are more than three shells,
 * and more than the square root of the number of volumes, as on a grid of b-values (diffusion spectrum imaging). The b0
 * volumes count as a shell. */
static gls_status check_shells(const gls_gradients *gradients, size_t n_tissues)
{
    char text[1024];
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    if (status) return status;
    gls_gradients_name_shells(shell, n, text, sizeof text);
    size_t n_weighted = n - (gradients->n_b0 > 0);
    if (n_weighted == 0)
        status =
            gls_fail(GLS_ERR_INPUT, "the gradient table has no shell: three volumes or more of nearly one b-value");
    else if (n * n > gradients->n && n > 3)
        status = gls_fail(
            GLS_ERR_INPUT,
            "choose another --model, or one shell with --shells: the b-values of these %zu volumes lie on a grid (%s)",
            gradients->n, text);
    else if (n_tissues > n)
        status = gls_fail(
            GLS_ERR_INPUT,
            "%zu tissues need %zu b-values, b = 0 included, but there are only %zu (%s%s): give responses of %zu "
            "tissues",
            n_tissues, n_tissues, n, gradients->n_b0 ? "b0 and " : "", text, n);
    if (!status)
        gls_log(GLS_LOG_INFO, "multi-tissue deconvolution: %zu tissues from %zu b0 volumes and %zu shell%s: %s",
                n_tissues, gradients->n_b0, n_weighted, n_weighted == 1 ? "" : "s", text);
    for (size_t i = 0; i < n && !status; i++)
        if (!shell[i].is_b0 && shell[i].n < 6)
            gls_log(GLS_LOG_WARNING,
                    "the shell of b = %.6g s/mm2 has only %zu volumes: its part of the fit is uncertain", shell[i].bval,
                    shell[i].n);
    free(shell);
    return status;
}

/* Chooses the SH order of each tissue: the order in the options, else the order of the tissue's response, but at most
 * USUAL_MAX_ORDER. */
static gls_status choose_orders(const gls_tissue_response *const *response, size_t n_tissues,
                                const gls_msmt_options *options, int *order)
{
    for (size_t t = 0; t < n_tissues; t++) {
        int asked = options->order[t], has = response[t]->order;
        GLS_REQUIRE(asked >= -1 && asked <= GLS_MSMT_MAX_ORDER && (asked < 0 || asked % 2 == 0));
        order[t] = asked >= 0 ? asked : has < USUAL_MAX_ORDER ? has : USUAL_MAX_ORDER;
        if (order[t] > has)
            gls_log(GLS_LOG_WARNING,
                    "tissue %zu: the response ends at order %d; only non-negativity determines the coefficients above, "
                    "up to order %d",
                    t + 1, has, order[t]);
    }
    return GLS_OK;
}

/* Sets up the matrices of the fit, the list of volumes that it reads, and an image of coefficients for each tissue. */
static gls_status make_plan(job *job, const gls_image *dwi, const gls_gradients *gradients,
                            const gls_tissue_response *const *response, size_t n_tissues,
                            const gls_msmt_options *options)
{
    int order[GLS_MSMT_MAX_TISSUES];
    double(*direction)[3] = NULL;
    size_t n = 0;
    gls_status status = choose_orders(response, n_tissues, options, order);
    if (!status) status = gls_msmt_directions(&dwi->grid, options->direction, options->n_directions, &direction, &n);
    if (!status)
        status =
            gls_msmt_plan_init(&job->plan, gradients, response, order, n_tissues, (const double(*)[3])direction, n);
    free(direction);
    if (status) return status;
    job->volume = malloc(job->plan.fit.n * sizeof *job->volume);
    if (!job->volume) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu volumes", job->plan.fit.n);
    for (size_t i = 0; i < job->plan.fit.n; i++) job->volume[i] = dwi->data + job->plan.volume[i] * job->voxels;
    for (size_t t = 0; t < n_tissues && !status; t++)
        status = gls_image_create(&dwi->grid, job->plan.first[t + 1] - job->plan.first[t], &job->tissue[t]);
    return status;
}

/* Fits on the device. *rest: mask of the voxels that the device did not fit; NULL: none. */
static gls_status fit_on_device(job *job, const gls_image *mask, const gls_grid *grid, gls_device *device,
                                gls_csd_progress progress, void *progress_user, gls_image **rest)
{
    const gls_nonneg_plan *fit = &job->plan.fit;
    size_t n = gls_blocks_total(mask, job->voxels), k = 0, *index = malloc((2 * n + 1) * sizeof *index);
    float **to = malloc(fit->k * sizeof *to);
    gls_nonneg_work work = {.plan = fit,
                            .volume = (const float *const *)job->volume,
                            .to = to,
                            .index = index,
                            .n = n,
                            .progress = progress,
                            .progress_user = progress_user,
                            .left = index + n};
    gls_status status = GLS_OK;
    double begin = gls_clock_seconds();
    if (!index || !to) {
        status = gls_fail(GLS_ERR_MEMORY, "multi-tissue deconvolution: out of memory for %zu voxels", n);
        goto fail;
    }
    for (size_t v = 0, i = 0; v < job->voxels; v++)
        if (!mask || mask->data[v] > 0) index[i++] = v;
    for (size_t t = 0; t < job->plan.n_tissues; t++)
        for (size_t j = job->plan.first[t]; j < job->plan.first[t + 1]; j++)
            to[k++] = job->tissue[t]->data + (j - job->plan.first[t]) * job->voxels;
    status = nonneg_device_run(&work, device);
    atomic_fetch_add(&job->n_broken, work.n_broken);
    if (!status && work.n_left > 0) status = gls_image_create(grid, 1, rest);
    for (size_t i = 0; i < work.n_left && !status; i++) (*rest)->data[work.left[i]] = 1;
    if (!status)
        gls_log(GLS_LOG_INFO,
                "multi-tissue deconvolution: %zu voxels by %s in %.3g s, %.3g s of them to set up; %zu voxels are left "
                "to the CPU",
                n - work.n_left, gls_device_get_info(device)->renderer, gls_clock_seconds() - begin, work.setup_seconds,
                work.n_left);
fail:
    free(to);
    free(index);
    return status;
}

static gls_status check_input(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                              const gls_tissue_response *const *response, size_t n_tissues)
{
    if (dwi->n_volumes != gradients->n)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "multi-tissue deconvolution: the series has %zu volumes, but the gradient table has %zu entries",
            dwi->n_volumes, gradients->n);
    if (mask && mask->n_volumes != 1)
        return gls_fail(GLS_ERR_ARGUMENT, "multi-tissue deconvolution: the mask has %zu volumes instead of one",
                        mask->n_volumes);
    gls_status status = mask ? gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask") : GLS_OK;
    if (!status) status = check_shells(gradients, n_tissues);
    for (size_t t = 0; t < n_tissues && !status; t++) {
        char name[48];
        snprintf(name, sizeof name, "response of tissue %zu", t + 1);
        status = gls_tissue_response_check(response[t], name, gradients, GLS_RESPONSE_FITS_NUMBER);
    }
    return status;
}

gls_status gls_msmt_fit(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                        const gls_tissue_response *const *response, size_t n_tissues, const gls_msmt_options *options,
                        gls_csd_progress progress, void *progress_user, gls_image **tissue)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(dwi && gradients && response && tissue && n_tissues >= 1 && n_tissues <= GLS_MSMT_MAX_TISSUES);
    GLS_REQUIRE_TABLE(gradients);
    const gls_msmt_options defaults = gls_msmt_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(!options->direction || options->n_directions > 0);
    if (options->device) GLS_REQUIRE_HANDLE(options->device, GLS_HANDLE_DEVICE);
    job job = {.kernel = gls_nonneg_kernels[gls_cpu_level()], .voxels = gls_grid_voxels(&dwi->grid)};
    gls_blocks blocks = {.what = "multi-tissue deconvolution",
                         .mask = mask,
                         .voxels = job.voxels,
                         .size = GLS_NONNEG_BLOCK,
                         .progress = progress,
                         .progress_user = progress_user,
                         .solve = solve_block,
                         .job = &job};
    gls_image *rest = NULL;
    gls_status status = gls_blas_check("multi-tissue deconvolution");
    if (!status) status = check_input(dwi, gradients, mask, response, n_tissues);
    if (!status) status = make_plan(&job, dwi, gradients, response, n_tissues, options);
    bool on_device = !status && options->device && nonneg_device_can(&job.plan.fit, options->device);
    if (!status && options->device && !on_device)
        gls_log(GLS_LOG_WARNING, "multi-tissue deconvolution: by the CPU: %s cannot fit %zu coefficients",
                gls_device_get_info(options->device)->renderer, job.plan.fit.k);
    if (on_device) status = fit_on_device(&job, mask, &dwi->grid, options->device, progress, progress_user, &rest);
    if (rest) blocks.mask = rest;
    blocks.scratch_bytes = !status ? workspace_bytes(&job.plan.fit) : 0;
    double begin = gls_clock_seconds();
    if (!status && (!on_device || rest)) status = gls_blocks_run(&blocks);
    if (!status && (!on_device || rest))
        gls_log(GLS_LOG_INFO, "multi-tissue deconvolution: %zu voxels by the CPU in %.3g s",
                gls_blocks_total(blocks.mask, job.voxels), gls_clock_seconds() - begin);
    gls_image_destroy(rest);
    size_t n_unconverged = atomic_load(&job.n_unconverged), n_broken = atomic_load(&job.n_broken);
    if (n_unconverged)
        gls_log(GLS_LOG_INFO, "multi-tissue deconvolution: %zu voxels did not converge and keep their last solution",
                n_unconverged);
    if (n_broken)
        gls_log(GLS_LOG_WARNING, "multi-tissue deconvolution: %zu voxels with values that are not finite get no ODF",
                n_broken);
    for (size_t t = 0; t < GLS_MSMT_MAX_TISSUES; t++) {
        if (!status && t < n_tissues)
            tissue[t] = job.tissue[t];
        else
            gls_image_destroy(job.tissue[t]);
    }
    free(job.volume);
    gls_msmt_plan_finish(&job.plan);
    return status;
}
