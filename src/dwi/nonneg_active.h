/* Constrained fit of one voxel by the dual active set method (Goldfarb and Idnani 1983; with the rule of Lawson and
 * Hanson 1974 for the step to a bound). Starting from the unconstrained point, the most violated row becomes active,
 * again and again; rows whose multipliers would turn negative are released. nonneg_lanes.h includes this file for each
 * instruction set.
 *
 * B_a: the active rows of B. Their multipliers solve (B_a B_a' + SOFTNESS) lambda = -B_a y_u. The method keeps a square
 * root V of the inverse matrix, V'V = (B_a B_a' + SOFTNESS)^-1. V gets a row when a row of B becomes active, and is
 * changed by a reflection when one is released. */

#define VF NAME(vf)
#define VI NAME(vi)
#define ACTIVE NAME(active)

typedef float VF __attribute__((vector_size(8 * LANES), may_alias));
typedef int32_t VI __attribute__((vector_size(8 * LANES), may_alias));

/* Scratch memory of a voxel. Lists of active rows have space for `most` entries, a multiple of 8; behind the n entries
 * in use they are 0 up to a multiple of 8. */
typedef struct ACTIVE {
    double *root;         /* V, most x most */
    double *lambda;       /* multipliers, none of them negative */
    double *target;       /* multipliers that solve the equations of the active rows */
    double *product;      /* products of a row of B with the active rows */
    double *part;         /* V times a vector */
    double *y, *start;    /* current and unconstrained point: `wide` entries, 0 from k on */
    double *held;         /* one for each row: 0, or a large number if the row is active */
    float *held_float;    /* `held` in single precision */
    uint32_t *row;        /* active rows */
    size_t n, most, wide; /* n: number of active rows; most: largest n; wide: length of y */
} ACTIVE;

/* Sum of the elements of a vector, pairwise. */
TARGET static inline __attribute__((always_inline)) double NAME(sum)(VD x)
{
    double part[LANES] __attribute__((aligned(8 * LANES)));
    *(VD *)part = x;
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; lane++) part[lane] += part[lane + half];
    return part[0];
}

/* Dot product of n numbers. One of the arrays must be 0 from n up to a multiple of 8. */
TARGET static inline double NAME(dot)(const double *a, const double *b, size_t n)
{
    VD sum = {0};
    for (size_t i = 0; i < n; i += LANES) sum += *(const VD *)(a + i) * *(const VD *)(b + i);
    return NAME(sum)(sum);
}

/* Computes the first `many` vectors of to = start + scale times the sum of n rows of a matrix, each times its factor.
 * many: at most 4. row: indices of the rows; NULL: the first n rows. start: NULL for 0. */
TARGET static inline __attribute__((always_inline)) void NAME(combine_some)(const double *matrix, size_t stride,
                                                                            const uint32_t *row, const double *factor,
                                                                            size_t n, int many, double scale,
                                                                            const double *start, double *to)
{
    VD sum[4] = {{0}};
    for (size_t j = 0; j < n; j++)
        for (int q = 0; q < many; q++)
            sum[q] += *(const VD *)(matrix + (row ? row[j] : j) * stride + LANES * q) * factor[j];
    for (int q = 0; q < many; q++)
        *(VD *)(to + LANES * q) = (start ? *(const VD *)(start + LANES * q) : (VD){0}) + sum[q] * scale;
}

/* Calls combine_some() for all entries of `to`, several vectors at a time, because their sums do not wait for each
 * other. width: length of `to`, rounded up to LANES. */
TARGET static inline __attribute__((always_inline)) void NAME(combine)(const double *matrix, size_t stride,
                                                                       const uint32_t *row, const double *factor,
                                                                       size_t n, size_t width, double scale,
                                                                       const double *start, double *to)
{
    size_t i = 0;
    for (; i + 3 * LANES < width; i += 4 * LANES)
        NAME(combine_some)(matrix + i, stride, row, factor, n, 4, scale, start ? start + i : NULL, to + i);
    for (; i + LANES < width; i += 2 * LANES)
        NAME(combine_some)(matrix + i, stride, row, factor, n, 2, scale, start ? start + i : NULL, to + i);
    if (i < width) NAME(combine_some)(matrix + i, stride, row, factor, n, 1, scale, start ? start + i : NULL, to + i);
}

/* Finds, among rows that are not active, the row with the lowest negative value of B y. Computes in float, which is
 * precise enough for a choice. *value: value of the row. Returns the index of the row. If no value is negative, both
 * are 0. */
TARGET static size_t NAME(lowest_float)(const gls_nonneg_plan *plan, const ACTIVE *s, double *value)
{
    VF least = {0};
    VI at = {0}, number;
    for (int lane = 0; lane < 2 * LANES; lane++) number[lane] = lane;
    for (size_t r = 0; r < plan->stride; r += 8 * LANES) {
        const float *column = plan->columns_float + r;
        VF sum[4];
        for (int q = 0; q < 4; q++) sum[q] = *(const VF *)(s->held_float + r + 2 * LANES * q);
        for (size_t j = 0; j < plan->k; j++, column += plan->stride) {
            float y = (float)s->y[j];
            for (int q = 0; q < 4; q++) sum[q] += *(const VF *)(column + 2 * LANES * q) * y;
        }
        for (int q = 0; q < 4; q++) {
            VI lower = (VI)(sum[q] < least), here = number + (int32_t)(r + 2 * LANES * (size_t)q);
            least = (VF)((lower & (VI)sum[q]) | (~lower & (VI)least));
            at = (lower & here) | (~lower & at);
        }
    }
    /* the lanes compete: the lowest value, and among equal values the first row */
    size_t best = 0;
    *value = 0;
    for (int lane = 0; lane < 2 * LANES; lane++)
        if (least[lane] < *value || (least[lane] == *value && *value < 0 && (size_t)at[lane] < best)) {
            *value = least[lane];
            best = (size_t)at[lane];
        }
    return best;
}

/* Finds, among rows that are not active, the row with the lowest negative value of B y, in double precision; among
 * equals the first. *value: value of the row. Returns the index of the row. If no value is negative, both are 0. */
TARGET static size_t NAME(lowest)(const gls_nonneg_plan *plan, const ACTIVE *s, double *value)
{
    VD least = {0};
    VU at = {0}, number;
    for (int lane = 0; lane < LANES; lane++) number[lane] = lane;
    for (size_t r = 0; r < plan->stride; r += 4 * LANES) {
        const double *column = plan->columns + r;
        VD sum[4];
        for (int q = 0; q < 4; q++) sum[q] = *(const VD *)(s->held + r + LANES * q);
        for (size_t j = 0; j < plan->k; j++, column += plan->stride)
            for (int q = 0; q < 4; q++) sum[q] += *(const VD *)(column + LANES * q) * s->y[j];
        for (int q = 0; q < 4; q++) {
            VU lower = (VU)(sum[q] < least), here = number + (int64_t)(r + LANES * (size_t)q);
            least = SELECT(lower, sum[q], least);
            at = (lower & here) | (~lower & at);
        }
    }
    size_t best = 0;
    *value = 0;
    for (int lane = 0; lane < LANES; lane++)
        if (least[lane] < *value || (least[lane] == *value && *value < 0 && (size_t)at[lane] < best)) {
            *value = least[lane];
            best = (size_t)at[lane];
        }
    return best;
}

/* Makes a row active: V gets a row, and `target` the multipliers that solve the equations of the active rows, this one
 * included. value: value B y of the row, which is negative. */
TARGET static void NAME(append)(const gls_nonneg_plan *plan, ACTIVE *s, size_t row, double value)
{
    size_t n = s->n;
    const double *product = plan->products + row * plan->stride;
    double *added = s->root + n * s->most, square = 0;
    /* the lists grow into the next 8 entries, which are cleared first */
    if (n % 8 == 0) {
        for (size_t i = 0; i < n; i++) memset(s->root + i * s->most + n, 0, 8 * sizeof(double));
        memset(s->lambda + n, 0, 8 * sizeof(double));
        memset(s->target + n, 0, 8 * sizeof(double));
        memset(s->product + n, 0, 8 * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) s->product[i] = product[s->row[i]];
    for (size_t i = n; i % 8; i++) s->product[i] = 0;
    for (size_t i = 0; i < n; i++) {
        s->part[i] = NAME(dot)(s->root + i * s->most, s->product, n);
        square += s->part[i] * s->part[i];
    }
    /* pivot: Schur complement of the new row in B_a B_a' + SOFTNESS; at least SOFTNESS, except for rounding */
    double pivot = product[row] + SOFTNESS - square,
           scale = 1 / sqrt(pivot > MIN_ACTIVE_PIVOT ? pivot : MIN_ACTIVE_PIVOT);
    NAME(combine)(s->root, s->most, NULL, s->part, n, n, -scale, NULL, added);
    for (size_t j = n; j == n || j % 8; j++) added[j] = 0;
    for (size_t i = 0; i < n; i++) s->root[i * s->most + n] = 0;
    added[n] = scale;
    s->row[n] = (uint32_t)row;
    s->held[row] = HELD;
    s->held_float[row] = (float)HELD;
    s->n = n + 1;
    /* The equations of the active rows were solved, except that of this row, so the multipliers move along the new row
     * of V. */
    double way = -value * scale;
    for (size_t j = 0; j <= n; j += LANES)
        *(VD *)(s->target + j) = *(const VD *)(s->lambda + j) + way * *(const VD *)(added + j);
}

/* Releases the active row at position q, with its multipliers: a reflection moves its column of V into the last row,
 * which is dropped. The last active row takes position q. */
TARGET static void NAME(remove)(ACTIVE *s, size_t q)
{
    size_t last = s->n - 1;
    double *normal = s->part, *end = s->root + last * s->most, *product = s->product, square = 0;
    for (size_t i = 0; i <= last; i++) {
        normal[i] = s->root[i * s->most + q];
        square += normal[i] * normal[i];
    }
    /* the Householder vector, with the sign that avoids cancellation */
    double length = sqrt(square), factor = 1 / (square + fabs(normal[last]) * length);
    normal[last] += normal[last] < 0 ? -length : length;
    NAME(combine)(s->root, s->most, NULL, normal, s->n, s->n, factor, NULL, product);
    for (size_t i = 0; i <= last; i++)
        for (size_t j = 0; j <= last; j += LANES)
            *(VD *)(s->root + i * s->most + j) -= *(const VD *)(product + j) * normal[i];
    /* target of the rows that stay: the multiplier of row q becomes 0 along the last row of V */
    double way = s->target[q] / end[q];
    for (size_t j = 0; j <= last; j += LANES) *(VD *)(s->target + j) -= way * *(const VD *)(end + j);
    for (size_t i = 0; i < last; i++) {
        double *row = s->root + i * s->most;
        row[q] = row[last];
        row[last] = 0;
    }
    s->held[s->row[q]] = 0;
    s->held_float[s->row[q]] = 0;
    s->row[q] = s->row[last];
    s->lambda[q] = s->lambda[last];
    s->target[q] = s->target[last];
    s->lambda[last] = s->target[last] = 0;
    s->n = last;
}

/* Moves the multipliers towards the target, releasing rows whose multipliers would turn negative on the way. */
TARGET static void NAME(follow)(ACTIVE *s)
{
    for (;;) {
        /* least: share of the way from lambda to target at which the first multiplier reaches 0; 2: none does */
        VD least = (VD){0} + 2, never = least;
        for (size_t j = 0; j < s->n; j += LANES) {
            VD from = *(const VD *)(s->lambda + j), to = *(const VD *)(s->target + j);
            VD here = SELECT((VU)(to < 0), from / (from - to), never);
            *(VD *)(s->part + j) = here;
            least = SELECT((VU)(here < least), here, least);
        }
        double way = 2;
        for (int lane = 0; lane < LANES; lane++) way = least[lane] < way ? least[lane] : way;
        if (way == 2) break;
        for (size_t j = 0; j < s->n; j += LANES) {
            VD from = *(const VD *)(s->lambda + j), there = from + way * (*(const VD *)(s->target + j) - from);
            *(VD *)(s->lambda + j) = NAME(larger)(there, (VD){0});
        }
        size_t first = 0;
        while (s->part[first] > way) first++;
        NAME(remove)(s, first);
    }
    double *solved = s->target;
    s->target = s->lambda;
    s->lambda = solved;
}

/* Computes the solution from the multipliers: y = start + sum over active rows of lambda times the row of B. */
TARGET static void NAME(place)(const gls_nonneg_plan *plan, ACTIVE *s)
{
    NAME(combine)(plan->wide_rows, s->wide, s->row, s->lambda, s->n, s->wide, 1, s->start, s->y);
}

/* Removes the rounding error in the equations of the active rows by a step of iterative refinement: residual,
 * correction by V'V, new solution. */
TARGET static void NAME(refine)(const gls_nonneg_plan *plan, ACTIVE *s)
{
    size_t n = s->n;
    for (size_t i = n; i % 8; i++) s->product[i] = 0;
    for (size_t j = 0; j < n; j++)
        s->product[j] = SOFTNESS * s->lambda[j] + NAME(dot)(plan->wide_rows + s->row[j] * s->wide, s->y, s->wide);
    for (size_t i = 0; i < n; i++) s->part[i] = NAME(dot)(s->root + i * s->most, s->product, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j += LANES)
            *(VD *)(s->lambda + j) -= *(const VD *)(s->root + i * s->most + j) * s->part[i];
    NAME(place)(plan, s);
}

/* Iterates from s->start, the unconstrained point, to the solution s->y. Returns false if the fit would take more than
 * 10 k steps or fills the list of active rows. Rows are chosen in float until violations come near the rounding error
 * of float, then in double. */
TARGET static bool NAME(solve_active)(const gls_nonneg_plan *plan, ACTIVE *s)
{
    bool precise = false, converged = false;
    double noise = FLOAT_NOISE * sqrt(NAME(dot)(s->start, s->start, s->wide)), value;
    s->n = 0;
    memcpy(s->y, s->start, s->wide * sizeof *s->y);
    for (size_t turn = 0; turn < 10 * plan->k && s->n < s->most; turn++) {
        size_t row = precise ? NAME(lowest)(plan, s, &value) : NAME(lowest_float)(plan, s, &value);
        /* the stopping rule of dwi2fod: end if no row outside the set is lower than the lowest active row, which lies
         * at -SOFTNESS times its multiplier */
        double largest = 0;
        for (size_t j = 0; j < s->n; j++) largest = s->lambda[j] > largest ? s->lambda[j] : largest;
        if (precise) {
            converged = value >= -SOFTNESS * largest;
            if (converged) break;
        } else {
            double bound = noise > SOFTNESS * largest ? noise : SOFTNESS * largest;
            if (value < -noise) value = NAME(dot)(plan->wide_rows + row * s->wide, s->y, s->wide);
            precise = value >= -bound; /* without signal both are 0 */
            if (precise) continue;
        }
        NAME(append)(plan, s, row, value);
        NAME(follow)(s);
        NAME(place)(plan, s);
    }
    if (converged) NAME(refine)(plan, s);
    for (size_t j = 0; j < s->n; j++) {
        s->held[s->row[j]] = 0;
        s->held_float[s->row[j]] = 0;
    }
    return converged;
}

/* Divides the scratch memory of a thread into the arrays of the method; entries that must be 0 are set to 0. */
TARGET static ACTIVE NAME(active_layout)(const gls_nonneg_plan *plan, void *scratch)
{
    size_t most = plan->max_active, wide = plan->wide;
    ACTIVE s = {.root = scratch, .most = most, .wide = wide};
    s.lambda = s.root + most * most;
    s.target = s.lambda + most;
    s.product = s.target + most;
    s.part = s.product + most;
    s.y = s.part + most;
    s.start = s.y + wide;
    s.held = s.start + wide;
    s.held_float = (float *)(s.held + plan->stride);
    s.row = (uint32_t *)(s.held_float + plan->stride);
    memset(s.y, 0, 2 * wide * sizeof *s.y);
    memset(s.held, 0, plan->stride * (sizeof *s.held + sizeof *s.held_float));
    return s;
}

#undef VF
#undef VI
#undef ACTIVE
