/* The products of the signal's matrix as kernels. The voxels are cut into blocks, and so are the streamlines; devices
 * share the blocks and work at the same time. Entries that do not fit on a device are sent for each product. Every sum
 * is that of one voxel, one bin or one streamline, and is never cut, so the result is the same for any number of
 * devices and any blocks. */
#include "weights/signal_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device_team.h"
#include "util/allocation.h"
#include "util/status.h"

/* Work groups along x; more are arranged in rows, because drivers promise only 65535 for an axis. */
#define MAX_GROUPS_X 32768u
#define ROWS_OF_GROUP 8 /* rows that a work group of signal_sums.comp adds up */
#define N_STAGES 2
/* Bytes of the signals of a block of voxels, with two residuals, which all devices can bind. */
#define MAX_SIGNALS ((uint64_t)1 << 27)

/* Rows of a sparse matrix, whose entries are sent or lie on a device. */
typedef struct entry_block {
    size_t first, n;        /* rows */
    const uint64_t *start;  /* n + 1 values: first entry of each row */
    const uint32_t *index;  /* of all entries */
    const uint16_t *length; /* of all entries */
    gls_buffer *starts;     /* relative to the block */
    gls_buffer *entries;    /* NULL: sent for each product */
} entry_block;

/* Voxels and the columns of their bins. */
typedef struct voxel_block {
    size_t first, n;
    entry_block columns;
    gls_buffer *voxels, *signals; /* in the layout of signal_voxels.glsl */
    uint32_t directions_at, peaks_at;
} voxel_block;

/* Streamlines. */
typedef struct line_block {
    entry_block rows;
    gls_buffer *sums;
} line_block;

/* One device. Block i is on device i modulo their number. */
typedef struct part {
    gls_device *device;
    gls_kernel *sums, *predict, *correlate;
    gls_buffer *lines;   /* x of each streamline times its scale */
    gls_buffer *values;  /* in the layout of signal_voxels.glsl, of all voxels */
    gls_buffer *kernels; /* signals of sticks, zeppelins and balls */
    gls_buffer *stage[N_STAGES];
    unsigned next_stage; /* number of transfers so far; modulo N_STAGES the index of the next staging buffer */
    uint64_t room;       /* bytes left for entries */
} part;

/* The products on devices. */
typedef struct device_products {
    gls_signal_products base;
    gls_signal_memory memory;
    gls_device_team *team;
    size_t n_parts, n_voxel_blocks, n_line_blocks;
    part *part;
    voxel_block *voxels;
    line_block *lines;
    float *line; /* x of each streamline times its scale; the sum of each streamline */
    float *rest; /* the values behind those of bins */
    int now;     /* index of the residual r, 0 or 1 */
    bool plain;
    float momentum;
} device_products;

/* Arranges work groups in rows, because one axis may have only 65535 of them. */
static void grid_of(size_t groups, uint32_t grid[3])
{
    grid[0] = groups < MAX_GROUPS_X ? (uint32_t)groups : MAX_GROUPS_X;
    grid[1] = (uint32_t)((groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X);
    grid[2] = 1;
}

/* Index, among the values behind those of bins, of the first value of voxel v. */
static size_t rest_of(const gls_signal_model *m, size_t v)
{
    return m->n_perp * m->peak[v] + (m->n_iso + 1) * v;
}

/* Volumes of a kernel on devices: a multiple of four. */
static size_t stride_of(const gls_signal_model *m)
{
    return (m->m + 3) / 4 * 4;
}

/* --- Blocks. */

/* Cuts voxels into blocks of at most this many entries and signals; a voxel is never cut. */
static gls_status cut_voxels(device_products *d)
{
    const gls_signal_model *m = d->base.model;
    size_t capacity = 0;
    for (size_t v = 0; v < m->n_voxels;) {
        if (!gls_list_reserve(&d->voxels, d->n_voxel_blocks, &capacity, 16, sizeof *d->voxels)) return gls_no_memory();
        voxel_block *b = &d->voxels[d->n_voxel_blocks++];
        *b = (voxel_block){.first = v};
        const uint64_t begin = m->first[m->first_bin[v]];
        do {
            v++;
            b->n++;
        } while (v < m->n_voxels && m->first[m->first_bin[v + 1]] - begin <= d->memory.block_entries &&
                 3 * (b->n + 1) * m->m * sizeof(float) <= MAX_SIGNALS);
        const size_t bin = m->first_bin[b->first];
        b->columns = (entry_block){
            .first = bin, .n = m->first_bin[v] - bin, .start = m->first + bin, .index = m->line, .length = m->length};
    }
    return GLS_OK;
}

/* Cuts streamlines into blocks of at most this many entries; a streamline is never cut. */
static gls_status cut_lines(device_products *d)
{
    const gls_signal_rows *rows = d->base.model->rows;
    size_t capacity = 0;
    for (size_t s = 0; s < rows->n;) {
        if (!gls_list_reserve(&d->lines, d->n_line_blocks, &capacity, 16, sizeof *d->lines)) return gls_no_memory();
        line_block *b = &d->lines[d->n_line_blocks++];
        const size_t first = s++;
        while (s < rows->n && rows->start[s + 1] - rows->start[first] <= d->memory.block_entries) s++;
        *b = (line_block){.rows = {.first = first,
                                   .n = s - first,
                                   .start = rows->start + first,
                                   .index = rows->bin,
                                   .length = rows->length}};
    }
    return GLS_OK;
}

/* --- Buffers. */

/* Creates a buffer with this content, and takes its bytes from the room of the device. data NULL: zeros. */
static gls_status fill(part *p, const char *label, size_t bytes, const void *data, gls_buffer **buffer)
{
    /* buffers cannot be empty */
    gls_status status = gls_buffer_create(p->device, GLS_BUFFER_STORAGE, bytes > 0 ? bytes : 4, label, buffer);
    p->room -= bytes < p->room ? bytes : p->room;
    if (status || bytes == 0) return status;
    return data ? gls_buffer_write(*buffer, 0, bytes, data) : gls_buffer_clear(*buffer);
}

/* Bytes that a device may hold. */
static uint64_t room_of(const gls_signal_memory *memory, const gls_device *device)
{
    const uint64_t has = gls_device_get_info(device)->memory_bytes;
    return memory->bytes ? memory->bytes : has > 0 ? has / 2 : UINT64_MAX;
}

/* Number of entries of a block. */
static size_t entries_of(const entry_block *b)
{
    return (size_t)(b->start[b->n] - b->start[0]);
}

/* Bytes of the entries: a word for each index, and a word for two lengths. */
static size_t entry_bytes(const entry_block *b)
{
    const size_t n = entries_of(b) > 0 ? entries_of(b) : 1;
    return (n + (n + 1) / 2) * sizeof(uint32_t);
}

/* Writes the entries of a block. */
static gls_status write_entries(const entry_block *b, gls_buffer *to)
{
    const size_t n = entries_of(b), bytes = n * sizeof *b->index;
    gls_status status = n > 0 ? gls_buffer_write(to, 0, bytes, b->index + b->start[0]) : GLS_OK;
    return status || n == 0 ? status : gls_buffer_write(to, bytes, n * sizeof *b->length, b->length + b->start[0]);
}

/* Uploads where the rows of a block begin. */
static gls_status fill_starts(part *p, entry_block *b)
{
    uint32_t *start = malloc((b->n + 1) * sizeof *start);
    if (!start) return gls_no_memory();
    for (size_t i = 0; i <= b->n; i++) start[i] = (uint32_t)(b->start[i] - b->start[0]);
    gls_status status = fill(p, "starts", (b->n + 1) * sizeof *start, start, &b->starts);
    free(start);
    return status;
}

/* Uploads the entries of a block if they fit. *most: bytes of the largest block that does not. */
static gls_status fill_entries(part *p, entry_block *b, size_t *most)
{
    const size_t bytes = entry_bytes(b);
    gls_status status = GLS_OK;
    if (bytes <= p->room) {
        status = gls_buffer_create(p->device, GLS_BUFFER_STORAGE, bytes, "entries", &b->entries);
        if (!status) status = write_entries(b, b->entries);
        if (!status) p->room -= bytes;
        if (status != GLS_ERR_DEVICE_MEMORY) return status;
        /* send the entries for each product; drop the buffer, which was not filled */
        gls_buffer_destroy(b->entries);
        b->entries = NULL;
        p->room = 0;
    }
    if (bytes > *most) *most = bytes;
    return GLS_OK;
}

/* Uploads the kernels of all compartments. */
static gls_status fill_kernels(const gls_signal_model *m, part *p)
{
    const size_t stride = stride_of(m), n_sticks = m->rows->directions->n, n_zeppelins = n_sticks * m->n_perp;
    const size_t n = n_sticks + n_zeppelins + m->n_iso;
    float *to = calloc(n * stride, sizeof *to);
    if (!to) return gls_no_memory();
    for (size_t i = 0; i < n; i++) {
        const float *from = i < n_sticks                 ? m->stick + i * m->m
                            : i < n_sticks + n_zeppelins ? m->zeppelin + (i - n_sticks) * m->m
                                                         : m->ball + (i - n_sticks - n_zeppelins) * m->m;
        memcpy(to + i * stride, from, m->m * sizeof *to);
    }
    gls_status status = fill(p, "kernels of the signal", n * stride * sizeof *to, to, &p->kernels);
    free(to);
    return status;
}

/* Makes kernels and the buffers that all blocks of a device share. */
static gls_status build_part(const device_products *d, part *p)
{
    const gls_signal_model *m = d->base.model;
    const gls_device_info *info = gls_device_get_info(p->device);
    const size_t quads = stride_of(m) / 4, shared = quads * 16 + 64 * sizeof(float);
    char text[24];
    if (shared > info->max_shared_bytes)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%zu volumes need %zu bytes of shared memory, over the device's limit of %u", m->m, shared,
                        info->max_shared_bytes);
    p->room = room_of(&d->memory, p->device);
    snprintf(text, sizeof text, "%zu", quads);
    const gls_define define = {.name = "QUADS", .value = text};
    gls_status status = gls_kernel_load(p->device, "weights/signal_sums.comp", NULL, 0, &p->sums);
    if (!status) status = gls_kernel_load(p->device, "weights/signal_predict.comp", NULL, 0, &p->predict);
    if (!status) status = gls_kernel_load(p->device, "weights/signal_correlate.comp", &define, 1, &p->correlate);
    if (!status) status = fill_kernels(m, p);
    if (!status) status = fill(p, "streamlines", m->n_streamlines * sizeof(float), NULL, &p->lines);
    if (!status) status = fill(p, "values", (m->n_bins + rest_of(m, m->n_voxels)) * sizeof(float), NULL, &p->values);
    return status;
}

/* Uploads columns, peaks and directions of a block of voxels, in the layout of signal_voxels.glsl. */
static gls_status fill_voxels(const gls_signal_model *m, part *p, voxel_block *b)
{
    const size_t until = b->first + b->n, n_bins = b->columns.n, n_peaks = m->peak[until] - m->peak[b->first];
    const size_t n = 2 * (b->n + 1) + (n_bins + 1) / 2 + (n_peaks + 1) / 2;
    uint32_t *word = calloc(n, sizeof *word);
    if (!word) return gls_no_memory();
    memcpy(word, m->first_bin + b->first, (b->n + 1) * sizeof *word);
    memcpy(word + b->n + 1, m->peak + b->first, (b->n + 1) * sizeof *word);
    b->directions_at = (uint32_t)(2 * (b->n + 1));
    b->peaks_at = b->directions_at + (uint32_t)((n_bins + 1) / 2);
    for (size_t i = 0; i < n_bins; i++)
        word[b->directions_at + i / 2] |= (uint32_t)m->direction[b->columns.first + i] << i % 2 * 16;
    for (size_t i = 0; i < n_peaks; i++)
        word[b->peaks_at + i / 2] |= (uint32_t)m->peak_direction[m->peak[b->first] + i] << i % 2 * 16;
    gls_status status = fill(p, "voxels", n * sizeof *word, word, &b->voxels);
    free(word);
    const size_t bytes = b->n * m->m * sizeof(float);
    if (!status) status = fill(p, "signals", 3 * bytes, NULL, &b->signals);
    return status ? status : gls_buffer_write(b->signals, 0, bytes, m->y + b->first * m->m);
}

/* The k-th block of entries, of voxels or of streamlines; NULL: it is on another device than the i-th. */
static entry_block *entries_on(const device_products *d, size_t k, size_t i)
{
    const bool voxels = k < d->n_voxel_blocks;
    const size_t block = voxels ? k : k - d->n_voxel_blocks;
    if (block % d->n_parts != i) return NULL;
    return voxels ? &d->voxels[block].columns : &d->lines[block].rows;
}

/* Uploads the entries of device i, and creates staging buffers if they do not all fit. */
static gls_status fill_all_entries(const device_products *d, part *p, size_t i)
{
    const size_t n = d->n_voxel_blocks + d->n_line_blocks;
    uint64_t all = 0, largest = 0;
    size_t most = 0;
    gls_status status = GLS_OK;
    for (size_t k = 0; k < n; k++) {
        const entry_block *b = entries_on(d, k, i);
        if (!b) continue;
        all += entry_bytes(b);
        if (entry_bytes(b) > largest) largest = entry_bytes(b);
    }
    if (all > p->room) p->room -= N_STAGES * largest < p->room ? N_STAGES * largest : p->room;
    for (size_t k = 0; k < n && !status; k++) {
        entry_block *b = entries_on(d, k, i);
        if (b) status = fill_entries(p, b, &most);
    }
    for (size_t k = 0; k < N_STAGES && most > 0 && !status; k++)
        status = gls_buffer_create(p->device, GLS_BUFFER_STORAGE, most, "entries", &p->stage[k]);
    return status;
}

/* Makes device i ready; called by gls_device_team_run(). Entries come last: they take the room that is left. */
static gls_status build(void *user, size_t i)
{
    device_products *d = user;
    part *p = &d->part[i];
    gls_status status = build_part(d, p);
    for (size_t k = i; k < d->n_voxel_blocks && !status; k += d->n_parts) {
        status = fill_voxels(d->base.model, p, &d->voxels[k]);
        if (!status) status = fill_starts(p, &d->voxels[k].columns);
    }
    for (size_t k = i; k < d->n_line_blocks && !status; k += d->n_parts) {
        status = fill_starts(p, &d->lines[k].rows);
        if (!status) status = fill(p, "sums", d->lines[k].rows.n * sizeof(float), NULL, &d->lines[k].sums);
    }
    return status ? status : fill_all_entries(d, p, i);
}

/* Logs the number of blocks whose entries stay in the host's memory, if there are any. */
static void log_waiting(const device_products *d)
{
    size_t waiting = 0;
    for (size_t i = 0; i < d->n_voxel_blocks; i++) waiting += !d->voxels[i].columns.entries;
    for (size_t i = 0; i < d->n_line_blocks; i++) waiting += !d->lines[i].rows.entries;
    if (waiting > 0)
        gls_log(GLS_LOG_INFO, "%zu of %zu blocks of entries stay in the host's memory and are sent in each iteration",
                waiting, d->n_voxel_blocks + d->n_line_blocks);
}

/* --- Products. */

/* Adds up the rows of a block: value times length. first: index of the first sum. */
static gls_status run_sums(part *p, const entry_block *b, gls_buffer *values, gls_buffer *sums, size_t first)
{
    gls_buffer *entries = b->entries;
    uint32_t grid[3];
    gls_status status = GLS_OK;
    if (b->n == 0) return GLS_OK;
    if (!entries) { /* the buffers alternate, so that a transfer need not wait for the kernel that reads the other */
        entries = p->stage[p->next_stage++ % N_STAGES];
        status = write_entries(b, entries);
    }
    const gls_arg args[] = {
        gls_arg_buffer(0, entries),
        gls_arg_buffer(1, b->starts),
        gls_arg_buffer(2, values),
        gls_arg_buffer(3, sums),
        gls_arg_uint(0, (uint32_t)b->n),
        gls_arg_uint(1, (uint32_t)first),
        gls_arg_uint(2, (uint32_t)entries_of(b)),
    };
    grid_of((b->n + ROWS_OF_GROUP - 1) / ROWS_OF_GROUP, grid);
    return status ? status : gls_kernel_run(p->sums, grid, args, sizeof args / sizeof *args, NULL);
}

/* Runs a kernel over the voxels of a block. own: its last n_own arguments. */
static gls_status run_voxels(const device_products *d, part *p, gls_kernel *kernel, const voxel_block *b,
                             const gls_arg *own, size_t n_own)
{
    const gls_signal_model *m = d->base.model;
    gls_arg args[16] = {
        gls_arg_buffer(0, b->voxels),
        gls_arg_buffer(1, p->kernels),
        gls_arg_buffer(2, p->values),
        gls_arg_buffer(3, b->signals),
        gls_arg_uint(0, (uint32_t)b->n),
        gls_arg_uint(1, (uint32_t)b->first),
        gls_arg_uint(2, (uint32_t)m->m),
        gls_arg_uint(3, (uint32_t)m->n_bins),
        gls_arg_uint(4, (uint32_t)m->rows->directions->n),
        gls_arg_uint(5, (uint32_t)m->n_perp),
        gls_arg_uint(6, (uint32_t)m->n_iso),
        gls_arg_uint(7, b->directions_at),
        gls_arg_uint(8, b->peaks_at),
    };
    uint32_t grid[3];
    memcpy(args + 13, own, n_own * sizeof *own);
    grid_of(b->n, grid);
    return gls_kernel_run(kernel, grid, args, 13 + n_own, NULL);
}

/* Index of the first value of residual `which` of a block, 0 or 1, behind its signals. */
static uint32_t residual_of(const device_products *d, const voxel_block *b, int which)
{
    return (uint32_t)((size_t)(1 + which) * b->n * d->base.model->m);
}

/* Writes or reads the values of a block behind those of bins. */
static gls_status move_rest(const device_products *d, const part *p, const voxel_block *b, bool writes)
{
    const gls_signal_model *m = d->base.model;
    const size_t from = rest_of(m, b->first), n = rest_of(m, b->first + b->n) - from;
    const size_t at = (m->n_bins + from) * sizeof(float), bytes = n * sizeof(float);
    return writes ? gls_buffer_write(p->values, at, bytes, d->rest + from)
                  : gls_buffer_read(p->values, at, bytes, d->rest + from);
}

/* The residuals of the voxels of a device; called by gls_device_team_run(). */
static gls_status part_apply(void *user, size_t i)
{
    device_products *d = user;
    part *p = &d->part[i];
    const size_t n = d->base.model->n_streamlines;
    gls_status status = n > 0 ? gls_buffer_write(p->lines, 0, n * sizeof(float), d->line) : GLS_OK;
    for (size_t k = i; k < d->n_voxel_blocks && !status; k += d->n_parts) {
        const voxel_block *b = &d->voxels[k];
        const gls_arg own[] = {gls_arg_uint(9, residual_of(d, b, d->now)), gls_arg_float(10, d->plain ? 0 : 1)};
        status = move_rest(d, p, b, true);
        if (!status) status = run_sums(p, &b->columns, p->lines, p->values, b->columns.first);
        if (!status) status = run_voxels(d, p, p->predict, b, own, 2);
    }
    for (size_t k = i; k < d->n_voxel_blocks && !status; k += d->n_parts)
        status = move_rest(d, p, &d->voxels[k], false);
    return status;
}

/* Half the sum of the squares of voxels, added up in double in the order of voxels. */
static double half_squares(const device_products *d)
{
    const gls_signal_model *m = d->base.model;
    double sum = 0;
    for (size_t v = 0; v < m->n_voxels; v++) sum += (double)d->rest[rest_of(m, v + 1) - 1];
    return sum / 2;
}

/* Copies unknowns of peaks and balls to the values behind bins, or, with to_x, the reverse. */
static void copy_rest(const device_products *d, double *x, bool to_x)
{
    const gls_signal_model *m = d->base.model;
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < m->n_voxels; v++) {
        float *rest = d->rest + rest_of(m, v);
        for (size_t k = 0; k < m->n_perp + m->n_iso; k++) {
            const bool ball = k >= m->n_perp;
            double *of = ball ? x + m->first_ball + (k - m->n_perp) * m->n_voxels + v
                              : x + m->first_peak + k * m->n_peaks + m->peak[v];
            for (size_t n = ball ? 1 : m->peak[v + 1] - m->peak[v]; n > 0; n--, rest++, of++) {
                if (to_x)
                    *of = (double)*rest;
                else
                    *rest = (float)*of;
            }
        }
    }
}

static gls_status device_apply(gls_signal_products *products, const double *x, bool plain, double *cost)
{
    device_products *d = (device_products *)products;
    const gls_signal_model *m = products->model;
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < m->n_streamlines; s++) d->line[s] = (float)(x[s] * m->scale[s]);
    copy_rest(d, (double *)x, false);
    d->plain = plain;
    gls_status status = gls_device_team_run(d->team, part_apply, d);
    if (!status) *cost = half_squares(d);
    return status;
}

static void device_keep(gls_signal_products *products)
{
    device_products *d = (device_products *)products;
    d->now = 1 - d->now;
}

/* The products of the columns of a device's voxels with the residual. With several devices, reads those of bins. */
static gls_status part_correlate(void *user, size_t i)
{
    const device_products *d = user;
    part *p = &d->part[i];
    gls_status status = GLS_OK;
    for (size_t k = i; k < d->n_voxel_blocks && !status; k += d->n_parts) {
        const voxel_block *b = &d->voxels[k];
        const gls_arg own[] = {gls_arg_uint(9, residual_of(d, b, d->now)),
                               gls_arg_uint(10, residual_of(d, b, 1 - d->now)), gls_arg_float(11, d->momentum)};
        status = run_voxels(d, p, p->correlate, b, own, 3);
    }
    for (size_t k = i; k < d->n_voxel_blocks && !status && d->n_parts > 1; k += d->n_parts) {
        const entry_block *c = &d->voxels[k].columns;
        if (c->n > 0)
            status = gls_buffer_read(p->values, c->first * sizeof(float), c->n * sizeof(float),
                                     d->base.model->bin_value + c->first);
    }
    return status;
}

/* The sums of a device's streamlines over the products of their bins, which with several devices come from all. */
static gls_status part_lines(void *user, size_t i)
{
    const device_products *d = user;
    const gls_signal_model *m = d->base.model;
    part *p = &d->part[i];
    gls_status status = GLS_OK;
    for (size_t k = 0; k < d->n_voxel_blocks && !status; k++) { /* its own are there */
        const entry_block *c = &d->voxels[k].columns;
        if (k % d->n_parts != i && c->n > 0)
            status =
                gls_buffer_write(p->values, c->first * sizeof(float), c->n * sizeof(float), m->bin_value + c->first);
    }
    for (size_t k = i; k < d->n_line_blocks && !status; k += d->n_parts)
        status = run_sums(p, &d->lines[k].rows, p->values, d->lines[k].sums, 0);
    for (size_t k = i; k < d->n_line_blocks && !status; k += d->n_parts)
        status =
            gls_buffer_read(d->lines[k].sums, 0, d->lines[k].rows.n * sizeof(float), d->line + d->lines[k].rows.first);
    for (size_t k = i; k < d->n_voxel_blocks && !status; k += d->n_parts)
        status = move_rest(d, p, &d->voxels[k], false);
    return status;
}

static gls_status device_gradient(gls_signal_products *products, double momentum, double *g, double *cost)
{
    device_products *d = (device_products *)products;
    const gls_signal_model *m = products->model;
    d->momentum = (float)momentum;
    gls_status status = gls_device_team_run(d->team, part_correlate, d);
    if (!status) status = gls_device_team_run(d->team, part_lines, d);
    if (status) return status;
#pragma omp parallel for schedule(static)
    for (size_t s = 0; s < m->n_streamlines; s++) g[s] = (double)d->line[s] * m->scale[s];
    copy_rest(d, g, true);
    *cost = half_squares(d);
    return GLS_OK;
}

static gls_status device_read(gls_signal_products *products, float *r)
{
    const device_products *d = (const device_products *)products;
    const size_t m = products->model->m;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < d->n_voxel_blocks && !status; i++) {
        const voxel_block *b = &d->voxels[i];
        status =
            gls_buffer_read(b->signals, residual_of(d, b, d->now) * sizeof *r, b->n * m * sizeof *r, r + b->first * m);
    }
    return status;
}

/* Frees everything; also products that are made only in part. */
static void device_destroy(gls_signal_products *products)
{
    device_products *d = (device_products *)products;
    gls_device_team_destroy(d->team);
    for (size_t i = 0; i < d->n_voxel_blocks; i++) {
        voxel_block *b = &d->voxels[i];
        gls_buffer *buffers[] = {b->columns.starts, b->columns.entries, b->voxels, b->signals};
        for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) gls_buffer_destroy(buffers[k]);
    }
    for (size_t i = 0; i < d->n_line_blocks; i++) {
        line_block *b = &d->lines[i];
        gls_buffer *buffers[] = {b->rows.starts, b->rows.entries, b->sums};
        for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) gls_buffer_destroy(buffers[k]);
    }
    for (size_t i = 0; d->part && i < d->n_parts; i++) {
        part *p = &d->part[i];
        gls_buffer *buffers[] = {p->lines, p->values, p->kernels, p->stage[0], p->stage[1]};
        for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) gls_buffer_destroy(buffers[k]);
        gls_kernel_destroy(p->sums);
        gls_kernel_destroy(p->predict);
        gls_kernel_destroy(p->correlate);
    }
    free(d->voxels);
    free(d->lines);
    free(d->part);
    free(d->line);
    free(d->rest);
    free(d);
}

size_t gls_signal_device_count(const gls_signal_rows *rows, const gls_signal_memory *memory, gls_device *const *devices,
                               size_t n)
{
    /* entries by streamline and by voxel, six bytes each */
    uint64_t left = 2 * 6 * rows->start[rows->n];
    size_t count = 0;
    if (memory->bytes) return n;
    while (count < n) {
        /* a quarter is for what all blocks share */
        const uint64_t room = room_of(memory, devices[count++]) / 4 * 3;
        if (left <= room) break;
        left -= room;
    }
    return count;
}

gls_status gls_signal_device_create(const gls_signal_model *m, const gls_signal_memory *memory,
                                    gls_device *const *devices, size_t n, gls_signal_products **products)
{
    static const gls_signal_products_kind kind = {device_apply, device_keep, device_gradient, device_read,
                                                  device_destroy};
    device_products *d = calloc(1, sizeof *d);
    if (!d) return gls_no_memory();
    d->base = (gls_signal_products){&kind, m, 1e-7};
    d->memory = *memory;
    d->n_parts = n;
    d->part = calloc(n, sizeof *d->part);
    d->line = malloc((m->n_streamlines + 1) * sizeof *d->line);
    d->rest = calloc(rest_of(m, m->n_voxels) + 1, sizeof *d->rest);
    gls_status status = d->part && d->line && d->rest ? gls_device_team_create(devices, n, &d->team) : gls_no_memory();
    for (size_t i = 0; i < n && d->part; i++) d->part[i].device = devices[i];
    if (!status) status = cut_voxels(d);
    if (!status) status = cut_lines(d);
    if (!status) status = gls_device_team_run(d->team, build, d);
    if (status) {
        device_destroy(&d->base);
        return status;
    }
    log_waiting(d);
    *products = &d->base;
    return GLS_OK;
}
