/* Writes legacy VTK polydata, version 4.2, BINARY: points in world mm (SPACE=RAS), then lines, values for each
 * streamline and for each point. Points go directly to the file; the rest goes to scratch files until all streamlines
 * are known. */
#include "tractogram/pieces.h"
#include "tractogram/spool.h"
#include "tractogram/writers.h"
#include "util/maths.h"
#include "util/status.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of the number of points, which is known only at the end. */
#define COUNT_WIDTH 12
#define PIECE 4096 /* number of values whose byte order is changed at a time */

static const char head[] = "# vtk DataFile Version 4.2\nStreamlines, SPACE=RAS\nBINARY\nDATASET POLYDATA\nPOINTS ";

/* State of the writer. */
typedef struct vtk {
    /* buffer in front of the output */
    gls_packer packer;
    gls_spool lengths; /* number of points of each line, uint32, for the section LINES behind all points */
    size_t n_spools;
    gls_spool *column; /* one for each column of dps and dpv */
} vtk;

/* Frees the state of a writer, which may be NULL. */
static void destroy(void *state)
{
    vtk *v = state;
    if (!v) return;
    gls_packer_finish(&v->packer);
    gls_spool_finish(&v->lengths);
    for (size_t k = 0; k < v->n_spools; k++) gls_spool_finish(&v->column[k]);
    free(v->column);
    free(v);
}

/* Name of a column's type in VTK. *bytes: size of a value in the file; float16 becomes float. */
static const char *type_name(gls_type type, size_t *bytes)
{
    *bytes = gls_type_size(type);
    switch (type) {
    case GLS_TYPE_FLOAT64: return "double";
    case GLS_TYPE_INT8: return "char";
    case GLS_TYPE_INT16: return "short";
    case GLS_TYPE_INT32: return "int";
    case GLS_TYPE_INT64: return "vtktypeint64";
    case GLS_TYPE_UINT8:
    case GLS_TYPE_BOOL: return "unsigned_char";
    case GLS_TYPE_UINT16: return "unsigned_short";
    case GLS_TYPE_UINT32: return "unsigned_int";
    case GLS_TYPE_UINT64: return "vtktypeuint64";
    default: *bytes = sizeof(float); return "float";
    }
}

/* Reverses the bytes of n values, because binary VTK files are big-endian. */
static void swap(unsigned char *data, size_t n, size_t bytes)
{
    for (size_t i = 0; i < n; i++, data += bytes)
        for (size_t k = 0; k < bytes / 2; k++) {
            unsigned char byte = data[k];
            data[k] = data[bytes - 1 - k];
            data[bytes - 1 - k] = byte;
        }
}

/* Function create() of the driver: writes the header with space for the number of points. */
static gls_status create(gls_tractogram_writer *w, const gls_tractogram_options *options)
{
    char line[sizeof head + 64];
    vtk *v = w->state = calloc(1, sizeof *v);
    if (!v) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    if (options->shard)
        return gls_fail(
            GLS_ERR_UNSUPPORTED,
            "%s: a shard cannot be a VTK file: write TRX, TRK or TCK, merge the shards, then run 'glslines convert'",
            w->output.path);
    gls_status status = gls_packer_init(&v->packer, &w->output);
    if (!status) status = gls_spool_init(&v->lengths, &w->output);
    int n = snprintf(line, sizeof line, "%s%*d float\n", head, COUNT_WIDTH, 0);
    return !status ? gls_output_write(&w->output, line, (size_t)n) : status;
}

/* Function define() of the driver: a spool for each column; VTK stores no groups. */
static gls_status define(gls_tractogram_writer *w)
{
    vtk *v = w->state;
    const size_t n = w->n_dps + w->n_dpv;
    for (size_t k = n; k < n + w->n_groups; k++) gls_writer_lose(w, k);
    v->column = calloc(n + 1, sizeof *v->column);
    if (!v->column) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    gls_status status = GLS_OK;
    for (; v->n_spools < n && !status; v->n_spools++) status = gls_spool_init(&v->column[v->n_spools], &w->output);
    return status;
}

/* Appends the values of a column in big-endian order to its spool. */
static gls_status spool_values(gls_spool *spool, const gls_column *c, uint64_t rows)
{
    unsigned char piece[PIECE * sizeof(double)];
    const uint64_t n = rows * c->components;
    size_t bytes;
    gls_status status = GLS_OK;
    type_name(c->type, &bytes);
    for (uint64_t i = 0; i < n && !status;) {
        size_t m = n - i < PIECE ? (size_t)(n - i) : PIECE;
        if (c->type == GLS_TYPE_FLOAT16)
            for (size_t k = 0; k < m; k++) {
                float value = (float)gls_column_value(c, i + k);
                memcpy(piece + k * sizeof value, &value, sizeof value);
            }
        else
            memcpy(piece, (const char *)c->data + i * bytes, m * bytes);
        swap(piece, m, bytes);
        status = gls_spool_append(spool, piece, m * bytes);
        i += m;
    }
    return status;
}

/* Writes the points of a block and spools lengths and values. */
static gls_status append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    vtk *v = w->state;
    unsigned char piece[PIECE * 12];
    gls_status status = GLS_OK;
    /* indices of the section LINES are int32 */
    if (w->n_points + s->offset[s->n] > INT_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: VTK files hold at most %d points; use TRX", w->output.path, INT_MAX);
    for (uint64_t p = 0; p < s->offset[s->n] && !status;) {
        size_t n = s->offset[s->n] - p < PIECE ? (size_t)(s->offset[s->n] - p) : PIECE;
        memcpy(piece, s->point[p], n * sizeof *s->point);
        swap(piece, 3 * n, sizeof(float));
        status = gls_packer_write(&v->packer, piece, n * sizeof *s->point);
        p += n;
    }
    for (size_t i = 0; i < s->n && !status; i++) {
        uint32_t n = (uint32_t)(s->offset[i + 1] - s->offset[i]);
        status = gls_spool_append(&v->lengths, &n, sizeof n);
    }
    for (size_t k = 0; k < w->n_dps && !status; k++) status = spool_values(&v->column[k], &s->dps[k], s->n);
    for (size_t k = 0; k < w->n_dpv && !status; k++)
        status = spool_values(&v->column[w->n_dps + k], &s->dpv[k], s->offset[s->n]);
    return status;
}

/* Writes the section LINES: for each line its number of points and their indices, int32. */
static gls_status write_lines(gls_tractogram_writer *w)
{
    vtk *v = w->state;
    char text[64];
    uint32_t n, at = 0;
    int length = snprintf(text, sizeof text, "\nLINES %" PRIu64 " %" PRIu64 "\n", w->n_streamlines,
                          w->n_streamlines + w->n_points);
    gls_status status = gls_packer_write(&v->packer, text, (size_t)length);
    if (!status) status = gls_spool_rewind(&v->lengths);
    for (uint64_t i = 0; i < w->n_streamlines && !status; i++) {
        status = gls_spool_read(&v->lengths, &n, sizeof n);
        for (uint32_t p = 0; p <= n && !status; p++) {
            uint32_t word = p == 0 ? n : at++;
            swap((unsigned char *)&word, 1, sizeof word);
            status = gls_packer_write(&v->packer, &word, sizeof word);
        }
    }
    return status;
}

/* Writes "CELL_DATA n" or "POINT_DATA n" and the columns first .. end - 1. */
static gls_status write_columns(gls_tractogram_writer *w, const char *kind, uint64_t rows, size_t first, size_t end)
{
    vtk *v = w->state;
    char text[512], name[256];
    unsigned char piece[PIECE];
    /* no section without columns */
    if (first == end) return GLS_OK;
    int length = snprintf(text, sizeof text, "\n%s %" PRIu64 "\nFIELD FieldData %zu\n", kind, rows, end - first);
    gls_status status = gls_packer_write(&v->packer, text, (size_t)length);
    for (size_t k = first; k < end && !status; k++) {
        const gls_column *c = &w->column[k];
        size_t bytes, at = 0;
        const char *type = type_name(c->type, &bytes);
        /* VTK's rule for names: blanks, % and quotes as %XX */
        for (const char *from = c->name; *from && at + 4 < sizeof name; from++) {
            bool plain = *from > ' ' && *from != '%' && *from != '"';
            at += (size_t)sprintf(name + at, plain ? "%c" : "%%%02X", plain ? *from : (unsigned char)*from);
        }
        length = snprintf(text, sizeof text, "%s %u %" PRIu64 " %s\n", name, c->components, rows, type);
        status = gls_packer_write(&v->packer, text, (size_t)length);
        if (!status) status = gls_spool_rewind(&v->column[k]);
        /* values wait in their spool, and are copied in pieces */
        for (uint64_t left = v->column[k].bytes; left > 0 && !status;) {
            size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
            status = gls_spool_read(&v->column[k], piece, n);
            if (!status) status = gls_packer_write(&v->packer, piece, n);
            left -= n;
        }
        if (!status) status = gls_packer_write(&v->packer, "\n", 1);
    }
    return status;
}

/* Writes lines and values behind the points, then the number of points into the header. */
static gls_status finish(gls_tractogram_writer *w)
{
    vtk *v = w->state;
    char digits[32];
    gls_status status = write_lines(w);
    if (!status) status = write_columns(w, "CELL_DATA", w->n_streamlines, 0, w->n_dps);
    if (!status) status = write_columns(w, "POINT_DATA", w->n_points, w->n_dps, w->n_dps + w->n_dpv);
    if (!status) status = gls_packer_write(&v->packer, "\n", 1);
    if (!status) status = gls_packer_flush(&v->packer);
    snprintf(digits, sizeof digits, "%*" PRIu64, COUNT_WIDTH, w->n_points);
    return !status ? gls_output_write_at(&w->output, sizeof head - 1, digits, COUNT_WIDTH) : status;
}

const gls_tractogram_driver gls_vtk_driver = {false, create, define, append, finish, destroy};
