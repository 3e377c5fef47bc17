/* Tensor fits of a whole series: the WLS fit of DIPY, and the fit of MRtrix3's dwi2tensor, also of single voxels; FA,
 * eigenvalues and maps of tensors. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/tensor.h>

#include "dwi/tensor.h"
#include "dwi/tensor_plan.h"
#include "util/lapack.h"
#include "util/status.h"
#include "util/threads.h"

enum { P = 7, PASSES = 3 };
#define MIN_SHARE 1e-6 /* smaller signals are raised to this share of the largest signal of the voxel */

void gls_tensor_eigenvalues(const double d[6], double evals[3])
{
    double mean = (d[0] + d[2] + d[5]) / 3;
    double xx = d[0] - mean, yy = d[2] - mean, zz = d[5] - mean, xy = d[1], xz = d[3], yz = d[4];
    double p = sqrt((xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz)) / 6);
    if (!(p > 0)) {
        evals[0] = evals[1] = evals[2] = mean;
        return;
    }
    double det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    double angle = acos(fmax(-1, fmin(1, det / (2 * p * p * p)))) / 3;
    double c = cos(angle), s = sin(angle);
    evals[0] = mean + 2 * p * c;
    evals[1] = mean + p * (sqrt(3) * s - c);
    evals[2] = mean - p * (sqrt(3) * s + c);
}

double gls_tensor_fa(const double evals[3])
{
    double a = evals[0] - evals[1], b = evals[1] - evals[2], c = evals[2] - evals[0];
    double norm = evals[0] * evals[0] + evals[1] * evals[1] + evals[2] * evals[2];
    return norm > 0 ? fmin(1, sqrt(0.5 * (a * a + b * b + c * c) / norm)) : 0;
}

/* Fills the rows of the design matrix. Parameters: xx yy zz xy xz yz and the logarithm of S0. */
static void set_design(const gls_gradients *gradients, double (*design)[P])
{
    for (size_t i = 0; i < gradients->n; i++) {
        const double b = gradients->bval[i], *g = gradients->bvec[i];
        const double row[P] = {-b * g[0] * g[0],
                               -b * g[1] * g[1],
                               -b * g[2] * g[2],
                               -2 * b * g[0] * g[1],
                               -2 * b * g[0] * g[2],
                               -2 * b * g[1] * g[2],
                               1};
        memcpy(design[i], row, sizeof row);
    }
}

/* Fits the parameters once, by weighted least squares through the normal equations, whose diagonal is first scaled to
 * 1. Returns false if the volumes do not determine the parameters. */
static bool fit(const double (*design)[P], const double *log_signal, const double *weight, size_t n, double *parameter)
{
    double normal[P * P] = {0}, right[P] = {0}, scale[P];
    for (size_t i = 0; i < n; i++) {
        double w = weight[i] * weight[i];
        for (int a = 0; a < P; a++) {
            right[a] += w * design[i][a] * log_signal[i];
            for (int b = 0; b <= a; b++) normal[a * P + b] += w * design[i][a] * design[i][b];
        }
    }
    for (int a = 0; a < P; a++) scale[a] = 1 / sqrt(normal[a * P + a]);
    for (int a = 0; a < P; a++) {
        right[a] *= scale[a];
        for (int b = 0; b <= a; b++) normal[a * P + b] *= scale[a] * scale[b];
    }
    if (gls_lapack()->dposv(LAPACK_ROW_MAJOR, 'L', P, 1, normal, P, right, 1) != 0) return false;
    for (int a = 0; a < P; a++) parameter[a] = scale[a] * right[a];
    return true;
}

/* Finds the tensor xx yy zz xy xz yz and ln S0 of a voxel. passes: number of weighted fits; 0: one fit without weights.
 * work: 2 n numbers. Returns false if there is no signal, or a fit failed. */
static bool fit_voxel(const gls_image *dwi, const double (*design)[P], size_t n, size_t voxel, int passes, double *work,
                      double p[P])
{
    size_t voxels = gls_grid_voxels(&dwi->grid);
    double *log_signal = work, *weight = work + n, most = 0;
    for (size_t i = 0; i < n; i++) {
        /* not fmax(), which crashes gcc 12 for arm64 as a reduction */
        double value = dwi->data[i * voxels + voxel];
        if (value > most) most = value;
    }
    for (size_t i = 0; i < n; i++) {
        const double value = fmax(dwi->data[i * voxels + voxel], MIN_SHARE * most);
        log_signal[i] = log(value);
        weight[i] = passes > 0 ? value : 1;
    }
    if (!(most > 0) || !fit(design, log_signal, weight, n, p)) return false;
    for (int pass = 1; pass < passes; pass++) {
        for (size_t i = 0; i < n; i++) {
            double y = 0;
            for (int a = 0; a < P; a++) y += design[i][a] * p[a];
            weight[i] = exp(y);
        }
        if (!fit(design, log_signal, weight, n, p)) return false;
    }
    return true;
}

/* Computes FA and the principal eigenvector, a unit vector; 0 and the z axis if the fit failed (good = false). */
static void find_axis(const double p[P], bool good, float *fa, double axis[3])
{
    double evals[3], matrix[9] = {p[0], 0, 0, p[3], p[1], 0, p[4], p[5], p[2]};
    if (!good || gls_lapack()->dsyev(LAPACK_ROW_MAJOR, 'V', 'L', 3, matrix, 3, evals) != 0) {
        *fa = 0;
        axis[0] = axis[1] = 0;
        axis[2] = 1;
        return;
    }
    for (int a = 0; a < 3; a++) axis[a] = matrix[3 * a + 2];
    const double descending[3] = {evals[2], evals[1], evals[0]};
    *fa = (float)gls_tensor_fa(descending);
}

/* A fit of the n voxels listed in `voxel`. Results: fa and axis, n elements each, or the image `tensor`; a result that
 * is NULL is not wanted. passes: see fit_voxel(). */
typedef struct tensor_job {
    const gls_image *dwi;
    const gls_gradients *gradients;
    int passes;
    const size_t *voxel;
    size_t n;
    float *fa;
    double (*axis)[3];
    gls_image *tensor;
} tensor_job;

/* Fits voxel i of the list. Stores FA and the principal eigenvector, or the six elements in the order xx xy yy xz yz
 * zz. */
static void fit_and_store(const tensor_job *job, const double (*design)[P], size_t i, double *work)
{
    static const int order[6] = {0, 3, 1, 4, 5, 2};
    double p[P] = {0};
    const bool good = fit_voxel(job->dwi, design, job->gradients->n, job->voxel[i], job->passes, work, p);
    if (job->fa) find_axis(p, good, &job->fa[i], job->axis[i]);
    if (!job->tensor || !good) return;
    const size_t voxels = gls_grid_voxels(&job->tensor->grid);
    for (size_t k = 0; k < 6; k++) job->tensor->data[k * voxels + job->voxel[i]] = (float)p[order[k]];
}

/* Fits all voxels of the list, on all cores. */
static gls_status fit_voxels(const tensor_job *job)
{
    gls_status status = gls_blas_check("tensor fit");
    if (status) return status;
    const size_t n = job->gradients->n;
    double(*design)[P] = malloc(n * sizeof *design);
    if (!design) return gls_fail(GLS_ERR_MEMORY, "out of memory for tensors of %zu volumes", n);
    set_design(job->gradients, design);
    int failed = 0;
    gls_blas_begin();
#pragma omp parallel num_threads(gls_blas_team()) reduction(|| : failed)
    {
        double *work = malloc(2 * n * sizeof *work);
        failed = !work;
#pragma omp for schedule(dynamic, 256)
        for (long long i = 0; i < (long long)job->n; i++)
            if (work) fit_and_store(job, (const double(*)[P])design, (size_t)i, work);
        free(work);
    }
    gls_blas_end();
    free(design);
    return failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for tensors of %zu volumes", n) : GLS_OK;
}

gls_status gls_tensor_axes(const gls_image *dwi, const gls_gradients *gradients, const size_t *voxel, size_t n,
                           float *fa, double (*axis)[3])
{
    return fit_voxels(&(tensor_job){dwi, gradients, PASSES, voxel, n, fa, axis, NULL});
}

/* Fits the voxels of the mask (NULL: all), with weights as in gls_tensor_axes() or without. tensor: six volumes Dxx Dxy
 * Dyy Dxz Dyz Dzz; voxels that cannot be fitted stay as they are. */
static gls_status fit_tensors(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                              bool weighted, gls_image *tensor)
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    size_t n = 0, *voxel = malloc((voxels + 1) * sizeof *voxel);
    if (!voxel) return gls_fail(GLS_ERR_MEMORY, "out of memory for tensors of %zu voxels", voxels);
    for (size_t v = 0; v < voxels; v++)
        if (!mask || mask->data[v] > 0) voxel[n++] = v;
    gls_status status = fit_voxels(&(tensor_job){dwi, gradients, weighted ? PASSES : 0, voxel, n, NULL, NULL, tensor});
    free(voxel);
    return status;
}

/* --- Maps. */

/* Computes MD, AD, RD (mm2/s), the eigenvectors in the order of falling eigenvalues, and a colour: FA times the
 * absolute values of the principal eigenvector. Voxels without a tensor stay 0. */
static void map_voxel(const gls_image *tensor, const gls_image *evals, size_t v, gls_image *const *maps)
{
    const size_t n = gls_grid_voxels(&tensor->grid);
    const float *d = tensor->data + v;
    const double value[3] = {evals->data[v], evals->data[n + v], evals->data[2 * n + v]};
    double matrix[9] = {d[0], 0, 0, d[n], d[2 * n], 0, d[3 * n], d[4 * n], d[5 * n]}, ascending[3];
    if ((value[0] == 0 && value[1] == 0 && value[2] == 0) ||
        gls_lapack()->dsyev(LAPACK_ROW_MAJOR, 'V', 'L', 3, matrix, 3, ascending) != 0)
        return;
    maps[GLS_TENSOR_MD]->data[v] = (float)((value[0] + value[1] + value[2]) / 3);
    maps[GLS_TENSOR_AD]->data[v] = (float)value[0];
    maps[GLS_TENSOR_RD]->data[v] = (float)((value[1] + value[2]) / 2);
    const double fa = gls_tensor_fa(value);
    for (size_t a = 0; a < 3; a++) {
        maps[GLS_TENSOR_RGB]->data[a * n + v] = (float)(fabs(matrix[3 * a + 2]) * fa);
        for (size_t k = 0; k < 3; k++) maps[GLS_TENSOR_V1 + k]->data[a * n + v] = (float)matrix[3 * a + 2 - k];
    }
}

gls_status gls_tensor_maps(const gls_image *tensor, const gls_image *evals, const gls_image *mask,
                           gls_image *maps[GLS_TENSOR_N_MAPS])
{
    GLS_REQUIRE(tensor && evals && maps && tensor->n_volumes == 6 && evals->n_volumes == 3);
    for (int i = 0; i < GLS_TENSOR_N_MAPS; i++) maps[i] = NULL;
    gls_status status = gls_blas_check("tensor fit");
    if (!status) status = gls_grid_require_equal(&tensor->grid, "tensor", &evals->grid, "eigenvalues");
    if (!status && mask) status = gls_grid_require_equal(&tensor->grid, "tensor", &mask->grid, "mask");
    for (int i = 0; i < GLS_TENSOR_N_MAPS && !status; i++)
        status = gls_image_create(&tensor->grid, i < GLS_TENSOR_RGB ? 1 : 3, &maps[i]);
    if (!status) {
        gls_blas_begin();
#pragma omp parallel for num_threads(gls_blas_team()) schedule(dynamic, 1024)
        for (long long v = 0; v < (long long)gls_grid_voxels(&tensor->grid); v++)
            if (!mask || mask->data[v] > 0) map_voxel(tensor, evals, (size_t)v, maps);
        gls_blas_end();
    }
    for (int i = 0; i < GLS_TENSOR_N_MAPS && status; i++) {
        gls_image_destroy(maps[i]);
        maps[i] = NULL;
    }
    return status;
}

/* --- The WLS fit of DIPY. */

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
    gls_tensor_kernel kernel; /* kernel for the instruction set of this CPU */
    const gls_image *dwi;
    const gls_image *mask;
    size_t voxels;              /* number of voxels of the grid */
    float *fa, *tensor, *evals; /* each may be NULL */
} job;

/* Memory of one thread; its arrays share one allocation. */
typedef struct workspace {
    float *signal;   /* n x BLOCK */
    double *scratch; /* 2 n GLS_TENSOR_LANES; also enough for the fit by SVD */
    gls_tensor_solution solution;
    uint32_t offset[CHUNK + BLOCK]; /* voxels of the mask in a chunk, counted from the first voxel of the chunk */
    size_t n_svd;                   /* number of voxels that were fitted by SVD */
} workspace;

/* Bytes of a workspace with its arrays, for n volumes. */
static size_t workspace_bytes(size_t n)
{
    return sizeof(workspace) + n * BLOCK * sizeof(float) + (2 * n * GLS_TENSOR_LANES + 64) * sizeof(double);
}

/* Gathers the signal of `count` voxels at first + offset[]: a row of BLOCK values for each volume. The row is filled up
 * to a multiple of GLS_TENSOR_LANES with the last voxel. */
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

/* Stores the results of one voxel from lane `lane` of the solution, with the parameters unscaled. Where the normal
 * equations were badly conditioned, fits again by SVD; if that fails, takes the unweighted fit. FA and eigenvalues are
 * stored after eigenvalues below the smallest allowed one are raised to it, as in DIPY; the tensor is stored as it was
 * fitted. */
static void store(const job *job, workspace *work, const float *signal, size_t lane, size_t voxel)
{
    enum { P = GLS_TENSOR_PARAMETERS };
    double beta[P], evals[3];
    for (int p = 0; p < P; p++) beta[p] = work->solution.wls[p][lane];
    if (work->solution.trusted[lane] == 0) {
        double ols[P];
        for (int p = 0; p < P; p++) ols[p] = work->solution.ols[p][lane];
        if (gls_tensor_fit_svd(&job->plan, signal + lane, BLOCK, ols, work->scratch, beta))
            work->n_svd++;
        else
            memcpy(beta, ols, sizeof beta);
    }
    for (int p = 0; p < 6; p++) beta[p] /= job->plan.scale[p];
    gls_tensor_eigenvalues(beta, evals);
    for (int e = 0; e < 3; e++) evals[e] = evals[e] > job->plan.min_eigenvalue ? evals[e] : job->plan.min_eigenvalue;
    if (job->fa) job->fa[voxel] = (float)gls_tensor_fa(evals);
    for (size_t p = 0; job->tensor && p < 6; p++) job->tensor[p * job->voxels + voxel] = (float)beta[p];
    for (size_t e = 0; job->evals && e < 3; e++) job->evals[e * job->voxels + voxel] = (float)evals[e];
}

/* Fits the voxels of the mask in [first, end): gathers BLOCK voxels at a time, and fits GLS_TENSOR_LANES of the
 * gathered voxels at once. */
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

/* Fits by the methods of dwi2tensor: tensors, then FA and eigenvalues of the tensors. images: FA, tensor, eigenvalues;
 * NULL where not wanted. */
static gls_status fit_mrtrix(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask, bool weighted,
                             gls_image *const images[3])
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    gls_image *own = NULL, *tensor = images[1];
    gls_status status = tensor ? GLS_OK : gls_image_create(&dwi->grid, 6, &own);
    if (!tensor) tensor = own;
    if (!status) status = fit_tensors(dwi, gradients, mask, weighted, tensor);
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

/* Checks that series, table and mask (NULL: none) belong together. GLS_ERR_ARGUMENT: the numbers of volumes do not fit.
 * For a mask on another grid returns the error of gls_grid_require_equal(). */
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
