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

#include "workflow/run_params.h"

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

/* Every row of abi.def is told. */
static void test_rows_are_told(void **state)
{
    (void)state;
    const cJSON *constants = cJSON_GetObjectItemCaseSensitive(description, "constants");
    const cJSON *structs = cJSON_GetObjectItemCaseSensitive(description, "structs"), *entry = NULL;
    int n_fields = 0;
#define VALUE(enum_, name) assert_int_equal(number(constants, #name), name);
#define STRUCT(struct_)                                          \
    entry = cJSON_GetObjectItemCaseSensitive(structs, #struct_); \
    if (!entry) fail_msg("%s is not told", #struct_);            \
    assert_int_equal(number(entry, "size"), sizeof(struct_));    \
    n_fields = 0;
#define FIELD(struct_, field, type) n_fields++;
#define END(struct_) assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(entry, "fields")), n_fields);
#include "workflow/abi.def"
#undef VALUE
#undef STRUCT
#undef FIELD
#undef END
}

/* A member that was left out shows as a hole that is larger than alignment needs. */
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
                fail_msg("%s: src/workflow/abi.def lacks a member before %s", entry->string,
                         cJSON_GetObjectItemCaseSensitive(field, "name")->valuestring);
            end = number(field, "offset") + number(field, "size");
        }
        if (end > size || size - end >= 8)
            fail_msg("%s: src/workflow/abi.def lacks a member at the end", entry->string);
    }
}

static void test_options(void **state)
{
    (void)state;
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(description, "options"), *option;
    assert_int_equal(cJSON_GetArraySize(options), gls_params_count());
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
        cmocka_unit_test(test_rows_are_told),
        cmocka_unit_test(test_members_are_complete),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, parse, drop);
}
