#include "ref/ifod.h"

#include <glslines/sh.h>

#include <math.h>
#include <string.h>

#include "track/shader/packed.h"
#include "util/maths.h"

#define STEP_BACKWARD 0x80000000u

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void unit(double v[3])
{
    double s = 1 / sqrt(dot(v, v));
    for (int a = 0; a < 3; a++) v[a] *= s;
}

bool ifod_ref_init(ifod_ref *ref, const gls_track_params *params, const gls_image *sh, const gls_image *stop)
{
    const double *side = sh->grid.voxel_size;
    *ref = (ifod_ref){.params = params, .sh = sh, .stop = stop, .order = gls_sh_order(sh->n_volumes)};
    return gls_ifod_grid_make(params, ref->order, cbrt(side[0] * side[1] * side[2]),
                              params->dg == GLS_DG_IFOD2 ? params->ifod_samples - 1 : 0, &ref->grid) == GLS_OK;
}

void ifod_ref_finish(ifod_ref *ref)
{
    gls_ifod_grid_finish(&ref->grid);
}

/* Interpolates trilinearly; the outermost half voxel is constant. */
static double interpolated(const gls_image *image, size_t volume, const double p[3])
{
    size_t low[3], high[3];
    double f[3], sum = 0;
    const int32_t *dim = image->grid.dim;
    for (int a = 0; a < 3; a++) {
        double q = fmax(0, fmin(p[a], dim[a] - 1));
        low[a] = (size_t)q;
        high[a] = low[a] + 1 < (size_t)dim[a] ? low[a] + 1 : low[a];
        f[a] = q - (double)low[a];
    }
    for (int corner = 0; corner < 8; corner++) {
        size_t at[3];
        double w = 1;
        for (int a = 0; a < 3; a++) {
            at[a] = corner >> a & 1 ? high[a] : low[a];
            w *= corner >> a & 1 ? f[a] : 1 - f[a];
        }
        sum += w * image->data[((volume * (size_t)dim[2] + at[2]) * (size_t)dim[1] + at[1]) * (size_t)dim[0] + at[0]];
    }
    return sum;
}

static bool inside(const ifod_ref *ref, const double p[3])
{
    for (int a = 0; a < 3; a++)
        if (p[a] < -0.5 || p[a] >= ref->sh->grid.dim[a] - 0.5) return false;
    return true;
}

/* Whether p lies in the grid, and the FOD of the nearest voxel is not 0. */
static bool has_fod(const ifod_ref *ref, const double p[3])
{
    const int32_t *dim = ref->sh->grid.dim;
    size_t n = gls_grid_voxels(&ref->sh->grid), at = 0;
    if (!inside(ref, p)) return false;
    for (int a = 2; a >= 0; a--) at = at * (size_t)dim[a] + (size_t)floor(p[a] + 0.5);
    for (size_t j = 0; j < 4; j++)
        if (ref->sh->data[j * n + at] != 0) return true;
    return false;
}

double ifod_amplitude(const ifod_ref *ref, const double p[3], const double d[3])
{
    double y[GLS_SH_MAX_ORDER * GLS_SH_MAX_ORDER], sum = 0;
    if (gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, ref->order, (const double(*)[3])d, 1, y) != GLS_OK) return NAN;
    for (size_t j = 0; j < ref->sh->n_volumes; j++) sum += y[j] * interpolated(ref->sh, j, p);
    return sum;
}

/* --- random numbers ------------------------------------------------------- */

typedef struct numbers {
    uint64_t key;
    uint32_t seed, step;
} numbers;

static double part(uint32_t word)
{
    return ((word >> 8) + 0.5) / 16777216.0;
}

static void words_of(const numbers *n, uint32_t block, uint32_t word[4])
{
    gls_philox((const uint32_t[4]){block, n->step, n->seed, 0x80000000u}, n->key, word);
}

static void random_direction(const numbers *n, uint32_t block, double d[3])
{
    uint32_t word[4];
    words_of(n, block, word);
    double angle = 2 * acos(-1.0) * (word[0] >> 8) / 16777216.0, z = 2 * part(word[1]) - 1, r = sqrt(1 - z * z);
    d[0] = r * cos(angle);
    d[1] = r * sin(angle);
    d[2] = z;
}

/* Returns the same direction with the precision of a word, as pass 1 leaves it to pass 2. */
static void pack(double d[3])
{
    double norm = fabs(d[0]) + fabs(d[1]) + fabs(d[2]), a = d[0] / norm, b = d[1] / norm, x = a;
    float f[3];
    if (d[2] < 0) {
        a = (1 - fabs(b)) * (x < 0 ? -1 : 1);
        b = (1 - fabs(x)) * (b < 0 ? -1 : 1);
    }
    gls_direction_unpack(
        (uint32_t)floor((a / 2 + 0.5) * 65535 + 0.5) | (uint32_t)floor((b / 2 + 0.5) * 65535 + 0.5) << 16, f);
    for (int i = 0; i < 3; i++) d[i] = f[i];
}

/* --- candidates ----------------------------------------------------------- */

/* Moves d by an angle towards `across`. */
static void bent(const double d[3], const double across[3], double angle, double e[3])
{
    for (int a = 0; a < 3; a++) e[a] = cos(angle) * d[a] + sin(angle) * across[a];
}

static void frame(const double d[3], double turn, double across[3])
{
    double side = d[2] < 0 ? -1 : 1, a = -1 / (side + d[2]), b = d[0] * d[1] * a;
    const double x[3] = {1 + side * d[0] * d[0] * a, side * b, -side * d[0]}, y[3] = {b, side + d[1] * d[1] * a, -d[1]};
    for (int i = 0; i < 3; i++) across[i] = cos(turn) * x[i] + sin(turn) * y[i];
}

/* Computes places i of n on the arc of a step, voxels. */
static void arc_place(const ifod_ref *ref, const double p[3], const double d[3], const double across[3], double angle,
                      double share, double q[3])
{
    double step = ref->params->step_size, along = step * share, aside = 0;
    if (angle > 1e-9) {
        along = step / angle * sin(angle * share);
        aside = step / angle * (1 - cos(angle * share));
    }
    for (int a = 0; a < 3; a++) q[a] = p[a] + (along * d[a] + aside * across[a]) / ref->sh->grid.voxel_size[a];
}

enum { LEFT = -1 };

/* Returns the weight of an arc; 0: below the cutoff; LEFT: it leaves the grid. */
static double weight_of(const ifod_ref *ref, const double p[3], const double d[3], const double across[3], double angle,
                        bool is_fixed)
{
    double e[3], q[3], weight = 1, cutoff = ref->params->fod_cutoff;
    int n = ref->params->ifod_samples - 1;
    if (ref->params->dg == GLS_DG_IFOD1) {
        bent(d, across, angle, e);
        unit(e);
        double f = ifod_amplitude(ref, p, e);
        return f > (is_fixed ? 0 : cutoff) ? f : 0;
    }
    for (int i = 1; i <= n; i++) {
        arc_place(ref, p, d, across, angle, (double)i / n, q);
        if (!has_fod(ref, q)) return LEFT;
        bent(d, across, angle * i / n, e);
        double f = ifod_amplitude(ref, q, e);
        if (f < cutoff || f <= 0) return 0;
        weight *= pow(f, gls_ifod_power(ref->params) * (i < n ? 1 : 0.5));
    }
    return weight;
}

/* Returns why there is no next direction; GLS_END_COUNT: there is one, in *d. */
static gls_end choose(const ifod_ref *ref, const numbers *n, const double p[3], double d[3])
{
    double largest = 0, across[3], e[3];
    if (ref->params->dg == GLS_DG_IFOD1 && !has_fod(ref, p)) return GLS_END_OUTSIDE;
    for (size_t c = 0; c < ref->grid.n; c++) {
        frame(d, ref->grid.direction[c][1], across);
        double weight = weight_of(ref, p, d, across, ref->grid.direction[c][0], true);
        if (weight == LEFT) return GLS_END_OUTSIDE;
        largest = fmax(largest, weight);
    }
    if (largest <= 0) return GLS_END_NO_DIRECTION;
    for (int trial = 0; trial < ref->params->fod_trials; trial++) {
        uint32_t word[4];
        words_of(n, (uint32_t)ref->grid.n + (uint32_t)trial, word);
        double angle = acos(1 - part(word[0]) * (1 - cos(ref->params->max_angle * acos(-1.0) / 180)));
        frame(d, 2 * acos(-1.0) * part(word[1]), across);
        double weight = weight_of(ref, p, d, across, angle, false);
        if (weight <= 0 || part(word[2]) * largest * ref->grid.ratio >= weight) continue;
        bent(d, across, angle, e);
        unit(e);
        memcpy(d, e, sizeof e);
        return GLS_END_COUNT;
    }
    return GLS_END_NO_DIRECTION;
}

/* --- peaks ---------------------------------------------------------------- */

/* Climbs to the maximum by differences. Returns the amplitude there, or -1. */
static double climb(const ifod_ref *ref, const double p[3], double d[3])
{
    const double h = 1e-4;
    for (int turn = 0; turn < 50; turn++) {
        double axis[2][3], slope[2], e[3], uphill[3], f = ifod_amplitude(ref, p, d);
        for (int i = 0; i < 2; i++) {
            double there[2];
            frame(d, i * acos(-1.0) / 2, axis[i]);
            for (int s = 0; s < 2; s++) {
                bent(d, axis[i], s ? h : -h, e);
                there[s] = ifod_amplitude(ref, p, e);
            }
            slope[i] = (there[1] - there[0]) / (2 * h);
        }
        double rise = hypot(slope[0], slope[1]), there[2];
        if (rise == 0) return f;
        for (int a = 0; a < 3; a++) uphill[a] = (slope[0] * axis[0][a] + slope[1] * axis[1][a]) / rise;
        for (int s = 0; s < 2; s++) {
            bent(d, uphill, s ? h : -h, e);
            there[s] = ifod_amplitude(ref, p, e);
        }
        double bend = fabs(there[0] + there[1] - 2 * f) / (h * h), angle = fmin(0.2, rise / fmax(bend, 1e-30));
        for (int a = 0; a < 3; a++) d[a] += angle * uphill[a];
        unit(d);
        if (angle < 1e-4) return f;
    }
    return -1;
}

/* --- streamlines ---------------------------------------------------------- */

static bool start(const ifod_ref *ref, const numbers *n, const double p[3], double d[3])
{
    bool climbs = ref->params->dg == GLS_DG_SDSTREAM;
    if (!has_fod(ref, p)) return false;
    for (int i = 0; i < (climbs ? 1 : ref->params->seed_attempts); i++) {
        random_direction(n, (uint32_t)i, d);
        double f = climbs ? climb(ref, p, d) : ifod_amplitude(ref, p, d);
        if (f > 0 && (climbs ? f >= ref->params->fod_cutoff : f > ref->params->fod_cutoff)) {
            pack(d);
            return true;
        }
    }
    return false;
}

/* Tracks a half from p along d: its points, and the parts of steps that it passed. */
static size_t track_half(const ifod_ref *ref, numbers n, const double seed[3], const double first[3], size_t most,
                         double (*point)[3], size_t *parts, gls_end *end)
{
    const gls_track_params *params = ref->params;
    int each = params->dg == GLS_DG_IFOD2 ? params->ifod_samples - 1 : 1;
    double p[3], d[3], cosine = cos(params->max_angle * acos(-1.0) / 180);
    memcpy(p, seed, sizeof p);
    memcpy(d, first, sizeof d);
    size_t count = 0;
    *parts = 0;
    for (;; n.step++) {
        double before[3], across[3], q[3];
        int passed = 0;
        memcpy(before, d, sizeof d);
        *end = GLS_END_COUNT;
        if (params->dg != GLS_DG_SDSTREAM)
            *end = choose(ref, &n, p, d);
        else if (!has_fod(ref, p))
            *end = GLS_END_OUTSIDE;
        else if (climb(ref, p, d) < fmax(params->fod_cutoff, 1e-30) || dot(d, before) < cosine)
            *end = GLS_END_NO_DIRECTION;
        if (*end != GLS_END_COUNT) return count;
        for (int a = 0; a < 3; a++) across[a] = d[a] - dot(d, before) * before[a];
        double s = sqrt(dot(across, across)), angle = atan2(s, dot(d, before));
        for (int a = 0; a < 3; a++) across[a] /= fmax(s, 1e-30);
        for (int i = 1; i <= each && *end == GLS_END_COUNT; i++) {
            if (params->dg == GLS_DG_IFOD2)
                arc_place(ref, p, before, across, angle, (double)i / each, q);
            else
                arc_place(ref, p, d, across, 0, 1, q);
            if (!inside(ref, q))
                *end = GLS_END_OUTSIDE;
            else if (interpolated(ref->stop, 0, q) <= params->stop_threshold)
                *end = GLS_END_STOP_MAP;
            if (*end == GLS_END_COUNT) {
                memcpy(point[count], q, sizeof q);
                passed = i;
            }
        }
        if (passed > 0) memcpy(p, point[count++], sizeof p);
        *parts += (size_t)passed;
        if (*end != GLS_END_COUNT) return count;
        *end = GLS_END_MAX_LENGTH;
        if (count >= most) return count;
    }
}

bool ifod_track(const ifod_ref *ref, const double seed[3], uint32_t index, double (*point)[3], size_t *n, size_t *parts,
                gls_end ends[2])
{
    numbers random = {ref->params->rng_seed, index, 0};
    double d[3], back[3];
    size_t most = (size_t)floor(ref->params->max_length / ref->params->step_size * (1 + 1e-9)), passed[2];
    if (!start(ref, &random, seed, d)) return false;
    for (int a = 0; a < 3; a++) back[a] = -d[a];
    random.step = 1 | STEP_BACKWARD;
    size_t backward = track_half(ref, random, seed, back, most, point, &passed[0], &ends[0]);
    for (size_t i = 0; i < backward / 2; i++) {
        double swapped[3];
        memcpy(swapped, point[i], sizeof swapped);
        memcpy(point[i], point[backward - 1 - i], sizeof swapped);
        memcpy(point[backward - 1 - i], swapped, sizeof swapped);
    }
    memcpy(point[backward], seed, sizeof *point);
    random.step = 1;
    *n = backward + 1 + track_half(ref, random, seed, d, most, point + backward + 1, &passed[1], &ends[1]);
    *parts = passed[0] + passed[1];
    return true;
}
