/* Permutation tests of a general linear model over many elements. The columns of a design are turned into an
 * orthonormal basis whose first vectors span what the hypothesis asks, so that a shuffle costs one product with the
 * measurements. */
#include "tracts/permutation.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/maths.h"
#include "util/status.h"

/* --- Distributions. */

/* Regularised incomplete beta function, by the continued fraction of Lentz where it converges fast. */
static double incomplete_beta(double a, double b, double x)
{
    if (!(x > 0)) return 0;
    if (!(x < 1)) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m < 500; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        f *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        f *= c * d;
        if (fabs(c * d - 1) < 1e-16) break;
    }
    return front * f;
}

/* Inverse of erfc for 0 < p < 2: a first guess, then Halley's steps. */
static double inverse_erfc(double p)
{
    const double q = fmax(p < 1 ? p : 2 - p, DBL_MIN), t = sqrt(-2 * log(q / 2));
    double x = M_SQRT1_2 * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
    for (int i = 0; i < 4; i++) {
        const double error = erfc(x) - q, slope = -M_2_SQRTPI * exp(-x * x);
        x -= error / (slope + error * x);
    }
    return p < 1 ? x : -x;
}

/* Standard normal number that is as likely as a t statistic. */
static double z_of_t(double t, double dof)
{
    const double z = M_SQRT2 * inverse_erfc(incomplete_beta(0.5 * dof, 0.5, dof / (t * t + dof)));
    return t < 0 ? -z : z;
}

/* Standard normal number that is as likely as an F statistic, one-sided. */
static double z_of_f(double f, double rank, double dof)
{
    if (f >= 1) return M_SQRT2 * inverse_erfc(2 * incomplete_beta(0.5 * dof, 0.5 * rank, dof / (dof + rank * f)));
    return -M_SQRT2 * inverse_erfc(2 * incomplete_beta(0.5 * rank, 0.5 * dof, rank * f / (rank * f + dof)));
}

/* --- The model. */

/* Makes v, vector k of the basis, of n numbers, orthogonal to the vectors before it and of length 1. share: k + 1
 * numbers, which become the shares of all these vectors in v as it was. Returns false if less than 1e-6 of its length
 * is left. */
static bool orthonormalise(long double *basis, size_t k, size_t n, long double *share)
{
    long double *v = basis + k * n, before = 0, after = 0;
    for (size_t i = 0; i < n; i++) before += v[i] * v[i];
    memset(share, 0, k * sizeof *share);
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = 0; j < k; j++) {
            long double dot = 0;
            for (size_t i = 0; i < n; i++) dot += basis[j * n + i] * v[i];
            for (size_t i = 0; i < n; i++) v[i] -= dot * basis[j * n + i];
            share[j] += dot;
        }
    for (size_t i = 0; i < n; i++) after += v[i] * v[i];
    share[k] = sqrtl(after);
    for (size_t i = 0; i < n && after > 0; i++) v[i] /= share[k];
    return after > 1e-12 * before;
}

/* Share of the sum of squares of an element of n numbers up to which what the columns of a design leave of it is
 * rounding noise: more than ten times the largest of 200,000 elements that columns explained wholly. */
static double noise_share(size_t n)
{
    return 64 * (double)n * DBL_EPSILON * DBL_EPSILON;
}

/* A design X of n rows and p columns as a product. All zero is empty. */
typedef struct factors {
    double *q; /* p x n: orthonormal vectors that span the columns */
    double *r; /* p x p: row k has the shares of q[0 .. k] in column k */
} factors;

static void finish_factors(factors *f)
{
    free(f->q);
    free(f->r);
}

/* Call finish_factors() also after a failure. GLS_ERR_INPUT: the design is rank-deficient. */
static gls_status factor(const double *design, size_t n, size_t p, factors *f)
{
    *f = (factors){malloc((n + 1) * p * sizeof *f->q), malloc(p * p * sizeof *f->r)};
    /* a column that is nearly constant, such as years, has few exact digits beside its mean: long doubles keep more */
    long double *q = malloc((n + 1) * p * sizeof *q), *share = malloc(p * sizeof *share);
    gls_status status = f->q && f->r && q && share ? GLS_OK : gls_no_memory();
    for (size_t k = 0; k < p && !status; k++) {
        for (size_t i = 0; i < n; i++) q[k * n + i] = design[i * p + k];
        if (!orthonormalise(q, k, n, share))
            status = gls_fail(GLS_ERR_INPUT, "the design is rank-deficient: a column follows from the others");
        for (size_t i = 0; i < n; i++) f->q[k * n + i] = (double)q[k * n + i];
        for (size_t j = 0; j <= k; j++) f->r[k * p + j] = (double)share[j];
    }
    free(q);
    free(share);
    return status;
}

/* Sets w to the shares of the vectors q in X (X'X)^-1 c' of a row c of the contrasts. */
static void ask(const factors *f, size_t p, const double *c, long double *w)
{
    for (size_t k = 0; k < p; k++) {
        w[k] = c[k];
        for (size_t j = 0; j < k; j++) w[k] -= f->r[k * p + j] * w[j];
        w[k] /= f->r[k * p + k];
    }
}

/* Fills the basis: X (X'X)^-1 c' of each row c of the contrast, then what else the columns of the design span. */
static gls_status make_basis(gls_linear_model *m, const double *design, const gls_hypothesis *h)
{
    const size_t n = m->n, p = m->n_columns;
    factors f;
    /* w: the basis as shares of the vectors q, which cannot leave what the columns span */
    long double *w = malloc((p + 1) * p * sizeof *w), *share = malloc((p + 1) * sizeof *share);
    size_t made = 0;
    gls_status status = factor(design, n, p, &f);
    if (!status && (!w || !share)) status = gls_no_memory();
    for (size_t r = 0; r < h->n_rows + p && !status; r++) {
        long double *v = w + made * p;
        if (r < h->n_rows)
            ask(&f, p, h->contrast + r * p, v);
        else
            for (size_t k = 0; k < p; k++) v[k] = k == r - h->n_rows;
        if (made < p && orthonormalise(w, made, p, share))
            made++;
        else if (r < h->n_rows)
            status = gls_fail(GLS_ERR_INPUT, "a row of the contrasts is zero or follows from the others of its F-test");
    }
    for (size_t k = 0; k < p && !status; k++)
        for (size_t i = 0; i < n; i++) {
            long double sum = 0;
            for (size_t j = 0; j < p; j++) sum += w[k * p + j] * f.q[j * n + i];
            m->basis[k * n + i] = (double)sum;
        }
    free(w);
    free(share);
    finish_factors(&f);
    return status;
}

/* Subtracts from the measurements what the columns explain that the hypothesis does not ask for. */
static void remove_others(gls_linear_model *m)
{
#pragma omp parallel for
    for (size_t e = 0; e < m->n_elements; e++) {
        double squares = 0;
        for (size_t i = 0; i < m->n; i++) {
            const double v = m->residual[i * m->n_elements + e];
            squares += v * v;
        }
        m->noise[e] = fmax(noise_share(m->n) * squares, DBL_MIN);
        for (size_t k = m->n_rows; k < m->n_columns; k++) {
            const double *b = m->basis + k * m->n;
            double dot = 0;
            for (size_t i = 0; i < m->n; i++) dot += b[i] * m->residual[i * m->n_elements + e];
            for (size_t i = 0; i < m->n; i++) m->residual[i * m->n_elements + e] -= dot * b[i];
        }
        for (size_t i = 0; i < m->n; i++) {
            const double v = m->residual[i * m->n_elements + e];
            m->total[e] += v * v;
        }
        if (m->total[e] > m->noise[e]) continue;
        m->total[e] = 0;
        for (size_t i = 0; i < m->n; i++) m->residual[i * m->n_elements + e] = 0;
    }
}

gls_status gls_linear_model_init(gls_linear_model *m, const double *y, size_t n, size_t n_elements,
                                 const double *design, size_t n_columns, const gls_hypothesis *h)
{
    *m = (gls_linear_model){.n = n,
                            .n_elements = n_elements,
                            .n_columns = n_columns,
                            .n_rows = h->n_rows,
                            .is_f = h->is_f,
                            .dof = (double)n - (double)n_columns};
    if (n <= n_columns)
        return gls_fail(GLS_ERR_INPUT, "%zu subjects are too few for a design of %zu columns", n, n_columns);
    m->basis = malloc((n_columns + 1) * n * sizeof *m->basis);
    m->residual = malloc(n * n_elements * sizeof *m->residual);
    m->total = calloc(n_elements, sizeof *m->total);
    m->noise = malloc(n_elements * sizeof *m->noise);
    if (!m->basis || !m->residual || !m->total || !m->noise) return gls_no_memory();
    memcpy(m->residual, y, n * n_elements * sizeof *m->residual);
    gls_status status = make_basis(m, design, h);
    if (!status) remove_others(m);
    return status;
}

void gls_linear_model_finish(gls_linear_model *m)
{
    free(m->basis);
    free(m->residual);
    free(m->total);
    free(m->noise);
    *m = (gls_linear_model){.n = 0};
}

/* Fits one element: its coefficients go to b[0], b[n_elements] ... *noise: standard deviation up to which residuals are
 * rounding noise. Returns that of the residuals. */
static double fit_element(const factors *f, const double *y, size_t n, size_t n_elements, size_t p, double *b,
                          double *noise)
{
    double squares = 0, all = 0;
    for (size_t k = 0; k < p; k++) {
        b[k * n_elements] = 0;
        for (size_t i = 0; i < n; i++) b[k * n_elements] += f->q[k * n + i] * y[i * n_elements];
    }
    for (size_t i = 0; i < n; i++) {
        double rest = y[i * n_elements];
        all += rest * rest;
        for (size_t k = 0; k < p; k++) rest -= f->q[k * n + i] * b[k * n_elements];
        squares += rest * rest;
    }
    for (size_t k = p; k-- > 0;) {
        for (size_t j = k + 1; j < p; j++) b[k * n_elements] -= f->r[j * p + k] * b[j * n_elements];
        b[k * n_elements] /= f->r[k * p + k];
    }
    const double least = fmax(noise_share(n) * all, DBL_MIN), dof = (double)n - (double)p;
    *noise = sqrt(least / dof);
    return squares > least ? sqrt(squares / dof) : 0;
}

gls_status gls_effects_find(gls_effects *found, const double *y, size_t n, size_t n_elements, const double *design,
                            size_t n_columns)
{
    factors f;
    *found = (gls_effects){.beta = malloc(n_columns * n_elements * sizeof *found->beta),
                           .deviation = malloc(n_elements * sizeof *found->deviation),
                           .noise = malloc(n_elements * sizeof *found->noise)};
    gls_status status = factor(design, n, n_columns, &f);
    if (!status && (!found->beta || !found->deviation || !found->noise)) status = gls_no_memory();
    if (!status) {
#pragma omp parallel for
        for (size_t e = 0; e < n_elements; e++)
            found->deviation[e] = fit_element(&f, y + e, n, n_elements, n_columns, found->beta + e, found->noise + e);
    }
    finish_factors(&f);
    return status;
}

void gls_effects_finish(gls_effects *f)
{
    free(f->beta);
    free(f->deviation);
    free(f->noise);
    *f = (gls_effects){.beta = NULL};
}

/* --- Enhancement. */

/* An element with its z, for sorting. */
typedef struct ranked {
    double z;
    uint32_t element;
} ranked;

/* Memory of one thread. */
typedef struct worker {
    double *product; /* n_columns x n_elements */
    double *statistic, *z, *enhanced;
    ranked *rank;     /* elements by falling z */
    uint32_t *parent; /* of each node in its component */
    uint32_t *size;   /* edges of the component of each root */
    uint64_t *below, *contributions;
} worker;

/* The heights at which edges are joined, and what an edge gets there. */
typedef struct heights {
    size_t n;
    double *height, *factor; /* n elements */
    double *share;           /* by the number of edges of a component */
} heights;

static uint32_t find_root(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
}

/* Adds an edge to the components. */
static void join(worker *w, const int32_t edge[2])
{
    uint32_t a = find_root(w->parent, (uint32_t)edge[0]), b = find_root(w->parent, (uint32_t)edge[1]);
    if (a != b) w->parent[b] = a, w->size[a] += w->size[b];
    w->size[a]++;
}

static int by_falling_z(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->z != y->z) return x->z < y->z ? 1 : -1;
    return (x->element > y->element) - (x->element < y->element);
}

/* Largest z: that of the least probability. */
#define MAX_Z 38

static void finish_heights(heights *h)
{
    free(h->height);
    free(h->factor);
    free(h->share);
}

/* Makes the heights, which are added up as in MRtrix3. Call finish_heights() also after a failure. */
static gls_status make_heights(const gls_enhancer *n, size_t n_elements, heights *h)
{
    const bool nbs = n->kind == GLS_ENHANCE_NBS;
    size_t most = 1;
    for (double z = n->dh; n->kind == GLS_ENHANCE_TFNBS && z - n->dh < MAX_Z; z += n->dh) most++;
    *h = (heights){.height = malloc(most * sizeof *h->height),
                   .factor = malloc(most * sizeof *h->factor),
                   .share = malloc((n_elements + 1) * sizeof *h->share)};
    if (!h->height || !h->factor || !h->share) return gls_no_memory();
    if (nbs) h->height[h->n++] = n->threshold;
    for (double z = n->dh; n->kind == GLS_ENHANCE_TFNBS && z - n->dh < MAX_Z; z += n->dh) h->height[h->n++] = z;
    for (size_t k = 0; k < h->n; k++) h->factor[k] = nbs ? 1 : pow(h->height[k], n->height);
    for (size_t k = 0; k <= n_elements; k++) h->share[k] = nbs ? (double)k : pow((double)k, n->extent);
    return GLS_OK;
}

/* Adds to each edge of at least z = h, the sum over such heights of its component's number of edges and of h, both with
 * exponents. The heights fall, so that components only grow. */
static void enhance(const gls_enhancer *n, const heights *h, worker *w, size_t n_elements)
{
    size_t active = 0, steps = h->n;
    for (size_t e = 0; e < n_elements; e++) w->rank[e] = (ranked){w->z[e], (uint32_t)e};
    qsort(w->rank, n_elements, sizeof *w->rank, by_falling_z);
    memset(w->enhanced, 0, n_elements * sizeof *w->enhanced);
    for (uint32_t i = 0; i < n->n_nodes; i++) w->parent[i] = i, w->size[i] = 0;
    while (steps > 0 && h->height[steps - 1] > w->rank[0].z) steps--;
    for (size_t k = steps; k-- > 0;) {
        for (; active < n_elements && w->rank[active].z >= h->height[k]; active++)
            join(w, n->edge[w->rank[active].element]);
        for (size_t i = 0; i < active; i++) {
            const uint32_t e = w->rank[i].element, root = find_root(w->parent, (uint32_t)n->edge[e][0]);
            w->enhanced[e] += h->share[w->size[root]] * h->factor[k];
        }
    }
}

/* --- Shuffles. */

/* One hypothesis, and how its elements are enhanced. */
typedef struct test {
    const gls_linear_model *m;
    const gls_enhancer *enhancer;
    heights heights;
} test;

/* Sum of squares of what no column explains of a shuffled element. */
static double find_rest(const gls_linear_model *m, const double *product, size_t e, const uint32_t *permutation,
                        size_t stride)
{
    double squares = 0;
    for (size_t i = 0; i < m->n; i++) {
        double rest = m->residual[permutation[i * stride] * m->n_elements + e];
        for (size_t k = 0; k < m->n_columns; k++) rest -= product[k * m->n_elements + e] * m->basis[k * m->n + i];
        squares += rest * rest;
    }
    return squares;
}

/* Computes statistic, z and enhanced values of one shuffle. They are 0 where the other columns leave nothing but noise.
 * What no column explains counts as noise at least, so that an effect without residuals has a large, finite value. */
static void shuffle(const test *t, const uint32_t *permutation, size_t stride, worker *w)
{
    const gls_linear_model *m = t->m;
    memset(w->product, 0, m->n_columns * m->n_elements * sizeof *w->product);
    for (size_t i = 0; i < m->n; i++) {
        const double *row = m->residual + permutation[i * stride] * m->n_elements;
        for (size_t k = 0; k < m->n_columns; k++) {
            const double b = m->basis[k * m->n + i];
            double *to = w->product + k * m->n_elements;
            for (size_t e = 0; e < m->n_elements; e++) to[e] += b * row[e];
        }
    }
    const double rank = (double)m->n_rows;
    for (size_t e = 0; e < m->n_elements; e++) {
        double asked = 0, others = 0;
        for (size_t k = 0; k < m->n_columns; k++) {
            const double v = w->product[k * m->n_elements + e];
            *(k < m->n_rows ? &asked : &others) += v * v;
        }
        double rest = m->total[e] - asked - others;
        /* the difference is not exact where it is small */
        if (rest < 1e-8 * m->total[e]) rest = find_rest(m, w->product, e, permutation, stride);
        const double f = asked / rank / (fmax(rest, m->noise[e]) / m->dof),
                     signed_root = w->product[e] > 0 ? sqrt(f) : -sqrt(f);
        w->statistic[e] = m->is_f || f == 0 ? f : signed_root;
        w->z[e] = f == 0 ? 0 : m->is_f ? z_of_f(f, rank, m->dof) : z_of_t(signed_root, m->dof);
    }
    if (t->enhancer->kind == GLS_ENHANCE_NONE)
        memcpy(w->enhanced, w->z, m->n_elements * sizeof *w->z);
    else
        enhance(t->enhancer, &t->heights, w, m->n_elements);
}

static bool make_worker(worker *w, const gls_linear_model *m, const gls_enhancer *n)
{
    const size_t e = m->n_elements;
    *w = (worker){.product = malloc(m->n_columns * e * sizeof(double)),
                  .statistic = malloc(e * sizeof(double)),
                  .z = malloc(e * sizeof(double)),
                  .enhanced = malloc(e * sizeof(double)),
                  .rank = malloc(e * sizeof(ranked)),
                  .parent = malloc((n->n_nodes + 1) * sizeof(uint32_t)),
                  .size = malloc((n->n_nodes + 1) * sizeof(uint32_t)),
                  .below = calloc(e, sizeof(uint64_t)),
                  .contributions = calloc(e, sizeof(uint64_t))};
    return w->product && w->statistic && w->z && w->enhanced && w->rank && w->parent && w->size && w->below &&
           w->contributions;
}

static void finish_worker(worker *w)
{
    free(w->product);
    free(w->statistic);
    free(w->z);
    free(w->enhanced);
    free(w->rank);
    free(w->parent);
    free(w->size);
    free(w->below);
    free(w->contributions);
}

/* Compares one shuffle with the data. An element of which only noise is left has no part in the maximum. */
static void compare(const worker *w, const gls_permutation_result *r, size_t n_elements, size_t k)
{
    size_t largest = n_elements;
    for (size_t e = 0; e < n_elements; e++) {
        if (w->z[e] != 0 && (largest == n_elements || w->enhanced[e] > w->enhanced[largest])) largest = e;
        w->below[e] += r->enhanced[e] > w->enhanced[e];
    }
    r->null_max[k] = largest < n_elements ? w->enhanced[largest] : 0;
    if (largest < n_elements) w->contributions[largest]++;
}

/* Does the shuffles on all threads, each with a worker. Only the calling thread asks the monitor. */
static gls_status shuffle_all(const test *t, const uint32_t *permutation, size_t n_shuffles, const gls_monitor *monitor,
                              gls_progress *progress, worker *w, int threads, const gls_permutation_result *r)
{
    const uint64_t before = progress->done;
    atomic_uint_fast64_t done = 0;
    atomic_bool stopped = false;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (size_t k = 0; k < n_shuffles; k++) {
        const int thread = omp_get_thread_num();
        if (atomic_load(&stopped)) continue;
        shuffle(t, permutation + k, n_shuffles, &w[thread]);
        compare(&w[thread], r, t->m->n_elements, k);
        const uint64_t so_far = before + atomic_fetch_add(&done, 1) + 1;
        if (thread > 0) continue;
        progress->done = so_far;
        if (!gls_monitor_step(monitor, progress)) atomic_store(&stopped, true);
    }
    progress->done = before + n_shuffles;
    if (atomic_load(&stopped) || !gls_monitor_step(monitor, progress))
        return gls_fail(GLS_ERR_CANCELLED, "interrupted");
    return GLS_OK;
}

gls_status gls_permutation_run(const gls_linear_model *m, const gls_enhancer *n, const uint32_t *permutation,
                               size_t n_shuffles, const gls_monitor *monitor, gls_progress *progress,
                               gls_permutation_result *r)
{
    const size_t e = m->n_elements;
    const int threads = omp_get_max_threads();
    worker *w = calloc((size_t)threads, sizeof *w);
    *r = (gls_permutation_result){.statistic = malloc(e * sizeof(double)),
                                  .z = malloc(e * sizeof(double)),
                                  .enhanced = malloc(e * sizeof(double)),
                                  .null_max = malloc((n_shuffles + 1) * sizeof(double)),
                                  .below = calloc(e, sizeof(uint64_t)),
                                  .contributions = calloc(e, sizeof(uint64_t))};
    test t = {.m = m, .enhancer = n};
    uint32_t *same = malloc(m->n * sizeof *same);
    bool good = w && same && r->statistic && r->z && r->enhanced && r->null_max && r->below && r->contributions &&
                make_heights(n, e, &t.heights) == GLS_OK;
    for (int k = 0; good && k < threads; k++) good = make_worker(&w[k], m, n);
    gls_status status = good ? GLS_OK : gls_no_memory();
    if (good) {
        for (uint32_t i = 0; i < m->n; i++) same[i] = i;
        shuffle(&t, same, 1, &w[0]);
        memcpy(r->statistic, w[0].statistic, e * sizeof(double));
        memcpy(r->z, w[0].z, e * sizeof(double));
        memcpy(r->enhanced, w[0].enhanced, e * sizeof(double));
        status = shuffle_all(&t, permutation, n_shuffles, monitor, progress, w, threads, r);
    }
    for (int k = 0; w && k < threads; k++) {
        for (size_t i = 0; good && i < e; i++) {
            r->below[i] += w[k].below[i];
            r->contributions[i] += w[k].contributions[i];
        }
        finish_worker(&w[k]);
    }
    finish_heights(&t.heights);
    free(w);
    free(same);
    return status;
}

void gls_permutation_result_finish(gls_permutation_result *r)
{
    free(r->statistic);
    free(r->z);
    free(r->enhanced);
    free(r->null_max);
    free(r->below);
    free(r->contributions);
    *r = (gls_permutation_result){.z = NULL};
}

void gls_permutations_draw(uint64_t seed, size_t n, size_t n_shuffles, uint32_t *permutation)
{
    for (size_t k = 0; k < n_shuffles; k++) {
        for (uint32_t i = 0; i < n; i++) permutation[i * n_shuffles + k] = i;
        for (size_t i = n; k > 0 && i > 1; i--) {
            const uint32_t counter[4] = {(uint32_t)i, (uint32_t)k, 0, GLS_PHILOX_PERMUTATION};
            uint32_t word[4];
            gls_philox(counter, seed, word);
            const size_t other = (size_t)(((uint64_t)word[0] * i) >> 32);
            const uint32_t keep = permutation[(i - 1) * n_shuffles + k];
            permutation[(i - 1) * n_shuffles + k] = permutation[other * n_shuffles + k];
            permutation[other * n_shuffles + k] = keep;
        }
    }
}
