/* Constrained fit of a block of voxels for one instruction set. Include this file once for each set, with these macros:
 *   LANES, COLUMNS, TARGET, NAME(x)   as for lanes_cholesky.h
 *   WIDE    tiles of the normal matrix that are computed together
 * The active set method (nonneg_active.h) solves the voxels one by one, if the plan is made for it. The interior point
 * method solves the rest, LANES voxels at a time, each in a slot; when a voxel is done, the next one takes its slot.
 * Its steps run on vectors across the slots, so the result of a voxel does not depend on its neighbours.
 *
 * Unknowns of the interior point method (Mehrotra 1992) are y, the multipliers l >= 0 of the rows, and their slack
 * s = B y + SOFTNESS l >= 0. At the solution y = y_u + B'l and s l = 0. With weights d = l / (s + SOFTNESS l) a step
 * solves (I + B' diag(d) B) dy = y_u - y + B' t. */

#define VD NAME(vd)
#define VU NAME(vu)
#define SLOTS NAME(slots)
#define VECS (GLS_NONNEG_BLOCK / LANES)
#define T GLS_NONNEG_TILE
#define SELECT(mask, a, b) ((VD)(((mask) & (VU)(a)) | (~(mask) & (VU)(b))))

#include "dwi/lanes_cholesky.h"

/* Scratch memory of the kernel. In arrays with VECS vectors a row, each lane is a voxel of the block; in the other
 * arrays each lane is a slot. */
typedef struct SLOTS {
    VD *start;          /* padded x VECS: y_u of the block */
    VD *first;          /* rows x VECS: B y_u */
    VD *solution;       /* padded x VECS: solutions y of the block */
    VD *target;         /* padded: y_u of the slots */
    VD *y;              /* padded: current point */
    VD *step;           /* padded: step of y */
    VD *slack, *lambda; /* rows: slack s and multiplier l of each inequality */
    VD *inverse_slack;  /* rows: 1 / s */
    VD *inverse_lambda; /* rows: 1 / l */
    VD *inverse_sum;    /* rows: 1 / (s + SOFTNESS l) */
    VD *weight;         /* rows: d */
    VD *pull;           /* rows: t, then the change of s */
    VD *centre;         /* rows: target of s l minus its value, then the change of l */
    VD *factor;         /* (padded + 1)(padded + 2) / 2: rows of the normal matrix, and below them the right side */
    VD *inverse;        /* padded: reciprocals of the diagonal of the Cholesky factor */
    void *end;          /* end of the arrays, rounded up to 64 bytes */
    VD scale, gap;      /* scale: largest unconstrained amplitude; gap: sum of s l */
    VD residual;        /* upper bound of the residual of the dual equations */
    /* voxel of the block in each slot, and its number of iterations */
    size_t voxel[LANES];
    int iterations[LANES];
} SLOTS;

/* Larger of a and b in each lane; b if a is NaN. */
TARGET static inline VD NAME(larger)(VD a, VD b)
{
    VU mask = (VU)(a > b);
    return SELECT(mask, a, b);
}

/* Square root in each lane. */
TARGET static inline VD NAME(root)(VD x)
{
    double root[LANES] __attribute__((aligned(8 * LANES)));
    *(VD *)root = x;
    for (int lane = 0; lane < LANES; lane++) root[lane] = sqrt(root[lane]);
    return *(VD *)root;
}

#include "dwi/nonneg_active.h"

/* Computes the unconstrained solutions y_u of the voxels of the block. */
TARGET static void NAME(project)(const gls_nonneg_plan *plan, const double *data, SLOTS *s)
{
    const VD *in = (const VD *)data;
    for (size_t j = 0; j < plan->padded; j += T)
        for (size_t v = 0; v < VECS; v++) {
            VD sum[T] = {{0}};
            for (size_t i = 0; i < plan->n; i++)
                for (size_t q = 0; q < T; q++) sum[q] += plan->project[i * plan->padded + j + q] * in[i * VECS + v];
            for (size_t q = 0; q < T; q++) s->start[(j + q) * VECS + v] = sum[q];
        }
}

/* Computes the amplitudes B y_u. */
TARGET static void NAME(evaluate)(const gls_nonneg_plan *plan, SLOTS *s)
{
    for (size_t r = 0; r < plan->n_rows; r += 8)
        for (size_t v = 0; v < VECS; v++) {
            VD sum[8] = {{0}};
            for (size_t j = 0; j < plan->k; j++)
                for (size_t q = 0; q < 8; q++)
                    sum[q] += plan->rows[(r + q) * plan->padded + j] * s->start[j * VECS + v];
            for (size_t q = 0; q < 8; q++) s->first[(r + q) * VECS + v] = sum[q];
        }
}

/* Loads voxel v into a slot, at a point inside the bounds. Returns false if y_u itself satisfies all bounds; y_u is
 * then stored as the solution. */
TARGET static bool NAME(load)(const gls_nonneg_plan *plan, SLOTS *s, size_t slot, size_t v)
{
    const double *first = (const double *)s->first + v, *start = (const double *)s->start + v;
    double scale = 0, least = 0, way = 0, length = 0;
    const double *rise = plan->inside + plan->k;
    /* way: smallest multiple of the interior point which, added to y_u, makes all values B y >= 0 */
    for (size_t r = 0; r < plan->n_rows; r++) {
        double c = first[r * GLS_NONNEG_BLOCK];
        scale = fmax(scale, fabs(c));
        least = fmin(least, c);
        way = fmax(way, -c / rise[r]);
    }
    if (least >= 0) {
        for (size_t j = 0; j < plan->k; j++)
            ((double *)s->solution)[j * GLS_NONNEG_BLOCK + v] = start[j * GLS_NONNEG_BLOCK];
        return false;
    }
    /* start a tenth farther inside the bounds, with equal multipliers of the size of the largest amplitude */
    way *= 1.1;
    double lambda = scale / plan->drift, sum = 0;
    for (size_t j = 0; j < plan->k; j++) {
        s->target[j][slot] = start[j * GLS_NONNEG_BLOCK];
        s->y[j][slot] = start[j * GLS_NONNEG_BLOCK] + way * plan->inside[j];
        length += way * plan->inside[j] * way * plan->inside[j];
    }
    for (size_t r = 0; r < plan->n_rows; r++) {
        double slack = first[r * GLS_NONNEG_BLOCK] + way * rise[r] + SOFTNESS * lambda;
        s->slack[r][slot] = slack;
        s->lambda[r][slot] = lambda;
        sum += slack * lambda;
    }
    s->scale[slot] = scale;
    s->gap[slot] = sum;
    s->residual[slot] = 1 + sqrt(length) / scale; /* an upper bound of the residual of the dual equations */
    s->voxel[slot] = v;
    s->iterations[slot] = 0;
    return true;
}

/* Computes rows i0 .. i0 + T - 1 of I + B' diag(d) B, in `columns` columns from j0 on, up to the diagonal. a: the lower
 * triangle, row by row. */
TARGET static inline __attribute__((always_inline)) void NAME(tiles)(const gls_nonneg_plan *plan, const VD *weight,
                                                                     size_t i0, size_t j0, size_t columns, VD *a)
{
    VD sum[T][T * WIDE];
    for (size_t i = 0; i < T; i++)
        for (size_t j = 0; j < columns; j++) sum[i][j] = (VD){0} + (i0 + i == j0 + j ? 1.0 : 0.0);
    const double *row = plan->rows;
    for (size_t r = 0; r < plan->n_rows; r++, row += plan->padded) {
        VD x[T];
        for (size_t i = 0; i < T; i++) x[i] = weight[r] * row[i0 + i];
        for (size_t j = 0; j < columns; j++)
            for (size_t i = 0; i < T; i++) sum[i][j] += x[i] * row[j0 + j];
    }
    for (size_t i = 0; i < T; i++)
        for (size_t j = 0; j < columns && j0 + j <= i0 + i; j++) a[(i0 + i) * (i0 + i + 1) / 2 + j0 + j] = sum[i][j];
}

/* Computes the lower triangle of the normal matrix I + B' diag(d) B tile by tile; d: the weights of the rows. */
TARGET static void NAME(normal)(const gls_nonneg_plan *plan, SLOTS *s)
{
    for (size_t i = 0; i < plan->padded; i += T) {
        size_t j = 0, end = i + T;
        for (; j + T * WIDE <= end; j += T * WIDE) NAME(tiles)(plan, s->weight, i, j, T * WIDE, s->factor);
        if (WIDE > 2 && j + 2 * T <= end) {
            NAME(tiles)(plan, s->weight, i, j, (WIDE > 2 ? 2 : 1) * T, s->factor);
            j += 2 * T;
        }
        for (; j < end; j += T) NAME(tiles)(plan, s->weight, i, j, T, s->factor);
    }
}

/* Solves for the step of y, given t in `pull`. */
TARGET static void NAME(move)(const gls_nonneg_plan *plan, SLOTS *s)
{
    VD *right = s->factor + plan->padded * (plan->padded + 1) / 2;
    for (size_t j = 0; j < plan->padded; j += T) {
        VD sum[T];
        for (size_t q = 0; q < T; q++) sum[q] = s->target[j + q] - s->y[j + q];
        for (size_t r = 0; r < plan->n_rows; r++)
            for (size_t q = 0; q < T; q++) sum[q] += plan->rows[r * plan->padded + j + q] * s->pull[r];
        for (size_t q = 0; q < T; q++) right[j + q] = sum[q];
    }
    NAME(substitute)(plan->padded, s->factor, s->inverse, s->step);
}

/* B times the step, for 8 rows from r0 on. */
TARGET static inline __attribute__((always_inline)) void NAME(rises)(const gls_nonneg_plan *plan, const SLOTS *s,
                                                                     size_t r0, VD rise[8])
{
    const double *row = plan->rows + r0 * plan->padded;
    for (size_t q = 0; q < 8; q++) rise[q] = (VD){0};
    for (size_t j = 0; j < plan->k; j++)
        for (size_t q = 0; q < 8; q++) rise[q] += row[q * plan->padded + j] * s->step[j];
}

/* Predictor, the first of two steps of an iteration. move() has computed this step; it is never taken. How far the
 * bounds would allow it to go determines how far the second step stays away from the bounds: sets `centre`, and t in
 * `pull`, for the second step. */
TARGET static void NAME(predict)(const gls_nonneg_plan *plan, SLOTS *s)
{
    VD most = {0}, linear = {0}, square = {0};
    most += 1.0;
    for (size_t r0 = 0; r0 < plan->n_rows; r0 += 8) {
        VD rise[8];
        NAME(rises)(plan, s, r0, rise);
        for (size_t q = 0; q < 8 && r0 + q < plan->n_rows; q++) {
            size_t r = r0 + q;
            VD product = s->slack[r] * s->lambda[r];
            VD change = -product * s->inverse_sum[r] - s->weight[r] * rise[q], slack = rise[q] + SOFTNESS * change;
            most = NAME(larger)(most, -slack * s->inverse_slack[r]);
            most = NAME(larger)(most, -change * s->inverse_lambda[r]);
            linear += s->slack[r] * change + s->lambda[r] * slack;
            s->centre[r] = slack * change;
            square += s->centre[r];
        }
    }
    /* Mehrotra's rule: the corrector aims at the same s l in all rows, the present mean of s l times the third power of
     * the ratio by which the predictor would reduce the sum of s l. */
    VD way = 1.0 / most, ratio = (s->gap + way * (linear + way * square)) / s->gap;
    VD aim = ratio * ratio * ratio * s->gap * (1.0 / (double)plan->n_rows);
    for (size_t r = 0; r < plan->n_rows; r++) {
        s->centre[r] = aim - s->centre[r] - s->slack[r] * s->lambda[r];
        s->pull[r] = s->lambda[r] + s->centre[r] * s->inverse_sum[r];
    }
}

/* Corrector, the second of two steps of an iteration: moves y, s and l along the step, by at least the share BOUNDARY
 * of the way to the nearest bound, or of the whole step if it reaches no bound; never the whole way. */
TARGET static void NAME(correct)(const gls_nonneg_plan *plan, SLOTS *s)
{
    VD most = {0}, gap = {0};
    most += 1.0;
    for (size_t r0 = 0; r0 < plan->n_rows; r0 += 8) {
        VD rise[8];
        NAME(rises)(plan, s, r0, rise);
        for (size_t q = 0; q < 8 && r0 + q < plan->n_rows; q++) {
            size_t r = r0 + q;
            VD change = s->centre[r] * s->inverse_sum[r] - s->weight[r] * rise[q], slack = rise[q] + SOFTNESS * change;
            most = NAME(larger)(most, -slack * s->inverse_slack[r]);
            most = NAME(larger)(most, -change * s->inverse_lambda[r]);
            s->centre[r] = change;
            s->pull[r] = slack;
        }
    }
    /* the share of the way to the bounds tends to 1 as the gap closes, which makes the last iterations converge fast */
    VD relative = s->gap / (s->scale * s->scale * (double)plan->n_rows);
    VD part = NAME(larger)((VD){0} + BOUNDARY, 1.0 - NAME(root)(NAME(root)(relative)));
    VD way = part / most;
    for (size_t j = 0; j < plan->k; j++) s->y[j] += way * s->step[j];
    for (size_t r = 0; r < plan->n_rows; r++) {
        s->slack[r] += way * s->pull[r];
        s->lambda[r] += way * s->centre[r];
        gap += s->slack[r] * s->lambda[r];
    }
    s->gap = gap;
    s->residual *= 1.0 - way;
}

/* One iteration of Mehrotra's predictor and corrector: both steps use the same factorised matrix. */
TARGET static void NAME(iterate)(const gls_nonneg_plan *plan, SLOTS *s)
{
    /* inverses and weights of all rows; t of the predictor, which aims at s l = 0, is SOFTNESS l d */
    for (size_t r = 0; r < plan->n_rows; r++) {
        VD lambda = s->lambda[r], inverse = 1.0 / (s->slack[r] + SOFTNESS * lambda);
        s->inverse_slack[r] = 1.0 / s->slack[r];
        s->inverse_lambda[r] = 1.0 / lambda;
        s->inverse_sum[r] = inverse;
        s->weight[r] = lambda * inverse;
        s->pull[r] = SOFTNESS * lambda * s->weight[r];
    }
    NAME(normal)(plan, s);
    NAME(factorise)(plan->padded, s->factor, s->inverse);
    NAME(move)(plan, s);
    NAME(predict)(plan, s);
    NAME(move)(plan, s);
    NAME(correct)(plan, s);
}

/* Divides the scratch memory of a thread into arrays of vectors. Empty slots and padding get values that stay finite.
 */
TARGET static SLOTS NAME(layout)(const gls_nonneg_plan *plan, void *scratch)
{
    size_t p = plan->padded, rows = (plan->n_rows + 7) / 8 * 8;
    SLOTS s = {.start = scratch};
    s.first = s.start + p * VECS;
    s.solution = s.first + rows * VECS;
    s.target = s.solution + p * VECS;
    s.y = s.target + p;
    s.step = s.y + p;
    s.slack = s.step + p;
    s.lambda = s.slack + rows;
    s.inverse_slack = s.lambda + rows;
    s.inverse_lambda = s.inverse_slack + rows;
    s.inverse_sum = s.inverse_lambda + rows;
    s.weight = s.inverse_sum + rows;
    s.pull = s.weight + rows;
    s.centre = s.pull + rows;
    s.factor = s.centre + rows;
    s.inverse = s.factor + (p + 1) * (p + 2) / 2;
    s.end = (char *)scratch + ((size_t)((char *)(s.inverse + p) - (char *)scratch) + 63) / 64 * 64;
    memset((void *)s.target, 0, 3 * p * sizeof *s.target); /* slots may stay empty, and padding must be 0 */
    for (size_t r = 0; r < rows; r++) s.slack[r] = s.lambda[r] = (VD){0} + 1.0;
    s.scale = s.gap = (VD){0} + 1.0;
    return s;
}

/* Computes f = L^-T y for the block. */
TARGET static void NAME(finish)(const gls_nonneg_plan *plan, const SLOTS *s, double *coefficients)
{
    VD *f = (VD *)coefficients;
    for (size_t v = 0; v < VECS; v++)
        for (size_t j = plan->k; j-- > 0;) {
            VD sum = s->solution[j * VECS + v];
            for (size_t i = j + 1; i < plan->k; i++) sum -= plan->factor[i * plan->k + j] * f[i * VECS + v];
            f[j * VECS + v] = sum * (1.0 / plan->factor[j * plan->k + j]);
        }
}

/* Solves voxels one by one with the active set method, and sets done[] of those that it solves. Returns their number.
 */
TARGET static size_t NAME(activate)(const gls_nonneg_plan *plan, SLOTS *s, size_t count, void *scratch, bool *done)
{
    NAME(active) voxel = NAME(active_layout)(plan, scratch);
    size_t n = 0;
    for (size_t v = 0; v < count; v++) {
        for (size_t j = 0; j < plan->k; j++) voxel.start[j] = ((double *)s->start)[j * GLS_NONNEG_BLOCK + v];
        done[v] = NAME(solve_active)(plan, &voxel);
        n += done[v];
        for (size_t j = 0; j < plan->k && done[v]; j++) ((double *)s->solution)[j * GLS_NONNEG_BLOCK + v] = voxel.y[j];
    }
    return n;
}

/* Solves the voxels that are not marked in done[] with the interior point method. Returns the number that did not
 * converge. */
TARGET static size_t NAME(interior)(const gls_nonneg_plan *plan, SLOTS *s, size_t count, const bool *done)
{
    bool busy[LANES] = {false};
    size_t next = 0, n_busy = 0, n_unconverged = 0;
    NAME(evaluate)(plan, s);
    for (;;) {
        for (size_t slot = 0; slot < LANES; slot++)
            for (; !busy[slot] && next < count; next++) {
                busy[slot] = !done[next] && NAME(load)(plan, s, slot, next);
                n_busy += busy[slot];
            }
        if (n_busy == 0) break;
        NAME(iterate)(plan, s);
        VD relative = s->gap / (s->scale * s->scale * (double)plan->n_rows);
        for (size_t slot = 0; slot < LANES; slot++) {
            if (!busy[slot]) continue;
            bool converged = relative[slot] < ENOUGH_GAP && s->residual[slot] < ENOUGH_RESIDUAL;
            if (!converged && ++s->iterations[slot] < GLS_NONNEG_MAX_ITERATIONS) continue;
            n_unconverged += !converged;
            for (size_t j = 0; j < plan->k; j++)
                ((double *)s->solution)[j * GLS_NONNEG_BLOCK + s->voxel[slot]] = s->y[j][slot];
            busy[slot] = false;
            n_busy--;
        }
    }
    return n_unconverged;
}

/* Fits `count` voxels; returns how many did not converge. Voxels that the active set method cannot solve are left to
 * the interior point method. */
TARGET static size_t NAME(fit)(const gls_nonneg_plan *plan, const double *data, size_t count, void *scratch,
                               double *coefficients)
{
    SLOTS s = NAME(layout)(plan, scratch);
    bool done[GLS_NONNEG_BLOCK] = {false};
    NAME(project)(plan, data, &s);
    memset((void *)s.solution, 0, plan->padded * VECS * sizeof *s.solution);
    size_t n_done = plan->columns ? NAME(activate)(plan, &s, count, s.end, done) : 0;
    size_t n_unconverged = n_done < count ? NAME(interior)(plan, &s, count, done) : 0;
    NAME(finish)(plan, &s, coefficients);
    return n_unconverged;
}

#undef VD
#undef VU
#undef SLOTS
#undef VECS
#undef T
#undef SELECT
#undef LANES
#undef COLUMNS
#undef WIDE
#undef TARGET
#undef NAME
