/* Topics of the manual and their tables: titles, links, plain text, widths of columns. */
#include "cmd/manual.h"

#include <stdlib.h>
#include <string.h>

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
    /* the file of the link, without the section behind #; other links lead out of the manual */
    size_t length = strcspn(target, "#)");
    if (length > n) length = n;
    if (length < 4 || length >= sizeof name || memcmp(target + length - 3, ".md", 3) != 0) return NULL;
    length -= 3;
    /* names of topics are lower-case names of files */
    for (size_t i = 0; i < length; i++) name[i] = (char)gls_to_lower((unsigned char)target[i]);
    return manual_topic_find(name, length);
}

char *manual_plain_text(const char *text, bool quote)
{
    char *plain = NULL;
    size_t size;
    FILE *out = open_memstream(&plain, &size);
    md_span span;
    if (!out) return NULL;
    while (md_next_span(&text, &span)) {
        /* a topic becomes the command that shows it; the address of a page follows its text */
        const manual_topic *topic = span.kind == MD_LINK ? manual_link_topic(span.target, span.n_target) : NULL;
        /* a code with blanks needs quotes, so that its ends are seen */
        if (topic)
            fprintf(out, "%.*s ('glslines help %s')", (int)span.n, span.text, topic->name);
        else if (span.kind == MD_LINK && strncmp(span.target, "https://", 8) == 0)
            fprintf(out, "%.*s (%.*s)", (int)span.n, span.text, (int)span.n_target, span.target);
        else if (quote && span.kind == MD_CODE && memchr(span.text, ' ', span.n))
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
    for (size_t i = 0; i < n && complete; i++) complete = (plain[i] = manual_plain_text(cells[i], false)) != NULL;
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
    /* at first each column is as wide as its longest cell */
    size_t min_width[MANUAL_MAX_COLUMNS] = {0}, total = MANUAL_GAP * (columns - 1);
    for (size_t c = 0; c < columns; c++) {
        column_width[c] = 0;
        for (size_t r = 0; r < rows; r++) {
            const char *cell = cells[r * columns + c];
            size_t word = longest_word(cell);
            if (strlen(cell) > column_width[c]) column_width[c] = strlen(cell);
            if (word > min_width[c]) min_width[c] = word;
        }
        total += column_width[c];
    }
    /* characters are taken from the widest column that can become narrower */
    for (; total > width; total--) {
        size_t widest = columns;
        for (size_t c = 0; c < columns; c++)
            if (column_width[c] > min_width[c] && (widest == columns || column_width[c] > column_width[widest]))
                widest = c;
        /* all columns are as narrow as their longest words */
        if (widest == columns) return false;
        column_width[widest]--;
    }
    return true;
}
