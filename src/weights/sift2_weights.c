/* The iterations of SIFT2 (Smith et al. 2015). A pass over the streamlines also gives the total variation of the
 * coefficients from which the pass starts, since the pass reads all entries anyway; the coefficients of the last pass
 * are therefore dropped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weights/sift2_weights.h"
#include "util/allocation.h"
#include "util/clock.h"
#include "util/status.h"
#include "weights/solver_device.h"
#include "weights/solver_host.h"
#include "weights/weight_model.h"

/* State of the iterations. */
typedef struct run {
    /* streamlines, fixels and results */
    gls_weights *w;
    /* options of the fit, borrowed from `w` */
    const gls_weights_options *o;
    /* the solver, on the CPU or on devices */
    gls_solver *solver;
    /* costs of each iteration */
    gls_weights_iteration *list;
    /* number of iterations so far, and of iterations for which memory is allocated */
    size_t n, capacity;
    float *before, *now; /* coefficients before and after an iteration; NULL without statistics */
    bool diverged; /* true: the cost rose in the last three iterations, or was not finite; iterations up to `end` are
                      repeated */
    size_t end;
} run;

/* Appends an iteration with the costs of its fixels; the costs of its streamlines come with the next pass. */
static gls_status add_iteration(run *r, gls_fixel_costs costs)
{
    if (!gls_list_reserve(&r->list, r->n, &r->capacity, 64, sizeof *r->list))
        return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    r->list[r->n++] = (gls_weights_iteration){.data = costs.data, .excluded = (uint64_t)costs.excluded};
    return GLS_OK;
}

/* Returns the cost of an iteration: the sum of its data term and of both terms of the regularisation. */
static double total(const gls_weights_iteration *i)
{
    return i->data + i->tikhonov + i->tv;
}

/* Statistics of a, or of a - b if b is given, over n streamlines. var: sum of squares about 0, not about the mean,
 * divided by n - 1. */
static gls_weights_spread spread_of(const float *a, const float *b, size_t n)
{
    gls_weights_spread s = {.min = INFINITY, .max = -INFINITY};
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)a[i] - (b ? (double)b[i] : 0);
        s.min = fmin(s.min, x);
        s.max = fmax(s.max, x);
        s.mean += x;
        s.mean_abs += fabs(x);
        squares += x * x;
    }
    s.mean /= (double)n;
    s.mean_abs /= (double)n;
    s.var = n > 1 ? squares / (double)(n - 1) : 0;
    return s;
}

/* Fills in the statistics of the coefficients that iteration i made, which are in array `which` of the solver, and of
 * their change. */
static gls_status add_statistics(run *r, gls_weights_iteration *i, int which)
{
    const size_t n = r->w->rows.n;
    float *swap = r->before;
    r->before = r->now;
    r->now = swap;
    gls_status status = r->solver->kind->read(r->solver, which, r->now);
    if (status) return status;
    i->step = spread_of(r->now, r->before, n);
    i->coefficient = spread_of(r->now, NULL, n);
    double squares = 0;
    for (size_t s = 0; s < n; s++) squares += (double)r->now[s] * (double)r->now[s];
    i->norm = squares;
    return GLS_OK;
}

/* Whether the cost rose in each of the last three iterations up to i, and over the three together by more than a factor
 * 1 + 1e-6; smaller rises may be rounding. */
static bool rises(const run *r, size_t i)
{
    for (size_t k = 0; k < 3; k++)
        if (i < k + 1 || !(total(&r->list[i - k]) > total(&r->list[i - k - 1]))) return false;
    return total(&r->list[i]) > (1 + 1e-6) * total(&r->list[i - 3]);
}

/* Returns the index of the iteration with the lowest cost, of equal ones the first. */
static size_t find_best(const run *r)
{
    size_t best = 0;
    for (size_t i = 1; i < r->n; i++)
        if (total(&r->list[i]) < total(&r->list[best])) best = i;
    return best;
}

/* Whether iteration i, whose costs are complete, is the last. */
static bool is_last(const run *r, size_t i)
{
    /* a repeated run ends where the cost was lowest; in any other run, iteration 0, whose coefficients are 0, is the
     * last only if max_iters is 0 */
    if (r->diverged || i == 0) return i >= (r->diverged ? r->end : r->o->max_iters);
    double cost = total(&r->list[i]), before = total(&r->list[i - 1]);
    if (i >= r->o->max_iters) return true;
    /* as in MRtrix3, from iteration min_iters on, the cost must fall by more than min_cf_decrease times the first data
     * term for the run to go on */
    return !(cost - before < -r->o->min_cf_decrease * r->list[0].data) && i >= r->o->min_iters;
}

/* Marks the run as diverged, and its best iteration as the end of the repetition. */
static gls_status give_up(run *r)
{
    r->diverged = true;
    r->end = find_best(r);
    return GLS_OK;
}

/* One pass of the solver over all streamlines, with its time in the trace. */
static gls_status pass_rows(const run *r, int which, gls_row_costs *costs)
{
    const double start = gls_clock_seconds();
    gls_status status = r->solver->kind->rows(r->solver, which, costs);
    (void)gls_trace_phase("weigh streamlines", start, r->n);
    return status;
}

/* One pass of the solver over all fixels, with its time in the trace. */
static gls_status pass_fixels(const run *r, gls_fixel_costs *costs)
{
    const double start = gls_clock_seconds();
    gls_status status = r->solver->kind->fixels(r->solver, costs);
    (void)gls_trace_phase("weigh fixels", start, r->n);
    return status;
}

/* Runs the iterations. *which: array of the solver, 0 or 1, that has the coefficients of the last iteration. */
static gls_status iterate(run *r, gls_weights_progress progress, void *user, int *which)
{
    gls_fixel_costs fixels;
    gls_row_costs rows;
    *which = 0;
    /* iteration 0: the costs with all weights 1 */
    gls_status status = pass_fixels(r, &fixels);
    if (!status) status = add_iteration(r, fixels);
    for (size_t i = 0; !status; i++) {
        gls_weights_iteration *now = &r->list[i];
        if (i > 0 && r->o->statistics) status = add_statistics(r, now, *which);
        /* the pass that computes the next coefficients also gives the costs of the present ones */
        if (!status) status = pass_rows(r, *which, &rows);
        if (status) break;
        now->tv = i > 0 ? rows.tv : 0;
        now->tikhonov = (double)r->solver->tikhonov * rows.squares;
        const bool finite = isfinite(total(now)) != 0;
        if (!finite && i == 0)
            return gls_fail(GLS_ERR_INPUT, "weights: the cost function is not finite even with all weights 1: check "
                                           "the image of FODs for values that are not finite or far too large");
        if (progress && !progress(user, i, total(now))) return gls_fail(GLS_ERR_CANCELLED, "interrupted");
        if (!finite || is_last(r, i)) {
            r->w->result.limit_reached = i >= r->o->max_iters && i > 0;
            /* a cost that rises or is not finite means divergence: the run is repeated up to its best iteration */
            if (!r->diverged && (!finite || rises(r, i))) return give_up(r);
            return GLS_OK;
        }
        status = pass_fixels(r, &fixels);
        if (!status) status = add_iteration(r, fixels);
        /* the next pass swaps the two sets of coefficients */
        *which = 1 - *which;
    }
    return status;
}

/* Turns the coefficients c of array `which` into weights e^c, and fills in the result. A coefficient at the lower limit
 * means a weight of 0. */
static gls_status take_result(run *r, int which)
{
    gls_weights *w = r->w;
    const float least = (float)r->o->min_coeff;
    gls_status status = r->solver->kind->read(r->solver, which, w->coefficient);
    if (!status) status = r->solver->kind->read_fixels(r->solver, w->state, w->mean);
    if (!status) {
#pragma omp parallel for
        for (size_t s = 0; s < w->rows.n; s++)
            w->weight[s] = w->coefficient[s] > least ? gls_weights_exponential(w->coefficient[s]) : 0;
    }
    w->result.n_iterations = r->n;
    w->result.diverged = r->diverged;
    w->result.iteration = r->list;
    w->result.cost_first = r->list ? total(&r->list[0]) : 0;
    w->result.cost_last = r->n > 0 ? total(&r->list[r->n - 1]) : 0;
    w->result.excluded = r->n > 0 ? r->list[r->n - 1].excluded : 0;
    return status;
}

/* Runs on n devices, or on the CPU if n = 0. */
static gls_status run_on(run *r, gls_device *const *devices, size_t n, gls_weights_progress progress, void *user)
{
    int which = 0;
    gls_weights *w = r->w;
    /* true while a run that diverged is repeated up to its best iteration */
    const bool again = r->diverged;
    r->n = 0;
    if (r->o->statistics) memset(r->now, 0, w->rows.n * sizeof *r->now);
    const double start = gls_clock_seconds();
    if (n == 1) gls_device_hold(devices[0]); /* hold the device once: in some drivers releasing it waits for its work */
    gls_status status = n > 0 ? gls_device_solver_create(&w->model, r->o, devices, n, &r->solver)
                              : gls_host_solver_create(&w->model, r->o, &r->solver);
    (void)gls_trace_phase("prepare weighing", start, 0);
    if (!status) status = iterate(r, progress, user, &which);
    const bool in_vain = r->diverged && !again;
    if (!status && !in_vain) status = take_result(r, which);
    if (r->solver) r->solver->kind->destroy(r->solver);
    r->solver = NULL;
    if (n == 1) gls_device_release(devices[0]);
    return !status && in_vain ? run_on(r, devices, n, progress, user) : status;
}

gls_status gls_weights_run_sift2(gls_weights *w, gls_device *const *devices, size_t n, gls_weights_progress progress,
                                 void *user)
{
    run r = {.w = w, .o = &w->options};
    gls_status status = GLS_OK;
    w->coefficient = malloc(w->rows.n * sizeof *w->coefficient);
    w->mean = calloc(w->model.n, sizeof *w->mean);
    if (r.o->statistics) {
        r.before = calloc(w->rows.n, sizeof *r.before);
        r.now = calloc(w->rows.n, sizeof *r.now);
    }
    if (!w->coefficient || !w->mean || (r.o->statistics && (!r.before || !r.now)))
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", w->rows.n);
    if (!status) status = run_on(&r, devices, n, progress, user);
    if (n > 0 && (status == GLS_ERR_LOST || status == GLS_ERR_DEVICE_MEMORY || status == GLS_ERR_UNSUPPORTED)) {
        gls_log(GLS_LOG_WARNING, "weights: %s; the CPU begins anew", gls_last_error());
        r.diverged = false;
        status = run_on(&r, NULL, 0, progress, user);
    }
    w->iteration = r.list;
    free(r.before);
    free(r.now);
    return status;
}
