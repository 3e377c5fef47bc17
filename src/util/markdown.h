/* The part of Markdown that the manual uses: finds the blocks of a text, and the spans of a block. */
#ifndef GLS_UTIL_MARKDOWN_H
#define GLS_UTIL_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

/* Largest number of cells of a row of a table; further cells are dropped. */
enum { GLS_MD_MAX_COLUMNS = 24 };

/* The part of Markdown that src/doc uses. Blocks: headings with #, paragraphs, lists of one level, fenced code, tables,
 * comments of one line. Spans in blocks: `code`, **strong**, *emphasis*, [links](target), <br> in tables, and a
 * backslash before a character that shall stand for itself. */
/* Receives the blocks of a text in order. Texts are valid during the call. They contain spans, except text of code. */
typedef struct gls_md_visitor {
    /* level: number of # */
    void (*heading)(void *user, int level, const char *text);
    /* one paragraph, its lines joined by blanks */
    void (*paragraph)(void *user, const char *text);
    void (*item)(void *user, const char *label, const char *text); /* label: "-" or a number with a dot, "1." */
    void (*code)(void *user, const char *line);                    /* one line of code; NULL ends the block */
    void (*table)(
        void *user, char *const *cells, size_t rows,
        size_t columns); /* rows x columns texts, row by row; row 0 is the heading; up to GLS_MD_MAX_COLUMNS columns */
} gls_md_visitor;

/* Passes the blocks of text to visitor. Returns false if memory runs out. */
bool gls_md_walk(const char *text, const gls_md_visitor *visitor, void *user);

typedef enum gls_md_span_kind {
    GLS_MD_TEXT,
    GLS_MD_CODE,
    GLS_MD_STRONG,
    GLS_MD_EMPHASIS,
    GLS_MD_LINK
} gls_md_span_kind;

/* A piece of a line in one style. */
typedef struct gls_md_span {
    /* kind of the span */
    gls_md_span_kind kind;
    /* start of the text in the line; the text is not ended by NUL */
    const char *text;
    /* bytes of the text */
    size_t n;
    const char *target; /* GLS_MD_LINK: target of the link, n_target bytes without NUL; else NULL */
    size_t n_target;
} gls_md_span;

/* Takes the next span from *text. Returns false at the end. */
bool gls_md_next_span(const char **text, gls_md_span *span);

#endif
