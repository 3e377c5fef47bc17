#include <glslines/csd.h>

#include <glslines/sh.h>

#include "dwi/csd_plan.h"
#include "dwi/csd_shell.h"
#include "util/log.h"
#include "util/blas.h"
#include "util/status.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024 }; /* voxels handed to a thread at a time, of which those in the mask are solved */

gls_csd_options gls_csd_options_default(void)
{
    return (gls_csd_options){.sh_order = 8, .lambda = 1, .tau = 0.1, .max_iterations = 50};
}

/* What all threads share. */
typedef struct job {
    gls_csd_plan plan;
    gls_csd_kernel kernel;
    const gls_image *dwi, *mask;
    const float **volume; /* the weighted ones */
    size_t voxels, total;
    gls_csd_progress progress;
    void *user;
    gls_image *sh;
    atomic_size_t done, n_unsettled, n_broken;
    atomic_bool cancelled;
} job;

/* What one thread owns, cut from one allocation. */
typedef struct workspace {
    void *scratch;
    double *coefficients; /* k x GLS_CSD_BLOCK */
    float *signal;        /* n x GLS_CSD_BLOCK */
    size_t index[CHUNK];
} workspace;

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t workspace_bytes(const gls_csd_plan *plan)
{
    return round_up(sizeof(workspace)) + round_up(gls_csd_scratch_bytes(plan)) +
           round_up(plan->k * GLS_CSD_BLOCK * sizeof(double)) + round_up(plan->n * GLS_CSD_BLOCK * sizeof(float));
}

static workspace *workspace_cut(const gls_csd_plan *plan, char *memory)
{
    workspace *work = (workspace *)memory;
    work->scratch = memory + round_up(sizeof *work);
    work->coefficients = (double *)((char *)work->scratch + round_up(gls_csd_scratch_bytes(plan)));
    work->signal = (float *)((char *)work->coefficients + round_up(plan->k * GLS_CSD_BLOCK * sizeof(double)));
    return work;
}

/* Signals of count voxels, one row of a block per volume; voxels with a value that is not finite become zero. Returns
 * how many. */
static size_t gather(const job *job, const size_t *index, size_t count, float *signal)
{
    float finite[GLS_CSD_BLOCK] = {0};
    size_t n_broken = 0;
    bool contiguous = index[count - 1] - index[0] == count - 1;
    memset(signal, 0, job->plan.n * GLS_CSD_BLOCK * sizeof *signal);
    for (size_t i = 0; i < job->plan.n; i++) {
        const float *from = job->volume[i];
        float *to = signal + i * GLS_CSD_BLOCK;
        if (contiguous)
            memcpy(to, from + index[0], count * sizeof *to);
        else
            for (size_t v = 0; v < count; v++) to[v] = from[index[v]];
        for (size_t v = 0; v < GLS_CSD_BLOCK; v++) finite[v] += to[v] * 0.0f;
    }
    for (size_t v = 0; v < count; v++) {
        if (finite[v] == 0) continue;
        n_broken++;
        for (size_t i = 0; i < job->plan.n; i++) signal[i * GLS_CSD_BLOCK + v] = 0;
    }
    return n_broken;
}

static void fit_chunk(job *job, size_t first, size_t end, workspace *work)
{
    size_t count = 0;
    for (size_t v = first; v < end; v++)
        if (!job->mask || job->mask->data[v] > 0) work->index[count++] = v;
    for (size_t begin = 0; begin < count; begin += GLS_CSD_BLOCK) {
        const size_t *index = work->index + begin, n = count - begin < GLS_CSD_BLOCK ? count - begin : GLS_CSD_BLOCK;
        size_t n_broken = gather(job, index, n, work->signal);
        size_t n_unsettled = job->kernel(&job->plan, work->signal, GLS_CSD_BLOCK, n, work->scratch, work->coefficients);
        for (size_t j = 0; j < job->plan.k; j++) {
            float *to = job->sh->data + j * job->voxels;
            const double *from = work->coefficients + j * GLS_CSD_BLOCK;
            for (size_t v = 0; v < n; v++) to[index[v]] = (float)from[v];
        }
        if (n_broken) atomic_fetch_add(&job->n_broken, n_broken);
        if (n_unsettled) atomic_fetch_add(&job->n_unsettled, n_unsettled);
    }
    atomic_fetch_add(&job->done, count);
}

static gls_status fit_all(job *job)
{
    size_t n_threads = (size_t)omp_get_max_threads(), bytes = (workspace_bytes(&job->plan) + 4095) / 4096 * 4096;
    char *memory = aligned_alloc(4096, n_threads * bytes);
    if (!memory)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the deconvolution of %zu volumes on %zu threads",
                        job->plan.n, n_threads);
    long long n_chunks = (long long)((job->voxels + CHUNK - 1) / CHUNK);
#pragma omp parallel num_threads((int)n_threads)
    {
        workspace *work = workspace_cut(&job->plan, memory + (size_t)omp_get_thread_num() * bytes);
#pragma omp for schedule(dynamic)
        for (long long chunk = 0; chunk < n_chunks; chunk++) {
            if (atomic_load(&job->cancelled)) continue;
            size_t first = (size_t)chunk * CHUNK, end = first + CHUNK < job->voxels ? first + CHUNK : job->voxels;
            fit_chunk(job, first, end, work);
            /* thread 0 is the calling thread */
            if (job->progress && omp_get_thread_num() == 0 &&
                !job->progress(job->user, atomic_load(&job->done), job->total))
                atomic_store(&job->cancelled, true);
        }
    }
    free(memory);
    if (job->progress && !atomic_load(&job->cancelled) && !job->progress(job->user, job->total, job->total))
        atomic_store(&job->cancelled, true);
    if (atomic_load(&job->cancelled))
        return gls_fail(GLS_ERR_CANCELLED, "deconvolution cancelled after %zu of %zu voxels", atomic_load(&job->done),
                        job->total);
    return GLS_OK;
}

static void report(const job *job)
{
    size_t n_unsettled = atomic_load(&job->n_unsettled), n_broken = atomic_load(&job->n_broken);
    if (n_unsettled)
        gls_log(GLS_LOG_INFO, "CSD: %zu of %zu voxels did not settle within %d iterations and keep their last solution",
                n_unsettled, job->total, job->plan.max_iterations);
    if (n_broken) gls_log(GLS_LOG_WARNING, "CSD: %zu voxels with values that are not finite get no ODF", n_broken);
}

static gls_status check_options(const gls_csd_options *options)
{
    GLS_REQUIRE(options->sh_order >= 2 && options->sh_order <= GLS_CSD_MAX_ORDER && options->sh_order % 2 == 0);
    GLS_REQUIRE(isfinite(options->lambda) && options->lambda > 0);
    GLS_REQUIRE(options->tau >= 0 && options->tau < 1);
    GLS_REQUIRE(options->max_iterations >= 1);
    return GLS_OK;
}

static gls_status check_images(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                               const gls_image *mask)
{
    gls_status status = gls_csd_check_series("CSD", dwi, gradients, volume);
    if (status != GLS_OK || !mask) return status;
    if (mask->n_volumes != 1)
        return gls_fail(GLS_ERR_ARGUMENT, "CSD: the mask has %zu volumes instead of one", mask->n_volumes);
    return gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
}

/* Rotational harmonics: what a response turns a delta along z into, degree by degree. */
static gls_status set_harmonics(const gls_response *response, const gls_gradients *gradients, int order,
                                double *harmonics)
{
    gls_response zonal;
    gls_status status = gls_response_to_zonal(response, gradients, order, &zonal);
    for (int l = 0; l <= order && status == GLS_OK; l += 2)
        harmonics[l / 2] = zonal.zonal[l / 2] / sqrt((2 * l + 1) / (4 * M_PI));
    return status;
}

static void warn_of_order(const gls_csd_plan *plan, int order)
{
    int possible = order;
    while (possible > 0 && gls_sh_count(possible) > plan->n) possible -= 2;
    if (possible < order)
        gls_log(GLS_LOG_WARNING,
                "CSD: order %d has %zu coefficients, more than the %zu directions determine (order %d); the constraint "
                "alone supplies the rest",
                order, plan->k, plan->n, possible);
}

static size_t count_voxels(const gls_image *mask, size_t voxels)
{
    size_t n = 0;
    for (size_t v = 0; mask && v < voxels; v++) n += mask->data[v] > 0;
    return mask ? n : voxels;
}

gls_status gls_csd_fit(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                       const gls_image *mask, const gls_response *response, const gls_csd_options *options,
                       gls_csd_progress progress, void *progress_user, gls_image **sh)
{
    const gls_csd_options defaults = gls_csd_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(dwi && gradients && response && sh);
    gls_status ready = gls_blas_check("CSD fit");
    if (ready != GLS_OK) return ready;
    gls_status status = check_options(options);
    if (status == GLS_OK) status = check_images(dwi, gradients, volume, mask);
    if (status != GLS_OK) return status;
    double harmonics[GLS_CSD_MAX_ORDER / 2 + 1];
    gls_sphere *small = NULL;
    job job = {
        .dwi = dwi, .mask = mask, .voxels = gls_grid_voxels(&dwi->grid), .progress = progress, .user = progress_user};
    job.total = count_voxels(mask, job.voxels);
    job.kernel = gls_csd_kernel_best();
    status = set_harmonics(response, gradients, options->sh_order, harmonics);
    if (status == GLS_OK && !options->sphere) status = gls_sphere_create("small", &small);
    if (status == GLS_OK)
        status = gls_csd_plan_init(&job.plan, gradients, harmonics, options, options->sphere ? options->sphere : small);
    if (status != GLS_OK) goto fail;
    warn_of_order(&job.plan, options->sh_order);
    job.volume = malloc(job.plan.n * sizeof *job.volume);
    if (!job.volume) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for a deconvolution of %zu volumes", job.plan.n);
        goto fail;
    }
    for (size_t i = 0, n = 0; i < gradients->n; i++)
        if (!gradients->is_b0[i]) job.volume[n++] = dwi->data + (volume ? volume[i] : i) * job.voxels;
    status = gls_image_create(&dwi->grid, job.plan.k, &job.sh);
    if (status == GLS_OK) status = fit_all(&job);
    if (status != GLS_OK) goto fail;
    report(&job);
    *sh = job.sh;
    job.sh = NULL;
fail:
    gls_image_destroy(job.sh);
    free(job.volume);
    gls_csd_plan_finish(&job.plan);
    gls_sphere_destroy(small);
    return status;
}
