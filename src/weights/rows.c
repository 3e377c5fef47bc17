#include "weights/rows.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/log.h"
#include "util/memory.h"
#include "util/parallel.h"
#include "util/status.h"
#include "weights/map.h"

#define GROUP 32 /* streamlines that a thread takes at once */
#define MAX_CHUNK_STREAMLINES ((size_t)1 << 22)

/* Length in one direction of one voxel. */
typedef struct portion {
    uint64_t key; /* voxel << 11 | direction */
    uint32_t order;
    float length;
} portion;

/* What a thread works with, and what it has made of the streamlines of a parcel. */
typedef struct row_thread {
    gls_walk walk;
    portion *portion;
    size_t portion_capacity;
    uint32_t *entry;
    size_t n, capacity;
    uint64_t n_without_points, n_outside; /* of a parcel */
    size_t bad;                           /* of its streamlines, the first with a point that cannot be mapped */
    double low[3], high[3];               /* of all points */
    bool failed;
} row_thread;

#define BY_DEVICE (-1)

/* Where the entries of a streamline of the parcel lie before they are put in order. */
typedef struct placed {
    int thread; /* or BY_DEVICE */
    uint32_t n;
    size_t first;
} placed;

double gls_rows_unit(const gls_rows *rows)
{
    const double *s = rows->fixels->grid.voxel_size;
    float diagonal = (float)sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2]);
    return (double)(diagonal / (float)GLS_ROW_MAX_LENGTH);
}

/* Units in a mm. */
static float units_of_mm(const gls_rows *rows)
{
    return (float)(1 / gls_rows_unit(rows));
}

/* Shorter sums make no entry. */
static float least_length(const gls_rows *rows)
{
    return 0.5f * (float)gls_rows_unit(rows);
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
    return rows->thread ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
}

void gls_rows_set_walk(gls_rows *rows, uint32_t ratio, bool straight)
{
    gls_walk_grid_init(&rows->grid, &rows->fixels->grid, ratio, straight);
}

static void release_device(gls_rows *rows)
{
    gls_mapper_destroy(rows->mapper);
    rows->mapper = NULL;
    rows->device = NULL;
}

void gls_rows_finish(gls_rows *rows)
{
    release_device(rows);
    for (int i = 0; i < rows->n_threads && rows->thread; i++) {
        gls_walk_finish(&rows->thread[i].walk);
        free(rows->thread[i].portion);
        free(rows->thread[i].entry);
    }
    for (size_t i = 0; i < rows->n_chunks; i++) {
        free(rows->chunk[i].start);
        free(rows->chunk[i].entry);
    }
    free(rows->waiting.offset);
    free(rows->waiting.point);
    free(rows->thread);
    free(rows->chunk);
    free(rows->contribution);
    *rows = (gls_rows){0};
}

static int compare_portions(const void *a, const void *b)
{
    const portion *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

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

/* Lengths by voxel and direction, in ascending order. */
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
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && t->portion[kept - 1].key == t->portion[i].key)
            t->portion[kept - 1].length += t->portion[i].length;
        else
            t->portion[kept++] = t->portion[i];
    }
    return kept;
}

/* Adds a length to the entry of its fixel among those from `first` on, of the same voxel; one that would pass the
 * largest length opens another. */
static void add_entry(row_thread *t, size_t first, uint32_t fixel, uint32_t length)
{
    for (size_t k = first; k < t->n; k++)
        if (t->entry[k] >> GLS_ROW_LENGTH_BITS == fixel &&
            (t->entry[k] & GLS_ROW_MAX_LENGTH) + length <= GLS_ROW_MAX_LENGTH) {
            t->entry[k] += length;
            return;
        }
    if (!gls_list_reserve(&t->entry, t->n, &t->capacity, 65536, sizeof *t->entry)) {
        t->failed = true;
        return;
    }
    t->entry[t->n++] = fixel << GLS_ROW_LENGTH_BITS | length;
}

/* The row of the visits in t->walk, behind the thread's other entries; returns the contribution. */
static float make_row(const gls_rows *rows, row_thread *t)
{
    const float per_mm = units_of_mm(rows), least = least_length(rows);
    const size_t n = join_visits(t);
    size_t first = t->n;
    float contribution = 0;
    for (size_t i = 0; i < n; i++) {
        const portion *p = &t->portion[i];
        size_t voxel = (size_t)(p->key >> 11);
        uint32_t fixel = gls_fixel_at(rows->fixels, voxel, p->key & 2047);
        if (i > 0 && t->portion[i - 1].key >> 11 != p->key >> 11) first = t->n;
        if (fixel == GLS_NO_FIXEL || !(p->length > least)) continue;
        contribution += p->length * (rows->mask ? rows->mask[voxel] : 1);
        float units = per_mm * p->length + 0.5f;
        add_entry(t, first, fixel, units < (float)GLS_ROW_MAX_LENGTH ? (uint32_t)units : GLS_ROW_MAX_LENGTH);
    }
    return contribution;
}

/* What the threads do with a parcel. */
typedef struct parcel {
    gls_rows *rows;
    const gls_streamlines *s;
    bool only_looks; /* at the points: the device is to map */
    placed *place;
    float *contribution;
} parcel;

/* The place of the first point of streamline i that cannot be mapped, or the end. Widens the thread's box. */
static uint64_t look_at_points(row_thread *t, const gls_streamlines *s, size_t i)
{
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++)
        for (int a = 0; a < 3; a++) {
            double x = (double)s->point[p][a];
            if (!isfinite(x)) return p;
            if (p > s->offset[i] && fabs(x - (double)s->point[p - 1][a]) > GLS_WALK_MAX_STEP) return p;
            t->low[a] = fmin(t->low[a], x);
            t->high[a] = fmax(t->high[a], x);
        }
    return s->offset[i + 1];
}

static void map_some(void *user, int thread, size_t from, size_t until)
{
    const parcel *p = user;
    const gls_streamlines *s = p->s;
    row_thread *t = &p->rows->thread[thread];
    for (size_t i = from; i < until && !t->failed && !t->walk.failed; i++) {
        size_t n = (size_t)(s->offset[i + 1] - s->offset[i]), first = t->n;
        if (look_at_points(t, s, i) < s->offset[i + 1]) {
            if (i < t->bad) t->bad = i;
            return;
        }
        if (p->only_looks) continue;
        gls_walk_visits(&t->walk, &p->rows->grid, s->point + s->offset[i], n);
        p->contribution[i] = make_row(p->rows, t);
        t->n_without_points += n < 2;
        t->n_outside += n >= 2 && t->walk.n == 0;
        p->place[i] = (placed){thread, (uint32_t)(t->n - first), first};
    }
}

static gls_status fail_bad(const gls_rows *rows, const gls_streamlines *s, size_t i)
{
    const size_t number = rows->n + rows->waiting.n + i;
    for (uint64_t p = s->offset[i]; p < s->offset[i + 1]; p++)
        for (int a = 0; a < 3; a++)
            if (!isfinite(s->point[p][a]))
                return gls_fail(GLS_ERR_INPUT, "streamline %zu has a point that is not finite", number);
    return gls_fail(GLS_ERR_INPUT, "streamline %zu has points more than %g mm apart", number, GLS_WALK_MAX_STEP);
}

/* Room for one more row of n entries. */
static bool reserve(const gls_rows *rows, gls_chunk *c, size_t n)
{
    if (c->n + 1 >= c->n_capacity) {
        size_t capacity = c->n_capacity ? 2 * c->n_capacity : 4096;
        uint32_t *start = realloc(c->start, capacity * sizeof *start);
        if (!start) return false;
        c->start = start;
        c->n_capacity = capacity;
        if (c->n == 0) start[0] = 0;
    }
    size_t wanted = c->start[c->n] + n;
    if (c->entry && wanted <= c->capacity) return true;
    size_t capacity = 2 * wanted < 65536 ? 65536 : 2 * wanted;
    if (capacity > rows->chunk_entries && wanted <= rows->chunk_entries) capacity = rows->chunk_entries;
    uint32_t *entry = realloc(c->entry, capacity * sizeof *entry);
    if (!entry) return false;
    c->entry = entry;
    c->capacity = capacity;
    return true;
}

static void add_row(gls_chunk *c, const uint32_t *entry, size_t n)
{
    if (n > 0) memcpy(c->entry + c->start[c->n], entry, n * sizeof *entry);
    c->start[c->n + 1] = c->start[c->n] + (uint32_t)n;
    c->n++;
}

/* A new chunk, which takes over the rows of the last one that make no whole group. */
static gls_chunk *begin_chunk(gls_rows *rows)
{
    gls_chunk *chunk = realloc(rows->chunk, (rows->n_chunks + 1) * sizeof *chunk);
    if (!chunk) return NULL;
    rows->chunk = chunk;
    gls_chunk *to = &chunk[rows->n_chunks], *from = rows->n_chunks > 0 ? to - 1 : NULL;
    const size_t whole = from ? from->n - from->n % GLS_ROW_GROUP : 0;
    *to = (gls_chunk){.first = from ? from->first + whole : 0};
    rows->n_chunks++;
    for (size_t s = whole; from && s < from->n; s++) {
        size_t n = from->start[s + 1] - from->start[s];
        if (!reserve(rows, to, n)) return NULL;
        add_row(to, n > 0 ? from->entry + from->start[s] : NULL, n);
    }
    if (from) from->n = whole;
    return to;
}

/* The chunk that has room for one more row of n entries. */
static gls_chunk *open_chunk(gls_rows *rows, size_t n)
{
    gls_chunk *c = rows->n_chunks > 0 ? &rows->chunk[rows->n_chunks - 1] : NULL;
    bool full = c && c->n >= GLS_ROW_GROUP && c->start[c->n] + n > rows->chunk_entries;
    if (!c || full || c->n == MAX_CHUNK_STREAMLINES) c = begin_chunk(rows);
    return c && reserve(rows, c, n) ? c : NULL;
}

static gls_status collect(gls_rows *rows, const placed *place, const float *contribution, size_t n)
{
    if (rows->n + n > rows->n_capacity) {
        size_t capacity = 2 * (rows->n + n);
        float *to = realloc(rows->contribution, capacity * sizeof *to);
        if (!to) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", rows->n + n);
        rows->contribution = to;
        rows->n_capacity = capacity;
    }
    for (size_t i = 0; i < n; i++) {
        gls_chunk *c = open_chunk(rows, place[i].n);
        if (!c)
            return gls_fail(GLS_ERR_MEMORY, "out of memory: %" PRIu64 " entries of 4 bytes after %zu streamlines",
                            rows->n_entries, rows->n);
        const uint32_t *entry =
            place[i].thread == BY_DEVICE ? gls_mapper_entries(rows->mapper) : rows->thread[place[i].thread].entry;
        add_row(c, place[i].n > 0 ? entry + place[i].first : NULL, place[i].n);
        rows->contribution[rows->n++] = contribution[i];
        rows->n_entries += place[i].n;
        rows->n_without_fixels += place[i].n == 0;
    }
    return GLS_OK;
}

/* What the threads have found. */
static gls_status end_threads(const parcel *p)
{
    gls_rows *rows = p->rows;
    gls_status status = GLS_OK;
    size_t bad = SIZE_MAX;
    for (int i = 0; i < rows->n_threads; i++) {
        row_thread *t = &rows->thread[i];
        if (t->failed || t->walk.failed) status = gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
        if (t->bad < bad) bad = t->bad;
        rows->n_without_points += t->n_without_points;
        rows->n_outside += t->n_outside;
        for (int a = 0; a < 3; a++) {
            rows->low[a] = fmin(rows->low[a], t->low[a]);
            rows->high[a] = fmax(rows->high[a], t->high[a]);
        }
    }
    return !status && bad < SIZE_MAX ? fail_bad(rows, p->s, bad) : status;
}

static gls_status run_threads(parcel *p)
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

static gls_status create_mapper(gls_rows *rows)
{
    const gls_mapper_source source = {.device = rows->device,
                                      .device_bytes = rows->device_bytes,
                                      .fixels = rows->fixels,
                                      .mask = rows->mask,
                                      .grid = &rows->grid,
                                      .per_mm = units_of_mm(rows),
                                      .least = least_length(rows)};
    return gls_mapper_create(&source, &rows->mapper);
}

/* Those that wait, one run of the device after the other; *done: streamlines that have their rows. */
static gls_status run_device(parcel *p, size_t *done)
{
    gls_rows *rows = p->rows;
    gls_mapped *mapped = malloc((p->s->n + 1) * sizeof *mapped);
    gls_status status = mapped ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    if (!status && !rows->mapper) status = create_mapper(rows);
    while (*done < p->s->n && !status) {
        size_t n = p->s->n - *done;
        status = gls_mapper_run(rows->mapper, p->s, *done, &n, mapped);
        for (size_t i = 0; i < n && !status; i++) {
            const uint64_t *offset = &p->s->offset[*done + i];
            p->place[i] = (placed){BY_DEVICE, mapped[i].n, mapped[i].first};
            p->contribution[i] = mapped[i].contribution;
            rows->n_without_points += offset[1] - offset[0] < 2;
            rows->n_outside += offset[1] - offset[0] >= 2 && mapped[i].visits == 0;
        }
        if (!status) status = collect(rows, p->place, p->contribution, n);
        *done += status ? 0 : n;
    }
    free(mapped);
    return status;
}

/* By the device, and by threads what it does not do. */
static gls_status map_parcel(gls_rows *rows, const gls_streamlines *s, bool by_device)
{
    gls_streamlines rest = {.n = s->n, .offset = s->offset, .point = s->point};
    parcel p = {rows, &rest, false, malloc((s->n + 1) * sizeof *p.place), malloc((s->n + 1) * sizeof *p.contribution)};
    gls_status status = GLS_OK;
    size_t done = 0;
    if (!p.place || !p.contribution) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
        goto fail;
    }
    if (by_device) {
        status = run_device(&p, &done);
        if (!status || status == GLS_ERR_MEMORY) goto fail;
        gls_log(GLS_LOG_INFO, "streamlines are mapped on the CPU: %s", gls_last_error());
        release_device(rows);
        rest.n -= done;
        rest.offset += done;
    }
    status = run_threads(&p);
    if (!status) status = collect(rows, p.place, p.contribution, rest.n);
fail:
    free(p.place);
    free(p.contribution);
    return status;
}

static gls_status flush(gls_rows *rows)
{
    const gls_streamlines s = {
        .n = rows->waiting.n, .offset = rows->waiting.offset, .point = (const float(*)[3])rows->waiting.point};
    rows->waiting.n = 0;
    return s.n > 0 ? map_parcel(rows, &s, true) : GLS_OK;
}

/* Behind those that wait. */
static gls_status keep(gls_rows *rows, const gls_streamlines *s)
{
    const size_t n = rows->waiting.n + s->n, before = n > s->n ? (size_t)rows->waiting.offset[rows->waiting.n] : 0,
                 points = before + (size_t)s->offset[s->n];
    if (n >= rows->waiting.capacity) {
        uint64_t *to = realloc(rows->waiting.offset, 2 * (n + 1) * sizeof *to);
        if (!to) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
        rows->waiting.offset = to;
        rows->waiting.capacity = 2 * (n + 1);
    }
    if (points > rows->waiting.point_capacity) {
        float(*to)[3] = realloc(rows->waiting.point, 2 * points * sizeof *to);
        if (!to) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
        rows->waiting.point = to;
        rows->waiting.point_capacity = 2 * points;
    }
    for (size_t i = 0; i <= s->n; i++) rows->waiting.offset[rows->waiting.n + i] = before + s->offset[i];
    if (points > before) memcpy(rows->waiting.point + before, s->point, (points - before) * sizeof *s->point);
    rows->waiting.n = n;
    return GLS_OK;
}

gls_status gls_rows_append(gls_rows *rows, const gls_streamlines *s)
{
    if (s->n == 0) return GLS_OK;
    if (!rows->device) return map_parcel(rows, s, false);
    parcel look = {.rows = rows, .s = s, .only_looks = true};
    gls_status status = run_threads(&look);
    if (!status) status = keep(rows, s);
    bool full = !status && rows->waiting.offset[rows->waiting.n] >= GLS_MAPPER_POINTS;
    return full ? flush(rows) : status;
}

gls_status gls_rows_end(gls_rows *rows)
{
    gls_status status = rows->device ? flush(rows) : GLS_OK;
    release_device(rows);
    return status;
}
