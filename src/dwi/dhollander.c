/* Responses of white matter, grey matter and CSF from all shells: the steps of dwi2response dhollander of MRtrix3
 * (Dhollander et al. 2016, 2019). Single precision and the order of thresholds decide which voxels are taken, so both
 * follow MRtrix3. */
#include <glslines/responses.h>
#include <glslines/sh.h>
#include <glslines/sphere.h>

#include "dwi/dhollander.h"
#include "dwi/amp2response.h"
#include "dwi/csd_directions.h"
#include "dwi/mask.h"
#include "dwi/msmt_plan.h"
#include "dwi/nonneg.h"
#include "dwi/nonneg_kernel.h"
#include "dwi/optimal_threshold.h"
#include "dwi/peaks.h"
#include "dwi/response_parts.h"
#include "dwi/tensor.h"
#include "image/morphology.h"
#include "util/clock.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SDM 10.0 /* largest signal decay metric; larger values are lowered to it */
#define RESPONSES_HINT \
    "take responses of other series by --response-wm, --response-gm and --response-csf, or --model csd (track, fit)"
#define MAD_FACTOR 1.4826 /* ratio of standard deviation and median absolute deviation of a normal distribution */

/* --- Scores of voxels: how much they look like a single bundle of white matter. The sharper and stronger the largest
 * peak of the ODF, the higher the score. */

enum { SHARP_ORDER = 6, MAX_COUNT = 28 }; /* MAX_COUNT: number of coefficients of order SHARP_ORDER */

/* Makes the response of highest contrast, scaled to the median of the mean signals of the n voxels: zonal coefficients
 * of one magnitude and alternating sign for weighted shells, only a mean at b = 0. The caller destroys *response. */
static gls_status sharp_response(const gls_image *dwi, const gls_gradients *gradients, const size_t *voxel, size_t n,
                                 const gls_tissue_response *csf, gls_tissue_response **response)
{
    size_t voxels = gls_grid_voxels(&dwi->grid);
    double *mean = calloc(n, sizeof *mean);
    if (!mean) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu voxels", n);
    for (size_t i = 0; i < n; i++) {
        for (size_t t = 0; t < dwi->n_volumes; t++) mean[i] += dwi->data[t * voxels + voxel[i]];
        mean[i] /= (double)dwi->n_volumes;
    }
    double c = sqrt(4 * M_PI) * gls_median(mean, n);
    free(mean);
    gls_status status = gls_tissue_response_create(csf->n_shells, SHARP_ORDER, response);
    for (size_t s = 0; s < csf->n_shells && !status; s++)
        for (size_t l = 0; l <= SHARP_ORDER / 2; l++)
            (*response)->zonal[s * (SHARP_ORDER / 2 + 1) + l] = l == 0                          ? c
                                                                : s == 0 && gradients->n_b0 > 0 ? 0
                                                                : l % 2                         ? -c
                                                                                                : c;
    return status;
}

/* Returns the largest amplitude of an SH function: over the vertices of the sphere, and at the peak that is uphill from
 * the best vertex. matrix: a row of SH basis functions for each vertex. */
static double largest(int order, const double *sh, const gls_sphere *sphere, const double *matrix)
{
    size_t k = gls_sh_count(order), best = 0;
    double most = -INFINITY;
    for (size_t v = 0; v < sphere->n; v++) {
        double sum = 0;
        for (size_t j = 0; j < k; j++) sum += matrix[v * k + j] * sh[j];
        if (sum > most) best = v;
        most = fmax(most, sum);
    }
    double u[3] = {sphere->vertex[best][0], sphere->vertex[best][1], sphere->vertex[best][2]};
    return fmax(most, gls_peak_climb(order, sh, u));
}

/* Fits white matter and CSF to the n listed voxels, in blocks that threads share, and scores them: the largest
 * amplitude of white matter, divided by the sum of the first coefficients of white matter and CSF. */
static gls_status score_all(const gls_image *dwi, const gls_msmt_plan *plan, const size_t *voxel, size_t n,
                            const gls_sphere *sphere, const gls_monitor *monitor, double *score)
{
    const gls_nonneg_plan *fit = &plan->fit;
    size_t voxels = gls_grid_voxels(&dwi->grid), k = gls_sh_count(plan->order[0]);
    int order = plan->order[0], failed = 0;
    atomic_size_t done = 0;
    atomic_bool stopped = false;
    gls_nonneg_kernel kernel = gls_nonneg_kernels[gls_cpu_level()];
    double *matrix = malloc(sphere->n * k * sizeof *matrix);
    if (!matrix) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", sphere->n);
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])sphere->vertex, sphere->n, matrix);
    size_t scratch_bytes = (gls_nonneg_scratch_bytes(fit) + 63) / 64 * 64;
    size_t bytes = scratch_bytes + (fit->n + fit->k) * GLS_NONNEG_BLOCK * sizeof(double);
#pragma omp parallel reduction(|| : failed)
    {
        char *memory = aligned_alloc(64, bytes);
        failed = !memory;
#pragma omp for schedule(dynamic)
        for (long long first = 0; first < (long long)n; first += GLS_NONNEG_BLOCK) {
            if (!memory || atomic_load(&stopped)) continue;
            size_t count = n - (size_t)first < GLS_NONNEG_BLOCK ? n - (size_t)first : GLS_NONNEG_BLOCK;
            double *data = (double *)(memory + scratch_bytes), *f = data + fit->n * GLS_NONNEG_BLOCK, sh[MAX_COUNT];
            memset(data, 0, fit->n * GLS_NONNEG_BLOCK * sizeof *data);
            for (size_t i = 0; i < fit->n; i++)
                for (size_t v = 0; v < count; v++)
                    data[i * GLS_NONNEG_BLOCK + v] = dwi->data[plan->volume[i] * voxels + voxel[(size_t)first + v]];
            kernel(fit, data, count, memory, f);
            for (size_t v = 0; v < count; v++) {
                for (size_t j = 0; j < k; j++) sh[j] = f[j * GLS_NONNEG_BLOCK + v];
                score[(size_t)first + v] = largest(order, sh, sphere, matrix) / (sh[0] + f[k * GLS_NONNEG_BLOCK + v]);
            }
            const size_t now = atomic_fetch_add(&done, count) + count;
            /* a monitor is called from the thread of the run */
            if (omp_get_thread_num() == 0 &&
                !gls_monitor_step(monitor, &(gls_progress){.phase = GLS_PHASE_FIT, .done = now, .total = n}))
                atomic_store(&stopped, true);
        }
        free(memory);
    }
    free(matrix);
    if (stopped) return gls_fail(GLS_ERR_CANCELLED, "interrupted");
    return failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for the fit of %zu voxels", n) : GLS_OK;
}

/* Scores how much each of n voxels looks like a single bundle of white matter: fits the signal with a sharp response of
 * white matter, to SH order `order` <= 6, and the response of CSF, and divides the largest amplitude of the ODF by the
 * sum of the densities of white matter and CSF. */
static gls_status score_voxels(const gls_image *dwi, const gls_gradients *gradients,
                               const gls_responses_options *options, const size_t *voxel, size_t n,
                               const gls_tissue_response *csf, int order, double *score)
{
    gls_tissue_response *sharp = NULL;
    gls_msmt_plan plan = {.n_tissues = 0};
    gls_sphere *sphere = NULL;
    double(*direction)[3] = NULL;
    size_t n_directions = 0;
    const int orders[2] = {order, 0};
    gls_status status = sharp_response(dwi, gradients, voxel, n, csf, &sharp);
    if (!status)
        status = gls_msmt_directions(&dwi->grid, options->direction, options->n_directions, &direction, &n_directions);
    const gls_tissue_response *const response[2] = {sharp, csf};
    if (!status)
        status = gls_msmt_plan_init(&plan, gradients, response, orders, 2, (const double(*)[3])direction, n_directions);
    if (!status) status = gls_sphere_create("default", &sphere);
    if (!status) status = score_all(dwi, &plan, voxel, n, sphere, options->monitor, score);
    gls_msmt_plan_finish(&plan);
    gls_sphere_destroy(sphere);
    gls_tissue_response_destroy(sharp);
    free(direction);
    return status;
}

/* --- The steps. */

gls_responses_options gls_responses_options_default(void)
{
    return (gls_responses_options){.size = sizeof(gls_responses_options),
                                   .erode = 3,
                                   .fa_threshold = 0.2,
                                   .wm_percent = 0.5,
                                   .gm_percent = 2,
                                   .csf_percent = 10,
                                   .pvf = 0.95,
                                   .n_voxels = 300};
}

gls_status gls_responses_check(const gls_responses_options *options)
{
    GLS_REQUIRE_SIZE(options);
    if (!options) return GLS_OK;
    GLS_REQUIRE(options->erode >= 0);
    GLS_REQUIRE(options->fa_threshold >= 0 && options->fa_threshold <= 1);
    GLS_REQUIRE(options->wm_percent > 0 && options->wm_percent <= 100);
    GLS_REQUIRE(options->gm_percent > 0 && options->gm_percent <= 100);
    GLS_REQUIRE(options->csf_percent > 0 && options->csf_percent <= 100);
    GLS_REQUIRE(options->pvf >= 0 && options->pvf <= 1);
    GLS_REQUIRE_ENUMERATOR(options->wm, GLS_SINGLE_FIBRES_FA);
    GLS_REQUIRE(options->bval >= 0 && isfinite(options->bval));
    return GLS_OK;
}

/* Voxels of the eroded mask whose signal falls with b, and the tissues to which they are assigned. Arrays have one
 * entry for each of these n voxels; the entry of a set is 1 for its members and 0 for the rest. */
typedef struct estimation {
    const gls_image *dwi;
    const gls_gradients *gradients;
    const gls_responses_options *options;
    size_t n, *voxel; /* n: number of voxels; voxel: their indices in the grid, ascending */
    double *sdm;      /* signal decay metric: how fast the signal falls with b */
    float *fa;
    double (*axis)[3];                       /* principal eigenvector of the tensor of each voxel, in voxel axes */
    uint8_t *wm, *gm, *csf, *outlier, *half; /* sets, all in one allocation that begins at wm; half: work space */
    double *work;                            /* n values of work space */
    float *single;                           /* n values of work space */
} estimation;

/* Frees the arrays; all may be NULL. */
static void finish(estimation *s)
{
    free(s->voxel);
    free(s->sdm);
    free(s->fa);
    free(s->axis);
    free(s->wm);
    free(s->work);
    free(s->single);
}

/* Mean signal of each shell at voxel v, rounded to single precision; negative signals count as 0. of[i]: shell of
 * volume i; n_shells is at most 64. */
static void shell_means(const estimation *s, const size_t *of, const gls_shell *shell, size_t n_shells, size_t v,
                        float *mean)
{
    size_t voxels = gls_grid_voxels(&s->dwi->grid);
    double sum[64] = {0};
    for (size_t i = 0; i < s->gradients->n; i++)
        if (of[i] != GLS_NO_SHELL) sum[of[i]] += fmax(0, s->dwi->data[i * voxels + v]);
    for (size_t k = 0; k < n_shells; k++) mean[k] = (float)(sum[k] / (double)shell[k].n);
}

/* Signal decay metric of a voxel: ln(mean signal at b = 0 / mean signal of a shell), averaged over the shells of b > 0
 * in proportion to their numbers of volumes; at most MAX_SDM. Returns false if the metric or one of the mean signals is
 * not a positive number. */
static bool decay(const float *mean, const gls_shell *shell, size_t n_shells, double *sdm)
{
    float sum = 0, count = 0;
    for (size_t k = 0; k < n_shells; k++)
        if (!isfinite(mean[k]) || !(mean[k] > 0)) return false;
    for (size_t k = 1; k < n_shells; k++) {
        sum += logf(mean[0] / mean[k]) * (float)shell[k].n;
        count += (float)shell[k].n;
    }
    float metric = sum / count;
    if (!isfinite(metric) || !(metric > 0)) return false;
    *sdm = fminf(metric, (float)MAX_SDM);
    return true;
}

/* Allocates the arrays for at most n voxels. finish() frees them, also after a failure. */
static gls_status allocate(estimation *s, size_t n)
{
    s->voxel = malloc(n * sizeof *s->voxel);
    s->sdm = malloc(n * sizeof *s->sdm);
    s->fa = malloc(n * sizeof *s->fa);
    s->axis = malloc(n * sizeof *s->axis);
    s->wm = calloc(5 * n, 1);
    s->work = malloc(n * sizeof *s->work);
    s->single = malloc(n * sizeof *s->single);
    if (!s->voxel || !s->sdm || !s->fa || !s->axis || !s->wm || !s->work || !s->single)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for responses from %zu voxels", n);
    s->gm = s->wm + n;
    s->csf = s->wm + 2 * n;
    s->outlier = s->wm + 3 * n;
    s->half = s->wm + 4 * n;
    return GLS_OK;
}

/* Lists the voxels of the eroded mask for which decay() returns a signal decay metric, with that metric. */
static gls_status find_voxels(estimation *s, const gls_image *mask)
{
    uint8_t *safe = NULL;
    gls_shell *shell = NULL;
    size_t n_shells = 0, voxels = gls_grid_voxels(&mask->grid), *of = malloc(s->gradients->n * sizeof *of);
    float mean[64];
    gls_status status = of ? gls_gradients_cluster(s->gradients, &shell, &n_shells, of)
                           : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu volumes", s->gradients->n);
    if (!status && (s->gradients->n_b0 == 0 || n_shells < 2 || n_shells > 64))
        status =
            gls_fail(GLS_ERR_INPUT,
                     "responses of tissues need b0 volumes and 1 to 63 shells, but there are %zu b0 volumes and %zu "
                     "shells: " RESPONSES_HINT,
                     s->gradients->n_b0, n_shells - (n_shells > 0 && s->gradients->n_b0 > 0));
    if (!status) status = gls_responses_safe_mask(mask, s->options->erode, &safe);
    if (!status) status = allocate(s, gls_morphology_count(mask->grid.dim, safe));
    for (size_t v = 0; v < voxels && !status; v++) {
        if (!safe[v]) continue;
        shell_means(s, of, shell, n_shells, v, mean);
        if (!decay(mean, shell, n_shells, &s->sdm[s->n])) continue;
        s->voxel[s->n++] = v;
    }
    free(safe);
    free(shell);
    free(of);
    if (!status && s->n == 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "responses: no voxel of the mask has a signal that falls as b grows: are the b-values in the "
                          "order of the volumes, and is the mask that of the brain?");
    return status;
}

/* Number of voxels in a set. */
static size_t count(const estimation *s, const uint8_t *set)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) n += set[i];
    return n;
}

/* Median of the signal decay metric over the voxels of a set; 0 for an empty set. */
static double median_sdm(const estimation *s, const uint8_t *set)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (set[i]) s->work[n++] = s->sdm[i];
    return n > 0 ? gls_median(s->work, n) : 0;
}

/* Optimal threshold of the values sign * (signal decay metric - `from`) of the voxels of a set; +infinity if the values
 * do not vary. */
static float threshold(const estimation *s, const uint8_t *set, double from, double sign)
{
    float best = INFINITY;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (set[i]) s->single[n++] = (float)(sign * (s->sdm[i] - from));
    gls_threshold_optimal(s->single, n, &best);
    return best;
}

/* First assignment: voxels of FA above the threshold are white matter. Of the remaining voxels, those whose signal
 * decay metric reaches the optimal threshold are CSF; the rest is grey matter. */
static void split(estimation *s)
{
    for (size_t i = 0; i < s->n; i++) {
        s->wm[i] = s->fa[i] > (float)s->options->fa_threshold;
        s->gm[i] = !s->wm[i];
    }
    double middle = median_sdm(s, s->gm);
    float best = threshold(s, s->gm, middle, 1);
    for (size_t i = 0; i < s->n; i++) {
        s->csf[i] = s->gm[i] && (float)(s->sdm[i] - middle) >= best;
        s->gm[i] = s->gm[i] && !s->csf[i];
    }
    gls_log(GLS_LOG_INFO, "responses: %zu voxels, at first white matter %zu, grey matter %zu, CSF %zu", s->n,
            count(s, s->wm), count(s, s->gm), count(s, s->csf));
}

/* Removes from the white matter the voxels that decay like CSF, more than 2 robust standard deviations (median absolute
 * deviation times MAD_FACTOR) faster than the median, and marks them as outliers. */
static void refine_wm(estimation *s)
{
    size_t n = 0;
    double middle = median_sdm(s, s->wm);
    for (size_t i = 0; i < s->n; i++)
        if (s->wm[i]) s->work[n++] = fabs(s->sdm[i] - middle);
    double limit = middle + 2 * MAD_FACTOR * gls_median(s->work, n);
    for (size_t i = 0; i < s->n; i++) {
        s->outlier[i] = s->wm[i] && s->sdm[i] > limit;
        s->wm[i] = s->wm[i] && !s->outlier[i];
    }
}

/* Keeps grey matter voxels near their median signal decay metric: an optimal threshold on each side of the median
 * removes voxels whose signal decays much faster or more slowly. */
static void refine_gm(estimation *s)
{
    uint8_t *half = s->half;
    double middle = median_sdm(s, s->gm);
    for (size_t i = 0; i < s->n; i++) half[i] = s->gm[i] && s->sdm[i] > middle;
    float high = threshold(s, half, middle, 1);
    for (size_t i = 0; i < s->n; i++) half[i] = s->gm[i] && !half[i];
    float low = threshold(s, half, middle, -1);
    for (size_t i = 0; i < s->n; i++) {
        float off = (float)(s->sdm[i] - middle);
        s->gm[i] = s->gm[i] && (half[i] ? (float)(middle - s->sdm[i]) < low : off < high);
    }
}

/* Adds to the CSF the outliers of white matter that decay faster than the slowest voxel of the CSF, then keeps the
 * voxels whose signal decay metric reaches the optimal threshold. */
static void refine_csf(estimation *s)
{
    double least = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        if (s->csf[i]) least = fmin(least, s->sdm[i]);
    for (size_t i = 0; i < s->n; i++) s->csf[i] = s->csf[i] || (s->outlier[i] && s->sdm[i] > least);
    float best = threshold(s, s->csf, least, 1);
    for (size_t i = 0; i < s->n; i++) s->csf[i] = s->csf[i] && (float)(s->sdm[i] - least) >= best;
}

/* Keeps the n voxels of a set with the highest scores, and voxels whose score equals the lowest of these. An empty set
 * stays empty; of any other set at least one voxel is kept. */
static void keep_best(const estimation *s, uint8_t *set, const double *score, size_t n)
{
    size_t all = 0;
    double *value = s->work;
    for (size_t i = 0; i < s->n; i++)
        if (set[i]) value[all++] = score[i];
    if (all == 0) return;
    gls_sort(value, all);
    const double limit = value[all - (n < 1 ? 1 : n > all ? all : n)];
    for (size_t i = 0; i < s->n; i++) set[i] = set[i] && score[i] >= limit;
}

/* The given percentage of n voxels, rounded to a whole number (0.5 to even), at least 1. */
static size_t part_of(size_t n, double percent)
{
    double part = rint((double)n * percent / 100);
    return part < 1 ? 1 : (size_t)part;
}

/* Estimates the response of the voxels in `set`, along their own fibre axes, to SH order `order`. */
static gls_status respond(const estimation *s, const uint8_t *set, int order, gls_tissue_response **response)
{
    gls_fibres fibres = {.n = 0};
    size_t *voxel = malloc(s->n * sizeof *voxel);
    double(*axis)[3] = malloc(s->n * sizeof *axis);
    gls_status status = GLS_ERR_MEMORY;
    if (voxel && axis) {
        for (size_t i = 0; i < s->n; i++) {
            if (!set[i]) continue;
            memcpy(axis[fibres.n], s->axis[i], sizeof *axis);
            voxel[fibres.n++] = s->voxel[i];
        }
        fibres.voxel = voxel;
        fibres.axis = (const double(*)[3])axis;
        status = gls_amp2response(s->dwi, s->gradients, &fibres, order, GLS_NO_SHELL, response);
    } else {
        gls_error_set("out of memory for responses from %zu voxels", s->n);
    }
    free(voxel);
    free(axis);
    return status;
}

/* Scores the voxels of a set by score_voxels(); score[i] is -infinity outside the set. */
static gls_status score_wm(const estimation *s, const uint8_t *set, const gls_tissue_response *csf, int order,
                           double *score)
{
    size_t n = 0, *list = calloc(2 * s->n, sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for responses from %zu voxels", s->n);
    /* the voxels of the set: where[] has their positions in the list of all voxels, list[] their indices in the grid */
    size_t *where = list + s->n;
    for (size_t i = 0; i < s->n; i++) {
        score[i] = -INFINITY;
        if (!set[i]) continue;
        where[n] = i;
        list[n++] = s->voxel[i];
    }
    gls_status status = score_voxels(s->dwi, s->gradients, s->options, list, n, csf, order, s->work);
    for (size_t i = 0; i < n && !status; i++) score[where[i]] = s->work[i];
    free(list);
    return status;
}

/* Keeps the best voxels of single-fibre white matter: a first choice of twice the wanted number by an SH fit of order
 * 2, then the final one among these by order 6. */
static gls_status select_wm(estimation *s, const gls_tissue_response *csf)
{
    double *score = malloc(s->n * sizeof *score);
    if (!score) return gls_fail(GLS_ERR_MEMORY, "out of memory for responses from %zu voxels", s->n);
    size_t n = part_of(count(s, s->wm), s->options->wm_percent);
    gls_status status = score_wm(s, s->wm, csf, 2, score);
    if (!status) {
        keep_best(s, s->wm, score, 2 * n);
        status = score_wm(s, s->wm, csf, 6, score);
    }
    if (!status) keep_best(s, s->wm, score, n);
    free(score);
    return status;
}

void gls_responses_doubt(const gls_tissue_response *const response[3], const char *remedy)
{
    static const char *const names[] = {"white matter", "grey matter", "CSF"};
    char text[128] = "";
    size_t used = 0;
    for (int t = 0; t < 3; t++)
        if (response[t]->n_voxels < GLS_RESPONSE_MIN_VOXELS)
            used += (size_t)gls_snprintf(text + used, sizeof text - used, "%s%s (%zu)", used ? ", " : "", names[t],
                                         response[t]->n_voxels);
    if (used)
        gls_log(GLS_LOG_WARNING, "responses of fewer than %d voxels, in which noise shows: %s: %s",
                GLS_RESPONSE_MIN_VOXELS, text, remedy);
}

/* The steps of dwi2response dhollander: crude split by FA and SDM, refinement of each tissue, final choice of the CSF
 * voxels of largest SDM, the grey matter voxels nearest to the median SDM, and single-fibre white matter. */
static gls_status estimate(estimation *s, gls_tissue_response **response)
{
    split(s);
    size_t n[3] = {count(s, s->wm), count(s, s->gm), count(s, s->csf)};
    refine_wm(s);
    refine_gm(s);
    refine_csf(s);
    size_t n_csf = count(s, s->csf), n_gm = count(s, s->gm), n_wm = count(s, s->wm);
    gls_log(GLS_LOG_INFO, "responses: refined white matter %zu, grey matter %zu, CSF %zu", n_wm, n_gm, n_csf);
    if (n_wm == 0 || n_gm == 0 || n_csf == 0)
        return gls_fail(
            GLS_ERR_INPUT,
            "responses: a tissue has no voxels: of %zu voxels white matter got %zu, grey matter %zu and CSF %zu, after "
            "refinement %zu, %zu and %zu: is the mask that of the brain? If it is, " RESPONSES_HINT,
            s->n, n[0], n[1], n[2], n_wm, n_gm, n_csf);
    double *score = malloc(s->n * sizeof *score);
    if (!score) return gls_fail(GLS_ERR_MEMORY, "out of memory for responses from %zu voxels", s->n);
    keep_best(s, s->csf, s->sdm, part_of(n_csf, s->options->csf_percent));
    double middle = median_sdm(s, s->gm);
    for (size_t i = 0; i < s->n; i++) score[i] = -fabs(s->sdm[i] - middle);
    keep_best(s, s->gm, score, part_of(n_gm, s->options->gm_percent));
    free(score);
    gls_status status = respond(s, s->csf, 0, &response[2]);
    if (!status) status = respond(s, s->gm, 0, &response[1]);
    if (!status) status = select_wm(s, response[2]);
    if (!status) status = respond(s, s->wm, 10, &response[0]);
    if (status) return status;
    gls_log(GLS_LOG_INFO, "responses from %zu voxels of white matter, %zu of grey matter, %zu of CSF",
            response[0]->n_voxels, response[1]->n_voxels, response[2]->n_voxels);
    gls_responses_doubt(
        (const gls_tissue_response *const *)response,
        "raise --wm-percent, --gm-percent or --csf-percent of 'glslines response', or give responses of "
        "larger images");
    return GLS_OK;
}

gls_status gls_responses_dhollander(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                    const gls_responses_options *options, gls_tissue_response **response,
                                    gls_image **voxels)
{
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    const gls_responses_options defaults = gls_responses_options_default();
    estimation s = {.dwi = dwi, .gradients = gradients, .options = options ? options : &defaults};
    gls_tissue_response *made[3] = {NULL};
    gls_image *image = NULL;
    size_t n = gls_grid_voxels(&dwi->grid);
    gls_status status = gls_responses_check(options);
    if (!status) status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (!status) status = find_voxels(&s, mask);
    if (!status) status = gls_tensor_axes(dwi, gradients, s.voxel, s.n, s.fa, s.axis);
    if (!status) status = estimate(&s, made);
    if (!status && voxels) status = gls_image_create(&dwi->grid, 3, &image);
    /* write the three sets as volumes of 0 and 1; entry i of a set belongs to voxel s.voxel[i] of the grid */
    for (size_t i = 0; i < s.n && image; i++) {
        image->data[s.voxel[i]] = s.wm[i];
        image->data[n + s.voxel[i]] = s.gm[i];
        image->data[2 * n + s.voxel[i]] = s.csf[i];
    }
    finish(&s);
    for (int t = 0; t < 3; t++) {
        if (!status)
            response[t] = made[t];
        else
            gls_tissue_response_destroy(made[t]);
    }
    if (image) *voxels = image;
    return status;
}
