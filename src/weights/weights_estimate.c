/* Weights of streamlines: maps streamlines, builds the model, runs SIFT2, SIFT or the linear approximation, and gives
 * out results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/track.h>
#include <glslines/weights.h>

#include "weights/weights_estimate.h"
#include "image/grid.h"
#include "gpu/handle.h"
#include "util/clock.h"
#include "util/maths.h"
#include "util/status.h"
#include "weights/fixel_rows.h"
#include "weights/map_device.h"
#include "weights/map_queue.h"
#include "weights/sift2_weights.h"
#include "weights/sift_selection.h"
#include "weights/weight_model.h"

/* --- The linear approximation: a streamline's weight is the mean of FD / (mu TD0) over its fixels, weighted by PM and
 * by its length in each fixel (symbols: weight_model.h). A streamline that touches no fixel gets 0. */

/* Sets the weights by the linear approximation. */
static gls_status weights_run_linear(gls_weights *w)
{
    const gls_weight_model *m = &w->model;
    for (size_t i = 0; i < w->rows.n_chunks; i++) {
        const gls_chunk *chunk = &w->rows.chunk[i];
#pragma omp parallel for
        for (size_t s = 0; s < chunk->n; s++) {
            /* sum, length: sums over the streamline's fixels of PM l FD / TD0 and of PM l, mm, with l its length in the
             * fixel. If no fixel is removed, the streamline's contribution, which is not rounded to units, replaces
             * `length`. */
            double sum = 0, length = 0;
            for (uint32_t k = chunk->start[s]; k < chunk->start[s + 1]; k++) {
                uint32_t fixel = gls_chunk_fixel(chunk, k), units = chunk->entry[k] & GLS_ROW_MAX_LENGTH;
                const gls_model_constant *c = &m->constant[fixel];
                sum += (double)c->mask * (double)c->fd * units / (double)m->length[fixel];
                length += (double)c->mask * units * m->unit;
            }
            if (m->n_removed == 0) length = (double)w->rows.contribution[chunk->first + s];
            w->weight[chunk->first + s] = length > 0 ? (float)(sum / length / m->mu) : 0;
        }
    }
    return GLS_OK;
}

/* Largest value of chunk_entries: 2 GB of entries, whose offsets fit into 32 bits. */
#define MAX_CHUNK_ENTRIES ((size_t)1 << 29)

gls_weights_options gls_weights_options_default(void)
{
    return (gls_weights_options){.size = sizeof(gls_weights_options),
                                 .reg_tv = 0.1,
                                 .min_td_frac = 0.1,
                                 .min_iters = 10,
                                 .max_iters = 1000,
                                 .min_coeff = -INFINITY,
                                 .max_coeff = INFINITY,
                                 .max_coeff_step = 1,
                                 .min_cf_decrease = 2.5e-5,
                                 .unmapped = 1,
                                 .chunk_entries = (size_t)1 << 25};
}

gls_status gls_weights_create(const gls_fixels *fixels, const gls_weights_options *options, gls_weights **weights)
{
    GLS_REQUIRE_SIZE(options);
    gls_weights_options o = options ? *options : gls_weights_options_default();
    GLS_REQUIRE(fixels && weights);
    GLS_REQUIRE(o.reg_tikhonov >= 0 && o.reg_tv >= 0 && o.max_coeff_step > 0 && o.max_coeff >= 0);
    GLS_REQUIRE(o.min_td_frac >= 0 && o.min_td_frac <= 1 && o.min_cf_decrease >= 0 && o.min_cf_decrease <= 1);
    GLS_REQUIRE(o.min_coeff <= 0 && o.chunk_entries >= 1 && o.chunk_entries <= MAX_CHUNK_ENTRIES);
    GLS_REQUIRE(o.term_ratio >= 0 && o.term_mu >= 0 && o.fd_threshold >= 0);
    gls_weights *w = calloc(1, sizeof *w);
    if (!w) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    w->options = o;
    /* the option counts entries of 4 bytes; if an entry takes 5, a chunk of the same size has 4 / 5 of them */
    const bool wide = gls_fixels_count(fixels) > (size_t)1 << GLS_ROW_FIXEL_BITS;
    const size_t chunk_entries = wide && o.chunk_entries >= 5 ? o.chunk_entries / 5 * 4 : o.chunk_entries;
    gls_status status = gls_rows_init(&w->rows, fixels, NULL, chunk_entries);
    if (wide)
        gls_log(GLS_LOG_INFO, "weights: %zu fixels are so many that each entry takes 5 bytes instead of 4",
                gls_fixels_count(fixels));
    if (status)
        gls_weights_destroy(w);
    else
        *weights = w;
    return status;
}

void gls_weights_destroy(gls_weights *w)
{
    if (!w) return;
    gls_row_queue_destroy(w->queue);
    gls_weight_model_finish(&w->model);
    gls_rows_finish(&w->rows);
    free(w->mask);
    free(w->scale);
    free(w->weight);
    free(w->coefficient);
    free(w->state);
    free(w->mean);
    free(w->iteration);
    free(w);
}

/* Copies an image of one volume on the grid of the fixels. image NULL: *to stays as it is. */
static gls_status copy_volume(const gls_weights *w, const gls_image *image, float **to)
{
    const size_t n = gls_grid_voxels(&w->rows.fixels->grid);
    if (!image) return GLS_OK;
    GLS_REQUIRE(image->n_volumes == 1 && gls_grid_voxels(&image->grid) == n);
    *to = malloc(n * sizeof **to);
    if (!*to) return gls_fail(GLS_ERR_MEMORY, "out of memory for a mask");
    memcpy(*to, image->data, n * sizeof **to);
    return GLS_OK;
}

gls_status gls_weights_set_mask(gls_weights *w, const gls_image *mask, const gls_image *scale)
{
    GLS_REQUIRE(w && w->rows.n == 0 && !w->mask && !w->scale);
    gls_status status = copy_volume(w, mask, &w->mask);
    if (!status) status = copy_volume(w, scale, &w->scale);
    w->rows.mask = w->mask;
    w->rows.scale = w->scale;
    return status;
}

uint32_t gls_weights_upsampling(double step, const gls_grid *grid)
{
    double side = fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    double ratio = ceil((double)((float)step / (float)(side * 0.1)));
    /* MRtrix3's rule: pieces of at most a tenth of the smallest side, in single precision; here at most
     * GLS_WALK_MAX_RATIO pieces */
    return ratio >= 1 ? (uint32_t)fmin(ratio, GLS_WALK_MAX_RATIO) : 1;
}

gls_status gls_weights_set_walk(gls_weights *w, uint32_t ratio, gls_walk_line line)
{
    GLS_REQUIRE(w && w->rows.n == 0);
    GLS_REQUIRE(ratio >= 1 && ratio <= GLS_WALK_MAX_RATIO);
    gls_rows_set_walk(&w->rows, ratio, line == GLS_WALK_SEGMENTS);
    return GLS_OK;
}

/* Entries of a streamline for each side of a voxel that it is long, and a usual length, mm, for estimates. */
#define ENTRIES_PER_SIDE 1.46
#define USUAL_LENGTH 80
/* Bytes of a streamline beside its entries: offsets, contributions, coefficients, weights; of the fixels of a voxel. */
#define STREAMLINE_BYTES 48
#define VOXEL_BYTES 300

uint64_t gls_weights_bytes(const gls_grid *grid, uint64_t n_voxels, uint64_t n_streamlines)
{
    const double *side = grid->voxel_size, least = fmin(side[0], fmin(side[1], side[2]));
    const uint64_t each = (uint64_t)(ENTRIES_PER_SIDE * USUAL_LENGTH / least) + 1, entries = n_streamlines * each * 4,
                   chunk = gls_weights_options_default().chunk_entries * 4;
    /* the last chunk may have twice the memory that it needs */
    return entries + (entries < chunk ? entries : chunk) + n_streamlines * STREAMLINE_BYTES + n_voxels * VOXEL_BYTES;
}

void gls_weights_load_kernels(gls_device *device, gls_weights_method method, bool maps)
{
    const bool iterates = method == GLS_WEIGHTS_SIFT2;
    const struct {
        const char *file;
        bool wanted;
    } kernels[] = {{"weights/map.comp", maps && gls_mapper_suits(gls_device_get_info(device))},
                   {"weights/rows.comp", iterates},
                   {"weights/fixels.comp", iterates}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        gls_kernel *kernel = NULL;
        if (kernels[i].wanted && gls_kernel_load(device, kernels[i].file, NULL, 0, &kernel) == GLS_OK)
            gls_kernel_destroy(kernel);
    }
}

gls_status gls_weights_set_devices(gls_weights *w, gls_device *const *devices, size_t n)
{
    gls_device *usable[GLS_TRACKER_MAX_DEVICES];
    size_t n_usable = 0;
    GLS_REQUIRE(w && w->rows.n_taken == 0 && (devices || n == 0) && n <= GLS_TRACKER_MAX_DEVICES);
    for (size_t i = 0; i < n; i++) {
        GLS_REQUIRE_HANDLE(devices[i], GLS_HANDLE_DEVICE);
        for (size_t k = 0; k < i; k++) GLS_REQUIRE(devices[k] != devices[i]);
        if (gls_mapper_suits(gls_device_get_info(devices[i]))) usable[n_usable++] = devices[i];
    }
    gls_row_queue_destroy(w->queue);
    w->queue = NULL;
    if (n_usable == 0) return GLS_OK;
    /* half of device_bytes is for lobes, half for points; a point with its visits and entries takes about 55 bytes,
     * counted as 64 */
    const uint64_t bytes = w->options.device_bytes, points = bytes / 2 / 64;
    return gls_row_queue_create(&w->rows, usable, n_usable, bytes,
                                bytes > 0 && points < GLS_QUEUE_POINTS ? (size_t)points : GLS_QUEUE_POINTS, &w->queue);
}

/* append() of the sink: maps the streamlines, or hands them to the queue in front of a device. */
static gls_status append(void *user, const gls_streamlines *s)
{
    gls_weights *w = user;
    double start = gls_clock_seconds();
    gls_status status = w->queue ? gls_row_queue_append(w->queue, s) : gls_rows_append(&w->rows, s);
    w->result.seconds_map += gls_clock_seconds() - start;
    return status;
}

gls_sink gls_weights_sink(gls_weights *weights)
{
    return (gls_sink){.append = append, .user = weights};
}

/* Fails because no streamline enters the grid. The message gives the extents of points and grid, mm. */
static gls_status fail_apart(const gls_rows *rows)
{
    const gls_grid *grid = &rows->fixels->grid;
    double low[3], high[3];
    gls_grid_extent(grid, low, high);
    return gls_fail(GLS_ERR_EMPTY,
                    "streamlines and FODs do not overlap: the points span %g %g %g to %g %g %g mm, the FODs %g %g %g "
                    "to %g %g %g mm",
                    rows->low[0], rows->low[1], rows->low[2], rows->high[0], rows->high[1], rows->high[2], low[0],
                    low[1], low[2], high[0], high[1], high[2]);
}

/* Stores the counts of the mapping in the result, makes the model, and stores its counts, mu and scale. */
static gls_status prepare(gls_weights *w)
{
    const gls_rows *rows = &w->rows;
    gls_weights_result *r = &w->result;
    r->streamlines = rows->n;
    r->entries = rows->n_entries;
    r->chunks = rows->n_chunks;
    r->without_points = rows->n_without_points;
    r->outside = rows->n_outside;
    r->without_fixels = rows->n_without_fixels;
    r->fixels = gls_fixels_count(rows->fixels);
    memcpy(r->low_mm, rows->low, sizeof r->low_mm);
    memcpy(r->high_mm, rows->high, sizeof r->high_mm);
    if (rows->n == 0) return gls_fail(GLS_ERR_EMPTY, "weights: there is no streamline to weight");
    if (r->outside + r->without_points == rows->n && r->outside > 0) return fail_apart(rows);
    gls_status status = gls_weight_model_create(rows, &w->options, &w->model);
    r->untracked = w->model.n_untracked;
    r->excluded = w->model.n_excluded;
    r->removed = w->model.n_removed;
    r->mu = w->model.mu;
    r->scale = w->model.scale;
    return status;
}

/* Gives streamlines that touch no fixel the weight `unmapped` of the options. */
static void weight_unmapped(gls_weights *w)
{
    for (size_t i = 0; i < w->rows.n_chunks; i++) {
        const gls_chunk *c = &w->rows.chunk[i];
        for (size_t s = 0; s < c->n; s++)
            if (c->start[s] == c->start[s + 1]) w->weight[c->first + s] = (float)w->options.unmapped;
    }
}

gls_status gls_weights_solve(gls_weights *w, gls_device *const *devices, size_t n, gls_weights_progress progress,
                             void *user)
{
    GLS_REQUIRE(w && !w->weight && (devices || n == 0));
    for (size_t i = 0; i < n; i++) GLS_REQUIRE_HANDLE(devices[i], GLS_HANDLE_DEVICE);
    double start = gls_clock_seconds();
    /* map the streamlines that still wait for a device */
    gls_status status = w->queue ? gls_row_queue_end(w->queue) : GLS_OK;
    gls_row_queue_destroy(w->queue);
    w->queue = NULL;
    w->result.seconds_map += gls_clock_seconds() - start;
    start = gls_clock_seconds();
    if (!status) status = prepare(w);
    if (status) return status;
    w->weight = calloc(w->rows.n, sizeof *w->weight);
    w->state = malloc(w->model.n * sizeof *w->state);
    if (!w->weight || !w->state) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu weights", w->rows.n);
    memcpy(w->state, w->model.state, w->model.n * sizeof *w->state);
    /* one of the three methods; only SIFT and SIFT2 report progress */
    switch (w->options.method) {
    case GLS_WEIGHTS_SIFT2: status = gls_weights_run_sift2(w, devices, n, progress, user); break;
    case GLS_WEIGHTS_LINEAR: status = weights_run_linear(w); break;
    case GLS_WEIGHTS_SIFT: status = gls_weights_run_sift(w, progress, user); break;
    }
    if (!status && w->options.method == GLS_WEIGHTS_SIFT2) weight_unmapped(w);
    w->result.seconds_solve = gls_clock_seconds() - start;
    return status;
}

const gls_weights_result *gls_weights_get_result(const gls_weights *weights)
{
    return &weights->result;
}

const float *gls_weights_get(const gls_weights *weights, uint64_t *n)
{
    if (n) *n = weights->rows.n;
    return weights->weight;
}

const float *gls_weights_get_coefficients(const gls_weights *weights)
{
    return weights->coefficient;
}

const char *gls_weights_values_name(gls_weights_values kind)
{
    static const char *const names[] = {"fd",       "td",   "td_first", "excess", "count", "mean_coefficient",
                                        "excluded", "mu_td"};
    return kind < GLS_WEIGHTS_N_VALUES ? names[kind] : "";
}

/* For each fixel: the sum over streamlines of weight times length in the fixel, mm. */
static gls_status sum_weighted(const gls_weights *w, float *out)
{
    double *sum = calloc(w->model.n, sizeof *sum);
    if (!sum) return gls_fail(GLS_ERR_MEMORY, "out of memory for densities");
    for (size_t i = 0; i < w->rows.n_chunks; i++) {
        const gls_chunk *c = &w->rows.chunk[i];
        for (size_t s = 0; s < c->n; s++)
            for (uint32_t k = c->start[s]; k < c->start[s + 1]; k++)
                sum[gls_chunk_fixel(c, k)] += (double)w->weight[c->first + s] * (c->entry[k] & GLS_ROW_MAX_LENGTH);
    }
    for (size_t k = 0; k < w->model.n; k++) out[k] = (float)(sum[k] * w->model.unit);
    free(sum);
    return GLS_OK;
}

gls_status gls_weights_get_fixels(const gls_weights *w, gls_weights_values kind, float *out)
{
    GLS_REQUIRE(w && w->weight && out && kind < GLS_WEIGHTS_N_VALUES);
    const gls_weight_model *m = &w->model;
    if (kind == GLS_WEIGHTS_TD || kind == GLS_WEIGHTS_EXCESS || kind == GLS_WEIGHTS_MU_TD) {
        gls_status status = sum_weighted(w, out);
        if (status || kind == GLS_WEIGHTS_TD) return status;
    }
    for (size_t k = 0; k < m->n; k++) {
        switch (kind) {
        case GLS_WEIGHTS_FD: out[k] = m->constant[k].fd; break;
        case GLS_WEIGHTS_TD_FIRST: out[k] = (float)((double)m->length[k] * m->unit); break;
        case GLS_WEIGHTS_EXCESS: out[k] = (float)(w->result.mu * (double)out[k] - (double)m->constant[k].fd); break;
        case GLS_WEIGHTS_MU_TD: out[k] = (float)(w->result.mu * (double)out[k]); break;
        case GLS_WEIGHTS_COUNT: out[k] = (float)m->count[k]; break;
        case GLS_WEIGHTS_MEAN: out[k] = w->mean ? w->mean[k].m : 0; break;
        default: out[k] = m->length[k] > 0 && !(w->state[k].share > 0); break;
        }
    }
    return GLS_OK;
}
