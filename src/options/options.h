/* Command lines from tables of options. The rows of a command (util/option.h) give name, kind, unit, range and text of
 * each option. Parsing, checks of ranges, --help, manual pages, completions and the tables in src/doc/options.md follow
 * from the rows. The parser writes values into structs of the library. The initial values of these structs are the
 * defaults that the help shows. */
#ifndef GLS_OPTIONS_OPTIONS_H
#define GLS_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/option.h"

struct cJSON;

/* How progress is shown: the words of --progress, in order. */
typedef enum cmd_progress_mode {
    CMD_PROGRESS_AUTO, /* a bar on a terminal, lines elsewhere */
    CMD_PROGRESS_BAR,
    CMD_PROGRESS_PLAIN,
    CMD_PROGRESS_JSON,
    CMD_PROGRESS_NONE
} cmd_progress_mode;
#define CMD_PROGRESS_CHOICES "auto|bar|plain|json|none"

/* First member of the values of every command. */
typedef struct cmd_common {
    /* print the help and end */
    bool help;
    /* no messages but warnings and errors */
    bool quiet;
    /* number of times that -v was given */
    int verbose;
    int progress; /* a cmd_progress_mode */
    const char *progress_file;
    int nthreads; /* 0: automatic */
    bool notify;
    const char *output; /* value of --output in commands whose last argument names the output; NULL: not given */
} cmd_common;

/* Largest number of arguments that are not options. */
#define CMD_MAX_POSITIONALS 4096 /* enough for the shards of a run */
/* Largest number of options of a command, with the options that all commands share. */
#define CMD_MAX_OPTIONS 192

/* All options of a command. The common options come last. Offsets count from the start of the command's values. */
typedef struct cmd_table {
    /* the options of the command itself, then those that all commands share */
    gls_option option[CMD_MAX_OPTIONS];
    size_t n_own, n; /* n_own: without the common options; n: with them */
} cmd_table;

typedef struct cmd_command cmd_command;

/* A parsed command line. */
typedef struct cmd_arguments {
    /* the command that was named */
    const cmd_command *command;
    /* the options of that command */
    cmd_table table;
    bool given[CMD_MAX_OPTIONS];  /* for each option of the table, by its index: whether it was given */
    bool random[CMD_MAX_OPTIONS]; /* the value of a GLS_KIND_SEED is "random": the command must draw it */
    const char *positional[CMD_MAX_POSITIONALS];
    /* number of elements of `positional` */
    int n_positionals;
    char taken[512];    /* a line for each option or value of another program: what it was taken for */
    char warnings[256]; /* warnings about the command line, one a line */
    int argc;           /* the whole command line */
    char **argv;
} cmd_arguments;

/* Rows of a command, and the offset in its values of the struct that they fill. */
typedef struct cmd_rows {
    const gls_option *table; /* NULL ends the list */
    /* offset of the struct in the values of the command */
    size_t at;
    const char *group; /* NULL: the group of each row */
    unsigned owners;   /* for rows of glslines/params.def: bits of the owners whose rows are used; 0: all */
} cmd_rows;
/* Largest number of lists of rows from which the table of a command is made. */
#define CMD_MAX_ROWS 4

/* A list of texts that NULL ends. */
#define CMD_TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct cmd_command {
    /* the word that names the command on the command line */
    const char *name;
    const char *synopsis;    /* text after "glslines NAME", e.g. "DIR [options]" */
    const char *summary;     /* what the command does, in one line */
    const char *description; /* paragraphs, separated by '\n' */
    /* pairs of name and text, NULL-terminated; NULL: none. Is the last name OUT, PREFIX or DIR, then it may also be
     * given as --output, and where the command has a row "output", OUT may be given in place of this row. */
    const char *const *positionals;
    int max_positionals;
    /* for a command with a row "output" and any number of inputs: suffixes, separated by blanks, by which the last
     * argument is known as OUT; NULL: OUT is known by the number of arguments */
    const char *out_suffixes;
    /* tables of options, and a last one that is empty */
    cmd_rows rows[CMD_MAX_ROWS + 1];
    const char *const *aliases;  /* pairs of an alternative name and an option's name, NULL-terminated: accepted but not
                                    listed; NULL: none */
    const char *const *examples; /* pairs of description and command line, NULL-terminated */
    const struct cmd_command *behind;   /* the command whose options follow "--"; NULL: none */
    const void *work;                   /* data for run() that is specific to the command; NULL: none */
    size_t values_size;                 /* size of the struct that begins with cmd_common; at most CMD_MAX_VALUES */
    void (*set_defaults)(void *values); /* called on a zeroed struct */
    int (*run)(void *values, const cmd_arguments *arguments); /* returns an exit code */
};
/* Members of a command called NAME: its values have the type NAME_values, set_NAME_defaults() sets their defaults, and
 * run_NAME() runs the command. */
#define CMD_ENTRY(name_) \
    .name = #name_, .values_size = sizeof(name_##_values), .set_defaults = set_##name_##_defaults, .run = run_##name_
/* Defines the values of a command whose options are one struct of the library, `type`: NAME_values with the member `o`,
 * and set_NAME_defaults(), which sets `o` to `initial`. */
#define CMD_VALUES(name, type, initial)             \
    typedef struct name##_values {                  \
        cmd_common common;                          \
        type o;                                     \
    } name##_values;                                \
    static void set_##name##_defaults(void *values) \
    {                                               \
        ((name##_values *)values)->o = initial;     \
    }
/* Largest size of the struct with the values of a command, bytes. */
#define CMD_MAX_VALUES 8192

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

/* Parses argv[first ...] into values and arguments. On failure writes one line, without a line end, to error and
 * returns false. */
bool cmd_options_parse(const cmd_command *command, int argc, char **argv, int first, void *values,
                       cmd_arguments *arguments, char *error, size_t error_size);

/* Logs the warnings about the command line and, without --quiet, what words of other programs were taken for. */
void cmd_options_log(const cmd_arguments *arguments);

/* Whether an option was on the command line. name must be in the command's table. */
bool cmd_options_given(const cmd_arguments *arguments, const char *name);
/* The first of the options names[] (NULL-terminated) that was given; NULL: none. */
const char *cmd_options_first(const cmd_arguments *arguments, const char *const *names);
/* Whether the option was given with the value "random". */
bool cmd_options_random(const cmd_arguments *arguments, const char *name);
/* Adds an entry for each option of the command, without the options that all commands share. The key contains the
 * unit. */
void cmd_options_json(struct cJSON *object, const cmd_arguments *arguments, const void *values);

/* Returns the words to type after "glslines" in place of another program, mostly the name of a command. NULL: glslines
 * has no counterpart. */
const char *cmd_bridge_command(const char *program);
/* The counterpart of an option of another program. */
typedef struct cmd_bridged {
    /* what does the same in glslines, mostly an option; "unneeded: " and why the flag can be left out, or
     * "unneeded with its value: "; "nothing: " or
     * "no option: " and why there is no counterpart; NULL: the option is not known */
    const char *here;
    /* name of a command with the option `here`: the command in use, if it has a counterpart, else another command */
    const char *command;
} cmd_bridged;
/* Finds the counterpart of the option `name`, without dashes, that was given to a command. table: its options. */
cmd_bridged cmd_bridge_option(const char *command, const cmd_table *table, const char *name);
/* Returns the counterpart in glslines of a value of another program, as text for a message; NULL: none is known, or the
 * counterpart is an option that the command in use lacks. */
const char *cmd_bridge_value(const cmd_table *table, const char *option, const char *value);
/* The value of glslines that replaces a value of another program, such as "SD_STREAM"; NULL: none does. */
const char *cmd_bridge_word(const char *option, const char *value);
/* Writes the default as the help shows it, from the initial values; "" if there is none. */
void cmd_default_text(const gls_option *option, const void *values, char *buffer, size_t size);

/* Writes " [range; default: x]"; "" if there is neither. */
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
