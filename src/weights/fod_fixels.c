/* Segments the FODs of an image into fixels (Smith et al. 2013): threads segment blocks of voxels, then all fixels
 * are numbered in the order of voxels, so that the result does not depend on the number of threads. */
#include "image/grid.h"
#include "weights/fixel_parts.h"
#include "weights/fod_lobes.h"
#include "weights/lobe_sphere.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/common.h>
#include <glslines/sh.h>

#include "util/status.h"
#include "util/threads.h"

/* --- Samples of FODs at the directions of gls_lobe_sphere. */

#define GLS_AMPLITUDE_STRIDE 1288 /* number of directions, padded to whole vectors */
#define GLS_AMPLITUDE_VOXELS 4    /* voxels sampled together */

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse operations in ISO mode */
#endif

/* Eight floats, which compilers keep in one register of AVX or two of SSE. */
typedef float lane8 __attribute__((vector_size(32), may_alias));

/* Vectors of directions that are summed at the same time. */
enum { WIDE = 2 };

/* Samples GLS_AMPLITUDE_VOXELS FODs in all directions: the product of the basis, n rows of GLS_AMPLITUDE_STRIDE
 * directions, and the n coefficients of each voxel. */
static inline __attribute__((always_inline)) void sample(const float *rows, size_t n, const float *sh, float *out)
{
    for (size_t i = 0; i < GLS_AMPLITUDE_STRIDE; i += 8 * WIDE) {
        lane8 sum[GLS_AMPLITUDE_VOXELS][WIDE] = {{{0}}};
        size_t wide = i + 8 * WIDE <= GLS_AMPLITUDE_STRIDE ? WIDE : 1;
        for (size_t j = 0; j < n; j++) {
            const lane8 *row = (const lane8 *)(rows + j * GLS_AMPLITUDE_STRIDE + i);
            if (wide == WIDE) {
                for (size_t v = 0; v < GLS_AMPLITUDE_VOXELS; v++)
                    for (size_t k = 0; k < WIDE; k++) sum[v][k] += sh[v * n + j] * row[k];
            } else {
                for (size_t v = 0; v < GLS_AMPLITUDE_VOXELS; v++) sum[v][0] += sh[v * n + j] * row[0];
            }
        }
        for (size_t v = 0; v < GLS_AMPLITUDE_VOXELS; v++)
            memcpy(out + v * GLS_AMPLITUDE_STRIDE + i, sum[v], wide * sizeof(lane8));
    }
}

/* Function sample() for every CPU. */
static void sample_plain(const float *rows, size_t n, const float *sh, float *out)
{
    sample(rows, n, sh, out);
}

#if GLS_CPU_HAS_LEVELS
/* no FMA, which would round differently */
__attribute__((target("avx2"))) static void sample_avx2(const float *rows, size_t n, const float *sh, float *out)
{
    sample(rows, n, sh, out);
}
#endif

/* Samples GLS_AMPLITUDE_VOXELS voxels: out[v * GLS_AMPLITUDE_STRIDE + i] is voxel v at direction i, from its n
 * coefficients at sh[v * n]. Rounds after every operation in the order of coefficients, so all processors give the same
 * bits. out: aligned to 32 bytes. */
static void amplitudes_sample(const float *rows, size_t n, const float *sh, float *out)
{
#if GLS_CPU_HAS_LEVELS
    if (gls_cpu_level() >= GLS_CPU_AVX2) {
        sample_avx2(rows, n, sh, out);
        return;
    }
#endif
    sample_plain(rows, n, sh, out);
}

/* Makes the matrix: rows[j * GLS_AMPLITUDE_STRIDE + i] is basis function j of tournier07 at direction i. The caller
 * frees *out, which is aligned to 32 bytes. */
static gls_status amplitudes_matrix(int order, float **out)
{
    const gls_lobe_sphere *sphere = gls_lobe_sphere_get();
    const size_t n = gls_sh_count(order);
    double *matrix = malloc(GLS_LOBE_DIRECTIONS * n * sizeof *matrix);
    float *rows = aligned_alloc(32, n * GLS_AMPLITUDE_STRIDE * sizeof *rows);
    gls_status status = GLS_OK;
    if (!matrix || !rows)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for the directions of FODs");
    else
        status = gls_sh_matrix(GLS_SH_TOURNIER07, order, sphere->direction, GLS_LOBE_DIRECTIONS, matrix);
    for (size_t j = 0; j < n && !status; j++)
        for (size_t i = 0; i < GLS_AMPLITUDE_STRIDE; i++)
            rows[j * GLS_AMPLITUDE_STRIDE + i] = i < GLS_LOBE_DIRECTIONS ? (float)matrix[i * n + j] : 0;
    free(matrix);
    if (status)
        free(rows);
    else
        *out = rows;
    return status;
}

#define MAX_FIXELS (UINT32_MAX - 1) /* GLS_NO_FIXEL is not an index */

/* The fixels of a block of voxels that one thread has segmented, with indices from 0; failed: memory ran out. */
typedef struct block {
    gls_fixel *fixel;
    /* numbers of fixels, of voxels with fixels, of dropped lobes, and of voxels whose coefficients are not finite or
     * too large */
    size_t n, n_tables, n_dropped, n_not_finite;
    bool failed;
} block;

/* Data that all threads share while an image is segmented. */
typedef struct segmentation {
    /* receives the fixels */
    gls_fixels *fixels;
    /* sh: SH coefficients in the basis tournier07; mask: voxels whose value is not 0 are segmented; NULL: all voxels */
    const gls_image *sh, *mask;
    /* thresholds, borrowed */
    const gls_fixel_options *options;
    /* matrix of amplitudes_matrix() */
    const float *rows;
    /* number of SH coefficients of a voxel, (order + 1)(order + 2) / 2 */
    size_t n_coefficients;
    /* highest degree of the SH, even */
    int order;
} segmentation;

gls_fixel_options gls_fixel_options_default(void)
{
    return (gls_fixel_options){.size = sizeof(gls_fixel_options), .peak = 0.1, .dilate = true};
}

/* Appends the lobes of a voxel to its block. */
static void add_voxel(const segmentation *s, block *b, size_t voxel, const gls_lobes *lobes)
{
    uint8_t **table = &s->fixels->table[voxel / GLS_FIXEL_BLOCK];
    gls_fixel *fixel = realloc(b->fixel, (b->n + (size_t)lobes->n) * sizeof *fixel);
    if (fixel) b->fixel = fixel;
    uint8_t *tables = realloc(*table, (b->n_tables + 1) * GLS_LOBE_TABLE);
    if (tables) *table = tables;
    b->failed |= !fixel || !tables;
    if (b->failed) return;
    memcpy(tables + b->n_tables * GLS_LOBE_TABLE, lobes->table, GLS_LOBE_TABLE);
    s->fixels->voxel[voxel] = (gls_fixel_voxel){0, (uint8_t)lobes->n, (uint8_t)b->n_tables++};
    for (int k = 0; k < lobes->n; k++) {
        const gls_lobe *l = &lobes->lobe[k];
        b->fixel[b->n++] = (gls_fixel){(float)l->fd,
                                       (float)l->peak,
                                       {(float)l->direction[0], (float)l->direction[1], (float)l->direction[2]},
                                       (uint32_t)voxel};
    }
    b->n_dropped += (size_t)lobes->dropped;
}

/* Lists the voxels of a block that lie in the mask and whose FOD is finite and has a positive mean, and copies their
 * coefficients to sh. Returns their number. Counts FODs that are not finite. */
static size_t gather(const segmentation *s, size_t number, block *b, size_t voxel[GLS_FIXEL_BLOCK], float *sh)
{
    const size_t n_voxels = gls_grid_voxels(&s->sh->grid), first = number * GLS_FIXEL_BLOCK;
    size_t n = 0;
    for (size_t v = first; v < first + GLS_FIXEL_BLOCK && v < n_voxels; v++) {
        /* skip FODs whose mean, the first coefficient times a positive constant, is not positive */
        if ((s->mask && s->mask->data[v] == 0) || s->sh->data[v] <= 0) continue;
        bool finite = true;
        for (size_t j = 0; j < s->n_coefficients; j++) {
            float c = s->sh->data[j * n_voxels + v];
            finite &= isfinite(c) != 0;
            sh[n * s->n_coefficients + j] = c;
        }
        b->n_not_finite += !finite;
        if (finite) voxel[n++] = v;
    }
    return n;
}

/* Segments the voxels of block `number`, four at a time, and appends their fixels to b. */
static void segment_block(const segmentation *s, size_t number, block *b)
{
    enum { MAX_COEFFICIENTS = (GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 2) / 2 };
    const size_t n = s->n_coefficients;
    size_t voxel[GLS_FIXEL_BLOCK];
    _Alignas(32) float amplitude[GLS_AMPLITUDE_VOXELS * GLS_AMPLITUDE_STRIDE];
    float sh[(GLS_FIXEL_BLOCK + GLS_AMPLITUDE_VOXELS) * MAX_COEFFICIENTS];
    double one[MAX_COEFFICIENTS];
    gls_lobes lobes;
    size_t count = gather(s, number, b, voxel, sh);
    /* the last group of four voxels may have fewer; zeros fill it up */
    memset(sh + count * n, 0, GLS_AMPLITUDE_VOXELS * n * sizeof *sh);
    for (size_t i = 0; i < count; i += GLS_AMPLITUDE_VOXELS) {
        amplitudes_sample(s->rows, n, sh + i * n, amplitude);
        for (size_t k = i; k < i + GLS_AMPLITUDE_VOXELS && k < count; k++) {
            /* lobes are refined in double precision */
            for (size_t j = 0; j < n; j++) one[j] = (double)sh[k * n + j];
            gls_lobes_find(s->options, amplitude + (k - i) * GLS_AMPLITUDE_STRIDE, s->order, one, &lobes);
            b->n_not_finite += lobes.too_large;
            if (lobes.n > 0) add_voxel(s, b, voxel[k], &lobes);
        }
    }
}

/* Numbers the fixels of all blocks. Logs how many lobes were dropped, and how many voxels have invalid FODs. */
static gls_status number_fixels(const segmentation *s, const block *blocks, const char *name)
{
    gls_fixels *f = s->fixels;
    /* without a threshold noise has many lobes, so that dropped lobes are logged as information only */
    const gls_log_level dropped_level = s->options->peak > 0 ? GLS_LOG_WARNING : GLS_LOG_INFO;
    /* sums over blocks, in their order */
    size_t dropped = 0, not_finite = 0;
    for (size_t i = 0; i < f->n_blocks; i++) {
        if (blocks[i].failed) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for fixels", name);
        f->n += blocks[i].n;
        f->n_voxels += blocks[i].n_tables;
        dropped += blocks[i].n_dropped;
        not_finite += blocks[i].n_not_finite;
    }
    if (not_finite > 0)
        gls_log(GLS_LOG_WARNING, "%s: %zu voxels get no fixels, because their coefficients are not finite or too large",
                name, not_finite);
    if (dropped > 0)
        gls_log(dropped_level, "%s: %zu fixels were dropped in voxels with more than %d fixels", name, dropped,
                GLS_MAX_LOBES);
    if (f->n == 0)
        return gls_fail(GLS_ERR_EMPTY,
                        "%s: has no fixels%s: no FOD has a lobe with an amplitude of %g and an integral of %g or more: "
                        "check the scale of the FODs, which the response sets%s",
                        name, s->mask ? " inside the mask" : "", s->options->peak, s->options->integral,
                        s->mask ? ", and that the mask lies on the FODs" : "");
    if (f->n > MAX_FIXELS)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has %zu fixels, more than %" PRIu32 ": give a mask of fewer voxels",
                        name, f->n, MAX_FIXELS);
    f->fixel = malloc(f->n * sizeof *f->fixel);
    if (!f->fixel) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu fixels", name, f->n);
    uint32_t first = 0;
    /* fixels get their final indices: blocks in order, and in a block voxels ascending */
    for (size_t i = 0; i < f->n_blocks; i++) {
        if (blocks[i].n > 0) memcpy(f->fixel + first, blocks[i].fixel, blocks[i].n * sizeof *f->fixel);
        for (size_t k = 0; k < blocks[i].n; k++) {
            gls_fixel_voxel *v = &f->voxel[blocks[i].fixel[k].voxel];
            /* a fixel is the first of its voxel if the fixel before belongs to another voxel */
            if (k == 0 || blocks[i].fixel[k].voxel != blocks[i].fixel[k - 1].voxel) v->first = first + (uint32_t)k;
        }
        first += (uint32_t)blocks[i].n;
    }
    return GLS_OK;
}

/* Segments all blocks on all threads, then numbers the fixels. */
static gls_status segment_image(segmentation *s, const char *name)
{
    gls_fixels *f = s->fixels;
    const size_t voxels = gls_grid_voxels(&f->grid);
    float *rows = NULL;
    f->n_blocks = (voxels + GLS_FIXEL_BLOCK - 1) / GLS_FIXEL_BLOCK;
    f->voxel = calloc(voxels, sizeof *f->voxel);
    f->table = calloc(f->n_blocks, sizeof *f->table);
    block *blocks = calloc(f->n_blocks, sizeof *blocks);
    gls_status status = GLS_OK;
    if (!f->voxel || !f->table || !blocks)
        status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory for fixels", name);
    else
        status = amplitudes_matrix(s->order, &rows);
    if (!status) {
        s->rows = rows;
#pragma omp parallel for schedule(dynamic, 4)
        for (size_t i = 0; i < f->n_blocks; i++) segment_block(s, i, &blocks[i]);
        status = number_fixels(s, blocks, name);
    }
    for (size_t i = 0; blocks && i < f->n_blocks; i++) free(blocks[i].fixel);
    free(blocks);
    free(rows);
    return status;
}

gls_status gls_fixels_create(const gls_image *sh, const char *name, const gls_image *mask,
                             const gls_fixel_options *options, gls_fixels **fixels)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(sh && name && fixels);
    GLS_REQUIRE(!mask || gls_grid_voxels(&mask->grid) == gls_grid_voxels(&sh->grid));
    gls_fixel_options o = options ? *options : gls_fixel_options_default();
    GLS_REQUIRE(o.peak >= 0 && o.integral >= 0);
    int order = gls_sh_order(sh->n_volumes);
    if (order < 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has %zu volume%s, but images of SH coefficients of even orders up to %d have 6, 15, 28, "
                        "45, 66 ... volumes",
                        name, GLS_VOLUMES(sh->n_volumes), GLS_SH_MAX_ORDER);
    if (gls_grid_voxels(&sh->grid) > UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has more than 2^32 - 1 voxels", name);
    gls_fixels *f = calloc(1, sizeof *f);
    if (!f) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for fixels", name);
    f->grid = sh->grid;
    segmentation s = {f, sh, mask, &o, NULL, sh->n_volumes, order};
    gls_status status = segment_image(&s, name);
    if (status)
        gls_fixels_destroy(f);
    else
        *fixels = f;
    return status;
}

void gls_fixels_destroy(gls_fixels *f)
{
    if (!f) return;
    for (size_t i = 0; f->table && i < f->n_blocks; i++) free(f->table[i]);
    free(f->table);
    free(f->voxel);
    free(f->fixel);
    free(f);
}

const gls_grid *gls_fixels_grid(const gls_fixels *fixels)
{
    return &fixels->grid;
}

size_t gls_fixels_count(const gls_fixels *fixels)
{
    return fixels->n;
}

size_t gls_fixels_voxels(const gls_fixels *fixels)
{
    return fixels->n_voxels;
}

uint32_t gls_fixels_of_voxel(const gls_fixels *fixels, size_t voxel, uint32_t *first)
{
    *first = fixels->voxel[voxel].first;
    return fixels->voxel[voxel].count;
}

const gls_fixel *gls_fixels_get(const gls_fixels *fixels)
{
    return fixels->fixel;
}

uint32_t gls_fixels_find(const gls_fixels *fixels, size_t voxel, const double direction[3])
{
    return gls_fixel_at(fixels, voxel, gls_lobe_sphere_nearest(gls_lobe_sphere_get(), direction));
}
