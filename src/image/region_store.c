/* Keeps regions by grid, with the set of regions of each voxel: for tracking and for filters of streamlines. */
#include "image/region_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/region_area.h"
#include "util/maths.h"
#include "util/status.h"

gls_status gls_region_store_init(gls_region_store *s, double slack)
{
    *s = (gls_region_store){.slack = slack, .n_sets = 1, .first = calloc(2, sizeof *s->first)};
    return s->first ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
}

void gls_region_store_finish(gls_region_store *s)
{
    for (size_t i = 0; i < s->n_layers; i++) free(s->layer[i].voxel);
    free(s->layer);
    free(s->first);
    free(s->set);
    *s = (gls_region_store){.slack = s->slack};
}

bool gls_region_same_grid(const gls_grid *a, const gls_grid *b, double slack)
{
    if (memcmp(a->dim, b->dim, sizeof a->dim) != 0) return false;
    if (slack == 0) return memcmp(a->affine, b->affine, sizeof a->affine) == 0;
    for (int corner = 0; corner < 8; corner++) {
        double p[3], q[3], s[3];
        for (int i = 0; i < 3; i++) p[i] = corner >> i & 1 ? a->dim[i] - 1 : 0;
        gls_affine_apply(a->affine, p, q);
        gls_affine_apply(b->affine, p, s);
        for (int i = 0; i < 3; i++)
            if (!(fabs(q[i] - s[i]) <= slack)) return false;
    }
    return true;
}

size_t gls_region_store_find(const gls_region_store *s, const gls_grid *grid)
{
    size_t i = 0;
    while (i < s->n_layers && !(s->layer[i].voxel && gls_region_same_grid(&s->layer[i].grid, grid, s->slack))) i++;
    return i;
}

/* Adds a set: the regions of the set with index `from`, and one more. *number: index of the new set. */
static bool set_with(gls_region_store *s, uint32_t from, uint32_t region, uint32_t *number)
{
    size_t n = s->first[from + 1] - s->first[from], end = s->first[s->n_sets];
    size_t *first = realloc(s->first, (s->n_sets + 2) * sizeof *first);
    if (first) s->first = first;
    uint32_t *set = realloc(s->set, (end + n + 1) * sizeof *set);
    if (set) s->set = set;
    if (!first || !set || s->n_sets == UINT32_MAX) return false;
    for (size_t i = 0; i < n; i++) set[end + i] = set[first[from] + i];
    set[end + n] = region;
    *number = (uint32_t)s->n_sets++;
    first[s->n_sets] = end + n + 1;
    return true;
}

/* Adds a layer for the regions on a grid, or for a sphere if grid is NULL. Returns NULL if memory runs out. */
static gls_region_layer *add_layer(gls_region_store *s, const gls_grid *grid)
{
    gls_region_layer *list = realloc(s->layer, (s->n_layers + 1) * sizeof *list);
    if (!list) return NULL;
    s->layer = list;
    gls_region_layer *p = &list[s->n_layers];
    *p = (gls_region_layer){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    if (grid) {
        p->grid = *grid;
        gls_grid_inverse(grid, p->inverse);
        p->voxel = calloc(gls_grid_voxels(grid), sizeof *p->voxel);
        if (!p->voxel) return NULL;
    }
    s->n_layers++;
    return p;
}

/* Adds a region to the sets of its voxels. A voxel holds only the index of its set, so memory grows with the sets that
 * occur, not with regions. Returns false if memory ran out. */
static bool mark(gls_region_store *s, gls_region_layer *p, const gls_region_area *area, uint32_t region)
{
    uint32_t *with = calloc(
        s->n_sets, sizeof *with); /* for each set that existed before, the set with the region added; 0: not made yet */
    bool done = with;
    for (size_t v = 0, n = gls_grid_voxels(&area->grid); v < n && done; v++) {
        double c[3];
        if (!area->inside[v]) continue;
        uint32_t *number = &with[p->voxel[v]];
        if (!*number) done = set_with(s, p->voxel[v], region, number);
        p->voxel[v] = *number;
        gls_region_centre(&area->grid, v, c);
        for (int a = 0; a < 3; a++) {
            p->low[a] = fmin(p->low[a], c[a]);
            p->high[a] = fmax(p->high[a], c[a] + 1);
        }
    }
    for (int a = 0; a < 3 && isfinite(p->low[a]); a++) {
        p->low_voxel[a] = (int)p->low[a];
        p->high_voxel[a] = (int)p->high[a];
    }
    free(with);
    return done;
}

bool gls_region_store_add(gls_region_store *s, const gls_region_area *area, uint32_t region, size_t *layer)
{
    *layer = area->inside ? gls_region_store_find(s, &area->grid) : s->n_layers;
    gls_region_layer *p = *layer < s->n_layers ? &s->layer[*layer] : add_layer(s, area->inside ? &area->grid : NULL);
    if (!p) return false;
    if (area->inside) return mark(s, p, area, region);
    p->sphere = area->sphere;
    return set_with(s, 0, region, &p->sphere_set);
}

uint32_t gls_region_layer_at(const gls_region_layer *p, const float point[3])
{
    double c[3], square = 0;
    if (p->voxel) {
        gls_region_layer_corner(p, point, c);
        return gls_region_layer_voxel(p, (const double[3]){floor(c[0]), floor(c[1]), floor(c[2])});
    }
    for (int a = 0; a < 3; a++) square += (point[a] - p->sphere.centre[a]) * (point[a] - p->sphere.centre[a]);
    return square <= p->sphere.radius * p->sphere.radius ? p->sphere_set : 0;
}
