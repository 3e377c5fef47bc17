/* Sizes of batches and buffers: a pure function of the device's limits and the parameters. Never changes the result. */
#ifndef GLS_TRACK_ENGINE_PLAN_H
#define GLS_TRACK_ENGINE_PLAN_H

#include <glslines/device.h>
#include <glslines/track.h>

#define GLS_POOL_BLOCK 16 /* points in a block of the pool */
#define GLS_SEED_WORDS 4
#define GLS_LINE_WORDS 8
#define GLS_STATE_HEADER 2 /* queue, pool_head */

/* A work group. */
typedef struct gls_group_plan {
    uint32_t size;  /* invocations */
    uint32_t slots; /* streamlines at most */
} gls_group_plan;

typedef struct gls_track_plan {
    uint32_t batch_seeds; /* seeds of pass 1 */
    uint32_t batch_lines; /* streamlines of pass 2 */
    uint32_t pool_blocks;
    uint32_t output_points;
    uint32_t max_steps;                /* of a half-streamline */
    uint32_t substeps;                 /* turns of the loop for each stored point */
    uint32_t lanes;                    /* invocations per streamline */
    bool lanes_in_step;                /* a subgroup needs no barrier, see common.glsl */
    gls_group_plan group, track_group; /* of all kernels but track.comp, and of that */
    uint32_t track_groups;             /* work groups that stay for pass 2 */
    bool staged;                       /* halves wait in the work buffer between dispatches */
    bool split;                        /* and a turn is two kernels */
    uint32_t turns;                    /* staged: directions drawn in a dispatch */
    uint32_t work_words;               /* of the work buffer for each half, list entry included; 0 unless staged */
    bool small_cells;   /* PTT: pairs of voxels even where there seems to be room for whole cells, see cells.h */
    bool tables_shared; /* PTT: room for its tables in shared memory */
    bool ordered;       /* streamlines are tracked in an order of their own, see order.h */
} gls_track_plan;

/* Fields of the work buffer in front of the coefficients, see glsl/work.glsl. */
#define GLS_WORK_FIELDS 15

/* What of the model enters. */
typedef struct gls_track_shape {
    uint32_t coefficients; /* that the two kernels of a split turn hand over; 0 for direction getters that have none */
    bool antipodal;        /* the sphere */
} gls_track_shape;
gls_track_shape gls_track_shape_of(const gls_track_params *params, const gls_track_input *input);
gls_status gls_track_plan_make(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_shape *shape, gls_track_plan *plan);

#endif
