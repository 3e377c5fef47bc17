/* The plan of an engine: mapping, work groups, sizes of batches and buffers. */
#ifndef GLS_TRACK_ENGINE_TRACK_PLAN_H
#define GLS_TRACK_ENGINE_TRACK_PLAN_H

#include <glslines/track.h>

#include "track/getter/getter.h"
#include "track/guide/guide.h"

/* --- A mapping: how invocations share the work on a streamline. Each is a row, with a shader file for what lanes do
 * together. */

/* A work group. */
typedef struct gls_group_plan {
    uint32_t size;  /* invocations */
    uint32_t slots; /* streamlines at most */
} gls_group_plan;

typedef struct gls_mapping_kind {
    gls_mapping mapping;
    const char *name;
    const char *shader; /* fills the slot <lanes>: base/lanes_*.glsl */
    bool extension;     /* KHR_shader_subgroup */
    bool alone;         /* a work group has one streamline */
    bool looped; /* shaders in loops that the lanes share; else written out for one invocation where there are such */
    /* GLS_ERR_UNSUPPORTED with the reason where the device cannot do so. */
    gls_status (*check)(const gls_device_info *limits);
    /* Invocations of a streamline. */
    uint32_t (*lanes)(const gls_device_info *limits);
    /* A work group for so many streamlines, fewer where the device's limits want it; it may be of more streamlines than
     * were asked for. */
    gls_group_plan (*group)(const gls_device_info *limits, uint32_t n_streamlines);
    /* Streamlines of a group, at most, for each that is asked for. */
    uint32_t (*slots_each)(const gls_device_info *limits);
} gls_mapping_kind;

/* The one to try where a mapping does not compile; GLS_MAPPING_AUTO: none is left. */
gls_mapping gls_mapping_next(gls_mapping mapping, const gls_device_info *limits);
/* The one that was asked for, or gls_mapping_auto(). */
gls_status gls_mapping_choose(gls_mapping mapping, const gls_device_info *limits, const gls_mapping_kind **kind);

/* --- Sizes of batches and buffers: a pure function of the device's limits and the parameters. Never changes the
 * result. */

typedef struct gls_track_plan {
    const gls_getter *getter;
    const gls_mapping_kind *mapping;
    gls_guide_plan guide;
    uint32_t batch_seeds; /* seeds of pass 1 */
    uint32_t batch_lines; /* streamlines of pass 2 */
    uint32_t pool_blocks;
    uint32_t output_points;
    uint32_t max_steps;                /* of a half-streamline */
    uint32_t substeps;                 /* turns of the loop for each stored point */
    uint32_t min_parts;                /* of a streamline: one of fewer is too short */
    uint32_t parts;                    /* places that a step leads over, see getter.h */
    uint32_t lanes;                    /* invocations per streamline */
    bool lanes_in_step;                /* a subgroup needs no barrier, see glsl/base/lanes_subgroup.glsl */
    gls_group_plan group, track_group; /* of all kernels but track.comp, and of that */
    uint32_t track_groups;             /* work groups that stay for pass 2 */
    bool staged;                       /* halves wait in the work buffer between dispatches */
    bool split;                        /* and a turn is two kernels */
    uint32_t turns;                    /* staged: directions drawn in a dispatch */
    uint32_t coefficients;             /* split: that the first kernel leaves to the second */
    uint32_t host_arrays; /* words of a slot of the work buffer, that the host writes, and one of the list */
    uint32_t work_arrays; /* the same, of all; 0 unless staged */
    int smaller_field;    /* than there seems to be memory for: what shrink() of its kind says, or 0 */
    bool tables_shared;   /* room for the getter's tables in shared memory */
    bool in_flight;       /* the next rounds begin before this one has ended, see batch.h */
    bool ordered;         /* streamlines are tracked in an order of their own, see order.h */
} gls_track_plan;

gls_status gls_track_plan_make(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_input *input, gls_track_plan *plan);

/* Seeds of each batch of a range of n: several batches for a short range, too, so that one can be worked on beside the
 * next, where rounds are in flight. */
uint32_t gls_track_plan_piece(const gls_track_plan *plan, uint64_t n);

/* Whether a streamline has plan->lanes, rather than as many as the compiler of shaders chooses. */
static inline bool gls_lanes_fixed(const gls_track_plan *plan)
{
    return plan->group.slots == plan->group.size / plan->lanes;
}

/* Words of a seed's directions. */
static inline uint32_t gls_direction_words(const gls_track_params *params)
{
    return DIRECTIONS_VERTEX + (uint32_t)params->max_directions_per_seed;
}

/* Words that tell of n halves: how each stands, then what the guide remembers. */
static inline uint64_t gls_half_words(const gls_track_plan *plan, uint64_t n_halves)
{
    return n_halves * (1 + plan->guide.n_words);
}

/* Buffers of an engine besides the model's, and their sizes: the one place that knows them. */
typedef enum gls_track_buffer {
    GLS_TRACK_UNIFORMS,
    GLS_TRACK_INITIAL_UNIFORMS,
    GLS_TRACK_GATHER_UNIFORMS,
    GLS_TRACK_SEEDS,
    GLS_TRACK_DIRECTIONS,
    GLS_TRACK_WORK,
    GLS_TRACK_LINES,
    GLS_TRACK_PLACED,
    GLS_TRACK_POOL,
    GLS_TRACK_STATE,
    GLS_TRACK_OUTPUT,
    GLS_TRACK_BUFFERS
} gls_track_buffer;
/* What comes back from the device. */
typedef enum gls_track_fetch {
    GLS_FETCH_DIRECTIONS,
    GLS_FETCH_STATE,
    GLS_FETCH_OUTPUT,
    GLS_TRACK_FETCHES
} gls_track_fetch;
/* Rounds of pass 2 that follow one another take their buffers in turn, so that the host fills those of the next while
 * this one is at work and the one before is packed: so many of each there are. The turns repeat after
 * GLS_TRACK_BUFFER_SETS.
 */
#define GLS_TRACK_BUFFER_SETS 6
unsigned gls_track_buffer_copies(const gls_track_plan *plan, gls_track_buffer buffer);
unsigned gls_track_fetch_copies(const gls_track_plan *plan, gls_track_fetch fetch);
/* Bytes of the host that the device reaches, for each. */
uint64_t gls_track_fetch_bytes(const gls_track_params *params, const gls_track_plan *plan,
                               uint64_t bytes[GLS_TRACK_FETCHES]);
/* bytes of each; returns the sum of all copies. */
uint64_t gls_track_buffer_bytes(const gls_track_params *params, const gls_track_plan *plan,
                                uint64_t bytes[GLS_TRACK_BUFFERS]);

#endif
