/* Writes TRX: a ZIP archive of stored arrays. Positions are written directly behind a space of fixed size; header.json
 * and the local headers go into that space at the end. The other arrays, a small part, are spooled and follow. */
#include "tractogram/trx.h"
#include "tractogram/file_formats.h"
#include "tractogram/pieces.h"
#include "tractogram/shard_note.h"
#include "tractogram/spool.h"
#include "tractogram/trx_parts.h"
#include "tractogram/writers.h"
#include "tractogram/zip.h"
#include "util/file.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Position of the first point: a multiple of 64, so that points are aligned when the file is mapped. */
#define HEAD_BYTES 1024
/* Bytes of `block`, the buffer for ends. */
#define BLOCK_BYTES ((size_t)256 << 10)
/* Largest length of the name of a column or group. */
#define MAX_NAME 100

/* State of the writer. */
typedef struct trx {
    bool half;    /* true: positions are written as float16 */
    uint32_t crc; /* CRC-32 of the positions so far */
    gls_spool ends,
        *column; /* ends: low 32 bits of the end of each streamline; column: one spool for each column of the writer */
    uint64_t *carry; /* indices of the streamlines at whose ends the high 32 bits increase by one */
    size_t n_carries, n_columns;
    const gls_group_data *dpg;
    size_t n_dpg;
    unsigned char *block;
    gls_zip_entry *entry;
    size_t n_entries;
    uint64_t position; /* end of the file so far */
} trx;

static void destroy(void *state)
{
    trx *t = state;
    if (!t) return;
    gls_spool_finish(&t->ends);
    free(t->carry);
    for (size_t k = 0; k < t->n_columns; k++) gls_spool_finish(&t->column[k]);
    free(t->column);
    free(t->entry);
    free(t->block);
    free(t);
}

static gls_status create(gls_tractogram_writer *w, const gls_tractogram_options *options)
{
    static const unsigned char zeros[HEAD_BYTES];
    for (int i = 0; i < 3; i++)
        if (w->grid.dim[i] > UINT16_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED,
                            "%s: TRX files hold at most 65535 voxels along an axis, but the image has %d",
                            w->output.path, w->grid.dim[i]);
    trx *t = w->state = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    t->half = options->precision == GLS_PRECISION_HALF;
    t->block = malloc(BLOCK_BYTES);
    if (!t->block) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    t->dpg = options->dpg;
    t->n_dpg = options->n_dpg;
    gls_status status = gls_spool_init(&t->ends, &w->output);
    if (status) return status;
    t->position = HEAD_BYTES;
    return gls_output_write(&w->output, zeros, sizeof zeros);
}

/* Names become parts of file names, FOLDER/NAME[.COMPONENTS].TYPE, in which a dot ends the name. */
bool gls_trx_can_name(const char *name)
{
    return *name && strlen(name) <= MAX_NAME && !strpbrk(name, "./\\") && !strpbrk(name, "\"\n");
}

static gls_status check_name(const gls_tractogram_writer *w, const char *kind, const char *name)
{
    if (gls_trx_can_name(name)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT,
                    "%s: TRX cannot have a %s \"%.200s\": give a name of 1 to %d bytes without . / \\ \" and line ends",
                    w->output.path, kind, name, MAX_NAME);
}

static gls_status define(gls_tractogram_writer *w)
{
    trx *t = w->state;
    const size_t n_columns = w->n_dps + w->n_dpv, n = n_columns + w->n_groups;
    t->column = calloc(n + 1, sizeof *t->column);
    if (!t->column) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    for (size_t k = 0; k < n; k++) {
        gls_status status = check_name(w, k < n_columns ? "column" : "group", w->column[k].name);
        if (!status) status = gls_spool_init(&t->column[t->n_columns++], &w->output);
        if (status) return status;
    }
    for (size_t i = 0; i < t->n_dpg; i++)
        if (!gls_column_find(w->column + n_columns, w->n_groups, t->dpg[i].group) ||
            !gls_trx_can_name(t->dpg[i].column.name))
            return gls_fail(GLS_ERR_ARGUMENT, "%s: no group of this file can have data (dpg) \"%s\" of \"%s\"",
                            w->output.path, t->dpg[i].column.name, t->dpg[i].group);
    return GLS_OK;
}

static gls_status write_data(gls_tractogram_writer *w, const void *data, size_t bytes, uint32_t *crc)
{
    trx *t = w->state;
    *crc = gls_crc32(*crc, data, bytes);
    t->position += bytes;
    return gls_output_write(&w->output, data, bytes);
}

/* The streamlines of one append. */
typedef struct load {
    gls_tractogram_writer *w;
    const gls_streamlines *s;
    size_t width; /* bytes of a coordinate */
} load;

static uint64_t offset_of_point(const void *user, size_t n)
{
    return 3 * (uint64_t)n * ((const load *)user)->width;
}

/* Formats points for the file: as float16 into room, or as they are. The largest float16 is 65504. */
static gls_status form_points(void *user, size_t from, size_t until, unsigned char *room, const void **data)
{
    const load *l = user;
    const float(*point)[3] = l->s->point + from;
    if (!room) {
        *data = point;
        return gls_writer_check_points(l->w, point, until - from);
    }
    if (gls_half_convert(point[0], 3 * (until - from), (uint16_t *)(void *)room)) return GLS_OK;
    gls_status status = gls_writer_check_points(l->w, point, until - from);
    return status ? status
                  : gls_fail(GLS_ERR_UNSUPPORTED, "%s: a coordinate exceeds 65504 mm: give --output-precision float",
                             l->w->output.path);
}

/* Appends the members of a group as a list of indices. */
static gls_status append_group(gls_tractogram_writer *w, gls_spool *spool, const unsigned char *member, size_t n)
{
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n && !status; i++) {
        uint32_t id = (uint32_t)(w->n_streamlines + i);
        if (member[i]) status = gls_spool_append(spool, &id, sizeof id);
    }
    return status;
}

/* Spools the values of all columns and groups of a block. */
static gls_status append_columns(gls_tractogram_writer *w, const gls_streamlines *s)
{
    gls_spool *spool = ((trx *)w->state)->column;
    gls_status status = GLS_OK;
    for (size_t k = 0; k < s->n_dps && !status; k++, spool++)
        status = gls_spool_append(spool, s->dps[k].data, s->n * gls_column_row_bytes(&s->dps[k]));
    for (size_t k = 0; k < s->n_dpv && !status; k++, spool++)
        status = gls_spool_append(spool, s->dpv[k].data, (size_t)s->offset[s->n] * gls_column_row_bytes(&s->dpv[k]));
    for (size_t k = 0; k < s->n_groups && !status; k++, spool++)
        status = append_group(w, spool, s->group[k].data, s->n);
    return status;
}

/* Notes the streamline at whose end the number of points reaches or passes a multiple of 2^32. */
static gls_status add_carry(gls_tractogram_writer *w, uint64_t streamline)
{
    trx *t = w->state;
    uint64_t *carry = realloc(t->carry, (t->n_carries + 1) * sizeof *carry);
    if (!carry) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    t->carry = carry;
    t->carry[t->n_carries++] = streamline;
    return GLS_OK;
}

/* Spools, for each streamline, the low 32 bits of the number of points up to its end, and notes carries. */
static gls_status append_ends(gls_tractogram_writer *w, const gls_streamlines *s)
{
    trx *t = w->state;
    uint32_t *end = (uint32_t *)(void *)t->block;
    const size_t per_block = BLOCK_BYTES / sizeof *end;
    gls_status status = GLS_OK;
    for (size_t first = 0; first < s->n && !status; first += per_block) {
        size_t m = s->n - first < per_block ? s->n - first : per_block;
        for (size_t i = 0; i < m && !status; i++) {
            const uint64_t from = w->n_points + s->offset[first + i], until = w->n_points + s->offset[first + i + 1];
            if (until - from > UINT32_MAX)
                return gls_fail(GLS_ERR_UNSUPPORTED,
                                "%s: a streamline has %llu points; at most 4294967295 can be written", w->output.path,
                                (unsigned long long)(until - from));
            if (from >> 32 != until >> 32) status = add_carry(w, w->n_streamlines + first + i);
            end[i] = (uint32_t)until;
        }
        if (!status) status = gls_spool_append(&t->ends, end, m * sizeof *end);
    }
    return status;
}

/* Appends everything except the points, while the points are being written. */
static gls_status append_rest(void *user)
{
    const load *l = user;
    gls_status status = append_ends(l->w, l->s);
    return !status ? append_columns(l->w, l->s) : status;
}

/* Writes the points of a block to the file, and at the same time spools its other arrays. */
static gls_status append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    trx *t = w->state;
    if (w->n_streamlines + s->n > UINT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRX files hold at most 4294967295 streamlines", w->output.path);
    load l = {w, s, t->half ? 2 : 4};
    t->position += offset_of_point(&l, (size_t)s->offset[s->n]);
    return gls_pieces_append(&(gls_pieces){.output = &w->output,
                                           .n = (size_t)s->offset[s->n],
                                           .offset = offset_of_point,
                                           .form = form_points,
                                           .user = &l,
                                           .rooms = t->half ? &w->rooms : NULL,
                                           .crc = &t->crc,
                                           .aside = append_rest});
}

static gls_zip_entry *add_entry(trx *t, const char *name, uint64_t bytes)
{
    gls_zip_entry *e = &t->entry[t->n_entries++];
    snprintf(e->name, sizeof e->name, "%s", name);
    e->bytes = bytes;
    return e;
}

/* Starts an entry at the end of the file. Its header is written again once the checksum is known. */
static gls_status begin_entry(gls_tractogram_writer *w, const char *name, uint64_t bytes, gls_zip_entry **entry)
{
    trx *t = w->state;
    unsigned char header[GLS_ZIP_LOCAL_MAX];
    gls_zip_entry *e = *entry = add_entry(t, name, bytes);
    e->offset = t->position;
    size_t n = gls_zip_local(e, header);
    t->position += n;
    return gls_output_write(&w->output, header, n);
}

static gls_status end_entry(gls_tractogram_writer *w, const gls_zip_entry *e)
{
    unsigned char header[GLS_ZIP_LOCAL_MAX];
    return gls_output_write_at(&w->output, e->offset, header, gls_zip_local(e, header));
}

/* Adds an entry from memory. */
static gls_status add_array(gls_tractogram_writer *w, const char *name, const void *data, size_t bytes)
{
    gls_zip_entry *e;
    gls_status status = begin_entry(w, name, bytes, &e);
    if (!status) status = write_data(w, data, bytes, &e->crc);
    return !status ? end_entry(w, e) : status;
}

/* Rows of a spool that are copied into the file. */
typedef struct rows {
    const gls_spool *spool;
    size_t bytes; /* size of a row in the file */
    const trx *t;
} rows;

static uint64_t offset_of_row(const void *user, size_t n)
{
    return (uint64_t)n * ((const rows *)user)->bytes;
}

static gls_status form_rows(void *user, size_t from, size_t until, unsigned char *room, const void **data)
{
    const rows *r = user;
    (void)data;
    return gls_spool_read_at(r->spool, from * r->bytes, room, (until - from) * r->bytes);
}

/* Writes an array from its spool, formatted row by row. */
static gls_status write_rows(gls_tractogram_writer *w, gls_spool *spool, size_t n, const rows *r, uint32_t *crc,
                             gls_status (*form)(void *, size_t, size_t, unsigned char *, const void **))
{
    rows copy = *r;
    ((trx *)w->state)->position += (uint64_t)n * r->bytes;
    gls_status status = gls_spool_rewind(spool);
    return status ? status
                  : gls_pieces_append(&(gls_pieces){.output = &w->output,
                                                    .n = n,
                                                    .offset = offset_of_row,
                                                    .form = form,
                                                    .user = &copy,
                                                    .rooms = &w->rooms,
                                                    .crc = crc});
}

static gls_status add_spool(gls_tractogram_writer *w, const char *name, gls_spool *spool)
{
    gls_zip_entry *e;
    gls_status status = begin_entry(w, name, spool->bytes, &e);
    if (!status) status = write_rows(w, spool, (size_t)spool->bytes, &(rows){spool, 1, w->state}, &e->crc, form_rows);
    return !status ? end_entry(w, e) : status;
}

static void print_name(char name[GLS_ZIP_NAME], const char *folder, const gls_column *c)
{
    char components[16] = "";
    if (c->components > 1) snprintf(components, sizeof components, ".%u", c->components);
    snprintf(name, GLS_ZIP_NAME, "%.120s/%.*s%s.%s", folder, MAX_NAME, c->name, components, gls_trx_type_name(c->type));
}

/* Adds the columns, then the data of groups (dpg). */
static gls_status add_columns(gls_tractogram_writer *w)
{
    trx *t = w->state;
    gls_status status = GLS_OK;
    char name[GLS_ZIP_NAME], folder[GLS_ZIP_NAME];
    for (size_t k = 0; k < t->n_columns && !status; k++) {
        gls_column c = w->column[k];
        bool is_group = k >= w->n_dps + w->n_dpv;
        if (is_group) c.type = GLS_TYPE_UINT32;
        print_name(name, k < w->n_dps ? "dps" : is_group ? "groups" : "dpv", &c);
        status = add_spool(w, name, &t->column[k]);
    }
    for (size_t i = 0; i < t->n_dpg && !status; i++) {
        const gls_column *c = &t->dpg[i].column;
        snprintf(folder, sizeof folder, "dpg/%.*s", MAX_NAME, t->dpg[i].group);
        print_name(name, folder, c);
        status = add_array(w, name, c->data, gls_column_row_bytes(c));
    }
    return status;
}

/* Adds columns that came after all streamlines. */
static gls_status add_late(gls_tractogram_writer *w)
{
    gls_status status = GLS_OK;
    char name[GLS_ZIP_NAME];
    for (size_t i = 0; i < w->n_late && !status; i++) {
        const gls_column *c = &w->late[i];
        status = check_name(w, "column", c->name);
        print_name(name, "dps", c);
        if (!status) status = add_array(w, name, c->data, (size_t)w->n_streamlines * gls_column_row_bytes(c));
    }
    return status;
}

/* Adds groups that came after all streamlines. */
static gls_status add_late_groups(gls_tractogram_writer *w)
{
    gls_status status = GLS_OK;
    char name[GLS_ZIP_NAME];
    for (size_t i = 0; i < w->n_late_groups && !status; i++) {
        const gls_late_group *g = &w->late_group[i];
        const gls_column c = {g->name, GLS_TYPE_UINT32, 1, g->member};
        status = check_name(w, "group", c.name);
        print_name(name, "groups", &c);
        if (!status) status = add_array(w, name, g->member, g->n * sizeof *g->member);
    }
    return status;
}

static gls_status add_note(gls_tractogram_writer *w)
{
    return w->note ? add_array(w, w->note_name, w->note, strlen(w->note)) : GLS_OK;
}

/* Makes 64-bit ends of streamlines from their low 32 bits and the carries. The low words are read into the second half
 * of `room`; the 64-bit ends fill `room` from the front. */
static gls_status form_wide_ends(void *user, size_t from, size_t until, unsigned char *room, const void **data)
{
    const rows *r = user;
    const size_t n = until - from;
    uint64_t *wide = (uint64_t *)(void *)room, high = 0;
    const uint32_t *low = (const uint32_t *)(void *)room + n;
    size_t carry = 0;
    (void)data;
    gls_status status = gls_spool_read_at(r->spool, 4 * (uint64_t)from, room + 4 * n, 4 * n);
    for (size_t i = 0; i < n && !status; i++) {
        for (; carry < r->t->n_carries && r->t->carry[carry] <= from + i; carry++) high += (uint64_t)1 << 32;
        wide[i] = high | low[i];
    }
    return status;
}

/* Adds the array of offsets: 0, then the end of each streamline. */
static gls_status add_offsets(gls_tractogram_writer *w)
{
    static const uint64_t zero;
    trx *t = w->state;
    const bool wide = w->n_points > UINT32_MAX;
    const size_t width = wide ? 8 : 4, n = (size_t)w->n_streamlines;
    gls_zip_entry *e;
    gls_status status = begin_entry(w, wide ? "offsets.uint64" : "offsets.uint32", (n + 1) * width, &e);
    if (!status) status = write_data(w, &zero, width, &e->crc);
    if (!status)
        status = write_rows(w, &t->ends, n, &(rows){&t->ends, width, t}, &e->crc, wide ? form_wide_ends : form_rows);
    return !status ? end_entry(w, e) : status;
}

/* The shortest decimal that reads back as the same double. */
static int print_number(char *text, size_t n, double value)
{
    int used = 0;
    for (int digits = 15; digits <= 17; digits++) {
        used = gls_snprintf(text, n, "%.*g", digits, value);
        if (gls_strtod(text, NULL) == value) break;
    }
    return used;
}

/* Prints header.json: affine, dimensions and counts, and for a shard its note. Returns the length. */
static size_t print_json(const gls_tractogram_writer *w, char *text, size_t size)
{
    const gls_grid *g = &w->grid;
    size_t n = (size_t)snprintf(text, size, "{\"VOXEL_TO_RASMM\": [");
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 4; k++) {
            text[n++] = k == 0 ? '[' : ' ';
            n += (size_t)print_number(text + n, size - n, g->affine[r][k]);
            text[n++] = k == 3 ? ']' : ',';
        }
        n += (size_t)snprintf(text + n, size - n, ", ");
    }
    n += (size_t)snprintf(
        text + n, size - n,
        "[0, 0, 0, 1]], \"DIMENSIONS\": [%d, %d, %d], \"NB_STREAMLINES\": %llu, \"NB_VERTICES\": %llu", g->dim[0],
        g->dim[1], g->dim[2], (unsigned long long)w->n_streamlines, (unsigned long long)w->n_points);
    if (w->is_shard) {
        char note[GLS_SHARD_TEXT];
        gls_shard_print(&w->shard, NULL, note);
        n += (size_t)snprintf(text + n, size - n, ", \"" GLS_SHARD_KEY "\": \"%s\"", note);
    }
    text[n++] = '}';
    return n;
}

/* Writes header.json and the local header of positions into the space at the start, with blanks behind the JSON text
 * that fill the space. positions NULL: writes header.json alone, without blanks. */
static gls_status write_head(gls_tractogram_writer *w, gls_zip_entry *json, gls_zip_entry *positions)
{
    unsigned char head[HEAD_BYTES];
    char text[HEAD_BYTES];
    size_t n = print_json(w, text, sizeof text);
    size_t json_header = gls_zip_local_bytes(json), position_header = positions ? gls_zip_local_bytes(positions) : 0;
    if (positions) {
        memset(text + n, ' ', HEAD_BYTES - json_header - position_header - n);
        n = HEAD_BYTES - json_header - position_header;
        positions->offset = json_header + n;
        gls_zip_local(positions, head + positions->offset);
    }
    json->bytes = n;
    json->crc = gls_crc32(0, text, n);
    memcpy(head + gls_zip_local(json, head), text, n);
    return gls_output_write_at(&w->output, 0, head, json_header + n + position_header);
}

/* Writes a file without streamlines, in which readers expect only header.json. */
static gls_status finish_empty(gls_tractogram_writer *w)
{
    trx *t = w->state;
    gls_zip_entry *json = add_entry(t, "header.json", 0);
    gls_status status = write_head(w, json, NULL);
    if (status) return status;
    t->position = gls_zip_local_bytes(json) + json->bytes;
    return gls_output_truncate(&w->output, t->position);
}

/* Writes header.json and the local header of positions into the space at the start, then, behind the positions, all
 * other arrays and the directory of the archive. */
static gls_status finish(gls_tractogram_writer *w)
{
    trx *t = w->state;
    gls_status status;
    size_t max_entries = 4 + t->n_columns + t->n_dpg + w->n_late + w->n_late_groups;
    t->entry = calloc(max_entries, sizeof *t->entry);
    if (!t->entry) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    if (max_entries > UINT16_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRX files hold at most 65535 arrays", w->output.path);
    if (w->n_streamlines == 0) {
        status = finish_empty(w);
    } else {
        gls_zip_entry *json = add_entry(t, "header.json", 0);
        gls_zip_entry *positions =
            add_entry(t, t->half ? "positions.3.float16" : "positions.3.float32", t->position - HEAD_BYTES);
        positions->crc = t->crc;
        status = write_head(w, json, positions);
        if (!status) status = add_offsets(w);
        if (!status) status = add_columns(w);
        if (!status) status = add_late(w);
        if (!status) status = add_late_groups(w);
        if (!status) status = add_note(w);
        if (w->n_points > INT32_MAX)
            gls_log(GLS_LOG_WARNING, "%s: has %llu points; some readers of TRX stop at 2147483647", w->output.path,
                    (unsigned long long)w->n_points);
    }
    if (status) return status;
    return gls_zip_finish(&w->output, t->entry, t->n_entries, t->position);
}

const gls_tractogram_driver gls_trx_driver = {true, create, define, append, finish, destroy};
