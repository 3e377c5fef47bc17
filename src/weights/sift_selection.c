/* SIFT (Smith et al. 2013): removes streamlines as long as a removal brings the densities of streamlines closer to
 * those of the FODs. The removal that gains most for the length of its streamline comes first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "weights/sift_selection.h"
#include "util/file.h"
#include "util/status.h"
#include "weights/weight_model.h"

/* A streamline that may be removed. gradient: change of the cost by the removal; key: the change divided by the
 * streamline's contributing length, mm. */
typedef struct candidate {
    double gradient, key;
    /* index of the streamline */
    uint32_t streamline;
} candidate;

/* State of the selection. Symbols are those of weight_model.h. */
typedef struct sift {
    /* streamlines, options and results */
    gls_weights *w;
    /* lengths of streamlines in fixels */
    const gls_rows *rows;
    /* constants of the fixels, and the lengths of streamlines in them */
    const gls_weight_model *m;
    double *density;    /* TD of each fixel, mm */
    double density_sum; /* sum over fixels of mask times the FOD's density */
    double length;      /* contributing length of the remaining streamlines, mm; mu = density_sum / length */
    /* length at the start */
    double first_length;
    /* memory for n streamlines; rank() lists here those whose removal lowers the cost */
    candidate *candidate;
    uint32_t *idle; /* streamlines that contribute nothing, in the order of their removal */
    /* n_idle: number of elements of `idle`; idle_gone: how many of them are removed */
    size_t n_idle, idle_gone;
    /* streamlines that remain */
    uint64_t left;
    bool quantised; /* true: a removal must gain more than half of the cost that the rounding of lengths explains */
} sift;

/* Cost function of SIFT (Smith et al. 2013): sum over fixels of PM (mu TD - FD)^2. */
static double cost(const sift *s)
{
    double mu = s->density_sum / s->length, sum = 0;
    for (size_t k = 0; k < s->m->n; k++) {
        double x = mu * s->density[k] - (double)s->m->constant[k].fd;
        sum += (double)s->m->constant[k].mask * x * x;
    }
    return sum;
}

/* Derivative of the cost by mu: every removal changes mu, and by that the cost of all fixels. */
static double cost_slope(const sift *s)
{
    double mu = s->density_sum / s->length, sum = 0;
    for (size_t k = 0; k < s->m->n; k++)
        sum += (double)s->m->constant[k].mask * 2 * s->density[k] * (mu * s->density[k] - (double)s->m->constant[k].fd);
    return sum;
}

/* Change of the cost if streamline i of the chunk is removed. *quantum: cost that the rounding of its lengths may
 * explain. */
static double change(const sift *s, double slope, const gls_chunk *c, size_t i, double *quantum)
{
    /* after: mu without the streamline. slope * dmu is the change in all fixels to first order; the loop replaces this
     * estimate, in the fixels of the streamline, by the exact change */
    double length = (double)s->rows->contribution[c->first + i], mu = s->density_sum / s->length,
           after = s->density_sum / (s->length - length), dmu = after - mu, sum = slope * dmu;
    *quantum = 0;
    for (uint32_t e = c->start[i]; e < c->start[i + 1]; e++) {
        uint32_t k = gls_chunk_fixel(c, e);
        double l = (c->entry[e] & GLS_ROW_MAX_LENGTH) * s->m->unit, mask = (double)s->m->constant[k].mask,
               fd = (double)s->m->constant[k].fd, td = s->density[k], less = td > l ? td - l : 0;
        double now = mu * td - fd, then = after * less - fd;
        sum += mask * (then * then - now * now - 2 * td * now * dmu);
        *quantum += mask * mu * l * mu * l;
    }
    return sum;
}

/* Comparison for qsort(): candidates by falling gain for each mm, equal candidates by index. */
static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->streamline > y->streamline) - (x->streamline < y->streamline);
}

/* The chunk that holds streamline s; *at: the index of the streamline in the chunk. */
static const gls_chunk *chunk_of(const gls_rows *rows, uint32_t s, size_t *at)
{
    size_t c = 0;
    while (s >= rows->chunk[c].first + rows->chunk[c].n) c++;
    *at = s - rows->chunk[c].first;
    return &rows->chunk[c];
}

/* Ranks all streamlines whose removal would lower the cost, best first. Returns their number. */
static size_t rank(sift *s)
{
    const double slope = cost_slope(s);
    size_t n = 0;
    for (size_t i = 0; i < s->rows->n_chunks; i++) {
        const gls_chunk *c = &s->rows->chunk[i];
#pragma omp parallel for schedule(dynamic, 256)
        for (size_t k = 0; k < c->n; k++) {
            double length = (double)s->rows->contribution[c->first + k], quantum, gradient = 0;
            if (s->w->weight[c->first + k] > 0 && length > 0) gradient = change(s, slope, c, k, &quantum);
            /* the threads write each candidate to its streamline's position, so that the list does not depend on
             * their order */
            s->candidate[c->first + k] =
                (candidate){gradient, gradient < 0 ? gradient / length : 0, (uint32_t)(c->first + k)};
        }
    }
    for (size_t i = 0; i < s->rows->n; i++)
        if (s->candidate[i].gradient < 0) s->candidate[n++] = s->candidate[i];
    qsort(s->candidate, n, sizeof *s->candidate, compare);
    return n;
}

/* Removes streamline i of a chunk: subtracts its lengths from the densities of its fixels and from the total. */
static void take_out(sift *s, const gls_chunk *c, size_t i)
{
    for (uint32_t e = c->start[i]; e < c->start[i + 1]; e++) {
        double *td = &s->density[gls_chunk_fixel(c, e)];
        *td = fmax(*td - (c->entry[e] & GLS_ROW_MAX_LENGTH) * s->m->unit, 0);
    }
    s->length -= (double)s->rows->contribution[c->first + i];
    s->w->weight[c->first + i] = 0;
    s->left--;
}

/* Removes idle streamlines until their removed share reaches that of the removed length, or `target` streamlines are
 * left. */
static void take_out_idle(sift *s, uint64_t target)
{
    while (s->idle_gone < s->n_idle && s->left > target &&
           1 - s->length / s->first_length > (double)s->idle_gone / (double)s->n_idle) {
        s->w->weight[s->idle[s->idle_gone++]] = 0;
        s->left--;
    }
}

/* Ranks once, then removes streamlines until a removal no longer pays or a target is reached. *done: SIFT is finished.
 */
static void filter(sift *s, bool *done)
{
    const gls_weights_options *o = &s->w->options;
    const uint64_t target = o->term_number;
    const bool has_target = target > 0 || o->term_mu > 0 || o->term_ratio > 0;
    const double slope_at = cost_slope(s), before = cost(s);
    size_t n = rank(s), removed = 0;
    /* candidates in the order of their rank; every removal changes densities, so each gain is computed anew */
    for (size_t k = 0; k < n; k++) {
        if (s->left <= target || (o->term_mu > 0 && s->density_sum / s->length >= o->term_mu)) {
            *done = true;
            return;
        }
        size_t i;
        double quantum, gradient = s->candidate[k].gradient;
        const gls_chunk *c = chunk_of(s->rows, s->candidate[k].streamline, &i);
        double d = change(s, slope_at, c, i, &quantum);
        double share = (double)s->rows->contribution[c->first + i] / s->length;
        /* a removal must gain what term_ratio asks for its length, and more than half of the gain for which it was
         * ranked */
        double limit = fmin(-o->term_ratio * share * before, gradient - d);
        if (s->quantised) limit = fmin(limit, -0.5 * quantum);
        /* the next candidate no longer pays. After a removal: rank anew. If nothing was removed: with a target go on
         * once without the limit by rounding, else end. */
        if (!(d < fmin(limit, 0))) {
            if (removed > 0) return;
            *done = !(s->quantised && has_target);
            s->quantised = false;
            return;
        }
        take_out(s, c, i);
        take_out_idle(s, target);
        removed++;
    }
    *done = removed == 0 || *done;
}

/* Order of streamlines that contribute nothing: by the hash of their index, which is as good as random and the same
 * each time. */
static int compare_idle(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t hx = gls_hash(&x, sizeof x), hy = gls_hash(&y, sizeof y);
    if (hx != hy) return hx < hy ? -1 : 1;
    return (x > y) - (x < y);
}

/* Allocates and computes the state before the first removal. The caller frees the arrays, also after a failure. */
static gls_status start(sift *s)
{
    const size_t n = s->rows->n;
    s->density = malloc(s->m->n * sizeof *s->density);
    s->candidate = malloc(n * sizeof *s->candidate);
    s->idle = malloc(n * sizeof *s->idle);
    if (!s->density || !s->candidate || !s->idle)
        return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", n);
    for (size_t k = 0; k < s->m->n; k++) {
        s->density[k] = (double)s->m->length[k] * s->m->unit;
        s->density_sum += (double)s->m->constant[k].mask * (double)s->m->constant[k].fd;
    }
    for (size_t i = 0; i < n; i++) {
        s->length += (double)s->rows->contribution[i];
        s->w->weight[i] = 1;
        if (!(s->rows->contribution[i] > 0)) s->idle[s->n_idle++] = (uint32_t)i;
    }
    qsort(s->idle, s->n_idle, sizeof *s->idle, compare_idle);
    s->first_length = s->length;
    s->left = n;
    return GLS_OK;
}

gls_status gls_weights_run_sift(gls_weights *w, gls_weights_progress progress, void *user)
{
    sift s = {.w = w, .rows = &w->rows, .m = &w->model, .quantised = true};
    gls_status status = GLS_OK;
    if (w->rows.n > UINT32_MAX)
        status = gls_fail(GLS_ERR_UNSUPPORTED,
                          "weights: --method sift takes at most 2^32 - 1 streamlines: take --method sift2");
    else if (w->options.term_number >= w->rows.n)
        status =
            gls_fail(GLS_ERR_ARGUMENT, "--term-number: must be less than the number of streamlines, %zu", w->rows.n);
    if (!status) status = start(&s);
    if (!status) w->result.cost_first = cost(&s);
    bool done = false;
    for (uint64_t i = 1; !status && !done; i++) {
        filter(&s, &done);
        w->result.cost_last = cost(&s);
        w->result.n_iterations = i;
        if (progress && !progress(user, i, w->result.cost_last)) status = gls_fail(GLS_ERR_CANCELLED, "interrupted");
    }
    w->result.kept = s.left;
    if (!status && w->options.term_number > 0 && s.left > w->options.term_number)
        gls_log(GLS_LOG_WARNING,
                "SIFT ended before it reached --term-number: to remove more streamlines would raise the cost");
    if (!status) w->result.mu = s.density_sum / s.length;
    free(s.density);
    free(s.candidate);
    free(s.idle);
    return status;
}
