/* Fields of ODFs as storage buffers, in half precision, for getters that look up single directions (ptt). A cell is the
 * cube between eight neighbouring voxels, its corners. The values of a direction at all eight corners, or at two, lie
 * side by side, so that few loads read them; where memory is short, each value lies alone. The shader is
 * glsl/odf/cells.glsl. Below: fields as buffers of texels. */
#include "track/field/cells.h"
#include "track/field/field.h"

#include <stdlib.h>
#include <string.h>

#include "util/maths.h"
#include "util/numbers.h"
#include "util/status.h"

/* Layers are computed and sent to the device in slabs of about this many bytes, at least one layer at a time. */
#define SLAB_BYTES ((uint64_t)64 << 20)
/* Invocations of a work group of kernel/octets.comp. */
#define GROUP 256
/* Values of `smaller`, for plans made after memory ran out: without octets (8 voxels to a cell), then without pairs
 * either. */
enum { NO_OCTETS = 1, NO_PAIRS = 2 };

/* Plans octets: each value of a voxel is stored together with the values of the seven next voxels, 16 bytes in all.
 * This takes eight times the memory of single values, so it is done only where memory is ample. */
static bool plan_octets(const gls_grid *grid, uint64_t layer, const gls_device_info *limits, bool forced,
                        gls_field_plan *plan)
{
    /* layer: bytes of a layer of voxels as pairs; octets take four times as many. Each buffer holds whole layers. */
    uint64_t nz = (uint64_t)grid->dim[2], per_buffer = limits->max_storage_bytes / (4 * layer);
    if (per_buffer > nz) per_buffer = nz;
    if (per_buffer == 0 || (!forced && (limits->software || 4 * layer * nz > limits->memory_bytes / 3))) return false;
    uint64_t n_buffers = (nz + per_buffer - 1) / per_buffer;
    if (n_buffers > GLS_FIELD_MAX_BUFFERS || GLS_FIELD_FIRST_BINDING + n_buffers > limits->max_storage_bindings)
        return false;
    /* All buffers but the last are full; the last one may have fewer layers. */
    *plan = (gls_field_plan){.bytes = 4 * layer * nz};
    plan->cells.corners = 8;
    plan->n_parts = (uint32_t)n_buffers;
    plan->cells.layers = (uint32_t)per_buffer;
    plan->cells.last_layers = (uint32_t)(nz - (n_buffers - 1) * per_buffer);
    return true;
}

/* Plans pairs: each value is stored together with the value of the next voxel along x. All are in one buffer. */
static bool plan_pairs(const gls_grid *grid, uint64_t layer, const gls_device_info *limits, gls_field_plan *plan)
{
    uint64_t bytes = layer * (uint64_t)grid->dim[2];
    if (limits->max_storage_bindings <= GLS_FIELD_FIRST_BINDING || bytes > limits->max_storage_bytes ||
        (limits->memory_bytes > 0 && bytes > limits->memory_bytes / 2))
        return false;
    *plan = (gls_field_plan){.bytes = bytes};
    plan->cells.corners = 2;
    plan->n_parts = 1;
    plan->cells.layers = plan->cells.last_layers = (uint32_t)grid->dim[2];
    return true;
}

bool gls_cells_plan_singles(const gls_grid *grid, size_t n, const gls_device_info *limits, gls_field_plan *plan)
{
    /* Two directions share a word, so a voxel has (n + 1) / 2 words. */
    uint64_t layer = (uint64_t)grid->dim[0] * (uint64_t)grid->dim[1] * ((n + 1) / 2) * sizeof(uint32_t),
             nz = (uint64_t)grid->dim[2], per_buffer = limits->max_storage_bytes / layer;
    /* each of several buffers also holds the first layer of the next */
    if (per_buffer < nz && per_buffer > 0) per_buffer--;
    if (per_buffer == 0) return false;
    if (per_buffer > nz) per_buffer = nz;
    uint64_t n_buffers = (nz + per_buffer - 1) / per_buffer;
    if (n_buffers > GLS_FIELD_MAX_BUFFERS || GLS_FIELD_FIRST_BINDING + n_buffers > limits->max_storage_bindings)
        return false;
    *plan = (gls_field_plan){.kind = &gls_field_cells, .n_channels = (uint32_t)n};
    plan->bytes = layer * (nz + n_buffers - 1);
    plan->cells.corners = 1;
    plan->n_parts = (uint32_t)n_buffers;
    plan->cells.layers = (uint32_t)per_buffer;
    plan->cells.last_layers = (uint32_t)(nz - (n_buffers - 1) * per_buffer);
    return true;
}

bool gls_cells_plan(const gls_grid *grid, size_t n, const gls_device_info *limits, int smaller, gls_field_plan *plan)
{
    uint64_t layer = (uint64_t)grid->dim[0] * (uint64_t)grid->dim[1] * n * sizeof(uint32_t);
    /* for tests only. 0: no cells, so that textures are used; 1, 2 or 8: cells of that many corners */
    const char *text = gls_test_variable("GLSLINES_ODF_CELLS");
    int wanted = text && *text ? atoi(text) : -1;
    if (wanted == 1 || smaller == NO_PAIRS) return gls_cells_plan_singles(grid, n, limits, plan);
    bool planned =
        smaller < NO_OCTETS && (wanted == 8 || wanted < 0) && plan_octets(grid, layer, limits, wanted == 8, plan);
    if (!planned && wanted != 0) planned = plan_pairs(grid, layer, limits, plan);
    if (!planned) return false;
    plan->kind = &gls_field_cells;
    plan->n_channels = (uint32_t)n;
    return true;
}

/* Returns the value of `smaller` for the next smaller form of cells: pairs after octets, single values after pairs; 0:
 * there is none. */
static int shrink(const gls_field_plan *plan)
{
    return plan->cells.corners == 8 ? NO_OCTETS : plan->cells.corners == 2 ? NO_PAIRS : 0;
}

/* Creates the buffers of a field. With single values each buffer but the last also has the first layer of the next one,
 * so that a cell never spans two buffers. */
static gls_status create(gls_field *field, const char *label)
{
    const gls_field_plan *plan = &field->plan;
    uint64_t shared = plan->cells.corners == 1 ? 1 : 0,
             n_layers = (uint64_t)(plan->n_parts - 1) * (plan->cells.layers + shared) + plan->cells.last_layers,
             layer = plan->bytes / n_layers;
    gls_status status = GLS_OK;
    for (uint32_t i = 0; i < plan->n_parts && !status; i++) {
        uint64_t here = i + 1 < plan->n_parts ? plan->cells.layers + shared : plan->cells.last_layers;
        status =
            gls_buffer_create(field->device, plan->kind == &gls_field_texels ? GLS_BUFFER_TEXELS : GLS_BUFFER_STORAGE,
                              layer * here, label, &field->buffer[i]);
    }
    return status;
}

/* Adds the definitions that glsl/odf/cells.glsl needs. */
static void define(const gls_field_plan *plan, gls_define_list *d)
{
    gls_define_int(d, "CELL_CORNERS", plan->cells.corners, "corners of a cell whose values lie together");
    gls_define_int(d, "CELL_BUFFERS", plan->n_parts, "buffers that hold the field");
    gls_define_int(d, "CELL_LAYERS", plan->cells.layers, "layers of voxels in each buffer of the field");
}

/* Inputs of the threads that pack a slab. nx: voxels along x; n, words: channels and 32-bit words of a voxel. */
typedef struct pair_work {
    size_t nx, n, words;
    bool singles; /* true: values are stored without their neighbour along x */
    bool floats;  /* true: values have single precision */
    const gls_field_source *source;
} pair_work;

/* Stores the half-precision values half[] of one channel of the voxels x .. x + count - 1 at `index` among the values
 * of each voxel; pairs also get the next voxel's value. last: these voxels end the row. */
static void store_channel(const pair_work *w, size_t index, const uint16_t *half, size_t x, size_t count, bool last,
                          uint32_t *out)
{
    if (!w->singles) {
        for (size_t v = 0; v < count - !last; v++)
            out[(x + v) * w->words + index] = half[v] | (uint32_t)half[v + 1 < count ? v + 1 : v] << 16;
        return;
    }
    uint16_t *single = (uint16_t *)out;
    for (size_t v = 0; v < count; v++) single[2 * (x + v) * w->words + index] = half[v];
}

/* Fills one row of voxels that begins with voxel `first` of the grid. Successive blocks overlap by one voxel, which is
 * the neighbour of the last voxel stored. rows, half, scratch: work space. */
static void fill_row(const pair_work *w, size_t first, float *rows, uint16_t *half, float *scratch, uint32_t *out)
{
    for (size_t x = 0; x < w->nx; x += GLS_FIELD_BLOCK - 1) {
        size_t count = w->nx - x < GLS_FIELD_BLOCK ? w->nx - x : GLS_FIELD_BLOCK;
        bool last = x + count == w->nx;
        w->source->block(w->source->user, first + x, count, rows, scratch);
        for (size_t c = 0; c < w->n; c++) {
            const float *row = rows + c * GLS_FIELD_BLOCK;
            if (w->floats) {
                for (size_t v = 0; v < count; v++) memcpy(out + (x + v) * w->words + c, row + v, sizeof *row);
                continue;
            }
            gls_half_convert(row, count, half);
            store_channel(w, w->source->index_of ? w->source->index_of[c] : c, half, x, count, last, out);
        }
        if (last) return;
    }
}

/* Fills n_rows rows of voxels on all threads. Returns false if memory ran out. */
static bool fill_rows(const pair_work *w, size_t first, size_t n_rows, uint32_t *out)
{
    size_t n_values = w->n * GLS_FIELD_BLOCK, n_scratch = (w->source->n_scratch + 15) / 16 * 16;
    bool ok = true;
#pragma omp parallel reduction(&& : ok)
    {
        float *rows = aligned_alloc(64, (n_values + n_scratch) * sizeof *rows);
        uint16_t half[GLS_FIELD_BLOCK];
        ok = rows != NULL;
        if (rows) memset(rows, 0, n_values * sizeof *rows); /* set the channels that fill up a texel to 0 */
#pragma omp for schedule(dynamic, 4)
        for (size_t r = 0; r < n_rows; r++)
            if (rows) fill_row(w, (first + r) * w->nx, rows, half, rows + n_values, out + r * w->nx * w->words);
        free(rows);
    }
    return ok;
}

/* A field that is being filled. For octets only: `pairs` is the buffer of the uploaded pairs of a slab, `octets` the
 * kernel that makes octets from them. */
typedef struct target {
    size_t number; /* index of `field` among the fields that fill() was given */
    gls_field *field;
    gls_buffer *pairs;
    gls_kernel *octets;
} target;

/* Prepares a field for filling. Only octets need that: the host uploads pairs, from which a kernel makes octets. Loads
 * this kernel and creates the buffer of pairs. */
static gls_status target_open(target *t, const gls_grid *grid, size_t n, uint64_t slab_bytes)
{
    if (t->field->plan.cells.corners < 8) return GLS_OK;
    gls_define_list d = {0};
    gls_define_int(&d, "GRID_NX", grid->dim[0], "voxels along x");
    gls_define_int(&d, "GRID_NY", grid->dim[1], "voxels along y");
    gls_define_int(&d, "N_VERTICES", (int64_t)n, "directions of a voxel");
    gls_define_int(&d, "GROUP_SIZE", GROUP, "invocations of a work group");
    gls_status status = d.failed ? gls_fail(GLS_ERR_MEMORY, "out of memory for a kernel")
                                 : gls_kernel_load(t->field->device, "kernel/octets.comp", d.define, d.n, &t->octets);
    gls_define_finish(&d);
    return !status ? gls_buffer_create(t->field->device, GLS_BUFFER_STORAGE, slab_bytes, "pairs", &t->pairs) : status;
}

/* Frees what target_open() made; the field stays. */
static void target_close(target *t)
{
    gls_buffer_destroy(t->pairs);
    gls_kernel_destroy(t->octets);
}

/* Writes n_layers layers of the grid, from layer `first` on. slab: n_pair_layers layers of pairs or single values:
 * these layers, and one more where the grid goes on. */
static gls_status target_write(target *t, size_t first, size_t n_layers, size_t n_pair_layers, size_t layer_bytes,
                               const uint32_t *slab)
{
    const gls_field_plan *plan = &t->field->plan;
    size_t part = first / plan->cells.layers, at = first % plan->cells.layers;
    /* Pairs and single values are uploaded as they are; octets are made on the device from the uploaded pairs. */
    if (plan->cells.corners == 2)
        return gls_buffer_write(t->field->buffer[0], first * layer_bytes, n_layers * layer_bytes, slab);
    if (plan->cells.corners == 1)
        return gls_buffer_write(t->field->buffer[part], at * layer_bytes, n_pair_layers * layer_bytes, slab);
    size_t octets = layer_bytes / sizeof *slab, groups = (n_layers * octets + GROUP - 1) / GROUP;
    gls_status status = gls_buffer_write(t->pairs, 0, n_pair_layers * layer_bytes, slab);
    gls_arg args[] = {gls_arg_buffer(0, t->pairs), gls_arg_buffer(1, t->field->buffer[part]),
                      gls_arg_uint(0, (uint32_t)(at * octets)), gls_arg_uint(1, (uint32_t)n_layers),
                      gls_arg_uint(2, (uint32_t)n_pair_layers)};
    return !status ? gls_kernel_run(t->octets, (uint32_t[3]){groups < 16384 ? (uint32_t)groups : 16384, 1, 1}, args,
                                    sizeof args / sizeof args[0], NULL)
                   : status;
}

/* The smaller of two numbers. */
static size_t smallest(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Fills the fields slab by slab. The layer behind a slab is the first layer of the next slab. */
static gls_status fill_targets(target *targets, size_t n_targets, const pair_work *w, const gls_grid *grid,
                               size_t per_slab, uint32_t *slab, size_t *failed)
{
    size_t nz = (size_t)grid->dim[2], rows = (size_t)grid->dim[1], layer = rows * w->nx * w->words, n_done = 0;
    for (size_t z = 0; z < nz;) {
        /* here: layers written now; wanted: layers that must be known for them, one more where the grid goes on;
         * n_done: layers kept from the slab before. */
        size_t here = smallest(per_slab, nz - z), wanted;
        /* no slab may cross the end of a buffer */
        for (size_t i = 0; i < n_targets; i++)
            here = smallest(here, targets[i].field->plan.cells.layers - z % targets[i].field->plan.cells.layers);
        wanted = smallest(here + 1, nz - z);
        if (!fill_rows(w, (z + n_done) * rows, (wanted - n_done) * rows, slab + n_done * layer))
            return gls_fail(GLS_ERR_MEMORY, "out of memory for a row of the ODFs");
        for (size_t i = 0; i < n_targets; i++) {
            gls_status status = target_write(&targets[i], z, here, wanted, layer * sizeof *slab, slab);
            if (!status) continue;
            *failed = i;
            return status;
        }
        n_done = wanted - here;
        memmove(slab, slab + here * layer, n_done * layer * sizeof *slab);
        z += here;
    }
    return GLS_OK;
}

/* Fills the fields that store single values, or, if `singles` is false, all other fields. */
static gls_status fill_form(gls_field *const *fields, size_t n, bool singles, const gls_grid *grid,
                            const gls_field_source *source, size_t *failed)
{
    size_t n_channels = fields[0]->plan.n_channels, n_targets = 0, at = 0;
    const bool floats = fields[0]->plan.kind == &gls_field_texels && fields[0]->plan.cells.floats;
    pair_work w = {(size_t)grid->dim[0],
                   n_channels,
                   singles && !floats ? (n_channels + 1) / 2 : n_channels,
                   singles,
                   floats,
                   source};
    uint64_t layer_bytes = (uint64_t)grid->dim[0] * (uint64_t)grid->dim[1] * w.words * sizeof(uint32_t),
             per_slab = SLAB_BYTES / layer_bytes + 1, slab_bytes = (per_slab + 1) * layer_bytes;
    target *targets = calloc(n, sizeof *targets);
    uint32_t *slab = malloc(slab_bytes);
    gls_status status = slab && targets ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a slab of the ODFs");
    for (size_t i = 0; i < n && !status; i++) {
        if ((fields[i]->plan.cells.corners == 1) != singles) continue;
        targets[n_targets].number = i;
        targets[n_targets].field = fields[i];
        status = target_open(&targets[n_targets++], grid, w.n, slab_bytes);
        if (status) *failed = i;
    }
    /* *failed becomes an index among the fields of the call only if a device failed. */
    if (!status && n_targets > 0) {
        at = n_targets;
        status = fill_targets(targets, n_targets, &w, grid, per_slab, slab, &at);
        if (at < n_targets) *failed = targets[at].number;
    }
    for (size_t i = 0; targets && i < n_targets; i++) target_close(&targets[i]);
    free(targets);
    free(slab);
    return status;
}

/* Fills all fields in two passes: first the fields of pairs and octets, then the fields of single values. */
static gls_status fill(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                       size_t *failed)
{
    gls_status status = fill_form(fields, n, false, grid, source, failed);
    return !status ? fill_form(fields, n, true, grid, source, failed) : status;
}

const gls_field_kind gls_field_cells = {
    .name = "cells",
    .shader = "odf/cells.glsl",
    .create = create,
    .fill = fill,
    .shrink = shrink,
    .define = define,
};

/* --- Texels: single values, with the channels of a voxel in their given order. */

bool gls_texels_plan(const gls_grid *grid, size_t n, bool floats, const gls_device_info *limits, gls_field_plan *plan)
{
    const uint64_t in_texel = floats ? 4 : 8, n_texels = (n + in_texel - 1) / in_texel,
                   bytes = gls_grid_voxels(grid) * n_texels * 16;
    if (bytes > limits->max_texel_bytes) return false;
    *plan = (gls_field_plan){
        .kind = &gls_field_texels, .n_channels = (uint32_t)(n_texels * in_texel), .n_parts = 1, .bytes = bytes};
    plan->cells.floats = floats;
    plan->cells.corners = 1;
    plan->cells.layers = plan->cells.last_layers = (uint32_t)grid->dim[2];
    return true;
}

/* Adds the definitions that glsl/base/texels.glsl needs. */
static void define_texels(const gls_field_plan *plan, gls_define_list *d)
{
    const uint32_t quads = plan->cells.floats ? 1 : 2;
    gls_define_int(d, GLS_DEFINE_TEXELS, quads, "quads of values in a texel");
    gls_define_int(d, "TEXELS", plan->n_channels / 4 / quads, "texels of a voxel");
}

/* Fills the fields, all of which have the precision of the first. */
static gls_status fill_texels(gls_field *const *fields, size_t n, const gls_grid *grid, const gls_field_source *source,
                              size_t *failed)
{
    return fill_form(fields, n, true, grid, source, failed);
}

const gls_field_kind gls_field_texels = {
    .name = "texels",
    .shader = "base/texels.glsl",
    .create = create,
    .fill = fill_texels,
    .define = define_texels,
};
