/* The passes of SIFT2 on the CPU, with the arithmetic of the kernels. Threads share streamlines. Each thread has its
 * own sums, which are whole numbers, so that the result does not depend on the order of additions. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "weights/solver_host.h"
#include "util/status.h"
#include "weights/weight_model.h"

#include "weights/shared.h"

typedef struct Moments Moments;
typedef struct Search Search;
typedef struct Step Step;
/* the text of the kernel, with the names of shared.h */
#include "weights/streamline.glsl"
#undef uint
#undef abs

/* Largest number of threads: each has sums for all fixels. */
#define MAX_THREADS 64

/* Values of a fixel that the pass over streamlines reads; two fixels fill a cache line. */
typedef struct host_fixel {
    float excess, density, share, unit, m, em, unused[2]; /* as in gls_model_state and gls_model_mean */
} host_fixel;

/* Lists of numbers, one value for each entry of a row, so that loops are vectorised. Sums run in the order of entries,
 * as in the kernels. */
enum { LENGTH, M, EM, SHARE, EXCESS, REST, UNITS, DA, DG, AA, AG, GG, TV, SLOPE, BEND, N_LISTS };

/* Sums of one thread for each fixel: of length times weight, and of length times coefficient; 2^24 stands for one unit
 * of length. */
typedef struct host_thread {
    int64_t *sum; /* two sums for each fixel */
    /* for each fixel whether a streamline excludes it in this pass */
    uint8_t *mark;
    /* values of the fixels of one streamline, as arrays for vector instructions */
    float *list[N_LISTS];
    /* true: at least one fixel is marked */
    bool marked;
} host_thread;

/* The solver on the CPU. */
typedef struct host_solver {
    /* first member, so that a pointer to it can be cast to a host_solver */
    gls_solver base;
    /* state of each fixel */
    host_fixel *fixel;
    /* two arrays: the coefficients before and after a pass */
    float *coefficient[2];
    float (*part)[2]; /* partial costs of each group of streamlines of a chunk, or of fixels */
    int n_threads;
    /* one for each thread */
    host_thread *thread;
} host_solver;

float gls_weights_exponential(float x)
{
    return exponential(x);
}

void gls_solver_init(gls_solver *solver, const gls_solver_kind *kind, const gls_weight_model *model,
                     const gls_weights_options *o)
{
    solver->kind = kind;
    solver->model = model;
    solver->options = o;
    solver->unit = (float)(model->mu * model->unit);
    solver->tikhonov = (float)(o->reg_tikhonov * model->scale);
}

/* Adds v to a sum that counts in units of 2^-24. v is limited to the range that the kernel can add. */
static void add_fixed(int64_t *sum, float v)
{
    *sum += (int64_t)(fixed_range(v) * 16777216.0f);
}

/* The entries of a streamline. */
typedef struct row {
    /* length in the low byte, in units of the rows, and the fixel above */
    const uint32_t *entry;
    /* bits of the fixels above those of the words; NULL: none */
    const uint8_t *high;
    /* number of low bits of a fixel's index that a word of `entry` holds */
    unsigned low_bits;
    /* number of entries */
    uint32_t n;
} row;

/* The fixel of entry i of a row. */
static inline uint32_t fixel_of(const row *r, uint32_t i)
{
    return r->entry[i] >> 8 | (r->high ? (uint32_t)r->high[i] << r->low_bits : 0);
}

/* Returns the coefficient that replaces one above the maximum: the mean coefficient of the fixels of the row except
 * the one whose missing density costs most, which it marks; 0 if no fixel lacks density or no other counts. */
static float replace_coefficient(const host_solver *h, host_thread *t, const row *r)
{
    const uint32_t *entry = r->entry, n = r->n;
    float most = 0, sum = 0, weight = 0;
    uint32_t worst = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const host_fixel f = h->fixel[fixel_of(r, i)];
        float x = ((f.share * ((float)(entry[i] & 255) * h->base.unit)) * f.excess) * f.excess;
        if (f.share > 0 && f.excess < 0 && x > most) {
            most = x;
            worst = fixel_of(r, i);
        }
    }
    if (worst == UINT32_MAX) return 0;
    t->mark[worst] = 1;
    t->marked = true;
    /* mean over the other fixels, weighted by their lengths */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = fixel_of(r, i);
        const host_fixel f = h->fixel[k];
        if (!(f.share > 0) || k == worst) continue;
        float l = (float)(entry[i] & 255) * f.unit;
        sum += l * f.m;
        weight += l;
    }
    return weight > 0 ? sum * reciprocal(weight) : 0;
}

/* Newton's method for the change of a coefficient that lowers the cost most. n: entries of the row, which
 * gather_row() and sum_row() have listed. At most 100 steps, until a step is at most 0.001. */
static float search_change(const Search *search, Moments m, host_thread *t, uint32_t n)
{
    const float *length = t->list[LENGTH], *mean = t->list[M], *em = t->list[EM];
    float *slopes = t->list[SLOPE], *bends = t->list[BEND];
    Step at = {0, 1};
    for (int k = 0; k < 100 && fabsf(at.d) > 0.001f; k++) {
        float c = search->c + at.x, e = exponential(c), slope = 0, bend = 0;
#pragma omp simd
        for (uint32_t i = 0; i < n; i++) {
            slopes[i] = length[i] * variation_slope(c, e, mean[i], em[i]);
            bends[i] = length[i] * variation_bend(c, e, mean[i], em[i]);
        }
        for (uint32_t i = 0; i < n; i++) {
            slope += slopes[i];
            bend += bends[i];
        }
        at = newton(*search, m, at, e, slope, bend);
    }
    return at.x;
}

/* Reads the values of the fixels of a row into the lists. */
static void gather_row(const host_solver *h, host_thread *t, const row *r)
{
    float *const *list = t->list;
    for (uint32_t i = 0; i < r->n; i++) {
        const size_t k = fixel_of(r, i);
        const host_fixel *f = &h->fixel[k];
        /* prefetch the sums of this fixel, to which the streamline adds at the end */
        __builtin_prefetch(t->sum + 2 * k, 1);
        list[UNITS][i] = (float)(r->entry[i] & 255);
        list[LENGTH][i] = f->unit;
        list[SHARE][i] = f->share;
        list[EXCESS][i] = f->excess;
        list[REST][i] = f->density;
        list[M][i] = f->m;
        list[EM][i] = f->em;
    }
}

/* Sums over the entries of a row: the moments of add_moments(), to which excluded fixels add 0; and in *tv the total
 * variation, to which excluded fixels add, too. Sets the lengths in excluded fixels to 0. */
static Moments sum_row(const host_solver *h, host_thread *t, const Search *search, uint32_t n, float *tv)
{
    float *const *list = t->list;
    const float unit = h->base.unit, c = search->c, e = search->e;
    Moments sum = {0};
    float *length = list[LENGTH], *variations = list[TV];
#pragma omp simd
    /* products are stored first: the loop has no sums, so that vectors of any width give the same bits */
    for (uint32_t i = 0; i < n; i++) {
        float l = list[UNITS][i] * unit, share = list[SHARE][i];
        Moments one = {0};
        one = add_moments(one, share * l, list[EXCESS][i], l, (list[REST][i] - l) * e);
        list[DA][i] = one.da;
        list[DG][i] = one.dg;
        list[AA][i] = one.aa;
        list[AG][i] = one.ag;
        list[GG][i] = one.gg;
        length[i] *= list[UNITS][i];
        variations[i] = length[i] * variation(c, e, list[M][i], list[EM][i]);
        length[i] = share > 0 ? length[i] : 0;
    }
    *tv = 0;
    /* sums in the order of entries */
    for (uint32_t i = 0; i < n; i++) {
        *tv += variations[i];
        sum.da += list[DA][i];
        sum.dg += list[DG][i];
        sum.aa += list[AA][i];
        sum.ag += list[AG][i];
        sum.gg += list[GG][i];
    }
    return sum;
}

/* Computes the new coefficient *to of one streamline from *from. part: total variation times its factor, and squared
 * coefficient, both at *from. variation_factor: as `variation` in gls_weight_model. */
static void improve(const host_solver *h, host_thread *t, const row *r, float variation_factor, const float *from,
                    float *to, float part[2])
{
    const uint32_t n = r->n;
    const gls_weights_options *o = h->base.options;
    const float limit = (float)o->max_coeff_step, least = (float)o->min_coeff;
    Search search = {*from, exponential(*from), variation_factor, h->base.tikhonov, limit};
    float tv, x = 0;
    gather_row(h, t, r);
    Moments m = sum_row(h, t, &search, n, &tv);
    if (n > 0) x = search_change(&search, m, t, n);
    /* limits the step, then the coefficient */
    x = x < -limit ? -limit : x > limit ? limit : x;
    float c = search.c + x;
    c = c < least ? least : c;
    if (c > (float)o->max_coeff) c = replace_coefficient(h, t, r);
    *to = c;
    float w = c > least ? exponential(c) : 0;
    /* sums of the fixels for the next pass over them: length times weight, and length times coefficient */
    for (uint32_t i = 0; i < n; i++) {
        int64_t *sum = t->sum + 2 * (size_t)fixel_of(r, i);
        add_fixed(sum, t->list[UNITS][i] * w);
        add_fixed(sum + 1, t->list[UNITS][i] * c);
    }
    part[0] = search.variation * tv;
    part[1] = search.c * search.c;
}

/* Sums the costs of a group as a tree, as a work group of the kernel does; the result is part[0]. */
static void sum_group(float part[GLS_SOLVER_GROUP][2])
{
    for (int n = GLS_SOLVER_GROUP / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++) {
            part[i][0] += part[i + n][0];
            part[i][1] += part[i + n][1];
        }
}

/* Computes new coefficients of one chunk. sums: costs of each group. */
static void improve_chunk(host_solver *h, const gls_chunk *chunk, int from, float (*sums)[2])
{
    const size_t groups = (chunk->n + GLS_SOLVER_GROUP - 1) / GLS_SOLVER_GROUP;
#pragma omp parallel for schedule(dynamic, 4) num_threads(h->n_threads)
    for (size_t g = 0; g < groups; g++) {
        host_thread *t = &h->thread[omp_get_thread_num()];
        float part[GLS_SOLVER_GROUP][2] = {{0}};
        for (size_t i = 0; i < GLS_SOLVER_GROUP && g * GLS_SOLVER_GROUP + i < chunk->n; i++) {
            size_t s = g * GLS_SOLVER_GROUP + i, at = chunk->first + s;
            /* prefetches the fixels of the next streamline while this one is computed */
            const uint32_t end = s + 2 <= chunk->n ? chunk->start[s + 2] : chunk->start[s + 1];
            for (uint32_t e = chunk->start[s + 1]; e < end; e++)
                __builtin_prefetch(&h->fixel[gls_chunk_fixel(chunk, e)]);
            const uint32_t first = chunk->start[s];
            const row r = {chunk->entry + first, chunk->high ? chunk->high + first : NULL, chunk->low_bits,
                           chunk->start[s + 1] - first};
            improve(h, t, &r, h->base.model->variation[at], &h->coefficient[from][at], &h->coefficient[1 - from][at],
                    part[i]);
        }
        sum_group(part);
        sums[g][0] = part[0][0];
        sums[g][1] = part[0][1];
    }
}

/* Improves the coefficients of all streamlines and adds up their costs in the order of groups. */
static gls_status host_rows(gls_solver *solver, int from, gls_row_costs *costs)
{
    host_solver *h = (host_solver *)solver;
    const gls_rows *rows = h->base.model->rows;
    *costs = (gls_row_costs){0};
    for (size_t i = 0; i < rows->n_chunks; i++) {
        const gls_chunk *chunk = &rows->chunk[i];
        improve_chunk(h, chunk, from, h->part);
        for (size_t g = 0; g < (chunk->n + GLS_SOLVER_GROUP - 1) / GLS_SOLVER_GROUP; g++) {
            costs->tv += (double)h->part[g][0];
            costs->squares += (double)h->part[g][1];
        }
    }
    return GLS_OK;
}

/* Adds up the sums and marks of fixel k over all threads, and sets them to 0. */
static void gather_sums(host_solver *h, size_t k, int64_t sum[2], bool *marked)
{
    sum[0] = sum[1] = 0;
    *marked = false;
    for (int i = 0; i < h->n_threads; i++) {
        host_thread *t = &h->thread[i];
        for (int j = 0; j < 2; j++) {
            sum[j] += t->sum[2 * k + (size_t)j];
            t->sum[2 * k + (size_t)j] = 0;
        }
        if (!t->marked) continue;
        *marked |= t->mark[k];
        t->mark[k] = 0;
    }
}

/* The value of a sum, by the kernel's arithmetic on its two words. */
static float value_of(int64_t sum)
{
    return fixed_value((uint32_t)((uint64_t)sum & UINT32_MAX), (uint32_t)((uint64_t)sum >> 32));
}

/* The C twin of complete() in weights/fixels.comp, for all fixels. */
static gls_status host_fixels(gls_solver *solver, gls_fixel_costs *costs)
{
    host_solver *h = (host_solver *)solver;
    const gls_weight_model *m = h->base.model;
    const size_t groups = (m->n + GLS_SOLVER_GROUP - 1) / GLS_SOLVER_GROUP;
    *costs = (gls_fixel_costs){0};
    /* each thread takes whole groups; sums within a group, and then over groups, have a fixed order */
#pragma omp parallel for schedule(static) num_threads(h->n_threads)
    for (size_t g = 0; g < groups; g++) {
        float part[GLS_SOLVER_GROUP][2] = {{0}};
        for (size_t i = 0; i < GLS_SOLVER_GROUP && g * GLS_SOLVER_GROUP + i < m->n; i++) {
            size_t k = g * GLS_SOLVER_GROUP + i;
            int64_t sum[2];
            bool marked;
            gather_sums(h, k, sum, &marked);
            host_fixel *f = &h->fixel[k];
            float density = value_of(sum[0]) * h->base.unit, mean = value_of(sum[1]) * m->constant[k].per_length;
            f->excess = density - m->constant[k].fd;
            /* a fixel that a streamline marked is excluded for the rest of the fit */
            if (marked) f->share = 0;
            f->m = mean;
            f->em = exponential(mean);
            part[i][0] = (m->constant[k].mask * f->excess) * f->excess;
            part[i][1] = f->density > 0 && !(f->share > 0) ? 1 : 0;
        }
        sum_group(part);
        h->part[g][0] = part[0][0];
        h->part[g][1] = part[0][1];
    }
    /* the next pass over streamlines marks anew */
    for (int i = 0; i < h->n_threads; i++) h->thread[i].marked = false;
    for (size_t g = 0; g < groups; g++) {
        costs->data += (double)h->part[g][0];
        costs->excluded += (double)h->part[g][1];
    }
    return GLS_OK;
}

/* Copies all coefficients of one of the two arrays, h->coefficient[which]. */
static gls_status host_read(gls_solver *solver, int which, float *coefficient)
{
    host_solver *h = (host_solver *)solver;
    memcpy(coefficient, h->coefficient[which], h->base.model->rows->n * sizeof *coefficient);
    return GLS_OK;
}

/* Copies states and means; either may be NULL. */
static gls_status host_read_fixels(gls_solver *solver, gls_model_state *state, gls_model_mean *mean)
{
    host_solver *h = (host_solver *)solver;
    for (size_t k = 0; k < h->base.model->n; k++) {
        const host_fixel *f = &h->fixel[k];
        if (state) state[k] = (gls_model_state){f->excess, f->density, f->share, f->unit};
        if (mean) mean[k] = (gls_model_mean){f->m, f->em};
    }
    return GLS_OK;
}

/* Frees everything; also a solver that is built only in part. */
static void host_destroy(gls_solver *solver)
{
    host_solver *h = (host_solver *)solver;
    for (int i = 0; h->thread && i < h->n_threads; i++) {
        free(h->thread[i].sum);
        free(h->thread[i].mark);
        free(h->thread[i].list[0]);
    }
    free(h->thread);
    free(h->coefficient[0]);
    free(h->coefficient[1]);
    free(h->fixel);
    free(h->part);
    free(h);
}

/* Largest number of entries of a streamline. */
static size_t longest_row(const gls_rows *rows)
{
    size_t most = 1;
    for (size_t c = 0; c < rows->n_chunks; c++)
        for (size_t s = 0; s < rows->chunk[c].n; s++) {
            size_t n = rows->chunk[c].start[s + 1] - rows->chunk[c].start[s];
            if (n > most) most = n;
        }
    return most;
}

/* Allocates the sums and lists of each thread. Returns false if memory ran out; host_destroy() frees what there is. */
static bool make_threads(host_solver *h)
{
    const size_t n = h->base.model->n, longest = longest_row(h->base.model->rows);
    h->thread = calloc((size_t)h->n_threads, sizeof *h->thread);
    for (int i = 0; h->thread && i < h->n_threads; i++) {
        host_thread *t = &h->thread[i];
        t->sum = calloc(2 * n, sizeof *t->sum);
        t->mark = calloc(n, 1);
        t->list[0] = malloc(longest * N_LISTS * sizeof *t->list[0]);
        if (!t->sum || !t->mark || !t->list[0]) return false;
        for (size_t k = 1; k < N_LISTS; k++) t->list[k] = t->list[0] + k * longest;
    }
    return h->thread != NULL;
}

gls_status gls_host_solver_create(const gls_weight_model *model, const gls_weights_options *options,
                                  gls_solver **solver)
{
    static const gls_solver_kind kind = {host_rows, host_fixels, host_read, host_read_fixels, host_destroy};
    const size_t n = model->rows->n, most = n > model->n ? n : model->n;
    host_solver *h = calloc(1, sizeof *h);
    if (!h) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    gls_solver_init(&h->base, &kind, model, options);
    h->n_threads = omp_get_max_threads() < MAX_THREADS ? omp_get_max_threads() : MAX_THREADS;
    /* pairs of fixels begin at a cache line */
    h->fixel = aligned_alloc(64, (model->n + 1) / 2 * 64);
    h->coefficient[0] = calloc(n, sizeof *h->coefficient[0]);
    h->coefficient[1] = calloc(n, sizeof *h->coefficient[1]);
    h->part = malloc((most / GLS_SOLVER_GROUP + 1) * sizeof *h->part);
    if (!h->fixel || !h->coefficient[0] || !h->coefficient[1] || !h->part || !make_threads(h)) {
        host_destroy(&h->base);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels and %zu streamlines", model->n, n);
    }
    for (size_t k = 0; k < model->n; k++) {
        const gls_model_state *f = &model->state[k];
        h->fixel[k] = (host_fixel){f->excess, f->density, f->share, f->unit, 0, 1, {0, 0}};
    }
    /* the first sums are those of weights 1 */
    for (size_t k = 0; k < model->n; k++) h->thread[0].sum[2 * k] = (int64_t)(model->length[k] << 24);
    *solver = &h->base;
    return GLS_OK;
}
