/* General computing on a device of <glslines/device.h>: typed arrays, programs that run with grid and block,
 * element-wise kernels from expressions, ready-made kernels, and arrays with copies on host and device. Threads,
 * handles and failures are as in device.h.
 *
 *     gls_array *x, *y;  gls_elementwise *axpy;
 *     gls_array_create(device, GLS_TYPE_FLOAT32, n, "x", &x);
 *     gls_array_write(x, 0, n, doubles, GLS_TYPE_FLOAT64);   and y
 *     gls_elementwise_create(device, "axpy", "float a, in float x[], inout float y[]", "y = a * x + y", &axpy);
 *     gls_operand operands[] = {gls_operand_float(2), gls_operand_array(x), gls_operand_array(y)};
 *     gls_elementwise_run(axpy, n, operands, 3, NULL);
 *     gls_array_read(y, 0, n, doubles, GLS_TYPE_FLOAT64); */
#ifndef GLSLINES_COMPUTE_H
#define GLSLINES_COMPUTE_H

#include <glslines/device.h>
#include <glslines/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- devices -------------------------------------------------------------- */

/* Whether any device exists, software renderers included. Takes about 0.1 s, because it opens and closes each
 * device. */
GLS_API bool gls_device_available(void);
/* *n: number of devices that gls_device_list() finds. api: as for gls_device_list(). */
GLS_API gls_status gls_device_count(gls_graphics api, size_t *n);

/* --- types ---------------------------------------------------------------- */

/* Types of values on the host. OpenGL ES 3.1 has only 32-bit types, so on the device every element takes 4 bytes:
 *
 *     host                                  device
 *     float16, float32, float64             float32
 *     int8, int16, int32, int64             int32
 *     uint8, uint16, uint32, uint64         uint32
 *     bool (C's, 1 byte)                    uint32, 0 or 1
 *
 * Conversions to the device, from the device and by gls_convert() go between any two types. They keep the value or
 * refuse it:
 *
 * - to a floating-point type: rounded to the nearest, ties to even. Infinities and NaN stay what they are. Refused: a
 * finite value that would become infinite.
 * - to an integer type: refused unless the value is a whole number within the range of the type.
 * - to bool: 0 becomes false, all else (NaN too) true. From bool: 0 or 1; other bytes in the input count as 1.
 *
 * A refusal is GLS_ERR_ARGUMENT with the index and the value of the first element that does not fit; nothing is written
 * then. */

/* Type in which the device stores a type, by the table above: GLS_TYPE_FLOAT32, GLS_TYPE_INT32 or GLS_TYPE_UINT32. */
GLS_API gls_type gls_type_stored(gls_type type);
/* Converts n values on the host. from and to must not overlap. */
GLS_API gls_status gls_convert(size_t n, const void *from, gls_type from_type, void *to, gls_type to_type);

/* --- arrays --------------------------------------------------------------- */

/* A typed array on the device, stored as the table above says. */
typedef struct gls_array gls_array;

/* Creates an array of n >= 1 elements with undefined contents. label: for debuggers and messages. Errors as for
 * gls_buffer_create(). */
GLS_API gls_status gls_array_create(gls_device *device, gls_type type, size_t n, const char *label, gls_array **array);
/* Like gls_array_create(), with elements that are 0. */
GLS_API gls_status gls_array_create_zeroed(gls_device *device, gls_type type, size_t n, const char *label,
                                           gls_array **array);
GLS_API void gls_array_destroy(gls_array *array);
/* Length, in elements, and type of the array. For an array that does not exist any more: 0 and an invalid type. */
GLS_API size_t gls_array_length(const gls_array *array);
GLS_API gls_type gls_array_type(const gls_array *array);
/* Storage of the array, for use in kernels: a buffer that belongs to the array, whose size is a multiple of 16 bytes.
 * NULL for an array that does not exist any more. */
GLS_API gls_buffer *gls_array_buffer(gls_array *array);
/* Sets all elements to 0. */
GLS_API gls_status gls_array_clear(gls_array *array);
/* Copies elements first .. first + n - 1 from or to host data of any type. A value must also fit the type of the array:
 * an array of uint8 refuses 300. Reading waits for work that writes the array. */
GLS_API gls_status gls_array_write(gls_array *array, size_t first, size_t n, const void *data, gls_type type);
GLS_API gls_status gls_array_read(gls_array *array, size_t first, size_t n, void *data, gls_type type);

static inline gls_arg gls_arg_array(uint32_t slot, gls_array *array)
{
    return gls_arg_buffer(slot, gls_array_buffer(array));
}

/* --- programs: grid and block --------------------------------------------- */

/* Result of a run. A function that fills in a result waits for the device; with NULL the function does not wait. */
typedef struct gls_run_result {
    gls_status status;   /* what the function returned */
    double gpu_seconds;  /* time of the kernels alone, by the device's clock, or by the host's if the device has none */
    double wall_seconds; /* time by the host's clock, from the call to the end of the work */
    char message[256];   /* text of gls_last_error() after a failure, else "" */
} gls_run_result;

/* A compute shader without a block size. A run puts `layout(local_size_x = ...) in;` in front of the source and defines
 * BLOCK_X, BLOCK_Y and BLOCK_Z. A kernel is compiled for each block size; the 8 compiled last are kept. */
typedef struct gls_program gls_program;

/* Creates a program. source and defines as for gls_kernel_create(); they are copied. Fails if the source compiles with
 * none of the block sizes 64, 8 x 8, 4 x 4 x 4 and 1. */
GLS_API gls_status gls_program_create(gls_device *device, const char *label, const char *source,
                                      const gls_define *defines, size_t n_defines, gls_program **program);
GLS_API void gls_program_destroy(gls_program *program);
/* Runs grid[0] x grid[1] x grid[2] blocks of block[0] x block[1] x block[2] invocations. GLS_ERR_ARGUMENT for a block
 * of 0, an argument that is missing or given twice, of another type than the program's, or a buffer too small for what
 * its block declares; GLS_ERR_UNSUPPORTED above the device's limits. An empty grid does nothing. */
GLS_API gls_status gls_program_run(gls_program *program, const uint32_t grid[3], const uint32_t block[3],
                                   const gls_arg *args, size_t n_args, gls_run_result *result);

/* --- element-wise kernels ------------------------------------------------- */

/* A kernel that does the same operation for each element of its arrays. */
typedef struct gls_elementwise gls_elementwise;

/* Creates an element-wise kernel.
 * parameters: a list like "float a, in float x[], inout float y[], out uint n[]": scalars, and arrays that are read
 * (in), written (out) or both (inout); types float, int, uint and bool (a GLSL bool, stored as uint). There may be 32
 * parameters, of which 1 to 8 (fewer if the device has fewer storage bindings) are arrays.
 * expression: one or several GLSL statements, the last semicolon may be left out, e.g. "y = a * x + y". The name of an
 * array stands for its element, `i` (uint) is the index of the element. Elements of an array that is `out` are 0 at
 * first; scalars and arrays that are `in` may be changed, which has no effect elsewhere. GLS_ERR_ARGUMENT with the part
 * that is not understood for bad parameters; a bad expression is GLS_ERR_DEVICE with the driver's message, whose
 * line 1 is the first line of the expression. */
GLS_API gls_status gls_elementwise_create(gls_device *device, const char *label, const char *parameters,
                                          const char *expression, gls_elementwise **elementwise);
GLS_API void gls_elementwise_destroy(gls_elementwise *elementwise);

typedef enum gls_operand_kind {
    GLS_OPERAND_ARRAY,
    GLS_OPERAND_FLOAT,
    GLS_OPERAND_INT,
    GLS_OPERAND_UINT
} gls_operand_kind;

/* A value for a parameter, of the parameter's type (bool scalars: uint, anything but 0 is true; bool
 * arrays: type bool). */
typedef struct gls_operand {
    gls_operand_kind kind;
    union {
        gls_array *array;
        float f;
        int32_t i;
        uint32_t u;
    } value;
} gls_operand;

static inline gls_operand gls_operand_array(gls_array *array)
{
    gls_operand operand = {GLS_OPERAND_ARRAY, {array}};
    return operand;
}
static inline gls_operand gls_operand_float(float f)
{
    gls_operand operand = {GLS_OPERAND_FLOAT, {0}};
    operand.value.f = f;
    return operand;
}
static inline gls_operand gls_operand_int(int32_t i)
{
    gls_operand operand = {GLS_OPERAND_INT, {0}};
    operand.value.i = i;
    return operand;
}
static inline gls_operand gls_operand_uint(uint32_t u)
{
    gls_operand operand = {GLS_OPERAND_UINT, {0}};
    operand.value.u = u;
    return operand;
}

/* Runs the kernel over elements 0 .. n - 1, n up to 2^32 - 1. operands: one for each parameter, in the same order. n =
 * 0 does nothing. Every array must have at least n elements. The same array may be the operand of several parameters:
 * all of them read an element before any of them writes it. */
GLS_API gls_status gls_elementwise_run(gls_elementwise *elementwise, size_t n, const gls_operand *operands,
                                       size_t n_operands, gls_run_result *result);

/* --- ready-made kernels --------------------------------------------------- */

typedef enum gls_binary_op { GLS_ADD, GLS_SUB, GLS_MUL, GLS_DIV } gls_binary_op;
typedef enum gls_unary_op {
    GLS_SQRT,
    GLS_EXP,
    GLS_LOG,
    GLS_SIN,
    GLS_COS,
    GLS_ABS,
    GLS_SQUARE,
    GLS_NEGATIVE
} gls_unary_op;

/* Computes y = a op b, or y = op(x), for all elements. The arrays must have the same length and the same stored type; y
 * may be one of the inputs. float32 arrays accept all operations; int32 arrays accept all but GLS_DIV, GLS_SQRT,
 * GLS_EXP, GLS_LOG, GLS_SIN and GLS_COS; uint32 arrays refuse GLS_ABS and GLS_NEGATIVE as well. Refused
 * operations, and arrays of bool, are GLS_ERR_ARGUMENT. Integers wrap around. Functions are as accurate as the
 * driver's; OpenGL guarantees little, so measure where accuracy matters (test/gpu/compute_kernels.c has errors).
 * Outside the domain of a function the result is undefined. */
GLS_API gls_status gls_binary(gls_binary_op op, gls_array *a, gls_array *b, gls_array *y, gls_run_result *result);
GLS_API gls_status gls_unary(gls_unary_op op, gls_array *x, gls_array *y, gls_run_result *result);
static inline gls_status gls_vector_add(gls_array *a, gls_array *b, gls_array *y, gls_run_result *result)
{
    return gls_binary(GLS_ADD, a, b, y, result);
}

/* C = A B of row-major float32 matrices: A is m x k, B is k x n, C is m x n, each in the first elements of its array. C
 * is neither A nor B. Every element of C is a sum of k products in float32: its error is at most k 2^-23 times the same
 * sum of absolute values. Sizes are at least 1. GLS_ERR_UNSUPPORTED: a matrix of more than 2^31 - 1 elements. */
GLS_API gls_status gls_matmul(uint32_t m, uint32_t n, uint32_t k, gls_array *a, gls_array *b, gls_array *c,
                              gls_run_result *result);

/* Methods of the matrix product. */
typedef enum gls_matmul_way {
    GLS_MATMUL_AUTO,      /* the choice of gls_matmul(): the host on software renderers, else tiles */
    GLS_MATMUL_TILES,     /* shader: tiles in shared memory */
    GLS_MATMUL_REGISTERS, /* shader: tiles in registers only */
    GLS_MATMUL_HOST /* OpenBLAS on the CPU, on the mapped arrays of a software renderer. The last digits depend on the
                       number of threads, and on whether a fit runs at the same time */
} gls_matmul_way;
/* Matrix product by a chosen method. GLS_ERR_UNSUPPORTED for GLS_MATMUL_HOST if the device's memory is not the
 * host's. */
GLS_API gls_status gls_matmul_by(gls_matmul_way way, uint32_t m, uint32_t n, uint32_t k, gls_array *a, gls_array *b,
                                 gls_array *c, gls_run_result *result);

/* --- unified buffers ------------------------------------------------------ */

/* An array with a copy on the host, in the host's type. Ask for a side before you use it; its contents are copied only
 * if the other side has changed since. */
typedef struct gls_unified gls_unified;

typedef enum gls_access {
    GLS_ACCESS_READ,      /* the contents are needed and stay unchanged */
    GLS_ACCESS_WRITE,     /* all contents will be replaced, so nothing is copied */
    GLS_ACCESS_READ_WRITE /* the contents are needed and will change */
} gls_access;

/* Creates an array of n >= 1 elements that are 0. Errors as for gls_array_create(). */
GLS_API gls_status gls_unified_create(gls_device *device, gls_type type, size_t n, const char *label,
                                      gls_unified **unified);
GLS_API void gls_unified_destroy(gls_unified *unified);
/* Returns the copy on the host: n elements of its type. Use it until gls_unified_device() is called or the object is
 * destroyed. If the conversion refuses a value (see the rules above), both sides and their flags stay unchanged. */
GLS_API gls_status gls_unified_host(gls_unified *unified, gls_access access, void **data);
/* Returns the copy on the device, which belongs to the object. Use it until gls_unified_host() is called. */
GLS_API gls_status gls_unified_device(gls_unified *unified, gls_access access, gls_array **array);

typedef struct gls_unified_state {
    bool host_dirty, device_dirty; /* changed since the last copy to the other side */
    uint64_t to_device, to_host;   /* number of copies so far */
} gls_unified_state;
GLS_API gls_unified_state gls_unified_get_state(const gls_unified *unified);

#ifdef __cplusplus
}
#endif
#endif
