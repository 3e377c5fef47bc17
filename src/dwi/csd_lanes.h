/* Deconvolution of a block of voxels for one instruction set, see util/each_level.h. LANES voxels are processed at a
 * time, each in a slot; when a voxel is done, the next one takes its slot. Steps that are equal for all voxels run on
 * vectors across the slots; the normal matrix of each voxel is updated by vectors inside the voxel. So the result of a
 * voxel does not depend on its neighbours. Method: Tournier et al. 2007. */

#define VD NAME(vd)
#define VU NAME(vu)
#define VF NAME(vf)
#define VB NAME(vb)
#define SLOTS NAME(slots)
#define ROWS LANES                 /* rows of a tile that are updated together */
#define TILES (LANES == 8 ? 3 : 1) /* tiles that are updated together: TILES * ROWS * 8 / LANES accumulators */
#define COLUMNS (LANES == 8 ? 4 : 2)
#define VECS (GLS_CSD_BLOCK / LANES)
#define TILE_VECS (GLS_CSD_TILE / LANES)

#include "dwi/lanes_cholesky.h"

typedef float VF __attribute__((vector_size(4 * LANES), may_alias));
typedef int8_t VB __attribute__((vector_size(LANES), may_alias));

/* Scratch memory of the kernel. In arrays with VECS vectors a row, each lane is a voxel of the block; in the other
 * arrays each lane is a slot. */
typedef struct SLOTS {
    VD *signal;            /* n x VECS: signal of the block */
    VD *right;             /* padded x VECS: X' times signal */
    VD *first;             /* padded x VECS: unconstrained solution */
    int8_t *low;           /* n_rows x GLS_CSD_BLOCK: -1 where the amplitude is below the threshold */
    double *normal[LANES]; /* normal matrix of each slot, in tiles */
    int8_t *active;        /* n_rows x LANES: -1 for rows that are in the normal matrix */
    VD *factor;            /* (k + 1)(k + 2) / 2: rows of the Cholesky factor, and below them the right side */
    VD *inverse;           /* k: inverse diagonal of the Cholesky factor */
    VD *f;                 /* k: solution */
    /* LANES x n_rows: rows that enter or leave the normal matrix of each slot */
    uint32_t *enter, *leave;
    VD threshold;          /* amplitude of each slot's voxel below which a row is active */
    size_t voxel[LANES];   /* voxel of the block in each slot */
    int iterations[LANES]; /* number of solutions of each slot's voxel */
} SLOTS;

/* c[j][v] = sum over i of a[i][j] b[i][v] for 4 columns j of a, whose rows are `step` values apart. */
TARGET static inline void NAME(product)(const double *a, size_t step, const VD *b, size_t n, VD *c)
{
    for (size_t v = 0; v < VECS; v += 2) {
        VD sum[4][2] = {{{0}}};
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < 4; j++)
                for (size_t u = 0; u < 2; u++) sum[j][u] += a[i * step + j] * b[i * VECS + v + u];
        for (size_t j = 0; j < 4; j++)
            for (size_t u = 0; u < 2; u++) c[j * VECS + v + u] = sum[j][u];
    }
}

/* Computes right sides and unconstrained solutions of the block, and the rows where the amplitude of the low orders is
 * below the threshold. signal[i * stride + v]: weighted volume i of voxel v. */
TARGET static void NAME(start)(const gls_csd_plan *plan, const float *signal, size_t stride, SLOTS *s)
{
    for (size_t i = 0; i < plan->n; i++)
        for (size_t v = 0; v < VECS; v++) {
            VF in;
            memcpy(&in, signal + i * stride + v * LANES, sizeof in);
            s->signal[i * VECS + v] = __builtin_convertvector(in, VD);
        }
    for (size_t j = 0; j < plan->padded; j += 4) {
        NAME(product)(plan->start + j, 2 * plan->padded, s->signal, plan->n, s->right + j * VECS);
        NAME(product)(plan->start + plan->padded + j, 2 * plan->padded, s->signal, plan->n, s->first + j * VECS);
    }
    /* amplitudes of the low orders, in tiles of 4 rows by 2 vectors of voxels */
    for (size_t v = 0; v < VECS; v += 2) {
        VD least[2] = {s->first[v] * plan->threshold, s->first[v + 1] * plan->threshold};
        for (size_t r = 0; r < plan->n_rows; r += 4) {
            VD sum[4][2] = {{{0}}};
            for (size_t j = 0; j < plan->n_low; j++)
                for (size_t q = 0; q < 4; q++)
                    for (size_t u = 0; u < 2; u++)
                        sum[q][u] += plan->rows[(r + q) * plan->padded + j] * s->first[j * VECS + v + u];
            for (size_t q = 0; q < 4 && r + q < plan->n_rows; q++)
                for (size_t u = 0; u < 2; u++)
                    *(VB *)(s->low + (r + q) * GLS_CSD_BLOCK + (v + u) * LANES) =
                        __builtin_convertvector((VU)(sum[q][u] < least[u]), VB);
        }
    }
}

/* Returns the number of rows whose amplitude in voxel v is below the threshold. Counts the rows marked in s->low, which
 * the low orders decided; if none is marked, decides again by all orders and marks the rows. */
TARGET static size_t NAME(first_rows)(const gls_csd_plan *plan, const SLOTS *s, size_t v)
{
    const double *first = (const double *)s->first + v;
    size_t count = 0;
    for (size_t r = 0; r < plan->n_rows; r++) count += s->low[r * GLS_CSD_BLOCK + v] != 0;
    if (count > 0) return count;
    for (size_t r = 0; r < plan->n_rows; r++) {
        double sum = 0;
        for (size_t j = 0; j < plan->k; j++) sum += plan->rows[r * plan->padded + j] * first[j * GLS_CSD_BLOCK];
        bool small = sum < first[0] * plan->threshold;
        s->low[r * GLS_CSD_BLOCK + v] = small ? -1 : 0;
        count += small;
    }
    return count;
}

/* Updates a run of tiles in one row of tiles: to = from plus or minus the sum of the outer products of the listed rows
 * of B. */
TARGET static inline __attribute__((always_inline)) void NAME(tiles)(const double *b, size_t padded,
                                                                     const uint32_t *list, size_t n, bool add,
                                                                     size_t bi, size_t bj, size_t count,
                                                                     const double *from, double *to)
{
    for (size_t i0 = 0; i0 < GLS_CSD_TILE; i0 += ROWS) {
        VD sum[TILES][ROWS][TILE_VECS];
        for (size_t t = 0; t < count; t++)
            for (size_t i = 0; i < ROWS; i++)
                for (size_t v = 0; v < TILE_VECS; v++) sum[t][i][v] = ((const VD *)(from + 64 * t + 8 * (i0 + i)))[v];
        for (size_t r = 0; r < n; r++) {
            const double *row = b + list[r] * padded, *left = row + 8 * bi + i0, *right = row + 8 * bj;
            for (size_t t = 0; t < count; t++)
                for (size_t v = 0; v < TILE_VECS; v++) {
                    VD x = ((const VD *)(right + 8 * t))[v];
                    for (size_t i = 0; i < ROWS; i++)
                        sum[t][i][v] = add ? sum[t][i][v] + left[i] * x : sum[t][i][v] - left[i] * x;
                }
        }
        for (size_t t = 0; t < count; t++)
            for (size_t i = 0; i < ROWS; i++)
                for (size_t v = 0; v < TILE_VECS; v++) ((VD *)(to + 64 * t + 8 * (i0 + i)))[v] = sum[t][i][v];
    }
}

/* Normal matrix of one voxel: to = from plus (if add) or minus the outer products of the listed rows of the constraint.
 * Only the lower triangle is stored, as tiles of 8 x 8. */
TARGET static inline __attribute__((always_inline)) void NAME(update_signed)(const gls_csd_plan *plan,
                                                                             const uint32_t *list, size_t n, bool add,
                                                                             const double *from, double *to)
{
    size_t at = 0;
    for (size_t bi = 0; bi < plan->padded / GLS_CSD_TILE; bi++)
        for (size_t bj = 0; bj <= bi;) {
            if (bi + 1 - bj >= TILES) {
                NAME(tiles)(plan->rows, plan->padded, list, n, add, bi, bj, TILES, from + at, to + at);
                bj += TILES;
                at += 64 * TILES;
            } else {
                NAME(tiles)(plan->rows, plan->padded, list, n, add, bi, bj, 1, from + at, to + at);
                bj++;
                at += 64;
            }
        }
}

/* to = from plus the outer products of n listed rows; `from` and `to` may be the same matrix. */
TARGET static void NAME(add_rows)(const gls_csd_plan *plan, const uint32_t *list, size_t n, const double *from,
                                  double *to)
{
    NAME(update_signed)(plan, list, n, true, from, to);
}

/* to = from minus the outer products of n listed rows. */
TARGET static void NAME(remove_rows)(const gls_csd_plan *plan, const uint32_t *list, size_t n, const double *from,
                                     double *to)
{
    NAME(update_signed)(plan, list, n, false, from, to);
}

/* Loads voxel v into a slot; its first active rows are those below the threshold. If no row is, and plan->solve_all is
 * not set, stores the unconstrained solution of the voxel instead and returns false. */
TARGET static bool NAME(load)(const gls_csd_plan *plan, SLOTS *s, size_t slot, size_t v, double *coefficients)
{
    size_t count = NAME(first_rows)(plan, s, v), listed = 0;
    if (count == 0 && !plan->solve_all) {
        for (size_t j = 0; j < plan->k; j++)
            coefficients[j * GLS_CSD_BLOCK + v] = ((const double *)s->first)[j * GLS_CSD_BLOCK + v];
        return false;
    }
    /* few: start from P + mu and add the active rows; otherwise start from P + mu + B'B and remove the rows that are
     * not active, which are then fewer */
    bool few = 2 * count <= plan->n_rows;
    for (size_t r = 0; r < plan->n_rows; r++) {
        int8_t in = s->low[r * GLS_CSD_BLOCK + v];
        s->active[r * LANES + slot] = in;
        if ((in != 0) == few) s->enter[listed++] = (uint32_t)r;
    }
    if (few)
        NAME(add_rows)(plan, s->enter, listed, plan->normal, s->normal[slot]);
    else
        NAME(remove_rows)(plan, s->enter, listed, plan->full, s->normal[slot]);
    s->threshold[slot] = ((const double *)s->first)[v] * plan->threshold;
    s->voxel[slot] = v;
    s->iterations[slot] = 0;
    return true;
}

/* Copies the normal matrix of each slot into the slot's lane of `factor`, and the right side into the row below the
 * matrix. */
TARGET static void NAME(gather)(const gls_csd_plan *plan, SLOTS *s)
{
    size_t k = plan->k;
    VD *to = s->factor;
    for (size_t r = 0; r < k; r++) {
        size_t bi = r / GLS_CSD_TILE, at = 64 * (bi * (bi + 1) / 2) + 8 * (r % GLS_CSD_TILE);
        for (size_t c = 0; c <= r; c++, to++) {
            size_t from = at + 64 * (c / GLS_CSD_TILE) + c % GLS_CSD_TILE;
            for (size_t lane = 0; lane < LANES; lane++) (*to)[lane] = s->normal[lane][from];
        }
    }
    for (size_t c = 0; c < k; c++)
        for (size_t lane = 0; lane < LANES; lane++)
            to[c][lane] = ((const double *)s->right)[c * GLS_CSD_BLOCK + s->voxel[lane]];
}

/* Finds the active rows of each slot anew, and lists the rows that enter or leave the slot's set. Returns a mask of
 * slots with changes. */
TARGET static VU NAME(compare)(const gls_csd_plan *plan, SLOTS *s, uint32_t *n_enter, uint32_t *n_leave)
{
    VU changed = {0};
    for (size_t r0 = 0; r0 < plan->n_rows; r0 += 8) {
        VD sum[8] = {{0}};
        const double *row = plan->rows + r0 * plan->padded;
        for (size_t j = 0; j < plan->k; j++)
            for (size_t q = 0; q < 8; q++) sum[q] += row[q * plan->padded + j] * s->f[j];
        for (size_t q = 0; q < 8 && r0 + q < plan->n_rows; q++) {
            VB *active = (VB *)(s->active + (r0 + q) * LANES),
               now = __builtin_convertvector((VU)(sum[q] < s->threshold), VB), other = now ^ *active;
            uint64_t bits = 0;
            memcpy(&bits, &other, sizeof other);
            if (bits == 0) continue;
            changed |= __builtin_convertvector(other, VU);
            for (int lane = 0; lane < LANES; lane++) {
                if (!other[lane]) continue;
                uint32_t row_number = (uint32_t)(r0 + q), *list = now[lane] ? s->enter : s->leave,
                         *n = now[lane] ? n_enter : n_leave;
                list[(size_t)lane * plan->n_rows + n[lane]++] = row_number;
            }
            *active = now;
        }
    }
    return changed;
}

/* Stores the solution of a slot in the column of its voxel. */
TARGET static void NAME(store)(const gls_csd_plan *plan, const SLOTS *s, size_t slot, double *coefficients)
{
    for (size_t j = 0; j < plan->k; j++) coefficients[j * GLS_CSD_BLOCK + s->voxel[slot]] = s->f[j][slot];
}

/* Divides the scratch memory among the arrays of the slots; normal matrices are 64-byte aligned. */
TARGET static SLOTS NAME(layout)(const gls_csd_plan *plan, void *scratch)
{
    SLOTS s = {.signal = scratch};
    size_t k = plan->k, tiles = gls_csd_tiles(plan->padded);
    s.right = s.signal + plan->n * VECS;
    s.first = s.right + plan->padded * VECS;
    s.factor = s.first + plan->padded * VECS;
    s.inverse = s.factor + (k + 1) * (k + 2) / 2;
    s.f = s.inverse + k;
    double *normal = (double *)(((uintptr_t)(s.f + k) + 63) / 64 * 64);
    for (size_t slot = 0; slot < LANES; slot++) s.normal[slot] = normal + slot * tiles * 64;
    s.low = (int8_t *)(normal + LANES * tiles * 64);
    s.active = s.low + plan->n_rows * GLS_CSD_BLOCK;
    s.enter = (uint32_t *)(s.active + (plan->n_rows * LANES + 3) / 4 * 4);
    s.leave = s.enter + plan->n_rows * LANES;
    memset(normal, 0, LANES * tiles * 64 * sizeof *normal); /* clear the matrices, because a slot may stay empty */
    memset(s.active, 0, plan->n_rows * LANES);
    return s;
}

/* Stores the solution of a slot, if its matrix is positive definite (sound), and, unless its voxel is done, updates the
 * slot's matrix. Returns true if the voxel is done. */
TARGET static bool NAME(advance)(const gls_csd_plan *plan, SLOTS *s, size_t slot, bool sound, bool changed,
                                 uint32_t n_enter, uint32_t n_leave, double *coefficients, size_t *n_unconverged)
{
    s->iterations[slot]++;
    /* If the matrix is not positive definite, the voxel keeps its last solution; before its first solution it gets its
     * unconstrained solution. */
    if (!sound) {
        if (s->iterations[slot] == 1)
            for (size_t j = 0; j < plan->k; j++)
                coefficients[j * GLS_CSD_BLOCK + s->voxel[slot]] =
                    ((const double *)s->first)[j * GLS_CSD_BLOCK + s->voxel[slot]];
        ++*n_unconverged;
        return true;
    }
    NAME(store)(plan, s, slot, coefficients);
    if (!changed) return true;
    if (s->iterations[slot] == plan->max_iterations) {
        ++*n_unconverged;
        return true;
    }
    double *normal = s->normal[slot];
    if (n_enter) NAME(add_rows)(plan, s->enter + slot * plan->n_rows, n_enter, normal, normal);
    if (n_leave) NAME(remove_rows)(plan, s->leave + slot * plan->n_rows, n_leave, normal, normal);
    return false;
}

/* Fits `count` voxels; returns how many did not converge. Each pass solves the current system of all busy slots and
 * compares the sets of low amplitudes; a slot is done, and takes the next voxel, if its set did not change, its matrix
 * is not positive definite or its iterations are used up. */
TARGET static size_t NAME(fit)(const gls_csd_plan *plan, const float *signal, size_t stride, size_t count,
                               void *scratch, double *coefficients)
{
    SLOTS s = NAME(layout)(plan, scratch);
    bool busy[LANES] = {false};
    size_t next = 0, n_busy = 0, n_unconverged = 0;
    NAME(start)(plan, signal, stride, &s);
    for (;;) {
        for (size_t slot = 0; slot < LANES; slot++)
            while (!busy[slot] && next < count) {
                busy[slot] = NAME(load)(plan, &s, slot, next++, coefficients);
                n_busy += busy[slot];
            }
        if (n_busy == 0) return n_unconverged;
        uint32_t n_enter[LANES] = {0}, n_leave[LANES] = {0};
        NAME(gather)(plan, &s);
        VU sound = NAME(factorise)(plan->k, s.factor, s.inverse);
        NAME(substitute)(plan->k, s.factor, s.inverse, s.f);
        VU changed = NAME(compare)(plan, &s, n_enter, n_leave);
        for (size_t slot = 0; slot < LANES; slot++) {
            if (!busy[slot]) continue;
            if (!NAME(advance)(plan, &s, slot, sound[slot], changed[slot], n_enter[slot], n_leave[slot], coefficients,
                               &n_unconverged))
                continue;
            busy[slot] = false;
            n_busy--;
        }
    }
}

#undef VD
#undef VU
#undef VF
#undef VB
#undef SLOTS
#undef VECS
#undef TILE_VECS
#undef ROWS
#undef TILES
#undef COLUMNS
