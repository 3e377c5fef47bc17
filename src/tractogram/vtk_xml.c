/* Turns a VTK file in XML (.vtp) into a legacy VTK file, which the reader of legacy files then reads: arrays as text,
 * base64 or raw bytes, in their place or appended, and packed by zlib. One array is open at a time, block by block. */

#include <glslines/tractogram.h>
#include <glslines/type.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tractogram/vtk_xml.h"
#include "tractogram/cursor.h"
#include "tractogram/pump.h"
#include "tractogram/readers.h"
#include "tractogram/vtk_read.h"
#include "tractogram/vtk_scan.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

#define TAG_BYTES 2048                 /* memory for a tag with its attributes */
#define BLOCK_BYTES ((size_t)1 << 16)  /* bytes that are converted at a time; a multiple of 8 */
#define MAX_PACKED ((uint64_t)1 << 30) /* largest block of packed data, bytes */
#define MAX_ARRAYS 1000                /* most arrays of a file */

/* Types of arrays in XML, and their names in legacy files. */
static const struct {
    const char *name, *legacy;
    gls_type type;
} types[] = {{"Int8", "char", GLS_TYPE_INT8},           {"UInt8", "unsigned_char", GLS_TYPE_UINT8},
             {"Int16", "short", GLS_TYPE_INT16},        {"UInt16", "unsigned_short", GLS_TYPE_UINT16},
             {"Int32", "int", GLS_TYPE_INT32},          {"UInt32", "unsigned_int", GLS_TYPE_UINT32},
             {"Int64", "vtktypeint64", GLS_TYPE_INT64}, {"UInt64", "vtktypeuint64", GLS_TYPE_UINT64},
             {"Float32", "float", GLS_TYPE_FLOAT32},    {"Float64", "double", GLS_TYPE_FLOAT64},
             {"String", "char", GLS_TYPE_INT8}};
enum { N_TYPES = sizeof types / sizeof *types };

/* Parts of the file that have arrays. */
typedef enum part { NO_PART, FIELD_DATA, POINT_DATA, CELL_DATA, POINTS, LINES } part;

/* How the values of an array are stored. */
typedef enum coding { AS_TEXT, AS_BASE64, APPENDED } coding;

/* An array of the file, found by the pass over its tags. */
typedef struct array {
    char name[GLS_VTK_WORD];
    part part;
    int type; /* index into types[] */
    uint64_t components;
    coding coding;
    uint64_t at, end; /* AS_TEXT, AS_BASE64: position of its values in the file; APPENDED: offset among the values */
} array;

/* Facts of the file in XML, and the legacy file that is made of it. */
typedef struct xml {
    gls_tractogram_reader *reader; /* borrowed: path, descriptor, size */
    gls_cursor cursor;             /* position of the pass over the tags */
    bool big_endian, packed, wide; /* wide: sizes in front of values are uint64, else uint32 */
    bool base64;                   /* appended values are base64, else raw bytes */
    uint64_t appended;             /* position of appended values; 0: there are none */
    uint64_t n_points, n_lines, n_pieces;
    array *array;
    size_t n_arrays;
    int fd; /* the legacy file */
    unsigned char *out;
    size_t n_out;
} xml;

static gls_status damaged(const xml *x, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: %s", x->reader->path, what);
}

/* --- The legacy file. */

static gls_status flush(xml *x)
{
    if (!gls_fd_write(x->fd, x->out, x->n_out))
        return gls_fail(GLS_ERR_OUTPUT,
                        "%s: cannot unpack it to a temporary file: %s: set TMPDIR to a folder with room",
                        x->reader->path, strerror(errno));
    x->n_out = 0;
    return GLS_OK;
}

static gls_status put(xml *x, const void *data, size_t bytes)
{
    gls_status status = GLS_OK;
    const unsigned char *from = data;
    while (bytes > 0 && !status) {
        const size_t room = BLOCK_BYTES - x->n_out, n = bytes < room ? bytes : room;
        memcpy(x->out + x->n_out, from, n);
        x->n_out += n;
        from += n;
        bytes -= n;
        if (x->n_out == BLOCK_BYTES) status = flush(x);
    }
    return status;
}

static gls_status put_text(xml *x, const char *text)
{
    return put(x, text, strlen(text));
}

/* --- The values of an array. */

/* The open values of an array. */
typedef struct values {
    const xml *x;
    gls_cursor cursor;
    bool base64;
    unsigned char triple[3]; /* decoded base64 bytes that were not taken yet: triple[next .. n - 1] */
    int next, n;
    uint64_t bytes; /* size of all values, unpacked; unknown with AS_TEXT */
    /* packed values: number and size of blocks, unpacked and packed, and the block that is open */
    uint64_t n_blocks, block_bytes, last_bytes, block;
    uint64_t *packed_bytes;
    unsigned char *unpacked;
    size_t at, filled;
} values;

/* Value of a digit of base64; -1: no digit; 64: padding. */
static int digit(int c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : c == '=' ? 64 : -1;
}

/* Decodes the next four digits. Padding ends a group, not the data, because sizes and values may be encoded separately.
 */
static gls_status next_triple(values *v)
{
    int group[4], n = 0;
    while (n < 4) {
        unsigned char c;
        gls_status status = gls_cursor_read(&v->cursor, &c, 1);
        if (status) return status;
        if (gls_is_space(c)) continue;
        group[n] = digit(c);
        if (group[n] < 0) return damaged(v->x, "a value is no base64");
        n++;
    }
    v->n = group[2] == 64 ? 1 : group[3] == 64 ? 2 : 3;
    for (int i = 0; i < 4; i++) group[i] &= 63;
    const int bits = group[0] << 18 | group[1] << 12 | group[2] << 6 | group[3];
    for (int i = 0; i < 3; i++) v->triple[i] = (unsigned char)(bits >> (16 - 8 * i));
    v->next = 0;
    return GLS_OK;
}

/* Reads bytes as they are stored, decoded. */
static gls_status read_stored(values *v, void *data, uint64_t bytes)
{
    unsigned char *to = data;
    gls_status status = GLS_OK;
    if (!v->base64) return gls_cursor_read(&v->cursor, data, (size_t)bytes);
    while (bytes > 0 && !status) {
        if (v->next == v->n) status = next_triple(v);
        for (; !status && bytes > 0 && v->next < v->n; bytes--) *to++ = v->triple[v->next++];
    }
    return status;
}

/* Reads a size in front of values. */
static gls_status read_size(values *v, uint64_t *size)
{
    unsigned char bytes[8];
    const int n = v->x->wide ? 8 : 4;
    gls_status status = read_stored(v, bytes, (uint64_t)n);
    *size = 0;
    for (int i = 0; i < n && !status; i++) *size = *size << 8 | bytes[v->x->big_endian ? i : n - 1 - i];
    return status;
}

/* Reads the sizes of packed blocks. */
static gls_status read_blocks(values *v)
{
    gls_status status = read_size(v, &v->n_blocks);
    if (!status) status = read_size(v, &v->block_bytes);
    if (!status) status = read_size(v, &v->last_bytes);
    if (status) return status;
    if (v->n_blocks > v->x->reader->info.bytes || v->block_bytes > MAX_PACKED || v->last_bytes > v->block_bytes)
        return damaged(v->x, "sizes of packed values are not valid");
    v->packed_bytes = malloc((v->n_blocks + 1) * sizeof *v->packed_bytes);
    v->unpacked = malloc((size_t)v->block_bytes + 1);
    if (!v->packed_bytes || !v->unpacked) return gls_reader_no_memory(v->x->reader);
    for (uint64_t i = 0; i < v->n_blocks && !status; i++) status = read_size(v, &v->packed_bytes[i]);
    v->bytes = v->n_blocks * v->block_bytes;
    if (v->n_blocks > 0 && v->last_bytes > 0) v->bytes -= v->block_bytes - v->last_bytes;
    return status;
}

static void close_values(values *v)
{
    gls_cursor_finish(&v->cursor);
    free(v->packed_bytes);
    free(v->unpacked);
}

/* Opens the values of an array. The caller closes them, also after a failure. */
static gls_status open_values(const xml *x, const array *a, values *v)
{
    const gls_tractogram_reader *r = x->reader;
    const bool appended = a->coding == APPENDED;
    *v = (values){.x = x, .base64 = appended ? x->base64 : a->coding == AS_BASE64};
    if (appended && x->appended == 0) return damaged(x, "it has no AppendedData");
    const uint64_t at = appended ? x->appended + a->at : a->at, end = appended ? r->info.bytes : a->end;
    if (at > end || (appended && a->at > r->info.bytes)) return damaged(x, "an array lies behind its end");
    gls_status status = gls_cursor_init(&v->cursor, r->path, r->fd, at, end);
    if (status || a->coding == AS_TEXT) return status;
    return x->packed ? read_blocks(v) : read_size(v, &v->bytes);
}

/* Unpacks the next block. */
static gls_status next_block(values *v)
{
    if (v->block == v->n_blocks) return damaged(v->x, "an array ends too early");
    const uint64_t packed = v->packed_bytes[v->block];
    const bool partial = v->block + 1 == v->n_blocks && v->last_bytes > 0;
    uLongf n = (uLongf)(partial ? v->last_bytes : v->block_bytes);
    if (packed > MAX_PACKED || packed > gls_cursor_left(&v->cursor)) return damaged(v->x, "an array ends too early");
    unsigned char *data = malloc((size_t)packed + 1);
    gls_status status = data ? read_stored(v, data, packed) : gls_reader_no_memory(v->x->reader);
    const uLongf want = n;
    if (!status && (uncompress(v->unpacked, &n, data, (uLong)packed) != Z_OK || n != want))
        status = damaged(v->x, "packed values are not valid");
    free(data);
    v->block++;
    v->at = 0;
    v->filled = (size_t)n;
    return status;
}

/* Reads the next bytes of the values. */
static gls_status read_values(values *v, unsigned char *to, size_t bytes)
{
    gls_status status = GLS_OK;
    if (!v->x->packed) return read_stored(v, to, bytes);
    while (bytes > 0 && !status) {
        if (v->at == v->filled) status = next_block(v);
        const size_t left = v->filled - v->at, n = left < bytes ? left : bytes;
        if (status) break;
        memcpy(to, v->unpacked + v->at, n);
        v->at += n;
        to += n;
        bytes -= n;
    }
    return status;
}

/* Counts the values of an array. */
static gls_status count_values(const xml *x, const array *a, uint64_t *n)
{
    values v;
    char word[GLS_VTK_WORD];
    *n = 0;
    gls_status status = open_values(x, a, &v);
    if (!status && a->coding != AS_TEXT) *n = v.bytes / gls_type_size(types[a->type].type);
    while (!status && a->coding == AS_TEXT && gls_vtk_next_word(&v.cursor, word)) ++*n;
    close_values(&v);
    return status;
}

/* Reads n values, fewer than BLOCK_BYTES bytes, in the byte order of legacy files, which is big-endian. */
static gls_status read_block(values *v, const array *a, uint64_t n, unsigned char *block)
{
    const gls_type type = types[a->type].type;
    const size_t size = gls_type_size(type);
    char word[GLS_VTK_WORD];
    gls_status status = a->coding == AS_TEXT ? GLS_OK : read_values(v, block, (size_t)n * size);
    for (uint64_t i = 0; i < n && a->coding == AS_TEXT; i++)
        if (!gls_vtk_next_word(&v->cursor, word) || !gls_vtk_parse_value(word, type, block + i * size))
            return damaged(v->x, "a value is missing, or is no number");
    if (!status && (a->coding == AS_TEXT || !v->x->big_endian)) gls_swap_bytes(block, (size_t)n, size);
    return status;
}

/* Copies all n values of an array to the legacy file. */
static gls_status copy_values(xml *x, const array *a, uint64_t n)
{
    values v;
    const size_t size = gls_type_size(types[a->type].type);
    unsigned char *block = malloc(BLOCK_BYTES);
    gls_status status = open_values(x, a, &v);
    if (!status && !block) status = gls_reader_no_memory(x->reader);
    if (!status && a->coding != AS_TEXT && v.bytes / size < n) status = damaged(x, "an array has too few values");
    for (uint64_t done = 0; done < n && !status;) {
        const uint64_t some = n - done < BLOCK_BYTES / size ? n - done : BLOCK_BYTES / size;
        status = read_block(&v, a, some, block);
        if (!status) status = put(x, block, (size_t)some * size);
        done += some;
    }
    close_values(&v);
    free(block);
    return status ? status : put_text(x, "\n");
}

/* --- The pass over the tags. */

/* The next byte; -1 at the end or after a failure. */
static int next_byte(xml *x)
{
    unsigned char c;
    if (gls_cursor_left(&x->cursor) == 0 || gls_cursor_read(&x->cursor, &c, 1) != GLS_OK) return -1;
    return c;
}

/* Reads the next tag, without its brackets, up to the closing one, which does not count within quotes; "" at the end of
 * the file. *before: position of the tag's "<". Comments are tags, too, since the tags of VTK's files have no ">" in
 * them. */
static gls_status next_tag(xml *x, char tag[TAG_BYTES], uint64_t *before)
{
    int c, quote = 0;
    size_t n = 0;
    tag[0] = '\0';
    while ((c = next_byte(x)) >= 0 && c != '<') continue;
    *before = x->reader->info.bytes - gls_cursor_left(&x->cursor) - 1;
    if (c < 0) return GLS_OK;
    while ((c = next_byte(x)) >= 0 && (quote || c != '>')) {
        if (c == quote)
            quote = 0;
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        if (n == TAG_BYTES - 1) return damaged(x, "a tag is too long");
        tag[n++] = c == '\0' ? ' ' : (char)c;
    }
    tag[n] = '\0';
    return c < 0 ? damaged(x, "a tag has no end") : GLS_OK;
}

/* Whether the tag has this name. */
static bool is_tag(const char *tag, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(tag, name, n) == 0 && (tag[n] == '\0' || tag[n] == '/' || gls_is_space((unsigned char)tag[n]));
}

/* Replaces the entities of XML by their characters, in place. */
static void decode_entities(char *text)
{
    static const char *const entities[] = {"&lt;<", "&gt;>", "&amp;&", "&quot;\"", "&apos;'"};
    char *to = text;
    for (const char *from = text; *from; to++) {
        size_t n = 1;
        *to = *from;
        for (size_t i = 0; i < sizeof entities / sizeof *entities && *from == '&'; i++) {
            const size_t length = strlen(entities[i]) - 1;
            if (strncmp(from, entities[i], length) != 0) continue;
            *to = entities[i][length];
            n = length;
            break;
        }
        from += n;
    }
    *to = '\0';
}

/* Copies the value of an attribute; "" if the tag does not have it, or it is too long. */
static void get_attribute(const char *tag, const char *name, char *value, size_t size)
{
    const size_t n = strlen(name);
    *value = '\0';
    for (const char *at = tag; (at = strstr(at, name)); at += n) {
        const char *equals = at + n + strspn(at + n, " \t\r\n");
        if (at == tag || !gls_is_space((unsigned char)at[-1]) || *equals != '=') continue;
        const char *open = equals + 1 + strspn(equals + 1, " \t\r\n"), *close = *open ? strchr(open + 1, *open) : NULL;
        if ((*open != '"' && *open != '\'') || !close || (size_t)(close - open) > size) continue;
        memcpy(value, open + 1, (size_t)(close - open - 1));
        value[close - open - 1] = '\0';
        decode_entities(value);
        return;
    }
}

/* Reads an attribute that is a number. */
static gls_status get_number(const xml *x, const char *tag, const char *name, uint64_t otherwise, uint64_t *value)
{
    char text[32];
    get_attribute(tag, name, text, sizeof text);
    *value = otherwise;
    if (!*text || (gls_parse_uint64(text, value) && *value < UINT64_MAX / 1024)) return GLS_OK;
    return damaged(x, "a number of a tag is not valid");
}

/* Reads the attributes of the whole file. */
static gls_status read_file_tag(xml *x, const char *tag)
{
    char text[64];
    get_attribute(tag, "type", text, sizeof text);
    if (strcmp(text, "PolyData") != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: holds %s; only PolyData is known", x->reader->path,
                        *text ? text : "no VTK data");
    get_attribute(tag, "byte_order", text, sizeof text);
    x->big_endian = strcmp(text, "BigEndian") == 0;
    get_attribute(tag, "header_type", text, sizeof text);
    x->wide = strcmp(text, "UInt64") == 0;
    get_attribute(tag, "compressor", text, sizeof text);
    x->packed = *text != '\0';
    if (*text && strcmp(text, "vtkZLibDataCompressor") != 0)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: is packed by %s: only zlib is known: write it again with zlib",
                        x->reader->path, text);
    return GLS_OK;
}

/* Notes an array. Its values in place end where the next tag begins. */
static gls_status note_array(xml *x, const char *tag, part part, array *a)
{
    char text[32];
    *a = (array){.part = part, .type = -1, .at = x->reader->info.bytes - gls_cursor_left(&x->cursor)};
    get_attribute(tag, "Name", a->name, sizeof a->name);
    get_attribute(tag, "type", text, sizeof text);
    for (int i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, text) == 0) a->type = i;
    gls_status status = get_number(x, tag, "NumberOfComponents", 1, &a->components);
    if (status) return status;
    if (a->type < 0) return gls_fail(GLS_ERR_INPUT, "%s: values of type %s are not known", x->reader->path, text);
    if (a->components < 1) a->components = 1;
    get_attribute(tag, "format", text, sizeof text);
    a->coding = strcmp(text, "appended") == 0 ? APPENDED : strcmp(text, "binary") == 0 ? AS_BASE64 : AS_TEXT;
    return a->coding == APPENDED ? get_number(x, tag, "offset", 0, &a->at) : GLS_OK;
}

/* Adds a noted array to the list. */
static gls_status keep_array(xml *x, const array *a)
{
    if (x->n_arrays == MAX_ARRAYS) return damaged(x, "it has too many arrays");
    x->array[x->n_arrays++] = *a;
    return GLS_OK;
}

/* Notes where appended values begin: behind an underscore. */
static gls_status find_appended(xml *x, const char *tag)
{
    char text[32];
    int c;
    get_attribute(tag, "encoding", text, sizeof text);
    x->base64 = strcmp(text, "base64") == 0;
    while ((c = next_byte(x)) >= 0 && gls_is_space(c)) continue;
    x->appended = x->reader->info.bytes - gls_cursor_left(&x->cursor);
    return c == '_' ? GLS_OK : damaged(x, "its AppendedData do not begin with an underscore");
}

/* The part of the file that a tag opens; a tag that closes one gives NO_PART. */
static part part_of(const char *tag, part now)
{
    static const char *const names[] = {[FIELD_DATA] = "FieldData",
                                        [POINT_DATA] = "PointData",
                                        [CELL_DATA] = "CellData",
                                        [POINTS] = "Points",
                                        [LINES] = "Lines"};
    for (part i = FIELD_DATA; i <= LINES; i++) {
        if (is_tag(tag, names[i])) return i;
        if (*tag == '/' && is_tag(tag + 1, names[i])) return NO_PART;
    }
    /* arrays of cells that are no lines have no part */
    return is_tag(tag, "Verts") || is_tag(tag, "Strips") || is_tag(tag, "Polys") ? NO_PART : now;
}

/* Takes one tag. open: true while an array in place waits for its end, which is where this tag begins. */
static gls_status take_tag(xml *x, const char *tag, uint64_t before, part *now, array *pending, bool *open)
{
    gls_status status = GLS_OK;
    if (*open) {
        *open = false;
        pending->end = before;
        status = keep_array(x, pending);
    }
    *now = part_of(tag, *now);
    if (status) return status;
    if (is_tag(tag, "VTKFile")) return read_file_tag(x, tag);
    if (is_tag(tag, "Piece")) {
        if (++x->n_pieces > 1)
            return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has several pieces, which is not supported: append them to one",
                            x->reader->path);
        status = get_number(x, tag, "NumberOfPoints", 0, &x->n_points);
        return status ? status : get_number(x, tag, "NumberOfLines", 0, &x->n_lines);
    }
    if ((is_tag(tag, "DataArray") || is_tag(tag, "Array")) && *now != NO_PART) {
        status = note_array(x, tag, *now, pending);
        if (!status && pending->coding == APPENDED) return keep_array(x, pending);
        *open = !status && tag[strlen(tag) - 1] != '/';
    }
    return status;
}

/* Passes over all tags, up to appended values. */
static gls_status find_arrays(xml *x)
{
    char tag[TAG_BYTES];
    uint64_t before = 0;
    part now = NO_PART;
    array pending = {.part = NO_PART};
    bool open = false;
    gls_status status = gls_cursor_init(&x->cursor, x->reader->path, x->reader->fd, 0, x->reader->info.bytes);
    while (!status && x->appended == 0) {
        status = next_tag(x, tag, &before);
        if (status || !*tag) break;
        status = is_tag(tag, "AppendedData") ? find_appended(x, tag) : take_tag(x, tag, before, &now, &pending, &open);
    }
    if (!status && x->n_pieces == 0) status = damaged(x, "it has no Piece");
    gls_cursor_finish(&x->cursor);
    return status;
}

/* --- Both together. */

/* The first array of a part, with this name unless name is NULL; NULL: none. */
static const array *find_array(const xml *x, part part, const char *name)
{
    for (size_t i = 0; i < x->n_arrays; i++)
        if (x->array[i].part == part && (!name || strcmp(x->array[i].name, name) == 0)) return &x->array[i];
    return NULL;
}

/* Writes the head. 3D Slicer states the axes in a text of the file, SPACE. */
static gls_status write_head(xml *x)
{
    values v;
    const array *space = find_array(x, FIELD_DATA, "SPACE");
    char title[64] = "", text[4] = "", line[160];
    if (space) {
        gls_status status = open_values(x, space, &v);
        if (!status) status = read_block(&v, space, 3, (unsigned char *)text);
        close_values(&v);
        if (status) return status;
        if (strcmp(text, "RAS") == 0 || strcmp(text, "LPS") == 0) snprintf(title, sizeof title, "SPACE=%s", text);
    }
    snprintf(line, sizeof line, "# vtk DataFile Version 5.1\n%s\nBINARY\nDATASET POLYDATA\n", title);
    return put_text(x, line);
}

/* Writes lines. Offsets in XML are the ends of lines, before some versions without the 0 in front of the first. */
static gls_status write_lines(xml *x)
{
    const array *ends = find_array(x, LINES, "offsets"), *points = find_array(x, LINES, "connectivity");
    static const unsigned char zero[8] = {0};
    uint64_t n_ends = 0, n = 0;
    char line[96];
    if (x->n_lines == 0) return GLS_OK;
    if (!ends || !points) return damaged(x, "its lines have no offsets or no connectivity");
    gls_status status = count_values(x, ends, &n_ends);
    if (!status) status = count_values(x, points, &n);
    if (!status && n_ends != x->n_lines && n_ends != x->n_lines + 1)
        status = damaged(x, "it has another number of offsets than of lines");
    if (status) return status;
    snprintf(line, sizeof line, "LINES %" PRIu64 " %" PRIu64 "\nOFFSETS %s\n", x->n_lines + 1, n,
             types[ends->type].legacy);
    status = put_text(x, line);
    if (!status && n_ends == x->n_lines) status = put(x, zero, gls_type_size(types[ends->type].type));
    if (!status) status = copy_values(x, ends, n_ends);
    snprintf(line, sizeof line, "CONNECTIVITY %s\n", types[points->type].legacy);
    if (!status) status = put_text(x, line);
    return status ? status : copy_values(x, points, n);
}

/* Writes the name of a column as legacy files encode it: %20 for a blank, and so on. */
static gls_status put_name(xml *x, const char *name)
{
    char coded[4];
    gls_status status = *name ? GLS_OK : put_text(x, "unnamed");
    for (const char *c = name; *c && !status; c++) {
        const bool plain = gls_is_alnum((unsigned char)*c) || strchr("_-.", *c);
        if (plain)
            status = put(x, c, 1);
        else
            snprintf(coded, sizeof coded, "%%%02X", (unsigned)(unsigned char)*c), status = put_text(x, coded);
    }
    return status;
}

/* Writes the columns of points or of lines. */
static gls_status write_columns(xml *x, part part, const char *section, uint64_t n_rows)
{
    size_t n = 0;
    char line[96];
    gls_status status = GLS_OK;
    for (size_t i = 0; i < x->n_arrays; i++) n += x->array[i].part == part;
    if (n == 0) return GLS_OK;
    snprintf(line, sizeof line, "%s %" PRIu64 "\nFIELD FieldData %zu\n", section, n_rows, n);
    status = put_text(x, line);
    for (size_t i = 0; i < x->n_arrays && !status; i++) {
        const array *a = &x->array[i];
        uint64_t values = 0;
        if (a->part != part) continue;
        status = count_values(x, a, &values);
        if (!status) status = put_name(x, a->name);
        snprintf(line, sizeof line, " %" PRIu64 " %" PRIu64 " %s\n", a->components, values / a->components,
                 types[a->type].legacy);
        if (!status) status = put_text(x, line);
        if (!status) status = copy_values(x, a, values / a->components * a->components);
    }
    return status;
}

/* Writes the whole legacy file. */
static gls_status write_legacy(xml *x)
{
    char line[96];
    const array *points = find_array(x, POINTS, NULL);
    gls_status status = write_head(x);
    if (!status && x->n_points > 0 && !points) status = damaged(x, "it has no Points");
    if (!status && points) {
        snprintf(line, sizeof line, "POINTS %" PRIu64 " %s\n", x->n_points, types[points->type].legacy);
        status = put_text(x, line);
        if (!status) status = copy_values(x, points, 3 * x->n_points);
    }
    if (!status) status = write_lines(x);
    if (!status) status = write_columns(x, POINT_DATA, "POINT_DATA", x->n_points);
    if (!status) status = write_columns(x, CELL_DATA, "CELL_DATA", x->n_lines);
    return status ? status : flush(x);
}

gls_status gls_vtk_from_xml(gls_tractogram_reader *r, int fd)
{
    xml x = {.reader = r, .fd = fd, .out = malloc(BLOCK_BYTES), .array = calloc(MAX_ARRAYS, sizeof *x.array)};
    gls_status status = x.out && x.array ? find_arrays(&x) : gls_reader_no_memory(r);
    if (!status) status = write_legacy(&x);
    free(x.array);
    free(x.out);
    return status;
}
