/* Erosion, dilation, components, median and filling of sets of voxels. */
#include "dwi/voxel_sets.h"

#include "util/status.h"

#include <stdlib.h>
#include <string.h>

static size_t voxels(const int32_t dim[3])
{
    return (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2];
}

static gls_status no_memory(const int32_t dim[3])
{
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", voxels(dim));
}

size_t gls_morphology_count(const int32_t dim[3], const uint8_t *set)
{
    size_t n = 0;
    for (size_t v = 0; v < voxels(dim); v++) n += set[v];
    return n;
}

/* Lists in `around` the indices of those of the 6 neighbours of voxel v that lie inside the grid. Returns their
 * number. */
static size_t neighbours(const int32_t dim[3], size_t v, size_t around[6])
{
    size_t nx = (size_t)dim[0], nxy = nx * (size_t)dim[1], n = 0;
    size_t x = v % nx, y = v / nx % (size_t)dim[1], z = v / nxy;
    if (x > 0) around[n++] = v - 1;
    if (x + 1 < nx) around[n++] = v + 1;
    if (y > 0) around[n++] = v - nx;
    if (y + 1 < (size_t)dim[1]) around[n++] = v + nx;
    if (z > 0) around[n++] = v - nxy;
    if (z + 1 < (size_t)dim[2]) around[n++] = v + nxy;
    return n;
}

/* Changes a set `times` times. grow: adds voxels with a neighbour in the set; otherwise removes voxels that have a
 * neighbour outside the set or the grid. */
static gls_status change(const int32_t dim[3], uint8_t *set, int times, bool grow)
{
    size_t n = voxels(dim), around[6];
    uint8_t *old = malloc(n);
    if (!old) return no_memory(dim);
    for (int pass = 0; pass < times; pass++) {
        memcpy(old, set, n);
        for (size_t v = 0; v < n; v++) {
            if (old[v] == grow) continue;
            size_t count = neighbours(dim, v, around), inside = 0;
            for (size_t i = 0; i < count; i++) inside += old[around[i]];
            set[v] = grow ? inside > 0 : inside == 6;
        }
    }
    free(old);
    return GLS_OK;
}

gls_status gls_morphology_erode(const int32_t dim[3], uint8_t *set, int times)
{
    return change(dim, set, times, false);
}

gls_status gls_morphology_dilate(const int32_t dim[3], uint8_t *set, int times)
{
    return change(dim, set, times, true);
}

gls_status gls_morphology_largest(const int32_t dim[3], uint8_t *set)
{
    size_t n = voxels(dim), best = 0, best_begin = 0, used = 0, around[6];
    size_t *queue = malloc(n * sizeof *queue); /* the voxels of all components, one component after another */
    if (!queue) return no_memory(dim);
    /* components by breadth-first search; visited voxels are marked by 2 */
    for (size_t v = 0; v < n; v++) {
        if (set[v] != 1) continue;
        size_t begin = used;
        set[v] = 2;
        queue[used++] = v;
        for (size_t q = begin; q < used; q++) {
            size_t count = neighbours(dim, queue[q], around);
            for (size_t i = 0; i < count; i++) {
                if (set[around[i]] != 1) continue;
                set[around[i]] = 2;
                queue[used++] = around[i];
            }
        }
        /* only a larger component replaces the best one, so that of equal ones the first stays */
        if (used - begin > best) {
            best = used - begin;
            best_begin = begin;
        }
    }
    memset(set, 0, n);
    for (size_t q = 0; q < best; q++) set[queue[best_begin + q]] = 1;
    free(queue);
    return GLS_OK;
}

gls_status gls_morphology_median(const int32_t dim[3], uint8_t *set)
{
    size_t n = voxels(dim), at = 0;
    uint8_t *old = malloc(n);
    if (!old) return no_memory(dim);
    memcpy(old, set, n);
    for (int32_t z = 0; z < dim[2]; z++)
        for (int32_t y = 0; y < dim[1]; y++)
            for (int32_t x = 0; x < dim[0]; x++, at++) {
                int inside = 0, count = 0;
                for (int32_t k = z > 0 ? z - 1 : 0; k <= z + 1 && k < dim[2]; k++)
                    for (int32_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < dim[1]; j++)
                        for (int32_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < dim[0]; i++, count++)
                            inside += old[((size_t)k * (size_t)dim[1] + (size_t)j) * (size_t)dim[0] + (size_t)i];
                set[at] = 2 * inside > count;
            }
    free(old);
    return GLS_OK;
}

gls_status gls_morphology_fill(const int32_t dim[3], uint8_t *set)
{
    size_t n = voxels(dim);
    for (size_t v = 0; v < n; v++) set[v] = !set[v];
    gls_status status = gls_morphology_largest(dim, set);
    for (size_t v = 0; v < n; v++) set[v] = !set[v];
    return status;
}
