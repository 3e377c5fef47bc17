/* Names and sizes of the types of columns and arrays. */
#include <glslines/type.h>

/* Names as in NumPy; sizes in bytes. */
static const struct {
    const char *name;
    size_t size;
} types[GLS_TYPE_COUNT] = {
    [GLS_TYPE_FLOAT16] = {"float16", 2}, [GLS_TYPE_FLOAT32] = {"float32", 4}, [GLS_TYPE_FLOAT64] = {"float64", 8},
    [GLS_TYPE_INT8] = {"int8", 1},       [GLS_TYPE_INT16] = {"int16", 2},     [GLS_TYPE_INT32] = {"int32", 4},
    [GLS_TYPE_INT64] = {"int64", 8},     [GLS_TYPE_UINT8] = {"uint8", 1},     [GLS_TYPE_UINT16] = {"uint16", 2},
    [GLS_TYPE_UINT32] = {"uint32", 4},   [GLS_TYPE_UINT64] = {"uint64", 8},   [GLS_TYPE_BOOL] = {"bool", 1},
};

size_t gls_type_size(gls_type type)
{
    return (unsigned)type < GLS_TYPE_COUNT ? types[type].size : 0;
}

const char *gls_type_name(gls_type type)
{
    return (unsigned)type < GLS_TYPE_COUNT ? types[type].name : "unknown type";
}

bool gls_type_is_float(gls_type type)
{
    return type == GLS_TYPE_FLOAT16 || type == GLS_TYPE_FLOAT32 || type == GLS_TYPE_FLOAT64;
}
