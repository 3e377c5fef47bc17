/* The description of structs for bindings: no member is missing, and every option lies in gls_job_options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <cJSON.h>

#include <glslines/glslines.h>

#include "record/run_params.h"

static cJSON *description;

static int parse(void **state)
{
    (void)state;
    description = cJSON_Parse(gls_abi_describe());
    return description ? 0 : -1;
}

static int drop(void **state)
{
    (void)state;
    cJSON_Delete(description);
    return 0;
}

static size_t number(const cJSON *object, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    assert_true(cJSON_IsNumber(value));
    return (size_t)value->valuedouble;
}

static size_t alignment(const char *type)
{
    if (strcmp(type, "bool") == 0 || strcmp(type, "char") == 0 || strcmp(type, "uint8_t") == 0) return 1;
    const cJSON *structs = cJSON_GetObjectItemCaseSensitive(description, "structs");
    bool is_large = strcmp(type, "double") == 0 || strcmp(type, "pointer") == 0 || strcmp(type, "size_t") == 0 ||
                    strcmp(type, "uint64_t") == 0 || cJSON_HasObjectItem(structs, type);
    return is_large ? 8 : 4;
}

/* A binding cannot make a struct that is missing in the description. */
static void test_structs_are_complete(void **state)
{
    (void)state;
    const cJSON *structs = cJSON_GetObjectItemCaseSensitive(description, "structs");
#define VALUE(name)
#define STRUCT(struct_, ...)                                               \
    if (!cJSON_HasObjectItem(structs, #struct_)) fail_msg("no " #struct_); \
    assert_int_equal(number(cJSON_GetObjectItemCaseSensitive(structs, #struct_), "size"), sizeof(struct_));
#define FIELDS(...)
#include "run/abi.def"
    assert_int_equal(number(cJSON_GetObjectItemCaseSensitive(structs, "gls_job_options"), "size"),
                     sizeof(gls_job_options));
}

/* A missing member shows as a hole that is larger than alignment needs. */
static void test_members_are_complete(void **state)
{
    (void)state;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(description, "structs"))
    {
        if (strcmp(entry->string, "gls_job_options") == 0 || strcmp(entry->string, "gls_track_params") == 0) continue;
        size_t end = 0, size = number(entry, "size");
        const cJSON *field;
        cJSON_ArrayForEach(field, cJSON_GetObjectItemCaseSensitive(entry, "fields"))
        {
            size_t align = alignment(cJSON_GetObjectItemCaseSensitive(field, "type")->valuestring);
            size_t expected = (end + align - 1) / align * align;
            if (number(field, "offset") != expected)
                fail_msg("%s: src/run/abi.def lacks a member before %s", entry->string,
                         cJSON_GetObjectItemCaseSensitive(field, "name")->valuestring);
            end = number(field, "offset") + number(field, "size");
        }
        if (end > size || size - end >= 8) fail_msg("%s: src/run/abi.def lacks a member at the end", entry->string);
    }
}

static void test_options(void **state)
{
    (void)state;
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(description, "options"), *option;
    assert_null(gls_params[cJSON_GetArraySize(options)].name);
    cJSON_ArrayForEach(option, options)
    {
        if (!cJSON_HasObjectItem(option, "offset")) {
            assert_string_equal(cJSON_GetObjectItemCaseSensitive(option, "of")->valuestring, "COMMAND");
            continue;
        }
        assert_true(number(option, "offset") + number(option, "size") <= sizeof(gls_job_options));
        if (strcmp(cJSON_GetObjectItemCaseSensitive(option, "type")->valuestring, "LENGTH") == 0)
            assert_true(number(option, "mm_offset") < sizeof(gls_job_options));
    }
    gls_job_options job = gls_job_options_default();
    cJSON_ArrayForEach(option, options)
    {
        if (strcmp(cJSON_GetObjectItemCaseSensitive(option, "name")->valuestring, "max-angle") != 0) continue;
        double value;
        memcpy(&value, (const char *)&job + number(option, "offset"), sizeof value);
        assert_true(value == job.track.max_angle);
    }
}

static void test_constants(void **state)
{
    (void)state;
    const cJSON *constants = cJSON_GetObjectItemCaseSensitive(description, "constants");
    assert_int_equal(number(constants, "GLS_ERR_DEVICE_MEMORY"), GLS_ERR_DEVICE_MEMORY);
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(description, "version")->valuestring, gls_version());
    assert_ptr_equal(gls_abi_describe(), gls_abi_describe());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structs_are_complete),
        cmocka_unit_test(test_members_are_complete),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, parse, drop);
}
