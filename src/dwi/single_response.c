/* Responses of single bundles: of one shell from the highest FA, or from the most outstanding peaks of deconvolved
 * ODFs; of all shells from given voxels. */
#include <glslines/peaks.h>
#include <glslines/responses.h>
#include <glslines/sh.h>

#include "dwi/amp2response.h"
#include "dwi/dhollander_wm.h"
#include "dwi/gradients_table.h"
#include "dwi/morphology.h"
#include "dwi/peak_climb.h"
#include "dwi/tensor_axes.h"
#include "util/log.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = 10, FIRST_ORDER = 4, FIT_ORDER = 8, MAX_PASSES = 10, REGION_FACTOR = 10, FEWEST = 30 };

/* Voxels in the order of the grid, each with a score and an axis. */
typedef struct candidates {
    size_t n, *voxel, *rank;
    double *score, (*axis)[3];
} candidates;

static void finish(candidates *c)
{
    free(c->voxel);
    free(c->rank);
    free(c->score);
    free(c->axis);
}

static gls_status start(candidates *c, size_t n)
{
    *c = (candidates){.voxel = malloc(n * sizeof *c->voxel),
                      .rank = malloc(n * sizeof *c->rank),
                      .score = malloc(n * sizeof *c->score),
                      .axis = malloc(n * sizeof *c->axis)};
    if (c->voxel && c->rank && c->score && c->axis) return GLS_OK;
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", n);
}

static int higher_first(const void *a, const void *b, void *user)
{
    const double *score = user;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (score[x] != score[y]) return score[x] > score[y] ? -1 : 1;
    return (x > y) - (x < y);
}

static void rank(candidates *c)
{
    for (size_t i = 0; i < c->n; i++) c->rank[i] = i;
    qsort_r(c->rank, c->n, sizeof *c->rank, higher_first, c->score);
}

/* The response of the n best. */
static gls_status respond(const gls_image *dwi, const gls_gradients *gradients, const candidates *c, size_t n,
                          int order, size_t shell, gls_tissue_response **response)
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

/* Index and b-value of the shell: the one asked for, else the highest. */
static gls_status choose_shell(const gls_gradients *gradients, double asked, size_t *which, double *bval)
{
    gls_shell *shell = NULL;
    size_t n = 0;
    gls_status status = gls_gradients_cluster(gradients, &shell, &n, NULL);
    if (status != GLS_OK) return status;
    *which = n - 1;
    if (asked > 0)
        status = gls_gradients_find_shell(shell, n, asked, which);
    else if (n == 0 || shell[n - 1].is_b0)
        status = gls_fail(GLS_ERR_INPUT, "the gradient table has no shell of three volumes or more");
    if (status == GLS_OK) {
        *bval = shell[*which].bval;
        gls_log(GLS_LOG_INFO, "response of the shell of b = %.6g s/mm2", *bval);
    }
    free(shell);
    return status;
}

static gls_status check_count(size_t n)
{
    if (n >= FEWEST) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "response: %zu voxels only, at least %d are needed: give a response (--response)", n,
                    FEWEST);
}

static gls_status mark(const gls_grid *grid, const candidates *c, size_t n, gls_image **voxels)
{
    if (!voxels) return GLS_OK;
    gls_status status = gls_image_create(grid, 1, voxels);
    for (size_t i = 0; i < n && status == GLS_OK; i++) (*voxels)->data[c->voxel[c->rank[i]]] = 1;
    return status;
}

gls_status gls_responses_fa(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                            const gls_responses_options *options, gls_tissue_response **response, gls_image **voxels)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    const gls_responses_options defaults = gls_responses_options_default();
    if (!options) options = &defaults;
    candidates c = {.n = 0};
    uint8_t *safe = NULL;
    float *fa = NULL;
    double bval;
    size_t shell = 0, all = gls_grid_voxels(&dwi->grid), n = options->n_voxels;
    gls_tissue_response *made = NULL;
    gls_status status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (status == GLS_OK) status = choose_shell(gradients, options->bval, &shell, &bval);
    if (status == GLS_OK) status = gls_responses_safe_mask(mask, options->erode, &safe);
    if (status == GLS_OK) status = start(&c, gls_morphology_count(dwi->grid.dim, safe));
    if (status != GLS_OK) goto fail;
    for (size_t v = 0; v < all; v++)
        if (safe[v]) c.voxel[c.n++] = v;
    fa = malloc(c.n * sizeof *fa);
    status = fa ? gls_tensor_axes(dwi, gradients, c.voxel, c.n, fa, c.axis)
                : gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", c.n);
    for (size_t i = 0; i < c.n && status == GLS_OK; i++) c.score[i] = fa[i];
    if (status == GLS_OK) rank(&c);
    n = n < c.n ? n : c.n;
    if (status == GLS_OK) status = check_count(n);
    if (status == GLS_OK) status = respond(dwi, gradients, &c, n, ORDER, shell, &made);
    if (status == GLS_OK) status = mark(&dwi->grid, &c, n, voxels);
    if (status != GLS_OK) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    finish(&c);
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
    candidates c = {.n = 0};
    float *fa = NULL;
    size_t all = gls_grid_voxels(&dwi->grid);
    gls_tissue_response *made = NULL;
    gls_status status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (status == GLS_OK) status = start(&c, all);
    for (size_t v = 0; v < all && status == GLS_OK; v++)
        if (mask->data[v] > 0) c.voxel[c.n++] = v;
    if (status == GLS_OK && c.n == 0) status = gls_fail(GLS_ERR_INPUT, "response: the mask is empty");
    if (status != GLS_OK) goto fail;
    fa = malloc(c.n * sizeof *fa);
    status = fa ? gls_tensor_axes(dwi, gradients, c.voxel, c.n, fa, c.axis)
                : gls_fail(GLS_ERR_MEMORY, "out of memory for a response from %zu voxels", c.n);
    for (size_t i = 0; i < c.n; i++) c.rank[i] = i;
    if (status == GLS_OK) status = respond(dwi, gradients, &c, c.n, ORDER, GLS_NO_SHELL, &made);
    if (status == GLS_OK) status = mark(&dwi->grid, &c, c.n, voxels);
    if (status != GLS_OK) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    finish(&c);
    free(fa);
    return status;
}

/* What the passes of tournier share. */
typedef struct passes {
    const gls_image *dwi;
    const gls_gradients *gradients, *selected;
    const size_t *volume;
    const gls_sphere *sphere;
    gls_image *region;
    candidates c;
} passes;

/* Score and axis of one voxel: a high first peak, a second that is as low as possible. */
static void score_voxel(const gls_sphere *sphere, const double *matrix, int order, const double *sh, double *score,
                        double axis[3])
{
    const gls_peak_options options = {.size = sizeof options, .relative_threshold = 0, .min_separation_angle = 0};
    size_t k = gls_sh_count(order);
    double value[GLS_SPHERE_MAX_DIRECTIONS], height[2] = {0, 0};
    uint32_t peak[2];
    for (size_t v = 0; v < sphere->n; v++) {
        value[v] = 0;
        for (size_t j = 0; j < k; j++) value[v] += matrix[v * k + j] * sh[j];
    }
    size_t n = gls_peaks_find(sphere, value, &options, peak, 2);
    for (size_t i = 0; i < n && i < 2; i++) {
        double u[3] = {sphere->vertex[peak[i]][0], sphere->vertex[peak[i]][1], sphere->vertex[peak[i]][2]};
        height[i] = gls_peak_climb(order, sh, u);
        if (i == 0) memcpy(axis, u, sizeof u);
    }
    double ratio = height[0] > 0 ? fmax(0, height[1]) / height[0] : 1;
    *score = height[0] > 0 ? sqrt(height[0]) * (1 - ratio) * (1 - ratio) : -1;
    if (n == 0) memcpy(axis, sphere->vertex[0], 3 * sizeof *axis);
}

/* Deconvolves the region with a response and scores its voxels. */
static gls_status score_region(passes *p, const gls_response *response, int order)
{
    gls_image *sh = NULL;
    size_t k = gls_sh_count(order), all = gls_grid_voxels(&p->dwi->grid);
    double *matrix = malloc(p->sphere->n * k * sizeof *matrix);
    gls_csd_options options = gls_csd_options_default();
    options.sh_order = order;
    gls_status status =
        matrix ? gls_csd_fit(p->dwi, p->selected, p->volume, p->region, response, &options, NULL, NULL, &sh)
               : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu directions", p->sphere->n);
    if (status != GLS_OK) goto fail;
    gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, order, (const double(*)[3])p->sphere->vertex, p->sphere->n, matrix);
    p->c.n = 0;
    for (size_t v = 0; v < all; v++)
        if (p->region->data[v] > 0) p->c.voxel[p->c.n++] = v;
#pragma omp parallel for schedule(dynamic, 64)
    for (long long i = 0; i < (long long)p->c.n; i++) {
        double own[(FIT_ORDER + 1) * (FIT_ORDER + 2) / 2];
        for (size_t j = 0; j < k; j++) own[j] = sh->data[j * all + p->c.voxel[i]];
        score_voxel(p->sphere, matrix, order, own, &p->c.score[i], p->c.axis[i]);
    }
    rank(&p->c);
fail:
    free(matrix);
    gls_image_destroy(sh);
    return status;
}

/* The next region: what lies within a voxel of the n best, in the mask. */
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

/* Whether the n best are those of the last pass, which they replace. */
static bool same_as_last(const passes *p, size_t n, uint8_t *last, size_t all)
{
    size_t same = 0;
    for (size_t i = 0; i < n; i++) same += last[p->c.voxel[p->c.rank[i]]];
    memset(last, 0, all);
    for (size_t i = 0; i < n; i++) last[p->c.voxel[p->c.rank[i]]] = 1;
    return same == n;
}

static gls_status repeat(passes *p, const gls_image *mask, size_t wanted, size_t shell, uint8_t *last,
                         gls_tissue_response **made)
{
    gls_response response = {.is_zonal = true, .order = FIRST_ORDER, .zonal = {1, -1, 1}};
    size_t all = gls_grid_voxels(&mask->grid);
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        gls_status status = score_region(p, &response, response.order < FIT_ORDER ? response.order : FIT_ORDER);
        size_t n = wanted < p->c.n ? wanted : p->c.n;
        if (status == GLS_OK) status = check_count(n);
        if (status != GLS_OK) return status;
        bool settled = same_as_last(p, n, last, all);
        gls_tissue_response_destroy(*made);
        *made = NULL;
        status = respond(p->dwi, p->gradients, &p->c, n, pass ? ORDER : FIRST_ORDER, shell, made);
        if (status == GLS_OK) status = shrink(p, mask, REGION_FACTOR * wanted);
        if (status != GLS_OK) return status;
        if (settled) {
            gls_log(GLS_LOG_INFO, "response: its %zu voxels settled after %d passes", n, pass + 1);
            return GLS_OK;
        }
        response.order = (*made)->order < GLS_CSD_MAX_ORDER ? (*made)->order : GLS_CSD_MAX_ORDER;
        for (int l = 0; l <= response.order; l += 2) response.zonal[l / 2] = (*made)->zonal[l / 2];
    }
    gls_log(GLS_LOG_INFO, "response: its voxels still changed after %d passes", MAX_PASSES);
    return GLS_OK;
}

gls_status gls_responses_tournier(const gls_image *dwi, const gls_gradients *gradients, const gls_image *mask,
                                  const gls_responses_options *options, gls_tissue_response **response,
                                  gls_image **voxels)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(dwi && gradients && mask && response && dwi->n_volumes == gradients->n);
    const gls_responses_options defaults = gls_responses_options_default();
    if (!options) options = &defaults;
    passes p = {.dwi = dwi, .gradients = gradients};
    gls_gradients *selected = NULL;
    gls_sphere *sphere = NULL;
    gls_tissue_response *made = NULL;
    size_t shell = 0, *volume = NULL, all = gls_grid_voxels(&dwi->grid);
    double bval = 0;
    uint8_t *last = calloc(all, 1);
    gls_status status = gls_grid_require_equal(&dwi->grid, "series", &mask->grid, "mask");
    if (status == GLS_OK && !last) status = gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", all);
    if (status == GLS_OK) status = choose_shell(gradients, options->bval, &shell, &bval);
    if (status == GLS_OK) status = gls_gradients_select_shell(gradients, bval, &selected, &volume);
    if (status == GLS_OK) status = gls_sphere_create("default", &sphere);
    if (status == GLS_OK) status = gls_image_create(&dwi->grid, 1, &p.region);
    if (status == GLS_OK) status = start(&p.c, all);
    if (status != GLS_OK) goto fail;
    memcpy(p.region->data, mask->data, all * sizeof *mask->data);
    p.selected = selected;
    p.volume = volume;
    p.sphere = sphere;
    status = repeat(&p, mask, options->n_voxels, shell, last, &made);
    if (status == GLS_OK)
        status = mark(&dwi->grid, &p.c, options->n_voxels < p.c.n ? options->n_voxels : p.c.n, voxels);
    if (status != GLS_OK) goto fail;
    *response = made;
    made = NULL;
fail:
    gls_tissue_response_destroy(made);
    gls_image_destroy(p.region);
    finish(&p.c);
    gls_gradients_destroy(selected);
    gls_sphere_destroy(sphere);
    free(volume);
    free(last);
    return status;
}
