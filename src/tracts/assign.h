/* Assigns the ends of streamlines to labelled regions. */
#ifndef GLS_TRACTS_ASSIGN_H
#define GLS_TRACTS_ASSIGN_H

#include <glslines/common.h>
#include <glslines/connectome.h>
#include <glslines/image.h>

#include "tracts/visits_parts.h"

typedef struct gls_assigner gls_assigner;

/* Creates an assigner by the options. node: for each voxel of the grid the number of its region, 0: none; borrowed
 * until the assigner is destroyed. */
gls_status gls_assigner_create(const gls_grid *grid, const int32_t *node, const gls_connectome_options *options,
                               gls_assigner **assigner);
/* Frees `assigner`, which may be NULL. */
void gls_assigner_destroy(gls_assigner *assigner);
/* Finds the numbers of the regions of the first and the last of n >= 1 points; 0: none. Safe from several threads. Not
 * for GLS_ASSIGN_ALL. */
void gls_assign_ends(gls_assigner *assigner, const float (*point)[3], size_t n, int32_t pair[2]);

/* Regions of one streamline. Each thread needs its own. All zero: empty. */
typedef struct gls_assign_scratch {
    /* voxels of the current streamline */
    gls_visits visits;
    /* n regions found, in node[0 .. n - 1] */
    size_t n, capacity;
    /* numbers of the regions, ascending */
    int32_t *node;
    bool failed; /* memory ran out */
} gls_assign_scratch;

/* For GLS_ASSIGN_ALL: stores all regions that the streamline meets, ascending, in scratch->node. */
void gls_assign_all(const gls_assigner *assigner, gls_assign_scratch *scratch, const float (*point)[3], size_t n);
/* Frees the arrays. */
void gls_assign_scratch_finish(gls_assign_scratch *scratch);

#endif
