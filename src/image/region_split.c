/* Splits an image that holds both ends of a bundle into two blobs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_store.h"
#include "util/maths.h"
#include "util/status.h"

/* Labels all voxels connected to `from` with `mark`. Returns their number. stack: room for all voxels. */
static uint64_t flood(const gls_region_area *area, uint32_t *number, uint32_t mark, size_t from, size_t *stack)
{
    const int32_t *dim = area->grid.dim;
    const size_t nx = (size_t)dim[0], ny = (size_t)dim[1];
    uint64_t size = 0;
    size_t n = 0;
    stack[n++] = from;
    number[from] = mark;
    while (n > 0) {
        size_t v = stack[--n];
        int32_t at[3] = {(int32_t)(v % nx), (int32_t)(v / nx % ny), (int32_t)(v / nx / ny)};
        size++;
        for (int k = 0; k < 27; k++) {
            int32_t x = at[0] + k % 3 - 1, y = at[1] + k / 3 % 3 - 1, z = at[2] + k / 9 - 1;
            if (x < 0 || y < 0 || z < 0 || x >= dim[0] || y >= dim[1] || z >= dim[2]) continue;
            size_t w = ((size_t)z * ny + (size_t)y) * nx + (size_t)x;
            if (!area->inside[w] || number[w]) continue;
            number[w] = mark;
            stack[n++] = w;
        }
    }
    return size;
}

/* Centre of the voxels of a region, world mm. */
static void find_centre(const gls_region_area *area, double centre[3])
{
    double p[3], sum[3] = {0};
    for (size_t v = 0, n = gls_grid_voxels(&area->grid); v < n; v++) {
        if (!area->inside[v]) continue;
        gls_region_centre(&area->grid, v, p);
        for (int a = 0; a < 3; a++) sum[a] += p[a] / (double)area->voxels;
    }
    gls_affine_apply(area->grid.affine, sum, centre);
}

/* Sorts two blobs along the world axis on which their centres lie farthest apart: left before right, posterior before
 * anterior, inferior before superior. */
static void sort_blobs(gls_region_area blob[2])
{
    double a[3], b[3];
    int axis = 0;
    find_centre(&blob[0], a);
    find_centre(&blob[1], b);
    for (int r = 1; r < 3; r++)
        if (fabs(b[r] - a[r]) > fabs(b[axis] - a[axis])) axis = r;
    if (b[axis] >= a[axis]) return;
    gls_region_area keep = blob[0];
    blob[0] = blob[1];
    blob[1] = keep;
}

gls_status gls_region_area_split(const gls_region_area *area, const char *name, gls_region_area blob[2])
{
    blob[0] = blob[1] = (gls_region_area){.inside = NULL};
    if (!area->inside) return gls_fail(GLS_ERR_INPUT, "%s: a sphere has no two blobs", name);
    const size_t n = gls_grid_voxels(&area->grid);
    uint32_t *number = calloc(n, sizeof *number), mark = 0, best[2] = {0};
    size_t *stack = malloc(n * sizeof *stack);
    uint64_t size[2] = {0};
    bool done = number && stack;
    for (size_t v = 0; v < n && done; v++) {
        if (!area->inside[v] || number[v]) continue;
        uint64_t voxels = flood(area, number, ++mark, v, stack);
        int place = voxels > size[0] ? 0 : voxels > size[1] ? 1 : 2;
        if (place == 0) {
            size[1] = size[0];
            best[1] = best[0];
        }
        if (place < 2) {
            size[place] = voxels;
            best[place] = mark;
        }
    }
    for (int e = 0; e < 2 && done && size[1] > 0; e++) {
        blob[e] = (gls_region_area){.inside = calloc(n, 1), .grid = area->grid, .voxels = size[e]};
        done = blob[e].inside;
        for (size_t v = 0; v < n && done; v++) blob[e].inside[v] = number[v] == best[e];
    }
    free(number);
    free(stack);
    if (!done) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a region", name);
    if (size[1] == 0) return gls_fail(GLS_ERR_INPUT, "%s: has only one blob of voxels", name);
    sort_blobs(blob);
    return GLS_OK;
}
