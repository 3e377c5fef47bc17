/* FISTA (Beck and Teboulle 2009) with back-tracking, for a penalty that is the sum of the norms of groups (Schiavi et
 * al. 2020). The step never grows. */
#include "weights/signal_solver.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

#define BLOCK 4096   /* number of unknowns that are added up at a time */
#define MAX_RISES 20 /* rises of the objective one after the other that end the momentum */
#define ROUNDING 2   /* allowed error of a sum of squares, times that of a float32; 0.6 was met */
#define MAX_BACK 400 /* largest number of reductions of the step in an iteration */

/* State of a fit. */
typedef struct fista {
    gls_signal_products *products;
    const gls_signal_model *m;
    const gls_signal_groups *groups; /* NULL: no penalty */
    double *x, *at, *before, *best,
        *g;       /* the new x; the point of the gradient; the x before; the best x; the gradient */
    double *part; /* partial sums: 4 for each block */
    double *norm; /* norm of each group */
    double step, penalty;
    double rounding; /* of a cost, in units of its root: predictions of the size of the signal are float32 */
} fista;

/* Sums of an iteration. */
typedef struct fista_sums {
    double slope;  /* (x - at) g */
    double moved;  /* |x - at|^2 */
    double change; /* |x - before|^2 */
    double size;   /* |x|^2 */
} fista_sums;

/* Returns the penalty of x, and stores the norms of its groups in f->norm. */
static double penalty_of(const fista *f, const double *x)
{
    const gls_signal_groups *groups = f->groups;
    double sum = 0;
    if (!groups) return 0;
    memset(f->norm, 0, groups->n * sizeof *f->norm);
    for (size_t s = 0; s < f->m->n_streamlines; s++)
        if (groups->of[s] < groups->n) f->norm[groups->of[s]] += x[s] * x[s];
    for (size_t k = 0; k < groups->n; k++) {
        f->norm[k] = sqrt(f->norm[k]);
        sum += groups->factor[k] * f->norm[k];
    }
    return groups->lambda * sum;
}

/* Sets x to the proximal step from `at` down the gradient. */
static void proximal(fista *f)
{
    const gls_signal_groups *groups = f->groups;
    const bool cut_first = !groups || !groups->peer;
    double *x = f->x;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < f->m->n; i++) {
        const double value = f->at[i] - f->step * f->g[i];
        x[i] = (cut_first || i >= f->m->n_streamlines) && value < 0 ? 0 : value;
    }
    f->penalty = 0;
    if (!groups) return;
    (void)penalty_of(f, x);
    for (size_t s = 0; s < f->m->n_streamlines; s++) {
        if (groups->of[s] < groups->n) {
            const double norm = f->norm[groups->of[s]],
                         shrink = groups->lambda * groups->factor[groups->of[s]] * f->step;
            x[s] = norm <= shrink ? 0 : x[s] * (1 - shrink / norm);
        }
        if (x[s] < 0) x[s] = 0;
    }
    f->penalty = penalty_of(f, x);
}

/* Sums over all unknowns, in an order that does not depend on threads. */
static fista_sums sum_up(const fista *f)
{
    const size_t n = f->m->n, blocks = (n + BLOCK - 1) / BLOCK;
    fista_sums sums = {.slope = 0};
#pragma omp parallel for schedule(static)
    for (size_t b = 0; b < blocks; b++) {
        double part[4] = {0};
        for (size_t i = b * BLOCK; i < n && i < (b + 1) * BLOCK; i++) {
            const double moved = f->x[i] - f->at[i], change = f->x[i] - f->before[i];
            part[0] += moved * f->g[i];
            part[1] += moved * moved;
            part[2] += change * change;
            part[3] += f->x[i] * f->x[i];
        }
        memcpy(f->part + 4 * b, part, sizeof part);
    }
    for (size_t b = 0; b < blocks; b++) {
        sums.slope += f->part[4 * b];
        sums.moved += f->part[4 * b + 1];
        sums.change += f->part[4 * b + 2];
        sums.size += f->part[4 * b + 3];
    }
    return sums;
}

/* at = x + momentum (x - before), then before = x; and the gradient there, whose residual is linear in x. *value: the
 * objective there, without penalty. */
static gls_status move_on(const fista *f, double momentum, double *value)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < f->m->n; i++) {
        f->at[i] = f->x[i] + momentum * (f->x[i] - f->before[i]);
        f->before[i] = f->x[i];
    }
    gls_status status = f->products->kind->gradient(f->products, momentum, f->g, value);
    f->products->kind->keep(f->products);
    return status;
}

/* Finds the first step, 1.9 |g|^2 / |A g|^2; NAN where float32 cannot hold A g. */
static gls_status find_first_step(fista *f)
{
    double squares = 0, moved = 0;
    for (size_t i = 0; i < f->m->n; i++) squares += f->g[i] * f->g[i];
    gls_status status = f->products->kind->apply(f->products, f->g, true, &moved);
    f->step = !isfinite(moved) ? NAN : moved > 0 ? 1.9 * squares / (2 * moved) : 0;
    return status;
}

/* Keeps x as the best one so far. */
static void keep_best(const fista *f)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < f->m->n; i++) f->best[i] = f->x[i];
}

/* Adds an iteration to the list. */
static gls_status note(gls_signal_fit *fit, size_t i, double objective, double step)
{
    if ((i & (i - 1)) == 0) { /* the list has room for a power of two */
        gls_signal_iteration *list = realloc(fit->iteration, (i > 0 ? 2 * i : 1) * sizeof *list);
        if (!list) return gls_no_memory();
        fit->iteration = list;
    }
    fit->iteration[i] = (gls_signal_iteration){objective, step};
    return GLS_OK;
}

/* Whether to stop after iteration i, and why. */
static bool stops(const gls_signal_solver *o, int i, double cost, double previous, const fista_sums *s,
                  gls_signal_stop *why)
{
    const double change = fabs(cost - previous), moved = sqrt(s->change);
    if (change < DBL_EPSILON || moved < DBL_EPSILON)
        *why = GLS_SIGNAL_STOP_STILL;
    else if (change / cost < o->tol_fun)
        *why = GLS_SIGNAL_STOP_OBJECTIVE;
    else if (moved / (sqrt(s->size) + DBL_EPSILON) < o->tol_x)
        *why = GLS_SIGNAL_STOP_X;
    else if (i >= o->max_iters)
        *why = GLS_SIGNAL_STOP_LIMIT;
    else
        return false;
    return true;
}

/* Takes one proximal step with back-tracking. value: the objective of `at`, without penalty. *cost: that of the new x.
 */
static gls_status descend(fista *f, double value, fista_sums *sums, size_t *back_tracks, double *cost)
{
    for (int tries = 0;; tries++) {
        proximal(f);
        *sums = sum_up(f);
        gls_status status = f->products->kind->apply(f->products, f->x, false, cost);
        if (status) return status;
        *cost += f->penalty;
        const double bound = value + sums->slope + sums->moved / (2 * f->step) + f->penalty;
        /* where rounding decides, each comparison would make the step smaller, which never grows again */
        const double noise = f->products->noise * fabs(bound) + f->rounding * sqrt(fabs(bound));
        if (!(*cost > bound + noise) || tries == MAX_BACK) return GLS_OK;
        f->step *= 0.9;
        ++*back_tracks;
    }
}

/* Goes back to the best x. */
static gls_status take_best(const fista *f, gls_signal_fit *fit)
{
    memcpy(f->x, f->best, f->m->n * sizeof *f->x);
    gls_status status = f->products->kind->apply(f->products, f->x, false, &fit->objective);
    fit->penalty = penalty_of(f, f->x);
    fit->objective += fit->penalty;
    return status;
}

/* Begins anew at the best x, without momentum. Momentum carries x beyond the minimum and back, in waves that are longer
 * the more alike columns of the matrix are; without it the next step goes down (O'Donoghue and Candes 2015). *value:
 * the objective at the best x, without penalty. */
static gls_status restart(const fista *f, gls_signal_fit *fit, double *value)
{
    gls_status status = take_best(f, fit);
    fit->restarts++;
    return status ? status : move_on(f, 0, value);
}

/* Iterates. At the start x, at, before and best are 0. */
static gls_status iterate(fista *f, const gls_signal_solver *o, gls_signal_fit *fit)
{
    double value = 0, t = 1;
    int rises = 0;
    bool better = false; /* since the last restart an x was better than all before */
    gls_status status = f->products->kind->apply(f->products, f->at, false, &value);
    if (!status) status = move_on(f, 0, &value);
    if (!status) status = find_first_step(f);
    if (!status) status = note(fit, 0, value, 0);
    double previous = value, best = value;
    f->rounding = ROUNDING * FLT_EPSILON * sqrt(value);
    fit->objective = value;
    fit->why = isfinite(value) && isfinite(f->step) ? GLS_SIGNAL_STOP_STILL : GLS_SIGNAL_STOP_INFINITE;
    /* nothing explains the signal, or its values are too large: x stays 0 */
    if (!status && (fit->why == GLS_SIGNAL_STOP_INFINITE || !(f->step > 0) || !(value > 0)))
        return f->products->kind->apply(f->products, f->x, false, &value);
    for (int i = 1; !status; i++) {
        fista_sums sums;
        double cost;
        status = descend(f, value, &sums, &fit->back_tracks, &cost);
        if (!status) status = note(fit, (size_t)i, cost, f->step);
        if (status) break;
        fit->iterations = (size_t)i;
        rises = cost > previous ? rises + 1 : 0;
        if (o->progress && !o->progress(o->user, (uint64_t)i, cost))
            return gls_fail(GLS_ERR_CANCELLED, "weights: cancelled");
        if (!isfinite(cost)) {
            fit->why = GLS_SIGNAL_STOP_INFINITE;
            return take_best(f, fit);
        }
        if (cost < best) {
            best = cost;
            better = true;
            keep_best(f);
        }
        fit->objective = cost;
        fit->penalty = f->penalty;
        if (stops(o, i, cost, previous, &sums, &fit->why)) break;
        if (rises == MAX_RISES && !better) { /* not even without momentum: only rounding is left */
            fit->why = GLS_SIGNAL_STOP_STILL;
            return take_best(f, fit);
        }
        if (rises == MAX_RISES) {
            status = restart(f, fit, &value);
            previous = best;
            t = 1;
            rises = 0;
            better = false;
            continue;
        }
        const double next = (1 + sqrt(1 + 4 * t * t)) / 2;
        status = move_on(f, (t - 1) / next, &value);
        previous = cost;
        t = next;
    }
    return status;
}

gls_status gls_signal_solve(gls_signal_products *products, const gls_signal_solver *o, const gls_signal_groups *groups,
                            double *x, float *r, gls_signal_fit *fit)
{
    const gls_signal_model *m = products->model;
    const size_t n = m->n + 1;
    *fit = (gls_signal_fit){.iteration = NULL};
    fista f = {.products = products, .m = m, .groups = groups, .x = x};
    memset(x, 0, m->n * sizeof *x);
    f.at = calloc(n, sizeof *f.at);
    f.before = calloc(n, sizeof *f.before);
    f.best = calloc(n, sizeof *f.best);
    f.g = calloc(n, sizeof *f.g);
    f.part = malloc((n / BLOCK + 1) * 4 * sizeof *f.part);
    f.norm = malloc(((groups ? groups->n : 0) + 1) * sizeof *f.norm);
    gls_status status = f.at && f.before && f.best && f.g && f.part && f.norm
                            ? iterate(&f, o, fit)
                            : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu unknowns", m->n);
    if (!status) status = products->kind->read(products, r);
    free(f.at);
    free(f.before);
    free(f.best);
    free(f.g);
    free(f.part);
    free(f.norm);
    return status;
}

gls_status gls_signal_groups_weigh(gls_signal_groups *groups, const gls_signal_model *m, const double *x, double share)
{
    double *norm = calloc(groups->n + 1, sizeof *norm), *size = calloc(groups->n + 1, sizeof *size);
    double *g = calloc(m->n + 1, sizeof *g), largest = 0;
    gls_status status = norm && size && g ? GLS_OK : gls_no_memory();
    for (size_t s = 0; s < m->n_streamlines && !status; s++) {
        const uint32_t k = groups->of[s];
        if (k >= groups->n) continue;
        norm[k] += x[s] * x[s];
        size[k]++;
    }
    for (size_t k = 0; k < groups->n && !status; k++) {
        groups->factor[k] = sqrt(size[k]) / (sqrt(norm[k]) + 1e-12);
        norm[k] = 0;
    }
    if (!status) (void)gls_signal_model_transpose(m, m->y, m->y, 0, g);
    for (size_t s = 0; s < m->n_streamlines && !status; s++)
        if (groups->of[s] < groups->n) norm[groups->of[s]] += g[s] * g[s];
    for (size_t k = 0; k < groups->n && !status; k++)
        if (size[k] > 0) largest = fmax(largest, sqrt(norm[k]) / groups->factor[k]);
    groups->lambda = share * largest;
    free(norm);
    free(size);
    free(g);
    return status;
}

const char *gls_signal_stop_name(gls_signal_stop why)
{
    static const char *const names[] = {"relative change of the objective", "relative change of the unknowns",
                                        "no change", "limit of iterations", "objective that is not finite"};
    return names[why];
}

void gls_signal_fit_finish(gls_signal_fit *fit)
{
    free(fit->iteration);
    *fit = (gls_signal_fit){.iteration = NULL};
}
