/* The passes of SIFT2 as kernels. Devices share the chunks of streamlines. Entries that do not fit on a device are sent
 * in each iteration. Sums are whole numbers, so the result does not depend on any of this. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"
#include "weights/weight_model.h"

#define MAX_GROUPS_X 32768u
/* Streamlines of a dispatch: far less than a second of work on any GPU, so that no watchdog stops it. */
#define SLICE ((uint32_t)1 << 20)
#define N_STAGES 2

/* A chunk on its device. */
typedef struct device_chunk {
    /* index in `part` */
    size_t device;
    gls_buffer *streamlines; /* rows, coefficients and costs, in the layout of rows.comp */
    gls_buffer *entries;     /* NULL: sent in each iteration */
} device_chunk;

/* One device, with its copy of the fixels and the sums of its own chunks. */
typedef struct part {
    /* borrowed */
    gls_device *device;
    /* kernels of both passes */
    gls_kernel *rows, *fixels;
    gls_buffer *fixel, *sums; /* in the layout of fixels.comp */
    gls_buffer *stage[N_STAGES];
    /* number of transfers so far; its remainder is the next staging buffer */
    unsigned next_stage;
    uint64_t room; /* bytes left for entries */
} part;

/* The solver on devices. Chunks of streamlines are dealt out among them. */
typedef struct device_solver {
    /* first member, so that a solver can be cast */
    gls_solver base;
    /* number of devices */
    size_t n_parts;
    /* one for each device */
    part *part;
    /* one for each chunk of the rows */
    device_chunk *chunk;
    float (*cost)[2]; /* costs of work groups, read back */
    uint32_t *sum, *more;
    bool summed; /* all devices have the same sums */
} device_solver;

/* Number of work groups for n streamlines or fixels. */
static size_t groups_of(size_t n)
{
    return (n + GLS_SOLVER_GROUP - 1) / GLS_SOLVER_GROUP;
}

/* Arranges the work groups for n items in rows, because one axis may have only 65535 of them. */
static void grid_of(size_t n, uint32_t grid[3])
{
    uint32_t groups = (uint32_t)groups_of(n);
    grid[0] = groups < MAX_GROUPS_X ? groups : MAX_GROUPS_X;
    grid[1] = (groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X;
    grid[2] = 1;
}

/* The value as a finite float: infinite limits become -3e38 and 3e38. */
static float within_range(double x)
{
    return (float)fmin(fmax(x, -3e38), 3e38);
}

/* --- Building. */

/* Creates a buffer with this content; data NULL: zeros. */
static gls_status fill(gls_device *device, const char *label, size_t bytes, const void *data, gls_buffer **buffer)
{
    gls_status status = gls_buffer_create(device, GLS_BUFFER_STORAGE, bytes, label, buffer);
    if (status) return status;
    return data ? gls_buffer_write(*buffer, 0, bytes, data) : gls_buffer_clear(*buffer);
}

/* Sums for weights of 1, in the layout of `sums`: two words for each of two sums of a fixel, in units of 2^-24 of
 * the length, then a mark. */
static void first_sums(const gls_weight_model *m, uint32_t *sum)
{
    memset(sum, 0, 5 * m->n * sizeof *sum);
    for (size_t k = 0; k < m->n; k++) {
        sum[4 * k] = (uint32_t)(m->length[k] << 24);
        sum[4 * k + 1] = (uint32_t)(m->length[k] >> 8);
    }
}

/* Bytes of a buffer of sums: 5 words for each fixel, and two costs for each work group. */
static size_t sums_bytes(size_t n)
{
    return (5 * n + 2 * groups_of(n)) * sizeof(uint32_t);
}

/* Uploads state and constants of all fixels in the layout of the buffer Fixels of weights/fixels.comp. */
static gls_status fill_fixels(const gls_weight_model *m, part *p)
{
    float(*fixel)[4] = calloc(3 * m->n, sizeof *fixel);
    if (!fixel) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels", m->n);
    for (size_t k = 0; k < m->n; k++) {
        memcpy(fixel[2 * k], &m->state[k], sizeof *fixel);
        memcpy(fixel[2 * m->n + k], &m->constant[k], sizeof *fixel);
    }
    gls_status status = fill(p->device, "fixels", 3 * m->n * sizeof *fixel, fixel, &p->fixel);
    free(fixel);
    return status;
}

/* Makes kernels and buffers on one device. Without a limit half of its memory is used; what fixels and streamlines need
 * is taken off, and the rest is room for entries. */
static gls_status build_part(const device_solver *d, part *p)
{
    const gls_weight_model *m = d->base.model;
    const gls_device_info *info = gls_device_get_info(p->device);
    uint64_t room = d->base.options->device_bytes ? d->base.options->device_bytes : info->memory_bytes / 2,
             taken = m->n * 72 + d->base.model->rows->n * 16;
    p->room = room == 0 ? UINT64_MAX : room > taken ? room - taken : 0;
    gls_status status = gls_kernel_load(p->device, "weights/rows.comp", NULL, 0, &p->rows);
    if (!status) status = gls_kernel_load(p->device, "weights/fixels.comp", NULL, 0, &p->fixels);
    if (!status) status = fill_fixels(m, p);
    if (!status) status = fill(p->device, "sums of fixels", sums_bytes(m->n), NULL, &p->sums);
    return status ? status : gls_buffer_write(p->sums, 0, 5 * m->n * sizeof *d->sum, d->sum);
}

/* Offsets of coefficients and costs, in words, in a chunk's buffer of streamlines. */
static size_t coefficients_of(const gls_chunk *chunk, int which)
{
    return 2 * (chunk->n + 1) + (which ? chunk->n : 0);
}
static size_t costs_of(const gls_chunk *chunk)
{
    return 2 * (chunk->n + 1) + 2 * chunk->n;
}

/* Fills the buffer of streamlines: the first entry of each row and the factor of its variation. */
static gls_status fill_streamlines(const device_solver *d, const gls_chunk *from, part *p, device_chunk *to)
{
    /* starts of rows, two arrays of coefficients of 0, costs */
    const size_t n = costs_of(from) + 2 * groups_of(from->n);
    uint32_t *word = calloc(n, sizeof *word);
    if (!word) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", from->n);
    for (size_t s = 0; s <= from->n; s++) {
        float variation = s < from->n ? d->base.model->variation[from->first + s] : 0;
        word[2 * s] = from->start[s];
        memcpy(&word[2 * s + 1], &variation, sizeof variation);
    }
    gls_status status = fill(p->device, "streamlines", n * sizeof *word, word, &to->streamlines);
    free(word);
    return status;
}

/* Bytes of the entries, and of their further bits behind them. At least one word, since buffers cannot be empty. */
static size_t entry_bytes(const gls_chunk *chunk)
{
    const size_t n = chunk->start[chunk->n] > 0 ? chunk->start[chunk->n] : 1;
    return 4 * n + (chunk->high ? (n + 3) / 4 * 4 : 0);
}

/* Writes the entries of a chunk, and behind them their further bits if there are any. */
static gls_status write_entries(const gls_chunk *chunk, gls_buffer *to)
{
    const size_t n = chunk->start[chunk->n], bytes = n * sizeof *chunk->entry;
    gls_status status = n > 0 ? gls_buffer_write(to, 0, bytes, chunk->entry) : GLS_OK;
    return !status && n > 0 && chunk->high ? gls_buffer_write(to, bytes, n, chunk->high) : status;
}

/* Uploads one chunk, and its entries if they fit. */
static gls_status build_chunk(device_solver *d, const gls_chunk *from, device_chunk *to)
{
    part *p = &d->part[to->device];
    const size_t bytes = entry_bytes(from);
    gls_status status = fill_streamlines(d, from, p, to);
    if (status || bytes > p->room) return status;
    status = gls_buffer_create(p->device, GLS_BUFFER_STORAGE, bytes, "entries", &to->entries);
    if (!status) status = write_entries(from, to->entries);
    if (status == GLS_ERR_DEVICE_MEMORY) {
        /* send the entries in each iteration; drop the buffer, which was not filled */
        gls_buffer_destroy(to->entries);
        to->entries = NULL;
        p->room = 0;
        return GLS_OK;
    }
    p->room -= status ? 0 : bytes;
    return status;
}

/* Shares the chunks among devices, and creates staging buffers for entries that do not fit. */
static gls_status build_chunks(device_solver *d)
{
    const gls_rows *rows = d->base.model->rows;
    size_t waiting = 0, most = 0;
    gls_status status = GLS_OK;
    /* chunks go to the devices in turn */
    for (size_t i = 0; i < rows->n_chunks && !status; i++) {
        d->chunk[i].device = i % d->n_parts;
        status = build_chunk(d, &rows->chunk[i], &d->chunk[i]);
        /* a chunk without a buffer of its own waits in the host's memory; the largest one decides the size of the
         * staging buffers */
        if (status || d->chunk[i].entries) continue;
        waiting++;
        most = entry_bytes(&rows->chunk[i]) > most ? entry_bytes(&rows->chunk[i]) : most;
    }
    for (size_t i = 0; i < d->n_parts && waiting > 0; i++)
        for (size_t k = 0; k < N_STAGES && !status; k++)
            status = gls_buffer_create(d->part[i].device, GLS_BUFFER_STORAGE, most, "entries", &d->part[i].stage[k]);
    if (waiting > 0 && !status)
        gls_log(GLS_LOG_INFO, "%zu of %zu chunks of entries stay in the host's memory and are sent in each iteration",
                waiting, rows->n_chunks);
    if (gls_status_is_memory(status))
        status = gls_fail(GLS_ERR_DEVICE_MEMORY,
                          "the device has no room for %zu fixels, %zu streamlines and %zu bytes "
                          "of entries",
                          d->base.model->n, rows->n, N_STAGES * most);
    return status;
}

/* --- Passes. */

/* Sends the entries of a chunk to the next of the staging buffers, which alternate so that a transfer need not wait
 * for the kernel that reads the other. */
static gls_status stage_entries(part *p, const gls_chunk *from, gls_buffer **entries)
{
    *entries = p->stage[p->next_stage++ % N_STAGES];
    return write_entries(from, *entries);
}

/* Computes new coefficients of one chunk, in slices. */
static gls_status run_rows(device_solver *d, const gls_chunk *from, const device_chunk *chunk, int which)
{
    const gls_weights_options *o = d->base.options;
    part *p = &d->part[chunk->device];
    gls_buffer *entries = chunk->entries;
    gls_status status = entries ? GLS_OK : stage_entries(p, from, &entries);
    for (size_t first = 0; first < from->n && !status; first += SLICE) {
        size_t last = from->n - first < SLICE ? from->n : first + SLICE;
        const gls_arg args[] = {
            gls_arg_buffer(0, entries),
            gls_arg_buffer(1, chunk->streamlines),
            gls_arg_buffer(2, p->fixel),
            gls_arg_buffer(3, p->sums),
            gls_arg_uint(0, (uint32_t)first),
            gls_arg_uint(1, (uint32_t)last),
            gls_arg_uint(2, (uint32_t)coefficients_of(from, which)),
            gls_arg_uint(3, (uint32_t)coefficients_of(from, 1 - which)),
            gls_arg_uint(4, (uint32_t)costs_of(from)),
            gls_arg_uint(10, (uint32_t)d->base.model->n),
            gls_arg_uint(11, from->high ? from->start[from->n] : 0),
            gls_arg_uint(12, from->low_bits),
            gls_arg_float(5, d->base.unit),
            gls_arg_float(6, d->base.tikhonov),
            gls_arg_float(7, (float)o->max_coeff_step),
            gls_arg_float(8, within_range(o->min_coeff)),
            gls_arg_float(9, within_range(o->max_coeff)),
        };
        uint32_t grid[3];
        grid_of(last - first, grid);
        status = gls_kernel_run(p->rows, grid, args, sizeof args / sizeof *args, NULL);
    }
    return status;
}

/* Adds the partial costs of work groups, which the kernel left behind `word` in the buffer, in their order. */
static gls_status add_costs(device_solver *d, gls_buffer *buffer, size_t word, size_t groups, double sum[2])
{
    gls_status status = gls_buffer_read(buffer, word * sizeof *d->sum, groups * sizeof *d->cost, d->cost);
    for (size_t g = 0; g < groups && !status; g++) {
        sum[0] += (double)d->cost[g][0];
        sum[1] += (double)d->cost[g][1];
    }
    return status;
}

/* Runs rows.comp on all chunks. With one device the sums of fixels are complete then. */
static gls_status device_rows(gls_solver *solver, int from, gls_row_costs *costs)
{
    device_solver *d = (device_solver *)solver;
    const gls_rows *rows = d->base.model->rows;
    double sum[2] = {0, 0};
    gls_status status = GLS_OK;
    for (size_t i = 0; i < rows->n_chunks && !status; i++) status = run_rows(d, &rows->chunk[i], &d->chunk[i], from);
    for (size_t i = 0; i < rows->n_chunks && !status; i++)
        status = add_costs(d, d->chunk[i].streamlines, costs_of(&rows->chunk[i]), groups_of(rows->chunk[i].n), sum);
    *costs = (gls_row_costs){sum[0], sum[1]};
    d->summed = d->n_parts == 1;
    return status;
}

/* Adds the sums of one device, in d->more, to d->sum. */
static void add_sums(device_solver *d)
{
    const size_t n = d->base.model->n;
    for (size_t i = 0; i < 4 * n; i += 2) {
        uint64_t a = (uint64_t)d->sum[i + 1] << 32 | d->sum[i], b = (uint64_t)d->more[i + 1] << 32 | d->more[i];
        d->sum[i] = (uint32_t)(a + b);
        d->sum[i + 1] = (uint32_t)((a + b) >> 32);
    }
    for (size_t k = 0; k < n; k++) d->sum[4 * n + k] |= d->more[4 * n + k];
}

/* Sums up over all devices and writes the result to each. */
static gls_status exchange_sums(device_solver *d)
{
    const size_t bytes = 5 * d->base.model->n * sizeof *d->sum;
    gls_status status = gls_buffer_read(d->part[0].sums, 0, bytes, d->sum);
    for (size_t i = 1; i < d->n_parts && !status; i++) {
        status = gls_buffer_read(d->part[i].sums, 0, bytes, d->more);
        if (!status) add_sums(d);
    }
    for (size_t i = 0; i < d->n_parts && !status; i++) status = gls_buffer_write(d->part[i].sums, 0, bytes, d->sum);
    return status;
}

/* Runs fixels.comp on every device, after the devices have exchanged their sums. All then have the same fixels. */
static gls_status device_fixels(gls_solver *solver, gls_fixel_costs *costs)
{
    device_solver *d = (device_solver *)solver;
    const size_t n = d->base.model->n;
    double sum[2] = {0, 0};
    gls_status status = d->summed ? GLS_OK : exchange_sums(d);
    uint32_t grid[3];
    grid_of(n, grid);
    for (size_t i = 0; i < d->n_parts && !status; i++) {
        part *p = &d->part[i];
        const gls_arg args[] = {
            gls_arg_buffer(0, p->fixel),
            gls_arg_buffer(1, p->sums),
            gls_arg_uint(0, (uint32_t)n),
            gls_arg_float(1, d->base.unit),
        };
        status = gls_kernel_run(p->fixels, grid, args, sizeof args / sizeof *args, NULL);
    }
    if (!status) status = add_costs(d, d->part[0].sums, 5 * n, groups_of(n), sum);
    *costs = (gls_fixel_costs){sum[0], sum[1]};
    return status;
}

/* Reads the coefficients at index `which` of all streamlines, chunk by chunk. */
static gls_status device_read(gls_solver *solver, int which, float *coefficient)
{
    device_solver *d = (device_solver *)solver;
    const gls_rows *rows = d->base.model->rows;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < rows->n_chunks && !status; i++) {
        const gls_chunk *c = &rows->chunk[i];
        status = gls_buffer_read(d->chunk[i].streamlines, coefficients_of(c, which) * sizeof(float),
                                 c->n * sizeof(float), coefficient + c->first);
    }
    return status;
}

/* Reads states and means of fixels, which are the same on all devices, from the first. */
static gls_status device_read_fixels(gls_solver *solver, gls_model_state *state, gls_model_mean *mean)
{
    device_solver *d = (device_solver *)solver;
    const size_t n = d->base.model->n;
    float(*fixel)[8] = malloc(n * sizeof *fixel);
    gls_status status = fixel ? gls_buffer_read(d->part[0].fixel, 0, n * sizeof *fixel, fixel)
                              : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels", n);
    for (size_t k = 0; k < n && !status; k++) {
        if (state) state[k] = (gls_model_state){fixel[k][0], fixel[k][1], fixel[k][2], fixel[k][3]};
        if (mean) mean[k] = (gls_model_mean){fixel[k][4], fixel[k][5]};
    }
    free(fixel);
    return status;
}

/* Frees everything; also a solver that is built only in part. */
static void device_destroy(gls_solver *solver)
{
    device_solver *d = (device_solver *)solver;
    for (size_t i = 0; d->chunk && i < d->base.model->rows->n_chunks; i++) {
        gls_buffer_destroy(d->chunk[i].streamlines);
        gls_buffer_destroy(d->chunk[i].entries);
    }
    for (size_t i = 0; d->part && i < d->n_parts; i++) {
        part *p = &d->part[i];
        gls_buffer *buffers[] = {p->fixel, p->sums, p->stage[0], p->stage[1]};
        for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) gls_buffer_destroy(buffers[k]);
        gls_kernel_destroy(p->rows);
        gls_kernel_destroy(p->fixels);
    }
    free(d->chunk);
    free(d->part);
    free(d->cost);
    free(d->sum);
    free(d->more);
    free(d);
}

gls_status gls_device_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                    gls_device *const *devices, size_t n, gls_solver **solver)
{
    static const gls_solver_kind kind = {device_rows, device_fixels, device_read, device_read_fixels, device_destroy};
    device_solver *d = calloc(1, sizeof *d);
    size_t groups = groups_of(model->n);
    if (!d) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    gls_solver_init(&d->base, &kind, model, options);
    /* groups: of the largest pass, for the costs that are read back */
    for (size_t i = 0; i < model->rows->n_chunks; i++)
        groups = groups_of(model->rows->chunk[i].n) > groups ? groups_of(model->rows->chunk[i].n) : groups;
    d->n_parts = n;
    d->summed = true;
    d->part = calloc(n, sizeof *d->part);
    d->chunk = calloc(model->rows->n_chunks, sizeof *d->chunk);
    d->cost = malloc(groups * sizeof *d->cost);
    /* five words a fixel; `more` takes the sums of a further device */
    d->sum = malloc(5 * model->n * sizeof *d->sum);
    d->more = malloc((n > 1 ? 5 * model->n : 1) * sizeof *d->more);
    gls_status status = GLS_OK;
    if (!d->part || !d->chunk || !d->cost || !d->sum || !d->more)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels", model->n);
    else
        first_sums(model, d->sum);
    for (size_t i = 0; i < n && !status; i++) {
        d->part[i].device = devices[i];
        status = build_part(d, &d->part[i]);
    }
    if (!status) status = build_chunks(d);
    if (status)
        device_destroy(&d->base);
    else
        *solver = &d->base;
    return status;
}
