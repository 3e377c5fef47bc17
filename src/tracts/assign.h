/* Which labelled regions the ends of streamlines belong to. */
#ifndef GLS_TRACTS_ASSIGN_H
#define GLS_TRACTS_ASSIGN_H

#include "tracts/visits.h"
#include <glslines/connectome.h>

typedef struct gls_assigner gls_assigner;

/* node: for each voxel of the grid its region from 1, 0: none; borrowed. */
gls_status gls_assigner_create(const gls_grid *grid, const int32_t *node, const gls_connectome_options *options,
                               gls_assigner **assigner);
/* Accepts NULL. */
void gls_assigner_destroy(gls_assigner *assigner);
/* The regions of both ends of n >= 1 points, 0: none. Any number of threads. Not for GLS_ASSIGN_ALL. */
void gls_assign_ends(gls_assigner *assigner, const float (*point)[3], size_t n, int32_t pair[2]);

/* Room for the regions of one streamline; one for each thread. */
typedef struct gls_assign_room {
    gls_visits visits;
    size_t n, capacity;
    int32_t *node;
    bool failed; /* out of memory */
} gls_assign_room;
/* GLS_ASSIGN_ALL: all regions that the streamline meets, ascending. */
void gls_assign_all(const gls_assigner *assigner, gls_assign_room *room, const float (*point)[3], size_t n);
void gls_assign_room_finish(gls_assign_room *room);

#endif
