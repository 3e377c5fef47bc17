/* Headers of MRtrix images: lines "key: value" between "mrtrix image" and "END". */
#include "image/mif.h"

#include <math.h>
#include <nifti2_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/stream.h"
#include "util/parse.h"
#include "util/plain.h"
#include "util/status.h"

#define MAGIC "mrtrix image"
#define MAX_HEADER ((size_t)16 << 20)
#define MAX_FILE_AXES 16
#define MAX_SIZE 2147483647.0
#define MAX_VALUES ((uint64_t)1 << 45)

/* What the lines say, before it is put together. */
typedef struct lines {
    const char *path;
    int n_dim, n_vox, n_layout, n_transform, n_files;
    double dim[MAX_FILE_AXES], vox[MAX_FILE_AXES];
    int rank[MAX_FILE_AXES];
    bool turned[MAX_FILE_AXES];
    double transform[4][4];
    size_t n_scheme, room; /* rows of the scheme */
    bool has_type;
} lines;

bool gls_mif_is_name(const char *path)
{
    size_t n = strlen(path);
    if (n > 3 && gls_case_compare(path + n - 3, ".gz") == 0) n -= 3;
    return n > 4 &&
           (gls_case_compare_n(path + n - 4, ".mif", 4) == 0 || gls_case_compare_n(path + n - 4, ".mih", 4) == 0);
}

void gls_mif_header_finish(gls_mif_header *header)
{
    free(header->file);
    free(header->scheme);
    header->file = NULL;
    header->scheme = NULL;
}

static bool is_pair(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && gls_case_compare(path + n - 4, ".mih") == 0;
}

/* The text up to "END", NUL-terminated. */
static gls_status read_text(const char *path, char **text)
{
    gls_stream *stream = NULL;
    size_t n = 0, room = 0, got = 0;
    char *data = NULL, *end = NULL;
    gls_status status = gls_stream_open_regular(path, &stream);
    while (!status && !end) {
        if (n + 1 >= MAX_HEADER) {
            status = gls_fail(GLS_ERR_INPUT, "%s: no line END in the first 16 MiB", path);
            break;
        }
        size_t more = room ? room : 8192;
        char *grown = realloc(data, room + more);
        if (!grown) {
            status = gls_fail(GLS_ERR_MEMORY, "%s: no memory for its header", path);
            break;
        }
        data = grown;
        room += more;
        status = gls_stream_read(stream, data + n, room - n - 1, &got);
        size_t from = n > 8 ? n - 8 : 0;
        n += got;
        data[n] = '\0';
        if (status) break;
        if (n < strlen(MAGIC) || strncmp(data, MAGIC, strlen(MAGIC)) != 0)
            status = gls_fail(GLS_ERR_INPUT, "%s: is no MRtrix image: its first line is not '" MAGIC "'", path);
        else if (!(end = memmem(data + from, n - from, "\nEND", 4)) && got == 0 && is_pair(path))
            end = data + n - 1; /* the whole file is the header */
        else if (!end && got == 0)
            status = gls_fail(GLS_ERR_INPUT, "%s: truncated: the header has no line END", path);
    }
    gls_stream_close(stream);
    if (status) {
        free(data);
        return status;
    }
    end[1] = '\0';
    *text = data;
    return GLS_OK;
}

/* Numbers with commas between them: at most room; -1 for anything else. */
static int parse_numbers(char *text, double *value, int room)
{
    int n = 0;
    for (char *rest = text, *word; (word = strsep(&rest, ","));) {
        word += strspn(word, " \t");
        word[strcspn(word, " \t\r")] = '\0';
        if (n == room || !gls_parse_double(word, &value[n++])) return -1;
    }
    return n;
}

static gls_status bad(const lines *l, const char *key, const char *value)
{
    return gls_fail(GLS_ERR_INPUT, "%s: cannot read '%s: %.60s'", l->path, key, value);
}

/* "-0,+2,+1": for each axis its place from the fastest, and whether it runs backwards. */
static gls_status parse_layout(lines *l, const char *value)
{
    int n = 0;
    for (const char *c = value;; c++) {
        char *end;
        if (n == MAX_FILE_AXES || (*c != '+' && *c != '-') || c[1] < '0' || c[1] > '9') return bad(l, "layout", value);
        l->turned[n] = *c == '-';
        long rank = strtol(c + 1, &end, 10);
        if (rank >= MAX_FILE_AXES) return bad(l, "layout", value);
        l->rank[n++] = (int)rank;
        c = end + strspn(end, " \t");
        if (!*c) break;
        if (*c != ',') return bad(l, "layout", value);
    }
    l->n_layout = n;
    return GLS_OK;
}

static const struct {
    const char *name;
    int code;
    size_t bytes;
} types[] = {{"Int8", NIFTI_TYPE_INT8, 1},       {"UInt8", NIFTI_TYPE_UINT8, 1},   {"Int16", NIFTI_TYPE_INT16, 2},
             {"UInt16", NIFTI_TYPE_UINT16, 2},   {"Int32", NIFTI_TYPE_INT32, 4},   {"UInt32", NIFTI_TYPE_UINT32, 4},
             {"Int64", NIFTI_TYPE_INT64, 8},     {"UInt64", NIFTI_TYPE_UINT64, 8}, {"Float32", NIFTI_TYPE_FLOAT32, 4},
             {"Float64", NIFTI_TYPE_FLOAT64, 8}, {"Float16", NIFTI_TYPE_UINT16, 2}};

/* A name of a type, with LE or BE where the order of bytes is not this machine's own. */
static gls_status parse_type(lines *l, gls_mif_header *h, const char *value)
{
    size_t n = strlen(value);
    bool little = true, native = !(n > 2 && (strcmp(value + n - 2, "LE") == 0 || strcmp(value + n - 2, "BE") == 0));
    if (!native) {
        little = value[n - 2] == 'L';
        n -= 2;
    }
    l->has_type = true;
    h->coding = GLS_MIF_VALUES;
    if (strcmp(value, "Bit") == 0) {
        h->coding = GLS_MIF_BITS;
        return GLS_OK;
    }
    if (value[0] == 'C')
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: complex values (%s) are not supported", l->path, value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) != n || strncmp(types[i].name, value, n) != 0) continue;
        h->values.datatype = types[i].code;
        h->values.bytes = types[i].bytes;
        h->values.swapped = !native && little != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) && types[i].bytes > 1;
        if (strncmp(value, "Float16", 7) == 0) h->coding = GLS_MIF_FLOAT16;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_INPUT, "%s: unknown type of values '%.40s'", l->path, value);
}

/* ". OFFSET" or "NAME OFFSET", relative to the header. */
static gls_status parse_file(lines *l, gls_mif_header *h, char *value)
{
    if (++l->n_files > 1)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: values in several files: mrconvert makes one of them", l->path);
    char *blank = strrchr(value, ' ');
    if (blank && gls_parse_uint64(blank + 1, &h->offset))
        *blank = '\0';
    else if (blank)
        return bad(l, "file", value);
    if (h->offset > MAX_VALUES) return bad(l, "file", value);
    if (strcmp(value, ".") == 0) return GLS_OK;
    if (strchr(value, '['))
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: values in several files: mrconvert makes one of them", l->path);
    const char *slash = strrchr(l->path, '/');
    int folder = slash && *value != '/' ? (int)(slash + 1 - l->path) : 0;
    if (asprintf(&h->file, "%.*s%s", folder, l->path, value) < 0) {
        h->file = NULL;
        return gls_fail(GLS_ERR_MEMORY, "%s: no memory", l->path);
    }
    return GLS_OK;
}

static gls_status add_gradient(lines *l, gls_mif_header *h, const double row[4])
{
    if (h->n_scheme == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        double(*grown)[4] = realloc(h->scheme, room * sizeof *grown);
        if (!grown) return gls_fail(GLS_ERR_MEMORY, "%s: no memory for its gradient table", l->path);
        h->scheme = grown;
        l->room = room;
    }
    memcpy(h->scheme[h->n_scheme++], row, 4 * sizeof *row);
    return GLS_OK;
}

static gls_status parse_line(lines *l, gls_mif_header *h, const char *key, char *value)
{
    double row[MAX_FILE_AXES];
    if (strcmp(key, "layout") == 0) return parse_layout(l, value);
    if (strcmp(key, "datatype") == 0) return parse_type(l, h, value);
    if (strcmp(key, "file") == 0) return parse_file(l, h, value);
    bool is_dim = strcmp(key, "dim") == 0, is_vox = strcmp(key, "vox") == 0, is_scheme = strcmp(key, "dw_scheme") == 0,
         is_transform = strcmp(key, "transform") == 0, is_scaling = strcmp(key, "scaling") == 0;
    if (!is_dim && !is_vox && !is_scheme && !is_transform && !is_scaling) return GLS_OK;
    if (is_vox)
        for (char *nan; (nan = gls_case_find(value, "nan"));)
            memcpy(nan, "  0", 3); /* right for axes that are no space alone */
    char copy[64];
    snprintf(copy, sizeof copy, "%s", value);
    int n = parse_numbers(value, row, MAX_FILE_AXES);
    if (n < 0 || (is_scaling && n != 2) || (is_scheme && n < 4) || (is_transform && (n != 4 || l->n_transform == 4)))
        return bad(l, key, copy);
    if (is_scheme) return add_gradient(l, h, row);
    if (is_transform) memcpy(l->transform[l->n_transform++], row, 4 * sizeof *row);
    if (is_scaling) h->values.inter = row[0], h->values.slope = row[1];
    if (is_dim) l->n_dim = n, memcpy(l->dim, row, sizeof row);
    if (is_vox) l->n_vox = n, memcpy(l->vox, row, sizeof row);
    return GLS_OK;
}

static gls_status parse_text(lines *l, gls_mif_header *h, char *text)
{
    gls_status status = GLS_OK;
    strsep(&text, "\n");
    for (char *line; !status && (line = strsep(&text, "\n"));) {
        char *colon = strchr(line, ':');
        if (!colon) continue;
        *colon = '\0';
        char *value = colon + 1 + strspn(colon + 1, " \t");
        for (size_t n = strlen(value); n > 0 && strchr(" \t\r", value[n - 1]); n--) value[n - 1] = '\0';
        status = parse_line(l, h, line, value);
    }
    return status;
}

/* Sizes, order of axes, bytes. */
static gls_status set_axes(const lines *l, gls_mif_header *h)
{
    uint64_t n = 1;
    bool seen[MAX_FILE_AXES] = {false};
    if (l->n_dim < 3 || l->n_vox < 3 || l->n_layout != l->n_dim)
        return gls_fail(GLS_ERR_INPUT, "%s: dim, vox and layout of three or more axes are needed", l->path);
    for (int i = 0; i < l->n_dim; i++) {
        if (!(l->dim[i] >= 1 && l->dim[i] <= MAX_SIZE && l->dim[i] == floor(l->dim[i])))
            return gls_fail(GLS_ERR_INPUT, "%s: axis %d has the size %g", l->path, i, l->dim[i]);
        if (l->rank[i] >= l->n_dim || seen[l->rank[i]])
            return gls_fail(GLS_ERR_INPUT, "%s: the layout does not give each axis a place of its own", l->path);
        seen[l->rank[i]] = true;
        if (i >= GLS_MIF_AXES && l->dim[i] > 1)
            return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has %d axes, at most 4 are supported", l->path, l->n_dim);
        if (__builtin_mul_overflow(n, (uint64_t)l->dim[i], &n) || n > MAX_VALUES)
            return gls_fail(GLS_ERR_INPUT, "%s: too large for an image", l->path);
    }
    h->n_volumes = l->n_dim > 3 ? (size_t)l->dim[3] : 1;
    h->bytes = h->coding == GLS_MIF_BITS ? (n + 7) / 8 : n * h->values.bytes;
    int at = 0;
    for (int rank = 0; rank < l->n_dim; rank++)
        for (int i = 0; i < l->n_dim && i < GLS_MIF_AXES; i++)
            if (l->rank[i] == rank) h->order[at++] = i;
    if (at < GLS_MIF_AXES) h->order[at] = 3;
    return GLS_OK;
}

/* The affine along the axes as they are stored. */
static gls_status set_grid(const lines *l, gls_mif_header *h)
{
    int32_t dim[3];
    double affine[3][4];
    if (l->n_transform < 3) return gls_fail(GLS_ERR_INPUT, "%s: no transform of three rows", l->path);
    for (int r = 0; r < 3; r++) affine[r][3] = l->transform[r][3];
    for (int c = 0; c < 3; c++) {
        dim[c] = (int32_t)l->dim[c];
        for (int r = 0; r < 3; r++) {
            double step = l->transform[r][c] * l->vox[c];
            if (l->turned[c]) affine[r][3] += step * (dim[c] - 1);
            affine[r][c] = l->turned[c] ? -step : step;
        }
    }
    if (gls_grid_init(&h->grid, dim, (const double(*)[4])affine))
        return gls_fail(GLS_ERR_INPUT, "%s: vox and transform make no grid", l->path);
    return l->n_dim > 3 && l->turned[3]
               ? gls_fail(GLS_ERR_UNSUPPORTED, "%s: volumes in reverse order: mrconvert sets them right", l->path)
               : GLS_OK;
}

gls_status gls_mif_read_header(const char *path, gls_mif_header *header)
{
    gls_mif_header h = {.values = {.slope = 1}};
    lines l = {.path = path};
    char *text = NULL;
    gls_status status = read_text(path, &text);
    if (!status) status = parse_text(&l, &h, text);
    if (!status && !l.has_type) status = gls_fail(GLS_ERR_INPUT, "%s: no datatype", path);
    if (!status && l.n_files == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: no line that tells where the values are", path);
    if (!status) status = set_axes(&l, &h);
    if (!status) status = set_grid(&l, &h);
    free(text);
    if (status) {
        gls_mif_header_finish(&h);
        return status;
    }
    *header = h;
    return GLS_OK;
}
