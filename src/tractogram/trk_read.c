/* Reads TrackVis files of versions 1 to 3 in both byte orders. */
#include "tractogram/cursor.h"
#include "tractogram/file_formats.h"
#include "tractogram/pump.h"
#include "tractogram/readers.h"
#include "transform/affine.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of the reader. swapped: the file is in the byte order that this machine does not use. */
typedef struct trk {
    bool swapped;
    /* values of a point besides its coordinates, and of a streamline */
    uint32_t n_scalars, n_properties;
    uint64_t n_count; /* number of streamlines; 0: up to the end of the file */
    /* coordinates of the file, voxel mm, to world mm */
    double to_world[3][4];
    float *row;  /* values of one point, or of one streamline */
    bool warned; /* true: a warning about the count was given */
} trk;

/* Reads an unsigned number of `bytes` bytes in the byte order of the file. */
static uint64_t get(const trk *t, const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | at[t->swapped ? i : bytes - 1 - i];
    return value;
}

/* Reads a float32. */
static float get_float(const trk *t, const unsigned char *at)
{
    uint32_t bits = (uint32_t)get(t, at, 4);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Adds columns for the n values that `names` lists: NAME, or NAME, NUL and the number of values under this name. Values
 * left over become one column with the name `rest`. */
static gls_status read_names(gls_tractogram_reader *r, const unsigned char *names, uint32_t n, const char *rest,
                             gls_reader_columns *columns)
{
    uint32_t used = 0;
    gls_status status = GLS_OK;
    for (int i = 0; i < TRK_MAX_NAMES && used < n && !status; i++) {
        char name[TRK_NAME_BYTES + 1] = "";
        memcpy(name, names + i * TRK_NAME_BYTES, TRK_NAME_BYTES);
        size_t length = strlen(name);
        /* an empty name stands for no value */
        if (length == 0) continue;
        unsigned long components = length < TRK_NAME_BYTES - 1 ? strtoul(name + length + 1, NULL, 10) : 0;
        if (components < 1) components = 1;
        if (components > n - used) return gls_reader_damaged(r, "its header names more values than there are");
        status = gls_reader_add_column(r, columns, name, GLS_TYPE_FLOAT32, (uint32_t)components);
        used += (uint32_t)components;
    }
    if (!status && used < n) status = gls_reader_add_column(r, columns, rest, GLS_TYPE_FLOAT32, n - used);
    return status;
}

/* Sets *axis to the world axis that a letter names, 0 to 2, and *sign to 1 for R, A and S, -1 for L, P and I. Returns
 * false for another letter. */
static bool parse_letter(char letter, int *axis, int *sign)
{
    static const char letters[] = "LRPAIS";
    const char *at = letter ? strchr(letters, gls_to_upper((unsigned char)letter)) : NULL;
    if (!at) return false;
    *axis = (int)(at - letters) / 2;
    *sign = (at - letters) % 2 ? 1 : -1;
    return true;
}

/* Composes the map from voxels of a grid to voxels in the order of the header. If the header has an affine, read_grid()
 * applies this map where its inverse would be right, because nibabel does so. The map and its inverse differ only where
 * axes change places in a cycle or with a reversal. */
static gls_status turn_axes(gls_tractogram_reader *r, const char order[4], const gls_grid *grid, const int32_t dim[3],
                            double turn[3][4])
{
    char codes[4];
    bool seen[3] = {false};
    memset(turn, 0, 12 * sizeof(double));
    /* for each axis i of the file: find the axis k of the grid that is left-right, front-back or top-bottom as axis i
     * is */
    gls_grid_axis_codes(grid, codes);
    for (int i = 0; i < 3; i++) {
        int axis, sign, other = 0, other_sign = 1;
        if (!parse_letter(order[i], &axis, &sign) || seen[axis])
            return gls_reader_damaged(r, "its voxel order is not made of L or R, P or A, I or S");
        seen[axis] = true;
        for (int k = 0; k < 3; k++) {
            parse_letter(codes[k], &other, &other_sign);
            if (other != axis) continue;
            turn[i][k] = sign == other_sign ? 1 : -1;
            turn[i][3] = sign == other_sign ? 0 : dim[i] - 1;
        }
    }
    return GLS_OK;
}

/* Checks that the dimensions and voxel sizes of a file without an affine are those of the reference image, the grid.
 * turn: map from voxels in the order of the header to voxels of the grid. */
static gls_status use_reference(gls_tractogram_reader *r, const int32_t dim[3], const double size[3],
                                const double turn[3][4])
{
    const gls_grid *g = r->options.reference;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (turn[i][k] != 0 && (dim[k] != g->dim[i] || fabs(size[k] - g->voxel_size[i]) > 1e-3 * g->voxel_size[i]))
                return gls_fail(GLS_ERR_INPUT,
                                "%s: its dimensions or voxel sizes are not those of --reference: give the image to "
                                "which this tractogram belongs",
                                r->path);
    return GLS_OK;
}

/* Voxel order of the header in capital letters, as nibabel reads it. A missing order means TrackVis's own. */
static void read_order(const unsigned char *header, char order[4])
{
    for (int i = 0; i < 3; i++) order[i] = (char)gls_to_upper(header[TRK_VOXEL_ORDER + i]);
    order[3] = '\0';
    if (order[0] == '\0') memcpy(order, "LPS", 3);
}

/* Sets the grid from the affine of the header. A file without valid dimensions gets a warning, and read_grid() refuses
 * it if its axes must be permuted or flipped. */
static gls_status set_grid(gls_tractogram_reader *r, const int32_t dim[3], const double affine[4][4])
{
    int32_t used[3];
    r->info.has_grid = true;
    for (int i = 0; i < 3; i++) {
        r->info.has_grid &= dim[i] >= 1;
        used[i] = dim[i] >= 1 ? dim[i] : 1;
    }
    if (!r->info.has_grid) gls_reader_warn(r, "%s: its header has no valid dimensions: its grid is unknown", r->path);
    return gls_reader_set_grid(r, used, affine, "the affine in its header (vox_to_ras)");
}

/* Finds the map from voxel mm, whose origin is the corner of the first voxel, to world mm: from the affine of the
 * header, or for files without one from the reference image. Axes are permuted and flipped to the voxel order that the
 * header names. */
static gls_status read_grid(gls_tractogram_reader *r, const unsigned char *header)
{
    trk *t = r->state;
    int32_t dim[3];
    double affine[4][4], turn[3][4], from_voxmm[3][4] = {{0}}, voxel[3][4], size[3];
    char order[4], codes[4];
    gls_grid *g = &r->info.grid;
    const bool has_affine = r->info.version > 1 && get_float(t, header + TRK_VOX_TO_RAS + 60) != 0;
    /* version 1 has no affine; version 2 may have one of zeros, which means none */
    for (int i = 0; i < 3; i++) {
        dim[i] = (int16_t)get(t, header + TRK_DIM + 2 * i, 2);
        size[i] = get_float(t, header + TRK_VOXEL_SIZE + 4 * i);
        if (!(size[i] > 0) || !isfinite(size[i])) return gls_reader_damaged(r, "its header has no valid voxel sizes");
        from_voxmm[i][i] = 1 / size[i];
        from_voxmm[i][3] = -0.5;
    }
    for (int k = 0; k < 16; k++) affine[k / 4][k % 4] = get_float(t, header + TRK_VOX_TO_RAS + 4 * k);
    read_order(header, order);
    if (!has_affine && !r->options.reference)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has no affine: give --reference IMAGE, the image to which this tractogram belongs",
                        r->path);
    if (!has_affine) *g = *r->options.reference;
    gls_status status = has_affine ? set_grid(r, dim, (const double(*)[4])affine) : GLS_OK;
    if (!status) status = turn_axes(r, order, g, dim, turn);
    if (!status && !has_affine) {
        /* without an affine the inverse map is needed: from voxels in the order of the header to voxels of the
         * reference image */
        double back[3][4];
        gls_affine_invert((const double(*)[4])turn, back);
        memcpy(turn, back, sizeof turn);
        status = use_reference(r, dim, size, (const double(*)[4])turn);
        r->info.has_grid = true;
    }
    /* nibabel's rule: the voxel order of the header wins over the voxel order that follows from the affine */
    if (status) return status;
    gls_grid_axis_codes(g, codes);
    if (has_affine && strcmp(order, codes) != 0) {
        if (!r->info.has_grid)
            return gls_reader_damaged(r, "its voxel order contradicts its affine, and it has no dimensions by which "
                                         "axes could be permuted or flipped");
        gls_reader_warn(
            r, "%s: its voxel order %s contradicts its affine (%s): axes are permuted and flipped, as nibabel does",
            r->path, order, codes);
    }
    /* voxel sizes as in the header: computed from the rounded affine, they may differ in the last bit */
    for (int i = 0; i < 3; i++)
        if (fabs(size[i] - g->voxel_size[i]) <= 1e-4 * size[i]) g->voxel_size[i] = size[i];
    gls_transform_compose((const double(*)[4])turn, (const double(*)[4])from_voxmm, voxel);
    gls_transform_compose((const double(*)[4])g->affine, (const double(*)[4])voxel, t->to_world);
    return GLS_OK;
}

/* Reads the note on a shard as a header field. */
static gls_status read_note(gls_tractogram_reader *r, unsigned char *header)
{
    static const char key[] = GLS_SHARD_KEY ": ";
    char *note = (char *)header + TRK_SHARD;
    if (memcmp(note, key, sizeof key - 1) != 0) return GLS_OK;
    note[TRK_SHARD_BYTES - 1] = '\0';
    r->data.checked = true;
    return gls_reader_add_header(r, GLS_SHARD_KEY, note + sizeof key - 1);
}

/* Function open() of the driver: reads and checks the header. */
static gls_status open_trk(gls_tractogram_reader *r)
{
    unsigned char header[TRK_HEADER_BYTES];
    trk *t = r->state = calloc(1, sizeof *t);
    if (!t) return gls_reader_no_memory(r);
    gls_status status = gls_reader_head(r, 0, header, sizeof header);
    if (status) return status;
    /* the size of the header, 1000, shows the byte order */
    t->swapped = get(t, header + TRK_HDR_SIZE, 4) != TRK_HEADER_BYTES;
    if (get(t, header + TRK_HDR_SIZE, 4) != TRK_HEADER_BYTES)
        return gls_reader_damaged(r, "the size of its header is not 1000");
    r->info.version = (int)get(t, header + TRK_VERSION, 4);
    if (r->info.version < 1 || r->info.version > 3)
        return gls_fail(GLS_ERR_INPUT, "%s: is a TRK file of version %d; 1 to 3 are known", r->path, r->info.version);
    /* counts are signed in the format; a negative count means that the file is damaged */
    int n_scalars = (int16_t)get(t, header + TRK_N_SCALARS, 2),
        n_properties = (int16_t)get(t, header + TRK_N_PROPERTIES, 2);
    int32_t n_count = (int32_t)get(t, header + TRK_N_COUNT, 4);
    if (n_scalars < 0 || n_properties < 0 || n_count < 0)
        return gls_reader_damaged(r, "its header has negative counts");
    t->n_scalars = (uint32_t)n_scalars;
    t->n_properties = (uint32_t)n_properties;
    t->n_count = (uint64_t)n_count;
    /* 0: the number of streamlines is not known, and reading goes on to the end of the file */
    r->info.counts_streamlines = n_count > 0;
    r->info.n_streamlines = t->n_count;
    r->info.position_type = GLS_TYPE_FLOAT32;
    status = read_grid(r, header);
    if (!status) status = read_names(r, header + TRK_SCALAR_NAME, t->n_scalars, "scalars", &r->dpv);
    if (!status) status = read_names(r, header + TRK_PROPERTY_NAME, t->n_properties, "properties", &r->dps);
    if (status) return status;
    /* memory for the properties of a streamline, and for a point with its scalars */
    t->row = malloc((3 + t->n_scalars + t->n_properties) * sizeof *t->row);
    if (!t->row) return gls_reader_no_memory(r);
    status = gls_cursor_init(&r->data, r->path, r->fd, TRK_HEADER_BYTES, r->info.bytes);
    return !status ? read_note(r, header) : status;
}

/* Distributes a row of values to columns. */
static void store(const gls_reader_columns *columns, uint64_t row, const float *value)
{
    for (size_t k = 0; k < columns->n; k++) {
        const gls_column *c = &columns->filled[k];
        memcpy((float *)c->data + row * c->components, value, c->components * sizeof *value);
        value += c->components;
    }
}

/* Reads n points with their scalars, and maps them to world mm unless stored coordinates are wanted. */
static gls_status read_points(gls_tractogram_reader *r, uint64_t first, uint32_t n)
{
    trk *t = r->state;
    gls_status status = GLS_OK;
    /* without scalars the points of a streamline are one block */
    if (t->n_scalars == 0) {
        status = gls_cursor_read(&r->data, r->point[first], n * sizeof *r->point);
        if (t->swapped) gls_swap_bytes(r->point[first], 3 * (size_t)n, 4);
    }
    for (uint32_t i = 0; i < n && t->n_scalars > 0 && !status; i++) {
        status = gls_cursor_read(&r->data, t->row, (3 + t->n_scalars) * sizeof *t->row);
        if (status) return status;
        if (t->swapped) gls_swap_bytes(t->row, 3 + t->n_scalars, 4);
        memcpy(r->point[first + i], t->row, sizeof *r->point);
        store(&r->dpv, first + i, t->row + 3);
    }
    if (status || r->in_stored_space) return status;
    for (uint64_t p = first; p < first + n; p++) {
        double world[3] = {r->point[p][0], r->point[p][1], r->point[p][2]};
        gls_affine_apply((const double(*)[4])t->to_world, world, world);
        for (int i = 0; i < 3; i++) r->point[p][i] = (float)world[i];
    }
    return GLS_OK;
}

/* Reads one record: number of points (int32), points with scalars, properties (all float32). */
static gls_status read_streamline(gls_tractogram_reader *r, size_t i, uint64_t *points)
{
    trk *t = r->state;
    unsigned char count[4];
    gls_status status = gls_cursor_read(&r->data, count, sizeof count);
    if (status) return status;
    uint64_t n = get(t, count, 4);
    if (n == 0 || n > INT32_MAX) return gls_reader_damaged(r, "it has a streamline without points");
    /* a damaged number of points must not ask for memory that the file cannot fill */
    if (n > gls_cursor_left(&r->data) / (4 * (3 + (uint64_t)t->n_scalars))) return gls_cursor_ended(&r->data);
    status = gls_reader_reserve(r, *points + n);
    if (!status) status = read_points(r, *points, (uint32_t)n);
    if (!status) status = gls_cursor_read(&r->data, t->row, t->n_properties * sizeof *t->row);
    if (status) return status;
    if (t->swapped) gls_swap_bytes(t->row, t->n_properties, 4);
    store(&r->dps, i, t->row);
    *points += n;
    r->line_offset[i + 1] = *points;
    return GLS_OK;
}

/* Reads the next block of streamlines; *n: their number, 0 at the end. */
static gls_status next_trk(gls_tractogram_reader *r, size_t *n)
{
    trk *t = r->state;
    uint64_t points = 0;
    size_t i = 0;
    for (; i < r->max_lines && points < r->max_points; i++) {
        if (t->n_count > 0 ? r->lines_read + i == t->n_count : gls_cursor_left(&r->data) == 0) break;
        gls_status status = read_streamline(r, i, &points);
        if (status) return status;
    }
    *n = i;
    r->done = 1 - (double)gls_cursor_left(&r->data) / (double)r->info.bytes;
    if (i == 0 && gls_cursor_left(&r->data) > 0 && !t->warned) {
        gls_reader_warn(r, "%s: more data follow the %llu streamlines of its header; they are not read", r->path,
                        (unsigned long long)t->n_count);
        t->warned = true;
    }
    return GLS_OK;
}

/* Function close() of the driver. */
static void close_trk(gls_tractogram_reader *r)
{
    trk *t = r->state;
    if (t) free(t->row);
    free(t);
}

const gls_reader_driver gls_trk_reader = {open_trk, next_trk, close_trk};
