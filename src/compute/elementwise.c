/* Element-wise kernels. From the caller's parameters and expression, builds the declarations and statements that
 * glsl/compute/elementwise.comp includes. For "in float x[], out float y[], float a" and "y = a * x" the kernel loads
 * vectors of four, calls the statements for each component, and stores y. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/array.h"
#include "gpu/handle.h"
#include "gpu/internal.h"
#include "gpu/source.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/text.h"

/* Limits of a kernel: number of arrays, number of all parameters, bytes of memory for a name. A name with MAX_NAME - 1
 * characters or more is refused. */
#define MAX_ARRAYS 8
#define MAX_PARAMETERS 32
#define MAX_NAME 32

/* Types of values in the caller's expression. A bool is stored as uint, 0 or 1. */
typedef enum value_type { VALUE_FLOAT, VALUE_INT, VALUE_UINT, VALUE_BOOL } value_type;

/* GLSL types by value_type: of a value in the expression, of a stored value, and of a vector of four stored values. */
static const char *const glsl_names[] = {"float", "int", "uint", "bool"}, *const stored_names[] = {"float", "int",
                                                                                                   "uint", "uint"};
static const char *const vector_names[] = {"vec4", "ivec4", "uvec4", "uvec4"};

/* A parameter of the caller's expression. slot: binding of an array, or location of a number. */
typedef struct parameter {
    char name[MAX_NAME];
    value_type type;
    bool is_array, is_read, is_written;
    uint32_t slot;
} parameter;

/* All parameters of the caller's expression. */
typedef struct signature {
    parameter parameters[MAX_PARAMETERS];
    size_t n, n_arrays;
} signature;

struct gls_elementwise {
    gls_device *device;
    gls_kernel *kernel;
    char label[48];
    uint32_t group_size; /* invocations of a work group */
    signature signature;
};

/* --- parameters ----------------------------------------------------------- */

/* Skips blanks, then takes letters, digits and underscores from the text, as a word, which is cut off if it is too
 * long; "" if something else comes first. */
static void take_word(const char **text, char word[MAX_NAME])
{
    while (gls_is_space((unsigned char)**text)) (*text)++;
    size_t n = 0;
    for (; gls_is_alnum((unsigned char)**text) || **text == '_'; (*text)++)
        if (n + 1 < MAX_NAME) word[n++] = **text;
    word[n] = '\0';
}

/* Takes "[]" from the text, with spaces anywhere. Returns false, and leaves the text, if something else is there. */
static bool take_brackets(const char **text)
{
    const char *at = *text;
    while (gls_is_space((unsigned char)*at)) at++;
    if (*at++ != '[') return false;
    while (gls_is_space((unsigned char)*at)) at++;
    if (*at++ != ']') return false;
    *text = at;
    return true;
}

/* Finds the value_type whose name in GLSL is `word`. Returns false if there is none. */
static bool find_type(const char *word, value_type *type)
{
    for (int t = VALUE_FLOAT; t <= VALUE_BOOL; t++)
        if (strcmp(word, glsl_names[t]) == 0) {
            *type = (value_type)t;
            return true;
        }
    return false;
}

/* Parses the next parameter. Returns NULL, or what is wrong with the text. */
static const char *parse_parameter(const char **text, const signature *before, parameter *p)
{
    char word[MAX_NAME];
    take_word(text, word);
    /* Parse access, type, name and brackets, in this order. */
    bool in = strcmp(word, "in") == 0, out = strcmp(word, "out") == 0, inout = strcmp(word, "inout") == 0;
    if (in || out || inout) take_word(text, word);
    if (!find_type(word, &p->type)) return "expected float, int, uint or bool";
    take_word(text, p->name);
    if (!p->name[0] || gls_is_digit((unsigned char)p->name[0])) return "expected a name";
    if (strlen(p->name) == MAX_NAME - 1) return "the name is too long";
    bool reserved = strncmp(p->name, "gl_", 3) == 0 || strncmp(p->name, "gls_", 4) == 0 || strstr(p->name, "__");
    if (reserved || strcmp(p->name, "i") == 0) return "the name is reserved";
    for (size_t k = 0; k < before->n; k++)
        if (strcmp(before->parameters[k].name, p->name) == 0) return "the name is there twice";
    p->is_array = take_brackets(text);
    if (p->is_array && !(in || out || inout)) return "an array is in, out or inout";
    if (!p->is_array && (out || inout)) return "only arrays can be written";
    p->is_read = !out;
    p->is_written = out || inout;
    while (gls_is_space((unsigned char)**text)) (*text)++;
    if (**text != '\0' && **text != ',') return "expected a comma";
    return NULL;
}

/* Parses the declaration of parameters, such as "float x[], float a". Arrays get bindings, numbers get locations. */
static gls_status parse(const char *label, const char *text, size_t max_arrays, signature *s)
{
    const char *wrong = NULL, *at = text, *begin = text;
    do {
        parameter p = {0};
        begin = at;
        if (s->n == MAX_PARAMETERS)
            wrong = "there are too many parameters";
        else
            wrong = parse_parameter(&at, s, &p);
        if (!wrong && p.is_array && s->n_arrays == max_arrays)
            wrong = "there are more arrays than the device has bindings";
        if (!wrong) {
            p.slot = (uint32_t)(p.is_array ? s->n_arrays++
                                           : 1 + s->n - s->n_arrays); /* location 0 is the number of elements */
            s->parameters[s->n++] = p;
        }
    } while (!wrong && *at++ == ',');
    if (!wrong && s->n_arrays == 0) wrong = "there is no array";
    if (!wrong) return GLS_OK;
    size_t length = strcspn(begin, ",");
    return gls_fail(GLS_ERR_ARGUMENT, "kernel '%s': parameter %zu, '%.*s': %s", label, s->n + 1,
                    (int)(length < 60 ? length : 60), begin, wrong);
}

/* --- source --------------------------------------------------------------- */

/* Writes the GLSL declarations of all parameters. */
static void declare(const signature *s, gls_text *out)
{
    for (const parameter *p = s->parameters; p < s->parameters + s->n; p++) {
        const char *type = p->is_array ? vector_names[p->type] : stored_names[p->type],
                   *access = p->is_written ? "" : "readonly ";
        uint32_t slot = p->slot;
        if (p->is_array)
            gls_text_printf(out, "layout(std430, binding = %u) %sbuffer gls_block_%u { %s gls_array_%u[]; };\n", slot,
                            access, slot, type, slot);
        else
            gls_text_printf(out, "layout(location = %u) uniform %s gls_scalar_%u;\n", slot, type, slot);
    }
}

/* Wraps the statements in a function, so that they may use return. */
static void define_statements(const signature *s, const char *expression, gls_text *out)
{
    gls_text_puts(out, "void gls_statements(uint i");
    for (const parameter *p = s->parameters; p < s->parameters + s->n; p++)
        gls_text_printf(out, ", %s %s %s", p->is_written ? "inout" : "in", glsl_names[p->type], p->name);
    gls_text_puts(out, ")\n{\n#line 1\n");
    gls_text_puts(out, expression);
    gls_text_puts(out, "\n;\n}\n");
}

/* Appends a call of gls_statements() for one component of the vectors, if the element exists. */
static void call_statements(const signature *s, unsigned component, gls_text *out)
{
    char c = "xyzw"[component];
    gls_text_printf(out, "if (left > %uu) {\n", component);
    for (size_t k = 0; k < s->n; k++) {
        const parameter *p = &s->parameters[k];
        const char *type = glsl_names[p->type];
        if (p->is_array)
            gls_text_printf(out, "%s gls_value_%zu = %s(gls_vector_%u.%c);\n", type, k, type, p->slot, c);
        else
            gls_text_printf(out, "%s gls_value_%zu = %s(gls_scalar_%u);\n", type, k, type, p->slot);
    }
    gls_text_printf(out, "gls_statements(i + %uu", component);
    for (size_t k = 0; k < s->n; k++) gls_text_printf(out, ", gls_value_%zu", k);
    gls_text_puts(out, ");\n");
    for (size_t k = 0; k < s->n; k++) {
        const parameter *p = &s->parameters[k];
        if (p->is_written)
            gls_text_printf(out, "gls_vector_%u.%c = %s(gls_value_%zu);\n", p->slot, c, stored_names[p->type], k);
    }
    gls_text_puts(out, "}\n");
}

/* Writes the body of main(): each invocation loads a vector of four elements from each array that is read, runs the
 * expression on each component, and stores the vectors, at the end of an array only the elements that exist. */
static void define_body(const signature *s, gls_text *out)
{
    for (const parameter *p = s->parameters; p < s->parameters + s->n; p++) {
        const char *type = vector_names[p->type];
        if (p->is_array && p->is_read)
            gls_text_printf(out, "%s gls_vector_%u = gls_array_%u[q];\n", type, p->slot, p->slot);
        else if (p->is_array)
            gls_text_printf(out, "%s gls_vector_%u = %s(0);\n", type, p->slot, type);
    }
    for (unsigned component = 0; component < 4; component++) call_statements(s, component, out);
    for (const parameter *p = s->parameters; p < s->parameters + s->n; p++) {
        if (!p->is_written) continue;
        gls_text_printf(out, "if (left >= 4u) {\ngls_array_%u[q] = gls_vector_%u;\n} else {\n", p->slot, p->slot);
        for (unsigned k = 0; k < 3; k++) {
            char c = "xyz"[k];
            gls_text_printf(out, "if (left > %uu) gls_array_%u[q].%c = gls_vector_%u.%c;\n", k, p->slot, c, p->slot, c);
        }
        gls_text_puts(out, "}\n");
    }
}

/* Composes and compiles the kernel. */
static gls_status build(gls_elementwise *e, const char *expression)
{
    char group[12];
    gls_text declarations = {0}, body = {0};
    declare(&e->signature, &declarations);
    define_statements(&e->signature, expression, &declarations);
    define_body(&e->signature, &body);
    char *parts[2] = {gls_text_take(&declarations), gls_text_take(&body)};
    snprintf(group, sizeof group, "%u", e->group_size);
    gls_define defines[] = {
        {"GROUP_SIZE", group, false, NULL}, {"declarations", parts[0], true, NULL}, {"body", parts[1], true, NULL}};
    gls_status status =
        parts[0] && parts[1] ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for kernel '%s'", e->label);
    char *source = NULL;
    if (!status) status = gls_shader_text("compute/elementwise.comp", &source);
    if (!status) status = gls_kernel_create(e->device, e->label, source, defines, 3, &e->kernel);
    free(source);
    free(parts[0]);
    free(parts[1]);
    return status;
}

gls_status gls_elementwise_create(gls_device *device, const char *label, const char *parameters, const char *expression,
                                  gls_elementwise **out)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(label && parameters && expression && out);
    gls_elementwise *e = calloc(1, sizeof *e);
    if (!e) return gls_fail(GLS_ERR_MEMORY, "out of memory for kernel '%s'", label);
    const gls_device_info *info = &device->info;
    e->device = device;
    e->group_size = info->max_work_group_size < 256 ? 64 : 256;
    snprintf(e->label, sizeof e->label, "%s", label);
    gls_status status =
        parse(label, parameters, info->max_storage_bindings < MAX_ARRAYS ? info->max_storage_bindings : MAX_ARRAYS,
              &e->signature);
    if (!status) status = build(e, expression);
    if (!status) status = gls_handle_add(e, GLS_HANDLE_ELEMENTWISE, device, label, free);
    if (!status) {
        *out = e;
    } else {
        gls_kernel_destroy(e->kernel);
        free(e);
    }
    return status;
}

void gls_elementwise_destroy(gls_elementwise *e)
{
    if (!e || !gls_handle_remove(e, GLS_HANDLE_ELEMENTWISE)) return;
    gls_kernel_destroy(e->kernel);
    free(e);
}

/* --- running -------------------------------------------------------------- */

/* Turns an operand into a kernel argument, if it has the type that the parameter declares. */
static gls_status bind(const gls_elementwise *e, size_t n, const parameter *p, const gls_operand *operand, gls_arg *arg)
{
    static const gls_type stored[] = {GLS_TYPE_FLOAT32, GLS_TYPE_INT32, GLS_TYPE_UINT32, GLS_TYPE_UINT32};
    static const gls_operand_kind kinds[] = {GLS_OPERAND_FLOAT, GLS_OPERAND_INT, GLS_OPERAND_UINT, GLS_OPERAND_UINT};
    gls_operand_kind wanted = p->is_array ? GLS_OPERAND_ARRAY : kinds[p->type];
    if (operand->kind != wanted)
        return gls_fail(GLS_ERR_ARGUMENT, "kernel '%s': the operand for '%s' is not %s %s", e->label, p->name,
                        p->is_array ? "an array of" : "of type", glsl_names[p->type]);
    switch (wanted) {
    case GLS_OPERAND_FLOAT: *arg = gls_arg_float(p->slot, operand->value.f); return GLS_OK;
    case GLS_OPERAND_INT: *arg = gls_arg_int(p->slot, operand->value.i); return GLS_OK;
    case GLS_OPERAND_UINT: *arg = gls_arg_uint(p->slot, operand->value.u); return GLS_OK;
    case GLS_OPERAND_ARRAY: break;
    }
    gls_array *array = operand->value.array;
    gls_status status = gls_array_check(e->label, p->name, array, e->device, stored[p->type]);
    if (status) return status;
    if ((array->type == GLS_TYPE_BOOL) != (p->type == VALUE_BOOL))
        return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s is of type %s, but the kernel declares it as %s", e->label,
                        p->name, gls_type_name(array->type), glsl_names[p->type]);
    if (array->length < n)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s has %zu elements, but the kernel runs over %zu", e->label,
                        p->name, array->length, n);
    *arg = gls_arg_buffer(p->slot, array->buffer);
    return GLS_OK;
}

/* Checks and binds the operands, and runs the kernel over n elements. *gpu_seconds (unless NULL) gets the time of the
 * device. */
static gls_status run(gls_elementwise *e, size_t n, const gls_operand *operands, size_t n_operands, double *gpu_seconds)
{
    const signature *s = &e->signature;
    gls_arg args[MAX_PARAMETERS + 1];
    if (n > UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "kernel '%s': %zu elements are more than 2^32 - 1", e->label, n);
    if (n_operands != s->n || !operands)
        return gls_fail(GLS_ERR_ARGUMENT, "kernel '%s' takes a list of %zu operands; the list has %zu, or is NULL",
                        e->label, s->n, n_operands);
    for (size_t k = 0; k < s->n; k++) {
        gls_status status = bind(e, n, &s->parameters[k], &operands[k], &args[k]);
        if (status) return status;
    }
    args[s->n] = gls_arg_uint(0, (uint32_t)n);
    if (n == 0) return GLS_OK;
    /* Each invocation works on four elements. Arrange the groups as a rectangle, because a device limits their number
     * along an axis. */
    uint32_t groups = (uint32_t)((n - 1) / 4 / e->group_size) + 1, row = e->device->info.max_work_groups;
    if (row > groups) row = groups;
    gls_status status =
        gls_kernel_run(e->kernel, (uint32_t[3]){row, (groups - 1) / row + 1, 1}, args, s->n + 1, gpu_seconds);
    if (!status && gpu_seconds) status = gls_device_synchronize(e->device);
    return status;
}

gls_status gls_elementwise_run(gls_elementwise *e, size_t n, const gls_operand *operands, size_t n_operands,
                               gls_run_result *result)
{
    double begun = gls_clock_seconds(), gpu_seconds = 0;
    gls_status status = GLS_OK;
    if (!gls_handle_alive(e, GLS_HANDLE_ELEMENTWISE))
        status = gls_handle_refuse(__func__, "elementwise", e, GLS_HANDLE_ELEMENTWISE);
    else
        status = run(e, n, operands, n_operands, result ? &gpu_seconds : NULL);
    return gls_result_fill(result, status, gpu_seconds, begun);
}

/* --- Ready-made operations. Each call makes a kernel, whose program comes from the device's cache after the first
 * call. */

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
            return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s has %zu elements, but array %s has %zu", op->name, names[k],
                            arrays[k]->length, names[0], arrays[0]->length);
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
