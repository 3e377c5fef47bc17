/* Reads legacy VTK files of polylines, ASCII and BINARY, of versions up to 5. After gls_vtk_find() has found the
 * arrays, each is read from its own position. */
#include "tractogram/vtk_read.h"
#include "tractogram/cursor.h"
#include "tractogram/file_formats.h"
#include "tractogram/pump.h"
#include "tractogram/vtk_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

/* Numbers of double precision that are converted at a time. */
#define BLOCK 1024

/* Starts reading an array. */
static gls_status open_array(const gls_vtk *s, gls_vtk_array *array)
{
    return gls_cursor_init(&array->cursor, s->reader->path, s->reader->fd, array->at, array->end);
}

bool gls_vtk_parse_value(const char *word, gls_type type, void *to)
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

/* Reads the next n values in the byte order of this machine. */
static gls_status read_array(const gls_vtk *s, gls_vtk_array *array, uint64_t n, void *values)
{
    const size_t size = gls_type_size(array->type);
    char word[GLS_VTK_WORD], *to = values;
    if (s->binary) {
        gls_status status = gls_cursor_read(&array->cursor, values, (size_t)n * size);
        if (!status) gls_swap_bytes(values, (size_t)n, size);
        return status;
    }
    for (uint64_t i = 0; i < n; i++, to += size)
        if (!gls_vtk_next_word(&array->cursor, word) || !gls_vtk_parse_value(word, array->type, to))
            return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: a value is no number", s->reader->path);
    return GLS_OK;
}

/* Reads the next value of an array of integers; a negative value is an error. */
static gls_status read_index(const gls_vtk *s, gls_vtk_array *array, uint64_t *value)
{
    union {
        int32_t narrow;
        int64_t wide;
    } v;
    gls_status status = read_array(s, array, 1, &v);
    if (status) return status;
    bool wide = gls_type_size(array->type) == 8;
    if ((!wide && gls_type_size(array->type) != 4) || gls_type_is_float(array->type) || (wide ? v.wide : v.narrow) < 0)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: an index is not a whole number from 0 on", s->reader->path);
    *value = wide ? (uint64_t)v.wide : (uint64_t)v.narrow;
    return GLS_OK;
}

/* After the pass over the file: refuses lines without points, and points or other cells without lines; then opens all
 * arrays. */
static gls_status start(gls_tractogram_reader *r)
{
    gls_vtk *t = r->state;
    gls_status status = GLS_OK;
    if (t->n_lines > 0 && !t->points.known) return gls_reader_damaged(r, "it has lines but no points");
    if (t->n_lines == 0 && t->n_points + t->n_others > 0)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is no tractogram but a mesh: it has %" PRIu64 " points and %" PRIu64
                        " polygons or the like, and no lines",
                        r->path, t->n_points, t->n_others);
    /* version 5 has offsets and connectivity, versions before have lines; arrays that the file lacks are not known */
    gls_vtk_array *arrays[] = {&t->points, &t->lines, &t->offsets, &t->connectivity};
    for (size_t i = 0; i < 4 && !status; i++)
        if (arrays[i]->known) status = open_array(t, arrays[i]);
    for (size_t k = 0; k < r->dps.n && !status; k++) status = open_array(t, &t->dps[k]);
    for (size_t k = 0; k < r->dpv.n && !status; k++) status = open_array(t, &t->dpv[k]);
    /* version 5: the first offset is read here, since each streamline lies between two of them */
    if (!status && t->offsets.known && t->n_lines > 0) {
        status = read_index(t, &t->offsets, &t->last_offset);
        if (!status && t->last_offset != 0) status = gls_reader_damaged(r, "its first offset is not 0");
    }
    return status;
}

/* Function open() of the driver: finds all arrays, and prepares reading them. */
static gls_status open_vtk(gls_tractogram_reader *r)
{
    gls_vtk *t = r->state = calloc(1, sizeof *t);
    if (!t) return gls_reader_no_memory(r);
    gls_status status = gls_vtk_find(r);
    if (!status) status = start(r);
    r->info.counts_streamlines = r->info.counts_points = true;
    r->info.n_streamlines = t->n_lines;
    r->info.n_points = t->n_points;
    return status;
}

/* Reads n points with their values, as RAS+ mm. */
static gls_status read_points(gls_tractogram_reader *r, uint64_t first, uint64_t n)
{
    gls_vtk *t = r->state;
    double block[BLOCK];
    const bool wide = t->points.type == GLS_TYPE_FLOAT64;
    float *to = r->point[first];
    gls_status status = GLS_OK;
    /* float32 is read straight to where it stays; float64 is converted block by block */
    if (!wide) status = read_array(t, &t->points, 3 * n, to);
    for (uint64_t done = 0; wide && done < 3 * n && !status;) {
        size_t m = 3 * n - done < BLOCK ? (size_t)(3 * n - done) : BLOCK;
        status = read_array(t, &t->points, m, block);
        for (size_t i = 0; i < m && !status; i++) to[done + i] = (float)block[i];
        done += m;
    }
    for (uint64_t i = 0; i < 3 * n && !status; i++)
        if (t->sign[i % 3] < 0) to[i] = -to[i];
    for (size_t k = 0; k < r->dpv.n && !status; k++) {
        const gls_column *c = &r->dpv.filled[k];
        status = read_array(t, &t->dpv[k], n * c->components, (char *)c->data + first * gls_column_row_bytes(c));
    }
    return status;
}

/* Reads the point indices of a line. Points of a line must be consecutive in the file; points between lines are
 * skipped. */
static gls_status read_indices(gls_tractogram_reader *r, uint64_t n, uint64_t points)
{
    gls_vtk *t = r->state;
    gls_vtk_array *from = t->offsets.known ? &t->connectivity : &t->lines;
    gls_status status = GLS_OK;
    for (uint64_t i = 0; i < n && !status; i++) {
        uint64_t index = 0;
        status = read_index(t, from, &index);
        while (!status && i == 0 && t->next_point < index && index < t->n_points) {
            status = gls_reader_reserve(r, points + 1);
            if (!status) status = read_points(r, points, 1); /* points of no line */
            t->next_point++;
        }
        if (!status && (index != t->next_point || index >= t->n_points))
            return gls_fail(
                GLS_ERR_INPUT,
                "%s: the points of a line are missing, or are not stored one after the other, which is not supported",
                r->path);
        t->next_point++;
    }
    return status;
}

/* Reads streamline i of the block. The indices of its points must follow each other. */
static gls_status read_line(gls_tractogram_reader *r, size_t i, uint64_t *points)
{
    gls_vtk *t = r->state;
    uint64_t n = 0;
    gls_status status = read_index(t, t->offsets.known ? &t->offsets : &t->lines, &n);
    if (status) return status;
    /* an offset is the number of points up to the end of this line, counted from the first line */
    if (t->offsets.known) {
        uint64_t end = n;
        if (end < t->last_offset) return gls_reader_damaged(r, "an offset is smaller than the one before");
        n = end - t->last_offset;
        t->last_offset = end;
    }
    if (n > t->n_points) return gls_reader_damaged(r, "a line has more points than there are");
    status = read_indices(r, n, *points);
    if (!status) status = gls_reader_reserve(r, *points + n);
    if (!status && n > 0) status = read_points(r, *points, n);
    *points += n;
    r->line_offset[i + 1] = *points;
    return status;
}

/* Reads the next block of streamlines; *n: their number, 0 at the end. */
static gls_status next_vtk(gls_tractogram_reader *r, size_t *n)
{
    gls_vtk *t = r->state;
    uint64_t points = 0;
    size_t i = 0;
    gls_status status = GLS_OK;
    for (; i < r->max_lines && points < r->max_points && r->lines_read + i < t->n_lines && !status; i++)
        status = read_line(r, i, &points);
    for (size_t k = 0; k < r->dps.n && i > 0 && !status; k++) {
        const gls_column *c = &r->dps.filled[k];
        status = read_array(t, &t->dps[k], i * c->components, (void *)c->data);
    }
    *n = i;
    r->done = t->n_lines > 0 ? (double)(r->lines_read + i) / (double)t->n_lines : 1;
    return status;
}

/* close() of the driver; the state may be incomplete. */
static void close_vtk(gls_tractogram_reader *r)
{
    gls_vtk *t = r->state;
    if (!t) return;
    gls_cursor_finish(&t->cursor);
    gls_cursor_finish(&t->points.cursor);
    gls_cursor_finish(&t->lines.cursor);
    gls_cursor_finish(&t->offsets.cursor);
    gls_cursor_finish(&t->connectivity.cursor);
    for (size_t k = 0; k < r->dps.n; k++) gls_cursor_finish(&t->dps[k].cursor);
    for (size_t k = 0; k < r->dpv.n; k++) gls_cursor_finish(&t->dpv[k].cursor);
    free(t->dps);
    free(t->dpv);
    free(t);
}

const gls_reader_driver gls_vtk_reader = {open_vtk, next_vtk, close_vtk};
