/* Which voxels a streamline visits. */
#ifndef GLS_TRACTS_VISITS_H
#define GLS_TRACTS_VISITS_H

#include <glslines/density.h>

/* The grid as the mappings need it. */
typedef struct gls_visit_grid {
    int32_t dim[3];
    double world_to_voxel[3][4];
    float turned[3][4]; /* the same for axes that are flipped towards RAS, in float32, as MRtrix3 has them */
    bool flip[3];
    float min_side; /* of a voxel, mm */
} gls_visit_grid;

/* Room for the visits of one streamline, each voxel once. */
typedef struct gls_visits {
    size_t n, capacity;
    uint64_t *voxel;
    double *mm;
    double (*direction)[3];          /* sum of directions without signs; of those mappings that have them, else NULL */
    bool directed;                   /* it is wanted: set before the first use */
    size_t slots;                    /* a power of two, at least twice the capacity */
    uint32_t *slot;                  /* place in voxel + 1, 0: free; all free between streamlines */
    double heading[3];               /* direction of what is noted, without signs */
    bool outside;                    /* a part lies outside the grid */
    uint64_t places, places_outside; /* whose voxel was looked for: points, or with GLS_DENSITY_PRECISE voxels */
    bool failed;                     /* out of memory */
} gls_visits;

void gls_visit_grid_init(gls_visit_grid *to, const gls_grid *grid);
void gls_visits_finish(gls_visits *visits);
/* Fills in the visits of n >= 1 points. mm is set by the mappings of lengths only; a voxel that both ends share comes
 * twice. */
void gls_visits_find(gls_visits *visits, const gls_visit_grid *grid, const gls_density_options *options,
                     const float (*point)[3], size_t n);

/* --- for those that lie in files of their own -------------------------------------------------------------------- */

/* Makes room for more; false: out of memory. */
bool gls_visits_grow(gls_visits *visits);

/* Where the hash table has the voxel, or where it would have it. */
static inline size_t gls_visits_slot(const gls_visits *v, uint64_t voxel)
{
    size_t at = (size_t)((voxel * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (v->slots - 1);
    while (v->slot[at] && v->voxel[v->slot[at] - 1] != voxel) at = (at + 1) & (v->slots - 1);
    return at;
}

/* The place of a voxel in the list, at its end where it is new; SIZE_MAX: out of memory. The last voxel comes first to
 * mind: most points lie where the one before does. */
static inline size_t gls_visits_place(gls_visits *v, uint64_t voxel)
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

/* A visit of mm; the voxel of a point as MRtrix3 finds it, in float32. */
void gls_visits_note(gls_visits *visits, uint64_t voxel, double mm);
void gls_visit_voxel_turned(const gls_visit_grid *grid, const float p[3], double voxel[3]);
/* GLS_DENSITY_SEGMENT and GLS_DENSITY_LENGTH; measured: mm are wanted. */
void gls_visits_polyline(gls_visits *visits, const gls_visit_grid *grid, bool measured, const float (*point)[3],
                         size_t n);

#endif
