/* The exemplar of an edge of a connectome: one line that stands for all streamlines between two regions. The rules are
 * those of connectome2tck of MRtrix3 3.0.3. */
#include "tracts/exemplar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/status.h"

#define MAX_POINTS 1000000 /* of a line */

static double square_of_distance(const double p[3], const double q[3])
{
    double sum = 0;
    for (int r = 0; r < 3; r++) sum += (p[r] - q[r]) * (p[r] - q[r]);
    return sum;
}

void gls_exemplar_add(const float (*point)[3], size_t m, bool backwards, double weight, double (*sum)[3], size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double way = (double)(m - 1) * (double)k / (double)n, at = backwards ? (double)(m - 1) - way : way;
        const size_t low = (size_t)at, high = low + 1 < m ? low + 1 : low;
        const double share = at - (double)low;
        for (int r = 0; r < 3; r++) sum[k][r] += weight * ((1 - share) * point[low][r] + share * point[high][r]);
    }
}

bool gls_exemplar_part(const float (*point)[3], size_t m, const double a[3], const double b[3], size_t *first,
                       size_t *n, bool *backwards)
{
    const double *centre[2] = {a, b};
    size_t nearest[2] = {0, 0};
    for (int e = 0; e < 2; e++) {
        double best = INFINITY;
        for (size_t i = 0; i < m; i++) {
            const double mm2 = square_of_distance((const double[]){point[i][0], point[i][1], point[i][2]}, centre[e]);
            if (mm2 < best) best = mm2, nearest[e] = i;
        }
    }
    *backwards = nearest[1] < nearest[0];
    *first = nearest[*backwards ? 1 : 0];
    *n = nearest[*backwards ? 0 : 1] - *first + 1;
    return *n > 1;
}

/* A line that grows. */
typedef struct growing {
    double (*point)[3];
    size_t n, capacity;
} growing;

static bool add_point(growing *g, const double p[3])
{
    if (g->n >= MAX_POINTS || !gls_list_reserve(&g->point, g->n, &g->capacity, 256, sizeof *g->point)) return false;
    memcpy(g->point[g->n++], p, sizeof *g->point);
    return true;
}

/* Adds points from the last of the line on: along the n points of p from index `at` in the direction `way`, 1 or -1, at
 * straight distances of `step`, with the end. Six halvings find a point between two of p, as in connectome2tck. Returns
 * false if memory runs out, or there are too many points. */
static bool walk(const double (*p)[3], ptrdiff_t n, ptrdiff_t at, ptrdiff_t way, double step, growing *g)
{
    while (at > 0 && at < n - 1) {
        double last[3], q[3], low = 0, mu = 0.5, high = 1;
        memcpy(last, g->point[g->n - 1], sizeof last);
        while (at + way >= 0 && at + way < n && square_of_distance(p[at + way], last) < step * step) at += way;
        if (at == 0 || at == n - 1) return add_point(g, p[at]);
        for (int halvings = 0;; halvings++) {
            for (int r = 0; r < 3; r++) q[r] = (1 - mu) * p[at][r] + mu * p[at + way][r];
            if (halvings == 6) break;
            *(square_of_distance(q, last) > step * step ? &high : &low) = mu;
            mu = 0.5 * (low + high);
        }
        if (!add_point(g, q)) return false;
    }
    return true;
}

gls_status gls_exemplar_make(double (*mean)[3], size_t n, const double a[3], const double b[3], double step,
                             float (**line)[3], size_t *n_line)
{
    const size_t led = n / 4, middle = (n + 1) / 2;
    growing g = {.n = 0};
    for (size_t i = 0; i < led; i++)
        for (int r = 0; r < 3; r++) {
            const double share = (double)i / (double)led;
            mean[i][r] = share * mean[i][r] + (1 - share) * a[r];
            mean[n - 1 - i][r] = share * mean[n - 1 - i][r] + (1 - share) * b[r];
        }
    const double(*p)[3] = (const double(*)[3])mean;
    bool fits = add_point(&g, p[middle]) && walk(p, (ptrdiff_t)n, (ptrdiff_t)middle, -1, step, &g);
    for (size_t i = 0; fits && i < g.n / 2; i++) {
        double keep[3];
        memcpy(keep, g.point[i], sizeof keep);
        memcpy(g.point[i], g.point[g.n - 1 - i], sizeof keep);
        memcpy(g.point[g.n - 1 - i], keep, sizeof keep);
    }
    fits = fits && walk(p, (ptrdiff_t)n, (ptrdiff_t)middle, 1, step, &g);
    *line = fits ? malloc(g.n * sizeof **line) : NULL;
    for (size_t i = 0; *line && i < g.n; i++)
        for (int r = 0; r < 3; r++) (*line)[i][r] = (float)g.point[i][r];
    *n_line = g.n;
    free(g.point);
    if (*line) return GLS_OK;
    return g.n < MAX_POINTS
               ? gls_no_memory()
               : gls_fail(GLS_ERR_ARGUMENT, "--step %g mm gives a line more than %d points: give a longer step", step,
                          MAX_POINTS);
}
