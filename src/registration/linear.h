/* Rigid and affine registration by normalised mutual information, and the climb of its search by another score. */
#ifndef GLS_REGISTRATION_LINEAR_H
#define GLS_REGISTRATION_LINEAR_H

#include <glslines/device.h>

#include "registration/level.h"
#include "util/status.h"

/* Where the search begins. */
typedef enum gls_linear_init {
    GLS_INIT_AUTO,   /* all of the following */
    GLS_INIT_HEADER, /* world spaces agree */
    GLS_INIT_MASS,   /* centres of mass meet */
    GLS_INIT_MIDDLE, /* middles of the grids meet */
    GLS_INIT_GIVEN   /* the map `start` */
} gls_linear_init;

/* Which turns of each beginning are tried. */
typedef enum gls_linear_search {
    GLS_SEARCH_AUTO, /* as NEAR; as WIDE if the images overlap at none of its turns */
    GLS_SEARCH_NEAR, /* no turn, and 25 degrees about each axis */
    GLS_SEARCH_WIDE, /* those of NEAR, and all combinations of 50 degrees */
    GLS_SEARCH_NONE  /* no turn */
} gls_linear_search;

#define GLS_MAX_LEVELS 6

typedef struct gls_linear_options {
    bool affine; /* false: rigid */
    gls_linear_init init;
    gls_linear_search search;
    double start[3][4]; /* for GLS_INIT_GIVEN: fixed to moving world */
    bool check_header;
    size_t n_levels;
    double voxel[GLS_MAX_LEVELS]; /* mm, coarse to fine */
    gls_device *device;           /* computes histograms; NULL: the CPU does */
    gls_go_on go_on;
} gls_linear_options;

typedef struct gls_linear_level {
    double voxel; /* mm */
    bool affine;
    unsigned evaluations;
    double score;
} gls_linear_level;

typedef struct gls_linear_result {
    double map[3][4];    /* fixed to moving, world mm */
    double score, share; /* on the last level: NMI, and share of the fixed voxels that lie in the moving image */
    const char *start;   /* name of the beginning that won */
    double turn[3];      /* its turn, degrees about x, y and z */
    size_t n_levels;
    gls_linear_level level[2 * GLS_MAX_LEVELS];
    double header_own,
        header_other;        /* scores of the header check: with the axes as they are, and with their best exchange */
    char header_advice[160]; /* what seems to be wrong with the header of the moving image; "": nothing, or not checked
                              */
} gls_linear_result;

/* Aligns the moving to the fixed image. fixed, moving: images without the masks, for all levels; masked_fixed and
 * masked_moving: images with the masks, for the last level. The CPU gives the same bytes for any number of threads, a
 * device gives the same bytes in each run. */
gls_status gls_linear_register(const gls_level *fixed, const gls_level *moving, const gls_level *masked_fixed,
                               const gls_level *masked_moving, const gls_linear_options *options,
                               gls_linear_result *result);

/* Scores n maps from points of the fixed image to the moving image, world mm; more is better, 0: the map is not
 * possible. The scores of a map may not depend on the others. */
typedef void gls_map_scores(void *user, const double (*map)[3][4], size_t n, double *score);

/* A map that was made better by shifts and turns. */
typedef struct gls_rigid_climbed {
    double map[3][4];
    double before, after; /* scores */
    double shift, turn;   /* between the map before and after: mm at the centre, and degrees */
} gls_rigid_climbed;

/* Climbs from the map that *climbed has, by steps from step[0] to step[1], mm and degrees. centre: point of the fixed
 * image about which it turns. */
void gls_rigid_climb(gls_map_scores *scores, void *user, const double centre[3], const double step[2],
                     gls_rigid_climbed *climbed);

#endif
