/* The manual inside the program: topics (src/doc, embedded), and what is generated from them and from the tables of
 * options: help in the terminal, manual pages, completions of shells. */
#ifndef GLS_CMD_MANUAL_H
#define GLS_CMD_MANUAL_H

#include "options/options.h"

#include <stddef.h>

/* A file of src/doc. */
typedef struct manual_topic {
    const char *name; /* the file's, without suffix, in lower case */
    const char *text; /* Markdown, see below; the first line is "# " and the title */
} manual_topic;

/* In the order of src/doc/README.md; an entry without a name ends it. Generated at build time. */
extern const manual_topic manual_topics[];

/* NULL where there is none. n characters of name count. */
const manual_topic *manual_topic_find(const char *name, size_t n);
/* The title of a topic; buffer holds it and is returned. */
const char *manual_topic_title(const manual_topic *topic, char *buffer, size_t size);
/* The topic to which a link target such as "seeds.md" leads, or NULL: a target that is no topic. */
const manual_topic *manual_link_topic(const char *target, size_t n);

/* What follows writes to out and returns false where memory ran out; errors of the file are left to its owner. */

/* A topic as text of at most width columns, code lines excepted; headings in bold where bold is true. */
bool manual_write_text(FILE *out, const manual_topic *topic, int width, bool bold);
/* Manual pages in man(7): a topic (section 7), a command, and the program itself (both section 1). */
bool manual_write_topic_page(FILE *out, const manual_topic *topic);
bool manual_write_command_page(FILE *out, const cmd_command *command);
bool manual_write_overview_page(FILE *out);
/* A command, a topic, or with both NULL all commands, topics and exit codes, as JSON. */
bool manual_write_json(FILE *out, const cmd_command *command, const manual_topic *topic);
/* Completions; the files belong where the shell looks for them, see "glslines help installation". */
bool manual_write_bash(FILE *out);
bool manual_write_zsh(FILE *out);
bool manual_write_fish(FILE *out);

/* Writes all manual pages and completions under directory, in the folders of /usr/share. Returns an exit code. */
int manual_write_files(const char *directory);

/* The part of Markdown in which the manual (src/doc) is written: blocks and, inside them, spans. Headings with #,
 * paragraphs, lists of one level, fenced code, tables, comments of one line; `code`, **strong**, *emphasis*,
 * [links](target), <br> in tables, and a backslash before a character that means nothing else. */
/* Receives the blocks of a text in order. Strings are valid during the call and hold spans, except code. */
typedef struct md_visitor {
    void (*heading)(void *user, int level, const char *text);
    void (*paragraph)(void *user, const char *text);
    void (*item)(void *user, const char *label, const char *text); /* label: "-" or a number with a dot, "1." */
    void (*code)(void *user, const char *line);                    /* a line of a block; NULL ends the block */
    void (*table)(void *user, char *const *cells, size_t rows,
                  size_t columns); /* row by row; row 0 is the heading; up to 24 columns */
} md_visitor;

/* Hands the blocks of text to visitor. Returns false where memory ran out. */
bool md_walk(const char *text, const md_visitor *visitor, void *user);

typedef enum md_span_kind { MD_TEXT, MD_CODE, MD_STRONG, MD_EMPHASIS, MD_LINK } md_span_kind;

/* A piece of a line; not terminated. */
typedef struct md_span {
    md_span_kind kind;
    const char *text;
    size_t n;
    const char *target; /* MD_LINK */
    size_t n_target;
} md_span;

/* Takes the next span from *text; false at the end. */
bool md_next_span(const char **text, md_span *span);

/* Limits of tables, in the terminal and in manual pages. */
enum {
    MANUAL_MAX_COLUMNS = 24,
    MANUAL_GAP = 2 /* blanks between columns */
};

/* Spans without their marks; links to topics name the command that shows them. With quote, code of several words stands
 * in quotes. From malloc; NULL where memory ran out. */
char *manual_plain_text(const char *text, bool quote);
/* The same for n cells, to be freed by manual_free_cells(), which accepts NULL. */
char **manual_plain_cells(char *const *cells, size_t n);
void manual_free_cells(char **cells, size_t n);

/* Widths of columns: as the cells need, then the widest made smaller until a row fits into width characters. False
 * where even the longest words do not fit. */
bool manual_fit_columns(char *const *cells, size_t rows, size_t columns, size_t width, size_t *column_width);

#endif
