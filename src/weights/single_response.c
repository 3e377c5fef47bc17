/* Responses of single bundles: of one shell from the voxels with the highest FA; of all shells from given voxels; or of
 * one shell from the voxels whose deconvolved FOD has the most dominant lobe. The third way finds voxels and estimates
 * the response in turn (Tournier et al. 2013), by the steps of MRtrix3's dwi2response tournier. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/fixels.h>
#include <glslines/odf.h>
#include <glslines/sh.h>

#include "dwi/amp2response.h"
#include "dwi/csd_directions.h"
#include "dwi/dhollander.h"
#include "dwi/mask.h"
#include "dwi/response_parts.h"
#include "dwi/tensor.h"
#include "image/morphology.h"
#include "util/clock.h"
#include "util/status.h"

/* --- Candidate voxels for single bundles, with scores and axes. */

/* Candidates. voxel: n indices in the order of the grid, each with a score (the higher, the more the voxel looks like a
 * single bundle) and an axis along the voxel axes. rank: indices into these arrays, the highest score first.
 * candidates_start() makes the arrays with n = 0; its caller fills them. */
typedef struct candidates {
    size_t n, *voxel, *rank;
    double *score, (*axis)[3];
} candidates;

/* Frees the arrays of the candidates. */
static void candidates_finish(candidates *c)
{
    free(c->voxel);
    free(c->rank);
    free(c->score);
    free(c->axis);
}

/* Allocates memory for n candidates. Call candidates_finish() even after a failure. */
static gls_status candidates_start(candidates *c, size_t n)
{
    *c = (candidates){.voxel = malloc(n * sizeof *c->voxel),
                      .rank = malloc(n * sizeof *c->rank),
                      .score = malloc(n * sizeof *c->score),
                      .axis = malloc(n * sizeof *c->axis)};
    if (c->voxel && c->rank && c->score && c->axis) return GLS_OK;
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", n);
}

/* Comparison for qsort_r(): indices by falling score; equal scores by ascending index. user: the scores. */
static int higher_first(const void *a, const void *b, void *user)
{
    const double *score = user;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (score[x] != score[y]) return score[x] > score[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Fills c->rank with the indices of all candidates by falling score; equal scores in the order of the grid. */
static void candidates_rank(candidates *c)
{
    for (size_t i = 0; i < c->n; i++) c->rank[i] = i;
    qsort_r(c->rank, c->n, sizeof *c->rank, higher_first, c->score);
}

/* Response of the n best candidates, by gls_amp2response(). */
static gls_status candidates_respond(const gls_image *dwi, const gls_gradients *gradients, const candidates *c,
                                     size_t n, int order, size_t shell, gls_tissue_response **response)
{
    size_t *voxel = malloc(n * sizeof *voxel);
    double(*axis)[3] = malloc(n * sizeof *axis);
    gls_status status = GLS_ERR_MEMORY;
    if (voxel && axis) {
        for (size_t i = 0; i < n; i++) {
            voxel[i] = c->voxel[c->rank[i]];
            memcpy(axis[i], c->axis[c->rank[i]], sizeof *axis);
        }
        const gls_fibres fibres = {.voxel = voxel, .axis = (const double(*)[3])axis, .n = n};
        status = gls_amp2response(dwi, gradients, &fibres, order, shell, response);
    } else {
        gls_error_set("out of memory for a response from %zu voxels", n);
    }
    free(voxel);
    free(axis);
    return status;
}

/* Finds the shell of b-value `asked`, or, if that is 0, the shell of the highest b-value; *which gets its index. */
static gls_status choose_shell(const gls_gradients *gradients, double asked, size_t *which, double *bval)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    if (status) return status;
    *which = n - 1;
    if (asked > 0)
        status = gls_gradients_find_shell(shell, n, asked, which);
    else if (n == 0 || shell[n - 1].is_b0)
        status = gls_fail(GLS_ERR_INPUT,
                          "the series has no shell: a shell is three weighted volumes or more of nearly one b-value");
    if (!status) {
        *bval = shell[*which].bval;
        gls_log(GLS_LOG_INFO, "response of the shell of b = %.6g s/mm2", *bval);
    }
    free(shell);
    return status;
}

/* Returns GLS_ERR_INPUT if n is below 30, too few voxels for a response. */
static gls_status candidates_check(size_t n)
{
    if (n >= GLS_RESPONSE_MIN_VOXELS) return GLS_OK;
    return gls_fail(
        GLS_ERR_INPUT,
        "response: there are only %zu voxels of single bundles, but at least %d are needed: give a mask of the whole "
        "brain, raise --voxels, or lower --fa-threshold (--algorithm fa) or --pvf (--algorithm msmt_5tt)",
        n, GLS_RESPONSE_MIN_VOXELS);
}

/* Makes an image of the n best candidates. voxels may be NULL. */
static gls_status candidates_mark(const gls_grid *grid, const candidates *c, size_t n, gls_image **voxels)
{
    if (!voxels) return GLS_OK;
    gls_status status = gls_image_create(grid, 1, voxels);
    for (size_t i = 0; i < n && !status; i++) (*voxels)->data[c->voxel[c->rank[i]]] = 1;
    return status;
}

/* --- The voxels of highest FA, or given voxels. */

gls_status gls_responses_fa(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                            const gls_responses_options *options, gls_tissue_response **response, gls_image **voxels)
{
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    const gls_responses_options defaults = gls_responses_options_default();
    if (!options) options = &defaults;
    candidates c = {.n = 0};
    uint8_t *safe = NULL;
    float *fa = NULL;
    double bval;
    size_t shell = 0, all = gls_grid_voxels(&dwi->grid), n = options->n_voxels;
    gls_tissue_response *made = NULL;
    gls_status status = gls_responses_check(options);
    if (!status) status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (!status) status = choose_shell(gradients, options->bval, &shell, &bval);
    if (!status) status = gls_responses_safe_mask(mask, options->erode, &safe);
    if (!status) status = candidates_start(&c, gls_morphology_count(dwi->grid.dim, safe));
    if (status) goto fail;
    /* all voxels of the safe mask are candidates, with FA as score */
    for (size_t v = 0; v < all; v++)
        if (safe[v]) c.voxel[c.n++] = v;
    fa = malloc(c.n * sizeof *fa);
    status = fa ? gls_tensor_axes(dwi, gradients, c.voxel, c.n, fa, c.axis)
                : gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", c.n);
    for (size_t i = 0; i < c.n && !status; i++) c.score[i] = fa[i];
    if (!status) candidates_rank(&c);
    /* n: the wanted number, or the number of voxels above the FA threshold; at most all candidates */
    for (size_t i = 0; i < c.n && options->n_voxels == 0 && !status; i++) n += fa[i] > (float)options->fa_threshold;
    n = n < c.n ? n : c.n;
    if (!status) status = candidates_check(n);
    if (!status) status = candidates_respond(dwi, gradients, &c, n, GLS_RESPONSE_ORDER, shell, &made);
    if (!status) status = candidates_mark(&dwi->grid, &c, n, voxels);
    if (status) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    candidates_finish(&c);
    free(safe);
    free(fa);
    return status;
}

gls_status gls_responses_manual(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                const gls_responses_options *options, gls_tissue_response **response,
                                gls_image **voxels)
{
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    candidates c = {.n = 0};
    float *fa = NULL;
    size_t all = gls_grid_voxels(&dwi->grid);
    gls_tissue_response *made = NULL;
    gls_status status = gls_responses_check(options);
    if (!status) status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (!status) status = candidates_start(&c, all);
    /* take all voxels of the mask, in the order of the grid */
    for (size_t v = 0; v < all && !status; v++)
        if (mask->data[v] > 0) c.voxel[c.n++] = v;
    if (!status && c.n == 0) status = gls_fail(GLS_ERR_INPUT, "response: the mask has no voxel above 0");
    if (status) goto fail;
    fa = malloc(c.n * sizeof *fa);
    status = fa ? gls_tensor_axes(dwi, gradients, c.voxel, c.n, fa, c.axis)
                : gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", c.n);
    for (size_t i = 0; i < c.n; i++) c.rank[i] = i;
    if (!status) status = candidates_respond(dwi, gradients, &c, c.n, GLS_RESPONSE_ORDER, GLS_NO_SHELL, &made);
    if (!status) status = candidates_mark(&dwi->grid, &c, c.n, voxels);
    if (status) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    candidates_finish(&c);
    free(fa);
    return status;
}

/* --- The voxels with the most dominant lobe. */

/* FIRST_ORDER: order of the first response; FIT_ORDER: largest order of a deconvolution; MAX_PASSES: passes after which
 * the last choice is used; REGION_FACTOR: the next region is grown from this many times the voxels wanted. */
enum { FIRST_ORDER = 4, FIT_ORDER = 8, MAX_PASSES = 10, REGION_FACTOR = 10 };

/* State of the passes. */
typedef struct passes {
    /* the series */
    const gls_image *dwi;
    /* tables of the series, and of its selected volumes: b = 0 and one shell; volume: indices of the selected volumes
     * in the series */
    const gls_gradients *gradients, *selected;
    const size_t *volume;
    /* borrowed */
    const gls_responses_options *options;
    const gls_sphere *constraint; /* directions of the constraint; NULL: the options give them */
    /* voxels that the current pass looks at */
    gls_image *region;
    /* scores and axes of the voxels of the region, ranked */
    candidates c;
} passes;

/* Scores a voxel by the amplitudes of its two largest lobes, in single precision as MRtrix3's images are. axis: mean
 * direction of the largest lobe. Returns false if there is no lobe or the score is not finite. */
static bool score_voxel(const gls_fixels *fixels, size_t voxel, double *score, double axis[3])
{
    uint32_t first, n = gls_fixels_of_voxel(fixels, voxel, &first);
    const gls_fixel *lobe = gls_fixels_get(fixels) + first;
    if (n == 0) return false;
    /* a second lobe and a weak first one lower the score: sqrt(first) (1 - second / first)^2 */
    float off = 1 - (n > 1 ? lobe[1].peak : 0) / lobe[0].peak;
    *score = sqrtf(lobe[0].peak) * off * off;
    for (int a = 0; a < 3; a++) axis[a] = lobe[0].direction[a];
    return isfinite(*score);
}

/* Callback of gls_csd_fit(): reports voxels to the monitor. */
static bool step(void *user, size_t done, size_t total)
{
    return gls_monitor_step(user, &(gls_progress){.phase = GLS_PHASE_FIT, .done = done, .total = total});
}

/* Deconvolves the region with a response; gives SH in MRtrix3's basis along the scanner axes. */
static gls_status deconvolve(const passes *p, const gls_response *response, int order, gls_image **sh)
{
    gls_image *own = NULL;
    gls_csd_options options = gls_csd_options_default();
    options.rule = GLS_CSD_RULE_MRTRIX;
    options.sh_order = order;
    options.direction = p->options->direction;
    options.n_directions = p->options->n_directions;
    options.sphere = p->constraint;
    gls_status status = gls_csd_fit(p->dwi, p->selected, p->volume, p->region, response, &options, step,
                                    (void *)p->options->monitor, &own);
    if (!status)
        status = gls_odf_convert_sh(own, "response", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, GLS_SH_TOURNIER07,
                                    GLS_BVEC_WORLD, sh);
    gls_image_destroy(own);
    return status;
}

/* Fills p->c with scores and axes of all voxels of the region, ranked. order: SH order of the deconvolution. Drops the
 * messages of the level info of gls_fixels_create(). */
static gls_status score_region(passes *p, const gls_response *response, int order)
{
    gls_image *sh = NULL;
    gls_fixels *fixels = NULL;
    gls_fixel_options every = gls_fixel_options_default();
    /* thresholds of 0 keep all lobes */
    every.peak = every.integral = 0;
    every.refine = true;
    size_t all = gls_grid_voxels(&p->dwi->grid), n = 0;
    double(*axis)[3] = NULL;
    gls_status status = deconvolve(p, response, order, &sh);
    gls_log_mute_info(true);
    if (!status) status = gls_fixels_create(sh, "response", p->region, &every, &fixels);
    gls_log_mute_info(false);
    p->c.n = 0;
    /* voxels of the region in rising order; those without a score are left out */
    for (size_t v = 0; v < all && !status; v++) {
        if (!(p->region->data[v] > 0)) continue;
        if (score_voxel(fixels, v, &p->c.score[p->c.n], p->c.axis[p->c.n])) p->c.voxel[p->c.n++] = v;
    }
    if (!status) status = gls_msmt_directions(&p->dwi->grid, (const double(*)[3])p->c.axis, p->c.n, &axis, &n);
    if (!status) {
        memcpy(p->c.axis, axis, n * sizeof *axis);
        candidates_rank(&p->c);
    }
    free(axis);
    gls_fixels_destroy(fixels);
    gls_image_destroy(sh);
    return status;
}

/* Sets the next region: voxels of the mask within one voxel of the n best. */
static gls_status shrink(passes *p, const gls_image *mask, size_t n)
{
    size_t all = gls_grid_voxels(&mask->grid);
    uint8_t *set = calloc(all, 1);
    if (!set) return gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", all);
    for (size_t i = 0; i < n && i < p->c.n; i++) set[p->c.voxel[p->c.rank[i]]] = 1;
    gls_status status = gls_morphology_dilate(mask->grid.dim, set, 1);
    for (size_t v = 0; v < all; v++) p->region->data[v] = set[v] && mask->data[v] > 0;
    free(set);
    return status;
}

/* Whether the n best candidates are those that the last pass marked in `last`. In any case marks the n best there
 * instead. */
static bool same_as_last(const passes *p, size_t n, uint8_t *last, size_t all)
{
    size_t same = 0;
    for (size_t i = 0; i < n; i++) same += last[p->c.voxel[p->c.rank[i]]];
    memset(last, 0, all);
    for (size_t i = 0; i < n; i++) last[p->c.voxel[p->c.rank[i]]] = 1;
    return same == n;
}

/* Alternates between finding voxels and estimating the response until the voxels stay the same, at most MAX_PASSES
 * times. */
static gls_status repeat(passes *p, const gls_image *mask, size_t wanted, size_t shell, uint8_t *last,
                         gls_tissue_response **made)
{
    /* the first response is a sharp one of order 4 with zonal coefficients 1, -1, 1, as in MRtrix3 */
    gls_response response = {.is_zonal = true, .order = FIRST_ORDER, .zonal = {1, -1, 1}};
    size_t all = gls_grid_voxels(&mask->grid);
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        gls_status status = score_region(p, &response, response.order < FIT_ORDER ? response.order : FIT_ORDER);
        size_t n = wanted < p->c.n ? wanted : p->c.n;
        if (!status) status = candidates_check(n);
        if (status) return status;
        /* one pass: the best voxels, their response, and the region of the next pass */
        bool converged = same_as_last(p, n, last, all);
        gls_tissue_response_destroy(*made);
        *made = NULL;
        status =
            candidates_respond(p->dwi, p->gradients, &p->c, n, pass ? GLS_RESPONSE_ORDER : FIRST_ORDER, shell, made);
        if (!status) status = shrink(p, mask, REGION_FACTOR * wanted);
        if (status) return status;
        if (converged) {
            gls_log(GLS_LOG_INFO, "response: the choice of its %zu voxels converged after %d passes", n, pass + 1);
            return GLS_OK;
        }
        /* the next pass deconvolves with this response */
        response.order = (*made)->order < GLS_CSD_MAX_ORDER ? (*made)->order : GLS_CSD_MAX_ORDER;
        for (int l = 0; l <= response.order; l += 2) response.zonal[l / 2] = (*made)->zonal[l / 2];
    }
    gls_log(GLS_LOG_INFO, "response: the choice of its voxels did not converge within %d passes; the last one is used",
            MAX_PASSES);
    return GLS_OK;
}

gls_status gls_responses_tournier(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                  const gls_responses_options *options, gls_tissue_response **response,
                                  gls_image **voxels)
{
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    const gls_responses_options defaults = gls_responses_options_default();
    if (!options) options = &defaults;
    passes p = {.dwi = dwi, .gradients = gradients, .options = options};
    gls_gradients *selected = NULL;
    gls_tissue_response *made = NULL;
    gls_sphere *sphere = NULL;
    size_t shell = 0, *volume = NULL, all = gls_grid_voxels(&dwi->grid);
    double bval = 0;
    /* last: 1 for voxels that the last pass chose */
    uint8_t *last = calloc(all, 1);
    gls_status status = gls_responses_check(options);
    if (!status) status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (!status && !last) status = gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", all);
    if (!status) status = choose_shell(gradients, options->bval, &shell, &bval);
    if (!status) status = gls_gradients_select_shell(gradients, bval, &selected, &volume);
    if (!status && !options->direction) status = gls_sphere_create("repulsion600", &sphere);
    if (!status) status = gls_image_create(&dwi->grid, 1, &p.region);
    if (!status) status = candidates_start(&p.c, all);
    if (status) goto fail;
    /* the first pass looks at the whole mask, each later one only at voxels near the best of the pass before */
    memcpy(p.region->data, mask->data, all * sizeof *mask->data);
    p.selected = selected;
    p.volume = volume;
    p.constraint = sphere;
    status = repeat(&p, mask, options->n_voxels, shell, last, &made);
    /* voxels that the last pass chose, as an image */
    if (!status)
        status = candidates_mark(&dwi->grid, &p.c, options->n_voxels < p.c.n ? options->n_voxels : p.c.n, voxels);
    if (status) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    gls_image_destroy(p.region);
    candidates_finish(&p.c);
    gls_gradients_destroy(selected);
    gls_sphere_destroy(sphere);
    free(volume);
    free(last);
    return status;
}
