/* Constrained spherical deconvolution of one shell, for a whole series (Tournier et al. 2007). */
#include <glslines/csd.h>

#include <glslines/sh.h>

#include "dwi/voxel_sets.h"
#include "dwi/csd_plan.h"
#include "dwi/nonneg.h"
#include "util/status.h"
#include "util/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

gls_csd_options gls_csd_options_default(void)
{
    return (gls_csd_options){
        .size = sizeof(gls_csd_options), .sh_order = 8, .lambda = 1, .tau = 0.1, .max_iterations = 50};
}

/* Data shared by all threads. */
typedef struct job {
    gls_csd_plan plan;
    gls_csd_kernel kernel; /* function for the instruction set of this CPU */
    const float **volume;  /* the weighted volumes */
    size_t voxels, total;  /* numbers of voxels of the grid, and of voxels to deconvolve */
    bool clip;             /* true: negative signals are set to 0 */
    gls_image *sh;         /* result: plan.k volumes; threads write different voxels */
    /* numbers of voxels that reached max_iterations, and of voxels with values that are not finite */
    atomic_size_t n_unconverged, n_broken;
} job;

/* Next multiple of 64 bytes, a cache line, to which the parts of the memory of a thread are aligned. */
static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Bytes of the coefficients of a block. */
static size_t coefficients_bytes(const gls_csd_plan *plan)
{
    return round_up(plan->k * GLS_CSD_BLOCK * sizeof(double));
}

/* Bytes of the memory of one thread, in the order of solve_block(). */
static size_t workspace_bytes(const gls_csd_plan *plan)
{
    return round_up(gls_csd_scratch_bytes(plan)) + coefficients_bytes(plan) +
           round_up(plan->n * GLS_CSD_BLOCK * sizeof(float));
}

/* Deconvolves n voxels: gathers their signals, runs the kernel for the CPU's instruction set, and stores the
 * coefficients in the volumes of the image. memory: scratch memory of one thread, then coefficients, then signals. */
static void solve_block(void *user, const size_t *index, size_t n, void *memory)
{
    job *job = user;
    double *coefficients = (double *)((char *)memory + round_up(gls_csd_scratch_bytes(&job->plan)));
    float *signal = (float *)((char *)coefficients + coefficients_bytes(&job->plan));
    size_t n_broken =
        gls_blocks_gather((const float *const *)job->volume, job->plan.n, index, n, GLS_CSD_BLOCK, signal);
    for (size_t i = 0; i < job->plan.n * GLS_CSD_BLOCK && job->clip; i++) signal[i] = signal[i] < 0 ? 0 : signal[i];
    size_t n_unconverged = job->kernel(&job->plan, signal, GLS_CSD_BLOCK, n, memory, coefficients);
    for (size_t j = 0; j < job->plan.k; j++) {
        float *to = job->sh->data + j * job->voxels;
        for (size_t v = 0; v < n; v++) to[index[v]] = (float)coefficients[j * GLS_CSD_BLOCK + v];
    }
    if (n_broken) atomic_fetch_add(&job->n_broken, n_broken);
    if (n_unconverged) atomic_fetch_add(&job->n_unconverged, n_unconverged);
}

/* Logs the voxels whose iterations did not converge, and warns of voxels whose signal is not finite. */
static void report(const job *job)
{
    size_t n_unconverged = atomic_load(&job->n_unconverged), n_broken = atomic_load(&job->n_broken);
    if (n_unconverged)
        gls_log(GLS_LOG_INFO,
                "CSD: %zu of %zu voxels did not converge within %d iterations and keep their last solution",
                n_unconverged, job->total, job->plan.max_iterations);
    if (n_broken) gls_log(GLS_LOG_WARNING, "CSD: %zu voxels with values that are not finite get no ODF", n_broken);
}

/* Checks the ranges of the options. GLS_ERR_ARGUMENT on failure. */
static gls_status check_options(const gls_csd_options *options)
{
    GLS_REQUIRE(options->rule == GLS_CSD_RULE_DIPY || options->rule == GLS_CSD_RULE_MRTRIX);
    GLS_REQUIRE(options->sh_order >= 2 && options->sh_order <= GLS_CSD_MAX_ORDER && options->sh_order % 2 == 0);
    GLS_REQUIRE(isfinite(options->lambda) && options->lambda > 0);
    GLS_REQUIRE(options->tau >= 0 && options->tau < 1);
    GLS_REQUIRE(options->max_iterations >= 1);
    GLS_REQUIRE(!options->direction || (options->n_directions > 0 && !options->sphere));
    return GLS_OK;
}

/* Checks that the series fits the table, and that a mask (NULL: none) has one volume on the grid of the series. */
static gls_status check_images(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                               const gls_image *mask)
{
    gls_status status = gls_csd_check_series("CSD", dwi, gradients, volume);
    if (status || !mask) return status;
    if (mask->n_volumes != 1)
        return gls_fail(GLS_ERR_ARGUMENT, "CSD: the mask has %zu volumes instead of one", mask->n_volumes);
    return gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
}

/* Computes the rotational harmonics: for each degree the ratio of the response to a delta along z. By MRtrix3's rule
 * the response may have fewer degrees than the ODF: as many as its file has, or, for a response given as a tensor, as
 * many as the directions determine. */
static gls_status set_harmonics(const gls_response *response, const gls_gradients *gradients,
                                const gls_csd_options *options, double *harmonics)
{
    gls_response zonal;
    int order = options->sh_order;
    size_t n;
    if (options->rule == GLS_CSD_RULE_MRTRIX && response->is_zonal && response->order < order) order = response->order;
    if (options->rule == GLS_CSD_RULE_MRTRIX && !response->is_zonal) order = gls_csd_order_for(gradients, order, &n);
    gls_status status = gls_response_to_zonal(response, gradients, order, &zonal);
    if (!status && order < options->sh_order)
        gls_log(GLS_LOG_INFO, "CSD of order %d: the response has order %d, beyond it the constraint alone decides",
                options->sh_order, order);
    for (int l = 0; l <= options->sh_order && !status; l += 2)
        harmonics[l / 2] = l <= order ? zonal.zonal[l / 2] / sqrt((2 * l + 1) / (4 * M_PI)) : 0;
    return status;
}

/* Warns if the directions alone do not determine the coefficients of this order (super-resolved CSD). */
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

/* Makes the plan of a fit: harmonics of the response, directions of the constraint, matrices. The directions are those
 * of the options (a list or a sphere), or, without them, the set that DIPY or MRtrix3 uses. gls_csd_plan_finish() frees
 * the plan, which is empty after a failure. */
static gls_status make_plan(const gls_image *dwi, const gls_gradients *gradients, const gls_response *response,
                            const gls_csd_options *options, gls_csd_plan *plan)
{
    const bool mrtrix = options->rule == GLS_CSD_RULE_MRTRIX;
    double harmonics[GLS_CSD_MAX_ORDER / 2 + 1];
    gls_sphere *own = NULL, listed = {.n = 0};
    const gls_sphere *sphere = options->direction ? &listed : options->sphere;
    gls_status status = set_harmonics(response, gradients, options, harmonics);
    if (!status && options->direction)
        status = gls_msmt_directions(&dwi->grid, options->direction, options->n_directions, &listed.vertex, &listed.n);
    if (!status && !sphere) status = gls_sphere_create(mrtrix ? "repulsion600" : "small", &own);
    if (!status) status = gls_csd_plan_init(plan, gradients, harmonics, options, sphere ? sphere : own);
    if (!status && !mrtrix) warn_of_order(plan, options->sh_order);
    gls_sphere_destroy(own);
    free(listed.vertex);
    return status;
}

gls_status gls_csd_fit(const gls_image *dwi, const gls_gradients *gradients, const size_t *volume,
                       const gls_image *mask, const gls_response *response, const gls_csd_options *options,
                       gls_csd_progress progress, void *progress_user, gls_image **sh)
{
    GLS_REQUIRE_SIZE(options);
    const gls_csd_options defaults = gls_csd_options_default();
    GLS_REQUIRE(dwi && gradients && response && sh);
    GLS_REQUIRE_TABLE(gradients);
    if (!options) options = &defaults;
    gls_status status = gls_blas_check("CSD fit");
    if (!status) status = check_options(options);
    if (!status) status = check_images(dwi, gradients, volume, mask);
    if (status) return status;
    job job = {.voxels = gls_grid_voxels(&dwi->grid), .clip = options->rule == GLS_CSD_RULE_MRTRIX};
    gls_blocks blocks = {.what = "deconvolution",
                         .mask = mask,
                         .voxels = job.voxels,
                         .size = GLS_CSD_BLOCK,
                         .progress = progress,
                         .progress_user = progress_user,
                         .solve = solve_block,
                         .job = &job};
    job.total = gls_blocks_total(mask, job.voxels);
    job.kernel = gls_csd_kernels[gls_cpu_level()];
    status = make_plan(dwi, gradients, response, options, &job.plan);
    if (status) goto fail;
    job.volume = malloc(job.plan.n * sizeof *job.volume);
    if (!job.volume) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for a deconvolution of %zu volumes", job.plan.n);
        goto fail;
    }
    /* only weighted volumes are deconvolved: the response of the shell is in the units of the signal, so that no
     * division by the b0 signal is needed */
    for (size_t i = 0, n = 0; i < gradients->n; i++)
        if (!gradients->is_b0[i]) job.volume[n++] = dwi->data + (volume ? volume[i] : i) * job.voxels;
    status = gls_image_create(&dwi->grid, job.plan.k, &job.sh);
    blocks.scratch_bytes = workspace_bytes(&job.plan);
    if (!status) status = gls_blocks_run(&blocks);
    if (status) goto fail;
    report(&job);
    *sh = job.sh;
    job.sh = NULL;
fail:
    gls_image_destroy(job.sh);
    free(job.volume);
    gls_csd_plan_finish(&job.plan);
    return status;
}
