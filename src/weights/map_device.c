/* Maps streamlines to fixels with a kernel: uploads the lobes of all voxels once, then runs one batch of streamlines
 * after the other. */

#include <glslines/device.h>
#include <glslines/fixels.h>
#include <glslines/image.h>
#include <glslines/streamlines.h>

#include <stdlib.h>
#include <string.h>

#include "weights/map_device.h"
#include "gpu/fetch.h"
#include "gpu/query.h"
#include "util/allocation.h"
#include "util/status.h"
#include "weights/fixel_parts.h"
#include "weights/fixel_rows_parts.h"
#include "weights/lobe_sphere.h"

/* Largest number of work groups along x; further ones are arranged along y, since drivers guarantee only 65535 on an
 * axis. */
#define MAX_GROUPS_X 32768u
/* Invocations of a work group, one for each streamline. */
#define GROUP 64
/* Value in place of the offset of a voxel's table if the voxel has no fixels. */
#define NOTHING UINT32_MAX
/* offsets of words in the buffer of lobes, as in map.comp */
enum { NEIGHBOURS_AT = 6 * GLS_LOBE_DIRECTIONS, STARTS_AT = 12 * GLS_LOBE_DIRECTIONS, N_STARTS = 3072 };
enum { VOXELS_AT = STARTS_AT + N_STARTS, TABLE_WORDS = (GLS_LOBE_TABLE + 3) / 4 };

#define ROW_HEADER 8   /* bytes in front of the mapped streamlines: counts[] of read_rows() */
#define SPARE 8        /* visits for which each streamline has space beyond its number of points, as in map.comp */
#define VISIT_BYTES 32 /* bytes for each visit: half for the visit, half for sorting */
#define TOTAL_BYTES ((size_t)12) /* bytes of the totals of a fixel */
#define SUM_BYTES ((size_t)8)    /* the same, of sums alone */
#define POINT_BYTES 12           /* bytes of a point */
#define SLOT_BYTES 48            /* bytes of memory for each slot: a visit, its entry, and a point */

/* A device buffer that grows. */
typedef struct grown_buffer {
    gls_buffer *buffer;
    /* size on the device; 0: not made yet */
    size_t bytes;
} grown_buffer;

/* Host copies of what a run returned. */
typedef struct answer {
    /* ROW_HEADER bytes of counts, then the mapped streamlines */
    uint8_t *row;
    /* entries of all streamlines of the run */
    uint32_t *entry;
    /* allocated bytes of `row`, allocated elements of `entry` */
    size_t row_capacity, entry_capacity;
} answer;

struct gls_mapper {
    /* a copy; what its pointers point to is borrowed */
    gls_mapper_source source;
    gls_kernel *kernel, *adder;
    gls_buffer *grid, *lobes, *totals; /* totals: of all fixels, in the layout of totals.comp */
    grown_buffer starts, points, visits, rows, entries;
    size_t n_visits; /* capacity of the buffer of visits */
    /* first point of each streamline of a run, and the end of the last */
    uint32_t *start;
    /* allocated elements of `start` */
    size_t start_capacity;
    size_t n, n_slots; /* numbers of streamlines and of slots for visits of the current run */
    /* two answers, so that the caller reads one while the device fills the other */
    answer answer[2];
    unsigned which; /* index of the answer of the current run */
};

/* Makes sure that a buffer has space for `bytes`, with an eighth to spare. Its contents are lost when it grows. */
static gls_status grow(const gls_mapper *m, const char *label, size_t bytes, grown_buffer *r)
{
    if (bytes <= r->bytes) return GLS_OK;
    gls_buffer_destroy(r->buffer);
    *r = (grown_buffer){NULL, 0};
    const size_t wanted = bytes + bytes / 8;
    gls_status status = gls_buffer_create(m->source.device, GLS_BUFFER_STORAGE, wanted, label, &r->buffer);
    if (!status) r->bytes = wanted;
    return status;
}

/* Grows a host list to at least n elements. list: address of the pointer. */
static gls_status reserve(void *list, size_t *capacity, size_t n, size_t size)
{
    return gls_list_grow(list, n, capacity, size) ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
}

/* Stores the bits of a float in a word. */
static void store_float(uint32_t *word, float x)
{
    memcpy(word, &x, sizeof x);
}

/* Stores directions, their neighbours and the starts of searches in the layout of the buffer Lobes of weights/map.comp.
 */
static void store_sphere(uint32_t *word)
{
    const gls_lobe_sphere *s = gls_lobe_sphere_get();
    for (size_t i = 0; i < GLS_LOBE_DIRECTIONS; i++) {
        memcpy(&word[6 * i], s->direction[i], sizeof s->direction[i]);
        for (size_t k = 0; k < GLS_LOBE_NEIGHBOURS; k++)
            word[NEIGHBOURS_AT + GLS_LOBE_NEIGHBOURS * i + k] = s->neighbour[i][k];
    }
    for (size_t i = 0; i < N_STARTS; i++) word[STARTS_AT + i] = (&s->start[0][0][0])[i];
}

/* Bytes of the buffer of lobes for n voxels, of which n_lobed have fixels; 0: they do not fit, see gls_mapper_source.
 */
static uint64_t lobes_bytes(uint64_t n, uint64_t n_lobed, uint64_t device_bytes)
{
    const uint64_t bytes = 4 * (VOXELS_AT + 3 * n + TABLE_WORDS * n_lobed);
    return bytes / 4 <= UINT32_MAX && (device_bytes == 0 || bytes <= device_bytes / 2) ? bytes : 0;
}

/* Largest number of points and spare slots of a run, unless one streamline has more. */
static uint64_t most_slots(uint64_t device_bytes)
{
    const uint64_t limit = device_bytes / 2 / SLOT_BYTES;
    return limit > 0 && limit < GLS_MAPPER_POINTS ? limit : GLS_MAPPER_POINTS;
}

uint64_t gls_mapper_sums_memory(uint64_t n_voxels, uint64_t n_lobed, uint64_t n_fixels, uint64_t device_bytes)
{
    const uint64_t lobes = lobes_bytes(n_voxels, n_lobed, device_bytes),
                   points = POINT_BYTES * most_slots(device_bytes);
    return lobes > 0 ? lobes + SUM_BYTES * n_fixels + points + points / 8 : 0;
}

/* Uploads the sphere, the fixels of all voxels and the tables of lobes. */
static gls_status fill_lobes(gls_mapper *m)
{
    const gls_fixels *f = m->source.fixels;
    const size_t n = gls_grid_voxels(&f->grid), bytes = lobes_bytes(n, f->n_voxels, m->source.device_bytes);
    uint32_t *word = bytes > 0 ? calloc(1, bytes) : NULL;
    if (!word) return gls_fail(GLS_ERR_DEVICE_MEMORY, "no memory for the lobes of %zu voxels", f->n_voxels);
    size_t next = VOXELS_AT + 3 * n;
    store_sphere(word);
    for (size_t v = 0; v < n; v++) {
        const gls_fixel_voxel *voxel = &f->voxel[v];
        uint32_t *to = word + VOXELS_AT + 3 * v;
        to[0] = voxel->first;
        to[1] = voxel->count > 0 ? (uint32_t)next : NOTHING;
        store_float(&to[2], m->source.mask ? m->source.mask[v] : 1);
        if (voxel->count == 0) continue;
        memcpy(word + next, f->table[v / GLS_FIXEL_BLOCK] + (size_t)voxel->table * GLS_LOBE_TABLE, GLS_LOBE_TABLE);
        next += TABLE_WORDS;
    }
    gls_status status = gls_buffer_create(m->source.device, GLS_BUFFER_STORAGE, bytes, "lobes", &m->lobes);
    if (!status) status = gls_buffer_write(m->lobes, 0, 4 * next, word);
    free(word);
    return status;
}

/* Bytes of the totals of all fixels; of sums alone also of the number of streamlines. */
static size_t totals_bytes(const gls_mapper *m)
{
    const size_t n = m->source.fixels->n;
    return m->source.sums_alone ? SUM_BYTES * n + sizeof(uint32_t) : TOTAL_BYTES * n;
}

/* Loads the kernels, and makes the totals of all fixels, set to 0. */
static gls_status create_totals(gls_mapper *m)
{
    gls_device *device = m->source.device;
    const bool sums = m->source.sums_alone;
    gls_status status =
        gls_kernel_load(device, sums ? "weights/lengths.comp" : "weights/map.comp", NULL, 0, &m->kernel);
    if (!status && !sums) status = gls_kernel_load(device, "weights/totals.comp", NULL, 0, &m->adder);
    if (!status) status = gls_buffer_create(device, GLS_BUFFER_STORAGE, totals_bytes(m), "totals", &m->totals);
    return status ? status : gls_buffer_clear(m->totals);
}

bool gls_mapper_suits(const gls_device_info *info)
{
    return gls_device_has_doubles(info) && !info->software;
}

gls_status gls_mapper_create(const gls_mapper_source *source, gls_mapper **mapper)
{
    gls_mapper *m = calloc(1, sizeof *m);
    if (!m) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    const gls_walk_block *block = &source->grid->block;
    m->source = *source;
    gls_status status = GLS_OK;
    if (gls_device_get_info(source->device)->gles)
        status = gls_fail(GLS_ERR_UNSUPPORTED, "OpenGL ES has no double precision");
    if (!status)
        status = gls_buffer_create(source->device, GLS_BUFFER_UNIFORM, sizeof *block, "grid of the walk", &m->grid);
    if (!status) status = gls_buffer_write(m->grid, 0, sizeof *block, block);
    if (!status) status = fill_lobes(m);
    if (!status) status = create_totals(m);
    if (status)
        gls_mapper_destroy(m);
    else
        *mapper = m;
    return status;
}

void gls_mapper_destroy(gls_mapper *m)
{
    if (!m) return;
    gls_buffer *buffers[] = {m->totals,        m->grid,          m->lobes,       m->starts.buffer,
                             m->points.buffer, m->visits.buffer, m->rows.buffer, m->entries.buffer};
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) gls_buffer_destroy(buffers[k]);
    gls_kernel_destroy(m->kernel);
    gls_kernel_destroy(m->adder);
    for (int k = 0; k < 2; k++) {
        free(m->answer[k].row);
        free(m->answer[k].entry);
    }
    free(m->start);
    free(m);
}

/* Number of streamlines, n at most, for one run: as many as have at most GLS_MAPPER_POINTS points and spare slots
 * together, or fewer if device_bytes is small, but at least one of any length. *points: number of their points. */
static size_t count_run(const gls_mapper *m, const gls_streamlines *s, size_t first, size_t n, size_t *points)
{
    const uint64_t most = most_slots(m->source.device_bytes);
    size_t k = 0;
    while (k < n && (k == 0 || s->offset[first + k + 1] - s->offset[first] + SPARE * (k + 1) <= most)) k++;
    *points = (size_t)(s->offset[first + k] - s->offset[first]);
    return k;
}

/* Uploads n streamlines, from index `first` of the block on, which have `points` points in all. */
static gls_status send(gls_mapper *m, const gls_streamlines *s, size_t first, size_t n, size_t points)
{
    const size_t bytes = 4 * (n + 1);
    if (points > UINT32_MAX / 4)
        return gls_fail(GLS_ERR_DEVICE_MEMORY, "%zu points of a streamline do not fit a buffer of the device", points);
    gls_status status = reserve(&m->start, &m->start_capacity, n + 1, sizeof *m->start);
    if (status) return status;
    for (size_t i = 0; i <= n; i++) m->start[i] = (uint32_t)(s->offset[first + i] - s->offset[first]);
    status = grow(m, "starts of streamlines", bytes, &m->starts);
    if (!status) status = grow(m, "points of streamlines", POINT_BYTES * (points > 0 ? points : 1), &m->points);
    if (!status) status = gls_buffer_write(m->starts.buffer, 0, bytes, m->start);
    return status || points == 0
               ? status
               : gls_buffer_write(m->points.buffer, 0, POINT_BYTES * points, s->point[s->offset[first]]);
}

/* Allocates memory on the device for `visits` visits and as many entries. */
static gls_status reserve_visits(gls_mapper *m, size_t visits)
{
    if (visits <= m->n_visits) return GLS_OK;
    m->n_visits = 0;
    if (visits > UINT32_MAX / 4)
        return gls_fail(GLS_ERR_DEVICE_MEMORY,
                        "%zu visited voxels do not fit a buffer of the device: give --device cpu", visits);
    gls_status status = grow(m, "visits", VISIT_BYTES * visits, &m->visits);
    if (!status) status = grow(m, "entries of streamlines", 4 * visits, &m->entries);
    if (!status) m->n_visits = visits;
    return status;
}

/* Arranges the work groups for n items in rows, because one axis may have only 65535 of them. */
static void grid_of(size_t n, uint32_t grid[3])
{
    const uint32_t groups = (uint32_t)((n + GROUP - 1) / GROUP);
    grid[0] = groups < MAX_GROUPS_X ? groups : MAX_GROUPS_X;
    grid[1] = (groups + MAX_GROUPS_X - 1) / MAX_GROUPS_X;
    grid[2] = 1;
}

/* Starts the kernel on the streamlines that send() has uploaded, and does not wait for it. */
static gls_status run(const gls_mapper *m)
{
    const bool sums = m->source.sums_alone;
    const uint32_t zeros[2] = {0, 0};
    uint32_t grid[3];
    grid_of(m->n, grid);
    /* the kernel of sums alone has none of the last two */
    const gls_arg args[] = {
        gls_arg_uniforms(0, m->grid),
        gls_arg_buffer(0, m->points.buffer),
        gls_arg_buffer(1, m->lobes),
        gls_arg_buffer(2, sums ? m->totals : m->visits.buffer),
        gls_arg_buffer(5, m->starts.buffer),
        gls_arg_uint(0, (uint32_t)m->n),
        gls_arg_uint(1, (uint32_t)(sums ? m->source.fixels->n : m->n_visits)),
        gls_arg_buffer(3, m->rows.buffer),
        gls_arg_buffer(4, m->entries.buffer),
    };
    const size_t n_args = sizeof args / sizeof *args - (sums ? 2 : 0);
    gls_status status = sums ? GLS_OK : gls_buffer_write(m->rows.buffer, 0, sizeof zeros, zeros);
    if (!status) status = gls_kernel_run(m->kernel, grid, args, n_args, NULL);
    if (!status) gls_device_flush(m->source.device);
    return status;
}

gls_status gls_mapper_start(gls_mapper *m, const gls_streamlines *s, size_t first, size_t *n)
{
    size_t points;
    m->n = *n = count_run(m, s, first, *n, &points);
    m->which ^= 1;
    gls_status status = send(m, s, first, *n, points);
    m->n_slots = points + SPARE * *n;
    if (!status) status = grow(m, "mapped streamlines", ROW_HEADER + *n * sizeof(gls_mapped), &m->rows);
    if (!status) status = reserve_visits(m, m->n_slots);
    return status ? status : run(m);
}

/* Reads what the run wrote for each streamline. counts[0]: number of visits of streamlines with more visits than slots;
 * the buffer may lack space for these visits; counts[1]: number of entries. */
static gls_status read_rows(gls_mapper *m, answer *a, uint32_t counts[2])
{
    const size_t bytes = ROW_HEADER + m->n * sizeof(gls_mapped);
    gls_status status = reserve(&a->row, &a->row_capacity, bytes, 1);
    if (!status) status = gls_buffer_read(m->rows.buffer, 0, bytes, a->row);
    if (!status) memcpy(counts, a->row, 2 * sizeof *counts);
    return status;
}

/* Adds the n entries of the last run to the totals of their fixels. */
static gls_status add_totals(const gls_mapper *m, uint32_t n)
{
    const gls_arg args[] = {gls_arg_buffer(0, m->entries.buffer), gls_arg_buffer(1, m->totals), gls_arg_uint(0, n)};
    uint32_t grid[3];
    grid_of(n, grid);
    return n > 0 ? gls_kernel_run(m->adder, grid, args, sizeof args / sizeof *args, NULL) : GLS_OK;
}

gls_status gls_mapper_finish(gls_mapper *m, gls_mapper_result *result)
{
    answer *a = &m->answer[m->which];
    /* if some visits did not fit: allocate memory for as many visits as the kernel counted, and run the kernel again */
    uint32_t counts[2] = {0, 0};
    gls_status status = read_rows(m, a, counts);
    while (!status && m->n_slots + counts[0] > m->n_visits) {
        status = reserve_visits(m, m->n_slots + counts[0]);
        if (!status) status = run(m);
        if (!status) status = read_rows(m, a, counts);
    }
    if (!status) status = reserve(&a->entry, &a->entry_capacity, (size_t)counts[1] + 1, sizeof *a->entry);
    if (!status) status = gls_buffer_read(m->entries.buffer, 0, 4 * (size_t)counts[1], a->entry);
    if (!status) status = add_totals(m, counts[1]);
    if (status) return status;
    *result = (gls_mapper_result){m->n, (const gls_mapped *)(const void *)(a->row + ROW_HEADER), &a->entry};
    return GLS_OK;
}

gls_status gls_mapper_add_totals(const gls_mapper *m, uint64_t *length, uint32_t *count)
{
    const size_t n = m->source.fixels->n;
    uint32_t(*total)[3] = malloc(n * sizeof *total);
    gls_status status = total ? gls_buffer_read(m->totals, 0, n * sizeof *total, total)
                              : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels", n);
    for (size_t k = 0; k < n && !status; k++) {
        length[k] += (uint64_t)total[k][1] << 32 | total[k][0];
        count[k] += total[k][2];
    }
    free(total);
    return status;
}

/* --- Sums alone. */

gls_status gls_mapper_add(gls_mapper *m, const gls_streamlines *s, size_t *done)
{
    gls_status status = GLS_OK;
    gls_device_hold(m->source.device);
    for (*done = 0; *done < s->n && !status; *done += status ? 0 : m->n) {
        size_t points;
        m->n = count_run(m, s, *done, s->n - *done, &points);
        status = send(m, s, *done, m->n, points);
        if (!status) status = run(m);
    }
    gls_device_release(m->source.device);
    return status;
}

gls_status gls_mapper_read_sums(const gls_mapper *m, uint64_t *length, uint32_t *met)
{
    const size_t n = m->source.fixels->n;
    /* the two words of a sum, the lower one first, are a number of 64 bits */
    const gls_status status = gls_buffer_read(m->totals, 0, SUM_BYTES * n, length);
    return status ? status : gls_buffer_read(m->totals, SUM_BYTES * n, sizeof *met, met);
}
