/* The manual in the program: topics (src/doc, embedded at build time), and what is generated from the topics and from
 * the tables of options, such as help in the terminal, manual pages and completions of shells. */
#ifndef GLS_CMD_MANUAL_H
#define GLS_CMD_MANUAL_H

#include <stddef.h>

/* A file of src/doc. */
typedef struct manual_topic {
    const char *name; /* name of the file without suffix, in lower case */
    const char *text; /* Markdown as util/markdown.h describes it; the first line is "# TITLE" */
} manual_topic;

/* All topics in the order of src/doc/README.md. An entry without a name ends the list. Generated at build time. */
extern const manual_topic manual_topics[];

/* The functions below write to out and return false if memory runs out. The caller checks the file for errors of
 * writing. commands: all commands of the program, in the order of the help; NULL ends the list. */

enum { MANUAL_GAP = 2 /* number of blanks between columns */ };

#endif
