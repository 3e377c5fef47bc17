/* Normalised mutual information (Studholme et al. 1999). A voxel of the fixed image has one bin; the value of the
 * moving image is shared between two bins in 256ths. So the histogram has whole numbers, and no sum depends on its
 * order. The fixed image is sampled not at the centres of voxels but at a place in each that seems random: else maps
 * that bring centres to centres, where interpolation smooths nothing, would score too high. For the same reason both
 * images get values between their voxels first, from four neighbours along each axis: the straight lines between these
 * smooth a quarter as much, so that a map gains little by where its samples lie. Many samples get all bins:
 * voxels at borders of tissue, whose values are mixed, then fall into bins of their own, and no longer draw the borders
 * of images of other contrasts to where the mixtures agree. */
#include "registration/nmi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "registration/trilinear.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"

#define BINS GLS_NMI_BINS
#define FEW_BINS 32               /* number of bins of few samples, which would leave more of them empty */
#define MANY 50000                /* number of samples from which on all bins are used */
#define PARTS 4                   /* number of parts into which the work on a map is cut, for threads */
#define REFINED ((size_t)1 << 21) /* most voxels of an image that is refined, which then takes 128 MiB on a device */
#define MIN_SHARE 0.25 /* smallest share of the voxels of the fixed image that must lie in the moving image */

/* Chooses the place of a sample in voxel v of a grid, at most half a voxel from its centre. Returns the value there, of
 * the refined image. */
static float place_sample(const int32_t dim[3], const gls_level *finer, int parts, size_t v, int8_t place[3])
{
    const size_t at[3] = {v % (size_t)dim[0], v / (size_t)dim[0] % (size_t)dim[1], v / (size_t)dim[0] / (size_t)dim[1]};
    const uint32_t counter[4] = {(uint32_t)v, (uint32_t)((uint64_t)v >> 32), 0, GLS_PHILOX_NOISE};
    uint32_t word[4];
    float p[3];
    gls_philox(counter, 0, word);
    for (int a = 0; a < 3; a++) {
        const int last = dim[a] - 1, here = (int)at[a];
        place[a] = (int8_t)((int)(word[a] >> 24) - 128);
        /* samples at the border stay inside of the grid, as those of the moving image have to */
        if ((here == 0 && place[a] < 0) || (here == last && place[a] > 0))
            place[a] = (int8_t)(last == 0 ? 0 : here == 0 ? -(place[a] + 1) : -place[a]);
        p[a] = (float)parts * ((float)here + (float)place[a] / 256);
    }
    const gls_corners c = gls_corners_at(finer->grid.dim, p);
    return gls_corners_value(&c, finer->value);
}

gls_status gls_nmi_init(gls_nmi *nmi, const gls_level *fixed, const gls_level *moving, gls_nmi_device *on)
{
    static const double q[2] = {0.005, 0.995};
    const size_t n = gls_grid_voxels(&fixed->grid);
    const int parts = n <= REFINED && gls_grid_voxels(&moving->grid) <= REFINED ? 2 : 1;
    double f[2], m[2];
    gls_level finer = {.value = NULL};
    gls_nmi_images *image = &nmi->image;
    *nmi = (gls_nmi){.fixed = fixed->grid, .on = on};
    image->sample = malloc(n * sizeof *image->sample);
    gls_status status = image->sample ? gls_level_refine(fixed, parts, &finer) : gls_no_memory();
    if (!status) status = gls_level_refine(moving, parts, &nmi->finer);
    if (status) {
        gls_level_finish(&finer);
        gls_nmi_finish(nmi);
        return status;
    }
    const size_t n_moving = gls_grid_voxels(&nmi->finer.grid);
    nmi->moving = nmi->finer.grid;
    image->value = nmi->finer.value;
    image->mask = nmi->finer.mask;
    memcpy(image->dim, fixed->grid.dim, sizeof image->dim);
    memcpy(image->size, nmi->moving.dim, sizeof image->size);
    gls_level_quantiles(fixed, -INFINITY, q, 2, f);
    gls_level_quantiles(moving, -INFINITY, q, 2, m);
    for (size_t v = 0; v < n; v++) nmi->n += fixed->mask[v];
    const int bins = nmi->n < MANY ? FEW_BINS : BINS;
    const double per_f = bins / fmax(f[1] - f[0], 1e-20), per_m = (bins - 1) / fmax(m[1] - m[0], 1e-20);
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        int8_t place[3];
        const double bin = ((double)place_sample(image->dim, &finer, parts, v, place) - f[0]) * per_f;
        image->sample[v] = fixed->mask[v] ? (uint32_t)fmin(fmax(bin, 0), bins - 1) : BINS;
        for (int a = 0; a < 3; a++) image->sample[v] |= (uint32_t)(place[a] + 128) << (8 + 8 * a);
    }
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n_moving; v++)
        image->value[v] = (float)fmin(((double)image->value[v] - m[0]) * per_m, bins - 1);
    gls_level_finish(&finer);
    return on ? gls_nmi_device_fill(on, image) : GLS_OK;
}

void gls_nmi_finish(gls_nmi *nmi)
{
    free(nmi->image.sample);
    gls_level_finish(&nmi->finer);
    *nmi = (gls_nmi){.status = GLS_OK};
}

/* Returns the place of a sample along an axis, from the centre of its voxel. */
static float place_of(uint32_t sample, int axis)
{
    return (float)((int)(sample >> (8 + 8 * axis) & 255) - 128) / 256;
}

/* Adds the voxels of one row of the fixed image, from voxel `row` on. start: place of its first voxel in the moving
 * image. histogram: BINS rows of BINS + 1. */
static void add_row(const gls_nmi *nmi, size_t row, const double start[3], const double map[3][4], uint32_t *histogram)
{
    const int32_t *dim = nmi->moving.dim, nx = nmi->fixed.dim[0];
    float step[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) step[a][c] = (float)map[a][c];
    for (int32_t x = 0; x < nx; x++) {
        const uint32_t sample = nmi->image.sample[row + (size_t)x], bin = sample & 255;
        if (bin == BINS) continue;
        const float dx = place_of(sample, 0), dy = place_of(sample, 1), dz = place_of(sample, 2);
        float p[3];
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            const double v = start[a] + x * map[a][0] + (double)(step[a][0] * dx + step[a][1] * dy + step[a][2] * dz);
            inside &= v >= -1e-4 && v <= dim[a] - 1 + 1e-4;
            p[a] = (float)v;
        }
        if (!inside) continue;
        const gls_corners c = gls_corners_at(dim, p);
        const size_t nearest = c.voxel + (c.share[0] > 0.5f ? c.step[0] : 0) + (c.share[1] > 0.5f ? c.step[1] : 0) +
                               (c.share[2] > 0.5f ? c.step[2] : 0);
        if (!nmi->image.mask[nearest]) continue;
        float value = gls_corners_value(&c, nmi->image.value);
        value = value > 0 ? value : 0;
        if (value > BINS - 1 - 1e-5f) value = BINS - 1 - 1e-5f;
        const int low = (int)value;
        const uint32_t weight = (uint32_t)lrintf((value - (float)low) * 256);
        histogram[bin * (BINS + 1) + low] += 256 - weight;
        histogram[bin * (BINS + 1) + low + 1] += weight;
    }
}

/* Returns the sum of -p log p for n shares of a total. */
static double entropy(const uint64_t *share, int n, double total)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        if (share[i] > 0) sum -= (double)share[i] / total * log((double)share[i] / total);
    return sum;
}

/* The joint histogram of one map. */
typedef struct joint {
    uint64_t bin[GLS_NMI_CELLS];
} joint;

/* Returns the score of a histogram. n: number of voxels of the fixed image. */
static double score_of(const joint *j, uint64_t n, double *share)
{
    uint64_t of_fixed[BINS] = {0}, of_moving[BINS + 1] = {0}, total = 0;
    for (int f = 0; f < BINS; f++)
        for (int m = 0; m <= BINS; m++) {
            of_fixed[f] += j->bin[f * (BINS + 1) + m];
            of_moving[m] += j->bin[f * (BINS + 1) + m];
            total += j->bin[f * (BINS + 1) + m];
        }
    const double part = n > 0 ? (double)total / 256 / (double)n : 0;
    if (share) *share = part;
    if (part < MIN_SHARE) return 0;
    const double both = entropy(j->bin, GLS_NMI_CELLS, (double)total);
    return both > 0 ? (entropy(of_fixed, BINS, (double)total) + entropy(of_moving, BINS + 1, (double)total)) / both : 0;
}

/* Adds slices first .. last - 1 of the fixed image to a histogram. map: voxels to voxels. */
static void add_slices(const gls_nmi *nmi, const double map[3][4], int32_t first, int32_t last, joint *j)
{
    const int32_t nx = nmi->fixed.dim[0], ny = nmi->fixed.dim[1];
    uint32_t histogram[GLS_NMI_CELLS];
    uint64_t sum[GLS_NMI_CELLS] = {0};
    for (int32_t z = first; z < last; z++) {
        memset(histogram, 0, sizeof histogram); /* 32 bits hold a slice of fewer than 2^24 voxels */
        for (int32_t y = 0; y < ny; y++) {
            const double at[3] = {0, y, z};
            double start[3];
            gls_affine_apply(map, at, start);
            add_row(nmi, ((size_t)z * (size_t)ny + (size_t)y) * (size_t)nx, start, map, histogram);
        }
        for (int i = 0; i < GLS_NMI_CELLS; i++) sum[i] += histogram[i];
    }
    for (int i = 0; i < GLS_NMI_CELLS; i++) {
#pragma omp atomic
        j->bin[i] += sum[i];
    }
}

/* Computes the histograms of n maps between voxels. The work on each map is cut into PARTS, which the threads share. */
static void add_maps(const gls_nmi *nmi, const double (*map)[3][4], size_t n, joint *j)
{
    const int32_t nz = nmi->fixed.dim[2];
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t k = 0; k < n * PARTS; k++) {
        const int32_t part = (int32_t)(k % PARTS);
        add_slices(nmi, map[k / PARTS], part * nz / PARTS, (part + 1) * nz / PARTS, &j[k / PARTS]);
    }
}

/* Scores n maps between world spaces. */
static void score_all(gls_nmi *nmi, const double (*world)[3][4], size_t n, double *score, double *share)
{
    joint *j = calloc(n, sizeof *j);
    double(*map)[3][4] = malloc(n * sizeof *map), to_voxel[3][4];
    gls_grid_inverse(&nmi->moving, to_voxel);
    if (n > 0 && (!j || !map) && !nmi->status) nmi->status = gls_no_memory();
    for (size_t i = 0; i < n && !nmi->status; i++) {
        gls_transform_compose((const double(*)[4])to_voxel, world[i], map[i]);
        gls_transform_compose((const double(*)[4])map[i], nmi->fixed.affine, map[i]);
    }
    if (!nmi->status && n > 0 && nmi->on)
        nmi->status = gls_nmi_device_add(nmi->on, (const double(*)[3][4])map, n, j->bin);
    else if (!nmi->status)
        add_maps(nmi, (const double(*)[3][4])map, n, j);
    for (size_t i = 0; i < n; i++) score[i] = nmi->status ? 0 : score_of(&j[i], nmi->n, share);
    free(map);
    free(j);
}

void gls_nmi_scores(gls_nmi *nmi, const double (*map)[3][4], size_t n, double *score)
{
    score_all(nmi, map, n, score, NULL);
}

double gls_nmi_score(gls_nmi *nmi, const double map[3][4], double *share)
{
    double score, one[1][3][4];
    memcpy(one[0], map, sizeof one[0]);
    if (share) *share = 0;
    score_all(nmi, (const double(*)[3][4])one, 1, &score, share);
    return score;
}
