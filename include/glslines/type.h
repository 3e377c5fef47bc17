/* Types of values, for columns of streamlines and for arrays of computations. */
#ifndef GLSLINES_TYPE_H
#define GLSLINES_TYPE_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_type {
    GLS_TYPE_FLOAT16, /* uint16_t with the bits of IEEE 754's binary16 */
    GLS_TYPE_FLOAT32,
    GLS_TYPE_FLOAT64,
    GLS_TYPE_INT8,
    GLS_TYPE_INT16,
    GLS_TYPE_INT32,
    GLS_TYPE_INT64,
    GLS_TYPE_UINT8,
    GLS_TYPE_UINT16,
    GLS_TYPE_UINT32,
    GLS_TYPE_UINT64,
    GLS_TYPE_BOOL /* one byte, 0 or 1 */
} gls_type;
#define GLS_TYPE_COUNT (GLS_TYPE_BOOL + 1)

/* Size of an element on the host; 0 for an invalid type. */
GLS_API size_t gls_type_size(gls_type type);
/* Name of a type, e.g. "float32"; "unknown type" for an invalid one. */
GLS_API const char *gls_type_name(gls_type type);

/* Whether the type is float16, float32 or float64. */
GLS_API bool gls_type_is_float(gls_type type);

#ifdef __cplusplus
}
#endif
#endif
