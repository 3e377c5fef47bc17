/* Options that all commands share, and warnings of variables of the environment. */
#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options/options.h"
#include "record/run_params.h"
#include "util/status.h"

/* Options that every command has, from --quiet to --help. */
#define OPTION_OWNER cmd_common
static const gls_option common_options[] = {
    GLS_OPTION("General", FLAG, quiet, "quiet", 'q', NULL, NULL, GLS_ANY, NULL, NULL,
               "Print errors and warnings only."),
    GLS_OPTION("General", COUNT, verbose, "verbose", 'v', NULL, NULL, GLS_ANY, NULL, NULL,
               "Print more details; -vv also prints messages of the driver."),
    GLS_CHOICE("General", progress, "progress", CMD_PROGRESS_CHOICES,
               "How progress is shown on standard error. bar: a bar. plain: lines. json: JSON objects alone, one "
               "in each line, for programs. none: not at all. auto: a bar on a terminal, else lines."),
    GLS_TEXT("General", progress_file, "progress-file", "FILE", "",
             "Write the objects of --progress json to this file or named pipe."),
    GLS_NUMBER("General", INT, nthreads, "nthreads", "N", NULL, GLS_BETWEEN(1, 4096),
               "one for each processor that the process may use",
               "Number of threads on the CPU: for fits, reading, writing and the software renderer."),
    GLS_FLAG("General", notify, "notify",
             "Show a notification on the desktop when a run of more than a minute has ended (builds with libunity)."),
    GLS_OPTION("General", FLAG, help, "help", 'h', NULL, NULL, GLS_ANY, NULL, NULL, "Print this help and exit."),
    {.name = NULL},
};

/* Adds rows, if their owner is wanted, to the table of a command. Offsets in the table count from the start of the
 * command's values, not of the struct that the rows fill. */
static void add(cmd_table *table, const cmd_rows *rows)
{
    for (const gls_option *row = rows->table; row->name; row++) {
        if (rows->owners && !(row->owner & rows->owners)) continue;
        assert(table->n < CMD_MAX_OPTIONS);
        gls_option *option = &table->option[table->n++];
        *option = *row;
        option->offset += rows->at;
        if (row->mm_offset > 0) option->mm_offset += rows->at;
        if (rows->group) option->group = rows->group;
    }
}

void cmd_options_list(const cmd_command *command, cmd_table *table)
{
    table->n = 0;
    for (const cmd_rows *rows = command->rows; rows->table; rows++) add(table, rows);
    table->n_own = table->n;
    add(table, &(cmd_rows){.table = common_options});
}

void cmd_defaults_list(const cmd_command *command, cmd_table *table, cmd_values *values)
{
    memset(values, 0, sizeof *values);
    command->set_defaults(values->bytes);
    cmd_options_list(command, table);
}

/* Index of the option of this name, which must be in the table. */
static size_t index_of(const cmd_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->table.n; i++)
        if (strcmp(arguments->table.option[i].name, name) == 0) return i;
    assert(!"option is not in the table");
    return 0;
}

bool cmd_options_given(const cmd_arguments *arguments, const char *name)
{
    return arguments->given[index_of(arguments, name)];
}

bool cmd_options_random(const cmd_arguments *arguments, const char *name)
{
    return arguments->random[index_of(arguments, name)];
}

const char *cmd_options_first(const cmd_arguments *arguments, const char *const *names)
{
    for (; *names; names++)
        if (cmd_options_given(arguments, *names)) return *names;
    return NULL;
}

/* n_own leaves out the common options, which do not change a result */
void cmd_options_json(cJSON *object, const cmd_arguments *arguments, const void *values)
{
    for (size_t i = 0; i < arguments->table.n_own; i++) gls_option_add(object, &arguments->table.option[i], values);
}

/* --- Warnings of environment variables that do not exist. */

#define PREFIX "GLSLINES_"

/* Known variables without their prefix. src/doc/environment.md describes them. */
static const char *const known[] = {
#ifdef GLS_TEST_VARIABLES
    "CHECKED",    "DUMP_SHADERS", "FORCE_LIMITS", "INJECT", "IN_FLIGHT", "MAP", "ODF_CELLS", "RECEIPTS", "SHADER_DIR",
#endif
    "DESKTOP_ID", "LIBRARY",      "OSC",          "PROBE",  "SELF_TEST",
};
/* Variables that module files of clusters set for every program. */
static const char *const of_modules[] = {"DIR", "HOME", "ROOT", "VERSION"};

/* Whether a name is in the list. */
static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

void cmd_environment_check(void)
{
    const size_t n_known = sizeof known / sizeof *known, n_of_modules = sizeof of_modules / sizeof *of_modules;
    char name[64], hint[96] = "";
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0) continue;
        const char *own = *entry + strlen(PREFIX);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(own, "="), own);
        if (is_one_of(name, known, n_known) || is_one_of(name, of_modules, n_of_modules)) continue;
        const char *near = gls_nearest_word(name, known, n_known);
        if (near) snprintf(hint, sizeof hint, "; did you mean " PREFIX "%s?", near);
        gls_log(GLS_LOG_WARNING,
                "the variable " PREFIX "%s of the environment is unknown and has no effect%s ('glslines help "
                "environment')",
                name, near ? hint : "");
    }
}
