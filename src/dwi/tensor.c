/* Least-squares fit of the diffusion tensor to a whole series: here the WLS fit of DIPY; the others are in
 * tensor_axes.c. */
#include <glslines/tensor.h>

#include "dwi/tensor_plan.h"
#include "util/status.h"
#include "util/threads.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 256, /* number of voxels gathered together: long runs in memory that fit into the L2 cache */
    CHUNK = 4096 /* number of voxels that a thread takes at a time */
};

gls_tensor_options gls_tensor_options_default(void)
{
    return (gls_tensor_options){.size = sizeof(gls_tensor_options), .min_signal = 1e-4};
}

/* Data shared by all threads. */
typedef struct job {
    gls_tensor_plan plan;
    gls_tensor_kernel kernel; /* for the instruction set of this CPU */
    const gls_image *dwi;
    const gls_image *mask;
    size_t voxels;              /* of the grid */
    float *fa, *tensor, *evals; /* each may be NULL */
} job;

/* Memory of one thread, cut from one allocation. */
typedef struct workspace {
    float *signal;   /* n x BLOCK */
    double *scratch; /* 2 n GLS_TENSOR_LANES; also enough for the fit by SVD */
    gls_tensor_solution solution;
    uint32_t offset[CHUNK + BLOCK]; /* voxels of the mask in a chunk, counted from its first */
    size_t n_svd;                   /* voxels that were fitted by SVD */
} workspace;

/* Bytes of a workspace with its arrays, for n volumes. */
static size_t workspace_bytes(size_t n)
{
    return sizeof(workspace) + n * BLOCK * sizeof(float) + (2 * n * GLS_TENSOR_LANES + 64) * sizeof(double);
}

/* Gathers the signal of `count` voxels at first + offset[]: rows of BLOCK values for each volume. Lanes up to a
 * multiple of GLS_TENSOR_LANES repeat the last voxel. */
static void gather(const job *job, size_t first, uint32_t *offset, size_t count, float *signal)
{
    size_t padded = (count + GLS_TENSOR_LANES - 1) / GLS_TENSOR_LANES * GLS_TENSOR_LANES;
    bool contiguous = offset[count - 1] - offset[0] == count - 1;
    for (size_t i = 0; i < job->plan.n; i++) {
        const float *from = job->dwi->data + i * job->voxels + first;
        float *to = signal + i * BLOCK;
        if (contiguous)
            memcpy(to, from + offset[0], count * sizeof *to);
        else
            for (size_t v = 0; v < count; v++) to[v] = from[offset[v]];
        for (size_t v = count; v < padded; v++) to[v] = to[count - 1];
    }
}

/* Stores the results of one voxel from lane `lane` of the solution: unscales the parameters, refits by SVD where the
 * normal equations were badly conditioned, raises eigenvalues to the smallest allowed one, as DIPY does. */
static void store(const job *job, workspace *work, const float *signal, size_t lane, size_t voxel)
{
    enum { P = GLS_TENSOR_PARAMETERS };
    double beta[P], evals[3];
    for (int p = 0; p < P; p++) beta[p] = work->solution.wls[p][lane];
    if (work->solution.trusted[lane] == 0) {
        double ols[P];
        for (int p = 0; p < P; p++) ols[p] = work->solution.ols[p][lane];
        if (!gls_tensor_fit_svd(&job->plan, signal + lane, BLOCK, ols, work->scratch, beta))
            memcpy(beta, ols, sizeof beta);
        work->n_svd++;
    }
    for (int p = 0; p < 6; p++) beta[p] /= job->plan.scale[p];
    gls_tensor_eigenvalues(beta, evals);
    for (int e = 0; e < 3; e++) evals[e] = evals[e] > job->plan.min_eigenvalue ? evals[e] : job->plan.min_eigenvalue;
    if (job->fa) job->fa[voxel] = (float)gls_tensor_fa(evals);
    for (size_t p = 0; job->tensor && p < 6; p++) job->tensor[p * job->voxels + voxel] = (float)beta[p];
    for (size_t e = 0; job->evals && e < 3; e++) job->evals[e * job->voxels + voxel] = (float)evals[e];
}

/* Fits the voxels of the mask in [first, end): gathers BLOCK voxels at a time, and fits GLS_TENSOR_LANES of these at
 * once. */
static void fit_chunk(const job *job, size_t first, size_t end, workspace *work)
{
    size_t count = 0;
    for (size_t v = first; v < end; v++)
        if (!job->mask || job->mask->data[v] > 0) work->offset[count++] = (uint32_t)(v - first);
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        size_t n = count - begin < BLOCK ? count - begin : BLOCK;
        gather(job, first, work->offset + begin, n, work->signal);
        for (size_t lane0 = 0; lane0 < n; lane0 += GLS_TENSOR_LANES) {
            job->kernel(&job->plan, work->signal + lane0, BLOCK, work->scratch, &work->solution);
            size_t lanes = n - lane0 < GLS_TENSOR_LANES ? n - lane0 : GLS_TENSOR_LANES;
            for (size_t lane = 0; lane < lanes; lane++)
                store(job, work, work->signal + lane0, lane, first + work->offset[begin + lane0 + lane]);
        }
    }
}

/* Fits all voxels, in chunks that threads take in turn; each thread has a page-aligned workspace of its own. */
static gls_status fit_all(job *job)
{
    size_t n_threads = (size_t)gls_blas_team(), bytes = (workspace_bytes(job->plan.n) + 4095) / 4096 * 4096, n_svd = 0;
    char *memory = aligned_alloc(4096, n_threads * bytes);
    if (!memory)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for the tensor fit of %zu volumes on %zu threads", job->plan.n,
                        n_threads);
    long long n_chunks = (long long)((job->voxels + CHUNK - 1) / CHUNK);
#pragma omp parallel num_threads((int)n_threads) reduction(+ : n_svd)
    {
        workspace *work = (workspace *)(memory + (size_t)omp_get_thread_num() * bytes);
        char *tail = (char *)work + (sizeof *work + 63) / 64 * 64;
        work->signal = (float *)tail;
        work->scratch = (double *)(tail + job->plan.n * BLOCK * sizeof(float));
        work->n_svd = 0;
#pragma omp for schedule(dynamic)
        for (long long chunk = 0; chunk < n_chunks; chunk++) {
            size_t first = (size_t)chunk * CHUNK, end = first + CHUNK < job->voxels ? first + CHUNK : job->voxels;
            fit_chunk(job, first, end, work);
        }
        n_svd += work->n_svd;
    }
    free(memory);
    if (n_svd)
        gls_log(GLS_LOG_DEBUG, "tensor: %zu voxels with ill-conditioned weights were fitted by singular values", n_svd);
    return GLS_OK;
}

/* Fits by the methods of dwi2tensor: tensors, then FA and eigenvalues from these. images: FA, tensor, eigenvalues; NULL
 * where not wanted. */
static gls_status fit_mrtrix(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask, bool weighted,
                             gls_image *const images[3])
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    gls_image *own = NULL, *tensor = images[1];
    gls_status status = tensor ? GLS_OK : gls_image_create(&dwi->grid, 6, &own);
    if (!tensor) tensor = own;
    if (!status) status = gls_tensor_fit_mrtrix(dwi, gradients, mask, weighted, tensor);
    for (size_t v = 0; v < voxels && !status; v++) {
        double d[6], evals[3];
        for (size_t p = 0; p < 6; p++) d[p] = (double)tensor->data[p * voxels + v];
        gls_tensor_eigenvalues(d, evals);
        if (images[0]) images[0]->data[v] = (float)gls_tensor_fa(evals);
        for (size_t e = 0; images[2] && e < 3; e++) images[2]->data[e * voxels + v] = (float)evals[e];
    }
    gls_image_destroy(own);
    return status;
}

/* Checks that series, table and mask (NULL: none) belong together. GLS_ERR_ARGUMENT or the status of the grids
 * otherwise. */
static gls_status check_input(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask)
{
    if (dwi->n_volumes != gradients->n)
        return gls_fail(GLS_ERR_ARGUMENT, "tensor fit: the series has %zu volumes, the gradient table %zu",
                        dwi->n_volumes, gradients->n);
    if (!mask) return GLS_OK;
    if (mask->n_volumes != 1)
        return gls_fail(GLS_ERR_ARGUMENT, "tensor fit: the mask has %zu volumes instead of one", mask->n_volumes);
    return gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
}

gls_status gls_tensor_fit(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                          const gls_tensor_options *options, gls_image **fa, gls_image **tensor, gls_image **evals)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(dwi && gradients);
    GLS_REQUIRE_TABLE(gradients);
    const gls_tensor_options defaults = gls_tensor_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(isfinite(options->min_signal) && options->min_signal > 0 && options->method <= GLS_TENSOR_OLS);
    gls_status ready = gls_blas_check("tensor fit");
    if (ready != GLS_OK) return ready;
    gls_status status = check_input(dwi, gradients, mask);
    if (status) return status;
    job job = {
        .kernel = gls_tensor_kernels[gls_cpu_level()], .dwi = dwi, .mask = mask, .voxels = gls_grid_voxels(&dwi->grid)};
    gls_image *images[3] = {NULL, NULL, NULL}, **outputs[3] = {fa, tensor, evals};
    const size_t volumes[3] = {1, 6, 3};
    gls_blas_begin();
    status = gls_tensor_plan_init(&job.plan, gradients, options->min_signal);
    for (int i = 0; i < 3 && !status; i++)
        if (outputs[i]) status = gls_image_create(&dwi->grid, volumes[i], &images[i]);
    if (!status && options->method != GLS_TENSOR_DIPY) {
        status = fit_mrtrix(dwi, gradients, mask, options->method == GLS_TENSOR_MRTRIX, images);
    } else if (!status) {
        job.fa = fa ? images[0]->data : NULL;
        job.tensor = tensor ? images[1]->data : NULL;
        job.evals = evals ? images[2]->data : NULL;
        status = fit_all(&job);
    }
    gls_blas_end();
    gls_tensor_plan_finish(&job.plan);
    /* hands the images to the caller, or destroys them after a failure */
    for (int i = 0; i < 3; i++) {
        if (!status && outputs[i])
            *outputs[i] = images[i];
        else
            gls_image_destroy(images[i]);
    }
    return status;
}
