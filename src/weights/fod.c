/* Reads an image of FODs, and the mask or tissue image that weights its voxels, and segments the FODs into fixels. */
#include "weights/fod.h"

#include <inttypes.h>
#include <math.h>

#include <glslines/odf.h>
#include <glslines/sh.h>

#include "dwi/image_kind.h"
#include "dwi/model_options.h"
#include "image/grid.h"
#include "image/reorient.h"
#include "transform/bring.h"
#include "util/clock.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"

enum { CORTICAL, SUBCORTICAL, WHITE, CSF, PATHOLOGY, N_TISSUES };

#define SIDE 10 /* number of sample points along each axis of a voxel */
/* A voxel has tissue only if more than this number of its sample points have a tissue. */
#define MIN_SAMPLES (SIDE * SIDE * SIDE / 2)

/* Interpolates the volumes of an image linearly at the voxel coordinates p; beyond the outer voxel centres the nearest
 * values are taken. */
static void interpolate(const gls_image *image, const double p[3], double value[N_TISSUES])
{
    const int32_t *dim = image->grid.dim;
    const size_t n = gls_grid_voxels(&image->grid);
    size_t low[3], high[3];
    double t[3];
    for (int a = 0; a < 3; a++) {
        double x = fmin(fmax(p[a], 0), dim[a] - 1);
        low[a] = (size_t)x;
        high[a] = low[a] + 1 < (size_t)dim[a] ? low[a] + 1 : low[a];
        t[a] = x - (double)low[a];
    }
    for (int k = 0; k < N_TISSUES; k++) value[k] = 0;
    for (int c = 0; c < 8; c++) {
        double w = (c & 1 ? t[0] : 1 - t[0]) * (c & 2 ? t[1] : 1 - t[1]) * (c & 4 ? t[2] : 1 - t[2]);
        if (w == 0) continue;
        size_t at = ((c & 4 ? high[2] : low[2]) * (size_t)dim[1] + (c & 2 ? high[1] : low[1])) * (size_t)dim[0] +
                    (c & 1 ? high[0] : low[0]);
        for (size_t k = 0; k < N_TISSUES; k++) value[k] += w * (double)image->data[k * n + at];
    }
}

/* The tissue with the largest fraction; ties are resolved as in MRtrix3. N_TISSUES: none. */
static int winner(const double v[N_TISSUES])
{
    const double cg = v[CORTICAL], sg = v[SUBCORTICAL], wm = v[WHITE], csf = v[CSF], path = v[PATHOLOGY];
    if (cg >= sg && cg >= wm && cg > csf && cg > path) return CORTICAL;
    if (sg > cg && sg >= wm && sg > csf && sg > path) return SUBCORTICAL;
    if (wm > cg && wm > sg && wm > csf && wm > path) return WHITE;
    if (csf >= cg && csf >= sg && csf >= wm && csf >= path) return CSF;
    if (path >= cg && path >= sg && path >= wm && path > csf) return PATHOLOGY;
    return N_TISSUES;
}

/* Clamps values to 0 .. 1. Returns false, for no tissue, if a value is not finite or the sum of the clamped values is
 * below 0.5. */
static bool clamp_tissues(double value[N_TISSUES])
{
    double sum = 0;
    for (int k = 0; k < N_TISSUES; k++) {
        if (!isfinite(value[k])) return false;
        value[k] = fmin(fmax(value[k], 0), 1);
        sum += value[k];
    }
    return sum >= 0.5;
}

/* Share of each tissue among the sample points of a voxel that have a tissue; all 0 if at most half of the points have
 * one. */
static void sample_voxel(const gls_image *tissue, const double map[3][4], const int32_t voxel[3],
                         double share[N_TISSUES])
{
    int count[N_TISSUES + 1] = {0}, n = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int at[3] = {i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE)};
        double p[3], value[N_TISSUES];
        bool inside = true;
        for (int a = 0; a < 3; a++) p[a] = voxel[a] + (at[a] + 0.5) / SIDE - 0.5;
        gls_affine_apply(map, p, p);
        for (int a = 0; a < 3; a++) inside &= p[a] >= -0.5 && p[a] <= tissue->grid.dim[a] - 0.5;
        if (!inside) continue;
        interpolate(tissue, p, value);
        if (clamp_tissues(value)) count[winner(value)]++;
    }
    for (int k = 0; k < N_TISSUES; k++) n += count[k];
    for (int k = 0; k < N_TISSUES; k++) share[k] = n > MIN_SAMPLES ? (double)count[k] / n : 0;
}

/* Whether two grids have equal dimensions, and affines that are equal within a thousandth of a voxel's size; the tissue
 * image then needs no interpolation. */
static bool same_grid(const gls_grid *a, const gls_grid *b)
{
    for (int r = 0; r < 3; r++) {
        if (a->dim[r] != b->dim[r]) return false;
        for (int c = 0; c < 4; c++)
            if (fabs(a->affine[r][c] - b->affine[r][c]) > 1e-3 * a->voxel_size[r]) return false;
    }
    return true;
}

/* Warns once if a fraction lies outside 0 to 1 by more than rounding. */
static void warn_of_range(const gls_image *tissue, const char *name)
{
    const size_t n = gls_grid_voxels(&tissue->grid) * N_TISSUES;
    for (size_t i = 0; i < n; i++)
        if (!(tissue->data[i] >= -1e-5f && tissue->data[i] <= 1 + 1e-5f)) {
            gls_log(GLS_LOG_WARNING, "%s: has values outside 0 to 1, which are clamped", name);
            return;
        }
}

/* Fills mask and scale in each voxel with an FOD: from the same voxel of `tissue` if the grids are equal, else from
 * sample points in the voxel. In the other voxels scale becomes 1, and mask stays as it is. */
static void fill(const gls_image *tissue, const gls_image *sh, gls_image *mask, gls_image *scale)
{
    const bool same = same_grid(&tissue->grid, &sh->grid);
    const int32_t *dim = sh->grid.dim;
    const size_t n = gls_grid_voxels(&sh->grid);
    double inverse[3][4], map[3][4];
    gls_grid_inverse(&tissue->grid, inverse);
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++) {
            map[r][c] = c == 3 ? inverse[r][3] : 0;
            for (int k = 0; k < 3; k++) map[r][c] += inverse[r][k] * sh->grid.affine[k][c];
        }
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t v = 0; v < n; v++) {
        double share[N_TISSUES] = {0};
        if (scale) scale->data[v] = 1;
        if (!isfinite(sh->data[v]) || sh->data[v] == 0) continue;
        if (same) {
            for (size_t k = 0; k < N_TISSUES; k++) share[k] = (double)tissue->data[k * n + v];
            if (!clamp_tissues(share))
                for (size_t k = 0; k < N_TISSUES; k++) share[k] = 0;
        } else {
            const size_t x = (size_t)dim[0], y = (size_t)dim[1];
            const int32_t voxel[3] = {(int32_t)(v % x), (int32_t)(v / x % y), (int32_t)(v / (x * y))};
            sample_voxel(tissue, (const double(*)[4])map, voxel, share);
        }
        float white = (float)share[WHITE];
        mask->data[v] = white * white;
        if (scale) scale->data[v] = (float)(1 - share[CORTICAL] - 0.5 * share[SUBCORTICAL]);
    }
}

/* Makes the mask and the scale from `tissue`. The volumes of `tissue` are cortical and subcortical grey matter, white
 * matter, CSF and pathology; its grid may differ from that of `sh`. name: for messages. *mask: for each voxel with an
 * FOD the square of the fraction of white matter, else 0. *scale (`scale` may be NULL): factor of the density, 1 -
 * cortical - subcortical / 2; without an FOD 1. The caller destroys both. GLS_ERR_INPUT: `tissue` has not five volumes,
 * or no white matter in any voxel with an FOD. */
static gls_status tissue_mask(const gls_image *tissue, const char *name, const gls_image *sh, gls_image **mask,
                              gls_image **scale)
{
    if (tissue->n_volumes != N_TISSUES)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has %zu volume%s, but must have 5: cortical grey matter, subcortical grey matter, white "
                        "matter, CSF and pathology",
                        name, GLS_VOLUMES(tissue->n_volumes));
    warn_of_range(tissue, name);
    gls_image *m = NULL, *s = NULL;
    gls_status status = gls_image_create(&sh->grid, 1, &m);
    if (!status && scale) status = gls_image_create(&sh->grid, 1, &s);
    if (status) goto fail;
    fill(tissue, sh, m, s);
    float most = 0;
    for (size_t v = 0; v < gls_grid_voxels(&sh->grid); v++) most = fmaxf(most, m->data[v]);
    if (!(most > 0)) {
        status =
            gls_fail(GLS_ERR_INPUT,
                     "%s: has no white matter in any voxel with an FOD: give an image in the space of the FODs", name);
        goto fail;
    }
    *mask = m;
    if (scale) *scale = s;
    return GLS_OK;
fail:
    gls_image_destroy(m);
    gls_image_destroy(s);
    return status;
}

/* --- FODs. */

/* Reads --act: the mask of white matter and, with --fd-scale-gm, a scale for voxels with grey matter. */
static gls_status read_tissue(const gls_fod_options *o, const gls_image *sh, gls_fod *fod)
{
    gls_image *tissue = NULL;
    gls_status status = gls_image_read(o->act, GLS_IMAGE_4D, &tissue);
    if (!status) status = gls_image_bring(&tissue, o->transform, GLS_RESAMPLE_LINEAR, 0, o->act);
    if (!status) status = tissue_mask(tissue, o->act, sh, &fod->mask, o->fd_scale_gm ? &fod->scale : NULL);
    gls_image_destroy(tissue);
    return status;
}

/* Reads --proc-mask, weights from 0 to 1. GLS_ERR_INPUT: no weight is above 0. */
static gls_status read_mask(const gls_fod_options *o, const gls_image *sh, gls_fod *fod)
{
    gls_status status = gls_image_read_mask(&sh->grid, o->sh, o->proc_mask, &fod->mask);
    bool clamped = false;
    float largest = 0;
    if (status) return status;
    for (size_t v = 0; v < gls_grid_voxels(&sh->grid); v++) {
        float *x = &fod->mask->data[v];
        clamped |= !(*x >= 0 && *x <= 1);
        *x = *x > 0 ? fminf(*x, 1) : 0; /* NaN also becomes 0 */
        largest = fmaxf(largest, *x);
    }
    if (clamped) gls_log(GLS_LOG_WARNING, "%s: has values outside 0 to 1, which are clamped", o->proc_mask);
    return largest > 0 ? GLS_OK
                       : gls_fail(GLS_ERR_INPUT,
                                  "%s: has no voxel above 0, so that no voxel would count: give another --proc-mask",
                                  o->proc_mask);
}

bool gls_fod_is_tracked(const gls_job_options *o, const gls_method *method)
{
    return o->sh || (method->fits && o->model.model != GLS_MODEL_OPDT && o->model.model != GLS_MODEL_CSA);
}

gls_fod_options gls_fod_options_default(void)
{
    return (gls_fod_options){.basis = GLS_SH_TOURNIER07, .frame = GLS_FRAME_AUTO, .fixel = gls_fixel_options_default()};
}

gls_fod_options gls_fod_options_of_run(const gls_job_options *o, const gls_transform *transform)
{
    /* the fit has coefficients in the legacy basis of DIPY along the voxel axes */
    return (gls_fod_options){.sh = o->sh ? o->sh : "the fit",
                             .basis = o->sh ? o->model.sh_basis : GLS_SH_DESCOTEAUX07_LEGACY,
                             .frame = o->sh ? o->model.sh_frame : GLS_FRAME_IMAGE,
                             .act = o->act,
                             .transform = transform,
                             .fixel = gls_fixel_options_default()};
}

gls_status gls_fod_segment(const gls_fod_options *o, const gls_image *sh, gls_fod *fod)
{
    double start = gls_clock_seconds();
    char n[32], voxels[32], seconds[32];
    gls_fixel_options fixel = o->fixel;
    gls_status status = GLS_OK;
    fixel.dilate &= !o->no_dilate;
    const gls_model_options model = {.sh_basis = o->basis, .sh_frame = o->frame};
    const gls_bvec_frame frame = gls_model_frame(&model);
    gls_image *converted = NULL;
    if (o->act && o->proc_mask)
        return gls_fail(GLS_ERR_ARGUMENT, "--act and --proc-mask exclude each other: leave out one of them");
    if (o->fd_scale_gm && !o->act) return gls_fail(GLS_ERR_ARGUMENT, "--fd-scale-gm: needs --act");
    /* fixels are found in MRtrix3's basis along the scanner axes */
    if (o->basis != GLS_SH_TOURNIER07 || frame != GLS_BVEC_WORLD) {
        status = gls_odf_convert_sh(sh, o->sh, o->basis, frame, GLS_SH_TOURNIER07, GLS_BVEC_WORLD, &converted);
        sh = converted;
    }
    if (!status && o->act) status = read_tissue(o, sh, fod);
    if (!status && o->proc_mask) status = read_mask(o, sh, fod);
    if (!status) status = gls_fixels_create(sh, o->sh, o->all_voxels ? NULL : fod->mask, &fixel, &fod->fixels);
    gls_image_destroy(converted);
    if (status) return status;
    gls_log(GLS_LOG_INFO, "fixels: %s in %s voxels, %s", gls_format_count(gls_fixels_count(fod->fixels), n, sizeof n),
            gls_format_count(gls_fixels_voxels(fod->fixels), voxels, sizeof voxels),
            gls_format_duration(gls_clock_seconds() - start, seconds, sizeof seconds));
    return GLS_OK;
}

gls_status gls_fod_read(const gls_fod_options *o, gls_fod *fod)
{
    gls_image *sh = NULL;
    gls_status status = gls_image_read(o->sh, GLS_IMAGE_4D, &sh);
    if (!status && gls_sh_order(sh->n_volumes) < 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has %zu volume%s, but images of SH coefficients of even orders up to %d have 6, 15, 28, "
                          "45, 66 ... volumes",
                          o->sh, GLS_VOLUMES(sh->n_volumes), GLS_SH_MAX_ORDER);
    if (!status) status = gls_fod_check(sh, o->sh);
    if (!status) status = gls_fod_segment(o, sh, fod);
    gls_image_destroy(sh);
    return status;
}

void gls_fod_finish(gls_fod *fod)
{
    gls_fixels_destroy(fod->fixels);
    gls_image_destroy(fod->mask);
    gls_image_destroy(fod->scale);
    *fod = (gls_fod){0};
}
