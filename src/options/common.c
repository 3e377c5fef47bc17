/* The table of a command: its own rows, and rows that every command has; and what was given of them. */
#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "options/options.h"
#include "record/run_params.h"

/* Options that every command has, from --quiet to --help. */
#define OPTION_OWNER cmd_common
static const gls_option common_options[] = {
    GLS_OPTION("General", FLAG, quiet, "quiet", 'q', NULL, NULL, GLS_ANY, NULL, NULL,
               "Print errors and warnings only."),
    GLS_OPTION("General", COUNT, verbose, "verbose", 'v', NULL, NULL, GLS_ANY, NULL, NULL,
               "Print more details; -vv also prints messages of the driver."),
    GLS_OPTION("General", CHOICE, progress, "progress", 0, NULL, NULL, GLS_ANY, NULL, CMD_PROGRESS_CHOICES,
               "How progress is shown on standard error. json: an object a line, for programs; nothing else then comes "
               "there. auto: a bar on a terminal, else lines."),
    GLS_OPTION("General", STRING, progress_file, "progress-file", 0, "FILE", NULL, GLS_ANY, "", NULL,
               "Write the objects of --progress json to this file or named pipe."),
    GLS_OPTION("General", INT, nthreads, "nthreads", 0, "N", NULL, GLS_BETWEEN(1, 4096),
               "one for each processor that the process may use", NULL,
               "Threads on the CPU: of fits, of reading and writing, and of the software renderer."),
    GLS_OPTION("General", FLAG, notify, "notify", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Show a notification on the desktop when a run of more than a minute has ended (builds with libunity)."),
    GLS_OPTION("General", FLAG, help, "help", 'h', NULL, NULL, GLS_ANY, NULL, NULL, "Print this help and exit."),
    {.name = NULL},
};

/* Adds rows to the table of a command, with the offsets of the struct in which they lie. */
static void add(cmd_table *table, const cmd_rows *rows)
{
    for (const gls_option *row = rows->table; row->name; row++) {
        if (rows->owners && !(row->owner & rows->owners)) continue;
        assert(table->n < CMD_MAX_OPTIONS);
        gls_option *option = &table->option[table->n++];
        *option = *row;
        option->offset += rows->at;
        option->mm_offset += rows->at;
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

/* Index of the option of this name, which must be in the table. */
static size_t place_of(const cmd_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->table.n; i++)
        if (strcmp(arguments->table.option[i].name, name) == 0) return i;
    assert(!"option is not in the table");
    return 0;
}

bool cmd_options_given(const cmd_arguments *arguments, const char *name)
{
    return arguments->given[place_of(arguments, name)];
}

bool cmd_options_random(const cmd_arguments *arguments, const char *name)
{
    return arguments->random[place_of(arguments, name)];
}

const char *cmd_options_first(const cmd_arguments *arguments, const char *const *names)
{
    for (; *names; names++)
        if (cmd_options_given(arguments, *names)) return *names;
    return NULL;
}

/* the common options are left out: they change nothing of a result */
void cmd_options_json(cJSON *object, const cmd_arguments *arguments, const void *values)
{
    for (size_t i = 0; i < arguments->table.n_own; i++) gls_option_add(object, &arguments->table.option[i], values);
}
