/* Constrained spherical deconvolution of one shell, for a whole series (Tournier et al. 2007). */
#include <glslines/csd.h>

#include <glslines/sh.h>

#include "dwi/csd.h"
#include "dwi/blocks.h"
#include "dwi/csd_directions.h"
#include "dwi/csd_kernel.h"
#include "dwi/csd_plan.h"
#include "dwi/csd_shell.h"
#include "dwi/qball.h"
#include "util/allocation.h"
#include "util/lapack.h"
#include "util/status.h"
#include "util/threads.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define LOW_ORDER \
    4 /* the first choice of negative directions uses SH orders up to this one, as the authors of the method do */
#define REFERENCE_ROWS 362.0 /* number of directions of the sphere for which the authors of the method chose lambda */
#define RIDGE 1e-5           /* smallest ridge that is added to a normal matrix that is not positive definite */
/* MRtrix3's weight of the constraint; multiplied by the response's mean, divided by the number of directions. */
#define MRTRIX_WEIGHT 50.0
#define MRTRIX_RIDGE 2e-4 /* MRtrix3's ridge, relative to the first diagonal entry of the normal matrix */
#define MIN_RECIPROCAL_CONDITION \
    (2 * DBL_EPSILON) /* a matrix with a smaller reciprocal condition number counts as singular */

gls_csd_options gls_csd_options_default(void)
{
    return (gls_csd_options){
        .size = sizeof(gls_csd_options), .sh_order = 8, .lambda = 1, .tau = 0.1, .max_iterations = 50};
}

/* --- The plan: data that all voxels of a deconvolution share. */

void gls_csd_plan_finish(gls_csd_plan *plan)
{
    free(plan->start);
    free(plan->rows);
    free(plan->normal);
    free(plan->full);
    plan->start = plan->rows = plan->normal = plan->full = NULL;
}

/* Computes X, n x k: the basis at the weighted gradient directions, with columns scaled by the rotational harmonics. */
static gls_status set_responses(const gls_gradients *gradients, int order, const double *harmonics, double *x)
{
    size_t k = gls_sh_count(order), n = 0;
    for (size_t i = 0; i < gradients->n; i++) {
        if (gradients->is_b0[i]) continue;
        double *row = x + n++ * k;
        gls_status status =
            gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])gradients->bvec[i], 1, row);
        if (status) return status;
        for (size_t j = 0; j < k; j++) row[j] *= harmonics[gls_sh_degree(j) / 2];
    }
    return GLS_OK;
}

/* Adds b'b to the lower half of the k x k matrix a, row by row of b, so that the order of additions is fixed. Rows of b
 * are `step` values apart. */
static void add_products(const double *b, size_t rows, size_t step, size_t k, double *a)
{
    for (size_t r = 0; r < rows; r++, b += step)
        for (size_t i = 0; i < k; i++)
            for (size_t j = 0; j <= i; j++) a[i * k + j] += b[i] * b[j];
}

/* Copies the lower triangle of a k x k matrix into square tiles of GLS_CSD_TILE a side, the layout that csd_lanes.h
 * works on. */
static void copy_tiles(const double *a, size_t k, double *tiles)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            size_t bi = i / GLS_CSD_TILE, bj = j / GLS_CSD_TILE;
            tiles[64 * (bi * (bi + 1) / 2 + bj) + GLS_CSD_TILE * (i % GLS_CSD_TILE) + j % GLS_CSD_TILE] = a[i * k + j];
        }
}

/* Computes the Cholesky factor l of the k x k matrix a, of which the lower half is read. Returns false if a is not
 * positive definite within rounding. */
static bool factor(const double *a, size_t k, double *l)
{
    double norm = 0, condition = 0;
    lapack_int n = (lapack_int)k;
    memcpy(l, a, k * k * sizeof *l);
    for (size_t i = 0; i < k; i++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) sum += fabs(i >= j ? a[i * k + j] : a[j * k + i]);
        norm = fmax(norm, sum);
    }
    if (gls_lapack()->dpotrf(LAPACK_ROW_MAJOR, 'L', n, l, n) != 0) return false;
    if (gls_lapack()->dpocon(LAPACK_ROW_MAJOR, 'L', n, l, n, norm, &condition) != 0) return false;
    return condition > MIN_RECIPROCAL_CONDITION;
}

/* inverse (k x n) = (X'X + mu)^-1 X': by QR with mu = 0 if X determines all coefficients, otherwise with the first mu
 * of RIDGE, 10 RIDGE, ... that makes X'X + mu positive definite. p: X'X, to which mu is added. */
static gls_status set_inverse(const double *x, size_t n, size_t k, double *p, double *inverse, bool *regularised)
{
    gls_status status = GLS_ERR_MEMORY;
    double *l = malloc(k * k * sizeof *l), *no_penalty = calloc(k, sizeof *no_penalty), largest = 0;
    if (!l || !no_penalty) {
        gls_error_set("out of memory for %zu coefficients", k);
        goto fail;
    }
    *regularised = n < k || !factor(p, k, l);
    if (!*regularised) {
        status = gls_ridge_inverse(x, n, k, no_penalty, inverse, NULL);
        goto fail;
    }
    for (size_t i = 0; i < k; i++) largest = fmax(largest, p[i * k + i]);
    /* tries ridges of RIDGE, 10 RIDGE, ...; `added`: the ridge that the diagonal of p has so far */
    double mu = RIDGE, added = 0;
    for (; mu < largest; mu *= 10) {
        for (size_t i = 0; i < k; i++) p[i * k + i] += mu - added;
        added = mu;
        if (factor(p, k, l)) break;
    }
    if (!(mu < largest)) {
        status = gls_fail(GLS_ERR_INPUT, "CSD: the response is too small or too flat to be inverted: estimate it from "
                                         "the series, or give another response");
        goto fail;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) inverse[j * n + i] = x[i * k + j];
    status = gls_lapack()->dpotrs(LAPACK_ROW_MAJOR, 'L', (lapack_int)k, (lapack_int)n, l, (lapack_int)k, inverse,
                                  (lapack_int)n) == 0
                 ? GLS_OK
                 : gls_fail(GLS_ERR_MEMORY, "CSD: solving for %zu coefficients failed", k);
fail:
    free(l);
    free(no_penalty);
    return status;
}

/* The first solution of MRtrix3 as a matrix, inverse (k x n): a least-squares fit up to the highest order that the
 * directions and the response determine, cut after order 4. Adds the ridge to p. */
static gls_status set_mrtrix_inverse(const double *x, size_t n, size_t k, size_t n_low, const double *harmonics,
                                     double *p, double *inverse)
{
    /* find the highest order that directions and response determine */
    int order = 0;
    while (gls_sh_count(order + 2) <= n && gls_sh_count(order + 2) <= k && harmonics[order / 2 + 1] != 0) order += 2;
    size_t fitted = gls_sh_count(order), kept = fitted < n_low ? fitted : n_low;
    double *part = malloc(n * fitted * sizeof *part), *no_penalty = calloc(fitted, sizeof *no_penalty);
    gls_status status = GLS_OK;
    if (!part || !no_penalty) status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu coefficients", k);
    for (size_t i = 0; i < n && !status; i++) memcpy(part + i * fitted, x + i * k, fitted * sizeof *part);
    if (!status) status = gls_ridge_inverse(part, n, fitted, no_penalty, inverse, NULL);
    if (!status) memset(inverse + kept * n, 0, (k - kept) * n * sizeof *inverse);
    /* MRtrix3 adds the ridge to the normal matrix of the iterations, not to the normal matrix of the first solution */
    double ridge = MRTRIX_RIDGE * p[0];
    for (size_t i = 0; i < k; i++) p[i * k + i] += ridge;
    free(part);
    free(no_penalty);
    return status;
}

/* Computes plan->rows: `scale` times the matrix that takes coefficients to amplitudes at the vertices of the sphere. */
static gls_status set_rows(gls_csd_plan *plan, const gls_sphere *sphere, int order, double scale)
{
    for (size_t r = 0; r < sphere->n; r++) {
        double *row = plan->rows + r * plan->padded;
        gls_status status =
            gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])sphere->vertex[r], 1, row);
        if (status) return status;
        for (size_t j = 0; j < plan->k; j++) row[j] *= scale;
    }
    return GLS_OK;
}

gls_status gls_csd_plan_init(gls_csd_plan *plan, const gls_gradients *gradients, const double *harmonics,
                             const gls_csd_options *options, const gls_sphere *sphere)
{
    bool mrtrix = options->rule == GLS_CSD_RULE_MRTRIX;
    size_t n = gradients->n - gradients->n_b0, k = gls_sh_count(options->sh_order),
           padded = (k + GLS_CSD_TILE - 1) / GLS_CSD_TILE * GLS_CSD_TILE;
    size_t n_low = gls_sh_count(options->sh_order < LOW_ORDER ? options->sh_order : LOW_ORDER),
           n_tiled = 64 * gls_csd_tiles(padded);
    *plan = (gls_csd_plan){.n = n,
                           .k = k,
                           .padded = padded,
                           .n_rows = sphere->n,
                           .n_low = n_low,
                           .solve_all = mrtrix,
                           .max_iterations = options->max_iterations};
    gls_status status = GLS_ERR_MEMORY;
    double *x = malloc(n * k * sizeof *x), *inverse = malloc(n * k * sizeof *inverse), *p = calloc(k * k, sizeof *p);
    plan->start = gls_aligned_zeros(n * 2 * padded);
    plan->rows = gls_aligned_zeros((sphere->n + GLS_CSD_TILE - 1) * padded);
    plan->normal = gls_aligned_zeros(n_tiled);
    plan->full = gls_aligned_zeros(n_tiled);
    if (!x || !inverse || !p || !plan->start || !plan->rows || !plan->normal || !plan->full) {
        gls_error_set("out of memory for a deconvolution of %zu volumes with %zu coefficients", n, k);
        goto fail;
    }
    status = set_responses(gradients, options->sh_order, harmonics, x);
    if (status) goto fail;
    /* p = X'X; the function called next adds the ridge to p */
    add_products(x, n, k, k, p);
    gls_blas_begin();
    status = mrtrix ? set_mrtrix_inverse(x, n, k, n_low, harmonics, p, inverse)
                    : set_inverse(x, n, k, p, inverse, &plan->regularised);
    gls_blas_end();
    if (status) goto fail;
    /* start[] has for each volume its row of X, then its column of the inverse: one pass over the signal of a voxel
     * sums up the right-hand side from the rows, and the first solution from the columns */
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++) {
            plan->start[i * 2 * padded + j] = x[i * k + j];
            plan->start[i * 2 * padded + padded + j] = inverse[j * n + i];
        }
    copy_tiles(p, k, plan->normal);
    /* lambda is scaled by the mean of the response and by the number of directions, and by DIPY's rule by the number of
     * coefficients */
    double scale =
        options->lambda * (mrtrix ? MRTRIX_WEIGHT * harmonics[0] * sqrt(0.25 / M_PI) / (double)sphere->n
                                  : (double)k * harmonics[0] / (sqrt((double)sphere->n) * sqrt(REFERENCE_ROWS)));
    status = set_rows(plan, sphere, options->sh_order, scale);
    if (status) goto fail;
    /* DIPY's threshold is tau times the mean amplitude; MRtrix3's is 0. rows[0] is Y_00 times the scale of B. */
    plan->threshold = mrtrix ? 0 : plan->rows[0] * options->tau;
    /* full: the normal matrix with all directions constrained. A voxel in which most directions are constrained begins
     * with `full` and removes the unconstrained ones; other voxels begin with `normal` and add the constrained ones. */
    add_products(plan->rows, sphere->n, padded, k, p);
    copy_tiles(p, k, plan->full);
fail:
    free(x);
    free(inverse);
    free(p);
    if (status) gls_csd_plan_finish(plan);
    return status;
}

/* --- The fit of a series. */

/* Data shared by all threads. */
typedef struct job {
    gls_csd_plan plan;
    gls_csd_kernel kernel; /* function for the instruction set of this CPU */
    const float **volume;  /* the weighted volumes */
    size_t voxels, total;  /* voxels: number of voxels of the grid; total: number of voxels to deconvolve */
    bool clip;             /* true: negative signals are set to 0 */
    gls_image *sh;         /* result: plan.k volumes; threads write different voxels */
    /* n_unconverged: number of voxels that did not converge; n_broken: number of voxels with a value that is not
     * finite */
    atomic_size_t n_unconverged, n_broken;
} job;

/* Rounds up to a multiple of 64 bytes, a cache line: each part of a thread's memory begins at such a multiple. */
static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Bytes of the coefficients of a block. */
static size_t coefficients_bytes(const gls_csd_plan *plan)
{
    return round_up(plan->k * GLS_CSD_BLOCK * sizeof(double));
}

/* Bytes of memory that a thread needs: scratch memory of the kernel, coefficients, signals. */
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

/* Logs how many voxels did not converge, and warns if voxels have a signal that is not finite. */
static void report(const job *job)
{
    size_t n_unconverged = atomic_load(&job->n_unconverged), n_broken = atomic_load(&job->n_broken);
    if (n_unconverged)
        gls_log(GLS_LOG_INFO,
                "CSD: %zu of %zu voxels did not converge within %d iterations and keep their last solution",
                n_unconverged, job->total, job->plan.max_iterations);
    if (n_broken)
        gls_log(GLS_LOG_WARNING,
                "CSD: %zu of %zu voxels have a signal that is NaN or infinite and get no ODF: leave them out of the "
                "mask, or give a series without such values",
                n_broken, job->total);
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
 * the response may have fewer degrees than the ODF: as many as the file of the response has, or, for a response given
 * as a tensor, as many as the directions determine. */
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
        gls_log(GLS_LOG_INFO,
                "CSD of order %d: the response has order %d; the constraint alone decides the coefficients of higher "
                "orders",
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
                "CSD: order %d has %zu coefficients, but the %zu directions determine only coefficients up to order "
                "%d; the constraint alone supplies the rest",
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
