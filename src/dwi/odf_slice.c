/* Samples slices and blocks of voxels of an ODF image on the vertices of a sphere, by kernels that are compiled for
 * several instruction sets. */
#include <glslines/odf.h>

#include "dwi/odf_slice.h"
#include "dwi/odf_parts.h"
#include "image/grid.h"
#include "util/status.h"
#include "util/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loads voxels first .. first + count - 1 of all used volumes: in[j * GLS_ODF_BLOCK + i] is used volume j at voxel
 * first + i, and 0 for i >= count. Values that are not finite become 0. Returns false if all values are 0, as outside
 * the brain, where the product can be skipped. */
static bool load(const gls_odf_source *s, size_t first, size_t count, float *in)
{
    size_t voxels = gls_grid_voxels(&s->image->grid);
    int32_t any = 0;
    for (size_t j = 0; j < s->parts->n_inputs; j++) {
        const float *from = s->image->data + s->parts->input[j] * voxels + first;
        float *to = in + j * GLS_ODF_BLOCK;
        for (size_t i = 0; i < count; i++) {
            to[i] = from[i] - from[i] == 0 ? from[i] : 0;
            any |= to[i] != 0;
        }
        for (size_t i = count; i < GLS_ODF_BLOCK; i++) to[i] = 0;
    }
    return any;
}

/* Stores the amplitudes of voxels first .. first + count - 1 in the rows, one for each vertex: each is the mean of the
 * two volumes that `ends` names for the vertex. Values that are not finite become 0. */
static void fold(const gls_odf_source *s, size_t first, size_t count, float *rows, size_t stride)
{
    size_t voxels = gls_grid_voxels(&s->image->grid);
    for (size_t v = 0; v < s->sphere->n; v++) {
        const float *a = s->image->data + s->parts->ends[v][0] * voxels + first,
                    *b = s->image->data + s->parts->ends[v][1] * voxels + first;
        float *to = rows + v * stride;
        for (size_t i = 0; i < count; i++) {
            float mean = 0.5f * (a[i] + b[i]);
            to[i] = mean - mean == 0 ? mean : 0;
        }
    }
}

/* Applies the options to `count` sampled voxels: clip sets negative amplitudes to 0; normalise divides the amplitudes
 * of a voxel by their largest, if that is above 0; a stop map sets the amplitudes of voxels below the stop threshold to
 * 0. */
static void finish(const gls_odf_source *s, size_t first, size_t count, float *rows, size_t stride)
{
    float factor[GLS_ODF_BLOCK], largest[GLS_ODF_BLOCK] = {0};
    for (size_t v = 0; s->options.clip && v < s->sphere->n; v++)
        for (size_t i = 0; i < count; i++) rows[v * stride + i] = rows[v * stride + i] > 0 ? rows[v * stride + i] : 0;
    for (size_t i = 0; i < count; i++) factor[i] = 1;
    if (s->options.normalise) {
        for (size_t v = 0; v < s->sphere->n; v++)
            for (size_t i = 0; i < count; i++)
                largest[i] = rows[v * stride + i] > largest[i] ? rows[v * stride + i] : largest[i];
        for (size_t i = 0; i < count; i++)
            if (largest[i] > 0) factor[i] = 1 / largest[i];
    }
    if (s->options.stop_map) {
        const float *stop = s->options.stop_map->data + first;
        for (size_t i = 0; i < count; i++)
            if (!(stop[i] >= s->options.stop_threshold)) factor[i] = 0;
    }
    if (!s->options.normalise && !s->options.stop_map) return;
    for (size_t v = 0; v < s->sphere->n; v++)
        for (size_t i = 0; i < count; i++) rows[v * stride + i] *= factor[i];
}

void gls_odf_block(const gls_odf_source *source, size_t first, size_t count, float *rows, size_t stride, float *scratch)
{
    const struct gls_odf_parts *parts = source->parts;
    size_t n = source->sphere->n, padded = (n + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
    if (!source->is_sh) {
        fold(source, first, count, rows, stride);
    } else if (load(source, first, count, scratch)) {
        gls_odf_kernels[gls_cpu_level()](parts->matrix, padded, n, parts->n_inputs, scratch, count, rows, stride);
    } else {
        for (size_t v = 0; v < n; v++) memset(rows + v * stride, 0, count * sizeof *rows);
        return;
    }
    finish(source, first, count, rows, stride);
}

void gls_odf_sh_block(const gls_odf_source *source, size_t first, size_t count, float *rows, float *scratch)
{
    const struct gls_odf_parts *parts = source->parts;
    size_t k = parts->n_inputs, padded = (k + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
    const gls_image *stop = source->options.stop_map;
    bool any = load(source, first, count, parts->to_legacy ? scratch : rows);
    if (!any)
        memset(rows, 0, k * GLS_ODF_BLOCK * sizeof *rows);
    else if (parts->to_legacy)
        gls_odf_kernels[gls_cpu_level()](parts->to_legacy, padded, k, k, scratch, GLS_ODF_BLOCK, rows, GLS_ODF_BLOCK);
    for (size_t i = 0; stop && i < count; i++)
        if (!(stop->data[first + i] >= source->options.stop_threshold))
            for (size_t j = 0; j < k; j++) rows[j * GLS_ODF_BLOCK + i] = 0;
}

gls_status gls_odf_slice(const gls_odf_source *source, int32_t z, float *rows)
{
    GLS_REQUIRE(source && rows && source->image && source->sphere);
    const int32_t *dim = source->image->grid.dim;
    if (z < 0 || z >= dim[2])
        return gls_fail(GLS_ERR_ARGUMENT, "slice %d (counted from 0) is out of range: the ODF image has %d slices", z,
                        dim[2]);
    size_t stride = (size_t)dim[0] * (size_t)dim[1];
    long long blocks = (long long)((stride + GLS_ODF_BLOCK - 1) / GLS_ODF_BLOCK);
#pragma omp parallel
    {
        float in[GLS_ODF_SCRATCH] __attribute__((aligned(64)));
#pragma omp for schedule(dynamic, 4)
        for (long long block = 0; block < blocks; block++) {
            size_t begin = (size_t)block * GLS_ODF_BLOCK,
                   count = stride - begin < GLS_ODF_BLOCK ? stride - begin : GLS_ODF_BLOCK;
            gls_odf_block(source, (size_t)z * stride + begin, count, rows + begin, stride, in);
        }
    }
    return GLS_OK;
}

gls_status gls_odf_sample(const gls_odf_source *source, gls_image **odf)
{
    GLS_REQUIRE(source && odf && source->image && source->sphere);
    const gls_grid *grid = &source->image->grid;
    size_t slice = (size_t)grid->dim[0] * (size_t)grid->dim[1], n = source->sphere->n;
    gls_image *made = NULL;
    float *rows = malloc(n * slice * sizeof *rows);
    if (!rows) return gls_fail(GLS_ERR_MEMORY, "out of memory for a slice of %zu directions", n);
    gls_status status = gls_image_allocate(grid, n, false, &made);
    for (int32_t z = 0; z < grid->dim[2] && !status; z++) {
        status = gls_odf_slice(source, z, rows);
        for (size_t v = 0; v < n && !status; v++)
            memcpy(made->data + (v * (size_t)grid->dim[2] + (size_t)z) * slice, rows + v * slice, slice * sizeof *rows);
    }
    free(rows);
    if (!status)
        *odf = made;
    else
        gls_image_destroy(made);
    return status;
}

/* --- Kernels. The kernel is chosen at run time; results differ by rounding only. */

/* Fused multiply-add where the target has it. In ISO mode gcc fuses only on request; clang fuses by default. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif

#define GLS_LEVEL_FILE "dwi/odf_lanes.h"
#include "util/each_level.h"

const gls_odf_kernel gls_odf_kernels[GLS_CPU_LEVELS] = GLS_CPU_VARIANTS(multiply);
