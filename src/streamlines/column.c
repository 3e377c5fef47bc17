/* Named columns. */
#include <glslines/streamlines.h>

#include <string.h>

#include "util/maths.h"

const gls_column *gls_column_find(const gls_column *columns, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0) return &columns[i];
    return NULL;
}

size_t gls_column_row_bytes(const gls_column *column)
{
    return column->components * gls_type_size(column->type);
}

#define VALUE(c_type)                                             \
    {                                                             \
        c_type value;                                             \
        memcpy(&value, (const char *)c->data + at, sizeof value); \
        return (double)value;                                     \
    }

double gls_column_value(const gls_column *c, uint64_t i)
{
    const size_t at = (size_t)i * gls_type_size(c->type);
    uint16_t half;
    switch (c->type) {
    case GLS_TYPE_BOOL: return ((const unsigned char *)c->data)[at] != 0;
    case GLS_TYPE_INT8: VALUE(int8_t)
    case GLS_TYPE_UINT8: VALUE(uint8_t)
    case GLS_TYPE_INT16: VALUE(int16_t)
    case GLS_TYPE_UINT16: VALUE(uint16_t)
    case GLS_TYPE_INT32: VALUE(int32_t)
    case GLS_TYPE_UINT32: VALUE(uint32_t)
    case GLS_TYPE_INT64: VALUE(int64_t)
    case GLS_TYPE_UINT64: VALUE(uint64_t)
    case GLS_TYPE_FLOAT16: memcpy(&half, (const char *)c->data + at, sizeof half); return gls_half_value(half);
    case GLS_TYPE_FLOAT32: VALUE(float)
    case GLS_TYPE_FLOAT64: VALUE(double)
    default: return 0;
    }
}
