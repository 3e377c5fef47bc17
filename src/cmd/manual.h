/* The manual in the program: topics (src/doc, embedded at build time), and what is generated from the topics and from
 * the tables of options, such as help in the terminal, manual pages and completions of shells. */
#ifndef GLS_CMD_MANUAL_H
#define GLS_CMD_MANUAL_H

#include "options/options.h"

#include <stddef.h>

/* A file of src/doc. */
typedef struct manual_topic {
    const char *name; /* name of the file without suffix, in lower case */
    const char *text; /* Markdown as util/markdown.h describes it; the first line is "# TITLE" */
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
/* Writes completions for bash. "glslines help installation" says where files of completions belong. */
bool manual_write_bash(FILE *out, const cmd_command *const *commands);
/* Writes completions for zsh. */
bool manual_write_zsh(FILE *out, const cmd_command *const *commands);
/* Writes completions for fish. */
bool manual_write_fish(FILE *out, const cmd_command *const *commands);

enum { MANUAL_GAP = 2 /* number of blanks between columns */ };

/* n cells as plain text, without Markdown. Free with manual_free_cells(), which accepts NULL. */
char **manual_plain_cells(char *const *cells, size_t n);
/* Frees n cells. cells may be NULL. */
void manual_free_cells(char **cells, size_t n);

/* Chooses widths of columns: as wide as the cells, then the widest columns are made narrower until a row, with
 * gaps between its columns, fits into width characters. Returns false if the longest words alone do not fit. */
bool manual_fit_columns(char *const *cells, size_t rows, size_t columns, size_t width, size_t *column_width);

#endif
