/* Maps streamlines to directions in voxels: cuts them at the faces of voxels, rounds the direction of each piece, and
 * adds up the pieces of a streamline that have voxel and direction in common. */
#include "weights/signal_rows.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/maths.h"
#include "util/status.h"
#include "util/text_tables.h"
#include "util/threads.h"
#include "weights/lobe_sphere.h"

#define MAX_DIRECTIONS 32767
#define MAX_STEP 1e5 /* largest distance between points, mm */
#define GRAIN 16     /* streamlines that a thread takes at a time */

/* --- Directions. */

gls_status gls_signal_directions_init(gls_signal_directions *d, const char *path)
{
    *d = (gls_signal_directions){.n = GLS_LOBE_DIRECTIONS, .direction = NULL};
    if (!path) {
        d->direction = gls_lobe_sphere_get()->direction;
        return GLS_OK;
    }
    double *value = NULL;
    size_t columns;
    gls_status status = gls_table_read(path, &value, &d->n, &columns);
    if (status) return status;
    d->owned = (double(*)[3])value;
    d->direction = (const double(*)[3])value;
    if (columns != 3)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu columns: give the three coordinates of a direction in each line",
                        path, columns);
    if (d->n > MAX_DIRECTIONS)
        return gls_fail(GLS_ERR_INPUT, "%s: has %zu directions: give at most %d", path, d->n, MAX_DIRECTIONS);
    for (size_t i = 0; i < d->n; i++) {
        double *v = d->owned[i], length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        if (!(length > 0) || !isfinite(length))
            return gls_fail(GLS_ERR_INPUT, "%s: direction %zu (counted from 0) has no length", path, i);
        for (int a = 0; a < 3; a++) v[a] /= length;
    }
    return GLS_OK;
}

uint32_t gls_signal_directions_nearest(const gls_signal_directions *d, const double v[3])
{
    if (!d->owned) return gls_lobe_sphere_nearest(gls_lobe_sphere_get(), v);
    uint32_t best = 0;
    double most = -1;
    for (size_t i = 0; i < d->n; i++) {
        const double dot = fabs(v[0] * d->direction[i][0] + v[1] * d->direction[i][1] + v[2] * d->direction[i][2]);
        if (dot > most) most = dot, best = (uint32_t)i;
    }
    return best;
}

void gls_signal_directions_finish(gls_signal_directions *d)
{
    free(d->owned);
    free(d->repeated);
    *d = (gls_signal_directions){.n = 0};
}

static gls_status repeat_directions(gls_signal_directions *d, size_t copies)
{
    d->repeated = malloc(d->n * copies * sizeof *d->repeated);
    if (!d->repeated) return gls_no_memory();
    for (size_t i = 0; i < d->n * copies; i++) memcpy(d->repeated[i], d->direction[i % d->n], sizeof *d->repeated);
    d->direction = (const double(*)[3])d->repeated;
    d->n *= copies;
    return GLS_OK;
}

/* --- Pieces of one streamline. */

/* A sum of pieces: voxel in the grid and direction, and the length in mm. */
typedef struct piece_sum {
    uint64_t key; /* voxel << 16 | direction */
    double length;
} piece_sum;

/* Work space of a thread. */
typedef struct signal_thread {
    /* entries of the rows that the thread has made, one row after the other */
    piece_sum *sum;
    size_t n, capacity, first; /* first: first entry of the row that is being made */
    double total;              /* length of the pieces of that row, mm */
    /* the passage through a voxel that is not complete yet, for GLS_SIGNAL_VISITS; length 0: none */
    struct {
        uint64_t voxel;
        double length, chord[3];
    } visit;
    size_t bad; /* first streamline of the block that cannot be mapped; SIZE_MAX: none */
    size_t n_short, n_outside, n_length;
    double low[3], high[3];
    bool failed; /* memory ran out */
} signal_thread;

/* A row while it waits to be appended. */
typedef struct signal_row {
    int thread;
    size_t first, n;
    uint64_t n_entries;
    bool meets; /* a voxel of the row has no number yet */
    double norm;
} signal_row;

/* Adds a length to the sum of this key, which a binary search finds among the sums of the row, or inserts. */
static void add_length(signal_thread *t, uint64_t key, double length)
{
    size_t low = t->first, high = t->n;
    t->total += length;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (t->sum[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < t->n && t->sum[low].key == key) {
        t->sum[low].length += length;
        return;
    }
    if (!gls_list_reserve(&t->sum, t->n, &t->capacity, 4096, sizeof *t->sum)) {
        t->failed = true;
        return;
    }
    memmove(&t->sum[low + 1], &t->sum[low], (t->n - low) * sizeof *t->sum);
    t->sum[low] = (piece_sum){key, length};
    t->n++;
}

/* The voxel of a point in the grid; false: outside the grid or the mask. */
static bool find_voxel(const gls_signal_rows *rows, const double p[3], uint64_t *voxel)
{
    const int32_t *dim = rows->grid.dim;
    for (int a = 0; a < 3; a++)
        if (!(p[a] >= 0 && p[a] < dim[a])) return false;
    *voxel = ((uint64_t)p[2] * (uint64_t)dim[1] + (uint64_t)p[1]) * (uint64_t)dim[0] + (uint64_t)p[0];
    return !rows->inside || rows->inside[*voxel];
}

/* Adds the passage that is complete, if any. */
static void end_visit(const gls_signal_rows *rows, signal_thread *t)
{
    const double *c = t->visit.chord;
    static const double along[3] = {1, 0, 0};
    if (t->visit.length > rows->limits.min_piece) {
        const bool turns = c[0] == 0 && c[1] == 0 && c[2] == 0;
        const uint32_t direction = gls_signal_directions_nearest(rows->directions, turns ? along : c);
        add_length(t, t->visit.voxel << 16 | direction, t->visit.length);
    }
    t->visit.length = 0;
}

/* Adds a piece of a segment: from share t0 to t1 of the step d (mm), in a voxel. */
static void add_to_visit(const gls_signal_rows *rows, signal_thread *t, uint64_t voxel, const double d[3], double share,
                         double length)
{
    if (t->visit.length > 0 && t->visit.voxel != voxel) end_visit(rows, t);
    if (t->visit.length == 0) memset(t->visit.chord, 0, sizeof t->visit.chord);
    t->visit.voxel = voxel;
    t->visit.length += length;
    for (int a = 0; a < 3; a++) t->visit.chord[a] += d[a] * share;
}

/* Cuts the segment from a to b, in voxels, at the faces of voxels, and adds its pieces. */
static void cut_segment(const gls_signal_rows *rows, signal_thread *t, const double a[3], const double b[3])
{
    const double *side = rows->grid.voxel_size;
    double d[3], step[3], face[3], at = 0; /* step: mm; face: next face of each axis that the segment meets */
    int64_t left[3];                       /* faces of each axis that are left */
    for (int k = 0; k < 3; k++) {
        d[k] = b[k] - a[k];
        step[k] = d[k] * side[k];
        const double low = floor(d[k] > 0 ? a[k] : b[k]), high = floor(d[k] > 0 ? b[k] : a[k]);
        left[k] = (int64_t)(high - low);
        face[k] = d[k] > 0 ? low + 1 : high;
    }
    const double length = sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
    if (!(length > 0)) return;
    const bool visits = rows->limits.walk == GLS_SIGNAL_VISITS;
    uint32_t direction = UINT32_MAX;
    while (at < 1) {
        double next = 1;
        int axis = -1;
        for (int k = 0; k < 3; k++) {
            if (left[k] == 0) continue;
            const double crossing = (face[k] - a[k]) / d[k];
            if (axis < 0 || crossing < next) next = crossing, axis = k;
        }
        if (axis >= 0) {
            left[axis]--;
            face[axis] += d[axis] > 0 ? 1 : -1;
        }
        next = next < at ? at : next < 1 ? next : 1;
        const double share = next - at, middle[3] = {a[0] + d[0] * (at + share / 2), a[1] + d[1] * (at + share / 2),
                                                     a[2] + d[2] * (at + share / 2)};
        uint64_t voxel;
        const bool enough = share * length > (visits ? 0 : rows->limits.min_piece);
        if (enough && find_voxel(rows, middle, &voxel)) {
            if (visits) {
                add_to_visit(rows, t, voxel, step, share, share * length);
            } else {
                if (direction == UINT32_MAX) direction = gls_signal_directions_nearest(rows->directions, step);
                add_length(t, voxel << 16 | direction, share * length);
            }
        } else if (visits && enough) {
            end_visit(rows, t); /* outside */
        }
        at = axis < 0 ? 1 : next;
    }
}

/* Adds each point with length 1, in the direction from the point before it to the one behind it. */
static void add_points(const gls_signal_rows *rows, signal_thread *t, const float (*point)[3], size_t n)
{
    const double *side = rows->grid.voxel_size;
    for (size_t i = 0; i < n; i++) {
        double p[3], before[3], behind[3], along[3];
        for (int a = 0; a < 3; a++) {
            p[a] = point[i][a];
            before[a] = point[i > 0 ? i - 1 : 0][a];
            behind[a] = point[i + 1 < n ? i + 1 : i][a];
        }
        gls_affine_apply(rows->to_grid, p, p);
        gls_affine_apply(rows->to_grid, before, before);
        gls_affine_apply(rows->to_grid, behind, behind);
        for (int a = 0; a < 3; a++) along[a] = (behind[a] - before[a]) * side[a];
        uint64_t voxel;
        if (along[0] == 0 && along[1] == 0 && along[2] == 0) continue;
        if (find_voxel(rows, p, &voxel))
            add_length(t, voxel << 16 | gls_signal_directions_nearest(rows->directions, along), 1);
    }
}

/* Root of the sum over voxels of the squared length of the row in the voxel. */
static double norm_of(const signal_thread *t)
{
    double sum = 0, in_voxel = 0;
    for (size_t i = t->first; i < t->n; i++) {
        in_voxel += t->sum[i].length;
        if (i + 1 < t->n && t->sum[i + 1].key >> 16 == t->sum[i].key >> 16) continue;
        sum += in_voxel * in_voxel;
        in_voxel = 0;
    }
    return sqrt(sum);
}

/* Makes the row of one streamline of n points. */
static void make_row(const gls_signal_rows *rows, signal_thread *t, const float (*point)[3], size_t n)
{
    const gls_signal_limits *limits = &rows->limits;
    t->first = t->n;
    t->total = 0;
    t->visit.length = 0;
    if (n < 2) {
        t->n_short++;
        return;
    }
    if (limits->walk == GLS_SIGNAL_POINTS) {
        add_points(rows, t, point, n);
    } else {
        double a[3] = {0}, b[3];
        for (size_t i = 0; i < n && !t->failed; i++) {
            for (int k = 0; k < 3; k++) b[k] = point[i][k];
            gls_affine_apply(rows->to_grid, b, b);
            if (i > 0) cut_segment(rows, t, a, b);
            memcpy(a, b, sizeof a);
        }
        end_visit(rows, t);
    }
    if (t->n == t->first) {
        t->n_outside++;
    } else if (!(t->total > limits->min_length && t->total < limits->max_length)) {
        t->n = t->first;
        t->n_length++;
    }
}

/* --- Blocks of streamlines. */

/* The data of one call, which all threads share. */
typedef struct signal_task {
    gls_signal_rows *rows;
    const gls_streamlines *s;
    signal_row *row;
} signal_task;

/* Whether the points are finite and not too far apart; if so, extends the bounding box of the thread. */
static bool look_at(signal_thread *t, const float (*point)[3], size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int a = 0; a < 3; a++) {
            const double x = (double)point[i][a], before = (double)point[i > 0 ? i - 1 : 0][a];
            if (!isfinite(x) || !(fabs(x - before) <= MAX_STEP)) return false;
            if (x < t->low[a]) t->low[a] = x;
            if (x > t->high[a]) t->high[a] = x;
        }
    return true;
}

/* Number of entries of 16 bits that a sum of this many units takes. */
static uint64_t entries_of(double units)
{
    return units <= GLS_SIGNAL_UNITS ? 1 : (uint64_t)ceil(units / GLS_SIGNAL_UNITS);
}

/* The row that a thread has just made. */
static signal_row describe_row(const gls_signal_rows *rows, const signal_thread *t, int thread)
{
    signal_row row = {.thread = thread, .first = t->first, .n = t->n - t->first, .norm = norm_of(t)};
    const double to_units = 1 / rows->unit;
    for (size_t i = t->first; i < t->n; i++) {
        row.n_entries += entries_of(t->sum[i].length * to_units);
        row.meets |= rows->number[t->sum[i].key >> 16] == 0;
    }
    return row;
}

/* Makes the rows of streamlines from .. until - 1; called by gls_parallel(). */
static void make_rows(void *user, int thread, size_t from, size_t until)
{
    const signal_task *task = user;
    const gls_streamlines *s = task->s;
    signal_thread *t = &task->rows->thread[thread];
    for (size_t i = from; i < until && !t->failed; i++) {
        const float(*point)[3] = s->point + s->offset[i];
        const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
        if (!look_at(t, point, n)) {
            if (i < t->bad) t->bad = i;
            return;
        }
        make_row(task->rows, t, point, n);
        task->row[i] = describe_row(task->rows, t, thread);
    }
}

gls_status gls_signal_rows_number(gls_signal_rows *rows, uint64_t voxel, uint32_t *number)
{
    if (rows->number[voxel] > 0) {
        *number = rows->number[voxel] - 1;
        return GLS_OK;
    }
    if (rows->n_voxels >= UINT32_MAX / rows->directions->n - 1)
        return gls_fail(GLS_ERR_UNSUPPORTED, "streamlines pass through more than %zu voxels: give a --mask",
                        rows->n_voxels);
    if (!gls_list_reserve(&rows->voxel, rows->n_voxels, &rows->voxel_capacity, 4096, sizeof *rows->voxel))
        return gls_fail(GLS_ERR_MEMORY, "out of memory for more than %zu voxels", rows->n_voxels);
    rows->voxel[rows->n_voxels++] = voxel;
    rows->number[voxel] = (uint32_t)rows->n_voxels;
    *number = (uint32_t)rows->n_voxels - 1;
    return GLS_OK;
}

/* Allocates memory for n more rows and n_entries more entries. */
static gls_status reserve(gls_signal_rows *rows, size_t n, uint64_t n_entries)
{
    const uint64_t entries = rows->start[rows->n] + n_entries;
    bool ok = true;
    if (rows->n + n >= rows->capacity) {
        const size_t capacity = rows->n + n + rows->n / 2 + 4096;
        ok = gls_list_resize(&rows->start, capacity, sizeof *rows->start) &&
             gls_list_resize(&rows->norm, capacity, sizeof *rows->norm);
        if (ok) rows->capacity = capacity;
    }
    if (ok && entries > rows->entry_capacity) {
        const uint64_t capacity = entries + entries / 2 + 65536;
        ok = gls_list_resize(&rows->bin, capacity, sizeof *rows->bin) &&
             gls_list_resize(&rows->length, capacity, sizeof *rows->length);
        if (ok) rows->entry_capacity = capacity;
    }
    return ok ? GLS_OK
              : gls_fail(GLS_ERR_MEMORY, "out of memory: %" PRIu64 " entries of 6 bytes after %zu streamlines", entries,
                         rows->n);
}

gls_status gls_signal_rows_repeat(gls_signal_rows *rows, gls_signal_directions *d, size_t copies)
{
    const size_t n = rows->n, n_directions = d->n;
    const uint64_t n_entries = rows->start[n];
    if (copies * n_directions > UINT16_MAX || rows->n_voxels >= UINT32_MAX / (copies * n_directions) - 1)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%zu radii, %zu directions and %zu voxels are too many: give fewer --radii, or a --mask",
                        copies, n_directions, rows->n_voxels);
    gls_status status = reserve(rows, (copies - 1) * n, (copies - 1) * n_entries);
    if (!status) status = repeat_directions(d, copies);
    if (status) return status;
    for (size_t r = copies; r-- > 0;) {
        for (uint64_t i = 0; i < n_entries; i++) {
            const uint32_t voxel = rows->bin[i] / (uint32_t)n_directions, o = rows->bin[i] % (uint32_t)n_directions;
            rows->bin[r * n_entries + i] = (uint32_t)(voxel * d->n + r * n_directions + o);
            rows->length[r * n_entries + i] = rows->length[i];
        }
        for (size_t s = 0; s < n; s++) {
            rows->norm[r * n + s] = rows->norm[s];
            rows->start[r * n + s + 1] = r * n_entries + rows->start[s + 1];
        }
    }
    rows->n = copies * n;
    return GLS_OK;
}

/* Numbers the voxels that the rows of a block meet first, in the order of streamlines, and appends rows without their
 * entries. */
static gls_status append_rows(gls_signal_rows *rows, const signal_row *row, size_t n)
{
    uint64_t n_entries = 0;
    uint32_t number;
    for (size_t k = 0; k < n; k++) n_entries += row[k].n_entries;
    gls_status status = reserve(rows, n, n_entries);
    for (size_t k = 0; k < n && !status; k++) {
        const piece_sum *sum = row[k].meets ? rows->thread[row[k].thread].sum + row[k].first : NULL;
        for (size_t i = 0; i < row[k].n && sum && !status; i++)
            status = gls_signal_rows_number(rows, sum[i].key >> 16, &number);
        rows->norm[rows->n] = row[k].norm;
        rows->n_kept += row[k].n > 0;
        rows->start[rows->n + 1] = rows->start[rows->n] + row[k].n_entries;
        rows->n++;
    }
    return status;
}

/* Stores the entries of rows from .. until - 1 of a block, which were the last to be appended; called by
 * gls_parallel(). A length that no entry holds becomes several entries. */
static void store_entries(void *user, int thread, size_t from, size_t until)
{
    const signal_task *task = user;
    gls_signal_rows *rows = task->rows;
    const double to_units = 1 / rows->unit;
    (void)thread;
    for (size_t k = from; k < until; k++) {
        const signal_row *row = &task->row[k];
        const piece_sum *sum = row->n > 0 ? rows->thread[row->thread].sum + row->first : NULL;
        uint64_t at = rows->start[rows->n - task->s->n + k];
        for (size_t i = 0; i < row->n; i++) {
            const uint32_t voxel = rows->number[sum[i].key >> 16] - 1;
            double units = sum[i].length * to_units;
            for (uint64_t left = entries_of(units); left > 0; left--, at++) {
                const double part = units / (double)left;
                rows->bin[at] = voxel * (uint32_t)rows->directions->n + (uint32_t)(sum[i].key & 0xffff);
                rows->length[at] = (uint16_t)fmin(round(part), GLS_SIGNAL_UNITS);
                units -= part;
            }
        }
    }
}

/* Collects counts, boxes and failures of the threads. */
static gls_status end_threads(gls_signal_rows *rows)
{
    size_t bad = SIZE_MAX;
    bool failed = false;
    for (int i = 0; i < rows->n_threads; i++) {
        const signal_thread *t = &rows->thread[i];
        failed |= t->failed;
        if (t->bad < bad) bad = t->bad;
        rows->n_short += t->n_short;
        rows->n_outside += t->n_outside;
        rows->n_length += t->n_length;
        for (int a = 0; a < 3; a++) {
            rows->low[a] = fmin(rows->low[a], t->low[a]);
            rows->high[a] = fmax(rows->high[a], t->high[a]);
        }
    }
    if (failed) return gls_no_memory();
    if (bad == SIZE_MAX) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "streamline %zu (counted from 0) has a point that is not finite, or points more than %g mm apart "
                    "along an axis",
                    rows->n + bad, MAX_STEP);
}

gls_status gls_signal_rows_append(gls_signal_rows *rows, const gls_streamlines *s)
{
    if (s->n == 0) return GLS_OK;
    signal_task task = {rows, s, malloc(s->n * sizeof *task.row)};
    if (!task.row) return gls_no_memory();
    for (int i = 0; i < rows->n_threads; i++) {
        signal_thread *t = &rows->thread[i];
        t->n = t->n_short = t->n_outside = t->n_length = 0;
        t->bad = SIZE_MAX;
    }
    gls_parallel(s->n, GRAIN, rows->n_threads, make_rows, &task);
    gls_status status = end_threads(rows);
    if (!status) status = append_rows(rows, task.row, s->n);
    if (!status) gls_parallel(s->n, GRAIN, rows->n_threads, store_entries, &task);
    free(task.row);
    return status;
}

gls_status gls_signal_rows_init(gls_signal_rows *rows, const gls_grid *grid, const gls_signal_directions *directions,
                                const uint8_t *inside, const gls_signal_limits *limits)
{
    const double *side = grid->voxel_size;
    *rows = (gls_signal_rows){.grid = *grid, .directions = directions, .inside = inside, .limits = *limits};
    gls_grid_inverse(grid, rows->to_grid);
    for (int a = 0; a < 3; a++) {
        rows->to_grid[a][3] += 0.5;
        rows->low[a] = INFINITY;
        rows->high[a] = -INFINITY;
    }
    rows->unit = limits->walk == GLS_SIGNAL_POINTS
                     ? 1
                     : sqrt(side[0] * side[0] + side[1] * side[1] + side[2] * side[2]) / GLS_SIGNAL_UNITS;
    rows->n_threads = omp_get_max_threads();
    rows->thread = calloc((size_t)rows->n_threads, sizeof *rows->thread);
    rows->number = calloc(gls_grid_voxels(grid), sizeof *rows->number);
    rows->start = calloc(1, sizeof *rows->start);
    if (!rows->thread || !rows->number || !rows->start) return gls_no_memory();
    for (int i = 0; i < rows->n_threads; i++)
        for (int a = 0; a < 3; a++) {
            rows->thread[i].low[a] = INFINITY;
            rows->thread[i].high[a] = -INFINITY;
        }
    return GLS_OK;
}

void gls_signal_rows_finish(gls_signal_rows *rows)
{
    for (int i = 0; i < rows->n_threads && rows->thread; i++) free(rows->thread[i].sum);
    free(rows->thread);
    free(rows->start);
    free(rows->norm);
    free(rows->bin);
    free(rows->length);
    free(rows->number);
    free(rows->voxel);
    *rows = (gls_signal_rows){.n = 0};
}
