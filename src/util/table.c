/* Parses numeric text tables: b-values, gradient vectors, seeds, directions. */
#include "util/text_tables.h"
#include "util/file.h"
#include "util/text.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest file of a table that is read, bytes. */
#define MAX_BYTES ((size_t)256 << 20)

/* State of parsing. p .. end: the text that is left. */
typedef struct parser {
    /* name of the file, for messages */
    const char *name;
    const char *p, *end;
    /* number of the current line, from 1 */
    size_t line;
    /* numbers so far, row by row */
    double *value;
    /* numbers in `value`: used and allocated */
    size_t n, capacity;
    /* number of rows so far; number of columns, known from the first row */
    size_t rows, cols;
} parser;

/* Whether a character is a blank within a line. */
static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* Whether a character ends a line. */
static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Appends a number to the table. */
static gls_status add(parser *s, double value)
{
    if (s->n == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 256;
        double *grown = realloc(s->value, capacity * sizeof *grown);
        if (!grown) return gls_fail(GLS_ERR_MEMORY, "%s: no memory for %zu numbers", s->name, capacity);
        s->value = grown;
        s->capacity = capacity;
    }
    s->value[s->n++] = value;
    return GLS_OK;
}

/* Returns the error for a token that is no number. Shows its first 24 bytes, with ? for all but printable ASCII. */
static gls_status not_a_number(const parser *s, const char *token, size_t n)
{
    char shown[25];
    size_t m = n < sizeof shown - 1 ? n : sizeof shown - 1;
    for (size_t i = 0; i < m; i++) shown[i] = token[i] >= ' ' && token[i] <= '~' ? token[i] : '?';
    shown[m] = '\0';
    return gls_fail(GLS_ERR_INPUT, "%s: line %zu: \"%s\"%s is not a number", s->name, s->line, shown,
                    m < n ? "..." : "");
}

/* Parses a decimal number, "nan", "inf" or "infinity". Other forms that strtod() accepts are errors: hexadecimal,
 * "nan(...)". */
static bool parse_number(const char *token, size_t n, double *value)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    size_t sign = n > 0 && (token[0] == '+' || token[0] == '-');
    bool word = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        word |= strlen(words[i]) == n - sign && !gls_case_compare_n(token + sign, words[i], n - sign);
    if (!word && strspn(token, "0123456789+-.eE") < n) return false;
    /* the token is a number if strtod() stops exactly at its end */
    char *stop;
    *value = gls_strtod(token, &stop);
    return stop == token + n;
}

/* Parses one line and appends its numbers to the table. */
static gls_status parse_line(parser *s)
{
    size_t before = s->n;
    bool comma = true; /* true: no number stands between this point and the last comma or the start of the line, so that
                          a comma here is an error */
    while (s->p < s->end && !is_line_end(*s->p)) {
        if (*s->p == '#') {
            while (s->p < s->end && !is_line_end(*s->p)) s->p++;
            break;
        }
        if (is_blank(*s->p)) {
            s->p++;
            continue;
        }
        if (*s->p == ',') {
            if (comma)
                return gls_fail(GLS_ERR_INPUT, "%s: line %zu: a number is missing before a comma", s->name, s->line);
            comma = true;
            s->p++;
            continue;
        }
        /* a token ends at a blank, a line end, a comma or a comment */
        const char *token = s->p;
        while (s->p < s->end && !is_blank(*s->p) && !is_line_end(*s->p) && *s->p != ',' && *s->p != '#') s->p++;
        double value;
        if (!parse_number(token, (size_t)(s->p - token), &value)) return not_a_number(s, token, (size_t)(s->p - token));
        gls_status status = add(s, value);
        if (status) return status;
        comma = false;
    }
    /* a line without numbers, blank or a comment, is not a row */
    size_t cols = s->n - before;
    if (cols == 0) return GLS_OK;
    /* the first row sets the number of columns */
    if (s->rows == 0) s->cols = cols;
    if (cols != s->cols)
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu has %zu numbers, but the lines before have %zu", s->name, s->line,
                        cols, s->cols);
    s->rows++;
    return GLS_OK;
}

gls_status gls_table_parse(const char *name, const char *text, size_t n, double **values, size_t *rows, size_t *cols)
{
    parser s = {.name = name, .p = text, .end = text + n, .line = 1};
    gls_status status = GLS_OK;
    while (s.p < s.end) {
        status = parse_line(&s);
        if (status) goto fail;
        if (s.p < s.end) {
            /* line ends are LF, CR or CR LF */
            bool pair = s.p[0] == '\r' && s.p + 1 < s.end && s.p[1] == '\n';
            s.p += pair ? 2 : 1;
            s.line++;
        }
    }
    if (s.n == 0) {
        status = gls_fail(GLS_ERR_INPUT, "%s: contains no numbers", name);
        goto fail;
    }
    *values = s.value;
    *rows = s.rows;
    *cols = s.cols;
    return GLS_OK;
fail:
    free(s.value);
    return status;
}

gls_status gls_table_read(const char *path, double **values, size_t *rows, size_t *cols)
{
    char *text;
    size_t n;
    gls_status status = gls_file_read_text(path, MAX_BYTES, &text, &n);
    if (status) return status;
    status = gls_table_parse(path, text, n, values, rows, cols);
    free(text);
    return status;
}
