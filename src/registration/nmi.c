/* Normalised mutual information (Studholme et al. 1999). A voxel of the fixed image has one bin; the value of the
 * moving image is shared between two bins in 256ths. So the histogram has whole numbers, and no sum depends on its
 * order. The second way, samples of the moving image in the fixed one, is the same with both images exchanged. Images
 * are sampled not at the centres of voxels but at a place in each that seems random: else maps that bring centres to
 * centres, where interpolation smooths nothing, would score too high. For the same reason both images get values
 * between their voxels first, from four neighbours along each axis: the straight lines between these smooth a quarter
 * as much, so that a map gains little by where its samples lie. Many samples get all bins: voxels at borders of
 * tissue, whose values are mixed, then fall into bins of their own, and no longer draw the borders of images of other
 * contrasts to where the mixtures agree. */
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
#define GROUP ((size_t)12)        /* largest number of maps that the CPU scores before go_on is asked again */
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

/* Places the samples of a side, and sorts their values into bins. range: of the values that fall into bins. */
static gls_status make_samples(gls_nmi_side *side, const gls_level *level, int parts, const double range[2], int bins)
{
    const size_t n = gls_grid_voxels(&side->grid);
    const double per_value = range[1] > range[0] ? bins / (range[1] - range[0]) : 0;
    side->sample = malloc(n * sizeof *side->sample);
    if (!side->sample) return gls_no_memory();
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        int8_t place[3];
        const double bin = ((double)place_sample(side->grid.dim, &side->finer, parts, v, place) - range[0]) * per_value;
        side->sample[v] = level->mask[v] ? (uint32_t)fmin(fmax(bin, 0), bins - 1) : BINS;
        for (int a = 0; a < 3; a++) side->sample[v] |= (uint32_t)(place[a] + 128) << (8 + 8 * a);
    }
    return GLS_OK;
}

/* Turns the values of a side into bins. */
static void make_values(gls_nmi_side *side, const double range[2], int bins)
{
    const size_t n = gls_grid_voxels(&side->finer.grid);
    const double per_value = range[1] > range[0] ? (bins - 1) / (range[1] - range[0]) : 0;
    float *value = side->finer.value;
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) value[v] = (float)fmin(((double)value[v] - range[0]) * per_value, bins - 1);
}

/* Copies to the device what the ways need of both sides. */
static gls_status fill(const gls_nmi *nmi)
{
    gls_nmi_image image[2];
    for (int k = 0; k < 2; k++) {
        const gls_nmi_side *side = &nmi->side[k];
        image[k] = (gls_nmi_image){.sample = side->sample, .value = side->finer.value, .mask = side->finer.mask};
        memcpy(image[k].dim, side->grid.dim, sizeof image[k].dim);
        memcpy(image[k].size, side->finer.grid.dim, sizeof image[k].size);
    }
    return gls_nmi_device_fill(nmi->on, image);
}

gls_status gls_nmi_init(gls_nmi *nmi, const gls_level *fixed, const gls_level *moving, size_t n_ways,
                        gls_nmi_device *on)
{
    static const double q[2] = {0.005, 0.995};
    const gls_level *const level[2] = {fixed, moving};
    const int parts = gls_grid_voxels(&fixed->grid) <= REFINED && gls_grid_voxels(&moving->grid) <= REFINED ? 2 : 1;
    int bins = BINS;
    gls_status status = GLS_OK;
    *nmi = (gls_nmi){.n_ways = n_ways, .on = on};
    for (size_t k = 0; k < 2; k++) {
        gls_nmi_side *side = &nmi->side[k];
        side->grid = level[k]->grid;
        for (size_t v = 0; v < gls_grid_voxels(&side->grid); v++) side->n += level[k]->mask[v];
        if (k < n_ways && side->n < MANY) bins = FEW_BINS;
    }
    for (size_t k = 0; k < 2 && !status; k++) {
        gls_nmi_side *side = &nmi->side[k];
        double range[2];
        gls_level_quantiles(level[k], -INFINITY, q, 2, range);
        status = gls_level_refine(level[k], parts, &side->finer);
        if (!status && k < n_ways) status = make_samples(side, level[k], parts, range, bins);
        if (!status && k + n_ways > 1)
            make_values(side, range, bins);
        else
            gls_level_finish(&side->finer);
    }
    if (!status && on) status = fill(nmi);
    if (status) gls_nmi_finish(nmi);
    return status;
}

void gls_nmi_finish(gls_nmi *nmi)
{
    for (int k = 0; k < 2; k++) {
        free(nmi->side[k].sample);
        gls_level_finish(&nmi->side[k].finer);
    }
    *nmi = (gls_nmi){.status = GLS_OK};
}

/* Returns the place of a sample along an axis, from the centre of its voxel. */
static float place_of(uint32_t sample, int axis)
{
    return (float)((int)(sample >> (8 + 8 * axis) & 255) - 128) / 256;
}

/* Adds the samples of one row of voxels, from voxel `row` on. start: place of its first voxel in the other image.
 * histogram: BINS rows of BINS + 1. */
static void add_row(const gls_nmi_side *from, const gls_nmi_side *to, size_t row, const double start[3],
                    const double map[3][4], uint32_t *histogram)
{
    const int32_t *dim = to->finer.grid.dim, nx = from->grid.dim[0];
    float step[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) step[a][c] = (float)map[a][c];
    for (int32_t x = 0; x < nx; x++) {
        const uint32_t sample = from->sample[row + (size_t)x], bin = sample & 255;
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
        if (!to->finer.mask[nearest]) continue;
        float value = gls_corners_value(&c, to->finer.value);
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

/* Returns the normalised mutual information of a histogram. *n_samples: number of the samples that it holds. */
static double score_of(const joint *j, double *n_samples)
{
    uint64_t of_samples[BINS] = {0}, of_values[BINS + 1] = {0}, total = 0;
    for (int s = 0; s < BINS; s++)
        for (int v = 0; v <= BINS; v++) {
            of_samples[s] += j->bin[s * (BINS + 1) + v];
            of_values[v] += j->bin[s * (BINS + 1) + v];
            total += j->bin[s * (BINS + 1) + v];
        }
    *n_samples = (double)total / 256;
    const double both = entropy(j->bin, GLS_NMI_CELLS, (double)total);
    return both > 0 ? (entropy(of_samples, BINS, (double)total) + entropy(of_values, BINS + 1, (double)total)) / both
                    : 0;
}

/* Adds slices first .. last - 1 of samples to a histogram. map: voxels to voxels. */
static void add_slices(const gls_nmi_side *from, const gls_nmi_side *to, const double map[3][4], int32_t first,
                       int32_t last, joint *j)
{
    const int32_t nx = from->grid.dim[0], ny = from->grid.dim[1];
    uint32_t histogram[GLS_NMI_CELLS];
    uint64_t sum[GLS_NMI_CELLS] = {0};
    for (int32_t z = first; z < last; z++) {
        memset(histogram, 0, sizeof histogram); /* 32 bits hold a slice of fewer than 2^24 voxels */
        for (int32_t y = 0; y < ny; y++) {
            const double at[3] = {0, y, z};
            double start[3];
            gls_affine_apply(map, at, start);
            add_row(from, to, ((size_t)z * (size_t)ny + (size_t)y) * (size_t)nx, start, map, histogram);
        }
        for (int i = 0; i < GLS_NMI_CELLS; i++) sum[i] += histogram[i];
    }
    for (int i = 0; i < GLS_NMI_CELLS; i++) {
#pragma omp atomic
        j->bin[i] += sum[i];
    }
}

/* Computes the histograms of n maps between voxels. The work on each map is cut into PARTS, which the threads share. */
static void add_maps(const gls_nmi_side *from, const gls_nmi_side *to, const double (*map)[3][4], size_t n, joint *j)
{
    const int32_t nz = from->grid.dim[2];
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t k = 0; k < n * PARTS; k++) {
        const int32_t part = (int32_t)(k % PARTS);
        add_slices(from, to, map[k / PARTS], part * nz / PARTS, (part + 1) * nz / PARTS, &j[k / PARTS]);
    }
}

/* Computes the histograms of n maps from the samples of one side to the values of the other. world: maps of the fixed
 * to the moving image. map: memory for n maps. */
static gls_status add_way(const gls_nmi *nmi, int from, const double (*world)[3][4], size_t n, double (*map)[3][4],
                          joint *j)
{
    const gls_nmi_side *a = &nmi->side[from], *b = &nmi->side[1 - from];
    double to_voxel[3][4];
    gls_grid_inverse(&b->finer.grid, to_voxel);
    for (size_t i = 0; i < n; i++) {
        memcpy(map[i], world[i], sizeof map[i]);
        if (from == 1) gls_affine_invert(world[i], map[i]);
        gls_transform_compose((const double(*)[4])to_voxel, (const double(*)[4])map[i], map[i]);
        gls_transform_compose((const double(*)[4])map[i], a->grid.affine, map[i]);
    }
    memset(j, 0, n * sizeof *j);
    if (n > 0 && nmi->on) return gls_nmi_device_add(nmi->on, from, (const double(*)[3][4])map, n, j->bin);
    add_maps(a, b, (const double(*)[3][4])map, n, j);
    return GLS_OK;
}

/* Scores n maps between world spaces. */
static void score_all(gls_nmi *nmi, const double (*world)[3][4], size_t n, double *score, double *share)
{
    joint *j = malloc(n * sizeof *j);
    double(*map)[3][4] = malloc(n * sizeof *map);
    if (n > 0 && (!j || !map) && !nmi->status) nmi->status = gls_no_memory();
    for (size_t i = 0; i < n; i++) score[i] = 0;
    for (int way = 0; way < (int)nmi->n_ways && !nmi->status; way++) {
        nmi->status = gls_goes_on(&nmi->go_on);
        if (nmi->status) break;
        nmi->status = add_way(nmi, way, world, n, map, j);
        for (size_t i = 0; i < n && !nmi->status; i++) {
            double n_samples;
            const double one = score_of(&j[i], &n_samples);
            const double part = nmi->side[way].n > 0 ? n_samples / (double)nmi->side[way].n : 0;
            if (way == 0 && share) *share = part;
            if (way == 0 ? part >= MIN_SHARE : score[i] > 0) score[i] += one / (double)nmi->n_ways;
        }
    }
    for (size_t i = 0; i < n && nmi->status; i++) score[i] = 0;
    free(map);
    free(j);
}

void gls_nmi_scores(gls_nmi *nmi, const double (*map)[3][4], size_t n, double *score)
{
    const size_t group = nmi->on ? n : GROUP; /* a device scores all at once, while the CPU waits */
    for (size_t k = 0; k < n; k += group) score_all(nmi, map + k, n - k < group ? n - k : group, score + k, NULL);
}

double gls_nmi_score(gls_nmi *nmi, const double map[3][4], double *share)
{
    double score, one[1][3][4];
    memcpy(one[0], map, sizeof one[0]);
    if (share) *share = 0;
    score_all(nmi, (const double(*)[3][4])one, 1, &score, share);
    return score;
}
