#include "track/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/half.h"
#include "util/status.h"

/* What is computed and sent at a time. */
#define SLAB_BYTES ((size_t)64 << 20)

bool gls_pairs_plan(const gls_grid *grid, size_t n, const gls_device_info *limits, gls_volume_plan *plan)
{
    uint64_t bytes = (uint64_t)gls_grid_voxels(grid) * n * sizeof(uint32_t);
    /* for tests: 0 takes textures */
    const char *wanted = getenv("GLSLINES_ODF_PAIRS");
    /* the fifth storage block of a kernel */
    if (limits->max_storage_bindings < 5 || (wanted && *wanted == '0') || bytes > limits->max_storage_bytes || (limits->memory_bytes > 0 && bytes > limits->memory_bytes / 2)) return false;
    *plan = (gls_volume_plan){.pairs = true, .n_tiles = (uint32_t)n, .tile_channels = 1, .bytes = bytes};
    return true;
}

typedef struct place {
    uint32_t code, vertex;
} place;

static int compare(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->code != y->code ? (x->code < y->code ? -1 : 1) : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Bits of two coordinates in turn: places that are near in both are mostly near in the order. */
static uint32_t interleave(uint32_t x, uint32_t y)
{
    uint32_t code = 0;
    for (int bit = 0; bit < 16; bit++) code |= (x >> bit & 1u) << (2 * bit) | (y >> bit & 1u) << (2 * bit + 1);
    return code;
}

bool gls_pairs_order(const gls_sphere *sphere, uint32_t *slot)
{
    place *order = malloc(sphere->n * sizeof *order);
    if (!order) return false;
    for (size_t v = 0; v < sphere->n; v++) {
        const double *d = sphere->vertex[v];
        double turn = sphere->antipodal && d[2] < 0 ? -1 : 1, norm = fabs(d[0]) + fabs(d[1]) + fabs(d[2]);
        double x = turn * d[0] / norm, y = turn * d[1] / norm, z = turn * d[2] / norm;
        if (z < 0) {
            double folded = (1 - fabs(y)) * (x >= 0 ? 1 : -1);
            y = (1 - fabs(x)) * (y >= 0 ? 1 : -1);
            x = folded;
        }
        order[v] = (place){interleave((uint32_t)((x + 1) * 32767), (uint32_t)((y + 1) * 32767)), (uint32_t)v};
    }
    qsort(order, sphere->n, sizeof *order, compare);
    for (size_t i = 0; i < sphere->n; i++) slot[order[i].vertex] = (uint32_t)i;
    free(order);
    return true;
}

typedef struct pair_work {
    size_t nx, n;
    const uint32_t *slot;
    gls_volume_block block;
    const void *user;
    size_t n_scratch;
} pair_work;

/* One row of voxels, the first of which is voxel first of the grid: blocks overlap by one voxel, the neighbour of their last. rows, half, scratch: work space. */
static void fill_row(const pair_work *w, size_t first, float *rows, uint16_t *half, float *scratch, uint32_t *out)
{
    for (size_t x = 0; x < w->nx; x += GLS_VOLUME_BLOCK - 1) {
        size_t count = w->nx - x < GLS_VOLUME_BLOCK ? w->nx - x : GLS_VOLUME_BLOCK;
        bool last = x + count == w->nx;
        w->block(w->user, first + x, count, rows, scratch);
        for (size_t c = 0; c < w->n; c++) {
            gls_half_convert(rows + c * GLS_VOLUME_BLOCK, count, half);
            for (size_t v = 0; v < count - !last; v++) out[(x + v) * w->n + w->slot[c]] = half[v] | (uint32_t)half[v + 1 < count ? v + 1 : v] << 16;
        }
        if (last) return;
    }
}

static bool fill_rows(const pair_work *w, size_t first, size_t n_rows, uint32_t *out)
{
    size_t n_values = w->n * GLS_VOLUME_BLOCK, n_scratch = (w->n_scratch + 15) / 16 * 16;
    bool ok = true;
#pragma omp parallel reduction(&& : ok)
    {
        float *rows = aligned_alloc(64, (n_values + n_scratch) * sizeof *rows);
        uint16_t half[GLS_VOLUME_BLOCK];
        ok = rows != NULL;
#pragma omp for schedule(dynamic, 4)
        for (size_t r = 0; r < n_rows; r++)
            if (rows) fill_row(w, (first + r) * w->nx, rows, half, rows + n_values, out + r * w->nx * w->n);
        free(rows);
    }
    return ok;
}

gls_status gls_pairs_fill(gls_buffer *const *buffers, size_t n_buffers, const gls_grid *grid, size_t n, const uint32_t *slot, gls_volume_block block, const void *user,
                          size_t n_scratch, size_t *failed)
{
    pair_work w = {.nx = (size_t)grid->dim[0], .n = n, .slot = slot, .block = block, .user = user, .n_scratch = n_scratch};
    size_t n_rows = (size_t)grid->dim[1] * (size_t)grid->dim[2], row_bytes = w.nx * n * sizeof(uint32_t), per_slab = SLAB_BYTES / row_bytes + 1;
    uint32_t *slab = malloc(per_slab * row_bytes);
    gls_status status = slab ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a slab of the ODFs");
    for (size_t row = 0; row < n_rows && status == GLS_OK; row += per_slab) {
        size_t here = n_rows - row < per_slab ? n_rows - row : per_slab;
        if (!fill_rows(&w, row, here, slab)) status = gls_fail(GLS_ERR_MEMORY, "out of memory for a row of the ODFs");
        for (size_t i = 0; i < n_buffers && status == GLS_OK; i++) {
            status = gls_buffer_write(buffers[i], row * row_bytes, here * row_bytes, slab);
            if (status != GLS_OK) *failed = i;
        }
    }
    free(slab);
    return status;
}
