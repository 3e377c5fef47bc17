/* Describes structs, enumerators and options of the library at run time, so that bindings for other languages need not
 * keep a list of offsets. */
#include <glslines/abi.h>

#include <cJSON.h>
#include <pthread.h>
#include <stddef.h>

#include <glslines/glslines.h>

#include "record/run_params.h"
#include "util/json_text.h"

/* A member of a struct. */
typedef struct row {
    /* name as in the header; type as in abi.def */
    const char *name, *type;
    /* bytes */
    size_t offset, size;
} row;

/* Adds a struct with its size in bytes. Returns the array of its members, for add_field(). */
static cJSON *add_struct(cJSON *structs, const char *name, size_t size)
{
    cJSON *object = cJSON_AddObjectToObject(structs, name);
    cJSON_AddNumberToObject(object, "size", (double)size);
    return cJSON_AddArrayToObject(object, "fields");
}

/* Adds a member of a struct: name, type, offset and size in bytes. */
static void add_field(cJSON *fields, row field)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", field.name);
    cJSON_AddStringToObject(object, "type", field.type);
    cJSON_AddNumberToObject(object, "offset", (double)field.offset);
    cJSON_AddNumberToObject(object, "size", (double)field.size);
    cJSON_AddItemToArray(fields, object);
}

/* The type is passed as text, because bool is a macro that would be expanded. */
#define ROW(struct_, field, type) ((row){#field, type, offsetof(struct_, field), sizeof(((struct_ *)NULL)->field)})
#define FIELD(struct_, type, field) add_field(fields, ROW(struct_, field, type))

/* Adds the values of all enumerators. */
static void add_constants(cJSON *root)
{
    cJSON *constants = cJSON_AddObjectToObject(root, "constants");
/* abi.def is included twice: here its rows VALUE have an effect, in add_structs() its rows STRUCT and FIELDS */
#define VALUE(name) cJSON_AddNumberToObject(constants, #name, name);
#define STRUCT(...)
#define FIELDS(...)
#include "run/abi.def"
#undef VALUE
#undef STRUCT
#undef FIELDS
    cJSON_AddNumberToObject(constants, "GLS_REGION_MASK", GLS_REGION_MASK);
#define FORMAT(value, ...) cJSON_AddNumberToObject(constants, #value, value);
    GLS_TRACTOGRAM_FORMATS(FORMAT)
#define GLS_REGION_ROW(symbol, ...) cJSON_AddNumberToObject(constants, #symbol, symbol);
#include <glslines/regions.def>
}

/* Adds the fields of all structs with their offsets. */
static void add_structs(cJSON *root)
{
    cJSON *structs = cJSON_AddObjectToObject(root, "structs"), *fields;
#define VALUE(name)
#define FIELDS(struct_, type, ...) GLS_EACH(FIELD, struct_, #type, __VA_ARGS__);
#define STRUCT(struct_, type, ...)                           \
    fields = add_struct(structs, #struct_, sizeof(struct_)); \
    GLS_EACH(FIELD, struct_, #type, __VA_ARGS__);
#include "run/abi.def"
    STRUCT(gls_job_options, pointer, dwi, bval, bvec, given)
    FIELDS(gls_job_options, bool, one_shell)
    FIELDS(gls_job_options, gls_track_params, track)
    FIELDS(gls_job_options, int, argc)
    FIELDS(gls_job_options, pointer, argv)
    add_struct(structs, "gls_track_params", sizeof(gls_track_params));
}

/* Adds a limit of a range; null stands for no limit, because JSON has no infinity. */
static void add_bound(cJSON *object, const char *key, double bound)
{
    if (isfinite(bound))
        cJSON_AddNumberToObject(object, key, bound);
    else
        cJSON_AddNullToObject(object, key);
}

/* Words of a row of params.def, borrowed. */
typedef struct row_words {
    const char *group, *owner, *type;
} row_words;

/* Adds an option with its offset and size in gls_job_options, its range and its help. */
static void add_option(cJSON *options, const gls_option *o, const row_words *words)
{
    cJSON *object = cJSON_CreateObject();
    gls_json_text(object, "name", o->name);
    gls_json_text(object, "group", words->group);
    gls_json_text(object, "of", words->owner);
    gls_json_text(object, "type", words->type);
    /* the options of a command are not members of gls_job_options */
    const bool member = o->owner != GLS_OF_COMMAND;
    if (member) cJSON_AddNumberToObject(object, "offset", (double)o->offset);
    if (member) cJSON_AddNumberToObject(object, "size", (double)gls_option_size(o));
    if (o->kind == GLS_KIND_LENGTH) cJSON_AddNumberToObject(object, "mm_offset", (double)o->mm_offset);
    gls_json_text(object, "metavar", o->metavar);
    gls_json_text(object, "unit", o->unit);
    add_bound(object, "min", o->range.min);
    add_bound(object, "max", o->range.max);
    cJSON_AddBoolToObject(object, "min_open", o->range.min_open);
    gls_json_text(object, "choices", o->choices);
    gls_json_text(object, "help", o->help);
    cJSON_AddItemToArray(options, object);
}

static const row_words all_words[] = {
#define GLS_PARAM(owner, group, type, field, ...) {#group, #owner, #type},
#include <glslines/params.def>
#undef GLS_PARAM
};

/* The description as JSON, never freed; NULL: not made yet, or memory ran out. */
static char *text;

/* Sets `text`, which stays NULL if memory runs out. */
static void describe(void)
{
    cJSON *root = cJSON_CreateObject();
    if (!root) return;
    cJSON_AddStringToObject(root, "version", gls_version());
    add_constants(root);
    add_structs(root);
    cJSON *options = cJSON_AddArrayToObject(root, "options");
    for (size_t i = 0; gls_params[i].name; i++) add_option(options, &gls_params[i], &all_words[i]);
    text = gls_json_print_line(root);
    cJSON_Delete(root);
}

const char *gls_abi_describe(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe);
    return text;
}
