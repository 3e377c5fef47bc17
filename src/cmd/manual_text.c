/* Topics of the manual: titles, links, plain text, widths of columns of tables; topics as text for a terminal. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/manual_text.h"
#include "cmd/manual.h"
#include "options/help.h"
#include "util/markdown.h"
#include "util/text.h"

const manual_topic *manual_topic_find(const char *name, size_t n)
{
    for (const manual_topic *topic = manual_topics; topic->name; topic++)
        if (strlen(topic->name) == n && strncmp(topic->name, name, n) == 0) return topic;
    return NULL;
}

const char *manual_topic_title(const manual_topic *topic, char *buffer, size_t size)
{
    const char *title = topic->text + strspn(topic->text, "# ");
    snprintf(buffer, size, "%.*s", (int)strcspn(title, "\n"), title);
    return buffer;
}

const manual_topic *manual_link_topic(const char *target, size_t n)
{
    char name[64];
    size_t length = strcspn(target, "#)");
    if (length > n) length = n;
    if (length < 4 || length >= sizeof name || memcmp(target + length - 3, ".md", 3) != 0) return NULL;
    length -= 3;
    for (size_t i = 0; i < length; i++) name[i] = (char)gls_to_lower((unsigned char)target[i]);
    return manual_topic_find(name, length);
}

/* The text without marks of spans. Links to topics name the command that shows the topic. quote: code of several words
 * stands in quotes. From malloc; NULL: out of memory. */
static char *plain_text(const char *text, bool quote)
{
    char *plain = NULL;
    size_t size;
    FILE *out = open_memstream(&plain, &size);
    gls_md_span span;
    if (!out) return NULL;
    while (gls_md_next_span(&text, &span)) {
        const manual_topic *topic = span.kind == GLS_MD_LINK ? manual_link_topic(span.target, span.n_target) : NULL;
        if (topic)
            fprintf(out, "%.*s ('glslines help %s')", (int)span.n, span.text, topic->name);
        else if (span.kind == GLS_MD_LINK && strncmp(span.target, "https://", 8) == 0)
            fprintf(out, "%.*s (%.*s)", (int)span.n, span.text, (int)span.n_target, span.target);
        else if (quote && span.kind == GLS_MD_CODE && memchr(span.text, ' ', span.n))
            fprintf(out, memchr(span.text, '\'', span.n) ? "\"%.*s\"" : "'%.*s'", (int)span.n, span.text);
        else
            fprintf(out, "%.*s", (int)span.n, span.text);
    }
    if (fclose(out) == 0) return plain;
    free(plain);
    return NULL;
}

void manual_free_cells(char **cells, size_t n)
{
    for (size_t i = 0; cells && i < n; i++) free(cells[i]);
    free(cells);
}

char **manual_plain_cells(char *const *cells, size_t n)
{
    char **plain = calloc(n, sizeof *plain);
    bool complete = plain != NULL;
    for (size_t i = 0; i < n && complete; i++) complete = (plain[i] = plain_text(cells[i], false)) != NULL;
    if (complete) return plain;
    manual_free_cells(plain, n);
    return NULL;
}

/* Length in bytes of the longest word: the minimum width of a column that holds the text. */
static size_t longest_word(const char *text)
{
    size_t longest = 0;
    for (size_t n; *text; text += n, text += strspn(text, " ")) {
        n = strcspn(text, " ");
        if (n > longest) longest = n;
    }
    return longest;
}

bool manual_fit_columns(char *const *cells, size_t rows, size_t columns, size_t width, size_t *column_width)
{
    size_t min_width[GLS_MD_MAX_COLUMNS] = {0}, total = MANUAL_GAP * (columns - 1);
    for (size_t c = 0; c < columns; c++) {
        column_width[c] = 0;
        for (size_t r = 0; r < rows; r++) {
            const char *cell = cells[r * columns + c];
            assert(cell);
            size_t word = longest_word(cell);
            if (strlen(cell) > column_width[c]) column_width[c] = strlen(cell);
            if (word > min_width[c]) min_width[c] = word;
        }
        total += column_width[c];
    }
    for (; total > width; total--) {
        size_t widest = columns;
        for (size_t c = 0; c < columns; c++)
            if (column_width[c] > min_width[c] && (widest == columns || column_width[c] > column_width[widest]))
                widest = c;
        if (widest == columns) return false;
        column_width[widest]--;
    }
    return true;
}

/* --- Topics of the manual as text for a terminal. */

typedef struct page {
    FILE *out;
    /* columns of the terminal */
    int width;
    /* headings in bold, by escape sequences */
    bool bold;
    bool in_code, in_list; /* kind of the last block */
    /* a block was printed, so that an empty line separates the next one */
    bool started;
    bool failed; /* memory ran out */
} page;

/* Prints an empty line between blocks, but not between items of a list. */
static void separate(page *p, bool list)
{
    if (p->started && !(list && p->in_list)) fputc('\n', p->out);
    p->started = true;
    p->in_list = list;
}

/* Separates a block from the block before. Returns the text of the block without marks of spans, from malloc. NULL: out
 * of memory; sets p->failed. */
static char *begin_block(page *p, const char *text, bool quote, bool list)
{
    char *plain = plain_text(text, quote);
    p->failed = p->failed || !plain;
    if (plain) separate(p, list);
    return plain;
}

/* Functions of the gls_md_visitor: each prints one kind of block. user: the page. Titles (level 1) are in capitals. */
static void heading(void *user, int level, const char *text)
{
    page *p = user;
    char *plain = begin_block(p, text, false, false);
    if (!plain) return;
    if (p->bold) fputs("\033[1m", p->out);
    for (char *c = plain; level == 1 && *c; c++) *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    cmd_wrap(p->out, plain, 0, 0, p->width);
    if (p->bold) fputs("\033[0m", p->out);
    free(plain);
}

static void paragraph(void *user, const char *text)
{
    page *p = user;
    char *plain = begin_block(p, text, true, false);
    if (plain) cmd_wrap(p->out, plain, 0, 0, p->width);
    free(plain);
}

/* Prints an item of a list; its further lines begin under the first word. */
static void item(void *user, const char *label, const char *text)
{
    page *p = user;
    char *plain = begin_block(p, text, true, true);
    if (!plain) return;
    int column = fprintf(p->out, "  %s ", label);
    cmd_wrap(p->out, plain, column, column, p->width);
    free(plain);
}

/* Prints a line of code, indented and never wrapped; NULL ends the block. */
static void code(void *user, const char *line)
{
    page *p = user;
    if (line && !p->in_code) separate(p, false);
    if (line) fprintf(p->out, *line ? "    %s\n" : "\n", line);
    p->in_code = line != NULL;
}

/* Number of bytes in the line of at most `width` that begins at text: whole words, or a piece of a long word. */
static size_t line_length(const char *text, size_t width)
{
    size_t end = 0, n = 0;
    while (text[n]) {
        n += strcspn(text + n, " ");
        if (n > width) return end > 0 ? end : width;
        end = n;
        n += strspn(text + n, " ");
    }
    return end;
}

/* Writes a row of a table; cells that are wider than their column continue on further lines. */
static void write_row(FILE *out, char *const *cells, size_t columns, const size_t *column_width)
{
    const char *rest[GLS_MD_MAX_COLUMNS];
    bool more = true;
    for (size_t c = 0; c < columns; c++) rest[c] = cells[c];
    while (more) {
        size_t pending = 0; /* number of blanks to write before the next cell, if it has text */
        more = false;
        for (size_t c = 0; c < columns; c++) {
            size_t n = line_length(rest[c], column_width[c]);
            if (n > 0) fprintf(out, "%*s%.*s", (int)pending, "", (int)n, rest[c]);
            pending = (n > 0 ? 0 : pending) + column_width[c] - n + MANUAL_GAP;
            rest[c] += n;
            rest[c] += strspn(rest[c], " ");
            more = more || *rest[c];
        }
        fputc('\n', out);
    }
}

/* Prints a table that is too wide for the terminal: each row becomes a list of its cells. */
static void write_records(const page *p, char *const *cells, size_t rows, size_t columns)
{
    for (size_t r = 1; r < rows; r++) {
        cmd_wrap(p->out, cells[r * columns], 0, 2, p->width);
        for (size_t c = 1; c < columns; c++) {
            if (!*cells[r * columns + c]) continue;
            bool named = columns > 2 && *cells[c];
            int column = fprintf(p->out, "    %s%s", named ? cells[c] : "", named ? ": " : "");
            cmd_wrap(p->out, cells[r * columns + c], column, 6, p->width);
        }
    }
}

/* Prints a table in columns, or as records where the columns do not fit the terminal. Row 0 is the heading; a table
 * whose heading is empty is printed without one. */
static void table(void *user, char *const *cells, size_t rows, size_t columns)
{
    page *p = user;
    size_t column_width[GLS_MD_MAX_COLUMNS];
    char **plain = manual_plain_cells(cells, rows * columns);
    bool titled = false;
    if (plain) {
        separate(p, false);
        for (size_t c = 0; c < columns; c++) {
            assert(plain[c]);
            titled = titled || *plain[c];
        }
        if (!manual_fit_columns(plain, rows, columns, (size_t)p->width, column_width)) {
            write_records(p, plain, rows, columns);
        } else {
            if (titled) write_row(p->out, plain, columns, column_width);
            for (size_t c = 0; c < columns && titled; c++) {
                for (size_t i = 0; i < column_width[c]; i++) fputc('-', p->out);
                if (c + 1 < columns) fprintf(p->out, "%*s", MANUAL_GAP, "");
            }
            if (titled) fputc('\n', p->out);
            for (size_t r = 1; r < rows; r++) write_row(p->out, plain + r * columns, columns, column_width);
        }
    }
    p->failed = p->failed || !plain;
    manual_free_cells(plain, rows * columns);
}

bool manual_write_text(FILE *out, const manual_topic *topic, int width, bool bold)
{
    static const gls_md_visitor visitor = {heading, paragraph, item, code, table};
    page p = {.out = out, .width = width, .bold = bold};
    return gls_md_walk(topic->text, &visitor, &p) && !p.failed;
}
