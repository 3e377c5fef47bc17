/* Coherence of the directions of ODFs: whether the voxel ahead along a direction has a similar one. This is the fiber
 * coherence index of Schilling et al. 2019, Magn Reson Imaging 58:82, with a voxel two voxels ahead. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "dwi/odf_parts.h"
#include "util/maths.h"
#include "util/status.h"

/* Number of multiply-adds to spend on sampling ODFs: only as many middle slices are sampled as this number allows. */
#define MAX_WORK 1.5e9
/* Share of voxels to leave out: those whose peak rises least above the mean of the ODF, because their directions are
 * noise or crossings. */
#define SHARE_LEFT_OUT 0.67
#define VOXELS_AHEAD 2

/* Finds the peaks of `count` voxels from index `at` of the sampled slices on. rows: samples of these voxels, a row for
 * each vertex; the first row is overwritten. inside: mask of these voxels; NULL: all are inside. */
static void find_peaks(gls_coherence *f, size_t at, size_t count, float *rows, const float *inside)
{
    const size_t n = f->sphere->n;
    float *top = f->contrast + at, *sum = rows;
    uint32_t *vertex = f->vertex + at;
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
static gls_status sample(gls_coherence *f, const gls_odf_source *odf, const gls_image *mask)
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

/* Leaves out voxels of little contrast. sorted: space for all contrasts. */
static void select_voxels(gls_coherence *f, float *sorted)
{
    const size_t total = f->plane * (size_t)f->n_slices;
    const double share = SHARE_LEFT_OUT;
    double limit = 0;
    size_t n = 0;
    for (size_t i = 0; i < total; i++)
        if (f->contrast[i] > 0) sorted[n++] = f->contrast[i];
    gls_quantiles_of_floats(sorted, n, &share, 1, &limit);
    f->n = 0;
    for (size_t i = 0; i < total; i++) {
        if (!(f->contrast[i] > limit)) f->contrast[i] = 0;
        f->n += f->contrast[i] > 0;
    }
}

void gls_coherence_finish(gls_coherence *f)
{
    free(f->vertex);
    free(f->contrast);
}

gls_status gls_coherence_make(const gls_odf_source *from, gls_sh_basis basis, gls_bvec_frame frame,
                              const gls_image *mask, const gls_sphere *sphere, gls_coherence *f)
{
    const gls_grid *grid = &from->image->grid;
    gls_odf_source *odf = NULL;
    *f = (gls_coherence){.grid = grid, .sphere = sphere, .plane = (size_t)grid->dim[0] * (size_t)grid->dim[1]};
    const double work = (double)f->plane * (double)sphere->n * (double)from->image->n_volumes;
    f->n_slices = (int32_t)fmin(grid->dim[2], fmax(1, MAX_WORK / work));
    f->first = (grid->dim[2] - f->n_slices) / 2;
    const size_t total = f->plane * (size_t)f->n_slices;
    f->vertex = malloc(total * sizeof *f->vertex);
    f->contrast = malloc(total * sizeof *f->contrast);
    float *sorted = malloc(total * sizeof *sorted);
    gls_status status = f->vertex && f->contrast && sorted ? GLS_OK : gls_no_memory();
    if (!status) status = gls_odf_source_create_sh(from->image, "ODFs", basis, frame, sphere, &from->options, &odf);
    if (!status) status = sample(f, odf, mask);
    if (!status) select_voxels(f, sorted);
    gls_odf_source_destroy(odf);
    free(sorted);
    return status;
}

/* Index, in the sampled slices, of the voxel that lies `mm` ahead of voxel c along a direction; -1: outside these
 * slices. */
static ptrdiff_t voxel_ahead(const gls_coherence *f, const int32_t c[3], const double direction[3], double mm)
{
    int32_t u[3];
    for (int a = 0; a < 3; a++) {
        u[a] = c[a] + (int32_t)lrint(mm * direction[a] / f->grid->voxel_size[a]);
        const int32_t low = a == 2 ? f->first : 0, high = a == 2 ? f->first + f->n_slices : f->grid->dim[a];
        if (u[a] < low || u[a] >= high) return -1;
    }
    return (ptrdiff_t)(u[2] - f->first) * (ptrdiff_t)f->plane + (ptrdiff_t)u[1] * f->grid->dim[0] + u[0];
}

double gls_coherence_along(const gls_coherence *f, const int axis[3], const double sign[3])
{
    const double *size = f->grid->voxel_size, mm = VOXELS_AHEAD * (size[0] + size[1] + size[2]) / 3;
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->plane * (size_t)f->n_slices; i++) {
        if (!(f->contrast[i] > 0)) continue;
        const int32_t c[3] = {(int32_t)(i % (size_t)f->grid->dim[0]), (int32_t)(i % f->plane / (size_t)f->grid->dim[0]),
                              f->first + (int32_t)(i / f->plane)};
        const double *d = f->sphere->vertex[f->vertex[i]];
        const double turned[3] = {sign[0] * d[axis[0]], sign[1] * d[axis[1]], sign[2] * d[axis[2]]};
        for (int way = -1; way <= 1; way += 2) {
            const ptrdiff_t ahead = voxel_ahead(f, c, turned, way * mm);
            if (ahead < 0) continue;
            n++;
            if (!(f->contrast[ahead] > 0)) continue;
            const double *there = f->sphere->vertex[f->vertex[ahead]];
            sum += fabs(d[0] * there[0] + d[1] * there[1] + d[2] * there[2]);
        }
    }
    return n > 0 ? sum / (double)n : 0;
}
