/* Sets of voxels: erosion, dilation, the largest part, holes. */
#include "image/morphology.h"

#include <stdlib.h>
#include <string.h>

#include "image/grid.h"
#include "util/status.h"

static size_t voxels_of(const int32_t dim[3])
{
    return (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2];
}

static gls_status no_memory(const int32_t dim[3])
{
    return gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", voxels_of(dim));
}

size_t gls_morphology_count(const int32_t dim[3], const uint8_t *set)
{
    size_t n = 0;
    for (size_t v = 0; v < voxels_of(dim); v++) n += set[v];
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

/* Changes a set `times` times. grow true: adds voxels with a neighbour in the set; false: removes voxels with a
 * neighbour outside the set or the grid. */
static gls_status change(const int32_t dim[3], uint8_t *set, int times, bool grow)
{
    size_t n = voxels_of(dim), around[6];
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

gls_status gls_morphology_keep_largest(const int32_t dim[3], uint8_t *set)
{
    size_t n = voxels_of(dim), best = 0, best_begin = 0, used = 0, around[6];
    size_t *queue = malloc(n * sizeof *queue); /* the voxels visited so far, one component after another */
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

gls_status gls_morphology_fill_holes(const int32_t dim[3], uint8_t *set)
{
    size_t n = voxels_of(dim);
    for (size_t v = 0; v < n; v++) set[v] = !set[v];
    gls_status status = gls_morphology_keep_largest(dim, set);
    for (size_t v = 0; v < n; v++) set[v] = !set[v];
    return status;
}

/* Sets all voxels within `mm` of a voxel. reach: their largest distance along each axis, voxels. */
static void stamp(const gls_grid *grid, const int32_t at[3], const int reach[3], double mm, uint8_t *set)
{
    const int32_t *dim = grid->dim;
    for (int z = -reach[2]; z <= reach[2]; z++)
        for (int y = -reach[1]; y <= reach[1]; y++)
            for (int x = -reach[0]; x <= reach[0]; x++) {
                const int32_t to[3] = {at[0] + x, at[1] + y, at[2] + z};
                const double d[3] = {x * grid->voxel_size[0], y * grid->voxel_size[1], z * grid->voxel_size[2]};
                const bool inside =
                    to[0] >= 0 && to[1] >= 0 && to[2] >= 0 && to[0] < dim[0] && to[1] < dim[1] && to[2] < dim[2];
                if (inside && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] <= mm * mm)
                    set[((size_t)to[2] * (size_t)dim[1] + (size_t)to[1]) * (size_t)dim[0] + (size_t)to[0]] = 1;
            }
}

gls_status gls_morphology_dilate_mm(const gls_grid *grid, uint8_t *set, double mm)
{
    const size_t n = gls_grid_voxels(grid);
    size_t around[6];
    int reach[3];
    uint8_t *old = malloc(n);
    if (!old) return no_memory(grid->dim);
    memcpy(old, set, n);
    for (int a = 0; a < 3; a++) reach[a] = (int)(mm / grid->voxel_size[a]);
    for (size_t v = 0; v < n; v++) {
        if (!old[v]) continue;
        const size_t count = neighbours(grid->dim, v, around);
        size_t inside = 0;
        for (size_t i = 0; i < count; i++) inside += old[around[i]];
        int32_t at[3];
        if (inside == count) continue; /* voxels around it have nearer ones at the border of the set */
        gls_grid_centre(grid, v, at);
        stamp(grid, at, reach, mm, set);
    }
    free(old);
    return GLS_OK;
}
