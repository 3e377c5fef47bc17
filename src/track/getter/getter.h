/* Direction getters: the row of facts and functions that each one fills in, and the lookup of a row. */
#ifndef GLS_TRACK_GETTER_GETTER_H
#define GLS_TRACK_GETTER_GETTER_H

#include <glslines/track.h>

#include "track/field/field.h"
#include "track/getter/param_user.h"
#include "track/shader/kernel_inputs.h"
#include "track/shader/layout.h"

/* --- A direction getter finds the next direction of a streamline. Each is a row, gls_getter_NAME, in a file of this
 * folder, with a shader in glsl/getter. The rest of the tracker reads facts from the row and never names a getter. */

/* The inputs from which a getter plans its model. */
typedef struct gls_model_request {
    const gls_device_info *limits;
    const gls_track_params *params;
    const gls_track_input *input;
    uint32_t n_units; /* texture units left for the field */
    uint32_t lanes;   /* invocations for each streamline */
    bool lanes_fixed; /* the shader compiler cannot choose another number of lanes */
    bool looped;      /* true: shaders have loops, whose iterations the lanes share; false: they are written out for one
                         invocation, where such source exists */
    int smaller_field;  /* 0, or the value that shrink() of the field's kind returned when memory was short */
    bool tables_shared; /* shared memory has room for the tables of shared_bytes() */
} gls_model_request;

/* A model before it is on a device. All zero: empty. */
typedef struct gls_model_plan {
    gls_field_plan field;
    gls_tables tables;
    gls_define_list defines;
    /* The slot <odf> gets the file BASE_looped.glsl or BASE_unrolled.glsl, see gls_define_loops(). odf: BASE, a string
     * constant; NULL: the getter samples no ODF. looped: true: always use BASE_looped.glsl; false: use
     * BASE_unrolled.glsl in kernels of pass 2 if gls_model_request.looped is false. */
    const char *odf;
    bool looped;
} gls_model_plan;

/* A model on a device. */
typedef struct gls_model {
    gls_field field;
    gls_buffer *buffer; /* vertices and tables: "Model" in the shaders */
    bool uniform;       /* `buffer` is a uniform block */
    double min_signal;  /* set by boot and the tensor getters, see `min_signal` in glsl/layout/track_params.def */
    double scale;       /* factor from the input's unit to the field's, for cutoffs; 0: the getter has no cutoffs */
} gls_model;

/* Bit of the group of parameters `user` in the member `has`. */
#define GLS_GETTER_HAS(user) (1u << GLS_FOR_##user)
/* Parts of `has` for getters whose directions are vertices of a sphere, and for getters along FODs. */
#define GLS_GETTER_HAS_VERTICES (GLS_GETTER_HAS(VERTICES) | GLS_GETTER_HAS(PEAKS) | GLS_GETTER_HAS(STARTS))
#define GLS_GETTER_HAS_FOD (GLS_GETTER_HAS(FOD) | GLS_GETTER_HAS(CUTOFF))

/* A direction getter. Read-only, one for each row of GLS_GETTERS; functions that may be missing say what NULL means. */
typedef struct gls_getter {
    const char *name;
    const char *words;   /* what streamlines are tracked by, in a sentence of a report */
    const char *paper;   /* key of the paper of the method, an entry of src/render/page/report.bib; NULL: none */
    const char *shader;  /* file of the shader library that fills the slot <getter>, see glsl/slots.txt */
    const char *initial; /* file that fills the slot <initial_directions> */
    /* true: the getter itself turns the direction that a half-streamline carries, and its aux words, which some getters
     * use for a frame of axes. Both half-streamlines start at the seed by themselves. One step of the shader in
     * `substeps` stores a point. false: each step stores a point. The backward half-streamline first finds the first
     * step of the forward one again, and starts opposite to it. */
    bool framed;
    bool own_start;     /* initial directions are packed vectors (glsl/base/packed.glsl), not vertices of the sphere */
    bool towards;       /* the shader itself starts streamlines along seed_direction; false: the host picks the start */
    bool deterministic; /* no step uses random numbers */
    bool own_end;  /* the getter itself ends half-streamlines: without a stop map they may pass through all voxels */
    bool by_voxel; /* all steps in a voxel may have one direction: with VOXEL_RUNS the shader then sets aux.y to 1. Its
                    * aux.x is the remainder of the position, see glsl/base/remainder.glsl */
    bool one_lane; /* lanes have no work to share: use one invocation for each streamline unless the user asks for
                      another mapping */
    bool long_source; /* the source that is written out for one invocation takes seconds to compile, and has loops in
                         its place with the same result */
    bool ordered;     /* hardware is faster if neighbouring streamlines are tracked together */
    bool mm_steps;    /* the default step size is in mm, not in voxels */
    bool one_point;   /* streamlines are their seeds, without a step */
    uint32_t n_peaks; /* number of peaks to find in each ODF for the getter; 0: three, the default of sh2peaks */
    gls_getter_source source;
    uint32_t has;      /* groups of parameters that the getter uses: sum of GLS_GETTER_HAS(). The rows of params.def
                        * name a parameter that one getter alone has */
    double cutoff;     /* default of fod_cutoff */
    double act_cutoff; /* default of fod_cutoff with --act; 0: the same as `cutoff` */
    double fa_cutoff;  /* default of fod_cutoff along the peaks of tensors, which are as long as FA; 0: the getter
                          never follows peaks of tensors */
    bool any_seed;     /* default of seed_cutoff is 0, not fod_cutoff */
    const char
        *no_backtrack; /* reason why backtracking is impossible although steps are random; NULL: it is possible */

    /* Checks the getter's own input; the stop map has been checked. GLS_ERR_ARGUMENT with the reason. */
    gls_status (*check)(const gls_track_params *params, const gls_track_input *input);
    const gls_sphere *(*sphere)(const gls_track_input *input);
    /* Number of words, a multiple of four, that the first kernel of an iteration leaves to the second. Some renderers
     * compile written-out source faster if an iteration is split into two kernels. NULL: never split it. */
    uint32_t (*handed_over)(const gls_track_input *input);
    /* Number of steps of the shader for each stored point; iterations that only try again do not count. NULL: 1. */
    uint32_t (*substeps)(const gls_track_params *params);
    /* Number of parts of a step. The guide checks the position at the end of each part; only the last one is stored, or
     * the last one reached before the half-streamline ended. The shader defines step_position(). NULL: 1, a straight
     * step. */
    uint32_t (*parts)(const gls_track_params *params);
    /* Number of iterations in one dispatch where half-streamlines wait between short dispatches (`staged` in
     * track_plan.h). It is small because a software renderer may end a kernel after some tens of thousands of loop
     * iterations. Not used with `split` or `voxel_runs`. NULL: 8. */
    uint32_t (*iterations)(const gls_track_params *params);
    /* Number of invocations that have work for one streamline. Where it is smaller than a subgroup, the streamlines of
     * many seeds share subgroups. NULL: as many as there are. */
    uint32_t (*lanes)(const gls_track_params *params);
    /* Estimated cost of an iteration; 1: as much as the search for the peaks of a seed. NULL: 1. */
    double (*iteration_cost)(const gls_track_params *params, const gls_track_input *input);
    /* Stores in *tables the bytes of the tables that a work group reads from shared memory if they fit, and in
     * *streamline the bytes of shared memory that each streamline of the group needs. NULL: no tables for shared
     * memory. */
    void (*shared_bytes)(const gls_track_params *params, const gls_sphere *sphere, uint64_t *tables,
                         uint64_t *streamline);
    /* Sets the getter's own members of the uniform block, which are 0 before. NULL: none. */
    void (*uniforms)(const gls_track_params *params, const gls_model *model, gls_track_uniforms *uniforms);
    /* Plans the field, makes the tables and adds definitions; touches no device. */
    gls_status (*plan)(const gls_model_request *request, gls_model_plan *plan);
    /* Fills the fields of n models with the same input and parameters, each on its own device. The CPU computes the
     * values once for all. *failed: index of the model that failed; unchanged if the input or the host is at fault. */
    gls_status (*fill)(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed);
} gls_getter;

/* --- Lookup. */

/* Whether a step is not a straight line, so that lengths need all points. */
static inline bool gls_getter_is_curved(const gls_getter *getter)
{
    return getter->parts || getter->substeps;
}

#endif
