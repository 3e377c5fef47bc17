/* Writes TrackVis version 2: a binary header of 1000 bytes; coordinates in voxel mm with the origin at the corner of
 * the first voxel. */
#include "tractogram/file_formats.h"
#include "tractogram/pieces.h"
#include "tractogram/shard_note.h"
#include "tractogram/writers.h"
#include "util/maths.h"
#include "util/status.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns that become scalars or properties, with their names in the header. */
typedef struct values {
    size_t n,
        index[TRK_MAX_NAMES]; /* n: number of columns; index: index of each column among the columns of its kind */
    uint32_t n_values;        /* sum of the numbers of components of these columns */
    /* names of columns as the header stores them, 20 bytes each */
    unsigned char names[TRK_MAX_NAMES * TRK_NAME_BYTES];
} values;

/* State of the writer. */
typedef struct trk {
    /* buffer in front of the output */
    gls_packer packer;
    gls_grid grid; /* the affine as the file stores it, in float */
    /* world mm to voxel mm: voxel coordinates plus a half, times the voxel size */
    double to_voxmm[3][4];
    /* scalars: values of points; properties: values of streamlines */
    values scalars, properties;
    unsigned char *record; /* memory for one streamline */
    size_t capacity;
    atomic_bool rounded; /* true: an integer was not exact as float */
    atomic_bool shared;  /* true: a streamline was in more than one group */
} trk;

/* Stores a little-endian integer of 16 bits. */
static void put16(unsigned char *at, int value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (8 * i));
}

/* Stores a value as float32. */
static void store_float(unsigned char *at, double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    put32(at, bits);
}

/* Frees the state of a writer, which may be NULL. */
static void destroy(void *state)
{
    trk *t = state;
    if (!t) return;
    gls_packer_finish(&t->packer);
    free(t->record);
    free(t);
}

/* Function create() of the driver: leaves space for the header, which is written at the end. */
static gls_status create(gls_tractogram_writer *w, const gls_tractogram_options *options)
{
    static const unsigned char zeros[TRK_HEADER_BYTES];
    double affine[3][4];
    (void)options;
    for (int i = 0; i < 3; i++) {
        if (w->grid.dim[i] > INT16_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED,
                            "%s: TRK files hold at most 32767 voxels along an axis, but the image has %d; use TRX",
                            w->output.path, w->grid.dim[i]);
        for (int c = 0; c < 4; c++) affine[i][c] = (float)w->grid.affine[i][c];
    }
    trk *t = w->state = calloc(1, sizeof *t);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", w->output.path);
    gls_status status = gls_grid_init(&t->grid, w->grid.dim, affine);
    if (status) return status;
    /* inverse of the affine that readers will find, so that they get the same points back */
    double inverse[3][4];
    gls_affine_invert((const double(*)[4])affine, inverse);
    for (int i = 0; i < 3; i++) {
        double size = (float)w->grid.voxel_size[i];
        for (int c = 0; c < 4; c++) t->to_voxmm[i][c] = size * (inverse[i][c] + (c == 3 ? 0.5 : 0));
    }
    status = gls_packer_init(&t->packer, &w->output);
    t->packer.checked = w->is_shard;
    if (!status) status = gls_output_write(&w->output, zeros, sizeof zeros);
    return status;
}

/* Adds the name of a column; for a column of several components the name, a NUL and their number. Returns false if
 * there is no room. */
static bool add_name(values *v, size_t index, const gls_column *column)
{
    char number[16] = "";
    if (column->components > 1) snprintf(number, sizeof number, "%u", column->components);
    size_t n = strlen(column->name), bytes = n + (*number ? 1 + strlen(number) : 0);
    /* 20 bytes a name, 10 names, and int16 for the number of values: what does not fit is left out */
    if (v->n == TRK_MAX_NAMES || bytes > TRK_NAME_BYTES || column->components > INT16_MAX - v->n_values) return false;
    unsigned char *at = v->names + v->n * TRK_NAME_BYTES;
    memcpy(at, column->name, n);
    memcpy(at + n + 1 - (n == TRK_NAME_BYTES), number, strlen(number));
    v->index[v->n++] = index;
    v->n_values += column->components;
    return true;
}

/* Assigns columns to the scalars (values of points) and properties (values of streamlines) of TRK: at most ten columns
 * each, with names of up to 20 bytes. Groups become numbers in a property if there is room. What does not fit is left
 * out. */
static gls_status define(gls_tractogram_writer *w)
{
    trk *t = w->state;
    for (size_t k = 0; k < w->n_dps; k++)
        if (!add_name(&t->properties, k, &w->column[k])) gls_writer_lose(w, k);
    for (size_t k = 0; k < w->n_dpv; k++)
        if (!add_name(&t->scalars, k, &w->column[w->n_dps + k])) gls_writer_lose(w, w->n_dps + k);
    /* members of groups become a property, if there is space and no column has its name */
    const gls_column group = {.name = "group", .type = GLS_TYPE_FLOAT32, .components = 1};
    w->numbers_groups = w->n_groups > 0 && !gls_column_find(w->column, w->n_dps, group.name) &&
                        add_name(&t->properties, SIZE_MAX, &group);
    if (w->numbers_groups) t->properties.n--; /* the number of the group comes behind the values of columns */
    for (size_t k = 0; k < w->n_groups && !w->numbers_groups; k++) gls_writer_lose(w, w->n_dps + w->n_dpv + k);
    return GLS_OK;
}

/* Stores the values of one row of all columns. Returns the position behind the last value. */
static float *store_values(trk *t, const values *v, const gls_column *columns, uint64_t row, float *to)
{
    for (size_t k = 0; k < v->n; k++) {
        const gls_column *c = &columns[v->index[k]];
        for (uint32_t i = 0; i < c->components; i++, to++) {
            double value = gls_column_value(c, row * c->components + i);
            *to = (float)value;
            /* float32 holds whole numbers up to 2^24 */
            if (!gls_type_is_float(c->type) && (value != (double)*to || fabs(value) > 16777216))
                atomic_store(&t->rounded, true);
        }
    }
    return to;
}

/* 1 + the index of the first group that a streamline is in; 0: none. Notes whether it is in more than one. */
static float find_group(trk *t, const gls_streamlines *s, size_t i)
{
    size_t found = 0;
    for (size_t g = 0; g < s->n_groups; g++) {
        if (!gls_column_value(&s->group[g], i)) continue;
        if (found) atomic_store(&t->shared, true);
        if (!found) found = g + 1;
    }
    return (float)found;
}

/* Two doubles in one register. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

/* Converts n points to the coordinates of the file, two at a time, and stores them `stride` floats apart. */
static void store_points(const gls_tractogram_writer *w, const float (*point)[3], size_t n, size_t stride, float *to)
{
    const trk *t = w->state;
    double map[3][4];
    size_t i = 0;
    memcpy(map, t->to_voxmm, sizeof map);
    for (; i + 2 <= n; i += 2, to += 2 * stride) {
        const float *a = point[i], *b = point[i + 1];
        const pair x = {a[0], b[0]}, y = {a[1], b[1]}, z = {a[2], b[2]};
        for (int r = 0; r < 3; r++) {
            const pair p = map[r][0] * x + map[r][1] * y + map[r][2] * z + map[r][3];
            to[r] = (float)p[0];
            to[stride + (size_t)r] = (float)p[1];
        }
    }
    if (i == n) return;
    double p[3] = {point[i][0], point[i][1], point[i][2]};
    gls_affine_apply((const double(*)[4])map, p, p);
    for (int r = 0; r < 3; r++) to[r] = (float)p[r];
}

/* Copies points that are in the coordinates of the file already. */
static void copy_points(const float (*point)[3], size_t n, size_t stride, float *to)
{
    for (size_t i = 0; i < n; i++, to += stride) memcpy(to, point[i], sizeof *point);
}

/* Streamlines of one append. */
typedef struct lines {
    gls_tractogram_writer *w;
    /* the block that is appended */
    const gls_streamlines *s;
} lines;

/* Position of streamline i in the append, in bytes. A record is the number of points, the points with their scalars,
 * and the properties. */
static uint64_t offset_of_line(const void *user, size_t i)
{
    const lines *l = user;
    const trk *t = l->w->state;
    return 4 * (i * (1 + (uint64_t)t->properties.n_values) + l->s->offset[i] * (3 + t->scalars.n_values));
}

/* Stores the record of a streamline. Returns the end of the record. */
static unsigned char *store_line(const lines *l, size_t i, unsigned char *record)
{
    trk *t = l->w->state;
    const gls_streamlines *s = l->s;
    put32(record, (uint32_t)(s->offset[i + 1] - s->offset[i]));
    float *to = (float *)(void *)(record + 4);
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]), stride = 3 + t->scalars.n_values;
    if (l->w->in_stored_space)
        copy_points(s->point + s->offset[i], n, stride, to);
    else
        store_points(l->w, s->point + s->offset[i], n, stride, to);
    /* scalars follow each point; properties follow the last point */
    for (size_t p = 0; t->scalars.n > 0 && p < n; p++)
        store_values(t, &t->scalars, s->dpv, s->offset[i] + p, to + p * stride + 3);
    to = store_values(t, &t->properties, s->dps, i, to + n * stride);
    if (l->w->numbers_groups) *to++ = find_group(t, s, i);
    return (unsigned char *)to;
}

/* Formats the records of streamlines from .. until - 1. */
static gls_status form_lines(void *user, size_t from, size_t until, unsigned char *room, const void **data)
{
    const lines *l = user;
    const uint64_t *offset = l->s->offset;
    (void)data;
    gls_status status =
        gls_writer_check_points(l->w, l->s->point + offset[from], (size_t)(offset[until] - offset[from]));
    for (size_t i = from; i < until && !status; i++) room = store_line(l, i, room);
    return status;
}

/* Formats and writes the record of streamline i. */
static gls_status append_one(const lines *l, size_t i)
{
    trk *t = l->w->state;
    const size_t bytes = (size_t)(offset_of_line(l, i + 1) - offset_of_line(l, i));
    if (bytes > t->capacity) {
        free(t->record);
        t->record = malloc(bytes);
        t->capacity = t->record ? bytes : 0;
        if (!t->record) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", l->w->output.path);
    }
    store_line(l, i, t->record);
    return gls_packer_write(&t->packer, t->record, bytes);
}

/* Function append() of the driver. Several threads format large blocks; small blocks are formatted by this thread. */
static gls_status append(gls_tractogram_writer *w, const gls_streamlines *s)
{
    trk *t = w->state;
    lines l = {w, s};
    gls_status status = GLS_OK;
    if (w->n_streamlines + s->n > INT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRK files hold at most 2147483647 streamlines; use TRX",
                        w->output.path);
    for (size_t i = 0; i < s->n; i++)
        if (s->offset[i + 1] - s->offset[i] > INT32_MAX)
            return gls_fail(GLS_ERR_UNSUPPORTED, "%s: TRK files hold at most 2147483647 points a streamline; use TRX",
                            w->output.path);
    if (gls_pieces_wanted(offset_of_line(&l, s->n)))
        return gls_packer_write_pieces(
            &t->packer,
            &(gls_pieces){.n = s->n, .offset = offset_of_line, .form = form_lines, .user = &l, .rooms = &w->rooms});
    status = gls_writer_check_points(w, s->point, (size_t)s->offset[s->n]);
    for (size_t i = 0; i < s->n && !status; i++) status = append_one(&l, i);
    return status;
}

/* Writes the header, whose numbers are known only now. */
static gls_status finish(gls_tractogram_writer *w)
{
    trk *t = w->state;
    unsigned char header[TRK_HEADER_BYTES] = "TRACK";
    gls_status status = gls_packer_flush(&t->packer);
    if (status) return status;
    if (atomic_load(&t->rounded))
        gls_log(GLS_LOG_WARNING,
                "%s: TRK stores integers as float: integers above 16777216 are rounded (TRX keeps them)",
                w->output.path);
    if (atomic_load(&t->shared))
        gls_log(GLS_LOG_WARNING, "%s: streamlines of several groups have the first of them as property \"group\"",
                w->output.path);
    for (int i = 0; i < 3; i++) {
        put16(header + TRK_DIM + 2 * i, t->grid.dim[i]);
        store_float(header + TRK_VOXEL_SIZE + 4 * i, w->grid.voxel_size[i]);
        for (int c = 0; c < 4; c++) store_float(header + TRK_VOX_TO_RAS + 4 * (4 * i + c), t->grid.affine[i][c]);
    }
    store_float(header + TRK_VOX_TO_RAS + 4 * 15, 1.0);
    put16(header + TRK_N_SCALARS, (int)t->scalars.n_values);
    memcpy(header + TRK_SCALAR_NAME, t->scalars.names, sizeof t->scalars.names);
    put16(header + TRK_N_PROPERTIES, (int)t->properties.n_values);
    memcpy(header + TRK_PROPERTY_NAME, t->properties.names, sizeof t->properties.names);
    /* readers flip axes if these letters do not follow from the affine of this header */
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

const gls_tractogram_driver gls_trk_driver = {true, create, define, append, finish, destroy};
