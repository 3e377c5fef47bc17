/* Converts voxel values from the types in files to float. */
#include "image/formats.h"

#include <nifti1.h>

/* Reverses the byte order of n values of 2, 4 or 8 bytes each. Values of one byte stay as they are. */
static void swap_bytes(void *data, size_t n, size_t bytes)
{
    if (bytes == 2) {
        uint16_t *p = data;
        for (size_t i = 0; i < n; i++) p[i] = __builtin_bswap16(p[i]);
    } else if (bytes == 4) {
        uint32_t *p = data;
        for (size_t i = 0; i < n; i++) p[i] = __builtin_bswap32(p[i]);
    } else if (bytes == 8) {
        uint64_t *p = data;
        for (size_t i = 0; i < n; i++) p[i] = __builtin_bswap64(p[i]);
    }
}

#define DEFINE_CONVERT(name, type)                                                               \
    static void convert_##name(const type *in, size_t n, double slope, double inter, float *out) \
    {                                                                                            \
        if (slope == 1.0 && inter == 0.0) {                                                      \
            for (size_t i = 0; i < n; i++) out[i] = (float)in[i];                                \
        } else {                                                                                 \
            for (size_t i = 0; i < n; i++) out[i] = (float)((double)in[i] * slope + inter);      \
        }                                                                                        \
    }
DEFINE_CONVERT(uint8, uint8_t)
DEFINE_CONVERT(int8, int8_t)
DEFINE_CONVERT(int16, int16_t)
DEFINE_CONVERT(uint16, uint16_t)
DEFINE_CONVERT(int32, int32_t)
DEFINE_CONVERT(uint32, uint32_t)
DEFINE_CONVERT(int64, int64_t)
DEFINE_CONVERT(uint64, uint64_t)
DEFINE_CONVERT(float32, float)
DEFINE_CONVERT(float64, double)

void gls_values_read(const gls_values *v, void *in, size_t n, float *out)
{
    if (v->swapped) swap_bytes(in, n, v->bytes);
    switch (v->datatype) {
    case NIFTI_TYPE_UINT8: convert_uint8(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_INT8: convert_int8(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_INT16: convert_int16(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_UINT16: convert_uint16(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_INT32: convert_int32(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_UINT32: convert_uint32(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_INT64: convert_int64(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_UINT64: convert_uint64(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_FLOAT32: convert_float32(in, n, v->slope, v->inter, out); break;
    case NIFTI_TYPE_FLOAT64: convert_float64(in, n, v->slope, v->inter, out); break;
    }
}
