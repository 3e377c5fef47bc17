/* Commands, options and topics as JSON, for programs that build command lines, and for tests. */
#include "cmd/manual.h"
#include "cmd/message.h"
#include "util/json_text.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

/* Adds a text, or null in place of an empty one. */
static void add_text(cJSON *object, const char *key, const char *text)
{
    gls_json_text(object, key, text && *text ? text : NULL);
}

/* Adds pairs of texts, such as positionals and examples. */
static void add_pairs(cJSON *object, const char *key, const char *first, const char *second, const char *const *pair)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);
    for (; pair && *pair; pair += 2) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, first, pair[0]);
        cJSON_AddStringToObject(item, second, pair[1]);
        cJSON_AddItemToArray(array, item);
    }
}

/* Adds the words of an option's choices, "a|b|c", as an array of strings. */
static void add_choices(cJSON *object, const gls_option *option)
{
    char word[64];
    if (option->kind != GLS_KIND_CHOICE) return;
    cJSON *array = cJSON_AddArrayToObject(object, "choices");
    for (int i = 0; *gls_choice_word(option->choices, i, word, sizeof word); i++)
        cJSON_AddItemToArray(array, cJSON_CreateString(word));
}

/* Adds an option with its type, range and default. */
static void add_option(cJSON *options, const gls_option *option, const void *values)
{
    static const char *const types[] = {
        [GLS_KIND_FLAG] = "flag",      [GLS_KIND_COUNT] = "count",     [GLS_KIND_INT] = "integer",
        [GLS_KIND_UINT64] = "integer", [GLS_KIND_SEED] = "seed",       [GLS_KIND_DOUBLE] = "number",
        [GLS_KIND_LENGTH] = "length",  [GLS_KIND_NUMBERS] = "numbers", [GLS_KIND_STRINGS] = "strings",
        [GLS_KIND_STRING] = "string",  [GLS_KIND_CHOICE] = "choice"};
    char letter[2] = {option->letter, '\0'}, range[128], text[512];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", option->name);
    add_text(item, "letter", letter);
    cJSON_AddStringToObject(item, "group", option->group);
    cJSON_AddStringToObject(item, "type", types[option->kind]);
    add_text(item, "metavar", option->metavar);
    add_text(item, "unit", option->unit);
    add_choices(item, option);
    cmd_range_text(option, range, sizeof range);
    add_text(item, "range", range);
    cmd_default_text(option, values, text, sizeof text);
    add_text(item, "default", text);
    cJSON_AddStringToObject(item, "help", option->help);
    cJSON_AddItemToArray(options, item);
}

/* A command with its arguments, options, defaults and examples. The caller owns the object. */
static cJSON *command_json(const cmd_command *command)
{
    cmd_values values;
    cmd_table table;
    cJSON *object = cJSON_CreateObject();
    cmd_defaults_list(command, &table, &values);
    GLS_JSON_MEMBERS(object, command, name, synopsis, summary, description);
    add_pairs(object, "arguments", "name", "help", command->positionals);
    cJSON *options = cJSON_AddArrayToObject(object, "options");
    for (size_t i = 0; i < table.n; i++) add_option(options, &table.option[i], values.bytes);
    add_pairs(object, "examples", "what", "command", command->examples);
    return object;
}

/* A topic by name and title; with_text: also its Markdown. The caller owns the object. */
static cJSON *topic_json(const manual_topic *topic, bool with_text)
{
    char title[256];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", topic->name);
    cJSON_AddStringToObject(object, "title", manual_topic_title(topic, title, sizeof title));
    if (with_text) cJSON_AddStringToObject(object, "text", topic->text);
    return object;
}

/* The program: version, all commands with their options, names of topics, exit codes. The caller owns the object. */
static cJSON *overview_json(const cmd_command *const *commands)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "program", "glslines");
    cJSON_AddStringToObject(object, "version", gls_version());
    cJSON *list = cJSON_AddArrayToObject(object, "commands");
    for (const cmd_command *const *c = commands; *c; c++) cJSON_AddItemToArray(list, command_json(*c));
    cJSON *topics = cJSON_AddArrayToObject(object, "topics");
    for (const manual_topic *t = manual_topics; t->name; t++) cJSON_AddItemToArray(topics, topic_json(t, false));
    cJSON *codes = cJSON_AddArrayToObject(object, "exit_codes");
    for (size_t i = 0; cmd_exit_text(i); i++) {
        cJSON *code = cJSON_CreateObject();
        cJSON_AddNumberToObject(code, "code", cmd_exit_code(i));
        cJSON_AddStringToObject(code, "meaning", cmd_exit_text(i));
        cJSON_AddItemToArray(codes, code);
    }
    return object;
}

bool manual_write_json(FILE *out, const cmd_command *const *commands, const cmd_command *command,
                       const manual_topic *topic)
{
    cJSON *object = command ? command_json(command) : topic ? topic_json(topic, true) : overview_json(commands);
    char *text = gls_json_print(object);
    if (text) fprintf(out, "%s\n", text);
    cJSON_Delete(object);
    free(text);
    return text != NULL;
}
