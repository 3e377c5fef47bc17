/* The list of voxels that a streamline visits, with a hash table so that each occurs once, and the grid in which voxels
 * are found. */
#ifndef GLS_TRACTS_VISITS_LIST_H
#define GLS_TRACTS_VISITS_LIST_H

#include <glslines/image.h>

#include "tracts/visits_parts.h"

/* Fills in *to for a grid. */
void gls_visit_grid_init(gls_visit_grid *to, const gls_grid *grid);
/* Frees the arrays; keeps `directed`. */
void gls_visits_finish(gls_visits *visits);
/* Enlarges the arrays. Returns false if memory ran out. */
bool gls_visits_grow(gls_visits *visits);

/* Slot of the hash table that holds the voxel, or the free slot where it belongs. */
static inline size_t gls_visits_slot(const gls_visits *v, uint64_t voxel)
{
    size_t at = (size_t)((voxel * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (v->slots - 1);
    while (v->slot[at] && v->voxel[v->slot[at] - 1] != voxel) at = (at + 1) & (v->slots - 1);
    return at;
}

/* Index of a voxel in the list, to which it is appended if it is new; SIZE_MAX: memory ran out. Tries the last voxel
 * first, because most points lie in the voxel of the point before. */
static inline size_t gls_visits_index(gls_visits *v, uint64_t voxel)
{
    if (v->n > 0 && v->voxel[v->n - 1] == voxel) return v->n - 1;
    if (v->n == v->capacity && !gls_visits_grow(v)) return SIZE_MAX;
    size_t at = gls_visits_slot(v, voxel);
    if (v->slot[at]) return v->slot[at] - 1;
    v->voxel[v->n] = voxel;
    v->mm[v->n] = 0;
    for (int r = 0; r < 3 && v->directed; r++) v->direction[v->n][r] = 0;
    v->slot[at] = (uint32_t)++v->n;
    return v->n - 1;
}

/* Adds mm to the visit of a voxel; a voxel that is not in the list yet is appended to it. */
void gls_visits_note(gls_visits *visits, uint64_t voxel, double mm);

#endif
