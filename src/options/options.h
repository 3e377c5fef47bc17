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
    const char *since;       /* the version that first had the command; NULL: 0.1.0 */
    /* pairs of name and text, NULL-terminated; NULL: none. Is the last name OUT, PREFIX or DIR, then it may also be
     * given as --output, and where the command has a row "output", OUT may be given in place of this row. */
    const char *const *positionals;
    int max_positionals;
    bool of_tractograms; /* shells complete arguments as names of tractograms; false: of any files */
    /* for a command with a row "output" and any number of inputs: suffixes, separated by blanks, by which the last
     * argument is known as OUT; NULL: OUT is known by the number of arguments */
    const char *out_suffixes;
    int writes;   /* for a command without a row "output": what OUT is the name of, bits of gls_writes */
    int out_step; /* how many arguments behind an OUT the next one stands; 0: there is one OUT, the last argument */
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

#endif
