/* The arithmetic that the loop of a registration calls, on the CPU or on devices. */
#ifndef GLS_REGISTRATION_VELOCITY_PARTS_H
#define GLS_REGISTRATION_VELOCITY_PARTS_H

#include "registration/level.h"

#define GLS_VELOCITY_LEVELS 6
#define GLS_VELOCITY_CHANNELS 8

typedef struct gls_velocity_options {
    bool ssd;                                 /* compare by squared differences, not by local correlation */
    int radius;                               /* number of voxels of the window of local correlation on each side */
    double step, smooth_update, smooth_total; /* voxels of the level */
    size_t n_levels;
    double voxel[GLS_VELOCITY_LEVELS]; /* mm, coarse to fine */
    int iterations[GLS_VELOCITY_LEVELS];
} gls_velocity_options;

/* Number of times that half the velocity is halved, and then composed with itself. */
#define GLS_VELOCITY_SQUARINGS 5
/* Variances below this are noise: such voxels have no local correlation. */
#define GLS_VELOCITY_LEAST_VARIANCE 1e-5f
/* Costs are added as whole numbers of units; a cost of 1 has this number of units. */
#define GLS_VELOCITY_COST_UNIT 1048576.0f

/* Two images at one level, with values of about 0 to 1. */
typedef struct gls_velocity_pair {
    gls_level fixed, moving;
    float to_moving[3][4]; /* voxels of the fixed to voxels of the moving level */
    float weight;
} gls_velocity_pair;

typedef struct gls_velocity_solver gls_velocity_solver;
struct gls_velocity_solver {
    /* Begins a level with a velocity of three planes. The pairs are borrowed until end(). */
    gls_status (*begin)(gls_velocity_solver *solver, const gls_velocity_pair *pair, size_t n_pairs, const float *v);
    /* Moves both images half of the way, compares them, and computes the forces. *cost: mean over the voxels inside. */
    gls_status (*measure)(gls_velocity_solver *solver, double *cost);
    /* Changes the velocity by the forces of the last measure(). */
    gls_status (*update)(gls_velocity_solver *solver);
    /* Stores the velocity, and ends the level. v NULL: only ends it. */
    gls_status (*end)(gls_velocity_solver *solver, float *v);
    void (*destroy)(gls_velocity_solver *solver);
};

#endif
