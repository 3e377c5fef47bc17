/* NiftyReg stores splines by their control points and diffeomorphisms by their velocity. Both become fields of
 * displacements, as its own reg_transform makes them on the grid of the reference image. */
#include "transform/niftyreg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/formats.h"
#include "image/grid.h"
#include "image/stream.h"
#include "transform/spline.h"
#include "util/maths.h"
#include "util/status.h"

#define HEADER_BYTES 348 /* of NIfTI-1, which NiftyReg writes */
/* Bytes of an affine map behind the header: 16 numbers and what NiftyReg and NIfTI add. */
#define MAP_BYTES 80
#define MAX_MAPS 2

/* Squarings are as many as make the first step shorter than LONGEST mm along each axis, and at least LEAST. A file that
 * asks for more than MOST is damaged. */
#define LONGEST 0.28
#define LEAST 6
#define MOST 24

/* The affine map before the spline or the flow, and the one behind it. */
typedef struct affines {
    double map[MAX_MAPS][3][4];
} affines;

bool gls_niftyreg_has_points(int kind)
{
    return kind == GLS_NIFTYREG_CONTROL_POINTS || kind == GLS_NIFTYREG_VELOCITY_POINTS;
}

/* Size of the block behind the header that begins with these bytes. */
static int32_t block_size(const unsigned char *block, bool swapped)
{
    int32_t size;
    memcpy(&size, block, sizeof size);
    if (swapped) gls_swap_bytes(&size, 1, sizeof size);
    return size;
}

/* Takes the map of a block behind the header, of which `left` bytes are there. */
static gls_status take_map(const char *path, const unsigned char *block, size_t left, bool swapped, double map[3][4])
{
    const int32_t size = block_size(block, swapped);
    float value[12];
    if (size != MAP_BYTES)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: has an extension of %d bytes behind its header, where NiftyReg has affine maps of %d and "
                        "reads nothing else: give the file as reg_f3d wrote it",
                        path, (int)size, MAP_BYTES);
    if (left < MAP_BYTES)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: ends within an affine map behind its header", path);
    memcpy(value, block + 8, sizeof value);
    if (swapped) gls_swap_bytes(value, 12, sizeof *value);
    for (int i = 0; i < 12; i++) map[i / 4][i % 4] = (double)value[i];
    if (gls_affine_is_usable((const double(*)[4])map)) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: damaged: an affine map behind its header has no inverse", path);
}

/* Reads the maps that follow the header as extensions, up to a size of 0, since zeros may lie in front of the values,
 * or to the values themselves; those that are not there are the identity. */
static gls_status read_affines(const char *path, affines *a)
{
    unsigned char h[HEADER_BYTES + 4 + MAX_MAPS * MAP_BYTES] = {0};
    gls_stream *stream = NULL;
    size_t got = 0;
    int32_t size;
    float values;
    memset(a, 0, sizeof *a);
    for (int k = 0; k < MAX_MAPS; k++)
        for (int r = 0; r < 3; r++) a->map[k][r][r] = 1;
    gls_status status = gls_stream_open_regular(path, &stream);
    if (!status) status = gls_stream_read(stream, h, sizeof h, &got);
    gls_stream_close(stream);
    if (status) return status;
    memcpy(&size, h, sizeof size);
    memcpy(&values, h + 108, sizeof values);
    const bool swapped = size != HEADER_BYTES;
    if (swapped) gls_swap_bytes(&size, 1, sizeof size);
    if (swapped) gls_swap_bytes(&values, 1, sizeof values);
    if (size != HEADER_BYTES)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%s: is NIfTI-2, but NiftyReg has NIfTI-1 alone: give the file as it wrote it", path);
    if (h[HEADER_BYTES] == 0) return GLS_OK;
    if (h[345] == 'i') values = INFINITY; /* they lie in the other file of a pair */
    size_t at = HEADER_BYTES + 4;
    for (int k = 0; k < MAX_MAPS && at + 8 <= got && (float)at < values && !status; k++, at += MAP_BYTES) {
        if (block_size(h + at, swapped) == 0) break;
        status = take_map(path, h + at, got - at, swapped, a->map[k]);
    }
    return status;
}

/* Sum of the control points around a place. Beyond the outermost ones they go on with the value at the border. */
static void spline_at(const gls_transform_step *s, const double p[3], double d[3])
{
    const int32_t *dim = s->field->grid.dim;
    const size_t n = gls_grid_voxels(&s->field->grid);
    double at[3];
    gls_spline_place place;
    gls_affine_apply((const double(*)[4])s->to_voxel, p, at);
    for (int a = 0; a < 3; a++) at[a] = fmin(fmax(at[a], -2), dim[a] + 1);
    gls_spline_place_init(dim, at, &place);
    size_t stride = 1;
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 4; k++)
            place.offset[a][k] = stride * (size_t)fmin(fmax(floor(at[a]) + k - 1, 0), dim[a] - 1);
        stride *= (size_t)dim[a];
    }
    for (size_t r = 0; r < 3; r++) {
        d[r] = 0;
        for (int k = 0; k < 64; k++)
            d[r] += place.weight[0][k & 3] * place.weight[1][k >> 2 & 3] * place.weight[2][k >> 4] *
                    (double)s->field
                        ->data[r * n + place.offset[0][k & 3] + place.offset[1][k >> 2 & 3] + place.offset[2][k >> 4]];
    }
}

static void world_of(const gls_grid *grid, size_t v, double world[3])
{
    const size_t nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    const double at[3] = {(double)(v % nx), (double)(v / nx % ny), (double)(v / nx / ny)};
    gls_affine_apply(grid->affine, at, world);
}

/* Fills in how far the voxels of `out` move, or their velocity, from the place to which the first affine map takes
 * them. A flow holds that map, too. */
static void fill(const gls_transform_step *s, int kind, const affines *a, gls_image *out)
{
    const size_t n = gls_grid_voxels(&out->grid);
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        double world[3], p[3], d[3];
        world_of(&out->grid, v, world);
        gls_affine_apply((const double(*)[4])a->map[0], world, p);
        if (kind != GLS_NIFTYREG_FLOW) spline_at(s, p, d);
        for (size_t r = 0; r < 3; r++)
            out->data[r * n + v] =
                (float)(kind == GLS_NIFTYREG_FLOW ? world[r] + (double)s->field->data[r * n + v] - p[r] : d[r]);
    }
}

/* Replaces a velocity by the displacements of its flow: scaled down, then composed with itself. */
static gls_status exponentiate(const char *path, double squarings, gls_image **velocity)
{
    const size_t n = 3 * gls_grid_voxels(&(*velocity)->grid);
    gls_transform_step step = {.field = *velocity};
    gls_image *next = NULL;
    double times = fabs(rint(squarings)), largest = 0;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)(*velocity)->data[i]));
    if (times == 0)
        for (times = LEAST; times < MOST && largest / exp2(times) >= LONGEST;) times++;
    if (!(times <= MOST))
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: asks for a flow composed %g times with itself", path, times);
    gls_status status = gls_image_allocate(&(*velocity)->grid, 3, false, &next);
    if (status) return status;
    gls_grid_inverse(&(*velocity)->grid, step.to_voxel);
    const float scale = (float)(rint(squarings) < 0 ? -exp2(-times) : exp2(-times));
    for (size_t i = 0; i < n; i++) step.field->data[i] *= scale;
    for (int k = 0; k < (int)times; k++) {
#pragma omp parallel for schedule(static)
        for (size_t v = 0; v < n / 3; v++) {
            double p[3], d[3];
            bool inside;
            world_of(&next->grid, v, p);
            for (size_t r = 0; r < 3; r++) p[r] += (double)step.field->data[r * (n / 3) + v];
            const bool known = gls_transform_displace(&step, p, d, &inside);
            for (size_t r = 0; r < 3; r++) {
                const size_t i = r * (n / 3) + v;
                next->data[i] = known ? (float)((double)step.field->data[i] + d[r]) : NAN;
            }
        }
        gls_image *const last = step.field;
        step.field = next;
        next = last;
    }
    gls_image_destroy(next);
    *velocity = step.field;
    return GLS_OK;
}

/* Turns what was added to the place behind the first affine map to displacements of the voxels themselves. */
static void close_chain(const affines *a, gls_image *field)
{
    const size_t n = gls_grid_voxels(&field->grid);
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        double world[3], p[3];
        world_of(&field->grid, v, world);
        gls_affine_apply((const double(*)[4])a->map[0], world, p);
        for (size_t r = 0; r < 3; r++) p[r] += (double)field->data[r * n + v];
        gls_affine_apply((const double(*)[4])a->map[1], p, p);
        for (size_t r = 0; r < 3; r++) field->data[r * n + v] = (float)(p[r] - world[r]);
    }
}

gls_status gls_niftyreg_spread(gls_transform_step *step, const char *path, int kind, double squarings,
                               const gls_grid *grid)
{
    gls_image *field = NULL;
    affines a;
    gls_status status = read_affines(path, &a);
    if (!status) status = gls_image_allocate(grid, 3, false, &field);
    if (status) return status;
    gls_grid_inverse(&step->field->grid, step->to_voxel);
    fill(step, kind, &a, field);
    if (kind != GLS_NIFTYREG_CONTROL_POINTS) status = exponentiate(path, squarings, &field);
    if (!status) close_chain(&a, field);
    if (status) {
        gls_image_destroy(field);
        return status;
    }
    gls_image_destroy(step->field);
    step->field = field;
    return GLS_OK;
}
