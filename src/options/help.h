/* Tables of options of the commands, and what is generated from them: help, Markdown and entries of sidecars. */
#ifndef GLS_OPTIONS_HELP_H
#define GLS_OPTIONS_HELP_H

#include <stdio.h>

#include "options/options.h"
#include "util/option.h"

struct cJSON;

/* Largest size of the struct with the values of a command, bytes. */
#define CMD_MAX_VALUES 16384

/* Storage for the values of any command. */
typedef union cmd_values {
    /* large enough for the struct of every command */
    char bytes[CMD_MAX_VALUES];
    /* gives `bytes` the alignment that any struct needs */
    max_align_t align;
} cmd_values;

/* Name of the last argument of a command if it stands for the output: OUT, PREFIX or DIR; NULL: it does not. */
const char *cmd_output_argument(const cmd_command *command);
/* Fills the table of a command from its rows. */
void cmd_options_list(const cmd_command *command, cmd_table *table);
/* Fills the table of a command from its rows, and sets the values to the defaults of the command. */
void cmd_defaults_list(const cmd_command *command, cmd_table *table, cmd_values *values);
/* Whether an option was on the command line. name must be in the command's table. */
bool cmd_options_given(const cmd_arguments *arguments, const char *name);
/* The first of the options names[] (NULL-terminated) that was given; NULL: none. */
const char *cmd_options_first(const cmd_arguments *arguments, const char *const *names);
/* The first of the options that every command has, such as --quiet, that was given; NULL: none. */
const char *cmd_options_common(const cmd_arguments *arguments);
/* Whether the option was given with the value "random". */
bool cmd_options_random(const cmd_arguments *arguments, const char *name);
/* Adds an entry for each option of the command, without the options that all commands share. The key contains the
 * unit. */
void cmd_options_json(struct cJSON *object, const cmd_arguments *arguments, const void *values);
/* Writes the default as the help shows it, from the initial values; "" if there is none. */
void cmd_default_text(const gls_option *option, const void *values, char *buffer, size_t size);
/* Writes " [range; default: x; since 0.2.0]", or what there is of these; "" if there is none. */
void cmd_option_brackets(const gls_option *option, const void *values, char *buffer, size_t size);
/* Whether the help prints a heading above option i. */
bool cmd_begins_group(const cmd_table *table, size_t i);
/* Prints the help of a command in lines of at most `width` columns; only command lines of examples may be longer. */
void cmd_help(FILE *out, const cmd_command *command, int width);
/* Prints the options of a command as a table in Markdown, for the manual. */
void cmd_help_markdown(FILE *out, const cmd_command *command);
/* Prints text and a line end, in lines of at most `width` columns unless a single word is longer. The cursor is in
 * column `column`; further lines begin with `indent` blanks. */
void cmd_wrap(FILE *out, const char *text, int column, int indent, int width);
/* Width in columns of the terminal at `stream`, else the variable COLUMNS, else 80; at least 60, at most 120. */
int cmd_terminal_width(FILE *stream);

#endif
