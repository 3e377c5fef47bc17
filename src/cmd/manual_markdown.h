/* The part of Markdown in which the manual (src/doc) is written: blocks and, inside them, spans. Headings with #,
 * paragraphs, lists of one level, fenced code, tables, comments of one line; `code`, **strong**, *emphasis*,
 * [links](target), <br> in tables, and a backslash before a character that means nothing else. */
#ifndef GLS_CMD_MANUAL_MARKDOWN_H
#define GLS_CMD_MANUAL_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
