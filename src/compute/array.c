/* Typed arrays on a device: creation, clearing, copies. An array stores each element as 32 bits (float, int or uint);
 * copies convert between this form and the types of the host: blocks of values are widened to double, int64_t or
 * uint64_t, which hold every type without loss, and narrowed from there. */
#include "compute/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/handle.h"
#include "util/clock.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* Number of values that are widened at a time: 8 KiB of them fit into the L1 cache and on the stack. */
#define BLOCK 1024

/* Type in which a device buffer stores values of each gls_type: GLSL without extensions has only 32-bit types. */
static const gls_type stored[] = {
    [GLS_TYPE_FLOAT16] = GLS_TYPE_FLOAT32, [GLS_TYPE_FLOAT32] = GLS_TYPE_FLOAT32, [GLS_TYPE_FLOAT64] = GLS_TYPE_FLOAT32,
    [GLS_TYPE_INT8] = GLS_TYPE_INT32,      [GLS_TYPE_INT16] = GLS_TYPE_INT32,     [GLS_TYPE_INT32] = GLS_TYPE_INT32,
    [GLS_TYPE_INT64] = GLS_TYPE_INT32,     [GLS_TYPE_UINT8] = GLS_TYPE_UINT32,    [GLS_TYPE_UINT16] = GLS_TYPE_UINT32,
    [GLS_TYPE_UINT32] = GLS_TYPE_UINT32,   [GLS_TYPE_UINT64] = GLS_TYPE_UINT32,   [GLS_TYPE_BOOL] = GLS_TYPE_UINT32,
};

/* Whether the value is one of gls_type. */
static bool is_type(gls_type type)
{
    return (unsigned)type < GLS_TYPE_COUNT;
}

gls_type gls_type_stored(gls_type type)
{
    return is_type(type) ? stored[type] : GLS_TYPE_UINT32;
}

/* --- Widening. */

/* Member of `wide` that holds a block: d, s or u. */
typedef enum wide_kind { WIDE_DOUBLE, WIDE_SIGNED, WIDE_UNSIGNED } wide_kind;

/* A block of widened values of one kind. */
typedef union wide {
    double d[BLOCK];
    int64_t s[BLOCK];
    uint64_t u[BLOCK];
} wide;

/* Value of a float16: 1 bit of sign, 5 of exponent, 10 of mantissa. */
static double from_half(uint16_t bits)
{
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value;
    if (exponent == 31)
        value = mantissa ? NAN : INFINITY;
    else
        value = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return bits & 0x8000 ? -value : value;
}

/* Body of a case of widen(): copies n values of ctype as int64_t, then leaves the switch. */
#define WIDEN(ctype)                                                            \
    for (size_t i = 0; i < n; i++) out->s[i] = (int64_t)((const ctype *)in)[i]; \
    break

/* Converts n values to double, int64_t or uint64_t, whichever holds their type; returns which. */
static wide_kind widen(const void *in, gls_type type, size_t n, wide *out)
{
    switch (type) {
    case GLS_TYPE_FLOAT16:
        for (size_t i = 0; i < n; i++) out->d[i] = from_half(((const uint16_t *)in)[i]);
        return WIDE_DOUBLE;
    case GLS_TYPE_FLOAT32:
        for (size_t i = 0; i < n; i++) out->d[i] = ((const float *)in)[i];
        return WIDE_DOUBLE;
    case GLS_TYPE_FLOAT64: memcpy(out->d, in, n * sizeof(double)); return WIDE_DOUBLE;
    case GLS_TYPE_INT8: WIDEN(int8_t);
    case GLS_TYPE_INT16: WIDEN(int16_t);
    case GLS_TYPE_INT32: WIDEN(int32_t);
    case GLS_TYPE_INT64: WIDEN(int64_t);
    case GLS_TYPE_UINT8: WIDEN(uint8_t);
    case GLS_TYPE_UINT16: WIDEN(uint16_t);
    case GLS_TYPE_UINT32: WIDEN(uint32_t);
    case GLS_TYPE_UINT64: memcpy(out->u, in, n * sizeof(uint64_t)); return WIDE_UNSIGNED;
    case GLS_TYPE_BOOL:
        for (size_t i = 0; i < n; i++) out->s[i] = ((const uint8_t *)in)[i] != 0;
        break;
    }
    return WIDE_SIGNED;
}

/* --- Narrowing. */

/* Nearest binary16, ties to even, in one rounding. Values beyond the range become infinite. */
static uint16_t to_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value)) return sign | 0x7e00;
    if (size >= 65520) return sign | 0x7c00;
    int exponent = -14;
    if (size >= 0x1p-14) frexp(size, &exponent), exponent--;
    /* units of the last place; if rounding up overflows the mantissa, the carry increases the exponent */
    long units = (long)nearbyint(ldexp(size, 10 - exponent));
    return sign | (uint16_t)(units + ((exponent + 14) << 10));
}

/* Part of a function narrow_...(): if type is a floating-point type or bool, converts n values of member `field` and
 * leaves the function with the index of the first value that does not fit, or n. */
#define NARROW_FLOATS(field)                                                                            \
    switch (type) {                                                                                     \
    case GLS_TYPE_FLOAT16:                                                                              \
        for (size_t i = 0; i < n; i++) {                                                                \
            double value = (double)in->field[i];                                                        \
            ((uint16_t *)out)[i] = to_half(value);                                                      \
            if (isfinite(value) && fabs(value) >= 65520) return i;                                      \
        }                                                                                               \
        return n;                                                                                       \
    case GLS_TYPE_FLOAT32:                                                                              \
        for (size_t i = 0; i < n; i++) {                                                                \
            /* the bound is the largest float32 plus half a unit of its last place */                   \
            bool fits = !isfinite((double)in->field[i]) || fabs((double)in->field[i]) < 0x1.ffffffp127; \
            if (!fits) return i;                                                                        \
            ((float *)out)[i] = (float)in->field[i];                                                    \
        }                                                                                               \
        return n;                                                                                       \
    case GLS_TYPE_FLOAT64:                                                                              \
        for (size_t i = 0; i < n; i++) ((double *)out)[i] = (double)in->field[i];                       \
        return n;                                                                                       \
    case GLS_TYPE_BOOL:                                                                                 \
        for (size_t i = 0; i < n; i++) ((uint8_t *)out)[i] = in->field[i] != 0;                         \
        return n;                                                                                       \
    default: break;                                                                                     \
    }

/* Like NARROW_FLOATS(), for the integer types. FITS is one of the FITS_ macros below; the bounds of each type are given
 * twice, as doubles with an excluded end (2^64 is a double, UINT64_MAX is not) and as integers. */
#define NARROW_INTEGERS(field, FITS)                                                          \
    switch (type) {                                                                           \
    case GLS_TYPE_INT8: NARROW(field, int8_t, FITS, -0x1p7, 0x1p7, INT8_MIN, INT8_MAX);       \
    case GLS_TYPE_INT16: NARROW(field, int16_t, FITS, -0x1p15, 0x1p15, INT16_MIN, INT16_MAX); \
    case GLS_TYPE_INT32: NARROW(field, int32_t, FITS, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX); \
    case GLS_TYPE_INT64: NARROW(field, int64_t, FITS, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX); \
    case GLS_TYPE_UINT8: NARROW(field, uint8_t, FITS, 0, 0x1p8, 0, UINT8_MAX);                \
    case GLS_TYPE_UINT16: NARROW(field, uint16_t, FITS, 0, 0x1p16, 0, UINT16_MAX);            \
    case GLS_TYPE_UINT32: NARROW(field, uint32_t, FITS, 0, 0x1p32, 0, UINT32_MAX);            \
    case GLS_TYPE_UINT64: NARROW(field, uint64_t, FITS, 0, 0x1p64, 0, UINT64_MAX);            \
    default: break;                                                                           \
    }                                                                                         \
    return n

/* Case of NARROW_INTEGERS() for one type. low and end: range of the type as doubles, end excluded; min and max: the
 * range as integers. */
#define NARROW(field, ctype, FITS, low, end, min, max)           \
    for (size_t i = 0; i < n; i++) {                             \
        if (!(FITS(in->field[i], low, end, min, max))) return i; \
        ((ctype *)out)[i] = (ctype)in->field[i];                 \
    }                                                            \
    return n

/* Whether x is a value of the type: whole and in range. Comparisons of mixed sign are avoided by the casts; NaN fails
 * each comparison. */
#define FITS_DOUBLE(x, low, end, min, max) ((x) >= (low) && (x) < (end) && (x) == trunc(x))
#define FITS_SIGNED(x, low, end, min, max) \
    (((min) == 0 ? (x) >= 0 : (x) >= (int64_t)(min)) && ((x) < 0 || (uint64_t)(x) <= (uint64_t)(max)))
#define FITS_UNSIGNED(x, low, end, min, max) ((x) <= (uint64_t)(max))

/* The three functions below narrow a block of one kind; each returns the index of the first value that does not fit, or
 * n. */
static size_t narrow_double(const wide *in, size_t n, void *out, gls_type type)
{
    NARROW_FLOATS(d);
    NARROW_INTEGERS(d, FITS_DOUBLE);
}

static size_t narrow_signed(const wide *in, size_t n, void *out, gls_type type)
{
    NARROW_FLOATS(s);
    NARROW_INTEGERS(s, FITS_SIGNED);
}

static size_t narrow_unsigned(const wide *in, size_t n, void *out, gls_type type)
{
    NARROW_FLOATS(u);
    NARROW_INTEGERS(u, FITS_UNSIGNED);
}

/* Converts n wide values to a type. Returns the index of the first value that does not fit, n if all do. */
static size_t narrow(const wide *in, wide_kind kind, size_t n, void *out, gls_type type)
{
    switch (kind) {
    case WIDE_DOUBLE: return narrow_double(in, n, out, type);
    case WIDE_SIGNED: return narrow_signed(in, n, out, type);
    case WIDE_UNSIGNED: break;
    }
    return narrow_unsigned(in, n, out, type);
}

/* --- Conversion. */

/* Returns the error for value i of the block, which does not fit `type`. number: index of the value in the array, for
 * the message. */
static gls_status refuse(const wide *in, wide_kind kind, size_t i, size_t number, gls_type type)
{
    char value[40];
    if (kind == WIDE_DOUBLE)
        gls_snprintf(value, sizeof value, "%.17g", in->d[i]);
    else if (kind == WIDE_SIGNED)
        snprintf(value, sizeof value, "%" PRId64, in->s[i]);
    else
        snprintf(value, sizeof value, "%" PRIu64, in->u[i]);
    bool fraction = kind == WIDE_DOUBLE && isfinite(in->d[i]) && in->d[i] != trunc(in->d[i]);
    return gls_fail(GLS_ERR_ARGUMENT,
                    fraction ? "element %zu (counted from 0): %s is no whole number, as type %s needs"
                             : "element %zu (counted from 0): %s is out of the range of type %s",
                    number, value, gls_type_name(type));
}

/* Converts n values, at most BLOCK. number: index of the first one, for the message about a value that does not fit. */
static gls_status convert_block(size_t number, size_t n, const void *from, gls_type from_type, void *to,
                                gls_type to_type)
{
    wide values;
    wide_kind kind = widen(from, from_type, n, &values);
    size_t bad = narrow(&values, kind, n, to, to_type);
    return bad < n ? refuse(&values, kind, bad, number + bad, to_type) : GLS_OK;
}

/* Converts n values by way of type `via`. to NULL: only checks that all values fit. first: index of the first value,
 * for messages. */
static gls_status convert(size_t first, size_t n, const void *from, gls_type from_type, gls_type via, void *to,
                          gls_type to_type)
{
    uint64_t between[BLOCK], sink[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t part = n - at < BLOCK ? n - at : BLOCK;
        const void *in = (const uint8_t *)from + at * gls_type_size(from_type);
        void *out = to ? (uint8_t *)to + at * gls_type_size(to_type) : (void *)sink;
        bool direct = from_type == via || via == to_type;
        gls_status status =
            convert_block(first + at, part, in, from_type, direct ? out : between, direct ? to_type : via);
        if (!status && !direct) status = convert_block(first + at, part, between, via, out, to_type);
        if (status) return status;
    }
    return GLS_OK;
}

/* Whether every value of type `from` can be converted to type `to`, rounded if need be. */
static bool always_fits(gls_type from, gls_type to)
{
    static const struct {
        int digits; /* binary digits that a value holds exactly, without the sign */
        bool is_float, is_signed;
    } t[] = {{11, true, true},   {24, true, true},   {53, true, true},   {7, false, true},
             {15, false, true},  {31, false, true},  {63, false, true},  {8, false, false},
             {16, false, false}, {32, false, false}, {64, false, false}, {1, false, false}};
    if (to == GLS_TYPE_BOOL || (t[to].is_float && to != GLS_TYPE_FLOAT16 && !t[from].is_float)) return true;
    return t[from].is_float == t[to].is_float && t[from].is_signed <= t[to].is_signed && t[from].digits <= t[to].digits;
}

/* Converts n values from from_type to via and then to to_type, like two calls of gls_convert(): values must also fit
 * `via`, the type of the array. first: index of the first element, for messages. */
static gls_status convert_via(size_t first, size_t n, const void *from, gls_type from_type, gls_type via, void *to,
                              gls_type to_type)
{
    bool plain = from_type == via && via == to_type && from_type != GLS_TYPE_BOOL;
    if (plain) {
        memcpy(to, from, n * gls_type_size(to_type));
        return GLS_OK;
    }
    if (!always_fits(from_type, via) || !always_fits(via, to_type)) {
        gls_status status = convert(first, n, from, from_type, via, NULL, to_type);
        if (status) return status;
    }
    return convert(first, n, from, from_type, via, to, to_type);
}

gls_status gls_convert(size_t n, const void *from, gls_type from_type, void *to, gls_type to_type)
{
    GLS_REQUIRE(is_type(from_type) && is_type(to_type) && ((from && to) || n == 0));
    if (n == 0) return GLS_OK;
    return convert_via(0, n, from, from_type, from_type, to, to_type);
}

bool gls_device_available(void)
{
    size_t n = 0;
    return gls_device_count(GLS_GRAPHICS_AUTO, &n) == GLS_OK && n > 0;
}

gls_status gls_device_count(gls_graphics api, size_t *n)
{
    GLS_REQUIRE(n);
    gls_device_info *list = NULL;
    gls_status status = gls_device_list(api, &list, n, NULL, NULL);
    if (!status) free(list);
    return status;
}

gls_status gls_result_fill(gls_run_result *result, gls_status status, double gpu_seconds, double begun)
{
    if (!result) return status;
    *result =
        (gls_run_result){.status = status, .gpu_seconds = gpu_seconds, .wall_seconds = gls_clock_seconds() - begun};
    if (status) snprintf(result->message, sizeof result->message, "%s", gls_last_error());
    return status;
}

/* --- Creation. */

/* Creates an array of n elements with space for whole vectors of four. */
static gls_status create(gls_device *device, gls_type type, size_t n, const char *label, bool zeroed, gls_array **out)
{
    if (n > SIZE_MAX / 8)
        return gls_fail(GLS_ERR_UNSUPPORTED, "array '%s' of %zu elements is larger than any device's memory",
                        label ? label : "", n);
    gls_array *array = calloc(1, sizeof *array);
    if (!array) return gls_fail(GLS_ERR_MEMORY, "out of memory for an array");
    *array = (gls_array){.device = device, .type = type, .length = n};
    /* allocate whole vectors of four elements, for kernels that load vectors */
    gls_status status =
        gls_buffer_create(device, GLS_BUFFER_STORAGE, (4 * n + 15) / 16 * 16, label ? label : "array", &array->buffer);
    if (!status && zeroed) status = gls_buffer_clear(array->buffer);
    if (!status) status = gls_handle_add(array, GLS_HANDLE_ARRAY, device, label, free);
    if (!status) {
        *out = array;
    } else {
        gls_buffer_destroy(array->buffer);
        free(array);
    }
    return status;
}

gls_status gls_array_create(gls_device *device, gls_type type, size_t n, const char *label, gls_array **array)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(array && n > 0 && gls_type_size(type) > 0);
    return create(device, type, n, label, false, array);
}

gls_status gls_array_create_zeroed(gls_device *device, gls_type type, size_t n, const char *label, gls_array **array)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(array && n > 0 && gls_type_size(type) > 0);
    return create(device, type, n, label, true, array);
}

void gls_array_destroy(gls_array *array)
{
    if (!array || !gls_handle_remove(array, GLS_HANDLE_ARRAY)) return;
    gls_buffer_destroy(array->buffer);
    free(array);
}

/* --- Properties. */

size_t gls_array_length(const gls_array *array)
{
    return gls_handle_alive(array, GLS_HANDLE_ARRAY) ? array->length : 0;
}

gls_type gls_array_type(const gls_array *array)
{
    return gls_handle_alive(array, GLS_HANDLE_ARRAY) ? array->type : (gls_type)-1;
}

gls_buffer *gls_array_buffer(gls_array *array)
{
    return gls_handle_alive(array, GLS_HANDLE_ARRAY) ? array->buffer : NULL;
}

gls_status gls_array_check(const char *function, const char *name, const gls_array *array, const gls_device *device,
                           gls_type stored)
{
    if (!gls_handle_alive(array, GLS_HANDLE_ARRAY)) return gls_handle_refuse(function, name, array, GLS_HANDLE_ARRAY);
    if (array->device != device) return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s is of another device", function, name);
    if (gls_type_stored(array->type) != stored)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s of %s is stored as %s, but must be stored as %s", function,
                        name, gls_type_name(array->type), gls_type_name(gls_type_stored(array->type)),
                        gls_type_name(stored));
    return GLS_OK;
}

/* --- Copies. */

gls_status gls_array_clear(gls_array *array)
{
    GLS_REQUIRE_HANDLE(array, GLS_HANDLE_ARRAY);
    return gls_buffer_clear(array->buffer);
}

/* GLS_ERR_ARGUMENT unless elements first .. first + n - 1 exist. */
static gls_status check_range(const char *function, const gls_array *array, size_t first, size_t n)
{
    if (first <= array->length && n <= array->length - first) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "%s: elements %zu to %zu + %zu - 1 are not all within an array of %zu elements",
                    function, first, first, n, array->length);
}

/* Whether the elements have the same bytes on host and device, so that copying needs no conversion. */
static bool same_bytes(const gls_array *array, gls_type type)
{
    return type == array->type && type == gls_type_stored(type);
}

gls_status gls_array_write(gls_array *array, size_t first, size_t n, const void *data, gls_type type)
{
    GLS_REQUIRE_HANDLE(array, GLS_HANDLE_ARRAY);
    GLS_REQUIRE((data || n == 0) && gls_type_size(type) > 0);
    gls_status status = check_range(__func__, array, first, n);
    if (status || n == 0) return status;
    if (same_bytes(array, type)) return gls_buffer_write(array->buffer, 4 * first, 4 * n, data);
    /* convert first to the array's type, so that values that this type cannot hold are refused, then to the stored type
     */
    void *stored = malloc(4 * n);
    if (!stored) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu elements", n);
    status = convert_via(first, n, data, type, array->type, stored, gls_type_stored(array->type));
    if (!status) status = gls_buffer_write(array->buffer, 4 * first, 4 * n, stored);
    free(stored);
    return status;
}

gls_status gls_array_read(gls_array *array, size_t first, size_t n, void *data, gls_type type)
{
    GLS_REQUIRE_HANDLE(array, GLS_HANDLE_ARRAY);
    GLS_REQUIRE((data || n == 0) && gls_type_size(type) > 0);
    gls_status status = check_range(__func__, array, first, n);
    if (status || n == 0) return status;
    if (same_bytes(array, type)) return gls_buffer_read(array->buffer, 4 * first, 4 * n, data);
    void *stored = malloc(4 * n);
    if (!stored) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu elements", n);
    status = gls_buffer_read(array->buffer, 4 * first, 4 * n, stored);
    if (!status) status = convert_via(first, n, stored, gls_type_stored(array->type), array->type, data, type);
    free(stored);
    return status;
}
