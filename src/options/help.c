/* Tables of options of the commands, and what is generated from them: help, Markdown and entries of sidecars. */
#include "options/help.h"
#include "options/options.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "record/run_params.h"
#include "util/status.h"
#include "util/text.h"

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
             "Write the objects of --progress json to this file or named pipe.", .writes = GLS_WRITES_TEXT),
    GLS_NUMBER("General", INT, nthreads, "nthreads", "N", NULL, GLS_BETWEEN(1, 4096),
               "one for each processor that the process may use",
               "Number of threads on the CPU: for fits, reading, writing and the software renderer."),
    GLS_FLAG("General", notify, "notify",
             "Show a notification on the desktop when a run of more than a minute has ended (builds with libunity)."),
    GLS_OPTION("General", FLAG, help, "help", 'h', NULL, NULL, GLS_ANY, NULL, NULL, "Print this help and exit."),
    {.name = NULL},
};

/* The option of commands whose output is an argument; its metavar is the name of the argument. */
static const gls_option output_option[] = {
    GLS_OPTION("General", STRING, output, "output", 'o', "OUT", NULL, GLS_ANY, "", NULL,
               "The output, in place of the last argument.", .since = "0.2.0"),
    {.name = NULL},
};

const char *cmd_output_argument(const cmd_command *command)
{
    static const char *const names[] = {"OUT", "PREFIX", "DIR"};
    const char *const *last = command->positionals;
    if (!last || !*last) return NULL;
    while (last[2]) last += 2;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(*last, names[i]) == 0) return names[i];
    return NULL;
}

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
    const char *output = cmd_output_argument(command);
    for (size_t i = 0; i < table->n_own; i++)
        if (strcmp(table->option[i].name, output_option->name) == 0) output = NULL;
    if (output) {
        add(table, &(cmd_rows){.table = output_option});
        table->option[table->n_own].metavar = output;
        table->option[table->n_own].writes = command->writes;
    }
    add(table, &(cmd_rows){.table = common_options});
    /* of a new command no option is older, whatever other commands have its row */
    for (size_t i = 0; i < table->n && command->since; i++)
        if (table->option[i].since && strcmp(table->option[i].since, command->since) == 0)
            table->option[i].since = NULL;
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

const char *cmd_options_common(const cmd_arguments *arguments)
{
    for (size_t i = arguments->table.n_own; i < arguments->table.n; i++)
        if (arguments->given[i]) return arguments->table.option[i].name;
    return NULL;
}

/* n_own leaves out the common options, which do not change a result */
void cmd_options_json(cJSON *object, const cmd_arguments *arguments, const void *values)
{
    for (size_t i = 0; i < arguments->table.n_own; i++) gls_option_add(object, &arguments->table.option[i], values);
}

/* --- Help. */

int cmd_terminal_width(FILE *stream)
{
    struct winsize size;
    int width = 80;
    const char *columns = getenv("COLUMNS");
    uint64_t v;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
    else if (columns && gls_parse_uint64(columns, &v) && v > 0 && v < 10000)
        width = (int)v;
    return width < 60 ? 60 : width > 120 ? 120 : width;
}

void cmd_wrap(FILE *out, const char *text, int column, int indent, int width)
{
    /* true: the current line has no word yet */
    bool first = true;
    /* words move to the next line as a whole; a line feed in the text begins a new line */
    while (*text) {
        text += strspn(text, " ");
        int n = (int)strcspn(text, " \n");
        if (n > 0) {
            if (!first && column + 1 + n > width) {
                fprintf(out, "\n%*s", indent, "");
                column = indent;
                first = true;
            }
            fprintf(out, "%s%.*s", first ? "" : " ", n, text);
            column += n + !first;
            first = false;
        }
        text += n;
        if (*text == '\n') {
            /* an empty last line is not indented, so that no line ends in spaces */
            fprintf(out, "\n%*s", text[1] ? indent : 0, "");
            column = indent;
            first = true;
            text++;
        }
    }
    fputc('\n', out);
}

void cmd_default_text(const gls_option *option, const void *values, char *buffer, size_t size)
{
    const void *field = (const char *)values + option->offset;
    const char *space = option->unit ? " " : "", *unit = option->unit ? option->unit : "";
    *buffer = '\0';
    /* the default depends on the getter: name the default of each getter */
    if (option->default_text && strcmp(option->default_text, GLS_BY_GETTER) == 0) {
        gls_default_text(option->name, buffer, size);
        return;
    }
    if (option->default_text) {
        snprintf(buffer, size, "%s", option->default_text);
        return;
    }
    switch (option->kind) {
    case GLS_KIND_FLAG:
    case GLS_KIND_COUNT: break;
    case GLS_KIND_INT: snprintf(buffer, size, "%d%s%s", *(const int *)field, space, unit); break;
    case GLS_KIND_UINT64: snprintf(buffer, size, "%" PRIu64 "%s%s", *(const uint64_t *)field, space, unit); break;
    case GLS_KIND_SEED: snprintf(buffer, size, "%" PRIu64, *(const uint64_t *)field); break;
    case GLS_KIND_DOUBLE: gls_snprintf(buffer, size, "%.15g%s%s", *(const double *)field, space, unit); break;
    case GLS_KIND_LENGTH:
        gls_snprintf(buffer, size, "%.15g %s", *(const double *)field,
                     gls_option_in_mm(option, values) ? "mm" : "voxels");
        break;
    case GLS_KIND_NUMBERS: {
        const gls_numbers *numbers = field;
        size_t used = 0;
        for (int i = 0; i < numbers->n && used < size; i++)
            used += (size_t)gls_snprintf(buffer + used, size - used, "%s%.15g", i ? " " : "", numbers->value[i]);
        if (numbers->n > 0 && used < size) snprintf(buffer + used, size - used, "%s%s", space, unit);
        break;
    }
    case GLS_KIND_STRINGS: break;
    case GLS_KIND_STRING:
        if (*(const char *const *)field) snprintf(buffer, size, "%s", *(const char *const *)field);
        break;
    case GLS_KIND_CHOICE: gls_choice_word(option->choices, *(const int *)field, buffer, size); break;
    }
}

void cmd_option_brackets(const gls_option *option, const void *values, char *buffer, size_t size)
{
    char part[3][280];
    size_t used = 0;
    gls_option_range_text(option, part[0], sizeof part[0]);
    memcpy(part[1], "default: ", 10);
    cmd_default_text(option, values, part[1] + 9, sizeof part[1] - 9);
    if (!part[1][9]) part[1][0] = '\0';
    snprintf(part[2], sizeof part[2], "%s%s", option->since ? "since " : "", option->since ? option->since : "");
    *buffer = '\0';
    for (int i = 0; i < 3 && used < size; i++)
        if (*part[i]) used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? "; " : " [", part[i]);
    if (used > 0 && used < size) snprintf(buffer + used, size - used, "]");
}

bool cmd_begins_group(const cmd_table *table, size_t i)
{
    return i == 0 || i == table->n_own || strcmp(table->option[i - 1].group, table->option[i].group) != 0;
}

/* Writes "-l, --name VALUE"; without a letter, four blanks take the place of "-l, ". */
static void option_head(const gls_option *option, char *buffer, size_t size)
{
    char letter[8] = "    ";
    const char *value = option->metavar ? option->metavar : option->choices;
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    if (gls_option_takes_value(option))
        snprintf(buffer, size, "%s--%s %s", letter, option->name, value);
    else
        snprintf(buffer, size, "%s--%s", letter, option->name);
}

/* Prints the head of an option, on several lines if its choices need them. Returns the column after it. */
static int print_head(FILE *out, const char *head, int width)
{
    const int below = 10;
    int column = fprintf(out, "  ");
    while (*head) {
        int n = (int)strcspn(head, "|");
        n += head[n] == '|';
        if (column + n > width) {
            fprintf(out, "\n%*s", below, "");
            column = below;
        }
        column += fprintf(out, "%.*s", n, head);
        head += n;
    }
    return column;
}

/* Prints an option with its help, indented and wrapped. */
static void help_option(FILE *out, const gls_option *option, const void *values, int width)
{
    char head[256], bracket[400], text[1800];
    const int indent = 30;
    option_head(option, head, sizeof head);
    cmd_option_brackets(option, values, bracket, sizeof bracket);
    snprintf(text, sizeof text, "%s%s", option->help, bracket);
    int column = print_head(out, head, width);
    if (column > indent - 2)
        fprintf(out, "\n%*s", indent, "");
    else
        fprintf(out, "%*s", indent - column, "");
    cmd_wrap(out, text, indent, indent, width);
}

/* Prints all options, with a heading above each group. */
static void help_options(FILE *out, const cmd_table *table, const void *values, int width)
{
    for (size_t i = 0; i < table->n; i++) {
        const gls_option *option = &table->option[i];
        if (cmd_begins_group(table, i)) fprintf(out, "\n%s:\n", option->group);
        help_option(out, option, values, width);
    }
}

void cmd_help(FILE *out, const cmd_command *command, int width)
{
    cmd_values values;
    cmd_table table;
    char summary[256];
    cmd_defaults_list(command, &table, &values);
    fprintf(out, "Usage: glslines %s %s\n\n", command->name, command->synopsis);
    snprintf(summary, sizeof summary, "%s.", command->summary);
    cmd_wrap(out, summary, 0, 0, width);
    fputc('\n', out);
    cmd_wrap(out, command->description, 0, 0, width);
    if (command->since) fprintf(out, "Since %s.\n", command->since);
    for (const char *const *p = command->positionals; p && *p; p += 2) {
        if (p == command->positionals) fputs("\nArguments:\n", out);
        fprintf(out, "  %-9s ", p[0]);
        if (strlen(p[0]) > 9) fprintf(out, "\n%*s", 12, "");
        cmd_wrap(out, p[1], 12, 12, width);
    }
    help_options(out, &table, values.bytes, width);
    if (command->examples) fputs("\nExamples:\n", out);
    for (const char *const *e = command->examples; e && *e; e += 2) {
        fputs("  ", out);
        cmd_wrap(out, e[0], 2, 2, width);
        fprintf(out, "    %s\n", e[1]);
    }
    fputc('\n', out);
    cmd_wrap(out, "'glslines help' lists commands, topics of the manual and exit codes.", 0, 0, width);
}

/* Prints a text as a cell of a Markdown table: on one line, with escapes. */
static void markdown_cell(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|' || *text == '<' || *text == '*' || *text == '\\') fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* Prints an option as a row of a Markdown table. */
static void markdown_option(FILE *out, const gls_option *option, const void *values)
{
    char head[256], range[128], fallback[256];
    option_head(option, head, sizeof head);
    gls_option_range_text(option, range, sizeof range);
    cmd_default_text(option, values, fallback, sizeof fallback);
    /* the first column is the option as it is typed */
    fputs("| `", out);
    /* GitHub takes a bar in a code span for a border of the table unless it is escaped. */
    for (const char *c = head + strspn(head, " "); *c; c++) fprintf(out, "%s%c", *c == '|' ? "\\" : "", *c);
    fputs("` | ", out);
    markdown_cell(out, range);
    fputs(" | ", out);
    markdown_cell(out, fallback);
    fputs(" | ", out);
    markdown_cell(out, option->help);
    if (option->since) fprintf(out, " Since %s.", option->since);
    fputs(" |\n", out);
}

void cmd_help_markdown(FILE *out, const cmd_command *command)
{
    cmd_values values;
    cmd_table table;
    cmd_defaults_list(command, &table, &values);
    if (command->since) fprintf(out, "Since %s.\n\n", command->since);
    fputs("| option | range | default | meaning |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < table.n; i++) markdown_option(out, &table.option[i], values.bytes);
}
