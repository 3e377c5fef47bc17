/* The manual in the program: topics (src/doc, embedded at build time), and what is generated from the topics and from
 * the tables of options, such as help in the terminal, manual pages and completions of shells. */
#ifndef GLS_CMD_MANUAL_H
#define GLS_CMD_MANUAL_H

#include "options/options.h"

#include <stddef.h>

/* A file of src/doc. */
typedef struct manual_topic {
    const char *name; /* name of the file without suffix, in lower case */
    const char *text; /* Markdown as described above md_visitor; the first line is "# TITLE" */
} manual_topic;

/* All topics in the order of src/doc/README.md. An entry without a name ends the list. Generated at build time. */
extern const manual_topic manual_topics[];

/* The topic whose name is the first n characters of name. NULL: none. */
const manual_topic *manual_topic_find(const char *name, size_t n);
/* Writes the title of a topic to buffer and returns buffer. */
const char *manual_topic_title(const manual_topic *topic, char *buffer, size_t size);
/* The topic that a link target such as "seeds.md" leads to. NULL: the target is not a topic. */
const manual_topic *manual_link_topic(const char *target, size_t n);

/* The functions below write to out and return false if memory runs out. The caller checks the file for errors of
 * writing. commands: all commands of the program, in the order of the help; NULL ends the list. */

/* Writes a topic as text of at most width columns; lines of code may be longer. bold: headings in bold. */
bool manual_write_text(FILE *out, const manual_topic *topic, int width, bool bold);
/* Writes the manual page of a topic in man(7), for section 7. */
bool manual_write_topic_page(FILE *out, const manual_topic *topic);
/* Writes the manual page of a command, for section 1. */
bool manual_write_command_page(FILE *out, const cmd_command *command);
/* Writes the manual page of the program, which lists commands and topics, for section 1. */
bool manual_write_overview_page(FILE *out, const cmd_command *const *commands);
/* Writes a command or a topic as JSON. If both are NULL, writes all commands, topics and exit codes. */
bool manual_write_json(FILE *out, const cmd_command *const *commands, const cmd_command *command,
                       const manual_topic *topic);
/* Writes completions for bash. "glslines help installation" says where files of completions belong. */
bool manual_write_bash(FILE *out, const cmd_command *const *commands);
/* Writes completions for zsh. */
bool manual_write_zsh(FILE *out, const cmd_command *const *commands);
/* Writes completions for fish. */
bool manual_write_fish(FILE *out, const cmd_command *const *commands);

/* The part of Markdown that src/doc uses. Blocks: headings with #, paragraphs, lists of one level, fenced code, tables,
 * comments of one line. Spans in blocks: `code`, **strong**, *emphasis*, [links](target), <br> in tables, and a
 * backslash before a character that shall stand for itself. */
/* Receives the blocks of a text in order. Texts are valid during the call. They contain spans, except text of code. */
typedef struct md_visitor {
    /* level: number of # */
    void (*heading)(void *user, int level, const char *text);
    /* one paragraph, its lines joined by blanks */
    void (*paragraph)(void *user, const char *text);
    void (*item)(void *user, const char *label, const char *text); /* label: "-" or a number with a dot, "1." */
    void (*code)(void *user, const char *line);                    /* one line of code; NULL ends the block */
    void (*table)(
        void *user, char *const *cells, size_t rows,
        size_t columns); /* rows x columns texts, row by row; row 0 is the heading; up to MANUAL_MAX_COLUMNS columns */
} md_visitor;

/* Passes the blocks of text to visitor. Returns false if memory runs out. */
bool md_walk(const char *text, const md_visitor *visitor, void *user);

typedef enum md_span_kind { MD_TEXT, MD_CODE, MD_STRONG, MD_EMPHASIS, MD_LINK } md_span_kind;

/* A piece of a line in one style. */
typedef struct md_span {
    /* kind of the span */
    md_span_kind kind;
    /* start of the text in the line; the text is not ended by NUL */
    const char *text;
    /* bytes of the text */
    size_t n;
    const char *target; /* MD_LINK: target of the link, n_target bytes without NUL; else NULL */
    size_t n_target;
} md_span;

/* Takes the next span from *text. Returns false at the end. */
bool md_next_span(const char **text, md_span *span);

/* Limits of tables. */
enum {
    MANUAL_MAX_COLUMNS = 24, /* largest number of cells of a row; further cells are dropped */
    MANUAL_GAP = 2           /* number of blanks between columns */
};

/* n cells as plain text, without Markdown. Free with manual_free_cells(), which accepts NULL. */
char **manual_plain_cells(char *const *cells, size_t n);
/* Frees n cells. cells may be NULL. */
void manual_free_cells(char **cells, size_t n);

/* Chooses widths of columns: as wide as the cells, then the widest columns are made narrower until a row fits into
 * width characters. Returns false if the longest words alone do not fit. */
bool manual_fit_columns(char *const *cells, size_t rows, size_t columns, size_t width, size_t *column_width);

#endif
