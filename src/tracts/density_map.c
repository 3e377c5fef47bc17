/* Track density maps. Threads share streamlines and add whole numbers, so the order does not matter. Each thread has
 * its own map if that takes little memory; the result is their sum. */
#include <glslines/density.h>

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/density_map.h"
#include "tracts/density_parts.h"
#include "tracts/line_geometry.h"
#include "tracts/visits.h"
#include "tracts/visits_list.h"
#include "util/status.h"
#include "util/threads.h"

/* Fraction bits of the fixed-point sums of mm without weights; sums may reach LARGEST / 2^32 = 9.3e8 mm. */
#define LENGTH_BITS 32
/* Largest length of one streamline in one voxel, mm, that choose_bits() assumes for weighted sums. */
#define LENGTH_ROOM 8192.0
/* Largest sum in units of the last bit, below 2^62 = 4.6e18, so that no int64_t overflows. */
#define LARGEST 4.0e18
/* Largest memory of the maps of all threads together; beyond it all threads share one map. */
#define COPIES_BYTES ((size_t)64 << 20)
/* How many visits ahead memory is prefetched. */
#define AHEAD 8

gls_density_options gls_density_options_default(void)
{
    return (gls_density_options){.size = sizeof(gls_density_options), .mapping = GLS_DENSITY_SEGMENT, .upsample = 1};
}

/* Number of bits behind the binary point of the fixed-point sums. Counts need none. Weighted sums get as many as leave
 * the largest possible sum, o->sum_weights (times LENGTH_ROOM for mm), below 2^61, or 0 if it is larger anyway; at
 * most 961, so that 2^bits is finite. */
static int choose_bits(const gls_density_options *o)
{
    double most = o->sum_weights;
    if (!o->weights) return gls_density_is_in_mm(o) ? LENGTH_BITS : 0;
    if (gls_density_is_in_mm(o)) most *= LENGTH_ROOM;
    int exponent = 0;
    frexp(most, &exponent);
    return exponent > 61 ? 0 : exponent < -900 ? 961 : 61 - exponent;
}

/* Checks the combination of options; a wrong one is an error of the calling program, not of the user. */
static gls_status check_options(const gls_density_options *o)
{
    const bool column = o->value == GLS_DENSITY_COLUMN || o->value == GLS_DENSITY_IS_NONZERO;
    GLS_REQUIRE((unsigned)o->mapping <= GLS_DENSITY_ENDS && o->upsample >= 1);
    GLS_REQUIRE(o->sum_weights >= 0 && isfinite(o->sum_weights));
    GLS_REQUIRE((unsigned)o->value <= GLS_DENSITY_IS_NONZERO && (unsigned)o->stat <= GLS_DENSITY_MAX);
    GLS_REQUIRE(column == (o->column != NULL) && (o->group != NULL || o->n_groups == 0));
    GLS_REQUIRE(!o->directions || (o->stat == GLS_DENSITY_SUM && o->n_groups == 0 && o->mapping != GLS_DENSITY_ENDS &&
                                   o->mapping != GLS_DENSITY_PRECISE));
    return GLS_OK;
}

/* Allocates the maps of sums, a copy for each thread if they are small enough, or the one map of extremes. Returns
 * false if memory ran out. */
static bool make_maps(gls_density *d)
{
    const gls_density_options *o = &d->options;
    if (d->n_voxels > SIZE_MAX / (4 * sizeof **d->wide) / d->n_maps)
        return false; /* report that memory ran out, because the size in bytes would overflow */
    const size_t n = d->n_voxels * d->n_maps,
                 bytes = d->kind == NARROW ? n * sizeof **d->sum : n * d->n_planes * sizeof **d->wide;
    d->n_copies = bytes <= COPIES_BYTES / (size_t)d->n_threads ? d->n_threads : 1;
    d->sum = calloc((size_t)d->n_copies, sizeof *d->sum);
    d->wide = calloc((size_t)d->n_copies, sizeof *d->wide);
    if (!d->sum || !d->wide) return false;
    for (int i = 0; i < d->n_copies && d->kind != EXTREME; i++) {
        /* memory from calloc() is zero pages until it is touched, so unused parts of a map cost nothing */
        void *memory = calloc(bytes, 1);
        if (!memory) return false;
        if (d->kind == NARROW)
            d->sum[i] = memory;
        else
            d->wide[i] = memory;
    }
    if (d->kind != EXTREME) return true;
    d->extreme = malloc(n * sizeof *d->extreme);
    for (size_t v = 0; d->extreme && v < n; v++) d->extreme[v] = o->stat == GLS_DENSITY_MIN ? INFINITY : -INFINITY;
    return d->extreme != NULL;
}

gls_status gls_density_create(const gls_grid *grid, const gls_density_options *options, gls_density **density)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(grid && density);
    gls_density_options o = options ? *options : gls_density_options_default();
    gls_grid checked;
    gls_status status = check_options(&o);
    if (!status) status = gls_grid_init(&checked, grid->dim, grid->affine);
    if (status) return status;
    gls_density *d = calloc(1, sizeof *d);
    bool made = d;
    if (d) {
        d->grid = *grid;
        d->options = o;
        /* minima and maxima are compared, not summed; sums of counts, mm and weights fit into 64 bits; other sums need
         * 128 */
        d->kind = o.stat >= GLS_DENSITY_MIN                                                  ? EXTREME
                  : o.value == GLS_DENSITY_ONE && o.stat == GLS_DENSITY_SUM && !o.directions ? NARROW
                                                                                             : WIDE;
        /* values are rounded to multiples of 2^-bits (fixed point): sums do not depend on the order of threads */
        d->bits = choose_bits(&o);
        d->unit = ldexp(1, d->bits);
        d->scale = 1;
        d->n_voxels = gls_grid_voxels(grid);
        /* without groups there is one map */
        d->n_maps = o.n_groups > 0 ? o.n_groups : 1;
        /* directions: three components and the value; mean: value and weight */
        d->n_planes = o.directions ? 4 : o.stat == GLS_DENSITY_MEAN ? 2 : 1;
        d->n_threads = omp_get_max_threads();
        gls_visit_grid_init(&d->visit_grid, grid);
        d->visits = calloc((size_t)d->n_threads, sizeof *d->visits);
        for (int i = 0; d->visits && i < d->n_threads; i++) d->visits[i].directed = o.directions;
        d->sums = calloc((size_t)d->n_threads, sizeof *d->sums);
        made = d->visits && d->sums && make_maps(d);
    }
    if (!made) {
        gls_density_destroy(d);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a map of %zu voxels", gls_grid_voxels(grid));
    }
    *density = d;
    return GLS_OK;
}

/* Adds a value to a sum; atomically if `shared`, because other threads may add to the sum at the same time. */
static void add_narrow(int64_t *to, int64_t value, bool shared)
{
    if (!shared) {
        *to += value;
        return;
    }
#pragma omp atomic
    *to += value;
}

/* Atomically replaces *extreme by `value` if that is smaller (is_min) or larger. NaN never replaces anything. */
static void widen(double *extreme, double value, bool is_min)
{
    double before;
    __atomic_load(extreme, &before, __ATOMIC_RELAXED);
    while ((is_min ? value < before : value > before) &&
           !__atomic_compare_exchange(extreme, &before, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* The value and the weight that one streamline adds to a voxel. */
typedef struct share {
    double value, weight;
} share;

/* Adds the value of a streamline, and for means also its weight, to the sums of a voxel. */
static void add_planes(const gls_density *d, gls_wide *to, double value, double weight)
{
    const bool shared = d->n_copies < d->n_threads;
    gls_wide_add(&to[0], value, shared);
    if (d->n_planes == 2) gls_wide_add(&to[1], weight, shared);
}

/* Adds the direction of a streamline, scaled to the length `value`, and the value itself to the four sums of a voxel.
 * The sums of a voxel fill a cache line; the line of a later voxel is prefetched. */
static void add_direction(const gls_density *d, gls_wide *planes, const gls_visits *v, size_t i, double value)
{
    const bool shared = d->n_copies < d->n_threads;
    if (i + AHEAD < v->n) __builtin_prefetch(&planes[v->voxel[i + AHEAD] * 4], 1);
    const double *x = v->direction[i], length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), size = value / length;
    gls_wide *to = &planes[v->voxel[i] * 4];
    if (length == 0) return;
    for (int r = 0; r < 3; r++) gls_wide_add(&to[r], size * x[r], shared);
    gls_wide_add(&to[3], value, shared);
}

/* Adds 1 to each visited voxel. Returns 2, the most that one streamline adds to a voxel: GLS_DENSITY_ENDS may count
 * both ends there. */
static double count_visits(const gls_density *d, const gls_visits *v, int64_t *sum)
{
    const bool shared = d->n_copies < d->n_threads;
    for (size_t i = 0; i < v->n; i++) add_narrow(&sum[v->voxel[i]], 1, shared);
    return 2;
}

/* Adds the visits of a streamline to the map with index `map`, in the copy of the maps that the thread uses. Returns
 * an upper bound of what this adds to one voxel, in the unit of gls_density.total; INFINITY if it would exceed LARGEST;
 * 0 for EXTREME. */
static double add_visits(gls_density *d, int thread, const gls_visits *v, size_t map, share one)
{
    /* threads share a copy where there is no memory for one each; additions are then atomic */
    const bool mm = gls_density_is_in_mm(&d->options), shared = d->n_copies < d->n_threads;
    const int copy = shared ? 0 : thread;
    const size_t first = map * d->n_voxels;
    double most = 0;
    if (d->kind == NARROW && !d->options.weights && !mm) return count_visits(d, v, d->sum[copy] + first);
    for (size_t i = 0; i < v->n; i++) {
        const size_t at = first + v->voxel[i];
        const double weight = mm ? one.weight * v->mm[i] : one.weight, value = weight * one.value;
        /* minima and maxima do not depend on the order of threads */
        if (d->kind == EXTREME) {
            widen(&d->extreme[at], one.value, d->options.stat == GLS_DENSITY_MIN);
            continue;
        }
        double fixed = d->kind == NARROW ? rint(weight * d->unit) : fabs(value) + fabs(weight), size = fabs(fixed);
        if (!(size <= LARGEST)) return INFINITY;
        most = size > most ? size : most;
        if (d->kind == NARROW)
            add_narrow(&d->sum[copy][at], (int64_t)fixed, shared);
        else if (d->options.directions)
            add_direction(d, d->wide[copy], v, i, value);
        else
            add_planes(d, &d->wide[copy][at * d->n_planes], value, weight);
    }
    /* with GLS_DENSITY_ENDS both ends of a streamline may lie in one voxel */
    return d->options.mapping == GLS_DENSITY_ENDS ? 2 * most : most;
}

/* The columns that the map needs. */
typedef struct columns {
    /* NULL: weights of 1, and no column of values */
    const gls_column *weights, *value;
    /* membership in each group of the map */
    const gls_column **group;
} columns;

/* Finds a column of streamlines by name. finite: all its values must be finite. */
static gls_status find_column(const gls_density *d, const gls_streamlines *s, const char *name, bool finite,
                              const gls_column **column)
{
    *column = NULL;
    if (!name) return GLS_OK;
    *column = gls_column_find(s->dps, s->n_dps, name);
    if (!*column || (*column)->components != 1)
        return gls_fail(GLS_ERR_INPUT, "the tractogram has no column \"%s\" of one value a streamline", name);
    for (size_t i = 0; i < s->n && finite; i++)
        if (!isfinite(gls_column_value(*column, i)))
            return gls_fail(GLS_ERR_INPUT,
                            "the value of streamline %llu (counted from 0) in the column \"%s\" is not finite",
                            (unsigned long long)(d->counts.streamlines + i), name);
    return GLS_OK;
}

/* Finds the columns and groups that the options name in a block. */
static gls_status find_columns(const gls_density *d, const gls_streamlines *s, columns *c)
{
    gls_status status = find_column(d, s, d->options.weights, true, &c->weights);
    if (!status) status = find_column(d, s, d->options.column, false, &c->value);
    for (size_t g = 0; g < d->options.n_groups && !status; g++) {
        c->group[g] = gls_column_find(s->group, s->n_groups, d->options.group[g]);
        if (!c->group[g]) status = gls_fail(GLS_ERR_INPUT, "the tractogram has no group \"%s\"", d->options.group[g]);
    }
    return status;
}

/* The value that streamline i gives to the voxels it visits. */
static double value_of(const gls_density *d, const columns *c, const gls_streamlines *s, size_t i)
{
    const size_t n = (size_t)(s->offset[i + 1] - s->offset[i]);
    switch (d->options.value) {
    case GLS_DENSITY_MM: return gls_line_length(s->point + s->offset[i], n);
    case GLS_DENSITY_INVERSE: return 1 / gls_line_length(s->point + s->offset[i], n);
    case GLS_DENSITY_COLUMN: return gls_column_value(c->value, i);
    case GLS_DENSITY_IS_NONZERO: {
        double value = gls_column_value(c->value, i);
        return isfinite(value) && value != 0;
    }
    default: return 1;
    }
}

/* Fate of a streamline. ZERO: it is left out because its value is 0 or not finite; UNUSED: it has no points or met no
 * voxel of the grid; USED: it met a voxel. */
enum { UNUSED, USED, ZERO };

/* Adds one streamline. Returns the largest of the bounds that add_visits() returned, or 0. */
static double add_one(gls_density *d, int thread, const columns *c, const gls_streamlines *s, size_t i)
{
    gls_visits *v = &d->visits[thread];
    share one = {value_of(d, c, s, i), c->weights ? gls_column_value(c->weights, i) : 1};
    double most = 0;
    d->used[i] = UNUSED;
    v->outside = false;
    v->places = v->places_outside = 0;
    /* a value of 0, or one that is not finite, is mapped as 0 if the option map_zero is set, and else not at all */
    if (!isfinite(one.value) || one.value == 0) {
        one.value = 0;
        d->used[i] = ZERO;
        if (!d->options.map_zero) return 0;
    }
    gls_visits_find(v, &d->visit_grid, &d->options, s->point + s->offset[i], (size_t)(s->offset[i + 1] - s->offset[i]));
    d->used[i] = v->n > 0 ? USED : UNUSED;
    if (d->options.n_groups == 0) return add_visits(d, thread, v, 0, one);
    for (size_t g = 0; g < d->options.n_groups; g++)
        if (gls_column_value(c->group[g], i)) most = fmax(most, add_visits(d, thread, v, g, one));
    return most;
}

/* A block of streamlines that several threads add to the map. */
typedef struct addition {
    gls_density *density;
    const columns *columns;
    const gls_streamlines *lines;
    const gls_visited *visited; /* NULL: the device counted nothing */
} addition;

/* Adds streamlines from .. until - 1 on one thread. */
static void add_some(void *user, int thread, size_t from, size_t until)
{
    const addition *a = user;
    gls_density *d = a->density;
    const gls_streamlines *s = a->lines;
    gls_density_sums one = {0};
    for (size_t i = from; i < until; i++) {
        d->used[i] = UNUSED;
        if (s->offset[i + 1] == s->offset[i]) continue;
        /* the device counted this streamline; its points may be missing here */
        if (a->visited && !a->visited->left[i]) {
            d->used[i] = USED;
            one.total += 2;
            continue;
        }
        one.total += add_one(d, thread, a->columns, s, i);
        one.partial += d->visits[thread].outside;
        one.places += d->visits[thread].places;
        one.places_outside += d->visits[thread].places_outside;
    }
    d->sums[thread].total += one.total;
    d->sums[thread].partial += one.partial;
    d->sums[thread].places += one.places;
    d->sums[thread].places_outside += one.places_outside;
}

/* Adds the device's counts to voxels from .. until - 1 of the first copy. Runs after add_some(), so that no other
 * thread adds to these voxels. */
static void add_counts(void *user, int thread, size_t from, size_t until)
{
    const addition *a = user;
    int64_t *sum = a->density->sum[0];
    (void)thread;
    for (size_t v = from; v < until; v++) sum[v] += a->visited->word[v];
}

/* Whether two grids are the same, bit by bit. */
static bool is_same_grid(const gls_grid *a, const gls_grid *b)
{
    return memcmp(a->dim, b->dim, sizeof a->dim) == 0 && memcmp(a->affine, b->affine, sizeof a->affine) == 0;
}

bool gls_density_takes_visited(const gls_density *d, const gls_grid *grid)
{
    const gls_density_options *o = &d->options;
    return d->kind == NARROW && o->mapping == GLS_DENSITY_SEGMENT && !o->weights && o->n_groups == 0 &&
           is_same_grid(grid, &d->grid);
}

/* The device's counts for these streamlines if the map can use them, else NULL. */
static const gls_visited *find_visited(const gls_density *d, const gls_streamlines *s)
{
    const gls_visited *v = d->visited ? *d->visited : NULL;
    return v && v->valid && v->n == s->n && gls_density_takes_visited(d, &v->grid) ? v : NULL;
}

/* Adds streamlines on all threads, then the device's counts, and sums up what the threads counted. */
static gls_status add_streamlines(gls_density *d, const columns *c, const gls_streamlines *s)
{
    bool failed = false;
    const addition task = {d, c, s, find_visited(d, s)};
    if (!task.visited && d->visited && *d->visited && (*d->visited)->ends_alone)
        return gls_fail(GLS_ERR_UNSUPPORTED, "the device counted the voxels of another map");
    /* add the streamlines that the device did not count, then the counts of the device */
    gls_parallel(s->n, 64, d->n_threads, add_some, (void *)&task);
    if (task.visited) d->counts.places += task.visited->n_points;
    if (task.visited) gls_parallel(d->n_voxels, 65536, d->n_threads, add_counts, (void *)&task);
    for (int t = 0; t < d->n_threads; t++) {
        d->counts.partial += d->sums[t].partial;
        d->counts.places += d->sums[t].places;
        d->counts.places_outside += d->sums[t].places_outside;
        d->total += d->sums[t].total;
        failed |= d->visits[t].failed;
        d->sums[t] = (gls_density_sums){0};
    }
    /* add weights in the order of streamlines, so that their sum does not depend on the number of threads */
    for (size_t i = 0; i < s->n; i++) {
        d->counts.empty += s->offset[i + 1] == s->offset[i];
        d->counts.zero += d->used[i] == ZERO;
        d->counts.used += d->used[i] == USED;
        if (d->used[i] == USED) d->counts.weight += c->weights ? gls_column_value(c->weights, i) : 1;
    }
    d->counts.streamlines += s->n;
    if (failed) return gls_fail(GLS_ERR_MEMORY, "out of memory for the voxels of a streamline");
    if (d->total > LARGEST)
        return gls_fail(
            GLS_ERR_UNSUPPORTED,
            "the sums of the map exceed the range of fixed-point numbers: map fewer streamlines or smaller weights");
    return GLS_OK;
}

static gls_status append(void *user, const gls_streamlines *s)
{
    gls_density *d = user;
    columns c = {.group = calloc(d->options.n_groups + 1, sizeof *c.group)};
    if (!c.group) return gls_fail(GLS_ERR_MEMORY, "out of memory for groups");
    gls_status status = find_columns(d, s, &c);
    if (!status && s->n > d->capacity) {
        uint8_t *used = realloc(d->used, s->n);
        if (used) {
            d->used = used;
            d->capacity = s->n;
        } else {
            status = gls_fail(GLS_ERR_MEMORY, "out of memory for streamlines");
        }
    }
    if (!status) status = add_streamlines(d, &c, s);
    free(c.group);
    return status;
}

gls_sink gls_density_sink(gls_density *density)
{
    return (gls_sink){.append = append, .user = density};
}

void gls_density_use_visited(gls_density *density, const gls_visited **visited)
{
    density->visited = visited;
}

gls_density_counts gls_density_get_counts(const gls_density *density)
{
    return density->counts;
}

size_t gls_density_volumes(const gls_density *density)
{
    return density->options.directions ? 3 : density->n_maps;
}

void gls_density_set_scale(gls_density *density, double factor)
{
    density->scale = factor;
}

void gls_density_destroy(gls_density *d)
{
    if (!d) return;
    for (int i = 0; d->visits && i < d->n_threads; i++) gls_visits_finish(&d->visits[i]);
    for (int i = 0; i < d->n_copies; i++) {
        if (d->sum) free(d->sum[i]);
        if (d->wide) free(d->wide[i]);
    }
    free(d->visits);
    free(d->sums);
    free(d->sum);
    free(d->wide);
    free(d->extreme);
    free(d->used);
    free(d);
}
