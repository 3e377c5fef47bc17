/* Reads TRX: several arrays at the same time, each by its own cursor. */

#include <glslines/image.h>
#include <glslines/streamlines.h>
#include <glslines/tractogram.h>
#include <glslines/type.h>

#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tractogram/trx_read.h"
#include "tractogram/cursor.h"
#include "tractogram/pump.h"
#include "tractogram/readers.h"
#include "tractogram/trx_parts.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/status.h"

/* Largest header.json that is read. */
#define MAX_JSON ((uint64_t)16 << 20)
#define BLOCK 8192 /* number of values converted at a time */

/* An array that is read along with the streamlines. */
typedef struct array {
    const gls_trx_part *part; /* NULL: the file has no such array */
    gls_cursor cursor;
} array;

/* State of the reader. */
typedef struct trx {
    /* files of the archive or folder */
    gls_trx_part *part;
    /* number of elements of `part` */
    size_t n_parts;
    /* counts of the header */
    uint64_t n_lines, n_points;
    /* positions: coordinates of points; offsets: index of the first point of each streamline */
    array positions, offsets;
    bool wide;           /* offsets are uint64, else uint32 */
    uint64_t offset;     /* index of the first point of the next streamline */
    array *dps, *dpv;    /* one for each column */
    unsigned char **bit; /* for each group one bit for each streamline */
    bool checked;        /* the checks at the end were made */
} trx;

/* Error about one array. */
static gls_status bad(const gls_tractogram_reader *r, const char *name, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: %s %s", r->path, name, what);
}

/* Takes a whole number from 0 to 2^53, the largest number up to which JSON numbers are exact in many parsers. Returns
 * false for another value. */
static bool read_count(const cJSON *json, const char *key, uint64_t *count)
{
    const cJSON *item = gls_json_at(json, key);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || item->valuedouble > 9007199254740992.0 ||
        item->valuedouble != floor(item->valuedouble))
        return false;
    *count = (uint64_t)item->valuedouble;
    return true;
}

/* Reads a list of exactly n numbers. */
static bool read_numbers(const cJSON *list, int n, double *value)
{
    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != n) return false;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsNumber(item)) return false;
        *value++ = item->valuedouble;
    }
    return true;
}

/* Whether VOXEL_TO_RASMM and DIMENSIONS say that there is no grid: one of them is missing, or all zeros. */
static bool has_no_grid(const cJSON *rows, const cJSON *dim)
{
    double number[4];
    bool zeros = true;
    for (int i = 0; i < 4; i++) {
        zeros &= read_numbers(cJSON_GetArrayItem(rows, i), 4, number);
        for (int c = 0; c < 4 && zeros; c++) zeros = number[c] == 0;
    }
    return !rows || !dim || zeros ||
           (read_numbers(dim, 3, number) && number[0] == 0 && number[1] == 0 && number[2] == 0);
}

/* Reads the grid from the header. A file without a grid is accepted; a grid that cannot be used is an error. */
static gls_status read_grid(gls_tractogram_reader *r, const cJSON *json)
{
    double affine[4][4], size[3];
    int32_t dim[3];
    const cJSON *rows = gls_json_at(json, "VOXEL_TO_RASMM"), *sizes = gls_json_at(json, "DIMENSIONS");
    if (has_no_grid(rows, sizes)) {
        gls_reader_warn(r, "%s: header.json has no valid VOXEL_TO_RASMM or no valid DIMENSIONS: its grid is unknown",
                        r->path);
        return GLS_OK;
    }
    bool ok = cJSON_GetArraySize(rows) == 4 && read_numbers(sizes, 3, size);
    for (int i = 0; i < 4 && ok; i++) ok = read_numbers(cJSON_GetArrayItem(rows, i), 4, affine[i]);
    for (int i = 0; i < 3 && ok; i++) {
        ok = size[i] >= 1 && size[i] <= INT32_MAX;
        dim[i] = ok ? (int32_t)size[i] : 1;
    }
    if (!ok) return gls_reader_damaged(r, "VOXEL_TO_RASMM or DIMENSIONS of header.json is malformed");
    r->info.has_grid = true;
    return gls_reader_set_grid(r, dim, (const double(*)[4])affine, "VOXEL_TO_RASMM of header.json");
}

/* Takes the members of header.json; unknown ones are kept as header fields. */
static gls_status read_fields(gls_tractogram_reader *r, const cJSON *json)
{
    static const char *const known[] = {"VOXEL_TO_RASMM", "DIMENSIONS", "NB_STREAMLINES", "NB_VERTICES"};
    trx *t = r->state;
    const cJSON *item;
    if (!cJSON_IsObject(json) || !read_count(json, "NB_STREAMLINES", &t->n_lines) ||
        !read_count(json, "NB_VERTICES", &t->n_points))
        return gls_reader_damaged(r, "header.json does not say NB_STREAMLINES and NB_VERTICES");
    gls_status status = read_grid(r, json);
    cJSON_ArrayForEach(item, json)
    {
        /* members that TRX does not define are kept for the user, and for files that are made from this one */
        bool other = item->string != NULL;
        for (size_t i = 0; i < sizeof known / sizeof *known && other; i++) other = strcmp(item->string, known[i]) != 0;
        if (!other || status) continue;
        char *text = cJSON_IsString(item) ? strdup(item->valuestring) : gls_json_print_line(item);
        status = text ? gls_reader_add_header(r, item->string, text) : gls_reader_no_memory(r);
        free(text);
    }
    return status;
}

/* Checks at the end of a file that nothing is left and the checksum is right. */
static gls_status check_part(const gls_tractogram_reader *r, const gls_trx_part *part, gls_cursor *c)
{
    if (gls_cursor_left(c) > 0 || !gls_cursor_ends(c))
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: more data in %s than there should be", r->path, part->name);
    if (part->has_crc && c->crc != part->crc)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: %s does not have the checksum that the archive states", r->path,
                        part->name);
    return GLS_OK;
}

/* Reads a whole array, followed by a NUL. */
static gls_status read_part(gls_tractogram_reader *r, const gls_trx_part *part, void **data)
{
    gls_cursor c = {.fd = -1};
    char *text = malloc((size_t)part->bytes + 1);
    if (!text) return gls_reader_no_memory(r);
    gls_status status = gls_trx_part_open(r, part, &c);
    if (!status) status = gls_cursor_read(&c, text, (size_t)part->bytes);
    if (!status) status = check_part(r, part, &c);
    gls_cursor_finish(&c);
    text[part->bytes] = '\0';
    if (!status)
        *data = text;
    else
        free(text);
    return status;
}

/* Finds and reads header.json. */
static gls_status read_json(gls_tractogram_reader *r)
{
    trx *t = r->state;
    const gls_trx_part *part = NULL;
    void *text = NULL;
    for (size_t i = 0; i < t->n_parts; i++)
        if (strcmp(t->part[i].name, "header.json") == 0) part = &t->part[i];
    if (!part)
        return gls_fail(GLS_ERR_INPUT, "%s: is no TRX %s: it has no header.json", r->path,
                        r->fd >= 0 ? "archive" : "folder");
    if (part->bytes > MAX_JSON) return gls_reader_damaged(r, "header.json is larger than 16 MiB");
    gls_status status = read_part(r, part, &text);
    if (status) return status;
    cJSON *json = gls_json_parse(text);
    status = json ? read_fields(r, json)
                  : gls_reader_damaged(r, "header.json is no JSON (which has no NaN and no Infinity)");
    cJSON_Delete(json);
    free(text);
    return status;
}

/* Size of the largest name of a field, with its NUL. */
#define NAME_BYTES 128

/* The parts of a file name FIELD[.COLUMNS].TYPE. */
typedef struct field {
    /* name of the column, of positions or of offsets */
    char name[NAME_BYTES];
    /* values of a row; 1 without COLUMNS */
    uint32_t components;
    /* type of a value in the file */
    gls_type type;
} field;

/* Splits a file name FIELD[.COLUMNS].TYPE. Returns false for a name of another form. */
static bool parse_field(const char *file_name, field *to)
{
    /* NAME.TYPE or NAME.COLUMNS.TYPE */
    const char *dot = strchr(file_name, '.'), *type = dot ? dot + 1 : NULL;
    to->components = 1;
    if (!dot || dot == file_name || dot - file_name >= NAME_BYTES) return false;
    memcpy(to->name, file_name, (size_t)(dot - file_name));
    to->name[dot - file_name] = '\0';
    const char *second = strchr(type, '.');
    if (second) {
        char *end;
        if (*type < '1' || *type > '9') return false;
        unsigned long components = strtoul(type, &end, 10);
        if (end != second || components > INT32_MAX) return false;
        to->components = (uint32_t)components;
        type = second + 1;
    }
    for (int t = 0; t < GLS_TYPE_COUNT; t++) {
        if (strcmp(type, gls_trx_type_name((gls_type)t)) != 0) continue;
        to->type = (gls_type)t;
        return true;
    }
    return false;
}

/* Checks that an array has `rows` rows. */
static gls_status check_size(const gls_tractogram_reader *r, const gls_trx_part *part, const field *f, uint64_t rows)
{
    uint64_t row = f->components * (uint64_t)gls_type_size(f->type);
    if (part->bytes % row == 0 && part->bytes / row == rows) return GLS_OK;
    return bad(r, part->name, "does not have the size that the counts in header.json ask for");
}

/* Takes positions.3.TYPE, the points: float16, float32 or float64. */
static gls_status add_positions(gls_tractogram_reader *r, const gls_trx_part *part, const field *f)
{
    trx *t = r->state;
    if (t->positions.part) return gls_reader_damaged(r, "it has two arrays of positions");
    if (f->components != 3 || !gls_type_is_float(f->type)) return bad(r, part->name, "is of an unknown type");
    t->positions.part = part;
    r->info.position_type = f->type;
    return check_size(r, part, f, t->n_points);
}

/* Whether a type can hold indices. */
static bool is_index(gls_type type)
{
    return type == GLS_TYPE_UINT32 || type == GLS_TYPE_UINT64 || type == GLS_TYPE_INT32 || type == GLS_TYPE_INT64;
}

/* Takes offsets.TYPE: for each streamline the index of its first point. Some writers leave out the last entry, the
 * number of points. */
static gls_status add_offsets(gls_tractogram_reader *r, const gls_trx_part *part, const field *f)
{
    trx *t = r->state;
    if (t->offsets.part) return gls_reader_damaged(r, "it has two arrays of offsets");
    t->wide = gls_type_size(f->type) == 8;
    if (f->components != 1 || !is_index(f->type)) return bad(r, part->name, "is of an unknown type");
    t->offsets.part = part;
    bool without_last = part->bytes == t->n_lines * gls_type_size(f->type);
    return without_last ? GLS_OK : check_size(r, part, f, t->n_lines + 1);
}

/* Takes an array of dps (values of streamlines) or dpv (values of points). */
static gls_status add_array(gls_tractogram_reader *r, const gls_trx_part *part, const field *f,
                            gls_reader_columns *columns, array **arrays, uint64_t rows)
{
    array *grown = realloc(*arrays, (columns->n + 1) * sizeof *grown);
    if (!grown) return gls_reader_no_memory(r);
    *arrays = grown;
    grown[columns->n] = (array){.part = part, .cursor = {.fd = -1}};
    gls_status status = check_size(r, part, f, rows);
    return !status ? gls_reader_add_column(r, columns, f->name, f->type, f->components) : status;
}

/* Reads the members of a group, which may come in any order, into one bit for each streamline, so that memory does not
 * depend on the length of the list. */
static gls_status add_group(gls_tractogram_reader *r, const gls_trx_part *part, const field *f)
{
    trx *t = r->state;
    if (t->n_lines > 0 && !t->offsets.part) return gls_reader_damaged(r, "it has no offsets");
    const size_t n = r->group.n, bytes = gls_type_size(f->type);
    uint64_t *size = realloc(r->group_size, (n + 1) * sizeof *size);
    if (size) r->group_size = size;
    unsigned char **bit = realloc(t->bit, (n + 1) * sizeof *bit);
    if (bit) t->bit = bit;
    if (!size || !bit) return gls_reader_no_memory(r);
    if (f->components != 1 || !is_index(f->type)) return bad(r, part->name, "is of an unknown type");
    if (part->bytes % bytes != 0) return bad(r, part->name, "has not a whole number of values");
    gls_status status = gls_reader_add_column(r, &r->group, f->name, GLS_TYPE_BOOL, 1);
    if (status) return status;
    size[n] = 0;
    bit[n] = calloc((size_t)(t->n_lines / 8) + 1, 1);
    if (!bit[n]) return gls_reader_no_memory(r);
    gls_cursor c = {.fd = -1};
    status = gls_trx_part_open(r, part, &c);
    /* each member sets a bit; a member that is listed twice counts once */
    for (uint64_t i = 0; i < part->bytes / bytes && !status; i++) {
        uint64_t id = 0;
        status = gls_cursor_read(&c, &id, bytes); /* little-endian; negative ids are out of range */
        if (!status && id >= t->n_lines) status = bad(r, part->name, "names a streamline that is not there");
        if (status) break;
        unsigned char mask = (unsigned char)(1u << id % 8);
        size[n] += !(bit[n][id / 8] & mask);
        bit[n][id / 8] |= mask;
    }
    if (!status) status = check_part(r, part, &c);
    gls_cursor_finish(&c);
    return status;
}

/* Reads dpg/GROUP/NAME, values of a whole group, at once because they are few. */
static gls_status add_group_data(gls_tractogram_reader *r, const gls_trx_part *part, const field *f)
{
    const char *group = part->name + strlen("dpg/"), *slash = strchr(group, '/');
    const size_t n = r->info.n_dpg;
    gls_status status = check_size(r, part, f, 1);
    if (status) return status;
    gls_group_data *dpg = realloc(r->dpg, (n + 1) * sizeof *dpg);
    if (!dpg) return gls_reader_no_memory(r);
    r->dpg = dpg;
    void *data = NULL;
    status = read_part(r, part, &data);
    if (status) return status;
    dpg[n] = (gls_group_data){strndup(group, (size_t)(slash - group)), {strdup(f->name), f->type, f->components, data}};
    r->info.n_dpg++;
    return dpg[n].group && dpg[n].column.name ? GLS_OK : gls_reader_no_memory(r);
}

/* Whether a text begins with another. */
static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Takes one file of the archive by its folder and name; files that TRX does not define are skipped. */
static gls_status add_part(gls_tractogram_reader *r, const gls_trx_part *part)
{
    trx *t = r->state;
    field name;
    /* depth: folders above the file in the archive */
    const char *slash = strrchr(part->name, '/'), *file = slash ? slash + 1 : part->name;
    const size_t n = strlen(file), depth = slash ? (strchr(part->name, '/') == slash ? 1 : 2) : 0;
    bool is_dps = depth == 1 && starts_with(part->name, "dps/"), is_dpv = depth == 1 && starts_with(part->name, "dpv/"),
         is_group = depth == 1 && starts_with(part->name, "groups/"),
         is_dpg = depth == 2 && starts_with(part->name, "dpg/"),
         is_positions = depth == 0 && starts_with(file, "positions."),
         is_offsets = depth == 0 && starts_with(file, "offsets.");
    if (!is_dps && !is_dpv && !is_group && !is_dpg && !is_positions && !is_offsets) return GLS_OK;
    if (n > 5 && strcmp(file + n - 5, ".json") == 0) return GLS_OK; /* notes on an array, not an array */
    if (!parse_field(file, &name)) return bad(r, part->name, "is no array of a known type");
    if (is_positions) return add_positions(r, part, &name);
    if (is_offsets) return add_offsets(r, part, &name);
    if (is_dps) return add_array(r, part, &name, &r->dps, &t->dps, t->n_lines);
    if (is_dpv) return add_array(r, part, &name, &r->dpv, &t->dpv, t->n_points);
    return is_group ? add_group(r, part, &name) : add_group_data(r, part, &name);
}

/* Requires the arrays that the counts of the header ask for, and opens all arrays that are read along with the
 * streamlines. */
static gls_status start(gls_tractogram_reader *r)
{
    trx *t = r->state;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < r->info.n_dpg; i++)
        if (!gls_column_find(r->group.shown, r->group.n, r->dpg[i].group))
            return gls_fail(GLS_ERR_INPUT, "%s: has data (dpg) of group '%s', but no such group", r->path,
                            r->dpg[i].group);
    if (t->n_lines == 0 && t->n_points > 0) return gls_reader_damaged(r, "it has points but no streamlines");
    if (t->n_lines > 0 && !t->offsets.part) return gls_reader_damaged(r, "it has no offsets");
    if (t->n_points > 0 && !t->positions.part) return gls_reader_damaged(r, "it has no positions");
    if (t->positions.part) status = gls_trx_part_open(r, t->positions.part, &t->positions.cursor);
    if (!status && t->offsets.part) status = gls_trx_part_open(r, t->offsets.part, &t->offsets.cursor);
    for (size_t k = 0; k < r->dps.n && !status; k++) status = gls_trx_part_open(r, t->dps[k].part, &t->dps[k].cursor);
    for (size_t k = 0; k < r->dpv.n && !status; k++) status = gls_trx_part_open(r, t->dpv[k].part, &t->dpv[k].cursor);
    return status;
}

/* Reads the next offset. Behind the end of an array that lacks its last element, this is the number of points. */
static gls_status next_offset(gls_tractogram_reader *r, uint64_t *value)
{
    trx *t = r->state;
    *value = 0;
    if (gls_cursor_left(&t->offsets.cursor) == 0) {
        *value = t->n_points;
        return GLS_OK;
    }
    gls_status status = gls_cursor_read(&t->offsets.cursor, value, t->wide ? 8 : 4);
    if (!status && (*value < t->offset || *value > t->n_points))
        status = gls_reader_damaged(r, "it has offsets that do not rise to the number of points");
    return status;
}

/* Function open() of the driver. */
static gls_status open_trx(gls_tractogram_reader *r)
{
    trx *t = r->state = calloc(1, sizeof *t);
    if (!t) return gls_reader_no_memory(r);
    r->info.position_type = GLS_TYPE_FLOAT32;
    gls_status status = gls_trx_parts_read(r, &t->part, &t->n_parts);
    if (!status) status = read_json(r);
    /* read positions and offsets first, which lie in no folder: they confirm the counts of the header, which decide how
     * much memory the other arrays need */
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < t->n_parts && !status; i++)
            if ((strchr(t->part[i].name, '/') != NULL) == others) status = add_part(r, &t->part[i]);
    if (!status) status = start(r);
    if (status) return status;
    r->info.counts_streamlines = r->info.counts_points = true;
    r->info.n_streamlines = t->n_lines;
    r->info.n_points = t->n_points;
    uint64_t first = 0;
    if (t->offsets.part) status = next_offset(r, &first);
    if (!status && first != 0) status = gls_reader_damaged(r, "its first offset is not 0");
    return status;
}

/* Reads n points and converts them to float32. */
static gls_status read_points(gls_tractogram_reader *r, uint64_t n)
{
    trx *t = r->state;
    float *value = r->point[0];
    if (r->info.position_type == GLS_TYPE_FLOAT32)
        return gls_cursor_read(&t->positions.cursor, value, (size_t)n * sizeof *r->point);
    const size_t bytes = gls_type_size(r->info.position_type);
    union {
        uint16_t half[BLOCK];
        double full[BLOCK];
    } block;
    gls_status status = GLS_OK;
    for (uint64_t done = 0; done < 3 * n && !status;) {
        size_t m = 3 * n - done < BLOCK ? (size_t)(3 * n - done) : BLOCK;
        status = gls_cursor_read(&t->positions.cursor, &block, m * bytes);
        for (size_t i = 0; i < m && !status; i++)
            value[done + i] = bytes == 2 ? gls_half_value(block.half[i]) : (float)block.full[i];
        done += m;
    }
    return status;
}

/* After the last streamline: requires that the offsets end at the number of points, and that checksums fit. */
static gls_status check_end(gls_tractogram_reader *r)
{
    trx *t = r->state;
    gls_status status = GLS_OK;
    if (t->checked) return GLS_OK;
    if (t->offset != t->n_points) return gls_reader_damaged(r, "its offsets do not end at the number of points");
    if (t->positions.part) status = check_part(r, t->positions.part, &t->positions.cursor);
    if (!status && t->offsets.part) status = check_part(r, t->offsets.part, &t->offsets.cursor);
    for (size_t k = 0; k < r->dps.n && !status; k++) status = check_part(r, t->dps[k].part, &t->dps[k].cursor);
    for (size_t k = 0; k < r->dpv.n && !status; k++) status = check_part(r, t->dpv[k].part, &t->dpv[k].cursor);
    t->checked = !status;
    return status;
}

/* Reads the next block of streamlines; *n_lines: their number, 0 at the end. */
static gls_status next_trx(gls_tractogram_reader *r, size_t *n_lines)
{
    trx *t = r->state;
    uint64_t points = 0;
    size_t n = 0;
    gls_status status = GLS_OK;
    /* offsets first: they show how many points the block has */
    for (; n < r->max_lines && points < r->max_points && r->lines_read + n < t->n_lines; n++) {
        uint64_t next;
        status = next_offset(r, &next);
        if (status) return status;
        points += next - t->offset;
        t->offset = next;
        r->line_offset[n + 1] = points;
    }
    *n_lines = n;
    if (n == 0) return check_end(r);
    status = gls_reader_reserve(r, points);
    if (!status) status = read_points(r, points);
    for (size_t k = 0; k < r->dps.n && !status; k++) {
        const gls_column *c = &r->dps.filled[k];
        status = gls_cursor_read(&t->dps[k].cursor, (void *)c->data, n * gls_column_row_bytes(c));
    }
    for (size_t k = 0; k < r->dpv.n && !status; k++) {
        const gls_column *c = &r->dpv.filled[k];
        status = gls_cursor_read(&t->dpv[k].cursor, (void *)c->data, (size_t)points * gls_column_row_bytes(c));
    }
    /* the bits of the groups become bytes of the block */
    for (size_t k = 0; k < r->group.n; k++) {
        unsigned char *member = (unsigned char *)r->group.filled[k].data;
        for (size_t i = 0; i < n; i++) member[i] = t->bit[k][(r->lines_read + i) / 8] >> (r->lines_read + i) % 8 & 1;
    }
    r->done = (double)(r->lines_read + n) / (double)t->n_lines;
    return status;
}

/* Closes the cursors of columns, and frees the list. */
static void finish_arrays(array *arrays, size_t n)
{
    for (size_t k = 0; k < n; k++) gls_cursor_finish(&arrays[k].cursor);
    free(arrays);
}

/* close() of the driver; the state may be incomplete. */
static void close_trx(gls_tractogram_reader *r)
{
    trx *t = r->state;
    if (!t) return;
    gls_cursor_finish(&t->positions.cursor);
    gls_cursor_finish(&t->offsets.cursor);
    finish_arrays(t->dps, r->dps.n);
    finish_arrays(t->dpv, r->dpv.n);
    for (size_t k = 0; k < r->group.n; k++) free(t->bit[k]);
    free(t->bit);
    gls_trx_parts_free(t->part, t->n_parts);
    free(t);
}

bool gls_trx_points_at(const gls_tractogram_reader *r, uint64_t *at)
{
    const trx *t = r->state;
    if (r->driver != &gls_trx_reader || r->fd < 0 || r->info.position_type != GLS_TYPE_FLOAT32 || !t->positions.part ||
        t->positions.part->deflated)
        return false;
    *at = t->positions.part->at;
    return true;
}

const gls_reader_driver gls_trx_reader = {open_trx, next_trx, close_trx};
