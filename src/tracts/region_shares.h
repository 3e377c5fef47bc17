/* Probabilistic parcellations: images of four dimensions, volume k of which is the probability of region k. Finds the
 * regions of a point with their shares. */
#ifndef GLS_TRACTS_REGION_SHARES_H
#define GLS_TRACTS_REGION_SHARES_H

#include <glslines/connectome.h>
#include <glslines/image.h>
#include <glslines/labels.h>

#include "tracts/assign.h"
#include "tracts/label_nodes.h"

/* The share of a region at a point. */
typedef struct gls_region_share {
    int32_t region; /* number of the region, from 1 */
    float share;    /* above 0; the shares of a point have a sum of at most 1 */
} gls_region_share;

/* The regions of each voxel, and of any point. All zero is empty. */
typedef struct gls_region_shares {
    gls_grid grid;
    double world_to_voxel[3][4];
    uint64_t *first; /* for each voxel, and behind the last, where its shares begin */
    gls_region_share *of;
    int32_t *inside;        /* for GLS_ASSIGN_RADIAL: of voxels with a sum of at least 0.01 their number, from 1 */
    gls_assigner *assigner; /* finds the nearest of these; NULL: GLS_ASSIGN_END */
} gls_region_shares;

/* Reads the shares of an image. nodes: gets the regions, their labels, the numbers of voxels in which their probability
 * is above 0, and their centres, weighted by it. name: for messages. GLS_ERR_INPUT: a value is NaN or lies outside 0 to
 * 1 by more than 0.001; GLS_ERR_UNSUPPORTED: too many volumes, or an assignment other than GLS_ASSIGN_RADIAL and
 * GLS_ASSIGN_END. Call gls_region_shares_finish() and gls_nodes_finish() also after a failure. */
gls_status gls_region_shares_init(gls_region_shares *shares, const gls_image *image, const char *name,
                                  const gls_connectome_options *options, gls_nodes *nodes);
/* The regions of a point, world mm: trilinear between voxels; with GLS_ASSIGN_RADIAL, where their sum is less than
 * 0.01, those of the nearest voxel centre within the radius that has more. Appends them to a list, whose memory
 * gls_list_grow() enlarges. Returns false if memory runs out. Safe from several threads. */
bool gls_region_shares_find(const gls_region_shares *shares, const float point[3], gls_region_share **list, size_t *n,
                            size_t *capacity);
/* Frees the arrays. */
void gls_region_shares_finish(gls_region_shares *shares);

/* Makes labels of an image of probabilities: the number, from 1, of the volume with the largest value, of equal ones
 * the first; 0 where no value is above 0. Errors as of gls_region_shares_init(). */
gls_status gls_labels_of_largest(const gls_image *image, const char *name, gls_labels **labels);

#endif
