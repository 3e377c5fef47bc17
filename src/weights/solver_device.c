/* The passes of SIFT2 as kernels. Devices share the chunks of streamlines and work at the same time. Entries that do
 * not fit on a device are sent in each iteration. Sums are whole numbers, and costs are added in the order of the
 * streamlines, so the result is the same for any number of devices and any memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weights/solver_device.h"
#include "gpu/buffer.h"
#include "gpu/device_team.h"
#include "gpu/devices.h"
#include "util/status.h"
#include "util/threads.h"
#include "weights/solver_host.h"
#include "weights/weight_model.h"

/* Work groups along x; more are arranged in rows, because drivers promise only 65535 for an axis. */
#define MAX_GROUPS_X 32768u
/* Streamlines of a dispatch: far less than a second of work on any GPU, so that no watchdog stops it. */
#define SLICE ((uint32_t)1 << 20)
#define N_STAGES 2

/* A chunk on its device. */
typedef struct device_chunk {
    gls_buffer *streamlines; /* rows, coefficients and costs, in the layout of rows.comp */
    gls_buffer *entries;     /* NULL: sent in each iteration */
} device_chunk;

/* One device, with its copy of the fixels and the sums of its own chunks. */
typedef struct part {
    gls_device *device;
    gls_kernel *rows, *fixels; /* kernels of both passes */
    gls_buffer *fixel, *sums;  /* in the layout of fixels.comp */
    gls_buffer *stage[N_STAGES];
    unsigned next_stage; /* number of transfers so far; modulo N_STAGES the index of the next staging buffer */
    uint64_t room;       /* bytes left for entries */
    uint32_t *sum;       /* sums of the chunks of this device, read back; NULL with one device */
} part;

/* The solver on devices. Chunk i is on device i modulo n_parts. */
typedef struct device_solver {
    gls_solver base;
    gls_device_team *team;
    size_t n_parts; /* devices */
    part *part;
    device_chunk *chunk;                /* one for each chunk of the rows */
    float (*cost)[2], (*fixel_cost)[2]; /* costs of the groups of all streamlines and fixels, read back */
    uint32_t *sum;                      /* sums over all devices */
    bool summed;                        /* true: the sums on each device are those over all devices */
    int from;                           /* array of coefficients, 0 or 1, from which a pass starts */
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

/* Sums for weights of 1, in the layout of `sums`. For each fixel two sums of two words: of length times weight, and of
 * length times coefficient, which is 0; 2^24 stands for one unit of length. Behind the sums of all fixels a word for
 * each fixel, not 0 if the fixel leaves the fit. */
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
    gls_status status = gls_storage_create(p->device, "fixels", 3 * m->n * sizeof *fixel, fixel, &p->fixel);
    free(fixel);
    return status;
}

/* Makes kernels and buffers on one device. p->room: what fixels and streamlines leave of device_bytes, or, if
 * device_bytes is 0, of half of the device's memory. If device_bytes is 0 and the memory unknown, entries have no
 * limit. */
static gls_status build_part(device_solver *d, part *p)
{
    const gls_weight_model *m = d->base.model;
    const gls_device_info *info = gls_device_get_info(p->device);
    uint64_t room = d->base.options->device_bytes ? d->base.options->device_bytes : info->memory_bytes / 2,
             taken = m->n * 72 + d->base.model->rows->n * 16;
    p->room = room == 0 ? UINT64_MAX : room > taken ? room - taken : 0;
    gls_status status = gls_kernel_load(p->device, "weights/rows.comp", NULL, 0, &p->rows);
    if (!status) status = gls_kernel_load(p->device, "weights/fixels.comp", NULL, 0, &p->fixels);
    if (!status) status = fill_fixels(m, p);
    if (!status) status = gls_storage_create(p->device, "sums of fixels", sums_bytes(m->n), NULL, &p->sums);
    if (!status) status = gls_buffer_clear(p->sums);
    return status ? status : gls_buffer_write(p->sums, 0, 5 * m->n * sizeof *d->sum, d->sum);
}

/* Word of the buffer of a chunk at which array `which` of the coefficients begins, behind the starts of rows. */
static size_t coefficients_of(const gls_chunk *chunk, int which)
{
    return 2 * (chunk->n + 1) + (which ? chunk->n : 0);
}

/* Word of the buffer of a chunk at which the costs of its work groups begin, behind both sets of coefficients. */
static size_t costs_of(const gls_chunk *chunk)
{
    return 2 * (chunk->n + 1) + 2 * chunk->n;
}

/* Fills the buffer of streamlines: for each row its first entry and gls_weight_model.variation, then zeros. */
static gls_status fill_streamlines(const device_solver *d, const gls_chunk *from, part *p, device_chunk *to)
{
    /* the pairs of each row, two sets of coefficients, which begin as 0, and the costs of work groups */
    const size_t n = costs_of(from) + 2 * groups_of(from->n);
    uint32_t *word = calloc(n, sizeof *word);
    if (!word) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", from->n);
    for (size_t s = 0; s <= from->n; s++) {
        float variation = s < from->n ? d->base.model->variation[from->first + s] : 0;
        word[2 * s] = from->start[s];
        memcpy(&word[2 * s + 1], &variation, sizeof variation);
    }
    gls_status status = gls_storage_create(p->device, "streamlines", n * sizeof *word, word, &to->streamlines);
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
static gls_status build_chunk(const device_solver *d, part *p, const gls_chunk *from, device_chunk *to)
{
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

/* Uploads the chunks of one device, and creates staging buffers for entries that do not fit. */
static gls_status build_chunks(device_solver *d, part *p)
{
    const gls_rows *rows = d->base.model->rows;
    size_t most = 0;
    gls_status status = GLS_OK;
    for (size_t i = (size_t)(p - d->part); i < rows->n_chunks && !status; i += d->n_parts) {
        status = build_chunk(d, p, &rows->chunk[i], &d->chunk[i]);
        if (!status && !d->chunk[i].entries && entry_bytes(&rows->chunk[i]) > most) most = entry_bytes(&rows->chunk[i]);
    }
    for (size_t k = 0; k < N_STAGES && most > 0 && !status; k++)
        status = gls_buffer_create(p->device, GLS_BUFFER_STORAGE, most, "entries", &p->stage[k]);
    if (gls_status_is_memory(status))
        status = gls_fail(GLS_ERR_DEVICE_MEMORY,
                          "the device has no room for %zu fixels, %zu streamlines and %zu bytes "
                          "of entries",
                          d->base.model->n, rows->n, N_STAGES * most);
    return status;
}

/* Makes device i ready; called by gls_device_team_run(). */
static gls_status build(void *user, size_t i)
{
    device_solver *d = user;
    part *p = &d->part[i];
    gls_status status = build_part(d, p);
    return status ? status : build_chunks(d, p);
}

/* Logs the number of chunks whose entries stay in the host's memory, if there are any. */
static void log_waiting(const device_solver *d)
{
    const size_t n = d->base.model->rows->n_chunks;
    size_t waiting = 0;
    for (size_t i = 0; i < n; i++) waiting += !d->chunk[i].entries;
    if (waiting > 0)
        gls_log(GLS_LOG_INFO, "%zu of %zu chunks of entries stay in the host's memory and are sent in each iteration",
                waiting, n);
}

/* --- Passes. */

/* Sends the entries of a chunk to the next staging buffer. The buffers alternate, so that a transfer need not wait for
 * the kernel that reads the buffer before. */
static gls_status stage_entries(part *p, const gls_chunk *from, gls_buffer **entries)
{
    *entries = p->stage[p->next_stage++ % N_STAGES];
    return write_entries(from, *entries);
}

/* Computes new coefficients of one chunk, in slices. */
static gls_status run_rows(const device_solver *d, part *p, const gls_chunk *from, const device_chunk *chunk)
{
    const gls_weights_options *o = d->base.options;
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
            gls_arg_uint(2, (uint32_t)coefficients_of(from, d->from)),
            gls_arg_uint(3, (uint32_t)coefficients_of(from, 1 - d->from)),
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

/* Reads the partial costs of n work groups, which a kernel stored from `word` of the buffer on. */
static gls_status read_costs(gls_buffer *buffer, size_t word, size_t n, float (*cost)[2])
{
    return gls_buffer_read(buffer, word * sizeof(uint32_t), n * sizeof *cost, cost);
}

/* Sums the costs of n work groups in double, in their order. */
static void add_costs(const float (*cost)[2], size_t n, double sum[2])
{
    sum[0] = sum[1] = 0;
    for (size_t g = 0; g < n; g++) {
        sum[0] += (double)cost[g][0];
        sum[1] += (double)cost[g][1];
    }
}

/* Runs rows.comp on the chunks of one device, and reads their costs; with several devices also the sums of the device.
 * Every chunk begins where a group of streamlines begins. Called by gls_device_team_run(). */
static gls_status part_rows(void *user, size_t first)
{
    device_solver *d = user;
    part *p = &d->part[first];
    const gls_rows *rows = d->base.model->rows;
    gls_status status = GLS_OK;
    for (size_t i = first; i < rows->n_chunks && !status; i += d->n_parts)
        status = run_rows(d, p, &rows->chunk[i], &d->chunk[i]);
    for (size_t i = first; i < rows->n_chunks && !status; i += d->n_parts) {
        const gls_chunk *c = &rows->chunk[i];
        status = read_costs(d->chunk[i].streamlines, costs_of(c), groups_of(c->n), d->cost + groups_of(c->first));
    }
    if (!status && p->sum) status = gls_buffer_read(p->sums, 0, 5 * d->base.model->n * sizeof *p->sum, p->sum);
    return status;
}

/* Runs rows.comp on all chunks. With one device the sums of fixels are complete then. */
static gls_status device_rows(gls_solver *solver, int from, gls_row_costs *costs)
{
    device_solver *d = (device_solver *)solver;
    double sum[2];
    d->from = from;
    gls_status status = gls_device_team_run(d->team, part_rows, d);
    if (status) return status;
    add_costs((const float(*)[2])d->cost, groups_of(d->base.model->rows->n), sum);
    *costs = (gls_row_costs){sum[0], sum[1]};
    d->summed = d->n_parts == 1;
    return GLS_OK;
}

/* Adds up the sums of all devices for fixels from .. until - 1; called by gls_parallel(). */
static void add_sums(void *user, int thread, size_t from, size_t until)
{
    const device_solver *d = user;
    const size_t n = d->base.model->n;
    (void)thread;
    for (size_t i = 4 * from; i < 4 * until; i += 2) {
        uint64_t sum = 0;
        for (const part *p = d->part; p < d->part + d->n_parts; p++) sum += (uint64_t)p->sum[i + 1] << 32 | p->sum[i];
        d->sum[i] = (uint32_t)sum;
        d->sum[i + 1] = (uint32_t)(sum >> 32);
    }
    for (size_t k = 4 * n + from; k < 4 * n + until; k++) {
        d->sum[k] = 0;
        for (const part *p = d->part; p < d->part + d->n_parts; p++) d->sum[k] |= p->sum[k];
    }
}

/* Runs fixels.comp on one device; called by gls_device_team_run(). */
static gls_status part_fixels(void *user, size_t i)
{
    const device_solver *d = user;
    const part *p = &d->part[i];
    const size_t n = d->base.model->n;
    const gls_arg args[] = {
        gls_arg_buffer(0, p->fixel),
        gls_arg_buffer(1, p->sums),
        gls_arg_uint(0, (uint32_t)n),
        gls_arg_float(1, d->base.unit),
    };
    uint32_t grid[3];
    grid_of(n, grid);
    gls_status status = d->summed ? GLS_OK : gls_buffer_write(p->sums, 0, 5 * n * sizeof *d->sum, d->sum);
    if (!status) status = gls_kernel_run(p->fixels, grid, args, sizeof args / sizeof *args, NULL);
    return status || i > 0 ? status : read_costs(p->sums, 5 * n, groups_of(n), d->fixel_cost);
}

/* Runs fixels.comp on every device, with the sums over all devices. All devices then have the same fixels. */
static gls_status device_fixels(gls_solver *solver, gls_fixel_costs *costs)
{
    device_solver *d = (device_solver *)solver;
    double sum[2];
    if (!d->summed) gls_parallel(d->base.model->n, 1 << 14, d->base.model->rows->n_threads, add_sums, d);
    gls_status status = gls_device_team_run(d->team, part_fixels, d);
    if (status) return status;
    add_costs((const float(*)[2])d->fixel_cost, groups_of(d->base.model->n), sum);
    *costs = (gls_fixel_costs){sum[0], sum[1]};
    return GLS_OK;
}

/* Reads the coefficients of all streamlines from array `which` (0 or 1), chunk by chunk. */
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
    gls_device_team_destroy(d->team);
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
        free(p->sum);
    }
    free(d->chunk);
    free(d->part);
    free(d->cost);
    free(d->fixel_cost);
    free(d->sum);
    free(d);
}

gls_status gls_device_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                    gls_device *const *devices, size_t n, gls_solver **solver)
{
    static const gls_solver_kind kind = {device_rows, device_fixels, device_read, device_read_fixels, device_destroy};
    device_solver *d = calloc(1, sizeof *d);
    if (!d) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    gls_solver_init(&d->base, &kind, model, options);
    d->n_parts = n;
    d->summed = true;
    d->part = calloc(n, sizeof *d->part);
    d->chunk = calloc(model->rows->n_chunks, sizeof *d->chunk);
    d->cost = malloc(groups_of(model->rows->n) * sizeof *d->cost);
    d->fixel_cost = malloc(groups_of(model->n) * sizeof *d->fixel_cost);
    d->sum = malloc(5 * model->n * sizeof *d->sum);
    bool complete = d->part && d->chunk && d->cost && d->fixel_cost && d->sum;
    for (size_t i = 0; i < n && complete; i++) {
        part *p = &d->part[i];
        p->device = devices[i];
        p->sum = n > 1 ? malloc(5 * model->n * sizeof *d->sum) : NULL;
        complete = n == 1 || p->sum;
    }
    gls_status status = complete ? gls_device_team_create(devices, n, &d->team)
                                 : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels", model->n);
    if (!status) {
        first_sums(model, d->sum);
        status = gls_device_team_run(d->team, build, d);
    }
    if (status) {
        device_destroy(&d->base);
        return status;
    }
    log_waiting(d);
    *solver = &d->base;
    return GLS_OK;
}
