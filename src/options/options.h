/* Table-driven options. One table per command gives the name, type, unit, range and text of every option; from it come
 * parsing, range checks, --help, manual pages, completions and the Markdown tables of src/doc/options.md. Values go
 * into a struct of the command, whose initial contents are the defaults that the help shows. */
#ifndef GLS_OPTIONS_OPTIONS_H
#define GLS_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "workflow/rows.h"

/* What an option takes, and the C type of its field. */
typedef enum cmd_type {
    CMD_FLAG,    /* nothing: bool */
    CMD_COUNT,   /* nothing, may be repeated: int */
    CMD_INT,     /* int */
    CMD_UINT64,  /* uint64_t */
    CMD_SEED,    /* a uint64_t or "random": cmd_seed */
    CMD_DOUBLE,  /* double */
    CMD_LENGTH,  /* a number with an optional suffix vox or mm: cmd_length */
    CMD_NUMBERS, /* several numbers, apart or with commas: cmd_numbers */
    CMD_STRINGS, /* one each time it is given: gls_strings */
    CMD_STRING,  /* const char *, NULL where not given */
    CMD_CHOICE   /* one of the words of choices: int, its place in the list */
} cmd_type;

struct cJSON;

typedef gls_length cmd_length;

typedef struct cmd_seed {
    uint64_t value;
    bool random; /* the caller has to draw value */
} cmd_seed;

#define CMD_MAX_NUMBERS GLS_MAX_NUMBERS
typedef gls_numbers cmd_numbers;

typedef struct cmd_option {
    const char *group; /* heading in the help; options of a group are neighbours */
    const char *name;  /* without dashes */
    char letter;       /* short form, 0: none */
    cmd_type type;
    const char *metavar; /* CMD_CHOICE: NULL, or a word in place of a list of choices that is too long for a line;
                            CMD_STRING: [FILE.html] may be left out, which gives ""; a number: so may [L=0.1],
                            which gives 0.1; CMD_STRINGS: LABEL ... takes all words up to the next option, if it
                            stands behind the arguments */
    const char *unit;    /* shown with range and default; NULL: none */
    const char *like;    /* NULL, or the row of glslines/params.def whose range it has */
    double min, max;     /* numeric types; INFINITY: no bound */
    bool min_open;       /* min itself is not allowed */
    bool integral;       /* CMD_NUMBERS: whole numbers only */
    int min_values, max_values; /* CMD_NUMBERS */
    const char *choices;        /* CMD_CHOICE: "a|b|c" */
    size_t offset;              /* of the field in the command's struct */
    const char *default_text;   /* in place of the field's initial value; "" shows no default */
    const char *help;
} cmd_option;

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

/* What a command line gave. */
typedef struct cmd_arguments {
    const char *positional[CMD_MAX_POSITIONALS];
    int n_positionals;
    bool given[CMD_MAX_OPTIONS]; /* by place in the command's own table */
    char taken[512];             /* words of other programs and what they were taken for, a line each */
    int argc;                    /* the whole command line */
    char **argv;
} cmd_arguments;

/* What stands here for options of other programs and for their values; NULL: nothing does. An option whose text starts
 * with "unneeded: " is a flag that is left out without harm. word is the value of a choice that a value of theirs is
 * taken for, NULL where value() is said in an error. */
typedef struct cmd_hints {
    const char *(*option)(const char *name);
    const char *(*value)(const char *option, const char *value);
    const char *(*word)(const char *option, const char *value);
} cmd_hints;

typedef struct cmd_command cmd_command;
struct cmd_command {
    const char *name;
    const char *synopsis;           /* after "glslines NAME", e.g. "DIR [options]" */
    const char *summary;            /* one line */
    const char *description;        /* paragraphs, '\n' between them */
    const char *const *positionals; /* pairs of name and text, NULL-terminated; NULL: none */
    int max_positionals;
    const cmd_option *options;          /* an entry without a name ends it */
    const char *const *aliases;         /* pairs of another name and an option's, NULL-terminated: taken, not listed;
                                           NULL: none */
    const char *const *examples;        /* pairs of what and command line, NULL-terminated */
    const cmd_hints *hints;             /* NULL: none */
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

/* The options that every command has (-q -v -h), in a table of their own. */
extern const cmd_option cmd_common_options[];

/* The first of these options, up to NULL, that was given, or NULL. */
const char *cmd_options_first(const cmd_command *command, const cmd_arguments *arguments, const char *const *names);

/* Parses argv[first ..] into values and arguments. On failure writes one line without line end to error and returns
 * false. */
bool cmd_options_parse(const cmd_command *command, int argc, char **argv, int first, void *values,
                       cmd_arguments *arguments, char *error, size_t error_size);

/* Entries of a table. */
size_t cmd_options_count(const cmd_option *table);

/* Whether the option of this name stood on the command line; the name must be in the command's table. */
bool cmd_options_given(const cmd_command *command, const cmd_arguments *arguments, const char *name);

/* The word of words[] nearest to text, or NULL where none is near enough for a suggestion. */
const char *cmd_nearest(const char *text, const char *const *words, size_t n);

/* "at least 1 mm", "more than 0 and at most 90 degrees"; "" without bounds. */
void cmd_range_text(const cmd_option *option, char *buffer, size_t size);

/* Default of an option as the help shows it, from the initial values; "" for none. */
void cmd_default_text(const cmd_option *option, const void *values, char *buffer, size_t size);

/* " [range; default: x]", or "" where there is neither. */
void cmd_option_brackets(const cmd_option *option, const void *values, char *buffer, size_t size);

/* Help of a command at this width, and its Markdown table. */
void cmd_help(FILE *out, const cmd_command *command, int width);
void cmd_help_markdown(FILE *out, const cmd_command *command);
/* An entry for each option of the command, its unit in the key. */
void cmd_options_json(struct cJSON *object, const cmd_command *command, const void *values);
/* Text in lines of at most width columns, the first at column (already there), the others after indent blanks. */
void cmd_wrap(FILE *out, const char *text, int column, int indent, int width);
/* Columns of the terminal behind stream, or of COLUMNS, or 80; within 60 .. 120. */
int cmd_terminal_width(FILE *stream);

#endif
