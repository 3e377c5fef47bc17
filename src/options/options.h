/* Command lines from tables of options. The rows of a command (util/option.h) give the name, kind, unit, range and text
 * of every option; from them come parsing, checks of ranges, --help, manual pages, completions and the Markdown tables
 * of src/doc/options.md. Values go straight into structs of the library, whose initial contents are the defaults that
 * the help shows. */
#ifndef GLS_OPTIONS_OPTIONS_H
#define GLS_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/option.h"

struct cJSON;

/* Where progress goes: the words of --progress, in their order. */
typedef enum cmd_progress_mode {
    CMD_PROGRESS_AUTO, /* a bar on a terminal, else lines */
    CMD_PROGRESS_BAR,
    CMD_PROGRESS_PLAIN,
    CMD_PROGRESS_JSON,
    CMD_PROGRESS_NONE
} cmd_progress_mode;
#define CMD_PROGRESS_CHOICES "auto|bar|plain|json|none"

/* First member of the struct of every command. */
typedef struct cmd_common {
    bool help;
    bool quiet;
    int verbose;
    int progress; /* cmd_progress_mode */
    const char *progress_file;
    int nthreads; /* 0: as many as suit */
    bool notify;
} cmd_common;

#define CMD_MAX_POSITIONALS 4096 /* shards of a run */
#define CMD_MAX_OPTIONS 192

/* All options of a command, the common ones last; offsets are those in the values of the command. */
typedef struct cmd_table {
    gls_option option[CMD_MAX_OPTIONS];
    size_t n_own, n; /* without the common ones, and with them */
} cmd_table;

/* What a command line gave. */
typedef struct cmd_arguments {
    cmd_table table;
    bool given[CMD_MAX_OPTIONS];  /* by place in the table */
    bool random[CMD_MAX_OPTIONS]; /* a GLS_KIND_SEED was "random": the command has to draw it */
    const char *positional[CMD_MAX_POSITIONALS];
    int n_positionals;
    char taken[512]; /* words of other programs and what they were taken for, a line each */
    int argc;        /* the whole command line */
    char **argv;
} cmd_arguments;

/* Rows of a command, and where the struct that they fill lies in its values. */
typedef struct cmd_rows {
    const gls_option *table; /* NULL ends the list */
    size_t at;
    const char *group; /* NULL: that of each row */
    unsigned owners;   /* of glslines/params.def: only rows of these; 0: all rows */
} cmd_rows;
#define CMD_MAX_ROWS 4

typedef struct cmd_command cmd_command;
struct cmd_command {
    const char *name;
    const char *synopsis;           /* after "glslines NAME", e.g. "DIR [options]" */
    const char *summary;            /* one line */
    const char *description;        /* paragraphs, '\n' between them */
    const char *const *positionals; /* pairs of name and text, NULL-terminated; NULL: none */
    int max_positionals;
    cmd_rows rows[CMD_MAX_ROWS + 1];
    const char *const *aliases;         /* pairs of another name and an option's, NULL-terminated: taken, not listed;
                                           NULL: none */
    const char *const *examples;        /* pairs of what and command line, NULL-terminated */
    const void *work;                   /* what run() needs to know of this command; NULL: nothing */
    size_t values_size;                 /* of the struct that starts with cmd_common; at most CMD_MAX_VALUES */
    void (*set_defaults)(void *values); /* on a zeroed struct */
    int (*run)(const cmd_command *command, void *values, const cmd_arguments *arguments); /* returns an exit code */
};
#define CMD_MAX_VALUES 8192

/* Storage for the options of any command. */
typedef union cmd_values {
    char bytes[CMD_MAX_VALUES];
    max_align_t align;
} cmd_values;

/* Makes the table of a command from its rows. */
void cmd_options_list(const cmd_command *command, cmd_table *table);

/* Parses argv[first ..] into values and arguments. On failure writes one line without line end to error and returns
 * false. */
bool cmd_options_parse(const cmd_command *command, int argc, char **argv, int first, void *values,
                       cmd_arguments *arguments, char *error, size_t error_size);

/* Whether the option of this name stood on the command line; the name must be in the command's table. */
bool cmd_options_given(const cmd_arguments *arguments, const char *name);
/* The first of these options, up to NULL, that was given, or NULL. */
const char *cmd_options_first(const cmd_arguments *arguments, const char *const *names);
/* Whether it was given as "random". */
bool cmd_options_random(const cmd_arguments *arguments, const char *name);
/* An entry for each option of the command, its unit in the key. */
void cmd_options_json(struct cJSON *object, const cmd_arguments *arguments, const void *values);

/* The command here that does the work of another program; NULL: none. */
const char *cmd_bridge_command(const char *program);
/* What stands here for an option of another program, and in which command: this one, or, where its table has nothing of
 * the kind, another. A text that starts with "unneeded: " is that of a flag that is left out without harm, one that
 * starts with "nothing: " that of an option without a counterpart. */
typedef struct cmd_bridged {
    const char *here, *command; /* NULL: no such option is known */
} cmd_bridged;
cmd_bridged cmd_bridge_option(const char *command, const cmd_table *table, const char *name);
/* What is said of a value of another program, NULL: nothing; the word that it is taken for, NULL: it is refused. */
const char *cmd_bridge_value(const cmd_table *table, const char *option, const char *value);
const char *cmd_bridge_word(const char *option, const char *value);
/* Warns of each variable of the environment whose name begins with GLSLINES_ and that the program does not know. */
void cmd_environment_check(void);

/* The word of words[] nearest to text, or NULL where none is near enough for a suggestion. */
const char *cmd_nearest(const char *text, const char *const *words, size_t n);

/* "at least 1 mm", "more than 0 and at most 90 degrees"; "" without bounds. */
void cmd_range_text(const gls_option *option, char *buffer, size_t size);

/* Default of an option as the help shows it, from the initial values; "" for none. */
void cmd_default_text(const gls_option *option, const void *values, char *buffer, size_t size);

/* " [range; default: x]", or "" where there is neither. */
void cmd_option_brackets(const gls_option *option, const void *values, char *buffer, size_t size);

/* Whether a heading stands above this option. */
bool cmd_begins_group(const cmd_table *table, size_t i);
/* Help of a command at this width, and its Markdown table. */
void cmd_help(FILE *out, const cmd_command *command, int width);
void cmd_help_markdown(FILE *out, const cmd_command *command);
/* Text in lines of at most width columns, the first at column (already there), the others after indent blanks. */
void cmd_wrap(FILE *out, const char *text, int column, int indent, int width);
/* Columns of the terminal behind stream, or of COLUMNS, or 80; within 60 .. 120. */
int cmd_terminal_width(FILE *stream);

#endif
