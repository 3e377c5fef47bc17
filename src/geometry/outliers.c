/* Scores of outliers: depth in a hierarchy of clusters, and confidence from neighbours; streamlines that repeat others.
 */
#include "geometry/outliers.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/neighbours.h>

#include "geometry/quickbundles.h"
#include "util/status.h"
#include "util/threads.h"

/* --- Random numbers of numpy's RandomState: MT19937 (Matsumoto and Nishimura 1998) and its shuffle. */

enum { WORDS = 624, FAR = 397 };

/* State of the generator. */
typedef struct twister {
    uint32_t word[WORDS];
    int at;
} twister;

/* Seeds the generator as RandomState(seed) does. */
static void twister_seed(twister *t, uint32_t seed)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        t->word[i] = seed;
        seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
    }
    t->at = WORDS;
}

/* The next random word. */
static uint32_t twister_next(twister *t)
{
    if (t->at == WORDS) {
        for (int i = 0; i < WORDS; i++) {
            const uint32_t y = (t->word[i] & 0x80000000u) | (t->word[(i + 1) % WORDS] & 0x7fffffffu);
            t->word[i] = t->word[(i + FAR) % WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        t->at = 0;
    }
    uint32_t y = t->word[t->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* Returns a random number from 0 to max. */
static uint32_t twister_to(twister *t, uint32_t max)
{
    uint32_t mask = max, value;
    if (max == 0) return 0;
    for (int k = 1; k <= 16; k *= 2) mask |= mask >> k;
    do value = twister_next(t) & mask;
    while (value > max);
    return value;
}

/* Shuffles n numbers as RandomState.shuffle() does. */
static void twister_shuffle(twister *t, uint64_t *list, size_t n)
{
    for (size_t i = n; i-- > 1;) {
        const uint32_t j = twister_to(t, (uint32_t)i);
        const uint64_t keep = list[i];
        list[i] = list[j];
        list[j] = keep;
    }
}

/* --- Depth in a hierarchy of clusters. */

/* Runs that count, least threshold, ratio of thresholds, clusters that are not clustered again, seed: those of scilpy,
 * which makes one more run and leaves it out. */
enum { RUNS = 29, SMALL = 10, SEED = 1234, MAX_THRESHOLDS = 64 };
#define MIN_THRESHOLD 0.5
#define RATIO 1.2

/* Work of several threads, each on some runs. */
typedef struct descent {
    const gls_features *f;
    double threshold[MAX_THRESHOLDS];
    size_t n_levels;
    size_t n;        /* number of streamlines with length */
    uint64_t *order; /* RUNS orders of n numbers */
    uint8_t *depth;  /* RUNS x features->n */
    gls_status status[RUNS];
} descent;

/* Streamlines in parts, of which each is clustered by itself. */
typedef struct parts {
    uint64_t *line;
    size_t *end; /* end of each part in `line` */
    size_t n;
} parts;

/* Clusters one part, and appends its clusters of more than SMALL streamlines to `next`. cluster, count: memory for the
 * number of streamlines. */
static gls_status divide(const descent *d, double threshold, const uint64_t *line, size_t n, uint32_t *cluster,
                         size_t *count, parts *next)
{
    gls_quickbundles *q;
    gls_status status = gls_quickbundles_create(d->f->points, threshold, UINT32_MAX - 1, 0, &q);
    if (!status) status = gls_quickbundles_add(q, d->f, line, n, cluster);
    if (status) {
        gls_quickbundles_destroy(q);
        return status;
    }
    gls_centroids found = gls_quickbundles_take(q);
    gls_quickbundles_destroy(q);
    size_t at = next->n > 0 ? next->end[next->n - 1] : 0;
    for (size_t k = 0; k < found.n; k++) {
        count[k] = SIZE_MAX;
        if (found.size[k] <= SMALL) continue;
        count[k] = at;
        at += found.size[k];
        next->end[next->n++] = at;
    }
    for (size_t i = 0; i < n; i++)
        if (count[cluster[i]] != SIZE_MAX) next->line[count[cluster[i]]++] = line[i];
    gls_centroids_finish(&found);
    return GLS_OK;
}

/* Measures the depths of all streamlines in one run. */
static gls_status descend(const descent *d, size_t run)
{
    const size_t n = d->n;
    uint8_t *depth = d->depth + run * d->f->n;
    uint32_t *cluster = malloc(n * sizeof *cluster);
    size_t *count = malloc(n * sizeof *count);
    parts now = {malloc(n * sizeof *now.line), malloc(n * sizeof *now.end), 1},
          next = {malloc(n * sizeof *next.line), malloc(n * sizeof *next.end), 0};
    gls_status status = cluster && count && now.line && now.end && next.line && next.end ? GLS_OK : gls_no_memory();
    if (!status) {
        memcpy(now.line, d->order + run * n, n * sizeof *now.line);
        now.end[0] = n;
    }
    for (size_t level = 0; level < d->n_levels && now.n > 0 && !status; level++) {
        next.n = 0;
        for (size_t k = 0, from = 0; k < now.n && !status; from = now.end[k++]) {
            for (size_t i = from; i < now.end[k]; i++) depth[now.line[i]]++;
            status = divide(d, d->threshold[level], now.line + from, now.end[k] - from, cluster, count, &next);
        }
        const parts keep = now;
        now = next;
        next = keep;
    }
    free(cluster);
    free(count);
    free(now.line);
    free(now.end);
    free(next.line);
    free(next.end);
    return status;
}

/* For gls_parallel(): some runs. */
static void descend_some(void *user, int thread, size_t from, size_t until)
{
    descent *d = user;
    (void)thread;
    for (size_t run = from; run < until; run++) d->status[run] = descend(d, run);
}

/* Makes the orders of all runs: each is a shuffle of the one before. */
static gls_status make_orders(descent *d)
{
    twister *t = malloc(sizeof *t);
    d->order = malloc((RUNS * d->n + 1) * sizeof *d->order);
    d->depth = calloc(RUNS * d->f->n + 1, 1);
    gls_status status = t && d->order && d->depth ? GLS_OK : gls_no_memory();
    if (!status) {
        size_t n = 0;
        for (size_t i = 0; i < d->f->n; i++)
            if (gls_features_has(d->f, i)) d->order[n++] = i;
        twister_seed(t, SEED);
        for (size_t run = 0; run < RUNS; run++) {
            uint64_t *order = d->order + run * n;
            if (run > 0) memcpy(order, order - n, n * sizeof *order);
            twister_shuffle(t, order, n);
        }
    }
    free(t);
    return status;
}

gls_status gls_outliers_depth(const gls_features *f, double side, double *score)
{
    descent d = {.f = f, .n = f->n - f->n_void};
    for (size_t i = 0; i < f->n; i++) score[i] = gls_features_has(f, i) ? 1 : 0;
    if (d.n <= SMALL) return GLS_OK;
    for (double t; d.n_levels < MAX_THRESHOLDS && (t = side / 2 / pow(RATIO, (double)d.n_levels)) >= MIN_THRESHOLD;)
        d.threshold[d.n_levels++] = t;
    gls_status status = d.n_levels > 0 ? make_orders(&d) : GLS_OK;
    if (!status && d.n_levels > 0) {
        uint8_t deepest = 0;
        gls_parallel(RUNS, 1, f->n_threads, descend_some, &d);
        for (size_t run = 0; run < RUNS && !status; run++)
            if (d.status[run]) status = gls_no_memory();
        for (size_t k = 0; k < RUNS * f->n && !status; k++) deepest = d.depth[k] > deepest ? d.depth[k] : deepest;
        for (size_t i = 0; i < f->n && !status; i++) {
            double sum = 0;
            for (size_t run = 0; run < RUNS; run++) sum += d.depth[run * f->n + i];
            score[i] = sum / RUNS / deepest;
        }
    }
    free(d.order);
    free(d.depth);
    return status;
}

/* --- Neighbours in the same bundle. */

/* Largest distance of neighbours, and distance that equal streamlines count as, mm. */
#define CONFIDENCE_RADIUS 5.0
#define EQUAL_DISTANCE 0.01

/* Streamlines of features that are handed on at a time. */
enum { BLOCK = 1024 };

/* Receives the neighbours of streamline i. line: numbers of the references, of which `found` has the places. */
typedef void (*visit)(void *user, size_t i, const uint32_t *line, const gls_neighbour *found, size_t n);

/* Streamlines with length, which are handed on in blocks. */
typedef struct lengthy {
    const gls_features *f;
    uint32_t *line; /* their numbers */
    size_t n;
    uint64_t offset[BLOCK + 1];
    float (*point)[3]; /* points of a block */
} lengthy;

/* Returns the block of streamlines from place `from` on. */
static gls_streamlines block_of(lengthy *l, size_t from)
{
    const size_t points = l->f->points, n = l->n - from < BLOCK ? l->n - from : BLOCK;
    for (size_t i = 0; i < n; i++)
        memcpy(l->point + i * points, l->f->point + l->line[from + i] * points, points * sizeof *l->point);
    for (size_t i = 0; i <= n; i++) l->offset[i] = i * points;
    return (gls_streamlines){.n = n, .offset = l->offset, .point = (const float(*)[3])l->point};
}

/* Hands the neighbours of each streamline to a function. */
static gls_status visit_blocks(lengthy *l, gls_neighbours *b, visit call, void *user)
{
    const gls_sink sink = gls_neighbours_references(b);
    gls_status status = GLS_OK;
    for (size_t from = 0; from < l->n && !status; from += BLOCK) {
        const gls_streamlines s = block_of(l, from);
        status = gls_sink_append(&sink, &s);
    }
    for (size_t from = 0; from < l->n && !status; from += BLOCK) {
        const uint64_t *first;
        const gls_neighbour *found;
        const gls_streamlines s = block_of(l, from);
        status = gls_neighbours_find(b, &s, &first, &found);
        for (size_t i = 0; i < s.n && !status; i++)
            call(user, l->line[from + i], l->line, found + first[i], (size_t)(first[i + 1] - first[i]));
    }
    return status;
}

/* Visits the neighbours of all streamlines with length, in order; a streamline is its own neighbour. */
static gls_status visit_all(const gls_features *f, double radius, visit call, void *user)
{
    gls_neighbours_options options = gls_neighbours_options_default();
    gls_neighbours *b = NULL;
    lengthy *l = calloc(1, sizeof *l);
    if (!l) return gls_no_memory();
    options.points = 0;
    options.radius = radius;
    l->f = f;
    l->line = malloc((f->n + 1) * sizeof *l->line);
    l->point = malloc((BLOCK * f->points + 1) * sizeof *l->point);
    gls_status status = l->line && l->point ? gls_neighbours_create(&options, &b) : gls_no_memory();
    for (size_t i = 0; i < f->n && !status; i++)
        if (gls_features_has(f, i)) l->line[l->n++] = (uint32_t)i;
    if (!status) status = visit_blocks(l, b, call, user);
    gls_neighbours_destroy(b);
    free(l->line);
    free(l->point);
    free(l);
    return status;
}

/* Sums of confidence. */
typedef struct confidence {
    double power, *score;
    uint64_t n_equal;
} confidence;

/* Adds up the confidence of a streamline. */
static void add_confidence(void *user, size_t i, const uint32_t *line, const gls_neighbour *found, size_t n)
{
    confidence *c = user;
    bool equal = false;
    for (size_t k = 0; k < n; k++) {
        if (line[found[k].reference] == i) continue;
        equal |= found[k].distance == 0;
        c->score[i] += 1 / pow(found[k].distance == 0 ? EQUAL_DISTANCE : (double)found[k].distance, c->power);
    }
    c->n_equal += equal;
}

gls_status gls_outliers_confidence(const gls_features *f, double power, double *score, uint64_t *n_equal)
{
    confidence c = {power, score, 0};
    for (size_t i = 0; i < f->n; i++) score[i] = 0;
    gls_status status = visit_all(f, CONFIDENCE_RADIUS, add_confidence, &c);
    *n_equal = c.n_equal;
    return status;
}

/* Streamlines that repeat others. */
typedef struct repetition {
    bool *repeats;
    uint32_t *of;
} repetition;

/* Decides whether a streamline repeats an earlier one. */
static void find_repeat(void *user, size_t i, const uint32_t *line, const gls_neighbour *found, size_t n)
{
    const repetition *r = user;
    const gls_neighbour *nearest = NULL;
    for (size_t k = 0; k < n; k++)
        if (line[found[k].reference] < i && !r->repeats[line[found[k].reference]] &&
            (!nearest || found[k].distance < nearest->distance))
            nearest = &found[k];
    r->repeats[i] = nearest;
    if (r->of) r->of[i] = nearest ? line[nearest->reference] : (uint32_t)i;
}

gls_status gls_outliers_repeats(const gls_features *f, double tolerance, bool *repeats, uint32_t *of)
{
    repetition r = {repeats, of};
    for (size_t i = 0; i < f->n; i++) {
        repeats[i] = false;
        if (of) of[i] = (uint32_t)i;
    }
    /* neighbours are nearer than the radius, repetitions not farther than the tolerance */
    return visit_all(f, nextafter(tolerance, INFINITY), find_repeat, &r);
}
