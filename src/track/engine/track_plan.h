/* The plan of an engine: mapping, work groups, sizes of batches and buffers. It depends only on the device's limits,
 * the parameters and the input, and never changes the result. */
#ifndef GLS_TRACK_ENGINE_TRACK_PLAN_H
#define GLS_TRACK_ENGINE_TRACK_PLAN_H

#include <glslines/track.h>

#include "track/getter/getter.h"
#include "track/guide/guide.h"

/* --- Mappings: how invocations share the work on a streamline. Each mapping is a row; its shader file defines what
 * lanes do together. */

/* Size of a work group. */
typedef struct gls_group_plan {
    uint32_t size;  /* invocations */
    uint32_t slots; /* largest number of streamlines */
} gls_group_plan;

/* A mapping: how many invocations work on one streamline, and how they exchange values. Read-only. */
typedef struct gls_mapping_kind {
    gls_mapping mapping;
    const char *name;
    const char *shader; /* fills the slot <lanes>: base/lanes_*.glsl */
    bool extension;     /* needs KHR_shader_subgroup */
    bool alone;         /* a work group tracks one streamline */
    bool looped; /* true: shaders have loops, whose iterations the lanes share; false: they are written out for one
                    invocation, where such source exists */
    /* Returns GLS_ERR_UNSUPPORTED with the reason if the device cannot run the mapping. */
    gls_status (*check)(const gls_device_info *limits);
    /* Number of invocations for each streamline. */
    uint32_t (*lanes)(const gls_device_info *limits);
    /* Plans the work group for n_streamlines streamlines. The group holds fewer streamlines if the device's limits
     * demand it, and more in some mappings. */
    gls_group_plan (*group)(const gls_device_info *limits, uint32_t n_streamlines);
    /* Returns a factor: a work group holds at most this many times the streamlines that group() was asked for. */
    uint32_t (*slots_each)(const gls_device_info *limits);
} gls_mapping_kind;

/* The mapping of one invocation for each streamline, with loops in place of source that is written out: kernels compile
 * in a fifth of the time, and take five times as long to track. */
extern const gls_mapping_kind gls_mapping_single_looped;

/* --- Sizes of batches and buffers. */

/* The mapping that GLS_MAPPING_AUTO stands for with a getter on a device. */
gls_mapping gls_mapping_meant(const gls_getter *getter, const gls_device_info *device);

/* The plan of an engine. Made once by gls_track_plan_make(), and again with smaller batches if memory is short;
 * read-only afterwards. Counts of streamlines, seeds and blocks are upper bounds, which the buffers have space for. */
typedef struct gls_track_plan {
    const gls_getter *getter;
    const gls_mapping_kind *mapping;
    gls_guide_plan guide;
    uint32_t batch_seeds; /* largest number of seeds of pass 1 */
    uint32_t batch_lines; /* largest number of streamlines of pass 2 */
    /* pool_blocks: blocks of POOL_BLOCK points in the pool of points; output_points: points in the output buffer of
     * pass 3 */
    uint32_t pool_blocks;
    uint32_t output_points;
    uint32_t max_steps;      /* largest number of steps of a half-streamline, and of a streamline */
    uint32_t substeps;       /* iterations of the loop for each stored point */
    uint32_t min_parts;      /* smallest number of parts of a streamline that is not too short */
    uint32_t parts;          /* number of parts of a step, see getter.h */
    uint32_t lanes;          /* invocations for each streamline */
    uint32_t subgroup_parts; /* number of streamlines that share a subgroup; 1: none does */
    bool lanes_in_step; /* lanes of a subgroup run in step and need no barrier, see glsl/base/lanes_subgroup.glsl */
    gls_group_plan group, track_group; /* track_group: for track.comp; group: for all other kernels */
    uint32_t track_groups;             /* largest number of work groups that share the streamlines of pass 2 */
    bool staged;                       /* half-streamlines wait in the work buffer between short dispatches */
    bool split;                        /* staged, and an iteration is two kernels */
    uint32_t iterations;   /* staged: iterations of a dispatch; with voxel_runs each crosses a voxel, otherwise
                            * the getter says what an iteration is */
    uint32_t coefficients; /* split: words of a half-streamline that the first kernel leaves to the second */
    uint32_t
        host_arrays; /* staged: number of arrays of the work buffer that the host writes; each has one word a slot */
    uint32_t work_arrays; /* number of all arrays of the work buffer; 0 unless staged */
    int smaller_field;    /* set if memory was short: the value that shrink() of the field's kind returned; else 0 */
    bool tables_shared;   /* the getter's tables fit into shared memory */
    bool packs_on_host; /* pass 3 is done by the host: the buffers of a software renderer are memory of this process */
    bool voxel_runs;    /* half-streamlines are stored as runs of points on a line, one run for each voxel crossed */
    float remainder_unit;       /* voxels; unit of the remainders of positions, which getters with by_voxel keep, see
                                   remainder.h */
    uint32_t block_points;      /* points that a block of the pool usually holds */
    bool long_rounds;           /* rounds are long, because the longest streamlines of a round take long */
    bool in_flight;             /* a round begins before the previous one has ended, see batch.h */
    bool seeds_have_directions; /* see gls_track_input */
    bool ordered;               /* streamlines are sorted before tracking, see schedule.h */
} gls_track_plan;

/* Computes the plan for a device with these limits. params and input must have been checked. GLS_ERR_UNSUPPORTED: the
 * device cannot run the mapping, or the streamlines of one seed exceed its limits. */
gls_status gls_track_plan_make(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_input *input, gls_track_plan *plan);

/* Number of seeds of each batch of a range of n seeds. With rounds in flight a short range is cut into several batches,
 * too, so that the host can work on one batch while the device works on the next batch. */
uint32_t gls_track_plan_piece(const gls_track_plan *plan, uint64_t n);

/* Whether a streamline has exactly plan->lanes invocations. Otherwise the shader compiler chooses their number. */
static inline bool gls_lanes_fixed(const gls_track_plan *plan)
{
    return plan->group.slots == plan->group.size / plan->lanes;
}

/* Words of one seed's directions. */
static inline uint32_t gls_direction_words(const gls_track_params *params)
{
    return DIRECTIONS_VERTEX + (uint32_t)params->max_directions_per_seed;
}

/* Words that describe n half-streamlines: the state of each, then the guide's memory of each. */
static inline uint64_t gls_half_words(const gls_track_plan *plan, uint64_t n_halves)
{
    return n_halves * (1 + plan->guide.n_words);
}

/* The buffers of the three passes, except the model's. Only track_plan.c knows their sizes. */
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
/* Buffers that the host reads back. */
typedef enum gls_track_fetch {
    GLS_FETCH_DIRECTIONS,
    GLS_FETCH_STATE,
    GLS_FETCH_OUTPUT,
    GLS_TRACK_FETCHES
} gls_track_fetch;
/* Successive rounds of pass 2 use the copies of a buffer in rotation: the host fills the next while one is in use and
 * the previous is packed. gls_track_buffer_copies() gives the number of copies, which divides GLS_TRACK_BUFFER_SETS. */
#define GLS_TRACK_BUFFER_SETS 6
/* Number of copies of a buffer; more than 1 only with rounds in flight. */
unsigned gls_track_buffer_copies(const gls_track_plan *plan, gls_track_buffer buffer);
/* Number of copies of a fetch; more than 1 only with rounds in flight. */
unsigned gls_track_fetch_copies(const gls_track_plan *plan, gls_track_fetch fetch);
/* bytes[i]: host memory that the device can write, for each copy; 0 without rounds in flight. Returns the sum over all
 * copies. */
uint64_t gls_track_fetch_bytes(const gls_track_params *params, const gls_track_plan *plan,
                               uint64_t bytes[GLS_TRACK_FETCHES]);
/* bytes[i]: device memory of each copy. Returns the sum over all copies. */
uint64_t gls_track_buffer_bytes(const gls_track_params *params, const gls_track_plan *plan,
                                uint64_t bytes[GLS_TRACK_BUFFERS]);

#endif
