/* The records that the host and the kernels of glsl/render exchange, from the lists that the shaders read too. */
#ifndef GLS_RENDER_LAYOUT_H
#define GLS_RENDER_LAYOUT_H

#include <stdint.h>

typedef uint32_t uint_field;
#define uint uint_field
#define FIELD(type, name) type name;
typedef struct gls_segment_record {
#include "layout/segment.def"
} gls_segment_record;
typedef struct gls_tubes_uniforms {
#include "layout/tubes.def"
} gls_tubes_uniforms;
typedef struct gls_resolve_uniforms {
#include "layout/resolve.def"
    uint32_t around[256];
    uint32_t alpha[256]; /* 1024 bytes */
} gls_resolve_uniforms;
#undef FIELD
#undef uint

#endif
