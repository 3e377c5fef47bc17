/* Direction getters: what a getter gives to the host, and the table of all. */
#ifndef GLS_TRACK_GETTER_GETTER_H
#define GLS_TRACK_GETTER_GETTER_H

#include <glslines/track.h>

#include "track/field/field.h"
#include "track/shader/layout.h"
#include "track/shader/kernel_inputs.h"

/* --- A direction getter: how the next direction is found. Each is a row of facts and functions in a file of its own,
 * with a shader of its own; the rest of the tracker asks the row and names no getter. */

/* What a getter's model is made from. */
typedef struct gls_model_request {
    const gls_device_info *limits;
    const gls_track_params *params;
    const gls_track_input *input;
    uint32_t n_units;  /* texture units that are left for the field */
    uint32_t lanes;    /* of a streamline */
    bool lanes_fixed;  /* the compiler of shaders does not choose another number */
    bool looped;       /* shaders in loops that lanes share; else written out for one invocation where there are such */
    int smaller_field; /* see engine/plan.h */
    bool tables_shared; /* room for shared tables in shared memory */
} gls_model_request;

/* A model on its way to a device. Zeroed: empty. */
typedef struct gls_model_plan {
    gls_field_plan field;
    gls_tables tables;
    gls_define_list defines;
    const char *odf; /* fills the slot <odf>: ODF_looped.glsl, or where every step needs all of an ODF and rows are
                        faster ODF_unrolled.glsl; a constant. NULL: no ODF is sampled */
    bool looped;     /* the former whatever the mapping */
} gls_model_plan;

/* A model on a device. */
typedef struct gls_model {
    gls_field field;
    gls_buffer *buffer; /* vertices and the tables of loops: "Model" in the shaders */
    bool uniform;       /* it is a uniform block */
    double min_signal;  /* in units of the field */
    double scale;       /* units of the field for one of the input, for cutoffs; 0: there are none */
} gls_model;

/* Of a getter's row, for which it includes util/option.h. */
#define GLS_GETTER_HAS(user) (1u << GLS_FOR_##user)
/* Those of getters whose directions are vertices of a sphere, and of getters of FODs. */
#define GLS_GETTER_HAS_VERTICES (GLS_GETTER_HAS(VERTICES) | GLS_GETTER_HAS(PEAKS) | GLS_GETTER_HAS(STARTS))
#define GLS_GETTER_HAS_FOD (GLS_GETTER_HAS(FOD) | GLS_GETTER_HAS(CUTOFF))

typedef struct gls_getter {
    const char *name;
    const char *shader;  /* fills the slot <getter> */
    const char *initial; /* fills the slot <initial_directions> */
    /* A half carries a frame instead of a vertex: its first turn makes it, from the seed's direction, and points are
     * stored after several turns. Both halves then bend at the seed as anywhere; else the backward half first makes the
     * forward half's first step again. */
    bool framed;
    bool own_start;     /* initial directions are directions (see glsl/base/packed.glsl), not vertices of the sphere */
    bool towards;       /* with seed_direction they are what streamlines start along; else that direction itself is */
    bool deterministic; /* no step is drawn */
    bool own_end;       /* it ends halves itself: without a stop map of the user's own they go through all voxels */
    bool one_lane; /* lanes have nothing to share: one invocation a streamline unless another mapping is asked for */
    bool ordered;  /* hardware is faster if streamlines that are near each other are tracked together */
    bool filters;  /* directions are vertices, and each draw answers: halves can be filtered by particles */
    bool coefficients; /* it can do with SH coefficients between voxels, where it needs a whole ODF */
    gls_getter_source source;
    uint32_t has;             /* users of parameters that it is one of: sum of GLS_GETTER_HAS() */
    double cutoff;            /* default of fod_cutoff */
    double act_cutoff;        /* the same of the program with --act; 0: no other */
    bool any_seed;            /* the default of seed_cutoff is 0, not that of fod_cutoff */
    const char *no_backtrack; /* why its steps cannot be taken back, though they are drawn; NULL: they can */

    /* GLS_ERR_ARGUMENT, with the reason, for an input that it cannot use; the stop map has been checked. */
    gls_status (*check)(const gls_track_params *params, const gls_track_input *input);
    const gls_sphere *(*sphere)(const gls_track_input *input);
    /* Words, in whole quads, that the first of two kernels of a turn leaves to the second, where a turn is split for
     * renderers that compile rows of source. NULL: turns are never split. */
    uint32_t (*handed_over)(const gls_track_input *input);
    /* Turns for each stored point. NULL: 1. */
    uint32_t (*substeps)(const gls_track_params *params);
    /* Places that a step leads over, its end included: the guide looks at each, the last one is stored, or where the
     * half ends on the way the last that was reached; the shader has step_place(). NULL: 1, straight ahead. */
    uint32_t (*parts)(const gls_track_params *params);
    /* Directions drawn in a dispatch where halves wait between dispatches, unless a turn is split: a renderer may end a
     * kernel after some tens of thousands of turns of its loops. NULL: 4. */
    uint32_t (*turns)(const gls_track_params *params);
    /* What a turn costs: a guess, in times of a seed's search for peaks. NULL: 1. */
    double (*turn_cost)(const gls_track_params *params, const gls_track_input *input);
    /* Bytes of tables that a work group reads from shared memory where there is room, and of shared memory that each of
     * its streamlines takes besides. NULL: no such tables. */
    void (*shared_bytes)(const gls_track_params *params, const gls_sphere *sphere, uint64_t *tables,
                         uint64_t *streamline);
    /* Its own fields of the uniform block; the others are 0 before. NULL: none. */
    void (*uniforms)(const gls_track_params *params, const gls_model *model, gls_track_uniforms *uniforms);
    /* Plans the field, makes the tables and adds definitions; nothing on a device. */
    gls_status (*plan)(const gls_model_request *request, gls_model_plan *plan);
    /* Fills the fields of models of the same input and parameters, each on a device of its own: what the CPU computes
     * for them, it computes once. *failed tells which model a failure is of; it stays as it was for one of the input or
     * of the host. */
    gls_status (*fill)(gls_model *const *models, size_t n, const gls_track_params *params, const gls_track_input *input,
                       size_t *failed);
} gls_getter;

/* --- Finds the row of a direction getter. */

const gls_getter *gls_getter_of(const gls_track_params *params);

#endif
