/* Responses of single bundles: of one shell from the voxels with the highest FA, or of all shells from given voxels. */
#include "dwi/response_parts.h"

#include "dwi/voxel_sets.h"
#include "dwi/tensor_plan.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* smallest number of voxels for a reliable response */
enum { MIN_VOXELS = 30 };

void gls_candidates_finish(gls_candidates *c)
{
    free(c->voxel);
    free(c->rank);
    free(c->score);
    free(c->axis);
}

gls_status gls_candidates_start(gls_candidates *c, size_t n)
{
    *c = (gls_candidates){.voxel = malloc(n * sizeof *c->voxel),
                          .rank = malloc(n * sizeof *c->rank),
                          .score = malloc(n * sizeof *c->score),
                          .axis = malloc(n * sizeof *c->axis)};
    if (c->voxel && c->rank && c->score && c->axis) return GLS_OK;
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", n);
}

/* Comparison for qsort_r(): positions by falling score `user`; equal scores in the order of the list. */
static int higher_first(const void *a, const void *b, void *user)
{
    const double *score = user;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (score[x] != score[y]) return score[x] > score[y] ? -1 : 1;
    return (x > y) - (x < y);
}

void gls_candidates_rank(gls_candidates *c)
{
    for (size_t i = 0; i < c->n; i++) c->rank[i] = i;
    qsort_r(c->rank, c->n, sizeof *c->rank, higher_first, c->score);
}

gls_status gls_candidates_respond(const gls_image *dwi, const gls_gradients *gradients, const gls_candidates *c,
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
        gls_fail(status, "out of memory for a response from %zu voxels", n);
    }
    free(voxel);
    free(axis);
    return status;
}

gls_status gls_responses_choose_shell(const gls_gradients *gradients, double asked, size_t *which, double *bval)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    if (status) return status;
    *which = n - 1;
    if (asked > 0)
        status = gls_gradients_find_shell(shell, n, asked, which);
    else if (n == 0 || shell[n - 1].is_b0)
        status = gls_fail(GLS_ERR_INPUT, "no shell: three weighted volumes or more of nearly one b-value make one");
    if (!status) {
        *bval = shell[*which].bval;
        gls_log(GLS_LOG_INFO, "response of the shell of b = %.6g s/mm2", *bval);
    }
    free(shell);
    return status;
}

gls_status gls_candidates_check(size_t n)
{
    if (n >= MIN_VOXELS) return GLS_OK;
    return gls_fail(
        GLS_ERR_INPUT,
        "response: only %zu voxels of single bundles were found, at least %d are needed: give a mask of the "
        "whole brain, or lower --fa-threshold (--algorithm fa) or --pvf (--algorithm msmt_5tt)",
        n, MIN_VOXELS);
}

gls_status gls_candidates_mark(const gls_grid *grid, const gls_candidates *c, size_t n, gls_image **voxels)
{
    if (!voxels) return GLS_OK;
    gls_status status = gls_image_create(grid, 1, voxels);
    for (size_t i = 0; i < n && !status; i++) (*voxels)->data[c->voxel[c->rank[i]]] = 1;
    return status;
}

gls_status gls_responses_fa(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                            const gls_responses_options *options, gls_tissue_response **response, gls_image **voxels)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    const gls_responses_options defaults = gls_responses_options_default();
    if (!options) options = &defaults;
    gls_candidates c = {.n = 0};
    uint8_t *safe = NULL;
    float *fa = NULL;
    double bval;
    size_t shell = 0, all = gls_grid_voxels(&dwi->grid), n = options->n_voxels;
    gls_tissue_response *made = NULL;
    gls_status status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (!status) status = gls_responses_choose_shell(gradients, options->bval, &shell, &bval);
    if (!status) status = gls_responses_safe_mask(mask, options->erode, &safe);
    if (!status) status = gls_candidates_start(&c, gls_morphology_count(dwi->grid.dim, safe));
    if (status) goto fail;
    /* all voxels of the safe mask are candidates, with FA as score */
    for (size_t v = 0; v < all; v++)
        if (safe[v]) c.voxel[c.n++] = v;
    fa = malloc(c.n * sizeof *fa);
    status = fa ? gls_tensor_axes(dwi, gradients, c.voxel, c.n, fa, c.axis)
                : gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", c.n);
    for (size_t i = 0; i < c.n && !status; i++) c.score[i] = fa[i];
    if (!status) gls_candidates_rank(&c);
    /* n: the wanted number, or the number of voxels above the FA threshold */
    for (size_t i = 0; i < c.n && options->n_voxels == 0 && !status; i++) n += fa[i] > (float)options->fa_threshold;
    n = n < c.n ? n : c.n;
    if (!status) status = gls_candidates_check(n);
    if (!status) status = gls_candidates_respond(dwi, gradients, &c, n, GLS_RESPONSE_ORDER, shell, &made);
    if (!status) status = gls_candidates_mark(&dwi->grid, &c, n, voxels);
    if (status) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    gls_candidates_finish(&c);
    free(safe);
    free(fa);
    return status;
}

gls_status gls_responses_manual(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                const gls_responses_options *options, gls_tissue_response **response,
                                gls_image **voxels)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    gls_candidates c = {.n = 0};
    float *fa = NULL;
    size_t all = gls_grid_voxels(&dwi->grid);
    gls_tissue_response *made = NULL;
    gls_status status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (!status) status = gls_candidates_start(&c, all);
    /* take all voxels of the mask, in the order of the grid */
    for (size_t v = 0; v < all && !status; v++)
        if (mask->data[v] > 0) c.voxel[c.n++] = v;
    if (!status && c.n == 0) status = gls_fail(GLS_ERR_INPUT, "response: the mask is empty");
    if (status) goto fail;
    fa = malloc(c.n * sizeof *fa);
    status = fa ? gls_tensor_axes(dwi, gradients, c.voxel, c.n, fa, c.axis)
                : gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", c.n);
    for (size_t i = 0; i < c.n; i++) c.rank[i] = i;
    if (!status) status = gls_candidates_respond(dwi, gradients, &c, c.n, GLS_RESPONSE_ORDER, GLS_NO_SHELL, &made);
    if (!status) status = gls_candidates_mark(&dwi->grid, &c, c.n, voxels);
    if (status) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    gls_candidates_finish(&c);
    free(fa);
    return status;
}
