/* Describes structs, enumerators and options, so that bindings of other languages need no offsets of their own. */
#include <glslines/abi.h>

#include <cJSON.h>
#include <pthread.h>
#include <stddef.h>

#include <glslines/glslines.h>

#include "track/params.h"
#include "util/format.h"
#include "util/json.h"

typedef struct row {
    const char *name, *type;
    size_t offset, size;
} row;

static cJSON *add_struct(cJSON *structs, const char *name, size_t size)
{
    cJSON *object = cJSON_AddObjectToObject(structs, name);
    cJSON_AddNumberToObject(object, "size", (double)size);
    return cJSON_AddArrayToObject(object, "fields");
}

static void add_field(cJSON *fields, row field)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", field.name);
    cJSON_AddStringToObject(object, "type", field.type);
    cJSON_AddNumberToObject(object, "offset", (double)field.offset);
    cJSON_AddNumberToObject(object, "size", (double)field.size);
    cJSON_AddItemToArray(fields, object);
}

/* type is text here already: bool is a macro, which would be expanded */
#define ROW(struct_, field, type) ((row){#field, type, offsetof(struct_, field), sizeof(((struct_ *)NULL)->field)})

static void add_constants(cJSON *root)
{
    cJSON *constants = cJSON_AddObjectToObject(root, "constants");
#define VALUE(enum_, name) cJSON_AddNumberToObject(constants, #name, name);
#define STRUCT(struct_)
#define FIELD(struct_, field, type)
#define END(struct_)
#include "workflow/abi.def"
#undef VALUE
#undef STRUCT
#undef FIELD
    cJSON_AddNumberToObject(constants, "GLS_REGION_MASK", GLS_REGION_MASK);
#define GLS_REGION_ROW(symbol, ...) cJSON_AddNumberToObject(constants, #symbol, symbol);
#include <glslines/regions.def>
#undef GLS_REGION_ROW
}

static void add_structs(cJSON *root)
{
    cJSON *structs = cJSON_AddObjectToObject(root, "structs"), *fields;
#define VALUE(enum_, name)
#define STRUCT(struct_) fields = add_struct(structs, #struct_, sizeof(struct_));
#define FIELD(struct_, field, type) add_field(fields, ROW(struct_, field, #type));
#include "workflow/abi.def"
    fields = add_struct(structs, "gls_job_options", sizeof(gls_job_options));
    add_field(fields, ROW(gls_job_options, dwi, "pointer"));
    add_field(fields, ROW(gls_job_options, bval, "pointer"));
    add_field(fields, ROW(gls_job_options, bvec, "pointer"));
    add_field(fields, ROW(gls_job_options, track, "gls_track_params"));
    add_field(fields, ROW(gls_job_options, argc, "int"));
    add_field(fields, ROW(gls_job_options, argv, "pointer"));
    add_struct(structs, "gls_track_params", sizeof(gls_track_params));
}

typedef struct option {
    const char *name, *group, *of, *type, *unit, *choices, *help;
    double min, max;
    bool min_open;
    size_t offset, size, mm_offset;
} option;

#define NO_OFFSET SIZE_MAX

static void add_text(cJSON *object, const char *key, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, key, text);
    else
        cJSON_AddNullToObject(object, key);
}

static void add_bound(cJSON *object, const char *key, double bound)
{
    if (isfinite(bound))
        cJSON_AddNumberToObject(object, key, bound);
    else
        cJSON_AddNullToObject(object, key);
}

static void add_option(cJSON *options, const option *o)
{
    cJSON *object = cJSON_CreateObject();
    add_text(object, "name", o->name);
    add_text(object, "group", o->group);
    add_text(object, "of", o->of);
    add_text(object, "type", o->type);
    if (o->offset != NO_OFFSET) cJSON_AddNumberToObject(object, "offset", (double)o->offset);
    if (o->offset != NO_OFFSET) cJSON_AddNumberToObject(object, "size", (double)o->size);
    if (o->mm_offset != NO_OFFSET) cJSON_AddNumberToObject(object, "mm_offset", (double)o->mm_offset);
    add_text(object, "unit", o->unit);
    add_bound(object, "min", o->min);
    add_bound(object, "max", o->max);
    cJSON_AddBoolToObject(object, "min_open", o->min_open);
    add_text(object, "choices", o->choices);
    add_text(object, "help", o->help);
    cJSON_AddItemToArray(options, object);
}

/* Where a row's field lies in gls_job_options; those of the program alone have no place there. */
#define AT_TRACK(field) track.field
#define AT_JOB(field) field
#define AT_GRADIENTS(field) model.field
#define AT_MODEL(field) model.field
#define AT_BASIS(field) model.field

#define MM_LENGTH(field) offsetof(gls_job_options, in_mm.field)
#define MM_FLAG(field) NO_OFFSET
#define MM_INT(field) NO_OFFSET
#define MM_UINT64(field) NO_OFFSET
#define MM_SEED(field) NO_OFFSET
#define MM_DOUBLE(field) NO_OFFSET
#define MM_NUMBERS(field) NO_OFFSET
#define MM_STRINGS(field) NO_OFFSET
#define MM_STRING(field) NO_OFFSET
#define MM_CHOICE(field) NO_OFFSET

#define WORDS(group_, owner_, type_, name_, unit_, range_, choices_, help_)                                            \
    .name = name_, .group = #group_, .of = #owner_, .type = #type_, .unit = unit_, .choices = choices_, .help = help_, \
    GLS_RANGE range_
#define OPTION(group_, owner_, type_, at, field, name_, unit_, range_, choices_, help_)                            \
    {WORDS(group_, owner_, type_, name_, unit_, range_, choices_, help_), .offset = offsetof(gls_job_options, at), \
     .size = sizeof(((gls_job_options *)NULL)->at), .mm_offset = MM_##type_(field)},
#define OPTION_OF_PROGRAM(group_, owner_, type_, at, field, name_, unit_, range_, choices_, help_) \
    {WORDS(group_, owner_, type_, name_, unit_, range_, choices_, help_), .offset = NO_OFFSET, .mm_offset = NO_OFFSET},
#define OF_TRACK OPTION
#define OF_JOB OPTION
#define OF_GRADIENTS OPTION
#define OF_MODEL OPTION
#define OF_BASIS OPTION
#define OF_COMMAND OPTION_OF_PROGRAM
#define AT_COMMAND(field) field

static const option all_options[] = {
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, \
                  user, role, help)                                                                               \
    OF_##owner(group, owner, type, AT_##owner(field), field, name, unit, range, choices, help)
#include <glslines/params.def>
#undef GLS_PARAM
};

static char *text;

static void describe(void)
{
    cJSON *root = cJSON_CreateObject();
    if (!root) return;
    cJSON_AddStringToObject(root, "version", gls_version());
    add_constants(root);
    add_structs(root);
    cJSON *options = cJSON_AddArrayToObject(root, "options");
    for (size_t i = 0; i < sizeof all_options / sizeof *all_options; i++) add_option(options, &all_options[i]);
    text = gls_json_print_line(root);
    cJSON_Delete(root);
}

const char *gls_abi_describe(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe);
    return text;
}
