/* Warns if ODFs or peaks seem to have been read along wrong axes, or ODFs in another basis. Along the right axes they
 * are coherent: the voxel that lies ahead in the direction of a peak has a similar peak. This is the fiber coherence
 * index of Schilling et al. 2019, Magn Reson Imaging 58:82, but for the voxel two voxels ahead. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/coherence.h"
#include "dwi/model_options.h"
#include "dwi/odf_parts.h"
#include "dwi/odf_slice.h"
#include "util/maths.h"
#include "util/status.h"

/* Largest number of multiply-adds for sampling ODFs; it limits the number of middle slices that are sampled. */
#define MAX_WORK 1.5e9
/* Share of voxels to leave out: those of the least contrast, because their directions are noise or crossings. */
#define SHARE_LEFT_OUT 0.67
#define VOXELS_AHEAD 2
/* Give no advice with fewer voxels, because chance may then favour wrong axes. This happened in crops of 700 voxels. */
#define MIN_VOXELS 3000
/* Warn if directions along other axes, or in another basis, are more than this many times as coherent. In brains and in
 * the phantom the right axes are at least 1.07 times as coherent as any wrong axes. */
#define MIN_GAIN 1.05
/* The gain must show in the blocks of the image, each of BLOCK voxels a side and with MIN_PAIRS pairs of voxels: its
 * mean over the blocks is above MIN_DIFFERENCE, in units of |cosine|, and above MIN_ERRORS standard errors. Along wrong
 * axes and in wrong bases of the phantom it is 0.023 to 0.083 and 2.4 to 10 errors, in smooth fields at most 0.0034 and
 * 1.5 errors. */
enum { BLOCK = 8, MIN_PAIRS = 8 };
#define MIN_DIFFERENCE 0.01
#define MIN_ERRORS 2.0

/* The largest peak of each voxel of some slices. */
typedef struct coherence {
    const gls_grid *grid;
    const gls_sphere *sphere; /* sphere of the ODFs */
    const gls_image *given;   /* peaks, in place of ODFs; NULL: ODFs */
    int32_t first, n_slices;
    size_t plane;    /* number of voxels of a slice */
    uint32_t *peak;  /* the peak of each voxel: index of its vertex, or its index among the given peaks */
    float *contrast; /* height of the peak above the mean of the ODF; of a given peak, how alike the peaks around are.
                        0: the voxel is left out */
    size_t n;        /* number of voxels that are not left out */
} coherence;

/* Finds the largest peak of each of `count` voxels from index `at` of the sampled slices on, and its contrast. rows:
 * samples of these voxels, a row for each vertex; the first row is overwritten. inside: mask of these voxels; NULL: all
 * are inside. */
static void find_peaks(coherence *f, size_t at, size_t count, float *rows, const float *inside)
{
    const size_t n = f->sphere->n;
    float *top = f->contrast + at, *sum = rows;
    uint32_t *vertex = f->peak + at;
    memcpy(top, rows, count * sizeof *top);
    memset(vertex, 0, count * sizeof *vertex);
    for (size_t v = 1; v < n; v++) {
        const float *row = rows + v * GLS_ODF_BLOCK;
        for (size_t i = 0; i < count; i++) {
            sum[i] += row[i];
            vertex[i] = row[i] > top[i] ? (uint32_t)v : vertex[i];
            top[i] = fmaxf(top[i], row[i]);
        }
    }
    for (size_t i = 0; i < count; i++) top[i] = !inside || inside[i] > 0 ? fmaxf(0, top[i] - sum[i] / (float)n) : 0;
}

/* Samples the slices block by block, and finds the peaks. */
static gls_status sample(coherence *f, const gls_odf_source *odf, const gls_image *mask)
{
    const size_t n = f->sphere->n, total = f->plane * (size_t)f->n_slices, first = f->plane * (size_t)f->first;
    float *rows = malloc((size_t)omp_get_max_threads() * n * GLS_ODF_BLOCK * sizeof *rows);
    if (!rows) return gls_no_memory();
#pragma omp parallel
    {
        float scratch[GLS_ODF_SCRATCH] __attribute__((aligned(64)));
        float *own = rows + (size_t)omp_get_thread_num() * n * GLS_ODF_BLOCK;
#pragma omp for schedule(dynamic, 8)
        for (size_t at = 0; at < total; at += GLS_ODF_BLOCK) {
            const size_t count = total - at < GLS_ODF_BLOCK ? total - at : GLS_ODF_BLOCK;
            gls_odf_block(odf, first + at, count, own, GLS_ODF_BLOCK, scratch);
            find_peaks(f, at, count, own, mask ? mask->data + first + at : NULL);
        }
    }
    free(rows);
    return GLS_OK;
}

/* Finds the longest of the first n given peaks of each voxel of the mask (NULL: of all voxels). The contrast is its
 * length. */
static void find_longest(coherence *f, size_t n, const gls_image *mask)
{
    const size_t volume = gls_grid_voxels(f->grid), total = f->plane * (size_t)f->n_slices,
                 first = f->plane * (size_t)f->first;
    memset(f->contrast, 0, total * sizeof *f->contrast);
    for (size_t k = 0; k < n; k++) {
        const float *x = f->given->data + 3 * k * volume + first, *y = x + volume, *z = y + volume;
        for (size_t i = 0; i < total; i++) {
            const float length = sqrtf(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
            if (!(length > f->contrast[i]) || (mask && !(mask->data[first + i] > 0))) continue;
            f->contrast[i] = length;
            f->peak[i] = (uint32_t)k;
        }
    }
}

/* Stores in d the direction, a unit vector, of the peak of voxel i of the slices. */
static void direction_of(const coherence *f, size_t i, double d[3])
{
    const size_t volume = gls_grid_voxels(f->grid), first = f->plane * (size_t)f->first;
    for (size_t a = 0; a < 3; a++)
        d[a] = f->given ? (double)f->given->data[(3 * f->peak[i] + a) * volume + first + i]
                        : f->sphere->vertex[f->peak[i]][a];
    const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (size_t a = 0; a < 3; a++) d[a] /= length;
}

/* |cosine| between the unit vector d and the direction of voxel i of the slices; 0 if the voxel is left out. */
static double cosine(const coherence *f, const double d[3], size_t i)
{
    double there[3];
    if (!(f->contrast[i] > 0)) return 0;
    direction_of(f, i, there);
    return fabs(d[0] * there[0] + d[1] * there[1] + d[2] * there[2]);
}

/* Index, in the slices, of the voxel that lies `mm` ahead of voxel i along a direction; -1: outside these slices. */
static ptrdiff_t voxel_ahead(const coherence *f, size_t i, const double direction[3], double mm)
{
    const int32_t c[3] = {(int32_t)(i % (size_t)f->grid->dim[0]), (int32_t)(i % f->plane / (size_t)f->grid->dim[0]),
                          f->first + (int32_t)(i / f->plane)};
    int32_t u[3];
    for (int a = 0; a < 3; a++) {
        u[a] = c[a] + (int32_t)lrint(mm * direction[a] / f->grid->voxel_size[a]);
        const int32_t low = a == 2 ? f->first : 0, high = a == 2 ? f->first + f->n_slices : f->grid->dim[a];
        if (u[a] < low || u[a] >= high) return -1;
    }
    return (ptrdiff_t)(u[2] - f->first) * (ptrdiff_t)f->plane + (ptrdiff_t)u[1] * f->grid->dim[0] + u[0];
}

/* Sets the contrast of voxels with a given peak to the sum of |cosine| between it and the peaks of the six voxels
 * around. In white matter neighbouring peaks are alike, whichever axes they were read along; elsewhere the peaks are
 * noise, but may be as long. */
static gls_status compare_neighbours(coherence *f)
{
    const size_t total = f->plane * (size_t)f->n_slices;
    float *alike = calloc(total, sizeof *alike);
    if (!alike) return gls_no_memory();
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < total; i++) {
        double d[3];
        if (!(f->contrast[i] > 0)) continue;
        direction_of(f, i, d);
        for (int k = 0; k < 6; k++) {
            const double axis[3] = {k / 2 == 0, k / 2 == 1, k / 2 == 2}, size = f->grid->voxel_size[k / 2];
            const ptrdiff_t next = voxel_ahead(f, i, axis, k % 2 ? size : -size);
            if (next >= 0) alike[i] += (float)cosine(f, d, (size_t)next);
        }
    }
    free(f->contrast);
    f->contrast = alike;
    return GLS_OK;
}

/* Leaves out voxels of little contrast. */
static gls_status select_voxels(coherence *f)
{
    const size_t total = f->plane * (size_t)f->n_slices;
    const double share = SHARE_LEFT_OUT;
    double limit = 0;
    size_t n = 0;
    float *sorted = malloc(total * sizeof *sorted);
    if (!sorted) return gls_no_memory();
    for (size_t i = 0; i < total; i++)
        if (f->contrast[i] > 0) sorted[n++] = f->contrast[i];
    gls_quantiles_of_floats(sorted, n, &share, 1, &limit);
    f->n = 0;
    for (size_t i = 0; i < total; i++) {
        if (!(f->contrast[i] > limit)) f->contrast[i] = 0;
        f->n += f->contrast[i] > 0;
    }
    free(sorted);
    return GLS_OK;
}

/* Frees the peaks. */
static void finish(coherence *f)
{
    free(f->peak);
    free(f->contrast);
}

/* Allocates peaks for as many middle slices as MAX_WORK allows, at least one. work: number of multiply-adds for a
 * voxel. */
static gls_status begin(coherence *f, double work)
{
    const gls_grid *grid = f->grid;
    f->plane = (size_t)grid->dim[0] * (size_t)grid->dim[1];
    f->n_slices = (int32_t)fmin(grid->dim[2], fmax(1, MAX_WORK / ((double)f->plane * work)));
    f->first = (grid->dim[2] - f->n_slices) / 2;
    const size_t total = f->plane * (size_t)f->n_slices;
    f->peak = calloc(total, sizeof *f->peak);
    f->contrast = malloc(total * sizeof *f->contrast);
    return f->peak && f->contrast ? GLS_OK : gls_no_memory();
}

/* Samples ODFs, whose coefficients are taken to be in this basis and along the axes of this frame, and finds their
 * peaks. Call finish() afterwards, also after a failure. */
static gls_status make(const gls_odf_source *from, gls_sh_basis basis, gls_bvec_frame frame, const gls_image *mask,
                       const gls_sphere *sphere, coherence *f)
{
    gls_odf_source *odf = NULL;
    *f = (coherence){.grid = &from->image->grid, .sphere = sphere};
    gls_status status = begin(f, (double)sphere->n * (double)from->image->n_volumes);
    gls_log_mute_info(true); /* the run has logged basis and order already */
    if (!status) status = gls_odf_source_create_sh(from->image, "ODFs", basis, frame, sphere, &from->options, &odf);
    gls_log_mute_info(false);
    if (!status) status = sample(f, odf, mask);
    if (!status) status = select_voxels(f);
    gls_odf_source_destroy(odf);
    return status;
}

/* Axes to try for the directions: component a is taken from component axis[a], times sign[a]. what: these axes in
 * words, for the warning. */
typedef struct axes {
    int axis[3];
    double sign[3];
    const char *what;
} axes;

static const axes as_read = {{0, 1, 2}, {1, 1, 1}, ""};

/* How well directions fit together along some axes: the coherence; and for each block of the slices the sum of |cosine|
 * over the pairs of which no voxel was left out, in units of 1 / UNIT, and their number. */
typedef struct agreement {
    double coherence;
    uint64_t *sum, *n;
} agreement;

#define UNIT ((double)((uint64_t)1 << 36)) /* a sum of integers is the same in any order */

/* Number of blocks along axis a of the slices. */
static size_t blocks_along(const coherence *f, int a)
{
    const int32_t voxels = a == 2 ? f->n_slices : f->grid->dim[a];
    return (size_t)(voxels + BLOCK - 1) / BLOCK;
}

static size_t count_blocks(const coherence *f)
{
    return blocks_along(f, 0) * blocks_along(f, 1) * blocks_along(f, 2);
}

/* The block of voxel i of the slices. */
static size_t block_of(const coherence *f, size_t i)
{
    const size_t x = i % (size_t)f->grid->dim[0], y = i % f->plane / (size_t)f->grid->dim[0], z = i / f->plane;
    return x / BLOCK + blocks_along(f, 0) * (y / BLOCK + blocks_along(f, 1) * (z / BLOCK));
}

/* Frees the numbers of the blocks. */
static void agreement_finish(agreement *a)
{
    free(a->sum);
    free(a->n);
}

/* Compares each voxel that is not left out with the voxels VOXELS_AHEAD ahead and behind along its direction, whose
 * components are taken as `other` says. The coherence is the mean of |cosine| between the two directions over the pairs
 * whose second voxel lies in the slices; a pair counts as 0 if its second voxel was left out. Call agreement_finish()
 * also after a failure. */
static gls_status along(const coherence *f, const axes *other, agreement *a)
{
    const double *size = f->grid->voxel_size, mm = VOXELS_AHEAD * (size[0] + size[1] + size[2]) / 3;
    const size_t n_blocks = count_blocks(f);
    *a = (agreement){.sum = calloc(n_blocks, sizeof *a->sum), .n = calloc(n_blocks, sizeof *a->n)};
    if (!a->sum || !a->n) return gls_no_memory();
    uint64_t n = 0, sum = 0, *block_sum = a->sum, *block_n = a->n;
#pragma omp parallel for schedule(static) reduction(+ : n, sum, block_sum[:n_blocks], block_n[:n_blocks])
    for (size_t i = 0; i < f->plane * (size_t)f->n_slices; i++) {
        if (!(f->contrast[i] > 0)) continue;
        double d[3], turned[3];
        direction_of(f, i, d);
        for (int c = 0; c < 3; c++) turned[c] = other->sign[c] * d[other->axis[c]];
        for (int way = -1; way <= 1; way += 2) {
            const ptrdiff_t ahead = voxel_ahead(f, i, turned, way * mm);
            if (ahead < 0) continue;
            n++;
            if (!(f->contrast[ahead] > 0)) continue;
            const uint64_t one = (uint64_t)(cosine(f, d, (size_t)ahead) * UNIT);
            sum += one;
            block_sum[block_of(f, i)] += one;
            block_n[block_of(f, i)]++;
        }
    }
    a->coherence = n > 0 ? (double)sum / UNIT / (double)n : 0;
    return GLS_OK;
}

/* Whether directions fit together better along the axes of `b` than along those of `a` in the blocks of the image, not
 * in a few places alone: the mean gain over the blocks is more than MIN_ERRORS times its standard error. Looks at pairs
 * of which no voxel was left out, because the shape of the region of such voxels favours some axes by itself. */
static bool is_better(const agreement *a, const agreement *b, size_t n_blocks)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t k = 0; k < n_blocks; k++) {
        if (a->n[k] < MIN_PAIRS || b->n[k] < MIN_PAIRS) continue;
        const double gain = ((double)b->sum[k] / (double)b->n[k] - (double)a->sum[k] / (double)a->n[k]) / UNIT;
        sum += gain;
        squares += gain * gain;
        n++;
    }
    if (n < 2) return false;
    const double mean = sum / (double)n, variance = (squares - sum * mean) / (double)(n - 1);
    const double error = sqrt(fmax(variance, 0) / (double)n);
    gls_log(GLS_LOG_DETAIL, "axes: directions fit together better by %.4f, with an error of %.4f, in %zu blocks", mean,
            error, n);
    return mean > MIN_DIFFERENCE && mean > MIN_ERRORS * error;
}

/* The axes or the basis along which directions fit together best. */
typedef struct finding {
    agreement best;
    char what[64];      /* the axes or the basis, in words */
    const char *remedy; /* what to do, for the warning */
} finding;

/* Compares directions along some axes, and keeps them if they are more coherent than the best ones so far. what: the
 * axes or the basis, in words. */
static gls_status try_axes(finding *found, const coherence *f, const axes *other, const char *what, const char *remedy)
{
    agreement a;
    gls_status status = along(f, other, &a);
    if (status || a.coherence <= found->best.coherence) {
        agreement_finish(&a);
        return status;
    }
    agreement_finish(&found->best);
    found->best = a;
    snprintf(found->what, sizeof found->what, "%s", what);
    found->remedy = remedy;
    return GLS_OK;
}

/* Tries mirrored and exchanged axes. Warns if the best of all that was tried is a clear gain over the directions as
 * they were read, because noise may favour wrong axes a little. file: the directions were read from it; NULL: from a
 * fit. */
static void compare_axes(finding *found, const coherence *f, const char *file, const char *remedy)
{
    static const axes others[] = {
        {{0, 1, 2}, {-1, 1, 1}, "with x mirrored"},       {{0, 1, 2}, {1, -1, 1}, "with y mirrored"},
        {{0, 1, 2}, {1, 1, -1}, "with z mirrored"},       {{1, 0, 2}, {1, 1, 1}, "with x and y exchanged"},
        {{0, 2, 1}, {1, 1, 1}, "with y and z exchanged"}, {{2, 1, 0}, {1, 1, 1}, "with x and z exchanged"}};
    agreement mine;
    gls_status status = along(f, &as_read, &mine);
    for (size_t k = 0; k < sizeof others / sizeof *others && !status; k++)
        status = try_axes(found, f, &others[k], others[k].what, remedy);
    if (!status && found->best.coherence > MIN_GAIN * mine.coherence && is_better(&mine, &found->best, count_blocks(f)))
        gls_log(GLS_LOG_WARNING,
                "%s%sdirections of neighbouring voxels fit together better %s (coherence %.3f, as read %.3f): %s",
                file ? file : "", file ? ": " : "", found->what, found->best.coherence, mine.coherence, found->remedy);
    agreement_finish(&mine);
    agreement_finish(&found->best);
}

/* The check of ODFs: see gls_coherence_advise(). sh: their file; NULL: they are of a fit. A wrong basis also looks like
 * wrong axes, and wrong axes like a wrong basis: the best of all counts. */
static void advise_of_odf(const gls_odf_source *odf, gls_bvec_frame frame, const gls_image *mask, const char *sh)
{
    static const gls_sh_basis bases[] = {GLS_SH_TOURNIER07, GLS_SH_DESCOTEAUX07_LEGACY, GLS_SH_DESCOTEAUX07};
    gls_sphere *sphere = NULL;
    coherence mine = {.n = 0}, other;
    finding found = {.remedy = NULL};
    if (!odf->is_sh || odf->full) return;
    gls_status status = gls_sphere_create("small", &sphere);
    if (!status) status = make(odf, odf->basis, frame, mask, sphere, &mine);
    const bool enough = !status && mine.n >= MIN_VOXELS;
    for (size_t b = 0; enough && !status && sh && b < sizeof bases / sizeof *bases; b++) {
        char what[64];
        if (bases[b] == odf->basis) continue;
        status = make(odf, bases[b], frame, mask, sphere, &other);
        snprintf(what, sizeof what, "as %s", gls_basis_name(bases[b]));
        if (!status) status = try_axes(&found, &other, &as_read, what, "see --sh-basis");
        finish(&other);
    }
    if (enough && !status)
        compare_axes(&found, &mine, sh,
                     sh ? "see --sh-frame and --sh-basis; 'glslines render --odf' shows the directions"
                        : "see --bvec-frame, or correct the gradient table; 'glslines render --odf' shows the "
                          "directions");
    else
        agreement_finish(&found.best);
    finish(&mine);
    gls_sphere_destroy(sphere);
}

/* The check of peaks. samples: number of samples of bedpostX in the image, of which the first is looked at; 0: no
 * samples. file: NULL: they are of a fit. */
static void advise_of_peaks(const gls_image *peaks, uint32_t samples, gls_bvec_frame frame, const gls_image *mask,
                            const char *file)
{
    const size_t n = peaks->n_volumes / 3 / (samples > 0 ? samples : 1);
    coherence f = {.grid = &peaks->grid, .given = peaks};
    finding found = {.remedy = NULL};
    char remedy[128] = "bedpostX writes FSL's axes: give its images as it wrote them, not mirrored or reoriented";
    if (!file)
        snprintf(remedy, sizeof remedy, "see --bvec-frame, or correct the gradient table");
    else if (samples == 0)
        snprintf(remedy, sizeof remedy, "they were read along %s axes: if these are wrong, give --peaks-frame %s or %s",
                 gls_odf_frame_name(frame), frame == GLS_BVEC_IMAGE ? "fsl" : "image",
                 frame == GLS_BVEC_WORLD ? "fsl" : "world");
    gls_status status = begin(&f, 3 * (double)n);
    if (!status) find_longest(&f, n, mask);
    if (!status) status = compare_neighbours(&f);
    if (!status) status = select_voxels(&f);
    if (!status && f.n >= MIN_VOXELS) compare_axes(&found, &f, file, remedy);
    finish(&f);
}

/* A fibre continues along its direction, so that the voxel ahead has a similar direction. Along wrong axes, as with a
 * mirrored gradient table or with harmonics read in another basis, fewer voxels agree with the voxel ahead. */
void gls_coherence_advise(const gls_odf_source *odf, const gls_image *peaks, uint32_t samples, gls_bvec_frame frame,
                          const gls_image *mask, const char *file)
{
    if (odf)
        advise_of_odf(odf, frame, mask, file);
    else
        advise_of_peaks(peaks, samples, frame, mask, file);
}
