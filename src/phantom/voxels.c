/* Fills the voxels of the phantom: samples each at 27 points for its tissues and fibres, and computes its signal from
 * one tensor for each fibre population, isotropic compartments and Rician noise. The elementary functions of the signal
 * are polynomials, so that compilers can vectorise the loops and every machine computes the same noise. */
#include "phantom/voxels.h"
#include "phantom/head.h"
#include "phantom/parts.h"
#include "phantom/tubes.h"
#include "util/maths.h"
#include "util/status.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Signals at b = 0, without a unit, and diffusivities, mm2/s. */
#define S_WHITE 1000.0f
#define S_GREY 1300.0f
#define S_CSF 2500.0f
#define D_PARALLEL 1.7e-3 /* diffusivity along the fibres of a bundle; D_PERPENDICULAR: across them */
#define D_PERPENDICULAR 0.25e-3
#define D_WHITE 0.7e-3 /* diffusivity of white matter between bundles, where fibres of all directions mix */
#define D_GREY 0.8e-3
#define D_CSF 3.0e-3

/* Compartments of a row of voxels along x, from which its signal is computed. */
typedef struct phantom_row {
    int n;                     /* number of voxels */
    float *white, *grey, *csf; /* volume fractions; white: white matter without fibres only */
    size_t n_fibres;           /* fibre populations of the row, voxel after voxel */
    int32_t *voxel;            /* x of the voxel of each population */
    float *fraction,
        *direction[3]; /* volume fraction and direction of each population; a direction is a unit vector in the world */
} phantom_row;

/* Data that all rows share. */
typedef struct phantom_scan {
    const gls_gradients *gradients;
    const double (*direction)[3]; /* gradient direction of each volume, unit vector in the world; zero for b0 */
    double snr;    /* b0 signal of white matter over the standard deviation of the noise in each channel; 0: no noise */
    uint64_t seed; /* random seed of the noise */
} phantom_scan;

/* --- The signal of a row of voxels. */

#define BLOCK 64 /* number of voxels for which random words are made at a time */

/* The float with these bits. memcpy() is the way that the C standard allows. */
static inline float from_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The bits of a float as an integer. */
static inline int32_t to_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* e^x for -80 <= x <= 0: 2^n from the exponent's bits, times a polynomial of the rest. */
static inline float decay(float x)
{
    float y = x * 1.44269504f;
    int32_t n = (int32_t)(y - 0.5f);
    float f = (y - (float)n) * 0.693147181f;
    float e =
        1.0f +
        f * (1.0f + f * (0.5f + f * (1.66666667e-1f + f * (4.16666667e-2f + f * (8.3333333e-3f + f * 1.3888889e-3f)))));
    return e * from_bits((n + 127) << 23);
}

/* Square root of x >= 0: x / sqrt(x), with 1 / sqrt(x) by three steps of Newton's method from an estimate that the bits
 * of x give. */
static inline float root(float x)
{
    float r = from_bits((int32_t)(0x5f3759dfu - ((uint32_t)to_bits(x) >> 1))), half = 0.5f * x;
    r = r * (1.5f - half * r * r);
    r = r * (1.5f - half * r * r);
    r = r * (1.5f - half * r * r);
    return x * r;
}

/* Natural logarithm of a normal number > 0: exponent and mantissa m, ln m = 2 artanh((m - 1) / (m + 1)) by its
 * series. */
static inline float logarithm(float x)
{
    int32_t bits = to_bits(x), e = (bits - 0x3f3504f3) >> 23;
    float m = from_bits(bits - (int32_t)((uint32_t)e << 23)), z = (m - 1.0f) / (m + 1.0f), w = z * z;
    return (float)e * 0.693147181f +
           z * (2.0f + w * (6.66666667e-1f + w * (0.4f + w * (2.85714286e-1f + w * 2.22222222e-1f))));
}

/* Cosine of 2 pi u, u in [0, 1). */
static inline float cosine(float u)
{
    float w = 6.28318531f * (fabsf(u - 0.5f) - 0.25f), w2 = w * w;
    return w *
           (1.0f + w2 * (-1.66666667e-1f +
                         w2 * (8.3333333e-3f + w2 * (-1.98412698e-4f + w2 * (2.75573192e-6f - w2 * 2.50521084e-8f)))));
}

/* Magnitude of signal + sigma (n1 + i n2) with n1 and n2 normal, by the method of Box and Muller. */
static inline float rician(float signal, float sigma, uint32_t word0, uint32_t word1)
{
    float u = (float)(int32_t)(0x1000000u - (word0 >> 8)) * 0x1p-24f, radius = sigma * root(-2.0f * logarithm(u));
    float square =
        signal * signal + radius * (2.0f * signal * cosine((float)(int32_t)(word1 >> 8) * 0x1p-24f) + radius);
    return root(fabsf(square)); /* at least (signal - radius)^2 except for rounding, hence the absolute value */
}

/* Computes the signal of volume v of a row without noise. signal: one value for each voxel; amplitude: memory for one
 * value for each fibre population. The sum over populations runs in their order, so that results do not depend on the
 * width of vector instructions. */
static void clean(const phantom_scan *scan, const phantom_row *row, size_t v, float *amplitude, float *signal)
{
    double b = scan->gradients->bval[v];
    const double *g = scan->direction[v];
    const float gx = (float)g[0], gy = (float)g[1], gz = (float)g[2];
    const float offset = (float)(-b * D_PERPENDICULAR), slope = (float)(-b * (D_PARALLEL - D_PERPENDICULAR));
    const float white = S_WHITE * (float)exp(-b * D_WHITE), grey = S_GREY * (float)exp(-b * D_GREY),
                csf = S_CSF * (float)exp(-b * D_CSF);
    const float *dx = row->direction[0], *dy = row->direction[1], *dz = row->direction[2], *fraction = row->fraction;
#pragma omp simd
    for (int x = 0; x < row->n; x++) signal[x] = white * row->white[x] + grey * row->grey[x] + csf * row->csf[x];
#pragma omp simd
    for (size_t i = 0; i < row->n_fibres; i++) {
        float c = gx * dx[i] + gy * dy[i] + gz * dz[i];
        amplitude[i] = S_WHITE * fraction[i] * decay(offset + slope * c * c);
    }
    for (size_t i = 0; i < row->n_fibres; i++) signal[row->voxel[i]] += amplitude[i];
}

/* Adds Rician noise of standard deviation sigma to n <= BLOCK voxels, from index `voxel` on, in two volumes: from
 * even[] to out0[] in the volume with index 2 * pair, from odd[] to out1[] in the next volume. One counter of Philox
 * gives the random words of both. The noise of a voxel depends on seed, voxel and volume only. */
static void noise(uint64_t seed, size_t voxel, size_t pair, int n, float sigma, const float *even, const float *odd,
                  float *out0, float *out1)
{
    uint32_t word[4][BLOCK];
    for (int i = 0; i < n; i++) {
        const uint32_t counter[4] = {(uint32_t)(voxel + (size_t)i), (uint32_t)pair, 0, GLS_PHILOX_NOISE};
        uint32_t r[4];
        gls_philox(counter, seed, r);
        for (int k = 0; k < 4; k++) word[k][i] = r[k];
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        out0[i] = rician(even[i], sigma, word[0][i], word[1][i]);
        out1[i] = rician(odd[i], sigma, word[2][i], word[3][i]);
    }
}

/* Computes the signal of a row whose first voxel has the index `first`, in all volumes of dwi. scratch: memory for
 * row->n_fibres + 2 row->n floats. */
static void compute_signal(const phantom_scan *scan, const phantom_row *row, size_t first, float *scratch,
                           gls_image *dwi)
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    const float sigma = scan->snr > 0 ? (float)(S_WHITE / scan->snr) : 0.0f;
    const uint64_t seed = scan->seed;
    float *even = scratch, *odd = scratch + row->n, *amplitude = scratch + 2 * row->n;
    for (size_t v = 0; v < dwi->n_volumes; v += 2) {
        float *out0 = dwi->data + v * voxels + first, *out1 = v + 1 < dwi->n_volumes ? out0 + voxels : odd;
        clean(scan, row, v, amplitude, even);
        if (v + 1 < dwi->n_volumes) clean(scan, row, v + 1, amplitude, odd);
        if (sigma == 0.0f) {
            memcpy(out0, even, (size_t)row->n * sizeof *out0);
            if (out1 != odd) memcpy(out1, odd, (size_t)row->n * sizeof *out1);
            continue;
        }
        for (int x = 0; x < row->n; x += BLOCK) {
            int n = row->n - x < BLOCK ? row->n - x : BLOCK;
            noise(seed, first + (size_t)x, v / 2, n, sigma, even + x, odd + x, out0 + x, out1 + x);
        }
    }
}

/* --- Tissues and fibres of a voxel, from 27 sample points. */

/* Samples of a voxel: three along each axis. */
#define SAMPLES 27
/* Number of samples in a bundle, about an eighth, from which on a voxel belongs to the bundle's mask or end. */
#define MEMBER 4

/* The part of one tube in a voxel. */
typedef struct phantom_share {
    size_t tube;                /* index of the tube */
    size_t first, n;            /* its slabs near the voxel: phantom_bench.slab[first .. first + n - 1] */
    int white, grey[2];         /* white: number of samples in its white matter; grey: in the grey matter of each end */
    double weight;              /* volume fraction times SAMPLES */
    double direction[3];        /* sum over the samples with aligned signs, in the world */
    bool inside;                /* whether the current sample lies in the tube */
    double tangent[3], station; /* tangent of the current sample in the reference frame, and its station index */
} phantom_share;

/* Everything that decides what is in a voxel. All threads share the scene; they write nothing but the voxels of the
 * phantom's images. */
typedef struct phantom_scene {
    const phantom_tube *tube;
    size_t n_tubes;
    double scale[3];      /* factors from the reference frame to mm of the world */
    double map[3][4];     /* affine map from voxel coordinates to the reference frame */
    double offset[27][3]; /* sample points relative to the centre of the voxel, in the reference frame */
    double radius;        /* radius of the sphere around the sample points, mm of the reference frame */
    gls_phantom *phantom; /* the phantom whose images are filled */
} phantom_scene;

/* Memory for one thread: a row for row_sample(), and scratch for compute_signal(). */
typedef struct phantom_bench {
    phantom_row row;
    float *scratch;
    uint16_t *slab; /* slabs near the voxel, of all tubes, one tube after another */
    /* the tubes that are near the voxel; memory for all tubes */
    phantom_share *share;
} phantom_bench;

/* Prepares sampling. tube and phantom are borrowed; scale: from the reference frame to the world. */
static void scene_init(phantom_scene *scene, gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                       const double scale[3])
{
    const gls_grid *grid = &phantom->mask->grid;
    scene->phantom = phantom;
    scene->tube = tube;
    scene->n_tubes = n_tubes;
    scene->radius = 0;
    for (int r = 0; r < 3; r++) {
        scene->scale[r] = scale[r];
        for (int c = 0; c < 4; c++) scene->map[r][c] = grid->affine[r][c] / scale[r];
    }
    for (int i = 0; i < SAMPLES; i++) {
        const double at[3] = {(i % 3 - 1) / 3.0, (i / 3 % 3 - 1) / 3.0, (i / 9 - 1) / 3.0};
        double d2 = 0;
        for (int r = 0; r < 3; r++) {
            scene->offset[i][r] = scene->map[r][0] * at[0] + scene->map[r][1] * at[1] + scene->map[r][2] * at[2];
            d2 += scene->offset[i][r] * scene->offset[i][r];
        }
        scene->radius = fmax(scene->radius, sqrt(d2));
    }
}

/* Allocates the memory of a thread. Returns false if memory runs out. Call bench_finish() in either case. */
static bool bench_init(phantom_bench *bench, const phantom_scene *scene)
{
    size_t n = (size_t)scene->phantom->mask->grid.dim[0], most = n * scene->n_tubes, slabs = 0;
    for (size_t i = 0; i < scene->n_tubes; i++) slabs += scene->tube[i].n;
    phantom_row *row = &bench->row;
    row->n = (int)n;
    row->white = malloc(n * sizeof(float));
    row->grey = malloc(n * sizeof(float));
    row->csf = malloc(n * sizeof(float));
    row->voxel = malloc(most * sizeof *row->voxel);
    row->fraction = malloc(most * sizeof(float));
    for (int k = 0; k < 3; k++) row->direction[k] = malloc(most * sizeof(float));
    bench->scratch = malloc((most + 2 * n) * sizeof(float));
    bench->slab = malloc(slabs * sizeof *bench->slab);
    bench->share = malloc(scene->n_tubes * sizeof *bench->share);
    return row->white && row->grey && row->csf && row->voxel && row->fraction && row->direction[0] &&
           row->direction[1] && row->direction[2] && bench->scratch && bench->slab && bench->share;
}

/* Frees what bench_init() allocated. */
static void bench_finish(phantom_bench *bench)
{
    phantom_row *row = &bench->row;
    free(row->white);
    free(row->grey);
    free(row->csf);
    free(row->voxel);
    free(row->fraction);
    for (int k = 0; k < 3; k++) free(row->direction[k]);
    free(bench->scratch);
    free(bench->slab);
    free(bench->share);
}

/* Lists in bench->share the tubes that may reach into a voxel, with their slabs near the voxel in bench->slab. Returns
 * their number. */
static size_t candidates(const phantom_scene *scene, const double centre[3], phantom_bench *bench)
{
    size_t n = 0, used = 0;
    for (size_t i = 0; i < scene->n_tubes; i++) {
        size_t slabs = gls_phantom_tube_near(&scene->tube[i], centre, scene->radius + 1e-9, bench->slab + used);
        if (!slabs) continue;
        bench->share[n++] = (phantom_share){.tube = i, .first = used, .n = slabs};
        used += slabs;
    }
    return n;
}

/* Adds the unit tangent of the current sample, in the world, to the sum of directions of a tube, with the sign that
 * agrees with the sum: a direction and its opposite are the same fibre. */
static void add_direction(phantom_share *s, const double scale[3])
{
    double world[3], norm = 0, dot = 0;
    for (int k = 0; k < 3; k++) {
        world[k] = scale[k] * s->tangent[k];
        norm += world[k] * world[k];
        dot += world[k] * s->direction[k];
    }
    norm = (dot < 0 ? -1 : 1) / sqrt(norm);
    for (int k = 0; k < 3; k++) s->direction[k] += norm * world[k];
}

/* Assigns a sample point in white or grey matter to each of the n listed tubes that contains the point: in white matter
 * by their densities, in grey matter to their ends. Returns whether the point is white matter inside a tube. */
static bool sample(const phantom_scene *scene, const phantom_bench *bench, size_t n, const double p[3],
                   phantom_tissue tissue)
{
    double density = 0;
    for (size_t i = 0; i < n; i++) {
        phantom_share *s = &bench->share[i];
        const phantom_tube *tube = &scene->tube[s->tube];
        s->inside = gls_phantom_tube_at(tube, bench->slab + s->first, s->n, p, &s->station, s->tangent);
        if (!s->inside) continue;
        if (tissue == PHANTOM_GREY) {
            s->grey[0] += s->station <= tube->end_range[0];
            s->grey[1] += s->station >= tube->end_range[1];
        } else {
            density += tube->density;
        }
    }
    if (!(density > 0)) return false;
    for (size_t i = 0; i < n; i++) {
        phantom_share *s = &bench->share[i];
        if (!s->inside) continue;
        s->white++;
        s->weight += scene->tube[s->tube].density / density;
        add_direction(s, scene->scale);
    }
    return true;
}

/* Samples a voxel at its 27 points. count: number of samples of each tissue; PHANTOM_WHITE counts white matter without
 * fibres. A voxel far from all surfaces is not sampled if it is CSF, outside the head, or far from all tubes: it has
 * the tissue of its centre. Returns the number of tubes listed in bench->share. */
static size_t voxel_sample(const phantom_scene *scene, const double centre[3], phantom_bench *bench, int count[4])
{
    double margin;
    phantom_tissue tissue = gls_phantom_tissue(centre, &margin);
    /* The margin is approximate, because distances to ellipsoids are approximate. */
    bool uniform = margin > 1.5 * scene->radius + 0.5;
    size_t n = 0;
    memset(count, 0, 4 * sizeof *count);
    if (!uniform || tissue == PHANTOM_WHITE || tissue == PHANTOM_GREY) n = candidates(scene, centre, bench);
    if (uniform && !n) {
        count[tissue] = SAMPLES;
        return 0;
    }
    for (int i = 0; i < SAMPLES; i++) {
        const double p[3] = {centre[0] + scene->offset[i][0], centre[1] + scene->offset[i][1],
                             centre[2] + scene->offset[i][2]};
        if (!uniform) tissue = gls_phantom_tissue(p, NULL);
        bool fibres = (tissue == PHANTOM_WHITE || tissue == PHANTOM_GREY) && sample(scene, bench, n, p, tissue);
        if (!fibres) count[tissue]++;
    }
    return n;
}

/* Inserts a fibre population into the list of the three largest of a voxel, if it is larger than one of them. peak:
 * direction and fraction of each of the three, largest first. */
static void peak_insert(float peak[12], const float direction[3], float fraction)
{
    int at = 3;
    while (at > 0 && fraction > peak[4 * (at - 1) + 3]) at--;
    if (at == 3) return;
    memmove(peak + 4 * (at + 1), peak + 4 * at, (size_t)(2 - at) * 4 * sizeof *peak);
    memcpy(peak + 4 * at, direction, 3 * sizeof *peak);
    peak[4 * at + 3] = fraction;
}

/* Adds the fibre populations of a voxel to the row and to the images of peaks and bundles. n: number of tubes near the
 * voxel; voxel: index of the voxel in the grid. Returns the total volume fraction of fibres. */
static double fibres_store(const phantom_scene *scene, phantom_bench *bench, size_t n, int x, size_t voxel)
{
    gls_phantom *phantom = scene->phantom;
    phantom_row *row = &bench->row;
    float peak[12] = {0};
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        const phantom_share *s = &bench->share[i];
        if (phantom->n_bundles) {
            gls_phantom_bundle *bundle = &phantom->bundle[s->tube];
            bundle->mask->data[voxel] = s->white >= MEMBER;
            for (int e = 0; e < 2; e++) bundle->ends[e]->data[voxel] = s->grey[e] >= MEMBER;
        }
        if (!s->white) continue;
        float direction[3], fraction = (float)(s->weight / SAMPLES);
        double norm = sqrt(s->direction[0] * s->direction[0] + s->direction[1] * s->direction[1] +
                           s->direction[2] * s->direction[2]);
        size_t f = row->n_fibres++;
        for (int k = 0; k < 3; k++) row->direction[k][f] = direction[k] = (float)(s->direction[k] / norm);
        row->voxel[f] = x;
        row->fraction[f] = fraction;
        total += s->weight / SAMPLES;
        peak_insert(peak, direction, fraction);
    }
    if (phantom->peaks) {
        size_t voxels = gls_grid_voxels(&phantom->peaks->grid);
        for (size_t k = 0; k < 12; k++) phantom->peaks->data[k * voxels + voxel] = peak[k];
    }
    return total;
}

/* Samples the voxels (., y, z): fills bench->row, and the row in the phantom's mask, roi, tissue, peaks and bundles. */
static void row_sample(const phantom_scene *scene, int y, int z, phantom_bench *bench)
{
    gls_phantom *phantom = scene->phantom;
    const gls_grid *grid = &phantom->mask->grid;
    phantom_row *row = &bench->row;
    size_t voxels = gls_grid_voxels(grid),
           first = ((size_t)z * (size_t)grid->dim[1] + (size_t)y) * (size_t)grid->dim[0];
    row->n_fibres = 0;
    for (int x = 0; x < row->n; x++) {
        const double at[3] = {x, y, z};
        double centre[3];
        int count[4];
        size_t voxel = first + (size_t)x;
        gls_affine_apply(scene->map, at, centre);
        size_t n = voxel_sample(scene, centre, bench, count);
        double fibres = n ? fibres_store(scene, bench, n, x, voxel) : 0;
        double white = fibres + (double)count[PHANTOM_WHITE] / SAMPLES;
        row->white[x] = (float)count[PHANTOM_WHITE] / SAMPLES;
        row->grey[x] = (float)count[PHANTOM_GREY] / SAMPLES;
        row->csf[x] = (float)count[PHANTOM_CSF] / SAMPLES;
        phantom->tissue->data[voxel] = (float)white;
        phantom->tissue->data[voxels + voxel] = row->grey[x];
        phantom->tissue->data[2 * voxels + voxel] = row->csf[x];
        phantom->mask->data[voxel] = 2 * count[PHANTOM_OUTSIDE] <= SAMPLES;
        phantom->roi->data[voxel] = white >= 0.5 && fibres >= 0.3;
    }
}

/* --- All voxels. */

/* Threads fill rows of voxels along x. No row depends on another row. */
gls_status gls_phantom_voxels_fill(gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                                   const double scale[3], const double (*direction)[3])
{
    gls_image *dwi = phantom->dwi;
    const phantom_scan scan = {phantom->gradients, direction, phantom->params.snr, phantom->params.seed};
    phantom_scene scene;
    scene_init(&scene, phantom, tube, n_tubes, scale);
    const int ny = dwi->grid.dim[1], n_rows = ny * dwi->grid.dim[2];
    bool failed = false;
#pragma omp parallel
    {
        phantom_bench bench;
        bool ready = bench_init(&bench, &scene);
#pragma omp for schedule(dynamic, 8)
        for (int row = 0; row < n_rows; row++) {
            if (!ready) {
#pragma omp atomic write
                failed = true;
                continue;
            }
            row_sample(&scene, row % ny, row / ny, &bench);
            compute_signal(&scan, &bench.row, (size_t)row * (size_t)dwi->grid.dim[0], bench.scratch, dwi);
        }
        bench_finish(&bench);
    }
    return failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for the phantom's voxels") : GLS_OK;
}
