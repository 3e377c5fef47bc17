/* Responses of three tissues from voxels in which an image of five tissues gives one tissue a fraction above `pvf`
 * (Jeurissen et al. 2014), by the steps of MRtrix3's dwi2response msmt_5tt. */
#include <math.h>
#include <stdlib.h>

#include <glslines/responses.h>
#include <glslines/tissue.h>

#include "dwi/amp2response.h"
#include "dwi/dhollander.h"
#include "dwi/tensor.h"
#include "util/status.h"

enum { WM, GM, CSF, N_TISSUES, MIN_SHELLS = 3 };
/* Largest number of samples along an axis of a voxel; more mean that the images have different units. */
#define MAX_SAMPLES 64

/* The inputs, and the voxels of each tissue. */
typedef struct estimation {
    /* dwi: the series; mask: the voxels that may be used */
    const gls_image *dwi, *mask;
    /* table of the series */
    const gls_gradients *gradients;
    /* borrowed */
    const gls_responses_options *options;
    gls_image *tissue[N_TISSUES]; /* masks on the grid of the series, 0 or 1 */
    gls_image *single;            /* voxels of white matter with one bundle */
    size_t n[N_TISSUES];
} estimation;

/* Map from voxels of the series to voxels of the tissue image; samples: samples within a voxel along each axis. */
typedef struct map {
    /* map from voxels of the series to voxels of the tissue image */
    double row[3][4];
    /* at least 1 */
    int samples[3];
} map;

/* Returns the affine map from voxels of the grid `from` to voxels of the grid `to`, and for each axis how many voxels
 * of `to` lie along a voxel of `from`, rounded up. */
static map make_map(const gls_grid *from, const gls_grid *to)
{
    double inverse[3][4];
    map m;
    gls_grid_inverse(to, inverse);
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 4; c++) {
            m.row[a][c] = c == 3 ? inverse[a][3] : 0;
            for (int k = 0; k < 3; k++) m.row[a][c] += inverse[a][k] * from->affine[k][c];
        }
    for (int c = 0; c < 3; c++) {
        /* voxels of the tissue image along one axis of a voxel of the series */
        double step = sqrt(m.row[0][c] * m.row[0][c] + m.row[1][c] * m.row[1][c] + m.row[2][c] * m.row[2][c]);
        /* the factor keeps rounded affines from adding a sample */
        m.samples[c] = (int)fmin(ceil(step * (1 - 1e-9)), MAX_SAMPLES + 1);
    }
    return m;
}

/* Interpolates a fraction linearly between voxels; 0 outside the image. */
static double interpolate(const gls_image *five, size_t volume, const double at[3])
{
    const int32_t *dim = five->grid.dim;
    const float *data = five->data + volume * gls_grid_voxels(&five->grid);
    int32_t low[3], high[3];
    double part[3], sum = 0;
    for (int a = 0; a < 3; a++) {
        if (!(at[a] >= -0.5 && at[a] <= dim[a] - 0.5)) return 0;
        double inside = fmin(fmax(at[a], 0), dim[a] - 1);
        low[a] = (int32_t)inside;
        high[a] = low[a] + 1 < dim[a] ? low[a] + 1 : low[a];
        part[a] = inside - low[a];
    }
    for (int k = 0; k < 8; k++) {
        double weight = (k & 1 ? part[0] : 1 - part[0]) * (k & 2 ? part[1] : 1 - part[1]);
        weight *= k & 4 ? part[2] : 1 - part[2];
        size_t x = (size_t)(k & 1 ? high : low)[0], y = (size_t)(k & 2 ? high : low)[1],
               z = (size_t)(k & 4 ? high : low)[2];
        if (weight > 0) sum += weight * data[(z * (size_t)dim[1] + y) * (size_t)dim[0] + x];
    }
    return sum;
}

/* Mean fraction over a voxel of the series. */
static float fraction(const map *m, const gls_image *five, size_t volume, const int32_t voxel[3])
{
    const int *n = m->samples;
    double sum = 0;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const double p[3] = {voxel[0] + (x + 0.5) / n[0] - 0.5, voxel[1] + (y + 0.5) / n[1] - 0.5,
                                     voxel[2] + (z + 0.5) / n[2] - 0.5};
                double at[3];
                for (int a = 0; a < 3; a++)
                    at[a] = m->row[a][0] * p[0] + m->row[a][1] * p[1] + m->row[a][2] * p[2] + m->row[a][3];
                sum += interpolate(five, volume, at);
            }
    return (float)(sum / (n[0] * n[1] * n[2]));
}

/* Marks the voxels of the mask with more than `pvf` of a tissue; for grey matter and CSF only voxels with low FA.
 * fa: one value for each voxel of the mask, in the order of voxels. */
static gls_status mark_tissues(estimation *s, const gls_image *five, const char *name, const float *fa)
{
    static const size_t volume[N_TISSUES] = {[WM] = GLS_TISSUE_WM, [GM] = GLS_TISSUE_CGM, [CSF] = GLS_TISSUE_CSF};
    const int32_t *dim = s->dwi->grid.dim;
    const map m = make_map(&s->dwi->grid, &five->grid);
    gls_status status = GLS_OK;
    /* with an affine in another unit a voxel could have any number of samples */
    for (int c = 0; c < 3; c++)
        if (m.samples[c] > MAX_SAMPLES)
            return gls_fail(GLS_ERR_INPUT,
                            "%s: more than %d of its voxels lie along an edge of a voxel of the series: check that "
                            "both images are in mm",
                            name, MAX_SAMPLES);
    for (int t = 0; t < N_TISSUES && !status; t++) status = gls_image_create(&s->dwi->grid, 1, &s->tissue[t]);
    /* i: index in the list of voxels inside the mask */
    for (size_t v = 0, i = 0; v < gls_grid_voxels(&s->dwi->grid) && !status; v++) {
        if (!(s->mask->data[v] > 0)) continue;
        const int32_t at[3] = {(int32_t)(v % (size_t)dim[0]), (int32_t)(v / (size_t)dim[0] % (size_t)dim[1]),
                               (int32_t)(v / (size_t)dim[0] / (size_t)dim[1])};
        bool even = fa[i++] < (float)s->options->fa_threshold;
        for (int t = 0; t < N_TISSUES; t++) {
            if (t != WM && !even) continue;
            bool in = fraction(&m, five, volume[t], at) > (float)s->options->pvf;
            s->tissue[t]->data[v] = in;
            s->n[t] += in;
        }
    }
    return status;
}

/* Fits tensors in the mask for FA, and marks the tissues. */
static gls_status find_tissues(estimation *s, const gls_image *five, const char *name)
{
    size_t n = 0, all = gls_grid_voxels(&s->dwi->grid), *voxel = malloc(all * sizeof *voxel);
    gls_status status = voxel ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for responses from %zu voxels", all);
    for (size_t v = 0; v < all && !status; v++)
        if (s->mask->data[v] > 0) voxel[n++] = v;
    float *fa = malloc((n + 1) * sizeof *fa);
    double(*axis)[3] = malloc((n + 1) * sizeof *axis);
    if (!status && (!fa || !axis)) status = gls_fail(GLS_ERR_MEMORY, "out of memory for responses from %zu voxels", n);
    if (!status) status = gls_tensor_axes(s->dwi, s->gradients, voxel, n, fa, axis);
    if (!status) status = mark_tissues(s, five, name, fa);
    free(voxel);
    free(fa);
    free(axis);
    return status;
}

/* Finds voxels of a single bundle in white matter by the algorithm that the options name. The algorithm also gives a
 * response of one shell, which is dropped. */
static gls_status find_single(estimation *s)
{
    gls_responses_options options = *s->options;
    gls_tissue_response *unused = NULL;
    options.erode = 0;
    options.bval = 0;
    gls_status status = (options.wm == GLS_SINGLE_FIBRES_FA ? gls_responses_fa : gls_responses_tournier)(
        s->dwi, s->gradients, s->tissue[WM], &options, &unused, &s->single);
    gls_tissue_response_destroy(unused);
    return status;
}

/* Makes the response of all shells from all voxels of a set: isotropic, without axes. */
static gls_status respond(const estimation *s, const gls_image *set, gls_tissue_response **response)
{
    size_t n = 0, all = gls_grid_voxels(&set->grid), *voxel = malloc(all * sizeof *voxel);
    if (!voxel) return gls_fail(GLS_ERR_MEMORY, "out of memory for responses from %zu voxels", all);
    for (size_t v = 0; v < all; v++)
        if (set->data[v] > 0) voxel[n++] = v;
    const gls_fibres fibres = {.voxel = voxel, .n = n};
    gls_status status = gls_amp2response(s->dwi, s->gradients, &fibres, 0, GLS_NO_SHELL, response);
    free(voxel);
    return status;
}

/* Warns if there are fewer b-values than tissues. */
static gls_status check_series(const estimation *s)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(s->gradients, &shell, &n, NULL);
    if (!status && n < MIN_SHELLS)
        gls_log(GLS_LOG_WARNING, "responses: there are only %zu b-values, which cannot separate three tissues", n);
    free(shell);
    return status;
}

/* Finds the voxels of each tissue, then the responses. The response of white matter is that of voxels with a single
 * bundle. */
static gls_status estimate(estimation *s, const gls_image *five, const char *name, gls_tissue_response **made)
{
    gls_status status = find_tissues(s, five, name);
    if (status) return status;
    gls_log(GLS_LOG_INFO, "responses: %zu voxels of white matter, %zu of grey matter, %zu of CSF in %s", s->n[WM],
            s->n[GM], s->n[CSF], name);
    if (s->n[WM] == 0 || s->n[GM] == 0 || s->n[CSF] == 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has no voxel of at least one tissue within the mask (white matter %zu, grey matter %zu, "
                        "CSF %zu): check that the image lies on the series, or lower --pvf",
                        name, s->n[WM], s->n[GM], s->n[CSF]);
    status = find_single(s);
    if (!status) status = gls_responses_manual(s->dwi, s->gradients, s->single, s->options, &made[WM], NULL);
    if (!status) status = respond(s, s->tissue[GM], &made[GM]);
    if (!status) status = respond(s, s->tissue[CSF], &made[CSF]);
    return status;
}

/* Makes an image of three volumes: for each tissue the voxels of its response. */
static gls_status join(const estimation *s, gls_image **voxels)
{
    const gls_image *part[N_TISSUES] = {[WM] = s->single, [GM] = s->tissue[GM], [CSF] = s->tissue[CSF]};
    size_t n = gls_grid_voxels(&s->dwi->grid);
    gls_status status = gls_image_create(&s->dwi->grid, N_TISSUES, voxels);
    for (size_t t = 0; t < N_TISSUES && !status; t++)
        for (size_t v = 0; v < n; v++) (*voxels)->data[t * n + v] = part[t]->data[v];
    return status;
}

gls_status gls_responses_msmt_5tt(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                  const gls_image *five, const char *name, const gls_responses_options *options,
                                  gls_tissue_response **response, gls_image **voxels)
{
    GLS_REQUIRE(dwi && gradients && mask && five && name && response && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    const gls_responses_options defaults = gls_responses_options_default();
    estimation s = {.dwi = dwi, .mask = mask, .gradients = gradients, .options = options ? options : &defaults};
    gls_tissue_response *made[N_TISSUES] = {NULL};
    gls_tissue *checked = NULL;
    gls_status status = gls_responses_check(options);
    if (!status) status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (!status) status = check_series(&s);
    if (!status) status = gls_tissue_create(&dwi->grid, five, name, GLS_TISSUE_RULE_ACT, GLS_PRECISION_FLOAT, &checked);
    if (!status) status = estimate(&s, five, name, made);
    if (!status && voxels) status = join(&s, voxels);
    if (!status)
        gls_responses_doubt((const gls_tissue_response *const *)made,
                            "lower --pvf, raise --voxels, or give responses of larger images");
    gls_tissue_destroy(checked);
    gls_image_destroy(s.single);
    for (int t = 0; t < N_TISSUES; t++) {
        gls_image_destroy(s.tissue[t]);
        if (!status)
            response[t] = made[t];
        else
            gls_tissue_response_destroy(made[t]);
    }
    return status;
}
