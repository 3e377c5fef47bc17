/* Finds the voxels that a streamline visits, by each gls_density_mapping. */
#ifndef GLS_TRACTS_VISITS_PARTS_H
#define GLS_TRACTS_VISITS_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    double (*direction)[3]; /* for each voxel the sum of directions without signs; NULL unless `directed` */
    bool directed;          /* compute directions; set it before the first use */
    bool aligned;           /* with `directed`: sum unit directions with their signs, each turned to the side of
                               the sum before it; by GLS_DENSITY_PRECISE alone */
    size_t slots;           /* size of the hash table: a power of two, at least twice the capacity */
    uint32_t *slot;         /* 1 + an index into `voxel`; 0: free. All slots are free between streamlines */
    double heading[3]; /* direction, without signs unless `aligned`, of the visit that gls_visits_note() adds next */
    bool outside;      /* a part of the streamline lies outside the grid */
    uint64_t places, places_outside; /* number of lookups of voxels, and of lookups outside the grid: one for each
                                        point, also a new one of upsampling; with GLS_DENSITY_ENDS for each end, with
                                        GLS_DENSITY_PRECISE for each passage through a voxel */
    bool failed;                     /* memory ran out */
} gls_visits;

/* --- For the files that find the visits. */

#endif
