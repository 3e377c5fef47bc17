/* Ready-made element-wise operations. Each call makes a kernel, whose program comes from the device's cache after the
 * first call. */
#include <stdio.h>

#include "compute/array.h"
#include "gpu/objects.h"
#include "util/clock.h"

/* A ready-made operation and its expression. */
typedef struct operation {
    const char *name, *expression;
    bool on_int, on_uint; /* available for these types besides float */
} operation;

static const operation binary[] = {
    [GLS_ADD] = {"add", "y = a + b", true, true},
    [GLS_SUB] = {"sub", "y = a - b", true, true},
    [GLS_MUL] = {"mul", "y = a * b", true, true},
    [GLS_DIV] = {"div", "y = a / b", false, false},
};
static const operation unary[] = {
    [GLS_SQRT] = {"sqrt", "y = sqrt(x)", false, false}, [GLS_EXP] = {"exp", "y = exp(x)", false, false},
    [GLS_LOG] = {"log", "y = log(x)", false, false},    [GLS_SIN] = {"sin", "y = sin(x)", false, false},
    [GLS_COS] = {"cos", "y = cos(x)", false, false},    [GLS_ABS] = {"abs", "y = abs(x)", true, false},
    [GLS_SQUARE] = {"square", "y = x * x", true, true}, [GLS_NEGATIVE] = {"negative", "y = -x", true, false},
};

/* Runs an operation on the arrays; the last array takes the result. The source is the same for every call with the same
 * operation and type, so only the first call compiles it. */
static gls_status apply(const operation *op, gls_array *const *arrays, const char *const *names, size_t n_arrays,
                        double *gpu_seconds)
{
    static const char *const glsl[] = {
        [GLS_TYPE_FLOAT32] = "float", [GLS_TYPE_INT32] = "int", [GLS_TYPE_UINT32] = "uint"};
    for (size_t k = 0; k < n_arrays; k++)
        if (!gls_handle_alive(arrays[k], GLS_HANDLE_ARRAY))
            return gls_handle_refuse(op->name, names[k], arrays[k], GLS_HANDLE_ARRAY);
    /* The arrays must be on one device, stored alike and of one length, and none of them bool. */
    gls_device *device = arrays[0]->device;
    gls_type stored = gls_type_stored(arrays[0]->type);
    for (size_t k = 0; k < n_arrays; k++) {
        gls_status status = gls_array_check(op->name, names[k], arrays[k], device, stored);
        if (status) return status;
        if (arrays[k]->type == GLS_TYPE_BOOL)
            return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s is of bool, but must be of numbers", op->name, names[k]);
        if (arrays[k]->length != arrays[0]->length)
            return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s has %zu elements, not %zu as %s", op->name, names[k],
                            arrays[k]->length, arrays[0]->length, names[0]);
    }
    bool fits = stored == GLS_TYPE_FLOAT32 || (stored == GLS_TYPE_INT32 ? op->on_int : op->on_uint);
    if (!fits) return gls_fail(GLS_ERR_ARGUMENT, "%s does not work on %s", op->name, gls_type_name(stored));
    /* Write the declaration of the parameters, such as "in float a[], in float b[], out float y[]". */
    char parameters[96];
    gls_operand operands[3];
    int length = 0;
    for (size_t k = 0; k < n_arrays; k++) {
        bool last = k + 1 == n_arrays;
        size_t room = sizeof parameters - (size_t)length;
        length += snprintf(parameters + length, room, "%s %s %s[]%s", last ? "out" : "in", glsl[stored], names[k],
                           last ? "" : ", ");
        operands[k] = gls_operand_array(arrays[k]);
    }
    gls_elementwise *kernel = NULL;
    gls_run_result result;
    gls_status status = gls_elementwise_create(device, op->name, parameters, op->expression, &kernel);
    if (status) return status;
    status = gls_elementwise_run(kernel, arrays[0]->length, operands, n_arrays, gpu_seconds ? &result : NULL);
    if (gpu_seconds) *gpu_seconds = result.gpu_seconds;
    gls_elementwise_destroy(kernel);
    return status;
}

gls_status gls_binary(gls_binary_op op, gls_array *a, gls_array *b, gls_array *y, gls_run_result *result)
{
    static const char *const names[] = {"a", "b", "y"};
    double begun = gls_clock_seconds(), gpu_seconds = 0;
    gls_status status = GLS_OK;
    if ((unsigned)op >= sizeof binary / sizeof *binary)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: no operation has number %d", __func__, (int)op);
    else
        status = apply(&binary[op], (gls_array *[]){a, b, y}, names, 3, result ? &gpu_seconds : NULL);
    return gls_result_fill(result, status, gpu_seconds, begun);
}

gls_status gls_unary(gls_unary_op op, gls_array *x, gls_array *y, gls_run_result *result)
{
    static const char *const names[] = {"x", "y"};
    double begun = gls_clock_seconds(), gpu_seconds = 0;
    gls_status status = GLS_OK;
    if ((unsigned)op >= sizeof unary / sizeof *unary)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: no operation has number %d", __func__, (int)op);
    else
        status = apply(&unary[op], (gls_array *[]){x, y}, names, 2, result ? &gpu_seconds : NULL);
    return gls_result_fill(result, status, gpu_seconds, begun);
}
