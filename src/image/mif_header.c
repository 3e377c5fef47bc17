/* Headers of MRtrix images: lines "key: value" between "mrtrix image" and "END". */
#include "image/mif_header.h"
#include "image/formats.h"
#include "image/stream.h"

#include <math.h>
#include <nifti2_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

#define MAGIC "mrtrix image"
/* Limits of a header that is read: its bytes, its axes, voxels along an axis, and values of the image. */
#define MAX_HEADER ((size_t)16 << 20)
#define MAX_FILE_AXES 16
#define MAX_SIZE 2147483647.0
#define MAX_VALUES ((uint64_t)1 << 45)

/* Contents of the lines of a header, before they are combined and checked. */
typedef struct lines {
    const char *path;
    int n_dim, n_vox, n_layout, n_transform, n_files;
    double dim[MAX_FILE_AXES], vox[MAX_FILE_AXES];
    int rank[MAX_FILE_AXES];
    bool turned[MAX_FILE_AXES];
    double transform[4][4];
    size_t n_scheme, room; /* rows of the gradient table: used, allocated */
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

/* Reads the header. *text is from malloc, has *header_bytes bytes or more, and space for a NUL behind them. */
static gls_status read_text(const char *path, char **text, size_t *header_bytes)
{
    gls_stream *stream = NULL;
    size_t n = 0, room = 0, got = 1, found = 0;
    char *data = NULL;
    gls_status status = gls_stream_open_regular(path, &stream);
    while (!status && !found) {
        room = room ? 2 * room : 8192;
        char *grown = room <= MAX_HEADER ? realloc(data, room + 1) : NULL;
        if (!grown) {
            status = room <= MAX_HEADER
                         ? gls_fail(GLS_ERR_MEMORY, "%s: no memory for its header", path)
                         : gls_fail(GLS_ERR_INPUT, "%s: its header has no line END in the first 16 MiB", path);
            break;
        }
        data = grown;
        status = gls_stream_read(stream, data + n, room - n, &got);
        if (status) break;
        const bool whole = got < room - n;
        n += got;
        if (n < strlen(MAGIC) || memcmp(data, MAGIC, strlen(MAGIC)) != 0)
            status = gls_fail(GLS_ERR_INPUT, "%s: is no MRtrix image: its first line is not '" MAGIC "'", path);
        else if (!(found = gls_mrtrix_header_bytes(data, n, whole)) && whole && gls_case_ends(path, ".mih"))
            found = n; /* a .mih without the line END: the whole file is the header */
        else if (!found && whole)
            status = gls_fail(GLS_ERR_INPUT, "%s: truncated: the header has no line END", path);
    }
    gls_stream_close(stream);
    if (status) {
        free(data);
        return status;
    }
    *text = data;
    *header_bytes = found;
    return GLS_OK;
}

/* Parses numbers separated by commas, at most `room` of them. Returns their number; -1: the text is invalid, or has
 * more numbers. */
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

/* Returns the error for a line "key: value" of the header whose value cannot be read. */
static gls_status bad(const lines *l, const char *key, const char *value)
{
    return gls_fail(GLS_ERR_INPUT, "%s: cannot read '%s: %.60s' in its header: correct this line", l->path, key, value);
}

/* Parses the layout, such as "-0,+2,+1": for each axis its rank, 0 for the fastest, and a minus if it is stored
 * backwards. "0" means "+0". */
static gls_status parse_layout(lines *l, const char *value)
{
    int n = 0;
    for (const char *c = value;; c++) {
        char *end;
        c += strspn(c, " \t");
        l->turned[n] = *c == '-';
        if (*c == '-' || *c == '+') c++;
        if (!gls_is_digit((unsigned char)*c)) return bad(l, "layout", value);
        long rank = strtol(c, &end, 10);
        if (rank >= MAX_FILE_AXES) return bad(l, "layout", value);
        l->rank[n++] = (int)rank;
        c = end + strspn(end, " \t");
        if (!*c) break;
        if (*c != ',' || n == MAX_FILE_AXES) return bad(l, "layout", value);
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

/* Parses the type; LE or BE at its end sets the byte order. */
static gls_status parse_type(lines *l, gls_mif_header *h, const char *value)
{
    size_t n;
    gls_mrtrix_type(value, &n, &h->values.swapped);
    l->has_type = true;
    h->coding = GLS_MIF_VALUES;
    if (gls_case_compare(value, "Bit") == 0) {
        h->coding = GLS_MIF_BITS;
        return GLS_OK;
    }
    if (gls_to_lower((unsigned char)value[0]) == 'c')
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%s: complex values (%s) are not supported: take their magnitudes first (mrcalc -abs)", l->path,
                        value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) != n || gls_case_compare_n(types[i].name, value, n) != 0) continue;
        h->values.datatype = types[i].code;
        h->values.bytes = types[i].bytes;
        h->values.swapped &= types[i].bytes > 1;
        if (strcmp(types[i].name, "Float16") == 0) h->coding = GLS_MIF_FLOAT16;
        return GLS_OK;
    }
    return gls_fail(GLS_ERR_INPUT, "%s: its header has the datatype '%.40s', which is unknown", l->path, value);
}

/* Parses the key `file`: the name of the file of values, and the byte at which the values begin; "." is the file of the
 * header. */
static gls_status parse_file(lines *l, gls_mif_header *h, const char *value)
{
    if (++l->n_files > 1 || strchr(value, '['))
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: values in several files are not supported: mrconvert joins them",
                        l->path);
    gls_status status = gls_mrtrix_data_file(l->path, value, &h->file, &h->offset);
    return status || h->offset <= MAX_VALUES ? status : bad(l, "file", value);
}

/* Appends a row x y z b of the gradient table. */
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

/* Appends a row, four numbers between blanks, to one of the two affine maps of a field of both directions. */
static void add_linear(gls_mif_header *h, int which, const char *value)
{
    double row[4];
    char *end;
    for (int c = 0; c < 4; c++, value = end) {
        row[c] = gls_strtod(value, &end);
        if (end == value) return; /* not of mrregister: whoever needs the map misses its third row */
    }
    if (h->n_linear[which] < 3) memcpy(h->linear[which][h->n_linear[which]], row, sizeof row);
    h->n_linear[which]++;
}

/* Whether a key of the header is `name`. Upper and lower case count as equal, as in MRtrix3. */
static bool is_key(const char *key, const char *name)
{
    return gls_case_compare(key, name) == 0;
}

/* Stores the value of one line of the header; unknown keys are ignored. */
static gls_status parse_line(lines *l, gls_mif_header *h, const char *key, char *value)
{
    double row[MAX_FILE_AXES];
    if (is_key(key, "layout")) return parse_layout(l, value);
    if (is_key(key, "datatype")) return parse_type(l, h, value);
    if (is_key(key, "file")) return parse_file(l, h, value);
    bool is_dim = is_key(key, "dim"), is_vox = is_key(key, "vox"), is_scheme = is_key(key, "dw_scheme"),
         is_transform = is_key(key, "transform"), is_scaling = is_key(key, "scaling");
    if (is_key(key, "linear1") || is_key(key, "linear2")) return add_linear(h, key[6] - '1', value), GLS_OK;
    if (!is_dim && !is_vox && !is_scheme && !is_transform && !is_scaling) return GLS_OK;
    if (is_vox)
        for (char *nan; (nan = gls_case_find(value, "nan"));)
            memcpy(nan, "  0", 3); /* 0 stands for NaN, the voxel size of an axis that is not one of space */
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

/* Stores the values of all lines, then requires a datatype and the position of the values, which must lie behind the
 * header if they are in the same file. */
static gls_status parse_text(lines *l, gls_mif_header *h, char *text, size_t n)
{
    gls_status status = GLS_OK;
    char *rest = gls_mrtrix_lines(text, n), *key, *value;
    for (char *line; !status && (line = gls_mrtrix_next(&rest));)
        if (gls_mrtrix_split(line, &key, &value)) status = parse_line(l, h, key, value);
    if (!status && !l->has_type)
        status = gls_fail(GLS_ERR_INPUT, "%s: its header has no line \"datatype\", which says how values are stored",
                          l->path);
    if (!status && l->n_files == 0)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: the header has no line \"file\", which says where the values are", l->path);
    if (!status && !h->file && h->offset < n)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: damaged header: it has %zu bytes, but says that the values begin at byte %llu",
                     l->path, n, (unsigned long long)h->offset);
    return status;
}

/* Checks axis i, of more than one value, behind the four of a series: it may be that of fields of vectors, one behind
 * the other. */
static gls_status check_axis(const lines *l, int i)
{
    const bool fields = i == 4 && l->dim[3] == 3 && l->dim[i] <= GLS_FIELDS_MAX;
    if (!fields)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has %d axes, but at most 4 are supported", l->path, l->n_dim);
    if (l->rank[i] == l->rank[3] + 1 && !l->turned[i] && !l->turned[3]) return GLS_OK;
    return gls_fail(GLS_ERR_UNSUPPORTED,
                    "%s: has %g fields of vectors, but its layout does not store them one behind the other, first x of "
                    "all voxels, then y, then z: store them so by MRtrix3's 'mrconvert IN -strides 1,2,3,4,5 OUT'",
                    l->path, l->dim[i]);
}

/* Checks and sets the sizes, the order of the axes, and the number of bytes of the values. */
static gls_status set_axes(const lines *l, gls_mif_header *h)
{
    uint64_t n = 1;
    bool seen[MAX_FILE_AXES] = {false};
    if (l->n_dim < 3 || l->n_vox < 3 || l->n_layout != l->n_dim)
        return gls_fail(
            GLS_ERR_INPUT,
            "%s: its header needs dim, vox and layout, each of three or more axes, and layout of as many as dim",
            l->path);
    for (int i = 0; i < l->n_dim; i++) {
        if (!(l->dim[i] >= 1 && l->dim[i] <= MAX_SIZE && l->dim[i] == floor(l->dim[i])))
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: in its header, number %d of \"dim\" is %g, but a size is a whole number from 1 to 2147483647",
                l->path, i + 1, l->dim[i]);
        if (l->rank[i] >= l->n_dim || seen[l->rank[i]])
            return gls_fail(GLS_ERR_INPUT, "%s: damaged header: its layout names an axis twice, or leaves one out",
                            l->path);
        seen[l->rank[i]] = true;
        const gls_status status = i >= GLS_MIF_AXES && l->dim[i] > 1 ? check_axis(l, i) : GLS_OK;
        if (status) return status;
        if (__builtin_mul_overflow(n, (uint64_t)l->dim[i], &n) || n > MAX_VALUES)
            return gls_fail(GLS_ERR_INPUT, "%s: its header states more than 2^45 values, too many for an image",
                            l->path);
    }
    h->fifth = l->n_dim > 4 ? (int)l->dim[4] : 1;
    h->n_volumes = l->n_dim > 3 ? (size_t)l->dim[3] * (size_t)h->fifth : 1;
    h->bytes = h->coding == GLS_MIF_BITS ? (n + 7) / 8 : n * h->values.bytes;
    h->volumes_turned = l->n_dim > 3 && l->turned[3];
    h->volumes_rank = 3;
    for (int i = 0; i < 3 && l->n_dim > 3; i++) h->volumes_rank -= l->rank[i] > l->rank[3];
    return GLS_OK;
}

/* Sets the grid. Its axes are the axes of space as stored, the fastest first, in the direction of storage: MRtrix3
 * writes NIfTI files with the axes in this order, and a gradient table in FSL's convention refers to them. */
static gls_status set_grid(const lines *l, gls_mif_header *h)
{
    int32_t dim[3];
    double affine[3][4];
    if (l->n_transform < 3) return gls_fail(GLS_ERR_INPUT, "%s: its header has no transform of three rows", l->path);
    for (int r = 0; r < 3; r++) affine[r][3] = l->transform[r][3];
    for (int axis = 0; axis < 3; axis++) {
        int c = 0; /* rank of the axis among the three */
        for (int i = 0; i < 3; i++) c += l->rank[i] < l->rank[axis];
        dim[c] = (int32_t)l->dim[axis];
        for (int r = 0; r < 3; r++) {
            double step = l->transform[r][axis] * l->vox[axis];
            if (l->turned[axis]) affine[r][3] += step * (dim[c] - 1);
            affine[r][c] = l->turned[axis] ? -step : step;
        }
    }
    if (gls_grid_init(&h->grid, dim, (const double(*)[4])affine) == GLS_OK) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: the voxel sizes (vox) and the transform in its header make no grid: sizes have to be positive "
                    "numbers, and axes different",
                    l->path);
}

gls_status gls_mif_read_header(const char *path, gls_mif_header *header)
{
    gls_mif_header h = {.values = {.slope = 1}};
    lines l = {.path = path};
    char *text = NULL;
    size_t n = 0;
    gls_status status = read_text(path, &text, &n);
    if (!status) status = parse_text(&l, &h, text, n);
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
