/* The manual inside the program: topics (src/doc, embedded), and what is generated from them and from the tables of
 * options: help in the terminal, manual pages, completions of shells. */
#ifndef GLS_CMD_MANUAL_H
#define GLS_CMD_MANUAL_H

#include "options/options.h"

#include <stddef.h>

/* A file of src/doc. */
typedef struct manual_topic {
    const char *name; /* the file's, without suffix, in lower case */
    const char *text; /* Markdown, see manual_markdown.h; the first line is "# " and the title */
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

#endif
