/* Minima of functions of a few variables, each within bounds. Variables that the gradient pushes against a bound are
 * held there; the others take a step of a quasi-Newton method, which ends where the next variable meets its bound. */
#include "util/minimise.h"

#include <math.h>
#include <string.h>

enum { MAX = GLS_MINIMISE_MAX, MAX_HALVINGS = 40 };

#define PROBE 2.0 /* distance from a minimum to the starts beside it, in units of the variable */

/* State of a search. */
typedef struct search {
    const gls_minimise_problem *p;
    gls_minimise_result result;
    /* position, gradient, approximate second derivatives */
    double x[MAX], g[MAX], b[MAX][MAX];
    bool is_plain; /* b has nothing but the units */
} search;

static double evaluate(search *s, const double *x, double *g)
{
    s->result.evaluations++;
    return s->p->function(s->p->user, x, g);
}

/* Sets second derivatives such that a step changes variables in proportion to the squares of their units. */
static void reset(search *s, double scale)
{
    memset(s->b, 0, sizeof s->b);
    for (size_t i = 0; i < s->p->n; i++) s->b[i][i] = scale / (s->p->unit[i] * s->p->unit[i]);
    s->is_plain = true;
}

/* Whether variable i lies at a bound, towards which it would move by `step`. */
static bool is_held(const search *s, size_t i, double step)
{
    return (s->x[i] <= s->p->low[i] && step < 0) || (s->x[i] >= s->p->high[i] && step > 0);
}

/* Solves b d = -g for the n variables of list[]. false: b is not positive definite. */
static bool solve(const search *s, const size_t *list, size_t n, double *d)
{
    double l[MAX][MAX], y[MAX];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = s->b[list[i]][list[j]];
            for (size_t k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            if (i == j && !(sum > 0)) return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        y[i] = -s->g[list[i]];
        for (size_t k = 0; k < i; k++) y[i] -= l[i][k] * y[k];
        y[i] /= l[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) y[i] -= l[k][i] * y[k];
        y[i] /= l[i][i];
        d[list[i]] = y[i];
    }
    return true;
}

/* Chooses the direction of the next step. false: there is none that leads downwards. */
static bool choose(search *s, double *d)
{
    const size_t n = s->p->n;
    bool held[MAX], changed = true;
    for (size_t i = 0; i < n; i++) held[i] = is_held(s, i, -s->g[i]);
    while (changed) {
        size_t list[MAX], count = 0;
        changed = false;
        memset(d, 0, n * sizeof *d);
        for (size_t i = 0; i < n; i++)
            if (!held[i]) list[count++] = i;
        if (count == 0 || !solve(s, list, count, d)) return false;
        for (size_t i = 0; i < n; i++)
            if (!held[i] && is_held(s, i, d[i])) held[i] = changed = true;
    }
    double slope = 0;
    for (size_t i = 0; i < n; i++) slope += d[i] * s->g[i];
    return slope < 0;
}

/* Largest step along d that stays within the bounds; *at: the variable that then meets its bound. */
static double find_room(const search *s, const double *d, size_t *at)
{
    double room = INFINITY;
    for (size_t i = 0; i < s->p->n; i++) {
        const double bound = d[i] > 0 ? s->p->high[i] : s->p->low[i], step = (bound - s->x[i]) / d[i];
        if (d[i] == 0 || !(step < room)) continue;
        room = step;
        *at = i;
    }
    return room;
}

/* Takes a step along d: moves x, value and gradient, and learns from both gradients. false: no step lessens the value.
 */
static bool take_step(search *s, const double *d)
{
    const size_t n = s->p->n;
    size_t at = 0;
    double low = 0, high = INFINITY, slope = 0, x[MAX], g[MAX], best_x[MAX], best_g[MAX], best = s->result.value;
    const double room = find_room(s, d, &at);
    double step = room < 1 ? room : 1;
    bool found = false;
    for (size_t i = 0; i < n; i++) slope += d[i] * s->g[i];
    for (int k = 0; k < MAX_HALVINGS; k++) {
        double next_slope = 0;
        for (size_t i = 0; i < n; i++) x[i] = fmin(fmax(s->x[i] + step * d[i], s->p->low[i]), s->p->high[i]);
        /* exactly at the bound, whatever was rounded */
        if (step >= room) x[at] = d[at] > 0 ? s->p->high[at] : s->p->low[at];
        const double value = evaluate(s, x, g);
        for (size_t i = 0; i < n; i++) next_slope += d[i] * g[i];
        const bool falls = value <= s->result.value + 1e-4 * step * slope;
        if (falls && value < best) {
            best = value;
            found = true;
            memcpy(best_x, x, sizeof x);
            memcpy(best_g, g, sizeof g);
        }
        if (!falls || !isfinite(value))
            high = step;
        else if (next_slope < 0.9 * slope && step < room)
            low = step;
        else
            break;
        step = isinf(high) ? fmin(2 * step, room) : (low + high) / 2;
    }
    if (!found) return false;
    double change[MAX], turn[MAX], bs[MAX], sy = 0, sbs = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        change[i] = best_x[i] - s->x[i];
        turn[i] = best_g[i] - s->g[i];
        sy += change[i] * turn[i];
        yy += turn[i] * turn[i] * s->p->unit[i] * s->p->unit[i];
    }
    if (sy > 0 && s->is_plain) reset(s, yy / sy);
    for (size_t i = 0; i < n; i++) {
        bs[i] = 0;
        for (size_t j = 0; j < n; j++) bs[i] += s->b[i][j] * change[j];
        sbs += change[i] * bs[i];
    }
    if (sy > 1e-10 * sbs && sbs > 0) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) s->b[i][j] += turn[i] * turn[j] / sy - bs[i] * bs[j] / sbs;
        s->is_plain = false;
    }
    memcpy(s->x, best_x, sizeof best_x);
    memcpy(s->g, best_g, sizeof best_g);
    s->result.value = best;
    return true;
}

/* How far a step against the gradient leads into the bounds at most. */
static double find_gradient(const search *s)
{
    double most = 0;
    for (size_t i = 0; i < s->p->n; i++) {
        const double to = fmin(fmax(s->x[i] - s->g[i], s->p->low[i]), s->p->high[i]);
        most = fmax(most, fabs(to - s->x[i]));
    }
    return most;
}

/* Sets second derivatives such that the first step changes no variable by more than its unit. */
static void restart(search *s)
{
    double most = 0;
    for (size_t i = 0; i < s->p->n; i++) most = fmax(most, fabs(s->g[i]) * s->p->unit[i]);
    reset(s, most > 0 ? most : 1);
}

/* Goes down from x to a minimum. */
static void descend(search *s)
{
    const gls_minimise_problem *problem = s->p;
    unsigned small = 0;
    s->result.value = evaluate(s, s->x, s->g);
    restart(s);
    while (s->result.iterations < problem->max_iterations && find_gradient(s) > problem->gradient_tolerance) {
        double d[MAX];
        const double before = s->result.value;
        const bool fresh = s->is_plain;
        if (!choose(s, d) || !take_step(s, d)) {
            /* what was learned may be wrong where the gradient jumps */
            if (fresh) break;
            restart(s);
            continue;
        }
        s->result.iterations++;
        const double scale = fmax(fmax(fabs(before), fabs(s->result.value)), 1);
        small = before - s->result.value <= problem->value_tolerance * scale ? small + 1 : 0;
        if (small == 2) break;
    }
}

/* Tries starts on both sides of the minimum, and takes the lowest minimum that they lead to. */
static void look_beside(search *s)
{
    const search found = *s;
    search best = found;
    unsigned iterations = found.result.iterations, evaluations = found.result.evaluations;
    for (size_t i = 0; i < 2 * s->p->n_beside; i++) {
        search side = found;
        const double at = side.x[i / 2] + (i % 2 ? -PROBE : PROBE) * s->p->unit[i / 2];
        side.result = (gls_minimise_result){0};
        side.x[i / 2] = fmin(fmax(at, s->p->low[i / 2]), s->p->high[i / 2]);
        descend(&side);
        iterations += side.result.iterations;
        evaluations += side.result.evaluations;
        if (side.result.value < best.result.value) best = side;
    }
    *s = best;
    s->result.iterations = iterations;
    s->result.evaluations = evaluations;
}

gls_minimise_result gls_minimise(const gls_minimise_problem *problem, double *x)
{
    search s = {.p = problem};
    const size_t n = problem->n;
    for (size_t i = 0; i < n; i++) s.x[i] = fmin(fmax(x[i], problem->low[i]), problem->high[i]);
    descend(&s);
    if (problem->n_beside > 0) look_beside(&s);
    memcpy(x, s.x, n * sizeof *x);
    return s.result;
}
