/* Reads words, numbers and arrays of legacy VTK files, ASCII or binary. */
#include "tractogram/file_formats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/status.h"

/* The next byte, which stays unread; -1 at the end or after a failure. */
static int peek(gls_cursor *c)
{
    if (c->next == c->n && (gls_cursor_fill(c, 1) != GLS_OK || c->next == c->n)) return -1;
    return c->buffer[c->next];
}

/* Skips blanks and line ends. */
static void skip_blanks(gls_cursor *c)
{
    for (int byte = peek(c); byte >= 0 && gls_is_space(byte); byte = peek(c)) c->next++;
}

/* Reads a word. Returns false at the end, or if the word is too long. */
static bool next_word(gls_cursor *c, char word[GLS_VTK_WORD])
{
    size_t n = 0;
    skip_blanks(c);
    for (int byte = peek(c); byte >= 0 && !gls_is_space(byte) && n < GLS_VTK_WORD - 1; byte = peek(c)) {
        word[n++] = (char)byte;
        c->next++;
    }
    word[n] = '\0';
    return n > 0 && n < GLS_VTK_WORD - 1;
}

gls_status gls_vtk_scan_begin(gls_vtk_scan *s, gls_tractogram_reader *r)
{
    s->reader = r;
    return gls_cursor_init(&s->cursor, r->path, r->fd, 0, r->info.bytes);
}

bool gls_vtk_scan_more(gls_vtk_scan *s)
{
    skip_blanks(&s->cursor);
    return peek(&s->cursor) >= 0;
}

gls_status gls_vtk_scan_line(gls_vtk_scan *s, char line[GLS_VTK_LINE])
{
    size_t n = 0;
    int byte;
    while ((byte = peek(&s->cursor)) >= 0 && byte != '\n') {
        if (n < GLS_VTK_LINE - 1 && byte != '\r' && byte != '\0') line[n++] = (char)byte;
        s->cursor.next++;
    }
    line[n] = '\0';
    if (byte < 0)
        return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its header ends too early", s->reader->path);
    s->cursor.next++;
    return GLS_OK;
}

gls_status gls_vtk_scan_token(gls_vtk_scan *s, char word[GLS_VTK_WORD])
{
    if (next_word(&s->cursor, word)) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: a word is missing", s->reader->path);
}

gls_status gls_vtk_scan_word(gls_vtk_scan *s, const char *expected)
{
    char word[GLS_VTK_WORD];
    gls_status status = gls_vtk_scan_token(s, word);
    if (!status && gls_case_compare(word, expected) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: damaged: %s is missing where the format requires it", s->reader->path,
                          expected);
    return status;
}

gls_status gls_vtk_scan_name(gls_vtk_scan *s, char name[GLS_VTK_WORD])
{
    gls_status status = gls_vtk_scan_token(s, name);
    if (status) return status;
    char *to = name;
    for (const char *from = name; *from; from++, to++) {
        /* %XX is the byte XX; a NUL would end the name and stays coded */
        char digits[3] = "";
        *to = *from;
        if (*from != '%' || !gls_is_hex((unsigned char)from[1]) || !gls_is_hex((unsigned char)from[2])) continue;
        memcpy(digits, from + 1, 2);
        char decoded = (char)strtoul(digits, NULL, 16);
        if (decoded == '\0') continue;
        *to = decoded;
        from += 2;
    }
    *to = '\0';
    return GLS_OK;
}

gls_status gls_vtk_scan_count(gls_vtk_scan *s, uint64_t *count)
{
    char word[GLS_VTK_WORD], *end;
    gls_status status = gls_vtk_scan_token(s, word);
    if (status) return status;
    errno = 0;
    *count = strtoull(word, &end, 10);
    if (!gls_is_digit((unsigned char)*word) || *end || errno || *count > UINT64_MAX / 1024)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: it has %s where there should be a number", s->reader->path, word);
    return GLS_OK;
}

void gls_vtk_scan_paragraph(gls_vtk_scan *s)
{
    char line[GLS_VTK_LINE];
    if (gls_vtk_scan_line(s, line) != GLS_OK) return; /* rest of the current line */
    while (gls_vtk_scan_line(s, line) == GLS_OK && *line) continue;
}

/* The type that VTK means by a name. vtkIdType is written as 32 bits. */
static gls_status parse_type(const gls_vtk_scan *s, const char *name, gls_type *type)
{
    static const struct {
        const char *name;
        gls_type type;
    } types[] = {{"char", GLS_TYPE_INT8},
                 {"signed_char", GLS_TYPE_INT8},
                 {"unsigned_char", GLS_TYPE_UINT8},
                 {"short", GLS_TYPE_INT16},
                 {"unsigned_short", GLS_TYPE_UINT16},
                 {"int", GLS_TYPE_INT32},
                 {"unsigned_int", GLS_TYPE_UINT32},
                 {"vtkIdType", GLS_TYPE_INT32},
                 {"long", GLS_TYPE_INT64},
                 {"unsigned_long", GLS_TYPE_UINT64},
                 {"vtktypeint64", GLS_TYPE_INT64},
                 {"vtktypeuint64", GLS_TYPE_UINT64},
                 {"float", GLS_TYPE_FLOAT32},
                 {"double", GLS_TYPE_FLOAT64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (gls_case_compare(types[i].name, name) != 0) continue;
        *type = types[i].type;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_INPUT, "%s: values of type %.40s are not known", s->reader->path, name);
}

gls_status gls_vtk_scan_array(gls_vtk_scan *s, const char *name, uint64_t n, gls_vtk_array *array)
{
    gls_cursor *c = &s->cursor;
    char word[GLS_VTK_WORD];
    gls_status status = name ? GLS_OK : gls_vtk_scan_token(s, word);
    *array = (gls_vtk_array){.known = true, .n = n, .cursor = {.fd = -1}};
    if (!status) status = parse_type(s, name ? name : word, &array->type);
    if (status) return status;
    /* binary values begin behind the line end */
    for (int byte = peek(c); byte >= 0 && byte != '\n' && gls_is_space(byte); byte = peek(c)) c->next++;
    if (peek(c) == '\n') c->next++;
    uint64_t left = gls_cursor_left(c), size = gls_type_size(array->type);
    array->at = s->reader->info.bytes - left;
    if (n > left / (s->binary ? size : 1))
        return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: an array ends too early", s->reader->path);
    if (s->binary) {
        gls_cursor_finish(c);
        array->end = array->at + n * size;
        return gls_cursor_init(c, s->reader->path, s->reader->fd, array->end, s->reader->info.bytes);
    }
    /* text: the end of the array is known only when all words are read */
    for (uint64_t i = 0; i < n; i++)
        if (!next_word(c, word))
            return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: an array ends too early", s->reader->path);
    array->end = s->reader->info.bytes - gls_cursor_left(c);
    return GLS_OK;
}

gls_status gls_vtk_array_open(const gls_vtk_scan *s, gls_vtk_array *array)
{
    return gls_cursor_init(&array->cursor, s->reader->path, s->reader->fd, array->at, array->end);
}

/* Parses a number as a value of the given type. */
static bool parse_value(const char *word, gls_type type, void *to)
{
    char *end;
    errno = 0;
    if (gls_type_is_float(type)) {
        double value = gls_strtod(word, &end);
        float single = (float)value;
        memcpy(to, type == GLS_TYPE_FLOAT64 ? (void *)&value : (void *)&single, gls_type_size(type));
    } else if (type == GLS_TYPE_UINT64) {
        uint64_t value = strtoull(word, &end, 10);
        memcpy(to, &value, sizeof value);
    } else {
        const int64_t value = strtoll(word, &end, 10);
        const int bits = 8 * (int)gls_type_size(type);
        const bool is_signed = type == GLS_TYPE_INT8 || type == GLS_TYPE_INT16 || type == GLS_TYPE_INT32;
        /* limits of the type */
        const int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0,
                      high = (INT64_C(1) << (is_signed ? bits - 1 : bits % 64)) - 1;
        if (type != GLS_TYPE_INT64 && (value < low || value > high)) return false;
        memcpy(to, &value, gls_type_size(type)); /* copies the low bytes: this machine is little-endian */
    }
    return end != word && !*end && (!errno || gls_type_is_float(type));
}

gls_status gls_vtk_array_read(const gls_vtk_scan *s, gls_vtk_array *array, uint64_t n, void *values)
{
    const size_t size = gls_type_size(array->type);
    char word[GLS_VTK_WORD], *to = values;
    if (s->binary) {
        gls_status status = gls_cursor_read(&array->cursor, values, (size_t)n * size);
        if (!status) gls_swap_bytes(values, (size_t)n, size);
        return status;
    }
    for (uint64_t i = 0; i < n; i++, to += size)
        if (!next_word(&array->cursor, word) || !parse_value(word, array->type, to))
            return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: a value is no number", s->reader->path);
    return GLS_OK;
}

gls_status gls_vtk_array_index(const gls_vtk_scan *s, gls_vtk_array *array, uint64_t *value)
{
    union {
        int32_t narrow;
        int64_t wide;
    } v;
    gls_status status = gls_vtk_array_read(s, array, 1, &v);
    if (status) return status;
    bool wide = gls_type_size(array->type) == 8;
    if ((!wide && gls_type_size(array->type) != 4) || gls_type_is_float(array->type) || (wide ? v.wide : v.narrow) < 0)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: an index is no whole number", s->reader->path);
    *value = wide ? (uint64_t)v.wide : (uint64_t)v.narrow;
    return GLS_OK;
}
