/* The papers of page/report.bib: how a text names them, as BibTeX, as a list and as a table. */
#include "render/papers.h"

#include <stdio.h>
#include <string.h>

#include "render/page.h"

/* --- Entries of report.bib. */

/* The first entry at or after `from`; NULL: there is none. *length: bytes from '@' to the brace that begins a line. */
static const char *next_entry(const char *from, size_t *length)
{
    const char *entry = strchr(from, '@');
    if (entry) *length = (size_t)(strstr(entry, "\n}") - entry) + 2;
    return entry;
}

/* Stores the value of a field "name = {value}" of an entry, without braces; "" if there is none. Returns value. */
static const char *field(const char *entry, size_t length, const char *name, char *value, size_t size)
{
    char head[32];
    const int n = snprintf(head, sizeof head, " %s = {", name);
    const char *found = strstr(entry, head);
    *value = '\0';
    if (!found || (size_t)(found - entry) >= length) return value;
    snprintf(value, size, "%.*s", (int)strcspn(found + n, "}"), found + n);
    return value;
}

/* Writes "Smith et al., 2015" into label[128]. */
static void write_label(const char *entry, size_t length, char *label)
{
    char authors[512], year[16];
    field(entry, length, "author", authors, sizeof authors);
    field(entry, length, "year", year, sizeof year);
    const char *second = strstr(authors, " and ");
    const int first = (int)strcspn(authors, ",");
    if (!second)
        snprintf(label, 128, "%.*s, %s", first, authors, year);
    else if (strstr(second + 5, " and "))
        snprintf(label, 128, "%.*s et al., %s", first, authors, year);
    else
        snprintf(label, 128, "%.*s and %.*s, %s", first, authors, (int)strcspn(second + 5, ","), second + 5, year);
}

/* Letter behind the year of an entry: 'a', 'b' ... if report.bib has several of the same authors and year, else 0. */
static char letter_of(const char *entry, size_t length)
{
    char own[128], other[128];
    size_t n = 0;
    int same = 0, before = 0;
    write_label(entry, length, own);
    for (const char *e = gls_page_part("report.bib"); (e = next_entry(e, &n)) != NULL; e += n) {
        write_label(e, n, other);
        same += strcmp(own, other) == 0;
        before += strcmp(own, other) == 0 && e < entry;
    }
    return same > 1 ? (char)('a' + before) : '\0';
}

/* Adds an entry unless the list has it. */
static void add(gls_papers *papers, const char *entry, size_t length)
{
    for (size_t i = 0; i < papers->n; i++)
        if (papers->entry[i] == entry) return;
    if (papers->n == GLS_MAX_PAPERS) return;
    papers->entry[papers->n] = entry;
    papers->length[papers->n++] = length;
}

void gls_papers_cite(gls_papers *papers, const char *key, gls_text *out)
{
    char head[64], label[128];
    size_t length = 0;
    snprintf(head, sizeof head, "{%s,\n", key);
    const char *all = gls_page_part("report.bib"), *found = strstr(all, head);
    if (!found) return;
    while (*found != '@') found--;
    found = next_entry(found, &length);
    add(papers, found, length);
    write_label(found, length, label);
    const char letter[2] = {letter_of(found, length)};
    if (out) gls_text_printf(out, "%s%s", label, letter);
}

void gls_papers_all(gls_papers *papers)
{
    size_t n = 0;
    for (const char *e = gls_page_part("report.bib"); (e = next_entry(e, &n)) != NULL; e += n) add(papers, e, n);
}

/* --- Forms of references. */

void gls_papers_bibtex(const gls_papers *papers, const char *version, gls_text *out)
{
    gls_text_puts(out,
                  "@software{glslines,\n  title = {glslines: diffusion MRI tractography in OpenGL compute shaders},\n"
                  "  author = {{The glslines developers}},\n  version = {");
    gls_text_show(out, version);
    gls_text_puts(out, "}\n}\n");
    for (size_t i = 0; i < papers->n; i++) {
        gls_text_append(out, papers->entry[i], papers->length[i]);
        gls_text_puts(out, "\n");
    }
}

/* Appends a reference in one sentence, made of the fields of an entry. */
static void append_reference(gls_text *out, const char *entry, size_t length)
{
    static const char *const names[] = {"author", "title", "journal", "booktitle", "volume", "pages", "year", "school"};
    char value[8][512];
    for (size_t f = 0; f < 8; f++) field(entry, length, names[f], value[f], sizeof *value);
    /* turn BibTeX's "A and B" and "1--9" into printed form */
    for (char *and; (and = strstr(value[0], " and ")) != NULL;)
        memmove(and+2, and+5, strlen(and+5) + 1), memcpy(and, ", ", 2);
    char *dash = strstr(value[5], "--");
    if (dash) memmove(dash, dash + 1, strlen(dash));
    const char letter[2] = {letter_of(entry, length)};
    gls_text_printf(out, "%s %s%s ", value[0], value[1], strchr(value[1], '?') ? "" : ".");
    if (*value[7])
        gls_text_printf(out, "PhD thesis, %s, ", value[7]);
    else
        gls_text_printf(out, "%s%s%s%s%s%s, ", value[2], value[3], *value[4] ? " " : "", value[4],
                        /* an abstract may have no page */
                        !*value[5]  ? ""
                        : *value[4] ? ":"
                                    : ", ",
                        value[5]);
    gls_text_printf(out, "%s%s.", value[6], letter);
}

void gls_papers_list(const gls_papers *papers, const char *version, const char *bullet, gls_text *out)
{
    gls_text_printf(
        out, "%sThe glslines developers. glslines: diffusion MRI tractography in OpenGL compute shaders. Version ",
        bullet);
    gls_text_show(out, version);
    gls_text_puts(out, ".\n");
    for (size_t i = 0; i < papers->n; i++) {
        gls_text_puts(out, bullet);
        append_reference(out, papers->entry[i], papers->length[i]);
        gls_text_puts(out, "\n");
    }
}

void gls_papers_table(const gls_papers *papers, gls_text *out)
{
    char methods[256];
    gls_text_puts(out, "| method | paper |\n|---|---|\n");
    for (size_t i = 0; i < papers->n; i++) {
        gls_text_printf(out, "| %s | ",
                        field(papers->entry[i], papers->length[i], "keywords", methods, sizeof methods));
        append_reference(out, papers->entry[i], papers->length[i]);
        gls_text_puts(out, " |\n");
    }
}
