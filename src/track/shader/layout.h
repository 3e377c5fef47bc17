/* The records that host and kernels exchange, made from the lists in glsl/layout that the shaders include, too. The
 * meaning and unit of each member stands in its list. Members are scalars of 4 bytes, and of 8 bytes at the front of
 * visit_params.def, so the layouts of C, std140 and std430 agree. */
#ifndef GLS_TRACK_SHADER_LAYOUT_H
#define GLS_TRACK_SHADER_LAYOUT_H

#include <stdint.h>

typedef uint32_t uint_field;
#define uint uint_field
#define FIELD(type, name) type name;
/* Uniform blocks. */
typedef struct gls_track_uniforms {
#include "layout/track_params.def"
} gls_track_uniforms;
/* Each struct has the members of its list in the order of the list, with the same layout as the record in the shader.
 */
typedef struct gls_gather_uniforms {
#include "layout/gather_params.def"
} gls_gather_uniforms;
typedef struct gls_visit_uniforms {
#include "layout/visit_params.def"
} gls_visit_uniforms;
/* Records in storage buffers. */
typedef struct gls_seed_record {
#include "layout/seed.def"
} gls_seed_record;
typedef struct gls_line_record {
#include "layout/line.def"
} gls_line_record;
typedef struct gls_placed_record {
#include "layout/placed.def"
} gls_placed_record;
typedef struct gls_state_header {
#include "layout/state.def"
} gls_state_header;
#undef FIELD
#undef uint

/* Offsets in words: in the directions of a seed, in the record of a block of the pool, and in the words that the work
 * buffer has for each slot. */
#define WORD(name, first, n) name = (first),
enum {
#include "layout/directions.def"
};
enum {
#include "layout/block.def"
};
enum {
#include "layout/work.def"
};
#undef WORD
/* Check that the members of work.def follow one another without gaps. */
#define WORD(name, first, n) name##_COUNTED, name##_LAST = name##_COUNTED + (n)-1,
enum {
#include "layout/work.def"
};
#undef WORD
#define WORD(name, first, n) _Static_assert((int)name##_COUNTED == (first), #name " follows the array before it");
#include "layout/work.def"
#undef WORD

#define CONSTANT(name, value) static const uint32_t name = value;
#include "layout/constants.def"
#undef CONSTANT

#endif
