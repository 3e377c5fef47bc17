/* The options of a command for a JSON file. */
#include <cJSON.h>
#include <stdio.h>
#include <string.h>

#include "options/options.h"
#include "util/format.h"
#include "util/parse.h"
#include "workflow/json.h"

/* "max-angle" in degrees -> "max_angle_degrees" */
static void parameter_key(const cmd_option *option, char *key, size_t size)
{
    snprintf(key, size, "%s%s%s", option->name, option->unit ? "_" : "",
             !option->unit                        ? ""
             : strcmp(option->unit, "s/mm2") == 0 ? "s_per_mm2"
                                                  : option->unit);
    for (char *c = key; *c; c++)
        if (*c == '-') *c = '_';
}

static void add_parameter(cJSON *object, const cmd_option *option, const void *values)
{
    const void *field = (const char *)values + option->offset;
    char key[96], text[64];
    parameter_key(option, key, sizeof key);
    switch (option->type) {
    case CMD_FLAG: cJSON_AddBoolToObject(object, key, *(const bool *)field); break;
    case CMD_COUNT:
    case CMD_INT: cJSON_AddNumberToObject(object, key, *(const int *)field); break;
    case CMD_UINT64: gls_json_uint(object, key, *(const uint64_t *)field); break;
    case CMD_SEED: gls_json_uint(object, key, ((const cmd_seed *)field)->value); break;
    case CMD_DOUBLE: gls_json_double(object, key, *(const double *)field); break;
    case CMD_LENGTH: {
        const cmd_length *length = field;
        gls_format_double(length->value, text, sizeof text - 4);
        cJSON_AddStringToObject(object, key, strcat(text, length->mm ? "mm" : "vox"));
        break;
    }
    case CMD_NUMBERS: {
        const cmd_numbers *numbers = field;
        cJSON *array = cJSON_AddArrayToObject(object, key);
        for (int i = 0; i < numbers->n; i++) gls_json_append_double(array, numbers->value[i]);
        break;
    }
    case CMD_STRINGS: {
        const gls_strings *strings = field;
        cJSON *array = cJSON_AddArrayToObject(object, key);
        for (int i = 0; i < strings->n; i++) cJSON_AddItemToArray(array, cJSON_CreateString(strings->value[i]));
        break;
    }
    case CMD_STRING:
        if (*(const char *const *)field)
            cJSON_AddStringToObject(object, key, *(const char *const *)field);
        else
            cJSON_AddNullToObject(object, key);
        break;
    case CMD_CHOICE:
        cJSON_AddStringToObject(object, key, gls_choice_word(option->choices, *(const int *)field, text, sizeof text));
        break;
    }
}

void cmd_options_json(cJSON *parameters, const cmd_command *command, const void *values)
{
    for (size_t i = 0; command->options[i].name; i++) add_parameter(parameters, &command->options[i], values);
}
