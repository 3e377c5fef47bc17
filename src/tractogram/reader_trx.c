/* Shards in TRX format. */
#include "util/crc.h"
#include "tractogram/reader.h"
#include "tractogram/shard.h"
#include "util/float16.h"
#include "util/status.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_JSON 4096
#define MAX_ENTRIES 8

/* The rest of the text behind this literal; NULL stays NULL. */
static const char *skip(const char *text, const char *literal)
{
    size_t n = strlen(literal);
    return text && strncmp(text, literal, n) == 0 ? text + n : NULL;
}

static const char *read_double(const char *text, double *value)
{
    char *end;
    if (!text) return NULL;
    *value = strtod(text, &end);
    return end == text ? NULL : end;
}

static const char *read_uint(const char *text, uint64_t max, uint64_t *value)
{
    char *end;
    if (!text || *text < '0' || *text > '9') return NULL;
    *value = strtoull(text, &end, 10);
    return *value <= max ? end : NULL;
}

/* The text as the writer prints it. False: it is something else; *note is left empty if it is of a whole run. */
static bool parse_json(gls_tractogram_reader *r, const char *text, char note[GLS_SHARD_TEXT])
{
    double affine[3][4];
    uint64_t dim[3];
    for (int row = 0; row < 3; row++) {
        for (int c = 0; c < 4; c++)
            text = read_double(skip(text, c > 0     ? ", "
                                          : row > 0 ? "], ["
                                                    : "{\"VOXEL_TO_RASMM\": [["),
                               &affine[row][c]);
    }
    for (int a = 0; a < 3; a++)
        text = read_uint(skip(text, a > 0 ? ", " : "], [0, 0, 0, 1]], \"DIMENSIONS\": ["), UINT16_MAX, &dim[a]);
    text = read_uint(skip(text, "], \"NB_STREAMLINES\": "), UINT32_MAX, &r->file.n_streamlines);
    text = read_uint(skip(text, ", \"NB_VERTICES\": "), UINT64_MAX / 16, &r->n_points);
    if (!text || gls_grid_init(&r->grid, (const int32_t[3]){(int32_t)dim[0], (int32_t)dim[1], (int32_t)dim[2]},
                               (const double(*)[4])affine) != GLS_OK)
        return false;
    *note = '\0';
    const char *start = skip(text, ", \"" GLS_SHARD_KEY "\": \"");
    if (!start) return *text == '}';
    size_t n = strcspn(start, "\"");
    if (n >= GLS_SHARD_TEXT) return false;
    memcpy(note, start, n);
    note[n] = '\0';
    return skip(start + n, "\"}") != NULL;
}

static gls_status read_json(gls_tractogram_reader *r, const gls_zip_entry *e)
{
    char text[MAX_JSON], note[GLS_SHARD_TEXT];
    if (strcmp(e->name, "header.json") != 0 || e->bytes >= MAX_JSON) return gls_reader_no_shard(r);
    gls_status status = gls_reader_head(r, e->offset + gls_zip_local_bytes(e), text, (size_t)e->bytes);
    if (status != GLS_OK) return status;
    if (gls_crc32(0, text, (size_t)e->bytes) != e->crc) return gls_reader_damaged(r, "the checksum of header.json");
    text[e->bytes] = '\0';
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = c ? uselocale(c) : (locale_t)0;
    bool ok = parse_json(r, text, note);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    if (!ok || !*note) return gls_reader_no_shard(r);
    return gls_shard_parse(note, &r->file.shard, NULL, r->file.version)
               ? GLS_OK
               : gls_reader_damaged(r, "the note on its part of the run");
}

/* Finds an array and starts reading it, if it is there; its size has to be that of so many values. */
static gls_status open_array(gls_tractogram_reader *r, int which, const gls_zip_entry *entries, size_t n,
                             const char *name, uint64_t bytes, bool *found)
{
    char what[128];
    for (size_t i = 1; i < n; i++) {
        const gls_zip_entry *e = &entries[i];
        if (strcmp(e->name, name) != 0) continue;
        if (e->bytes != bytes) {
            snprintf(what, sizeof what, "%s has not the size that the counts in header.json need", name);
            return gls_reader_damaged(r, what);
        }
        uint64_t at = e->offset + gls_zip_local_bytes(e);
        *found = true;
        r->array_crc[which] = e->crc;
        return gls_cursor_init(&r->array[which], r->path, r->fd, at, at + e->bytes);
    }
    return GLS_OK;
}

gls_status gls_trx_reader_open(gls_tractogram_reader *r)
{
    gls_zip_entry entries[MAX_ENTRIES];
    size_t n;
    gls_status status = gls_zip_read(r->path, r->fd, r->file.bytes, entries, MAX_ENTRIES, &n);
    if (status != GLS_OK) return status;
    if (n == 0) return gls_reader_no_shard(r);
    status = read_json(r, &entries[0]);
    if (status != GLS_OK) return status;
    const uint64_t points = r->n_points, lines = r->file.n_streamlines;
    if (lines == 0) return points == 0 && n == 1 ? GLS_OK : gls_reader_damaged(r, "data without streamlines");
    bool whole = false, narrow = false;
    status = open_array(r, TRX_POSITIONS, entries, n, "positions.3.float32", 12 * points, &whole);
    if (status == GLS_OK && !whole)
        status = open_array(r, TRX_POSITIONS, entries, n, "positions.3.float16", 6 * points, &r->half);
    if (status == GLS_OK) status = open_array(r, TRX_OFFSETS, entries, n, "offsets.uint32", 4 * (lines + 1), &narrow);
    if (status == GLS_OK && !narrow)
        status = open_array(r, TRX_OFFSETS, entries, n, "offsets.uint64", 8 * (lines + 1), &r->wide);
    if (status == GLS_OK)
        status = open_array(r, TRX_SEEDS, entries, n, "dps/seeds.3.float32", 12 * lines, &r->has_seed);
    if (status == GLS_OK)
        status = open_array(r, TRX_SEED_INDEX, entries, n, "dps/seed_index.uint32", 4 * lines, &r->has_seed_index);
    if (status != GLS_OK) return status;
    size_t arrays = 1 + (whole || r->half) + (narrow || r->wide) + r->has_seed + r->has_seed_index;
    if (!(whole || r->half) || !(narrow || r->wide) || arrays != n)
        return gls_reader_damaged(r, "arrays are missing, or are not those that glslines writes");
    uint64_t first = 0;
    status =
        gls_cursor_read(&r->array[TRX_OFFSETS], &first, r->wide ? 8 : 4); /* little-endian: the low half comes first */
    if (status == GLS_OK && first != 0) status = gls_reader_damaged(r, "its first offset is not 0");
    return status;
}

static gls_status read_points(gls_tractogram_reader *r, uint64_t n)
{
    if (!r->half) return gls_cursor_read(&r->array[TRX_POSITIONS], r->point, n * sizeof *r->point);
    gls_status status = gls_cursor_read(&r->array[TRX_POSITIONS], r->halves, 3 * n * sizeof *r->halves);
    float *value = r->point[0];
    for (uint64_t i = 0; i < 3 * n && status == GLS_OK; i++) value[i] = gls_half_value(r->halves[i]);
    return status;
}

static gls_status check_end(gls_tractogram_reader *r)
{
    if (r->offset != r->n_points) return gls_reader_damaged(r, "offsets that do not end at the number of points");
    for (int i = 0; i < TRX_N_ARRAYS; i++) {
        if (!r->array[i].buffer) continue;
        if (gls_cursor_left(&r->array[i]) > 0 || r->array[i].crc != r->array_crc[i])
            return gls_reader_damaged(r, "an array does not have the checksum in the archive");
    }
    return GLS_OK;
}

gls_status gls_trx_reader_next(gls_tractogram_reader *r, size_t *n)
{
    uint64_t points = 0;
    size_t i = 0;
    gls_status status;
    for (; i < GLS_READER_LINES && points < GLS_READER_POINTS && r->lines_read + i < r->file.n_streamlines; i++) {
        uint64_t next = 0;
        status = gls_cursor_read(&r->array[TRX_OFFSETS], &next, r->wide ? 8 : 4);
        if (status != GLS_OK) return status;
        if (next <= r->offset || next > r->n_points)
            return gls_reader_damaged(r, "offsets that do not rise to the number of points");
        points += next - r->offset;
        r->offset = next;
        r->line_offset[i + 1] = points;
    }
    *n = i;
    if (i == 0) return check_end(r);
    status = gls_reader_reserve(r, points);
    if (status == GLS_OK) status = read_points(r, points);
    if (status == GLS_OK && r->has_seed) status = gls_cursor_read(&r->array[TRX_SEEDS], r->seed, i * sizeof *r->seed);
    if (status == GLS_OK && r->has_seed_index)
        status = gls_cursor_read(&r->array[TRX_SEED_INDEX], r->seed_index, i * sizeof *r->seed_index);
    return status;
}
