/* Finds the voxels that a streamline visits, by each gls_density_mapping. */
#ifndef GLS_TRACTS_VISITS_H
#define GLS_TRACTS_VISITS_H

#include <glslines/density.h>

/* A grid, prepared for finding the voxels of points. */
typedef struct gls_visit_grid {
    /* size in voxels */
    int32_t dim[3];
    /* from world mm to voxel coordinates, whose whole numbers are centres of voxels */
    double world_to_voxel[3][4];
    float turned[3][4]; /* world to voxels with axes flipped towards RAS, in float32 as in MRtrix3 */
    bool flip[3];       /* whether `turned` flips the axis */
    float min_side;     /* smallest side of a voxel, mm */
} gls_visit_grid;

/* The visits of one streamline; each voxel occurs once, except with GLS_DENSITY_ENDS. All zero: empty. */
typedef struct gls_visits {
    /* voxels visited, in the order of the first visit */
    size_t n, capacity;
    /* index of each voxel, x fastest */
    uint64_t *voxel;
    /* by a mapping of lengths, the length in each voxel, mm; by a mapping of points, the number of points in each
     * voxel; else not defined */
    double *mm;
    double (*direction)[3];          /* for each voxel the sum of directions without signs; NULL unless `directed` */
    bool directed;                   /* compute directions; set it before the first use */
    size_t slots;                    /* size of the hash table: a power of two, at least twice the capacity */
    uint32_t *slot;                  /* 1 + an index into `voxel`; 0: free. All slots are free between streamlines */
    double heading[3];               /* direction, without signs, of the visit that gls_visits_note() adds next */
    bool outside;                    /* a part of the streamline lies outside the grid */
    uint64_t places, places_outside; /* number of lookups of voxels, and of lookups outside the grid: one for each
                                        point, also a new one of upsampling; with GLS_DENSITY_ENDS for each end, with
                                        GLS_DENSITY_PRECISE for each passage through a voxel */
    bool failed;                     /* memory ran out */
} gls_visits;

/* Fills in *to for a grid. */
void gls_visit_grid_init(gls_visit_grid *to, const gls_grid *grid);
/* Frees the arrays; keeps `directed`. */
void gls_visits_finish(gls_visits *visits);
/* Finds the visits of n >= 1 points. With GLS_DENSITY_ENDS a voxel with both ends occurs twice. */
void gls_visits_find(gls_visits *visits, const gls_visit_grid *grid, const gls_density_options *options,
                     const float (*point)[3], size_t n);

/* --- For the files that find the visits. */

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
/* Finds the visits for GLS_DENSITY_SEGMENT and GLS_DENSITY_LENGTH. measured: compute mm. */
void gls_visits_polyline(gls_visits *visits, const gls_visit_grid *grid, bool measured, const float (*point)[3],
                         size_t n);

#endif
