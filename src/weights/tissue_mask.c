/* Samples an image of five tissues in the voxels of FODs, and turns it into mask and scale. */
#include "weights/tissue_mask.h"

#include <math.h>

#include "util/maths.h"
#include "util/status.h"

enum { CORTICAL, SUBCORTICAL, WHITE, CSF, PATHOLOGY, N_TISSUES };

#define SIDE 10 /* points along each axis of a voxel */
/* A voxel needs tissue in more than half of its points. */
#define MIN_SAMPLES (SIDE * SIDE * SIDE / 2)

/* Interpolates linearly; points beyond the outer voxel centres take the nearest values. */
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

/* Clamps values to 0 .. 1. Returns false if the voxel has no tissue. */
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

/* Share of each tissue among sample points of a voxel; all 0 if at most half of the points have a tissue. */
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

/* Whether two grids are equal within a thousandth of a voxel; the tissue image then needs no interpolation. */
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

/* Fills mask and scale for all voxels with an FOD, by value or by sampling if the grids differ. */
static void fill(const gls_image *tissue, const gls_image *sh, gls_image *mask, gls_image *scale)
{
    const bool same = same_grid(&tissue->grid, &sh->grid);
    const int32_t *dim = sh->grid.dim;
    const size_t n = gls_grid_voxels(&sh->grid);
    double inverse[3][4], map[3][4];
    /* from voxels of the FODs to voxels of the tissue image */
    gls_grid_inverse(&tissue->grid, inverse);
    for (int c = 0; c < 4; c++)
        for (int r = 0; r < 3; r++) {
            map[r][c] = c == 3 ? inverse[r][3] : 0;
            for (int k = 0; k < 3; k++) map[r][c] += inverse[r][k] * sh->grid.affine[k][c];
        }
#pragma omp parallel for schedule(dynamic, 64)
    for (size_t v = 0; v < n; v++) {
        /* where there is no FOD the mask stays 0, and the scale 1 */
        double share[N_TISSUES] = {0};
        if (scale) scale->data[v] = 1;
        if (!isfinite(sh->data[v]) || sh->data[v] == 0) continue;
        /* on one grid the shares are those of the voxel; else they come from sample points */
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

gls_status gls_tissue_mask(const gls_image *tissue, const char *name, const gls_image *sh, gls_image **mask,
                           gls_image **scale)
{
    if (tissue->n_volumes != N_TISSUES)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has %zu volumes: must have 5, of cortical and subcortical grey matter, white matter, CSF "
                        "and pathology",
                        name, tissue->n_volumes);
    warn_of_range(tissue, name);
    gls_image *m = NULL, *s = NULL;
    gls_status status = gls_image_create(&sh->grid, 1, &m);
    if (!status && scale) status = gls_image_create(&sh->grid, 1, &s);
    if (status) goto fail;
    fill(tissue, sh, m, s);
    float most = 0;
    for (size_t v = 0; v < gls_grid_voxels(&sh->grid); v++) most = fmaxf(most, m->data[v]);
    if (!(most > 0)) {
        status = gls_fail(GLS_ERR_INPUT, "%s: no voxel with an FOD has white matter: of another place?", name);
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
