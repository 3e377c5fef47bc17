/* The passes of SIFT2 on the CPU: the arithmetic of the kernels, streamlines shared among threads. Each thread sums up
 * in whole numbers of its own, so that the order leaves no trace. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"
#include "weights/solver.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse in ISO mode */
#endif

/* What text that is GLSL and C at once calls by other names. */
#define F(x) x##f
#define FUNCTION static inline
#define INT(x) ((int32_t)(x))
#define UINT(x) ((uint32_t)(x))
#define FLOAT(x) ((float)(x))
#define uint uint32_t
#define abs fabsf
static inline float intBitsToFloat(int32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
typedef struct Moments Moments;
typedef struct Search Search;
typedef struct Step Step;
#include "weights/streamline.glsl"
#undef uint
#undef abs

#define MAX_THREADS 64

/* An entry as the search wants it. */
typedef struct known {
    float length, m, em; /* times mask, mm */
} known;

typedef struct host_thread {
    int64_t *sum; /* two for each fixel */
    uint8_t *mark;
    known *known;
    size_t capacity;
    bool marked;
} host_thread;

typedef struct host_solver {
    gls_solver base;
    gls_model_state *state;
    gls_model_mean *mean;
    float *coefficient[2];
    float (*part)[2]; /* of each group of streamlines */
    int n_threads;
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

static void add_fixed(int64_t *sum, float v)
{
    float size = fabsf(v);
    uint32_t high = fixed_high(size);
    int64_t value = (int64_t)((uint64_t)high << 32 | fixed_low(size, high));
    *sum += v < 0 ? -value : value;
}

/* In place of a coefficient beyond the largest: the mean of the fixels, without the one that asks most, which is
 * marked. */
static float give_way(const host_solver *h, host_thread *t, const uint32_t *entry, uint32_t n)
{
    float most = 0, sum = 0, weight = 0;
    uint32_t worst = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        gls_model_state f = h->state[entry[i] >> 8];
        float x = ((f.share * ((float)(entry[i] & 255) * h->base.unit)) * f.excess) * f.excess;
        if (f.share > 0 && f.excess < 0 && x > most) {
            most = x;
            worst = entry[i] >> 8;
        }
    }
    if (worst == UINT32_MAX) return 0;
    t->mark[worst] = 1;
    t->marked = true;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = entry[i] >> 8;
        gls_model_state f = h->state[k];
        if (!(f.share > 0) || k == worst) continue;
        float l = (float)(entry[i] & 255) * f.unit;
        sum += l * h->mean[k].m;
        weight += l;
    }
    return weight > 0 ? sum * (1.0f / weight) : 0;
}

static float search_change(const Search *search, Moments m, const known *known, uint32_t n)
{
    Step at = {0, 1};
    for (int k = 0; k < 100 && fabsf(at.d) > 0.001f; k++) {
        float c = search->c + at.x, e = exponential(c), slope = 0, bend = 0;
        for (uint32_t i = 0; i < n; i++) {
            float l = known[i].length;
            slope += l * variation_slope(c, e, known[i].m, known[i].em);
            bend += l * variation_bend(c, e, known[i].m, known[i].em);
        }
        at = newton(*search, m, at, e, slope, bend);
    }
    return at.x;
}

/* One streamline; returns its part of the costs. */
static void improve(const host_solver *h, host_thread *t, const uint32_t *entry, uint32_t n, float variation_factor,
                    const float *from, float *to, float part[2])
{
    const gls_weights_options *o = h->base.options;
    const float unit = h->base.unit, limit = (float)o->max_coeff_step, least = (float)o->min_coeff;
    Search search = {*from, exponential(*from), variation_factor, h->base.tikhonov, limit};
    Moments m = {0};
    float tv = 0, x = 0;
    uint32_t n_known = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = entry[i] >> 8;
        gls_model_state f = h->state[k];
        gls_model_mean mean = h->mean[k];
        float q = (float)(entry[i] & 255), l = q * unit;
        tv += (f.unit * q) * variation(search.c, search.e, mean.m, mean.em);
        if (!(f.share > 0)) continue;
        m = add_moments(m, f.share * l, f.excess, l, (f.density - l) * search.e);
        t->known[n_known++] = (known){f.unit * q, mean.m, mean.em};
    }
    if (n > 0) x = search_change(&search, m, t->known, n_known);
    x = x < -limit ? -limit : x > limit ? limit : x;
    float c = search.c + x;
    c = c < least ? least : c;
    if (c > (float)o->max_coeff) c = give_way(h, t, entry, n);
    *to = c;
    float w = c > least ? exponential(c) : 0;
    for (uint32_t i = 0; i < n; i++) {
        float q = (float)(entry[i] & 255);
        int64_t *sum = t->sum + 2 * (size_t)(entry[i] >> 8);
        add_fixed(sum, q * w);
        add_fixed(sum + 1, q * c);
    }
    part[0] = search.variation * tv;
    part[1] = search.c * search.c;
}

/* The sum of a group as a work group makes it; part[0]. */
static void sum_group(float part[GLS_SOLVER_GROUP][2])
{
    for (int n = GLS_SOLVER_GROUP / 2; n > 0; n /= 2)
        for (int i = 0; i < n; i++) {
            part[i][0] += part[i + n][0];
            part[i][1] += part[i + n][1];
        }
}

static void improve_chunk(host_solver *h, const gls_chunk *chunk, int from, float (*sums)[2])
{
    const size_t groups = (chunk->n + GLS_SOLVER_GROUP - 1) / GLS_SOLVER_GROUP;
#pragma omp parallel for schedule(dynamic, 4) num_threads(h->n_threads)
    for (size_t g = 0; g < groups; g++) {
        host_thread *t = &h->thread[omp_get_thread_num()];
        float part[GLS_SOLVER_GROUP][2] = {{0}};
        for (size_t i = 0; i < GLS_SOLVER_GROUP && g * GLS_SOLVER_GROUP + i < chunk->n; i++) {
            size_t s = g * GLS_SOLVER_GROUP + i, at = chunk->first + s;
            improve(h, t, chunk->entry + chunk->start[s], chunk->start[s + 1] - chunk->start[s],
                    h->base.model->variation[at], &h->coefficient[from][at], &h->coefficient[1 - from][at], part[i]);
        }
        sum_group(part);
        sums[g][0] = part[0][0];
        sums[g][1] = part[0][1];
    }
}

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

/* The sums of all threads, which begin anew. */
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

static float value_of(int64_t sum)
{
    return fixed_value((uint32_t)((uint64_t)sum & UINT32_MAX), (uint32_t)((uint64_t)sum >> 32));
}

static gls_status host_fixels(gls_solver *solver, gls_fixel_costs *costs)
{
    host_solver *h = (host_solver *)solver;
    const gls_weight_model *m = h->base.model;
    const size_t groups = (m->n + GLS_SOLVER_GROUP - 1) / GLS_SOLVER_GROUP;
    *costs = (gls_fixel_costs){0};
#pragma omp parallel for schedule(static) num_threads(h->n_threads)
    for (size_t g = 0; g < groups; g++) {
        float part[GLS_SOLVER_GROUP][2] = {{0}};
        for (size_t i = 0; i < GLS_SOLVER_GROUP && g * GLS_SOLVER_GROUP + i < m->n; i++) {
            size_t k = g * GLS_SOLVER_GROUP + i;
            int64_t sum[2];
            bool marked;
            gather_sums(h, k, sum, &marked);
            gls_model_state *f = &h->state[k];
            float density = value_of(sum[0]) * h->base.unit, mean = value_of(sum[1]) * m->constant[k].per_length;
            f->excess = density - m->constant[k].fd;
            if (marked) f->share = 0;
            h->mean[k] = (gls_model_mean){mean, exponential(mean)};
            part[i][0] = (m->constant[k].mask * f->excess) * f->excess;
            part[i][1] = f->density > 0 && !(f->share > 0) ? 1 : 0;
        }
        sum_group(part);
        h->part[g][0] = part[0][0];
        h->part[g][1] = part[0][1];
    }
    for (int i = 0; i < h->n_threads; i++) h->thread[i].marked = false;
    for (size_t g = 0; g < groups; g++) {
        costs->data += (double)h->part[g][0];
        costs->excluded += (double)h->part[g][1];
    }
    return GLS_OK;
}

static gls_status host_read(gls_solver *solver, int which, float *coefficient)
{
    host_solver *h = (host_solver *)solver;
    memcpy(coefficient, h->coefficient[which], h->base.model->rows->n * sizeof *coefficient);
    return GLS_OK;
}

static gls_status host_read_fixels(gls_solver *solver, gls_model_state *state, gls_model_mean *mean)
{
    host_solver *h = (host_solver *)solver;
    if (state) memcpy(state, h->state, h->base.model->n * sizeof *state);
    if (mean) memcpy(mean, h->mean, h->base.model->n * sizeof *mean);
    return GLS_OK;
}

static void host_destroy(gls_solver *solver)
{
    host_solver *h = (host_solver *)solver;
    for (int i = 0; h->thread && i < h->n_threads; i++) {
        free(h->thread[i].sum);
        free(h->thread[i].mark);
        free(h->thread[i].known);
    }
    free(h->thread);
    free(h->coefficient[0]);
    free(h->coefficient[1]);
    free(h->state);
    free(h->mean);
    free(h->part);
    free(h);
}

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

static bool make_threads(host_solver *h)
{
    const size_t n = h->base.model->n, longest = longest_row(h->base.model->rows);
    h->thread = calloc((size_t)h->n_threads, sizeof *h->thread);
    for (int i = 0; h->thread && i < h->n_threads; i++) {
        host_thread *t = &h->thread[i];
        t->sum = calloc(2 * n, sizeof *t->sum);
        t->mark = calloc(n, 1);
        t->known = malloc(longest * sizeof *t->known);
        if (!t->sum || !t->mark || !t->known) return false;
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
    h->state = malloc(model->n * sizeof *h->state);
    h->mean = calloc(model->n, sizeof *h->mean);
    h->coefficient[0] = calloc(n, sizeof *h->coefficient[0]);
    h->coefficient[1] = calloc(n, sizeof *h->coefficient[1]);
    h->part = malloc((most / GLS_SOLVER_GROUP + 1) * sizeof *h->part);
    if (!h->state || !h->mean || !h->coefficient[0] || !h->coefficient[1] || !h->part || !make_threads(h)) {
        host_destroy(&h->base);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels and %zu streamlines", model->n, n);
    }
    memcpy(h->state, model->state, model->n * sizeof *h->state);
    /* weights of 1 */
    for (size_t k = 0; k < model->n; k++) h->thread[0].sum[2 * k] = (int64_t)(model->length[k] << 24);
    *solver = &h->base;
    return GLS_OK;
}
