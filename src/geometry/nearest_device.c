/* Distances of nearest points on a device. Each takes the distances of all pairs of points, which is too much for the
 * host where there are millions of streamlines. The kernel, glsl/geometry/nearest.comp, only chooses: it leaves out
 * references that are too far, and the host computes the distances of the others in double, so that devices have no
 * effect on the results.
 *
 * Why no neighbour is left out: let u = 2^-24. GLSL rounds sums, differences and products correctly, each result within
 * a factor 1 +- u, or leaves out the rounding in between, and sqrt(), as the inverse of inversesqrt(), is within 5
 * units in the last place, 10 u. Coordinates come as the host has them, so that a difference is within 1 +- u, and all
 * that follows adds up numbers that are not negative. A squared distance, of two roundings before the product, one of
 * it, and two of the sums, is within 1 +- 5 u; so is the least of several, because each is. Its root is within 1 +- 13
 * u, a sum of 256 of these within 1 +- 268 u, and after the division, of 2.5 units in the last place, the mean is
 * within 1 +- 274 u. That is less than 2^-15 = 512 u, GLS_NEAREST_ERROR. The gap between two boxes is at most each
 * distance of points. Squares that are too small for a float become 0, which leaves out nothing.
 *
 * Where the device has double precision in hardware, and all within a radius are sought, the kernel computes distances
 * in double, too. From the host's, which are sums in another order, they differ by less than 2^-31 of their value and
 * 1e-15 mm, even if each operation of the device were off by 2^-40, where 2^-52 is right: of 256 points 2^-32. Where
 * all doubles that are so near round to the same float, on the same side of the radius, this is the host's result; the
 * host computes the others, one in a hundred. */
#include "geometry/nearest_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/buffer.h"
#include "gpu/fetch.h"
#include "gpu/query.h"
#include "util/allocation.h"
#include "util/status.h"

#define GROUP 64u                       /* size of a work group, which takes one streamline */
#define MAX_PAIRS ((size_t)1 << 26)     /* pairs of a dispatch, so that none takes long */
#define MAX_ROUNDS 60000u               /* of the loops of an invocation on llvmpipe, which ends them after 65535 */
#define FIRST_ENTRIES ((size_t)1 << 20) /* entries for which there is room at first */
#define MAX_ENTRIES ((size_t)1 << 25)   /* and at most */
#define RUNS_AT 4u                      /* words before the runs */
#define RUN_WORDS 3u                    /* words of each */
#define NO_LIMIT 1e18                   /* mm, above all distances within GLS_NEAREST_EXTENT */

/* References that lie in one buffer. */
typedef struct part {
    gls_buffer *stored;
    size_t first, n;
} part;

struct gls_nearest_device {
    gls_device *device;
    gls_kernel *kernel;
    part *part;
    size_t n_parts, points;
    double radius;                  /* 0: lists are not final */
    size_t most_references;         /* of a dispatch */
    size_t most_entries, n_entries; /* entries at most; those for which there is room */
    gls_buffer *queries, *runs, *found;
    float *query;              /* what goes to the device */
    size_t most_lines, n_sent; /* streamlines of a search at most; those of the search that was begun last */
};

static size_t least(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* --- Building. */

/* References for which the loops of an invocation have rounds enough: each of them is compared once in GROUP. 0: the
 * points are too many. */
static size_t references_of_dispatch(const gls_device_info *info, size_t points, bool final)
{
    const size_t rounds = 8 + 2 * points * (points / 8 + 2) + (final ? 4 * points * (points + 1) : 0);
    const size_t turns = MAX_ROUNDS / rounds;
    if (!info->software) return MAX_PAIRS;
    return turns > 1 ? (turns - 1) * GROUP : 0;
}

/* Values that are stored for a reference: its points and its box. */
static size_t row_of(const gls_nearest_device *d)
{
    return 3 * d->points + 6;
}

/* Uploads the references of a part. */
static gls_status fill_part(const gls_nearest_device *d, part *p, const gls_cells *c, float *const low[3],
                            float *const high[3])
{
    const size_t row = row_of(d), n = p->n;
    float *value = malloc(row * n * sizeof *value);
    if (!value) return gls_no_memory();
    for (size_t i = 0; i < n; i++) {
        const float *point = c->point + (p->first + i) * 3 * c->pad;
        for (size_t k = 0; k < 3; k++) {
            for (size_t at = 0; at < d->points; at++) value[(3 * at + k) * n + i] = point[k * c->pad + at];
            value[(3 * d->points + k) * n + i] = low[k][p->first + i];
            value[(3 * d->points + 3 + k) * n + i] = high[k][p->first + i];
        }
    }
    const gls_status status =
        gls_storage_create(d->device, "points of references", row * n * sizeof *value, value, &p->stored);
    free(value);
    return status;
}

/* Divides the references into parts that fit buffers, and uploads them. */
static gls_status fill(gls_nearest_device *d, const gls_cells *c, float *const low[3], float *const high[3])
{
    const size_t of_part = least(gls_device_get_info(d->device)->max_storage_bytes / (row_of(d) * sizeof(float)), c->n);
    gls_status status = GLS_OK;
    if (c->n == 0) return GLS_OK;
    if (of_part == 0) return gls_fail(GLS_ERR_DEVICE_MEMORY, "a buffer of the device holds no streamline");
    d->part = calloc((c->n + of_part - 1) / of_part, sizeof *d->part);
    if (!d->part) return gls_no_memory();
    for (size_t first = 0; first < c->n && !status; first += of_part) {
        part *p = &d->part[d->n_parts++];
        p->first = first;
        p->n = c->n - first < of_part ? c->n - first : of_part;
        status = fill_part(d, p, c, low, high);
    }
    return status;
}

/* Makes room for entries. Each streamline has a run in each dispatch, and each run but the last has GROUP entries. */
static gls_status reserve(gls_nearest_device *d, size_t n)
{
    if (n <= d->n_entries) return GLS_OK;
    size_t dispatches = 0;
    for (size_t k = 0; k < d->n_parts; k++)
        dispatches += 1 + d->part[k].n / least(MAX_PAIRS / GLS_NEAREST_LINES, d->most_references);
    gls_buffer_destroy(d->runs);
    gls_buffer_destroy(d->found);
    d->runs = d->found = NULL;
    d->n_entries = 0;
    const size_t n_runs = GLS_NEAREST_LINES * dispatches + n / GROUP;
    gls_status status = gls_storage_create(d->device, "runs of neighbours",
                                           (RUNS_AT + n_runs * RUN_WORDS) * sizeof(uint32_t), NULL, &d->runs);
    if (!status) status = gls_storage_create(d->device, "neighbours", n * sizeof(gls_nearest_entry), NULL, &d->found);
    if (!status) d->n_entries = n;
    return status;
}

gls_status gls_nearest_device_create(gls_device *device, const gls_cells *cells, float *const low[3],
                                     float *const high[3], bool largest, double radius, gls_nearest_device **made)
{
    const gls_device_info *info = gls_device_get_info(device);
    const bool final = radius > 0 && radius < NO_LIMIT && gls_device_has_doubles(info) &&
                       references_of_dispatch(info, cells->points, true) > 0;
    char group[12], points[12];
    gls_define defines[4] = {{"GROUP_SIZE", group, false, NULL}, {"POINTS", points, false, NULL}};
    size_t n_defines = 2;
    if (largest) defines[n_defines++] = (gls_define){"LARGEST", "", false, NULL};
    if (final) defines[n_defines++] = (gls_define){"FINAL", "", false, NULL};
    gls_nearest_device *d = calloc(1, sizeof *d);
    if (!d) return gls_no_memory();
    snprintf(group, sizeof group, "%u", GROUP);
    snprintf(points, sizeof points, "%zu", cells->points);
    d->device = device;
    d->points = cells->points;
    d->radius = final ? radius : 0;
    d->most_references = references_of_dispatch(info, d->points, final);
    d->most_entries = least(info->max_storage_bytes / sizeof(gls_nearest_entry), MAX_ENTRIES);
    /* the kernel counts entries in 32 bits */
    const size_t query_bytes = (3 * d->points + 1) * sizeof *d->query;
    d->most_lines = least(least(info->max_storage_bytes / query_bytes, UINT32_MAX / (cells->n + 1)), GLS_NEAREST_LINES);
    if (d->most_lines == 0) d->most_lines = 1;
    d->query = malloc(d->most_lines * query_bytes);
    gls_status status = d->query ? GLS_OK : gls_no_memory();
    if (!status) status = gls_kernel_load(device, "geometry/nearest.comp", defines, n_defines, &d->kernel);
    if (!status) status = fill(d, cells, low, high);
    if (!status) status = gls_storage_create(device, "streamlines", d->most_lines * query_bytes, NULL, &d->queries);
    if (!status) status = reserve(d, least(d->most_entries, FIRST_ENTRIES));
    if (status)
        gls_nearest_device_destroy(d);
    else
        *made = d;
    return status;
}

void gls_nearest_device_destroy(gls_nearest_device *d)
{
    if (!d) return;
    for (size_t k = 0; k < d->n_parts; k++) gls_buffer_destroy(d->part[k].stored);
    gls_buffer_destroy(d->queries);
    gls_buffer_destroy(d->runs);
    gls_buffer_destroy(d->found);
    gls_kernel_destroy(d->kernel);
    free(d->part);
    free(d->query);
    free(d);
}

/* --- Search. */

/* Starts the kernel for the streamlines that were sent, on all references. */
static gls_status run(const gls_nearest_device *d)
{
    static const uint32_t zeros[RUNS_AT] = {0};
    uint32_t radius[2];
    memcpy(radius, &d->radius, sizeof radius);
    const size_t step = least(MAX_PAIRS / d->n_sent, d->most_references);
    const uint32_t grid[3] = {(uint32_t)d->n_sent, 1, 1};
    gls_status status = gls_buffer_write(d->runs, 0, sizeof zeros, zeros);
    for (size_t k = 0; k < d->n_parts; k++) {
        const part *p = &d->part[k];
        for (size_t from = 0; from < p->n && !status; from += step) {
            const size_t until = p->n - from < step ? p->n : from + step;
            const gls_arg args[] = {
                gls_arg_uint(0, (uint32_t)p->n),
                gls_arg_uint(1, (uint32_t)from),
                gls_arg_uint(2, (uint32_t)until),
                gls_arg_uint(3, (uint32_t)p->first),
                gls_arg_uint(4, (uint32_t)d->n_entries),
                gls_arg_buffer(0, p->stored),
                gls_arg_buffer(1, d->queries),
                gls_arg_buffer(2, d->runs),
                gls_arg_buffer(3, d->found),
                gls_arg_uint(5, radius[0]), /* the last two of final lists alone */
                gls_arg_uint(6, radius[1]),
            };
            const size_t n_args = sizeof args / sizeof *args - (d->radius > 0 ? 0 : 2);
            status = gls_kernel_run(d->kernel, grid, args, n_args, NULL);
        }
    }
    return status;
}

gls_status gls_nearest_device_begin(gls_nearest_device *d, const float (*point)[3], const double *limit, size_t n)
{
    const size_t row = 3 * d->points + 1;
    d->n_sent = n < d->most_lines ? n : d->most_lines;
    for (size_t i = 0; i < d->n_sent; i++) {
        const double wide = limit[i] * (1 + GLS_NEAREST_ERROR);
        memcpy(d->query + i * row, point[i * d->points], (row - 1) * sizeof *d->query);
        /* a limit whose square is too small for a float would leave out what is nearer */
        d->query[i * row + row - 1] = limit[i] < 0 ? -1 : (float)fmax(fmin(wide, NO_LIMIT), 1 / NO_LIMIT);
    }
    gls_status status = gls_buffer_write(d->queries, 0, d->n_sent * row * sizeof *d->query, d->query);
    if (!status) status = run(d);
    if (!status) gls_device_flush(d->device);
    return status;
}

/* Reads what was found for n streamlines. */
static gls_status receive(gls_nearest_device *d, size_t n, const uint32_t counts[2], gls_nearest_list *list)
{
    const size_t words = RUN_WORDS * (size_t)counts[1];
    if (!gls_list_grow(&list->word, words + 1, &list->word_capacity, sizeof *list->word) ||
        !gls_list_grow(&list->run, counts[1] + 1, &list->run_capacity, sizeof *list->run) ||
        !gls_list_grow(&list->start, n + 2, &list->start_capacity, sizeof *list->start) ||
        !gls_list_grow(&list->entry, counts[0] + 1, &list->entry_capacity, sizeof *list->entry))
        return gls_no_memory();
    memset(list->start, 0, (n + 2) * sizeof *list->start);
    gls_status status = counts[1] > 0
                            ? gls_buffer_read(d->runs, RUNS_AT * sizeof(uint32_t), words * sizeof(uint32_t), list->word)
                            : GLS_OK;
    if (!status && counts[0] > 0) status = gls_buffer_read(d->found, 0, counts[0] * sizeof *list->entry, list->entry);
    /* sorts the runs: element i + 1 first counts those of streamline i - 1, then becomes the next place of streamline
     * i, and at last its end */
    for (size_t k = 0; k < counts[1] && !status; k++) list->start[list->word[RUN_WORDS * k] + 2]++;
    for (size_t i = 2; i < n + 2; i++) list->start[i] += list->start[i - 1];
    for (size_t k = 0; k < counts[1] && !status; k++) {
        const uint32_t *w = &list->word[RUN_WORDS * k];
        list->run[list->start[w[0] + 1]++] = (gls_nearest_run){w[1], w[2]};
    }
    return status;
}

/* Makes room for n entries, or lets the search have fewer streamlines. */
static gls_status widen(gls_nearest_device *d, size_t n)
{
    const size_t wanted = n + n / 4;
    if (n <= d->most_entries) return reserve(d, least(wanted, d->most_entries));
    if (d->n_sent == 1)
        return gls_fail(GLS_ERR_DEVICE_MEMORY, "the neighbours of a streamline do not fit a buffer of the device");
    d->most_lines = d->n_sent = (d->n_sent + 1) / 2;
    return GLS_OK;
}

gls_status gls_nearest_device_end(gls_nearest_device *d, size_t *n, gls_nearest_list *list)
{
    uint32_t counts[2];
    gls_status status = gls_buffer_read(d->runs, 0, sizeof counts, counts);
    while (!status && counts[0] > d->n_entries) {
        status = widen(d, counts[0]);
        if (!status) status = run(d);
        if (!status) status = gls_buffer_read(d->runs, 0, sizeof counts, counts);
    }
    *n = d->n_sent;
    list->is_final = d->radius > 0;
    return status ? status : receive(d, d->n_sent, counts, list);
}

void gls_nearest_list_finish(gls_nearest_list *list)
{
    free(list->run);
    free(list->start);
    free(list->entry);
    free(list->word);
    *list = (gls_nearest_list){.run = NULL};
}
