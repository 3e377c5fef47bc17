/* Manual pages in man(7), which man-db (groff) and mandoc read: topics in section 7, commands in section 1. */
#include "cmd/manual_man.h"
#include "cmd/manual.h"
#include "cmd/manual_text.h"
#include "cmd/message.h"
#include "options/help.h"
#include "util/markdown.h"
#include "util/text.h"

#include <string.h>

/* Columns of a page: the 80 of a usual terminal less the margins of man(7). */
enum { PAGE_WIDTH = 70 };

/* State of a page while gls_md_walk() passes the blocks of a topic. */
typedef struct page {
    FILE *out;
    bool fresh;   /* true: nothing follows the heading yet, so that a paragraph macro would be an error */
    bool in_code; /* true: the current line is between .nf and .fi */
    bool failed;  /* memory ran out */
} page;

/* Writes n bytes of text that roff must not interpret. literal: all hyphens become minus signs, not only those of "--".
 * line_start: the text begins a line. */
static void write_escaped(FILE *out, const char *text, size_t n, bool literal, bool line_start)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0 && line_start && (text[0] == '.' || text[0] == '\'')) fputs("\\&", out);
        switch (text[i]) {
        case '\\': fputs("\\e", out); break;
        case '-': fputs(literal || text[i + 1] == '-' || (i > 0 && text[i - 1] == '-') ? "\\-" : "-", out); break;
        case '~': fputs("\\(ti", out); break;
        case '^': fputs("\\(ha", out); break;
        case '`': fputs("\\(ga", out); break;
        case '\'': fputs("\\(aq", out); break;
        default: fputc(text[i], out);
        }
    }
}

/* Writes a whole text as prose: a single hyphen stays a hyphen. */
static void write_plain(FILE *out, const char *text)
{
    write_escaped(out, text, strlen(text), false, true);
}

/* Writes a whole text as code: a hyphen becomes a minus sign, which can be copied into a shell. */
static void write_literal(FILE *out, const char *text)
{
    write_escaped(out, text, strlen(text), true, true);
}

/* Writes a link of the manual: to a topic as its page, name(7); to the web with its address in parentheses. */
static void write_link(FILE *out, const gls_md_span *span)
{
    const manual_topic *topic = manual_link_topic(span->target, span->n_target);
    write_escaped(out, span->text, span->n, false, false);
    if (topic) {
        fputs(" (\\fBglslines\\-\\:", out); /* allows a line break here in narrow columns */
        write_escaped(out, topic->name, strlen(topic->name), true, false);
        fputs("\\fR(7))", out);
    } else if (strncmp(span->target, "https://", 8) == 0) {
        fputs(" (", out);
        write_escaped(out, span->target, span->n_target, true, false);
        fputc(')', out);
    }
}

/* Writes the spans of a line or a paragraph on one line of the page. */
static void write_spans(FILE *out, const char *text)
{
    gls_md_span span;
    for (bool first = true; gls_md_next_span(&text, &span); first = false) {
        if (span.kind == GLS_MD_TEXT) {
            write_escaped(out, span.text, span.n, false, first);
            continue;
        }
        if (span.kind == GLS_MD_LINK) {
            write_link(out, &span);
            continue;
        }
        fputs(span.kind == GLS_MD_EMPHASIS ? "\\fI" : "\\fB", out);
        write_escaped(out, span.text, span.n, span.kind == GLS_MD_CODE, false);
        fputs("\\fR", out);
    }
}

/* Separates a paragraph from the block before. */
static void new_paragraph(page *p)
{
    if (!p->fresh) fputs(".PP\n", p->out);
    p->fresh = false;
}

/* Begins a section; titles are in capitals, as in other manual pages. */
static void write_section(page *p, const char *title)
{
    fputs(".SH ", p->out);
    for (const char *c = title; *c; c++) fputc(gls_to_upper((unsigned char)*c), p->out);
    fputc('\n', p->out);
    p->fresh = true;
}

/* Functions of the gls_md_visitor: each writes one kind of block as macros of man(7). user: the page. */
static void heading(void *user, int level, const char *text)
{
    page *p = user;
    if (level == 1) return; /* level 1 is the title of the page, which the section NAME has already */
    if (level == 2) {
        write_section(p, text);
        return;
    }
    fputs(".SS ", p->out);
    write_spans(p->out, text);
    fputc('\n', p->out);
    p->fresh = true;
}

/* Function of gls_md_visitor: a paragraph. */
static void paragraph(void *user, const char *text)
{
    page *p = user;
    new_paragraph(p);
    write_spans(p->out, text);
    fputc('\n', p->out);
}

/* Function of gls_md_visitor: an item of a list, whose label is "-" or a number. A hyphen becomes a bullet. */
static void item(void *user, const char *label, const char *text)
{
    page *p = user;
    fprintf(p->out, ".IP %s 4\n", *label == '-' ? "\\(bu" : label);
    write_spans(p->out, text);
    fputc('\n', p->out);
    p->fresh = false;
}

/* Function of gls_md_visitor: a line of an example; NULL ends the example. */
static void code(void *user, const char *line)
{
    page *p = user;
    if (line && !p->in_code) {
        new_paragraph(p);
        fputs(".RS 4\n.nf\n", p->out);
    }
    p->in_code = line != NULL;
    if (line)
        write_literal(p->out, line);
    else
        /* fputc() below ends the line .RE */
        fputs(".fi\n.RE", p->out);
    fputc('\n', p->out);
}

/* Writes a table that is too wide for the page: each row becomes a list of its cells. */
static void write_records(page *p, char *const *cells, size_t rows, size_t columns)
{
    p->fresh = false;
    for (size_t r = 1; r < rows; r++) {
        fputs(".TP\n", p->out);
        write_spans(p->out, cells[r * columns]);
        for (size_t c = 1, first = 1; c < columns; c++) {
            if (!*cells[r * columns + c]) continue;
            fputs(first ? "\n" : "\n.br\n", p->out);
            /* a cell names its column where the columns have headings; the first cell is the tag of the record */
            if (columns > 2 && *cells[c]) {
                write_spans(p->out, cells[c]);
                fputs(": ", p->out);
            }
            write_spans(p->out, cells[r * columns + c]);
            first = 0;
        }
        fputc('\n', p->out);
    }
}

/* Writes a table for the preprocessor tbl, with columns of the given widths in characters. */
static void write_columns(page *p, char *const *cells, size_t rows, size_t columns, const size_t *column_width)
{
    bool titled = false;
    /* a table whose heading has empty cells only has no heading */
    for (size_t c = 0; c < columns; c++) titled = titled || *cells[c];
    new_paragraph(p);
    /* .na and .nh switch off adjustment and hyphenation, which would stretch and break the words of narrow cells */
    fputs(".na\n.nh\n.TS\n", p->out);
    for (size_t c = 0; c < columns && titled; c++) fprintf(p->out, "lb%s", c + 1 < columns ? " " : "\n");
    for (size_t c = 0; c < columns; c++)
        fprintf(p->out, "lw(%zun)%s", column_width[c] + 1, c + 1 < columns ? " " : ".\n");
    for (size_t r = titled ? 0 : 1; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            fputs(c ? "\tT{\n" : "T{\n", p->out);
            write_spans(p->out, cells[r * columns + c]);
            fputs("\nT}", p->out);
        }
        fputc('\n', p->out);
    }
    fputs(".TE\n.hy\n.ad\n", p->out);
}

/* Function of gls_md_visitor: a table, in columns where the page has room, else row by row. */
static void table(void *user, char *const *cells, size_t rows, size_t columns)
{
    page *p = user;
    size_t column_width[GLS_MD_MAX_COLUMNS];
    char **plain = manual_plain_cells(cells, rows * columns);
    p->failed = p->failed || !plain;
    if (!plain) return;
    /* subtract two characters a column, because tbl leaves three characters between columns */
    if (columns * 2 < PAGE_WIDTH && manual_fit_columns(plain, rows, columns, PAGE_WIDTH - columns * 2, column_width))
        write_columns(p, cells, rows, columns, column_width);
    else
        write_records(p, cells, rows, columns);
    manual_free_cells(plain, rows * columns);
}

/* Date of the newest release in the change log, so that the same sources give the same pages. */
static void release_date(char date[11])
{
    const manual_topic *log = manual_topic_find("changelog", strlen("changelog"));
    const char *line = log ? strstr(log->text, "\n## ") : NULL, *comma = NULL;
    /* changes that have no version yet stand below a heading without a date */
    for (; line && !comma; line = strstr(line + 1, "\n## ")) {
        const size_t length = strcspn(line + 1, "\n");
        comma = memchr(line + 1, ',', length);
    }
    snprintf(date, 11, "%.10s", comma ? comma + 1 + strspn(comma + 1, " ") : "1970-01-01");
}

/* Writes the header line .TH and the section NAME of a page. */
static void write_title(FILE *out, const char *name, int section, const char *summary)
{
    char date[11];
    release_date(date);
    fputs("'\\\" t\n.TH GLSLINES", out);
    if (*name) fputs("\\-", out);
    for (const char *c = name; *c; c++) {
        if (*c == '-') fputc('\\', out);
        fputc(gls_to_upper((unsigned char)*c), out);
    }
    fprintf(out, " %d %s \"glslines %s\" \"%s\"\n.SH NAME\nglslines%s", section, date, gls_version(),
            section == 1 ? "User Commands" : "glslines manual", *name ? "\\-" : "");
    write_literal(out, name);
    fputs(" \\- ", out);
    write_spans(out, summary);
    fputc('\n', out);
}

bool manual_write_topic_page(FILE *out, const manual_topic *topic)
{
    static const gls_md_visitor visitor = {heading, paragraph, item, code, table};
    char title[256];
    page p = {.out = out};
    write_title(out, topic->name, 7, manual_topic_title(topic, title, sizeof title));
    write_section(&p, "Description");
    bool complete = gls_md_walk(topic->text, &visitor, &p) && !p.failed;
    write_section(&p, "See also");
    fputs("\\fBglslines\\fR(1)\n", out);
    return complete;
}

/* Writes paragraphs that single line ends separate, as descriptions of commands have them. */
static void write_paragraphs(page *p, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        new_paragraph(p);
        write_escaped(p->out, text, n, false, true);
        fputc('\n', p->out);
        text += n + (text[n] == '\n');
    }
}

/* Writes an option as a tagged paragraph: its letter, name and value, then its help and default. */
static void write_option(FILE *out, const gls_option *option, const void *values)
{
    char brackets[300];
    const char *value = option->metavar ? option->metavar : option->choices;
    cmd_option_brackets(option, values, brackets, sizeof brackets);
    fputs(".TP\n", out);
    if (option->letter) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    write_literal(out, option->name);
    fputs("\\fR", out);
    if (gls_option_takes_value(option) && value) {
        fputs(" \\fI", out);
        write_literal(out, value);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    write_plain(out, option->help);
    write_escaped(out, brackets, strlen(brackets), false, false);
    fputc('\n', out);
}

/* Writes all options of a command, each group under its heading, with the defaults of the command. */
static void write_options(FILE *out, const cmd_command *command)
{
    cmd_values values;
    cmd_table table;
    cmd_defaults_list(command, &table, &values);
    for (size_t i = 0; i < table.n; i++) {
        if (cmd_begins_group(&table, i)) {
            fputs(".SS ", out);
            write_plain(out, table.option[i].group);
            fputc('\n', out);
        }
        write_option(out, &table.option[i], values.bytes);
    }
}

/* Writes a term in bold with its explanation indented below. */
static void write_definition(FILE *out, const char *term, const char *text)
{
    fputs(".TP\n\\fB", out);
    write_literal(out, term);
    fputs("\\fR\n", out);
    write_plain(out, text);
    fputc('\n', out);
}

/* Writes the section on exit codes, which is the same in all pages. */
static void write_exit_codes(page *p)
{
    char code[16];
    write_section(p, "Exit status");
    for (size_t i = 0; cmd_exit_text(i); i++) {
        snprintf(code, sizeof code, "%d", cmd_exit_code(i));
        write_definition(p->out, code, cmd_exit_text(i));
    }
}

/* Writes the explanation of an example and, indented, its command line. */
static void write_example(page *p, const char *what, const char *line)
{
    new_paragraph(p);
    write_plain(p->out, what);
    fputs("\n.PP\n.RS 4\n.nf\n", p->out);
    write_literal(p->out, line);
    fputs("\n.fi\n.RE\n", p->out);
}

bool manual_write_command_page(FILE *out, const cmd_command *command)
{
    page p = {.out = out};
    /* sections in the order of man-pages(7) */
    write_title(out, command->name, 1, command->summary);
    write_section(&p, "Synopsis");
    fputs("\\fBglslines ", out);
    write_literal(out, command->name);
    fputs("\\fR ", out);
    write_literal(out, command->synopsis);
    fputc('\n', out);
    write_section(&p, "Description");
    write_paragraphs(&p, command->description);
    if (command->since) {
        new_paragraph(&p);
        fprintf(out, "Since %s.\n", command->since);
    }
    /* positionals and examples are pairs of name and text, ended by NULL */
    if (command->positionals) write_section(&p, "Arguments");
    for (const char *const *a = command->positionals; a && *a; a += 2) write_definition(out, a[0], a[1]);
    write_section(&p, "Options");
    write_options(out, command);
    write_exit_codes(&p);
    write_section(&p, "Environment");
    fputs("Variables that set threads, GPUs, caches and colours stand in \\fBglslines\\-environment\\fR(7).\n", out);
    write_section(&p, "Files");
    write_definition(out, "$XDG_CACHE_HOME/glslines, ~/.cache/glslines",
                     "What was found about devices and their drivers. It may be deleted at any time.");
    if (command->examples) write_section(&p, "Examples");
    for (const char *const *e = command->examples; e && *e; e += 2) write_example(&p, e[0], e[1]);
    write_section(&p, "See also");
    fputs("\\fBglslines\\fR(1)\n", out);
    return true;
}

bool manual_write_overview_page(FILE *out, const cmd_command *const *commands)
{
    page p = {.out = out};
    char title[256];
    write_title(out, "", 1, "diffusion MRI tractography on any GPU with OpenGL compute shaders");
    write_section(&p, "Synopsis");
    fputs("\\fBglslines\\fR \\fICOMMAND\\fR [\\fIarguments\\fR] [\\fIoptions\\fR]\n.br\n"
          "\\fBglslines help\\fR [\\fICOMMAND\\fR|\\fITOPIC\\fR]\n.br\n\\fBglslines \\-\\-version\\fR\n",
          out);
    write_section(&p, "Commands");
    /* names of the pages: glslines-COMMAND in section 1, glslines-TOPIC in section 7 */
    for (const cmd_command *const *c = commands; *c; c++) {
        fputs(".TP\n\\fBglslines\\-", out);
        write_literal(out, (*c)->name);
        fputs("\\fR(1)\n", out);
        write_plain(out, (*c)->summary);
        fputc('\n', out);
    }
    write_section(&p, "Topics");
    for (const manual_topic *topic = manual_topics; topic->name; topic++) {
        fputs(".TP\n\\fBglslines\\-", out);
        write_literal(out, topic->name);
        fputs("\\fR(7)\n", out);
        write_spans(out, manual_topic_title(topic, title, sizeof title));
        fputc('\n', out);
    }
    write_exit_codes(&p);
    return true;
}
