/* Reads Markdown: finds the blocks of a text, and the spans of a block. */
#include "util/markdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* Length of the line at text, without its end. */
static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

/* The line after the line at `text`, or the end of the text. */
static const char *next_line(const char *text)
{
    text += line_length(text);
    return *text ? text + 1 : text;
}

/* Whether the line has blanks only. */
static bool is_blank(const char *line)
{
    return line[strspn(line, " ")] == '\n' || line[strspn(line, " ")] == '\0';
}

/* Length of "- " or "1. " at the start of a line. 0: none. */
static size_t marker_length(const char *line)
{
    size_t digits = strspn(line, "0123456789");
    if (line[0] == '-' && line[1] == ' ') return 2;
    return digits > 0 && line[digits] == '.' && line[digits + 1] == ' ' ? digits + 2 : 0;
}

/* Whether the line cannot continue a paragraph or an item of a list. */
static bool starts_block(const char *line)
{
    return is_blank(line) || *line == '#' || *line == '|' || marker_length(line) > 0 || strncmp(line, "```", 3) == 0 ||
           strncmp(line, "<!--", 4) == 0;
}

/* Joins the line at *text without its first `skip` bytes, the marker of an item, and the lines that continue the line,
 * with one blank between them. NULL: out of memory. */
static char *take_paragraph(const char **text, size_t skip)
{
    char *joined = NULL;
    size_t size;
    FILE *out = open_memstream(&joined, &size);
    if (!out) return NULL;
    for (bool first = true; **text && (first || !starts_block(*text)); first = false) {
        const char *line = *text + (first ? skip : strspn(*text, " "));
        int n = (int)line_length(line);
        while (n > 0 && line[n - 1] == ' ') n--;
        fprintf(out, "%s%.*s", first ? "" : " ", n, line);
        *text = next_line(*text);
    }
    if (fclose(out) == 0) return joined;
    free(joined);
    return NULL;
}

/* Copies the cell at *text and moves *text behind its border. *cell: NULL at the end of the line. Returns false if
 * memory runs out. */
static bool take_cell(const char **text, char **cell)
{
    const char *start = *text + strspn(*text, " "), *end = start;
    while (*end && *end != '\n' && *end != '|') end += end[0] == '\\' && end[1] == '|' ? 2 : 1;
    *cell = NULL;
    if (*end != '|') return true;
    *text = end + 1;
    while (end > start && end[-1] == ' ') end--;
    char *to = *cell = strndup(start, (size_t)(end - start));
    if (!to) return false;
    /* remove the backslash of \|, which a bar in a cell needs, also in code */
    for (const char *from = to; *from; from++)
        if (from[0] != '\\' || from[1] != '|') *to++ = *from;
    *to = '\0';
    return true;
}

/* Whether the line of a table is the one between heading and rows, such as |---|:-:|. */
static bool is_rule(const char *line)
{
    return strspn(line, "|-: ") == line_length(line);
}

/* Reads a table whose rows are lines that begin with '|', and passes its cells, row by row, to the visitor; missing
 * cells of a row are empty. Returns false if memory runs out, as take_code() and take_text() do. */
static bool take_table(const char **text, const gls_md_visitor *visitor, void *user)
{
    char **cells = NULL;
    size_t rows = 0, columns = 0, used = 0;
    bool complete = true;
    for (; **text == '|' && complete; *text = next_line(*text)) {
        if (is_rule(*text)) continue;
        char **grown = realloc(cells, (used + GLS_MD_MAX_COLUMNS) * sizeof *cells), *cell;
        complete = grown != NULL;
        if (!complete) break;
        cells = grown;
        const char *at = *text + 1;
        size_t n = 0;
        while (n < (rows ? columns : GLS_MD_MAX_COLUMNS) && (complete = take_cell(&at, &cell)) && cell)
            cells[used + n++] = cell;
        if (rows == 0) columns = n;
        for (; n < columns && complete; n++) complete = (cells[used + n] = strdup("")) != NULL;
        used += n;
        rows++;
    }
    if (complete && rows > 0) visitor->table(user, cells, rows, columns);
    for (size_t i = 0; i < used; i++) free(cells[i]);
    free(cells);
    return complete;
}

/* Reads a fenced block of code, and passes it line by line to the visitor; NULL ends it. */
static bool take_code(const char **text, const gls_md_visitor *visitor, void *user)
{
    for (*text = next_line(*text); **text && strncmp(*text, "```", 3) != 0; *text = next_line(*text)) {
        char *line = strndup(*text, line_length(*text));
        if (!line) return false;
        visitor->code(user, line);
        free(line);
    }
    visitor->code(user, NULL);
    *text = next_line(*text);
    return true;
}

/* Puts "[Picture: text]" in the place of each ![text](picture) of a paragraph, since neither a terminal nor a manual
 * page shows it. Takes ownership of the line; NULL: out of memory. */
static char *name_pictures(char *line)
{
    gls_text out = {0};
    const char *rest = line, *start, *middle, *end;
    if (!line || !strstr(line, "![")) return line;
    for (; (start = strstr(rest, "![")) && (middle = strstr(start, "](")) && (end = strchr(middle, ')'));
         rest = end + 1) {
        gls_text_append(&out, rest, (size_t)(start - rest));
        gls_text_puts(&out, "\\[Picture: ");
        gls_text_append(&out, start + 2, (size_t)(middle - start) - 2);
        gls_text_puts(&out, "\\]");
    }
    gls_text_puts(&out, rest);
    free(line);
    return gls_text_take(&out);
}

/* Reads a heading, an item of a list or a paragraph, and passes it to the visitor. */
static bool take_text(const char **text, const gls_md_visitor *visitor, void *user)
{
    char label[16] = "";
    size_t level = strspn(*text, "#"), marker = marker_length(*text);
    if (marker > 0) snprintf(label, sizeof label, "%.*s", (int)marker - 1, *text);
    char *line;
    if (level > 0) {
        size_t skip = level + strspn(*text + level, " ");
        line = strndup(*text + skip, line_length(*text + skip));
        *text = next_line(*text);
    } else {
        line = name_pictures(take_paragraph(text, marker));
    }
    if (!line) return false;
    if (level > 0)
        visitor->heading(user, (int)level, line);
    else if (marker > 0)
        visitor->item(user, label, line);
    else
        visitor->paragraph(user, line);
    free(line);
    return true;
}

bool gls_md_walk(const char *text, const gls_md_visitor *visitor, void *user)
{
    bool complete = true;
    while (*text && complete) {
        if (is_blank(text) || strncmp(text, "<!--", 4) == 0)
            text = next_line(text);
        else if (strncmp(text, "```", 3) == 0)
            complete = take_code(&text, visitor, user);
        else if (*text == '|')
            complete = take_table(&text, visitor, user);
        else
            complete = take_text(&text, visitor, user);
    }
    return complete;
}

/* Reads a span between two equal marks at *text, and moves *text behind the span. Returns false where there is none: an
 * opening mark before a blank is a character of the text, such as the * of 2 * 3. */
static bool marked_span(const char **text, const char *mark, gls_md_span_kind kind, gls_md_span *span)
{
    size_t n = strlen(mark);
    const char *start = *text + n, *end;
    if (strncmp(*text, mark, n) != 0 || gls_is_space((unsigned char)*start) || !(end = strstr(start, mark)) ||
        end == start)
        return false;
    *span = (gls_md_span){.kind = kind, .text = start, .n = (size_t)(end - start)};
    *text = end + n;
    return true;
}

/* Reads [text](target). */
static bool link_span(const char **text, gls_md_span *span)
{
    const char *start = *text;
    if (*start != '[') return false;
    start++;
    const char *middle = strstr(start, "]("), *end = middle ? strchr(middle, ')') : NULL;
    /* if the text contains a bracket, the link begins later */
    if (!end || strcspn(start, "[") < (size_t)(middle - start)) return false;
    *span = (gls_md_span){GLS_MD_LINK, start, (size_t)(middle - start), middle + 2, (size_t)(end - middle - 2)};
    *text = end + 1;
    return true;
}

bool gls_md_next_span(const char **text, gls_md_span *span)
{
    const char *start = *text;
    if (!*start) return false;
    if (marked_span(text, "`", GLS_MD_CODE, span) || marked_span(text, "**", GLS_MD_STRONG, span) ||
        marked_span(text, "*", GLS_MD_EMPHASIS, span) || link_span(text, span))
        return true;
    /* no span begins here: plain text, one character or more, up to the next character that may begin a span */
    *span = (gls_md_span){.kind = GLS_MD_TEXT, .text = start, .n = 1};
    if (strncmp(start, "<br>", 4) == 0) {
        span->text = "; ";
        span->n = 2;
        *text += 4;
    } else if (*start == '\\' && start[1]) {
        span->text = start + 1;
        *text += 2;
    } else {
        span->n += strcspn(start + 1, "`*[<\\");
        *text += span->n;
    }
    return true;
}
