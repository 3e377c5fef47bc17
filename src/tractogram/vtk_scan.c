/* Finds the arrays of a legacy VTK file, ASCII or binary, in one pass over its words, numbers and sections. */
#include "tractogram/vtk_scan.h"
#include "tractogram/cursor.h"
#include "tractogram/file_formats.h"
#include "tractogram/pump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"
#include "util/text.h"

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

bool gls_vtk_next_word(gls_cursor *c, char word[GLS_VTK_WORD])
{
    size_t n = 0;
    skip_blanks(c);
    for (int byte = peek(c); byte >= 0 && !gls_is_space(byte) && n < GLS_VTK_WORD - 1; byte = peek(c)) {
        word[n++] = (char)byte;
        c->next++;
    }
    word[n] = '\0';
    return n > 0 && (peek(c) < 0 || gls_is_space(peek(c)));
}

/* Whether another word follows. */
static bool has_more(gls_vtk *s)
{
    skip_blanks(&s->cursor);
    return peek(&s->cursor) >= 0;
}

/* Reads the rest of the line, without its end and NUL bytes; long lines are cut. */
static gls_status read_line(gls_vtk *s, char line[GLS_VTK_LINE])
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

/* Reads the next word. */
static gls_status read_word(gls_vtk *s, char word[GLS_VTK_WORD])
{
    if (gls_vtk_next_word(&s->cursor, word)) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: a word is missing, or is too long", s->reader->path);
}

/* Reads the next word, which must be `expected`. */
static gls_status expect_word(gls_vtk *s, const char *expected)
{
    char word[GLS_VTK_WORD];
    gls_status status = read_word(s, word);
    if (!status && gls_case_compare(word, expected) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: damaged: %s is missing where the format requires it", s->reader->path,
                          expected);
    return status;
}

/* Reads the next word as a name; %20 and similar codes are decoded. */
static gls_status read_name(gls_vtk *s, char name[GLS_VTK_WORD])
{
    gls_status status = read_word(s, name);
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

/* Reads the next word as a number of items. */
static gls_status read_count(gls_vtk *s, uint64_t *count)
{
    char word[GLS_VTK_WORD], *end;
    gls_status status = read_word(s, word);
    if (status) return status;
    errno = 0;
    *count = strtoull(word, &end, 10);
    if (!gls_is_digit((unsigned char)*word) || *end || errno || *count > UINT64_MAX / 1024)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: it has %s where there should be a number", s->reader->path, word);
    return GLS_OK;
}

/* Skips the rest of the current line, and all lines up to and with an empty one. */
static void skip_paragraph(gls_vtk *s)
{
    char line[GLS_VTK_LINE];
    if (read_line(s, line) != GLS_OK) return; /* rest of the current line */
    while (read_line(s, line) == GLS_OK && *line) continue;
}

/* The type that VTK means by a name. vtkIdType is written as 32 bits. */
static gls_status parse_type(const gls_vtk *s, const char *name, gls_type *type)
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

/* Skips the n values of an array and notes where they are. name: name of the type of the values; NULL: the file has the
 * name in front of them. */
static gls_status note_array(gls_vtk *s, const char *name, uint64_t n, gls_vtk_array *array)
{
    gls_cursor *c = &s->cursor;
    char word[GLS_VTK_WORD];
    gls_status status = name ? GLS_OK : read_word(s, word);
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
    /* in text, the end of the array is known only when all words are read */
    for (uint64_t i = 0; i < n; i++)
        if (!gls_vtk_next_word(c, word))
            return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: an array ends too early", s->reader->path);
    array->end = s->reader->info.bytes - gls_cursor_left(c);
    return GLS_OK;
}

/* Owner of the values of an array: nothing yet, points, or cells (streamlines). */
typedef enum owner { NOBODY, OF_POINTS, OF_CELLS } owner;

/* Finds the sense of the axes: the title says SPACE=RAS or SPACE=LPS, else the caller's option does. LPS coordinates
 * have x and y negated. */
static gls_status find_axes(gls_tractogram_reader *r, const char *title)
{
    gls_vtk *t = r->state;
    bool ras = r->options.vtk_space == GLS_VTK_SPACE_RAS, lps = r->options.vtk_space == GLS_VTK_SPACE_LPS;
    if (gls_case_find(title, "SPACE=RAS")) ras = true, lps = false;
    if (gls_case_find(title, "SPACE=LPS")) ras = false, lps = true;
    if (!ras && !lps)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: %s does not state the axes (SPACE=RAS or SPACE=LPS): give --vtk-space ras for a file "
                        "of MRtrix3, --vtk-space lps for a file of DIPY",
                        r->path, r->from_xml ? "a text SPACE of its FieldData" : "line 2");
    t->sign[0] = t->sign[1] = lps ? -1 : 1;
    t->sign[2] = 1;
    return GLS_OK;
}

/* Notes where the section POINTS lies. */
static gls_status find_points(gls_tractogram_reader *r)
{
    gls_vtk *t = r->state;
    gls_status status = read_count(t, &t->n_points);
    if (!status && t->points.known) status = gls_reader_damaged(r, "it has two sections POINTS");
    if (!status) status = note_array(t, NULL, 3 * t->n_points, &t->points);
    r->info.position_type = t->points.type;
    if (!status && t->points.type != GLS_TYPE_FLOAT32 && t->points.type != GLS_TYPE_FLOAT64)
        status = gls_fail(GLS_ERR_INPUT, "%s: its points are neither float nor double", r->path);
    return status;
}

/* Finds the cells of one kind. Only lines are kept. */
static gls_status find_cells(gls_tractogram_reader *r, bool are_lines)
{
    gls_vtk *t = r->state;
    gls_vtk_array first, second = {0};
    uint64_t n, size;
    gls_status status = read_count(t, &n);
    if (!status) status = read_count(t, &size);
    if (status) return status;
    /* before version 5 numbers of points and indices are mixed in one array of ints; from then on they are two
     * arrays */
    if (r->info.version < 50) {
        status = note_array(t, "int", size, &first);
    } else {
        status = expect_word(t, "OFFSETS");
        if (!status) status = note_array(t, NULL, n, &first);
        if (!status) status = expect_word(t, "CONNECTIVITY");
        if (!status) status = note_array(t, NULL, size, &second);
        /* there is one offset more than cells */
        n -= n > 0;
    }
    if (!are_lines) t->n_others += n;
    if (status || !are_lines) return status;
    if (t->lines.known || t->offsets.known) return gls_reader_damaged(r, "it has two sections LINES");
    if (second.known) {
        t->offsets = first;
        t->connectivity = second;
    } else {
        t->lines = first;
    }
    t->n_lines = n;
    return GLS_OK;
}

/* Adds an array as a column, if it has one row for each point or each line; otherwise warns. NOBODY: only skips
 * it. */
static gls_status add_data(gls_tractogram_reader *r, owner of, const char *name, const char *type, uint64_t components,
                           uint64_t rows)
{
    gls_vtk *t = r->state;
    gls_vtk_array array;
    if (components < 1 || components > INT32_MAX || rows > UINT64_MAX / 8 / components)
        return gls_reader_damaged(r, "the size of an array is 0 or too large");
    gls_status status = note_array(t, type, components * rows, &array);
    if (status || of == NOBODY) return status;
    bool per_point = of == OF_POINTS;
    if (rows != (per_point ? t->n_points : t->n_lines)) {
        gls_reader_warn(r, "%s: the array %s does not have a value for each of the %s and is left out", r->path, name,
                        per_point ? "points" : "lines");
        return GLS_OK;
    }
    gls_reader_columns *columns = per_point ? &r->dpv : &r->dps;
    gls_vtk_array **arrays = per_point ? &t->dpv : &t->dps, *grown = realloc(*arrays, (columns->n + 1) * sizeof *grown);
    if (!grown) return gls_reader_no_memory(r);
    *arrays = grown;
    grown[columns->n] = array;
    return gls_reader_add_column(r, columns, name, array.type, (uint32_t)components);
}

/* Adds the array of an attribute: SCALARS, VECTORS and others, except FIELD. */
static gls_status find_attribute(gls_tractogram_reader *r, const char *kind, owner of, uint64_t rows)
{
    static const struct {
        const char *kind;
        uint64_t components;
    } kinds[] = {{"VECTORS", 3},  {"NORMALS", 3},    {"TENSORS", 9},
                 {"TENSORS6", 6}, {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}};
    gls_vtk *t = r->state;
    char name[GLS_VTK_WORD], type[GLS_VTK_WORD] = "", word[GLS_VTK_WORD] = "";
    uint64_t components = 0;
    gls_status status = read_name(t, name);
    if (status) return status;
    /* SCALARS name type [components], then a line LOOKUP_TABLE name */
    if (!gls_case_compare(kind, "SCALARS")) {
        status = read_word(t, type);
        if (!status) status = read_word(t, word);
        components = strtoull(word, NULL, 10);
        if (!status && components > 0) status = read_word(t, word);
        if (components == 0) components = 1;
        if (!status && !gls_case_compare(word, "LOOKUP_TABLE"))
            status = read_word(t, word);
        else if (!status)
            status = gls_reader_damaged(r, "its SCALARS have no LOOKUP_TABLE");
    } else if (!gls_case_compare(kind, "COLOR_SCALARS") || !gls_case_compare(kind, "LOOKUP_TABLE")) {
        /* colours: bytes in binary files, floats from 0 to 1 in text; a table of colours has 4 values a row and is
         * skipped */
        status = read_count(t, &components);
        strcpy(type, t->binary ? "unsigned_char" : "float");
        if (!gls_case_compare(kind, "LOOKUP_TABLE"))
            return status ? status : add_data(r, NOBODY, name, type, 4, components);
    } else if (!gls_case_compare(kind, "TEXTURE_COORDINATES")) {
        status = read_count(t, &components);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!gls_case_compare(kind, kinds[i].kind)) components = kinds[i].components;
    if (!status && components == 0) return gls_fail(GLS_ERR_INPUT, "%s: has an unknown section %.40s", r->path, kind);
    return !status ? add_data(r, of, name, *type ? type : NULL, components, rows) : status;
}

/* Adds the arrays of a section FIELD. of: what their values belong to. Paragraphs METADATA are skipped. */
static gls_status find_field(gls_tractogram_reader *r, owner of)
{
    gls_vtk *t = r->state;
    char name[GLS_VTK_WORD];
    uint64_t n = 0, components, rows;
    gls_status status = read_name(t, name);
    if (!status) status = read_count(t, &n);
    for (uint64_t i = 0; i < n && !status; i++) {
        status = read_name(t, name);
        while (!status && !gls_case_compare(name, "METADATA")) {
            skip_paragraph(t);
            status = read_name(t, name);
        }
        if (!status) status = read_count(t, &components);
        if (!status) status = read_count(t, &rows);
        if (!status) status = add_data(r, of, name, NULL, components, rows);
    }
    return status;
}

/* Reads all sections up to the end of the file. */
static gls_status find_sections(gls_tractogram_reader *r)
{
    gls_vtk *t = r->state;
    char word[GLS_VTK_WORD];
    owner of = NOBODY;
    uint64_t rows = 0;
    gls_status status = GLS_OK;
    while (!status && has_more(t)) {
        status = read_word(t, word);
        if (status) break;
        /* keywords of a section in the order of the format; attributes belong to the last POINT_DATA or CELL_DATA */
        if (!gls_case_compare(word, "DATASET")) {
            status = read_word(t, word);
            if (!status && gls_case_compare(word, "POLYDATA") != 0)
                status = gls_fail(GLS_ERR_INPUT, "%s: holds %.40s; only POLYDATA is known", r->path, word);
        } else if (!gls_case_compare(word, "POINTS")) {
            status = find_points(r);
        } else if (!gls_case_compare(word, "LINES")) {
            status = find_cells(r, true);
        } else if (!gls_case_compare(word, "VERTICES") || !gls_case_compare(word, "POLYGONS") ||
                   !gls_case_compare(word, "TRIANGLE_STRIPS")) {
            status = find_cells(r, false);
        } else if (!gls_case_compare(word, "POINT_DATA") || !gls_case_compare(word, "CELL_DATA")) {
            of = !gls_case_compare(word, "POINT_DATA") ? OF_POINTS : OF_CELLS;
            status = read_count(t, &rows);
        } else if (!gls_case_compare(word, "METADATA")) {
            skip_paragraph(t);
        } else if (!gls_case_compare(word, "FIELD")) {
            status = find_field(r, of);
        } else {
            status = find_attribute(r, word, of, rows);
        }
    }
    return status;
}

gls_status gls_vtk_find(gls_tractogram_reader *r)
{
    char line[GLS_VTK_LINE], version[32] = "";
    int major = 0, minor = 0;
    gls_vtk *t = r->state;
    t->reader = r;
    gls_status status = gls_cursor_init(&t->cursor, r->path, r->fd, 0, r->info.bytes);
    if (!status) status = read_line(t, line);
    if (status) return status;
    /* "# vtk DataFile Version 3.0": major and minor number */
    if (sscanf(line, "# vtk DataFile Version %31s", version) != 1 || sscanf(version, "%1d.%1d", &major, &minor) != 2)
        return gls_reader_damaged(r, "its first line names no version");
    r->info.version = 10 * major + minor;
    /* the second line is a title of any text; MRtrix3 and others state the axes there */
    status = read_line(t, line);
    if (!status) status = gls_reader_add_header(r, "title", line);
    if (!status) status = find_axes(r, line);
    if (!status) status = read_line(t, line);
    if (status) return status;
    t->binary = !gls_case_compare_n(line, "BINARY", 6);
    if (!t->binary && gls_case_compare_n(line, "ASCII", 5) != 0)
        return gls_reader_damaged(r, "it says neither ASCII nor BINARY");
    /* one pass to the end of the file; afterwards each array is read by a cursor of its own */
    status = find_sections(r);
    gls_cursor_finish(&t->cursor);
    return status;
}
