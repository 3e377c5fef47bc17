/* Permutation tests of a general linear model over many elements. The columns of a design are turned into an
 * orthonormal basis whose first vectors span what the hypothesis asks, so that a shuffle costs one product with the
 * measurements. */
#include "tracts/permutation.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

/* Makes v, of n numbers, orthogonal to the first k vectors of the basis and of length 1. Returns false if less than
 * 1e-10 of its length is left. */
static bool orthonormalise(double *basis, size_t k, size_t n)
{
    double *v = basis + k * n, before = 0, after = 0;
    for (size_t i = 0; i < n; i++) before += v[i] * v[i];
    for (int twice = 0; twice < 2; twice++)
        for (size_t j = 0; j < k; j++) {
            double dot = 0;
            for (size_t i = 0; i < n; i++) dot += basis[j * n + i] * v[i];
            for (size_t i = 0; i < n; i++) v[i] -= dot * basis[j * n + i];
        }
    for (size_t i = 0; i < n; i++) after += v[i] * v[i];
    if (!(after > 1e-20 * before)) return false;
    for (size_t i = 0; i < n; i++) v[i] /= sqrt(after);
    return true;
}

/* Solves (X'X) x = b for several right sides of p numbers each, in place, by Cholesky's method. memory: p x p. Returns
 * false if X is rank-deficient. */
static bool solve_normal(const double *design, size_t n, size_t p, double *memory, double *b, size_t n_right)
{
    for (size_t i = 0; i < p; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0, full = 0;
            for (size_t k = 0; k < n; k++) sum += design[k * p + i] * design[k * p + j];
            full = sum;
            for (size_t k = 0; k < j; k++) sum -= memory[i * p + k] * memory[j * p + k];
            if (i == j && !(sum > 1e-12 * full)) return false;
            memory[i * p + j] = i == j ? sqrt(sum) : sum / memory[j * p + j];
        }
    for (size_t r = 0; r < n_right; r++) {
        double *x = b + r * p;
        for (size_t i = 0; i < p; i++) {
            for (size_t k = 0; k < i; k++) x[i] -= memory[i * p + k] * x[k];
            x[i] /= memory[i * p + i];
        }
        for (size_t i = p; i-- > 0;) {
            for (size_t k = i + 1; k < p; k++) x[i] -= memory[k * p + i] * x[k];
            x[i] /= memory[i * p + i];
        }
    }
    return true;
}

/* Fills the basis: X (X'X)^-1 c' of each row c of the contrast, then the columns of the design. */
static gls_status make_basis(gls_linear_model *m, const double *design, const gls_hypothesis *h)
{
    const size_t n = m->n, p = m->n_columns;
    double *memory = malloc((p + h->n_rows) * p * sizeof *memory), *asked = memory ? memory + p * p : NULL;
    size_t made = 0;
    if (!memory) return gls_no_memory();
    memcpy(asked, h->contrast, h->n_rows * p * sizeof *asked);
    gls_status status = GLS_OK;
    if (!solve_normal(design, n, p, memory, asked, h->n_rows))
        status = gls_fail(GLS_ERR_INPUT, "the design is rank-deficient: a column follows from the others");
    for (size_t r = 0; r < h->n_rows + p && !status && made < p; r++) {
        double *v = m->basis + made * n;
        for (size_t i = 0; i < n; i++) {
            v[i] = r < h->n_rows ? 0 : design[i * p + r - h->n_rows];
            for (size_t k = 0; r < h->n_rows && k < p; k++) v[i] += design[i * p + k] * asked[r * p + k];
        }
        if (orthonormalise(m->basis, made, n))
            made++;
        else if (r < h->n_rows)
            status = gls_fail(GLS_ERR_INPUT, "a row of the contrasts is zero or follows from the others of its F-test");
    }
    free(memory);
    return status;
}

/* Subtracts from the measurements what the columns explain that the hypothesis does not ask for. */
static void remove_others(gls_linear_model *m)
{
#pragma omp parallel for
    for (size_t e = 0; e < m->n_elements; e++) {
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
    if (!m->basis || !m->residual || !m->total) return gls_no_memory();
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
    *m = (gls_linear_model){.n = 0};
}

gls_status gls_effects_find(gls_effects *f, const double *y, size_t n, size_t n_elements, const double *design,
                            size_t n_columns)
{
    const size_t p = n_columns;
    double *memory = malloc((p + 1) * p * sizeof *memory), *b = memory ? memory + p * p : NULL;
    *f = (gls_effects){.beta = malloc(p * n_elements * sizeof *f->beta),
                       .deviation = malloc(n_elements * sizeof *f->deviation)};
    gls_status status = memory && f->beta && f->deviation ? GLS_OK : gls_no_memory();
    for (size_t e = 0; e < n_elements && !status; e++) {
        double squares = 0;
        memset(b, 0, p * sizeof *b);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < p; k++) b[k] += design[i * p + k] * y[i * n_elements + e];
        if (!solve_normal(design, n, p, memory, b, 1))
            status = gls_fail(GLS_ERR_INPUT, "the design is rank-deficient: a column follows from the others");
        for (size_t i = 0; i < n; i++) {
            double rest = y[i * n_elements + e];
            for (size_t k = 0; k < p; k++) rest -= design[i * p + k] * b[k];
            squares += rest * rest;
        }
        for (size_t k = 0; k < p; k++) f->beta[k * n_elements + e] = b[k];
        f->deviation[e] = sqrt(squares / ((double)n - (double)p));
    }
    free(memory);
    return status;
}

void gls_effects_finish(gls_effects *f)
{
    free(f->beta);
    free(f->deviation);
    *f = (gls_effects){.beta = NULL};
}

/* --- Enhancement. */

/* Memory of one thread. */
typedef struct worker {
    double *product; /* n_columns x n_elements */
    double *statistic, *z, *enhanced;
    uint32_t *order;  /* elements by falling z */
    uint32_t *parent; /* of each node in its component */
    uint32_t *size;   /* edges of the component of each root */
    uint64_t *below, *contributions;
    bool failed;
} worker;

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

/* An element with its z, for sorting. */
typedef struct ranked {
    double z;
    uint32_t element;
} ranked;

static int by_falling_z(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->z != y->z) return x->z < y->z ? 1 : -1;
    return (x->element > y->element) - (x->element < y->element);
}

/* Adds to each edge of at least z = h, the sum over such heights of its component's number of edges and of h, both with
 * exponents. The heights fall, so that components only grow. */
static void enhance(const gls_enhancer *n, worker *w, size_t n_elements)
{
    ranked *rank = malloc((n_elements + 1) * sizeof *rank);
    const bool nbs = n->kind == GLS_ENHANCE_NBS;
    size_t steps = 1, active = 0;
    memset(w->enhanced, 0, n_elements * sizeof *w->enhanced);
    w->failed |= !rank;
    if (!rank) return;
    for (size_t e = 0; e < n_elements; e++) rank[e] = (ranked){w->z[e], (uint32_t)e};
    qsort(rank, n_elements, sizeof *rank, by_falling_z);
    for (uint32_t i = 0; i < n->n_nodes; i++) w->parent[i] = i, w->size[i] = 0;
    /* heights are added up as in MRtrix3 */
    double *height = NULL, h = n->dh;
    for (steps = 0; !nbs && h - n->dh < rank[0].z; h += n->dh) steps++;
    height = malloc((steps + 1) * sizeof *height);
    w->failed |= !height;
    h = nbs ? n->threshold : n->dh;
    for (size_t k = 0; height && k < steps; k++, h += n->dh) height[k] = h;
    if (nbs && height) height[0] = h, steps = 1;
    for (size_t k = height ? steps : 0; k-- > 0;) {
        for (; active < n_elements && rank[active].z >= height[k]; active++) join(w, n->edge[rank[active].element]);
        const double factor = nbs ? 1 : pow(height[k], n->height);
        for (size_t i = 0; i < active; i++) {
            const uint32_t e = rank[i].element;
            const double size = w->size[find_root(w->parent, (uint32_t)n->edge[e][0])];
            w->enhanced[e] += (nbs ? size : pow(size, n->extent)) * factor;
        }
    }
    free(height);
    free(rank);
}

/* --- Shuffles. */

/* Computes statistic, z and enhanced values of one shuffle. */
static void shuffle(const gls_linear_model *m, const gls_enhancer *n, const uint32_t *permutation, size_t stride,
                    worker *w)
{
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
        double f = asked / rank / ((m->total[e] - asked - others) / m->dof);
        if (!isfinite(f) || f < 0) f = 0;
        const double t = w->product[e] > 0 ? sqrt(f) : -sqrt(f);
        w->statistic[e] = m->is_f ? f : t;
        w->z[e] = f == 0 ? 0 : m->is_f ? z_of_f(f, rank, m->dof) : z_of_t(t, m->dof);
    }
    if (n->kind == GLS_ENHANCE_NONE)
        memcpy(w->enhanced, w->z, m->n_elements * sizeof *w->z);
    else
        enhance(n, w, m->n_elements);
}

static bool make_worker(worker *w, const gls_linear_model *m, const gls_enhancer *n)
{
    const size_t e = m->n_elements;
    *w = (worker){.product = malloc(m->n_columns * e * sizeof(double)),
                  .statistic = malloc(e * sizeof(double)),
                  .z = malloc(e * sizeof(double)),
                  .enhanced = malloc(e * sizeof(double)),
                  .parent = malloc((n->n_nodes + 1) * sizeof(uint32_t)),
                  .size = malloc((n->n_nodes + 1) * sizeof(uint32_t)),
                  .below = calloc(e, sizeof(uint64_t)),
                  .contributions = calloc(e, sizeof(uint64_t))};
    return w->product && w->statistic && w->z && w->enhanced && w->parent && w->size && w->below && w->contributions;
}

static void finish_worker(worker *w)
{
    free(w->product);
    free(w->statistic);
    free(w->z);
    free(w->enhanced);
    free(w->parent);
    free(w->size);
    free(w->below);
    free(w->contributions);
}

/* Compares one shuffle with the data. */
static void compare(const worker *w, const gls_permutation_result *r, size_t n_elements, size_t k)
{
    size_t largest = 0;
    for (size_t e = 0; e < n_elements; e++) {
        if (w->enhanced[e] > w->enhanced[largest]) largest = e;
        w->below[e] += r->enhanced[e] > w->enhanced[e];
    }
    r->null_max[k] = w->enhanced[largest];
    w->contributions[largest]++;
}

gls_status gls_permutation_run(const gls_linear_model *m, const gls_enhancer *n, const uint32_t *permutation,
                               size_t n_shuffles, gls_permutation_result *r)
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
    uint32_t *same = malloc(m->n * sizeof *same);
    bool good = w && same && r->statistic && r->z && r->enhanced && r->null_max && r->below && r->contributions;
    for (int t = 0; good && t < threads; t++) good = make_worker(&w[t], m, n);
    if (good) {
        for (uint32_t i = 0; i < m->n; i++) same[i] = i;
        shuffle(m, n, same, 1, &w[0]);
        memcpy(r->statistic, w[0].statistic, e * sizeof(double));
        memcpy(r->z, w[0].z, e * sizeof(double));
        memcpy(r->enhanced, w[0].enhanced, e * sizeof(double));
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (size_t k = 0; k < n_shuffles; k++) {
            worker *own = &w[omp_get_thread_num()];
            shuffle(m, n, permutation + k, n_shuffles, own);
            compare(own, r, e, k);
        }
    }
    for (int t = 0; w && t < threads; t++) {
        for (size_t i = 0; good && i < e; i++) {
            r->below[i] += w[t].below[i];
            r->contributions[i] += w[t].contributions[i];
        }
        good = good && !w[t].failed;
        finish_worker(&w[t]);
    }
    free(w);
    free(same);
    return good ? GLS_OK : gls_no_memory();
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
