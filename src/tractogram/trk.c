/* TrackVis version 2: binary header of 1000 bytes, voxel mm with the origin at the corner of the first voxel. */
#include "tractogram/tractogram.h"
#include "tractogram/trk.h"
#include "util/affine.h"
#include "util/log.h"
#include "util/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns that become values of one kind, with their names in the header. */
typedef struct values {
    size_t n, place[TRK_MAX_NAMES]; /* of the column among its kind */
    uint32_t n_values;
    unsigned char names[TRK_MAX_NAMES * TRK_NAME_BYTES];
} values;

typedef struct trk {
    gls_packer packer;
    gls_grid grid; /* the affine as the file has it: float */
    double to_voxmm[3][4];
    values scalars, properties;
    float *row; /* one streamline */
    size_t row_capacity;
    bool rounded; /* an integer was not exact as float */
} trk;

static void put16(unsigned char *at, int value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static void put_float(unsigned char *at, double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put32(at, bits);
}

static void destroy(void *state)
{
    trk *t = state;
    if (!t) return;
    gls_packer_finish(&t->packer);
    free(t->row);
    free(t);
}

static gls_status create(gls_tractogram_writer *w, const gls_tractogram_options *options)
{
    static const unsigned char zeros[TRK_HEADER_BYTES];
    double affine[3][4];
    (void)options;
    for (int i = 0; i < 3; i++) {
        if (w->grid.dim[i] > INT16_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED,
                            "%s: TRK files hold at most 32767 voxels along an axis, the image has %d; use TRX",
                            w->output.path, w->grid.dim[i]);
        for (int c = 0; c < 4; c++) affine[i][c] = (float)w->grid.affine[i][c];
    }
    trk *t = w->state = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", w->output.path);
    gls_status status = gls_grid_init(&t->grid, w->grid.dim, affine);
    if (status != GLS_OK) return status;
    /* by the affine as readers will find it, so that they get the same points back */
    double inverse[3][4];
    gls_affine_invert((const double(*)[4])affine, inverse);
    for (int i = 0; i < 3; i++) {
        double size = (float)w->grid.voxel_size[i];
        for (int c = 0; c < 4; c++) t->to_voxmm[i][c] = size * (inverse[i][c] + (c == 3 ? 0.5 : 0));
    }
    status = gls_packer_init(&t->packer, &w->output);
    t->packer.checked = w->is_shard;
    if (status == GLS_OK) status = gls_output_write(&w->output, zeros, sizeof zeros);
    return status;
}

/* Several values under one name: the name, a NUL and the number of values. False: no room for it. */
static bool add_name(values *v, size_t place, const gls_column *column)
{
    char number[16] = "";
    if (column->components > 1) snprintf(number, sizeof number, "%u", column->components);
    size_t n = strlen(column->name), bytes = n + (*number ? 1 + strlen(number) : 0);
    if (v->n == TRK_MAX_NAMES || bytes > TRK_NAME_BYTES || column->components > INT16_MAX - v->n_values) return false;
    unsigned char *at = v->names + v->n * TRK_NAME_BYTES;
    memcpy(at, column->name, n);
    memcpy(at + n + 1 - (n == TRK_NAME_BYTES), number, strlen(number));
    v->place[v->n++] = place;
    v->n_values += column->components;
    return true;
}

static gls_status define(gls_tractogram_writer *w)
{
    trk *t = w->state;
    for (size_t k = 0; k < w->n_dps; k++)
        if (!add_name(&t->properties, k, &w->column[k])) gls_writer_lose(w, k);
    for (size_t k = 0; k < w->n_dpv; k++)
        if (!add_name(&t->scalars, k, &w->column[w->n_dps + k])) gls_writer_lose(w, w->n_dps + k);
    for (size_t k = 0; k < w->n_groups; k++) gls_writer_lose(w, w->n_dps + w->n_dpv + k);
    return GLS_OK;
}

/* The values of one row of all columns; returns their end. */
static float *put_values(trk *t, const values *v, const gls_column *columns, uint64_t row, float *to)
{
    for (size_t k = 0; k < v->n; k++) {
        const gls_column *c = &columns[v->place[k]];
        for (uint32_t i = 0; i < c->components; i++, to++) {
            double value = gls_column_value(c, row * c->components + i);
            *to = (float)value;
            t->rounded |= !gls_type_is_float(c->type) && (value != (double)*to || fabs(value) > 16777216);
        }
    }
    return to;
}

static float *put_point(const gls_tractogram_writer *w, const float *point, float *to)
{
    const trk *t = w->state;
    if (w->in_stored_space) {
        memcpy(to, point, 3 * sizeof *to);
    } else {
        double p[3] = {point[0], point[1], point[2]};
        gls_affine_apply((const double(*)[4])t->to_voxmm, p, p);
        for (int i = 0; i < 3; i++) to[i] = (float)p[i];
    }
    return to + 3;
}

static gls_status append_one(gls_tractogram_writer *w, const gls_streamlines *s, size_t i)
{
    trk *t = w->state;
    const uint64_t n = s->offset[i + 1] - s->offset[i];
    unsigned char count[4];
    if (n > INT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRK files hold at most 2147483647 points a streamline",
                        w->output.path);
    size_t needed = (size_t)n * (3 + t->scalars.n_values) + t->properties.n_values;
    if (needed > t->row_capacity) {
        free(t->row);
        t->row = malloc(needed * sizeof *t->row);
        t->row_capacity = t->row ? needed : 0;
        if (!t->row) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", w->output.path);
    }
    float *to = t->row;
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++) {
        to = put_point(w, s->point[p], to);
        if (t->scalars.n > 0) to = put_values(t, &t->scalars, s->dpv, p, to);
    }
    put_values(t, &t->properties, s->dps, i, to);
    put32(count, (uint32_t)n);
    gls_status status = gls_packer_put(&t->packer, count, sizeof count);
    return status == GLS_OK ? gls_packer_put(&t->packer, t->row, needed * sizeof *t->row) : status;
}

static gls_status append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    gls_status status = GLS_OK;
    if (w->n_streamlines + s->n > INT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRK files hold at most 2147483647 streamlines; use TRX",
                        w->output.path);
    for (size_t i = 0; i < s->n && status == GLS_OK; i++) status = append_one(w, s, i);
    return status;
}

static gls_status finish(gls_tractogram_writer *w)
{
    trk *t = w->state;
    unsigned char header[TRK_HEADER_BYTES] = "TRACK";
    gls_status status = gls_packer_flush(&t->packer);
    if (status != GLS_OK) return status;
    if (t->rounded)
        gls_log(GLS_LOG_WARNING, "%s: TRK stores integers as float; those above 16777216 are rounded (TRX keeps them)",
                w->output.path);
    for (int i = 0; i < 3; i++) {
        put16(header + TRK_DIM + 2 * i, t->grid.dim[i]);
        put_float(header + TRK_VOXEL_SIZE + 4 * i, w->grid.voxel_size[i]);
        for (int c = 0; c < 4; c++) put_float(header + TRK_VOX_TO_RAS + 4 * (4 * i + c), t->grid.affine[i][c]);
    }
    put_float(header + TRK_VOX_TO_RAS + 4 * 15, 1.0);
    put16(header + TRK_N_SCALARS, (int)t->scalars.n_values);
    memcpy(header + TRK_SCALAR_NAME, t->scalars.names, sizeof t->scalars.names);
    put16(header + TRK_N_PROPERTIES, (int)t->properties.n_values);
    memcpy(header + TRK_PROPERTY_NAME, t->properties.names, sizeof t->properties.names);
    /* readers flip axes if these letters do not follow from the affine in this very header */
    gls_grid_axis_codes(&t->grid, (char *)header + TRK_VOXEL_ORDER);
    gls_grid_axis_codes(&t->grid, (char *)header + TRK_PAD2);
    if (w->is_shard) {
        char text[GLS_SHARD_TEXT];
        gls_shard_print(&w->shard, &t->packer.crc, text);
        sprintf((char *)header + TRK_SHARD, "%s: %s", GLS_SHARD_KEY, text);
    }
    put32(header + TRK_N_COUNT, (uint32_t)w->n_streamlines);
    put32(header + TRK_VERSION, 2);
    put32(header + TRK_HDR_SIZE, TRK_HEADER_BYTES);
    return gls_output_write_at(&w->output, 0, header, sizeof header);
}

const gls_tractogram_driver gls_trk_driver = {create, define, append, finish, destroy};
