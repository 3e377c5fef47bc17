/* The interface of grey and white matter (Smith et al. 2012; rules as in MRtrix3): finds it near a seed, crops
 * streamlines at it, and makes its image. Also checks that the mask has tissue. */
#include <math.h>
#include <string.h>

#include "image/tissue_interface.h"
#include "image/tissue_image.h"
#include "util/maths.h"
#include "util/status.h"

/* distance from a seed, mm, of the two points whose tissue is compared to find the direction into white matter */
#define PROBE 1e-3

/* Maps voxel coordinates of the streamlines to voxel coordinates of the box. */
static void to_box(const gls_tissue *t, const double point[3], double box[3])
{
    gls_affine_apply(t->exact, point, box);
}

/* Grey minus white matter: 0 at the interface, positive on the side of grey matter. */
static double excess(const double v[GLS_TISSUE_TYPES])
{
    return v[GLS_TISSUE_CGM] + v[GLS_TISSUE_SGM] - v[GLS_TISSUE_WM];
}

bool gls_tissue_rises(const gls_tissue *t, const float point[3], const float direction[3])
{
    double f[2];
    for (int side = 0; side < 2; side++) {
        double p[3], box[3], v[GLS_TISSUE_TYPES];
        for (int a = 0; a < 3; a++) p[a] = point[a] + (side ? -PROBE : PROBE) * direction[a] / t->grid.voxel_size[a];
        to_box(t, p, box);
        gls_tissue_blend(t, box, v, NULL);
        f[side] = excess(v);
    }
    return f[0] > f[1];
}

/* Point at parameter u, 0 at p[1] to 1 at p[2], of MRtrix3's Hermite curve with tension 0.05. */
static void hermite(const double p[4][3], double u, double out[3])
{
    const double k = 0.05, u2 = u * u, u3 = u2 * u;
    const double w[4] = {(0.5 - k) * (2 * u2 - u3 - u), 1 + (1.5 + k) * u3 - (2.5 + k) * u2,
                         (2 + 2 * k) * u2 + (0.5 - k) * u - (1.5 + k) * u3, (0.5 - k) * (u3 - u2)};
    for (int a = 0; a < 3; a++) out[a] = w[0] * p[0][a] + w[1] * p[1][a] + w[2] * p[2][a] + w[3] * p[3][a];
}

/* Finds the interface by bisection of parameter u of a Hermite curve from point `from` to point `last`, as MRtrix3
 * does. A point extrapolated behind `last` is the fourth point of the curve. excess() is positive in grey matter. */
bool gls_tissue_crop(const gls_tissue *t, const double before[3], const double from[3], double last[3])
{
    double p[4][3], v[GLS_TISSUE_TYPES], box[3], low = 0, high = 1;
    bool moved = false;
    for (int a = 0; a < 3; a++) {
        p[0][a] = before[a];
        p[1][a] = from[a];
        p[2][a] = last[a];
        p[3][a] = last[a] + (last[a] - from[a]) + ((last[a] - from[a]) - (from[a] - before[a]));
    }
    to_box(t, from, box);
    gls_tissue_blend(t, box, v, NULL);
    double at_from = excess(v);
    to_box(t, last, box);
    gls_tissue_blend(t, box, v, NULL);
    double at_last = excess(v);
    if (!((at_last > 0 && at_from < 0) || (at_last < 0 && at_from > 0)) || at_last < GLS_TISSUE_ACCURACY) return false;
    for (int i = 0; i < 10; i++) {
        double u = (low + high) / 2, q[3];
        hermite((const double(*)[3])p, u, q);
        to_box(t, q, box);
        gls_tissue_blend(t, box, v, NULL);
        if (excess(v) < 0) {
            low = u;
            continue;
        }
        high = u;
        memcpy(last, q, sizeof q);
        moved = true;
        if (excess(v) < GLS_TISSUE_ACCURACY) break;
    }
    return moved;
}

/* --- finding the interface ------------------------------------------------- */

/* A point that is moved onto the interface. */
typedef struct moved_point {
    double inverse[3][4]; /* affine map from world mm to voxel coordinates of the tissue image */
    double world[3], value[GLS_TISSUE_TYPES], slope[3]; /* world: position, mm; value: tissue fractions there; slope:
                                                           gradient of grey minus white matter, 1/mm */
    double least;                                       /* smallest voxel side of the tissue image, mm */
    bool valid;
} moved_point;

/* Interpolates the tissue fractions at the point (p->value), and the gradient of grey minus white matter (p->slope),
 * 1/mm along the world axes. Sets p->valid. */
static void look(const gls_tissue *t, moved_point *p)
{
    double box[3], gradient[3];
    gls_affine_apply((const double(*)[4])p->inverse, p->world, box);
    for (int a = 0; a < 3; a++) box[a] -= t->origin[a];
    p->valid = gls_tissue_blend(t, box, p->value, gradient);
    for (int a = 0; a < 3; a++) {
        p->slope[a] = 0;
        for (int k = 0; k < 3; k++) p->slope[a] += p->inverse[k][a] * gradient[k];
    }
}

/* Newton's step to the interface, at most half the smallest voxel side long. Returns false if there is no step: at a
 * point on the interface, at a point without tissue, or if the slope is zero. */
static bool newton(const moved_point *p, double step[3])
{
    double square = 0, f = excess(p->value), length = 0;
    for (int a = 0; a < 3; a++) square += p->slope[a] * p->slope[a];
    if (!p->valid || square == 0) return false;
    for (int a = 0; a < 3; a++) {
        step[a] = -p->slope[a] * f / square;
        length += step[a] * step[a];
    }
    length = sqrt(length);
    if (length == 0) return false;
    if (length > p->least / 2)
        for (int a = 0; a < 3; a++) step[a] *= p->least / 2 / length;
    return true;
}

/* Moves the point by a step in mm and looks up the tissue there. */
static void go(const gls_tissue *t, moved_point *p, const double step[3])
{
    for (int a = 0; a < 3; a++) p->world[a] += step[a];
    look(t, p);
}

/* Whether ACT rejects seeds in this tissue: CSF, pathology, or no white matter at all. */
static bool is_no_seed(const double v[GLS_TISSUE_TYPES])
{
    float f[GLS_TISSUE_TYPES];
    for (int i = 0; i < GLS_TISSUE_TYPES; i++) f[i] = (float)v[i];
    const float path = f[GLS_TISSUE_PATH];
    bool is_path =
        path >= f[GLS_TISSUE_CGM] && path >= f[GLS_TISSUE_SGM] && path >= f[GLS_TISSUE_WM] && path > f[GLS_TISSUE_CSF];
    return gls_tissue_is_csf(f) || is_path || f[GLS_TISSUE_WM] == 0;
}

/* Goes to the interface by Newton steps along the gradient, then on to the side of grey matter: as in MRtrix3, a seed
 * lies just inside grey matter. */
bool gls_tissue_find_interface(const gls_tissue *t, double world[3])
{
    const double *side = t->image.voxel_size;
    double step[3];
    moved_point p = {.least = fmin(side[0], fmin(side[1], side[2]))};
    gls_grid_inverse(&t->image, p.inverse);
    memcpy(p.world, world, sizeof p.world);
    look(t, &p);
    for (int i = 0; i < 10 && newton(&p, step); i++) {
        go(t, &p, step);
        if (!p.valid || fabs(excess(p.value)) <= GLS_TISSUE_ACCURACY) break;
    }
    if (!p.valid || is_no_seed(p.value) || fabs(excess(p.value)) > GLS_TISSUE_ACCURACY) return false;
    if (excess(p.value) < 0) {
        /* step over the interface to the grey matter side, by steps that grow */
        if (!newton(&p, step)) return false;
        for (;;) {
            double length = 0;
            for (int a = 0; a < 3; a++) {
                step[a] *= 1.5;
                length += step[a] * step[a];
            }
            go(t, &p, step);
            if (p.valid && excess(p.value) >= 0 && excess(p.value) < GLS_TISSUE_ACCURACY) break;
            if (sqrt(length) >= p.least / 2) return false;
        }
    }
    memcpy(world, p.world, sizeof p.world);
    return true;
}

/* --- images ---------------------------------------------------------------- */

/* Tissue fractions of a voxel, by its coordinates in the whole image. Voxels outside the box have no tissue. */
static const float *value_at(const gls_tissue *t, int32_t x, int32_t y, int32_t z)
{
    static const float none[GLS_TISSUE_TYPES] = {0};
    const int32_t i[3] = {x - t->origin[0], y - t->origin[1], z - t->origin[2]};
    for (int a = 0; a < 3; a++)
        if (i[a] < 0 || i[a] >= t->size[a]) return none;
    return t->value[((size_t)i[2] * (size_t)t->size[1] + (size_t)i[1]) * (size_t)t->size[0] + (size_t)i[0]];
}

/* Change of the tissue at a voxel along an axis, per voxel, from the two neighbours, or from one neighbour and the
 * voxel itself at the border of the image: the smaller of the absolute changes of grey matter and of white matter. */
static double step_along(const gls_tissue *t, const int32_t at[3], int axis)
{
    int32_t low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    double scale = 0.5;
    if (at[axis] == 0)
        scale = 1;
    else
        low[axis]--;
    if (at[axis] == t->image.dim[axis] - 1)
        scale = 1;
    else
        high[axis]++;
    const float *a = value_at(t, low[0], low[1], low[2]), *b = value_at(t, high[0], high[1], high[2]);
    double gm = fabs((double)gls_tissue_gm(b) - gls_tissue_gm(a)),
           wm = fabs((double)b[GLS_TISSUE_WM] - a[GLS_TISSUE_WM]);
    return scale * fmin(gm, wm);
}

gls_status gls_tissue_interface(const gls_tissue *t, gls_image **out)
{
    GLS_REQUIRE(t && out);
    gls_status status = gls_image_create(&t->image, 1, out);
    if (status) return status;
    size_t v = 0;
    for (int32_t z = 0; z < t->image.dim[2]; z++)
        for (int32_t y = 0; y < t->image.dim[1]; y++)
            for (int32_t x = 0; x < t->image.dim[0]; x++, v++) {
                double square = 0;
                for (int a = 0; a < 3; a++) {
                    double step = step_along(t, (const int32_t[3]){x, y, z}, a);
                    square += step * step;
                }
                (*out)->data[v] = (float)sqrt(square);
            }
    return GLS_OK;
}

/* Whether a voxel has no tissue, but one of its six neighbours more than 0.5 white matter. voxel: coordinates in the
 * tissue image. */
static bool touches_white_matter(const gls_tissue *t, const double voxel[3])
{
    int32_t i[3];
    for (int a = 0; a < 3; a++) {
        i[a] = (int32_t)floor(voxel[a] + 0.5);
        if (i[a] < 0 || i[a] >= t->image.dim[a]) return false;
    }
    const float *v = value_at(t, i[0], i[1], i[2]);
    for (int k = 0; k < GLS_TISSUE_TYPES; k++)
        if (v[k] != 0) return false;
    for (int k = 0; k < 6; k++) {
        int32_t n[3] = {i[0], i[1], i[2]};
        n[k / 2] += k % 2 ? 1 : -1;
        if (value_at(t, n[0], n[1], n[2])[GLS_TISSUE_WM] > 0.5f) return true;
    }
    return false;
}

gls_status gls_tissue_check(const gls_tissue *t, const gls_image *mask)
{
    GLS_REQUIRE(t && mask && gls_grid_voxels(&mask->grid) == gls_grid_voxels(&t->grid));
    size_t n = 0, covered = 0, holes = 0, v = 0;
    for (int32_t z = 0; z < mask->grid.dim[2]; z++)
        for (int32_t y = 0; y < mask->grid.dim[1]; y++)
            for (int32_t x = 0; x < mask->grid.dim[0]; x++, v++) {
                const float point[3] = {(float)x, (float)y, (float)z};
                float value[GLS_TISSUE_TYPES];
                if (!(mask->data[v] > 0)) continue;
                n++;
                if (gls_tissue_at(t, point, value)) {
                    covered++;
                    continue;
                }
                /* a voxel of the mask without tissue is a hole if the tissue image has white matter beside it */
                double box[3];
                to_box(t, (const double[3]){x, y, z}, box);
                for (int a = 0; a < 3; a++) box[a] += t->origin[a];
                holes += touches_white_matter(t, box);
            }
    if (covered == 0)
        return gls_fail(GLS_ERR_INPUT, "%s: no voxel of the mask has tissue: are the images registered to each other?",
                        t->name);
    if (n < v && 2 * covered < n) /* a mask of all voxels excludes nothing */
        gls_log(GLS_LOG_WARNING, "%s: only %.0f %% of the mask's voxels have tissue; are the images registered?",
                t->name, 100.0 * (double)covered / (double)n);
    if (holes > 0)
        gls_log(
            GLS_LOG_WARNING,
            "%s: %zu voxels of the mask beside white matter have no tissue: streamlines end there as at the border of "
            "the image",
            t->name, holes);
    return GLS_OK;
}
