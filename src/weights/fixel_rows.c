/* Maps streamlines to fixels on the CPU, and stores the sparse matrix of lengths in chunks. */
#include "weights/fixel_rows.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/status.h"
#include "util/threads.h"
#include "weights/voxel_walk.h"

#define GROUP 32 /* streamlines that a thread takes at a time */
/* Largest number of streamlines of a chunk; the starts of that many rows take 16 MB. */
#define MAX_CHUNK_STREAMLINES ((size_t)1 << 22)

/* Length of a streamline in one voxel along one direction. */
typedef struct portion {
    uint64_t key; /* voxel << 11 | direction */
    /* position among the visits, so that equal keys keep the order of the walk */
    uint32_t order;
    /* mm */
    double length;
} portion;

/* Work space and results of a thread. */
typedef struct row_thread {
    /* visits of the current streamline */
    gls_walk walk;
    /* lengths of the current streamline in each voxel along each direction */
    portion *portion;
    size_t portion_capacity;
    /* entries of this thread's streamlines, one after the other */
    uint32_t *entry;
    uint8_t *high_bits; /* for each entry, the bits of the fixel's index that do not fit its word; used if entries are
                           wide */
    size_t n, capacity, high_capacity;
    uint64_t n_without_points, n_outside; /* counts of the current call */
    size_t bad;             /* index of the first streamline whose points cannot be mapped; SIZE_MAX: none */
    double low[3], high[3]; /* bounding box of all points, mm */
    /* memory ran out */
    bool failed;
} row_thread;

/* Computes the unit of length in float32, as MRtrix3 does, so that lengths are rounded as in MRtrix3. */
double gls_rows_unit(const gls_rows *rows)
{
    const double *s = rows->fixels->grid.voxel_size;
    float diagonal = (float)sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    return (double)(diagonal / (float)GLS_ROW_MAX_LENGTH);
}

gls_status gls_rows_init(gls_rows *rows, const gls_fixels *fixels, const float *mask, size_t chunk_entries)
{
    *rows = (gls_rows){.fixels = fixels, .mask = mask, .chunk_entries = chunk_entries};
    for (int a = 0; a < 3; a++) {
        rows->low[a] = INFINITY;
        rows->high[a] = -INFINITY;
    }
    rows->n_threads = omp_get_max_threads();
    rows->thread = calloc((size_t)rows->n_threads, sizeof *rows->thread);
    for (int i = 0; i < rows->n_threads && rows->thread; i++)
        for (int a = 0; a < 3; a++) {
            rows->thread[i].low[a] = INFINITY;
            rows->thread[i].high[a] = -INFINITY;
        }
    gls_rows_set_walk(rows, 1, false);
    gls_rows_set_width(rows, GLS_ROW_FIXEL_BITS);
    return rows->thread ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
}

void gls_rows_set_width(gls_rows *rows, unsigned low_bits)
{
    rows->low_bits = low_bits;
    rows->wide = rows->fixels->n > (size_t)1 << low_bits;
}

void gls_rows_set_walk(gls_rows *rows, uint32_t ratio, bool straight)
{
    gls_walk_grid_init(&rows->grid, &rows->fixels->grid, ratio, straight, gls_rows_unit(rows));
}

void gls_rows_finish(gls_rows *rows)
{
    for (int i = 0; i < rows->n_threads && rows->thread; i++) {
        gls_walk_finish(&rows->thread[i].walk);
        free(rows->thread[i].portion);
        free(rows->thread[i].entry);
        free(rows->thread[i].high_bits);
    }
    for (size_t i = 0; i < rows->n_chunks; i++) {
        free(rows->chunk[i].start);
        free(rows->chunk[i].entry);
        free(rows->chunk[i].high);
    }
    free(rows->thread);
    free(rows->chunk);
    free(rows->contribution);
    free(rows->length);
    free(rows->count);
    *rows = (gls_rows){0};
}

/* Comparison for qsort(): portions by key, then by position. */
static int compare_portions(const void *a, const void *b)
{
    const portion *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Sorts by key; equal keys keep their order. Insertion sort is faster for the few portions of most streamlines. */
static void sort_portions(portion *p, size_t n)
{
    if (n > 64) {
        qsort(p, n, sizeof *p, compare_portions);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        portion x = p[i];
        size_t k = i;
        for (; k > 0 && p[k - 1].key > x.key; k--) p[k] = p[k - 1];
        p[k] = x;
    }
}

/* Sums the visits of the walk by voxel and direction, in ascending order. Returns the number of portions. */
static size_t join_visits(row_thread *t)
{
    const size_t n = t->walk.n;
    size_t kept = 0;
    if (n > t->portion_capacity) {
        portion *p = realloc(t->portion, 2 * n * sizeof *p);
        t->failed |= !p;
        if (!p) return 0;
        t->portion = p;
        t->portion_capacity = 2 * n;
    }
    for (size_t i = 0; i < n; i++) {
        const gls_visit *v = &t->walk.visit[i];
        t->portion[i] = (portion){(uint64_t)v->voxel << 11 | v->direction, (uint32_t)i, v->length};
    }
    sort_portions(t->portion, n);
    /* adjacent portions of one key become one; their lengths are added in the order of the walk, as the kernel does */
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && t->portion[kept - 1].key == t->portion[i].key)
            t->portion[kept - 1].length += t->portion[i].length;
        else
            t->portion[kept++] = t->portion[i];
    }
    return kept;
}

/* Adds a length to the entry of its fixel among the entries from `first` on, which belong to the same voxel. Starts an
 * entry if the fixel has none whose sum would stay within GLS_ROW_MAX_LENGTH. */
static void add_entry(const gls_rows *rows, row_thread *t, size_t first, uint32_t fixel, uint32_t length)
{
    const uint32_t low = rows->wide ? fixel & ((UINT32_C(1) << rows->low_bits) - 1) : fixel;
    const uint8_t high = (uint8_t)(rows->wide ? fixel >> rows->low_bits : 0);
    for (size_t k = first; k < t->n; k++)
        if (t->entry[k] >> GLS_ROW_LENGTH_BITS == low && (!rows->wide || t->high_bits[k] == high) &&
            (t->entry[k] & GLS_ROW_MAX_LENGTH) + length <= GLS_ROW_MAX_LENGTH) {
            t->entry[k] += length;
            return;
        }
    if (!gls_list_reserve(&t->entry, t->n, &t->capacity, 65536, sizeof *t->entry) ||
        (rows->wide && !gls_list_reserve(&t->high_bits, t->n, &t->high_capacity, 65536, 1))) {
        t->failed = true;
        return;
    }
    if (rows->wide) t->high_bits[t->n] = high;
    t->entry[t->n++] = low << GLS_ROW_LENGTH_BITS | length;
}

/* Makes a streamline's row of the model, its length in each fixel, from the visits in t->walk, and appends the row to
 * the thread's entries. Returns the streamline's gls_rows.contribution, mm. */
static float make_row(const gls_rows *rows, row_thread *t)
{
    const double per_mm = rows->grid.block.unit[0], least = rows->grid.block.unit[1];
    const size_t n = join_visits(t);
    size_t first = t->n;
    double contribution = 0;
    /* first: the first entry of the voxel; portions of a voxel follow each other, so all earlier entries of its fixels
     * lie from there on */
    for (size_t i = 0; i < n; i++) {
        const portion *p = &t->portion[i];
        size_t voxel = (size_t)(p->key >> 11);
        uint32_t fixel = gls_fixel_at(rows->fixels, voxel, p->key & 2047);
        if (i > 0 && t->portion[i - 1].key >> 11 != p->key >> 11) first = t->n;
        if (fixel == GLS_NO_FIXEL || !(p->length > least)) continue;
        contribution += p->length * (rows->mask ? (double)rows->mask[voxel] : 1);
        /* rounded to the nearest unit */
        double units = per_mm * p->length + 0.5;
        add_entry(rows, t, first, fixel, units < (double)GLS_ROW_MAX_LENGTH ? (uint32_t)units : GLS_ROW_MAX_LENGTH);
    }
    return (float)contribution;
}

/* The data of one call to add streamlines; all threads share them. */
typedef struct map_task {
    /* receives the rows when all threads are done */
    gls_rows *rows;
    /* the streamlines of the call */
    const gls_streamlines *s;
    float (*copy)[3]; /* not NULL: only check the points and copy them here */
    gls_row_entries *row;
    /* for each streamline the sum of its lengths in fixels, times the mask of their voxels, mm */
    float *contribution;
} map_task;

/* Whether n >= 1 points can be mapped: they are finite, and no coordinate changes by more than GLS_WALK_MAX_STEP from
 * point to point. If so, extends the bounding box of the thread. */
static bool look_at_points(row_thread *t, const float *x, size_t n)
{
    enum { LANES = 12 }; /* compare the coordinates of four points at a time */
    float low[LANES], high[LANES];
    bool bad = !isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2]);
    /* a NaN or an infinity makes the comparison false */
    for (size_t i = 3; i < 3 * n; i++) bad |= !(fabs((double)x[i] - (double)x[i - 3]) <= GLS_WALK_MAX_STEP);
    if (bad) return false;
    /* lane k holds coordinate k % 3, so that compilers use vector instructions */
    for (size_t k = 0; k < LANES; k++) low[k] = high[k] = x[k % 3];
    size_t i = 0;
    for (; i + LANES <= 3 * n; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            low[k] = x[i + k] < low[k] ? x[i + k] : low[k];
            high[k] = x[i + k] > high[k] ? x[i + k] : high[k];
        }
    for (size_t k = 0; i < 3 * n; i++, k++) {
        low[k] = x[i] < low[k] ? x[i] : low[k];
        high[k] = x[i] > high[k] ? x[i] : high[k];
    }
    for (size_t k = 0; k < LANES; k++) {
        t->low[k % 3] = fmin(t->low[k % 3], (double)low[k]);
        t->high[k % 3] = fmax(t->high[k % 3], (double)high[k]);
    }
    return true;
}

/* Maps, or only checks and copies, streamlines from .. until - 1 on one thread. */
static void map_some(void *user, int thread, size_t from, size_t until)
{
    const map_task *p = user;
    const gls_streamlines *s = p->s;
    const gls_rows *rows = p->rows;
    row_thread *t = &rows->thread[thread];
    for (size_t i = from; i < until && !t->failed && !t->walk.failed; i++) {
        size_t n = (size_t)(s->offset[i + 1] - s->offset[i]), first = t->n;
        if (n > 0 && !look_at_points(t, s->point[s->offset[i]], n)) {
            if (i < t->bad) t->bad = i;
            return;
        }
        if (p->copy) {
            if (n > 0) memcpy(p->copy[s->offset[i] - s->offset[0]], s->point[s->offset[i]], n * sizeof *p->copy);
            continue;
        }
        gls_walk_visits(&t->walk, &rows->grid, s->point + s->offset[i], n);
        p->contribution[i] = make_row(rows, t);
        t->n_without_points += n < 2;
        t->n_outside += n >= 2 && t->walk.n == 0;
        p->row[i] = (gls_row_entries){&t->entry, rows->wide ? &t->high_bits : NULL, first, (uint32_t)(t->n - first)};
    }
}

/* Fails with the reason why streamline i of the block cannot be mapped. */
static gls_status fail_bad(const gls_rows *rows, const gls_streamlines *s, size_t i)
{
    const size_t number = rows->n_taken + i;
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++)
        for (int a = 0; a < 3; a++)
            if (!isfinite(s->point[p][a]))
                return gls_fail(GLS_ERR_INPUT, "streamline %zu (counted from 0) has a point that is not finite",
                                number);
    return gls_fail(GLS_ERR_INPUT, "streamline %zu (counted from 0) has points more than %g mm apart along an axis",
                    number, GLS_WALK_MAX_STEP);
}

/* Allocates memory in a chunk for n more rows of n_entries entries in all. Returns false if memory ran out. */
static bool reserve(const gls_rows *rows, gls_chunk *c, size_t n, size_t n_entries)
{
    if (c->n + n >= c->n_capacity) {
        size_t capacity = 2 * (c->n + n) < 4096 ? 4096 : 2 * (c->n + n);
        uint32_t *start = realloc(c->start, capacity * sizeof *start);
        if (!start) return false;
        c->start = start;
        c->n_capacity = capacity;
        if (c->n == 0) start[0] = 0;
    }
    size_t wanted = c->start[c->n] + n_entries;
    if (c->entry && wanted <= c->capacity) return true;
    size_t capacity = 2 * wanted < 65536 ? 65536 : 2 * wanted;
    /* does not allocate beyond the chunk's limit if the limit is enough */
    if (capacity > rows->chunk_entries && wanted <= rows->chunk_entries) capacity = rows->chunk_entries;
    uint32_t *entry = realloc(c->entry, capacity * sizeof *entry);
    if (!entry) return false;
    c->entry = entry;
    if (rows->wide) {
        uint8_t *high = realloc(c->high, capacity);
        if (!high) return false;
        c->high = high;
    }
    c->capacity = capacity;
    return true;
}

/* Begins a chunk, and moves to it the rows of the last chunk that do not fill a group, so that sums over groups do
 * not depend on where chunks end. Returns NULL if memory ran out. */
static gls_chunk *begin_chunk(gls_rows *rows)
{
    gls_chunk *chunk = realloc(rows->chunk, (rows->n_chunks + 1) * sizeof *chunk);
    if (!chunk) return NULL;
    rows->chunk = chunk;
    gls_chunk *to = &chunk[rows->n_chunks], *from = rows->n_chunks > 0 ? to - 1 : NULL;
    const size_t whole = from ? from->n - from->n % GLS_ROW_GROUP : 0, n = from ? from->n - whole : 0;
    *to = (gls_chunk){.first = from ? from->first + whole : 0, .low_bits = rows->low_bits};
    rows->n_chunks++;
    if (n == 0) return to;
    const size_t first = from->start[whole], n_entries = from->start[from->n] - first;
    if (!reserve(rows, to, n, n_entries)) return NULL;
    if (n_entries > 0) memcpy(to->entry, from->entry + first, n_entries * sizeof *to->entry);
    if (n_entries > 0 && to->high) memcpy(to->high, from->high + first, n_entries);
    for (size_t s = 0; s <= n; s++) to->start[s] = from->start[whole + s] - (uint32_t)first;
    to->n = n;
    from->n = whole;
    return to;
}

/* Whether a chunk of n rows is too full for a further row, with which it would have n_entries entries. */
static bool is_full(const gls_rows *rows, size_t n, size_t n_entries)
{
    return n == MAX_CHUNK_STREAMLINES || (n >= GLS_ROW_GROUP && n_entries > rows->chunk_entries);
}

/* The chunk to which a row of n entries goes, the last one or a new one, with space for the row; NULL: memory ran out.
 */
static gls_chunk *open_chunk(gls_rows *rows, size_t n)
{
    gls_chunk *c = rows->n_chunks > 0 ? &rows->chunk[rows->n_chunks - 1] : NULL;
    if (!c || is_full(rows, c->n, c->n > 0 ? c->start[c->n] + n : n)) c = begin_chunk(rows);
    return c && reserve(rows, c, 1, n) ? c : NULL;
}

/* Rows that go to one chunk. */
typedef struct row_copy {
    const gls_row_entries *row;
    const gls_chunk *to;
    size_t first; /* index in the chunk of the first of these rows */
} row_copy;

/* Copies the entries of streamlines from .. until - 1 from the threads that made them to the chunk; called by
 * gls_parallel(). */
static void copy_rows(void *user, int thread, size_t from, size_t until)
{
    const row_copy *k = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        const gls_row_entries *p = &k->row[i];
        const size_t at = k->to->start[k->first + i];
        if (p->n > 0) memcpy(k->to->entry + at, *p->entry + p->first, p->n * sizeof **p->entry);
        if (p->n > 0 && p->high) memcpy(k->to->high + at, *p->high + p->first, p->n);
    }
}

/* Appends as many of n rows as go to the chunk of the first row. *added: number of rows that were appended. */
static gls_status add_rows(gls_rows *rows, const gls_row_entries *row, size_t n, size_t *added)
{
    gls_chunk *c = open_chunk(rows, row[0].n);
    size_t n_entries = row[0].n, m = 1;
    /* append as many rows as the chunk takes */
    while (c && m < n && !is_full(rows, c->n + m, c->start[c->n] + n_entries + row[m].n)) n_entries += row[m++].n;
    if (!c || !reserve(rows, c, m, n_entries))
        return gls_fail(GLS_ERR_MEMORY,
                        "out of memory: lengths in fixels took %" PRIu64 " times %d bytes after %zu streamlines",
                        rows->n_entries, rows->wide ? 5 : 4, rows->n);
    row_copy copy = {row, c, c->n};
    /* find the starts of rows first, since each depends on the rows before; then threads copy the entries */
    for (size_t i = 0; i < m; i++) {
        c->start[c->n + 1] = c->start[c->n] + row[i].n;
        c->n++;
        rows->n_without_fixels += row[i].n == 0;
    }
    gls_parallel(m, 4 * GROUP, rows->n_threads, copy_rows, &copy);
    rows->n_entries += n_entries;
    *added = m;
    return GLS_OK;
}

gls_status gls_rows_collect(gls_rows *rows, const gls_row_entries *row, const float *contribution, size_t n)
{
    if (rows->n + n > rows->n_capacity) {
        size_t capacity = 2 * (rows->n + n);
        float *to = realloc(rows->contribution, capacity * sizeof *to);
        if (!to) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", rows->n + n);
        rows->contribution = to;
        rows->n_capacity = capacity;
    }
    gls_status status = GLS_OK;
    for (size_t i = 0, added = 0; i < n && !status; i += added) {
        status = add_rows(rows, &row[i], n - i, &added);
        if (status) break;
        memcpy(rows->contribution + rows->n, contribution + i, added * sizeof *contribution);
        rows->n += added;
    }
    return status;
}

/* Collects counts, bounding boxes and failures of the threads. */
static gls_status end_threads(const map_task *p)
{
    gls_rows *rows = p->rows;
    gls_status status = GLS_OK;
    size_t bad = SIZE_MAX;
    for (int i = 0; i < rows->n_threads; i++) {
        row_thread *t = &rows->thread[i];
        if (t->failed || t->walk.failed) status = gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
        if (t->bad < bad) bad = t->bad;
        if (!p->copy) { /* copied streamlines are counted when they are mapped */
            rows->n_without_points += t->n_without_points;
            rows->n_outside += t->n_outside;
        }
        for (int a = 0; a < 3; a++) {
            rows->low[a] = fmin(rows->low[a], t->low[a]);
            rows->high[a] = fmax(rows->high[a], t->high[a]);
        }
    }
    return !status && bad < SIZE_MAX ? fail_bad(rows, p->s, bad) : status;
}

/* Maps a block of streamlines on all threads. */
static gls_status run_threads(map_task *p)
{
    gls_rows *rows = p->rows;
    for (int i = 0; i < rows->n_threads; i++) {
        row_thread *t = &rows->thread[i];
        t->n = 0;
        t->n_without_points = t->n_outside = 0;
        t->bad = SIZE_MAX;
    }
    gls_parallel(p->s->n, GROUP, rows->n_threads, map_some, p);
    return end_threads(p);
}

gls_status gls_rows_copy(gls_rows *rows, const gls_streamlines *s, float (*to)[3])
{
    map_task p = {.rows = rows, .s = s, .copy = to};
    gls_status status = run_threads(&p);
    rows->n_taken += status ? 0 : s->n;
    return status;
}

gls_status gls_rows_map(gls_rows *rows, const gls_streamlines *s)
{
    map_task p = {rows, s, NULL, malloc((s->n + 1) * sizeof *p.row), malloc((s->n + 1) * sizeof *p.contribution)};
    gls_status status = GLS_OK;
    if (!p.row || !p.contribution) status = gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    if (!status) status = run_threads(&p);
    if (!status) status = gls_rows_collect(rows, p.row, p.contribution, s->n);
    free(p.row);
    free(p.contribution);
    return status;
}

gls_status gls_rows_append(gls_rows *rows, const gls_streamlines *s)
{
    gls_status status = s->n > 0 ? gls_rows_map(rows, s) : GLS_OK;
    rows->n_taken += status ? 0 : s->n;
    return status;
}
