/* Which runs have a parameter: the column `user` of params.def. */
#ifndef GLS_TRACK_GETTER_PARAM_USER_H
#define GLS_TRACK_GETTER_PARAM_USER_H

#include <stdbool.h>

#include <glslines/track.h>

/* A group of getters: each of their rows names it in `has`. With any other getter the
 * parameter is refused, and has no part in the result. */
typedef enum gls_param_user {
    GLS_FOR_ALL,
    GLS_FOR_PROB_DET,   /* prob, det: every draw gives a vertex, so that particle filtering is possible */
    GLS_FOR_VERTICES,   /* boot, prob, det and closest: directions are vertices of a sphere */
    GLS_FOR_WHOLE_ODFS, /* prob, det and closest: read whole ODFs at each point */
    GLS_FOR_PEAKS,      /* boot, prob, det, closest and ptt: seeds start along peaks */
    GLS_FOR_STARTS,     /* the getters of GLS_FOR_PEAKS, fact and eudx: several streamlines may start from a seed */
    GLS_FOR_FOD,        /* ifod1, ifod2, sdstream */
    GLS_FOR_CUTOFF,     /* the getters of GLS_FOR_FOD, fact, eudx, tensordet, tensorprob and bedpost; prob and det where
                           amplitudes have a unit */
    GLS_FOR_IFOD,       /* ifod1, ifod2 */
    GLS_FOR_RK4,        /* tensordet, tensorprob */
    GLS_FOR_GROUPS,     /* number of groups; what follows are inputs and models */
    GLS_FOR_FIT = GLS_FOR_GROUPS, /* a model is fitted */
    GLS_FOR_STOP_MAP,             /* a stop map ends streamlines */
    GLS_FOR_QBALL,                /* opdt or csa is fitted */
    GLS_FOR_CSD,                  /* csd is fitted */
    GLS_FOR_MSMT,                 /* msmt is fitted */
    GLS_FOR_SH,                   /* ODFs are given as spherical harmonics */
    GLS_FOR_ODF,                  /* ODFs are given */
    GLS_FOR_PEAK_FILES,           /* peaks are given */
    GLS_FOR_SEED_COUNT,           /* a given number of seeds is drawn for the whole run */
    GLS_FOR_SEEDS_PER_VOXEL,      /* a given number of seeds is drawn for each voxel */
    GLS_FOR_SEED_LIST,            /* seeds are given */
    GLS_FOR_SEED_GRID,            /* seeds lie on a grid in each voxel */
    GLS_FOR_SEED_DYNAMIC,         /* seeds follow the densities of streamlines */
    GLS_FOR_TISSUE,               /* there is an image of tissue */
    GLS_FOR_PFT,                  /* particle filtering */
    GLS_FOR_GETTERS,              /* from here on one getter: GLS_FOR_boot, GLS_FOR_prob ... */
#define GLS_FOR_GETTER(value, word) GLS_FOR_##word = GLS_FOR_GETTERS + (value),
    GLS_GETTERS(GLS_FOR_GETTER)
} gls_param_user;
/* Whether getters decide who has the parameter. user: a gls_param_user. */
static inline bool gls_user_is_getter(int user)
{
    return user >= GLS_FOR_GETTERS || (user > GLS_FOR_ALL && user < GLS_FOR_GROUPS);
}

#endif
