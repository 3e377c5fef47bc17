/* Cholesky factors of LANES symmetric matrices at a time, one in each lane. Include this file once for each instruction
 * set, with these macros:
 *   LANES      number of doubles in a vector register
 *   COLUMNS    columns of a panel that are computed together
 *   MIN_PIVOT  smallest pivot, relative to its diagonal entry, that counts as positive
 *   VD, VU     names for vectors of doubles and of masks
 *   TARGET     function attribute that allows the instructions
 *   NAME(x)    x with a suffix of its own
 * A matrix is stored as the rows of its lower half, entry (i, j <= i) at i (i + 1) / 2 + j; the factor replaces it
 * except on the diagonal, whose reciprocals go to a vector of their own (inverse). */

typedef double VD __attribute__((vector_size(8 * LANES), may_alias));
typedef int64_t VU __attribute__((vector_size(8 * LANES), may_alias));

/* Computes rows r .. r + count - 1 of the factor in columns 0 .. c_end - 1, where c_end <= r, from the finished rows
 * above. count is at most 4. inverse: reciprocals of the diagonal of the finished rows. COLUMNS columns are computed
 * together, so that each row that is read serves several sums. */
TARGET static inline __attribute__((always_inline)) void NAME(panel)(VD *a, const VD *inverse, size_t r, size_t count,
                                                                     size_t c_end)
{
    VD *row[4];
    for (size_t i = 0; i < count; i++) row[i] = a + (r + i) * (r + i + 1) / 2;
    /* panels of COLUMNS columns: products with the finished columns, then the triangle inside the panel */
    size_t c = 0;
    for (; c + COLUMNS <= c_end; c += COLUMNS) {
        VD sum[4][COLUMNS];
        const VD *other[COLUMNS];
        for (size_t j = 0; j < COLUMNS; j++) other[j] = a + (c + j) * (c + j + 1) / 2;
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < COLUMNS; j++) sum[i][j] = row[i][c + j];
        for (size_t m = 0; m < c; m++)
            for (size_t j = 0; j < COLUMNS; j++) {
                VD x = other[j][m];
                for (size_t i = 0; i < count; i++) sum[i][j] -= row[i][m] * x;
            }
        for (size_t j = 0; j < COLUMNS; j++)
            for (size_t i = 0; i < count; i++) {
                for (size_t m = 0; m < j; m++) sum[i][j] -= sum[i][m] * other[j][c + m];
                sum[i][j] *= inverse[c + j];
            }
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < COLUMNS; j++) row[i][c + j] = sum[i][j];
    }
    /* compute the columns that are left over one by one */
    for (; c < c_end; c++) {
        const VD *other = a + c * (c + 1) / 2;
        for (size_t i = 0; i < count; i++) {
            VD sum = row[i][c];
            for (size_t m = 0; m < c; m++) sum -= row[i][m] * other[m];
            row[i][c] = sum * inverse[c];
        }
    }
}

/* Computes what panel() leaves out in rows r .. r + count - 1: the entries from column r to the one before the
 * diagonal, and the reciprocal of the diagonal, in inverse[]. Clears lanes of `sound` whose matrix is not positive
 * definite. */
TARGET static inline __attribute__((always_inline)) void NAME(corner)(VD *a, VD *inverse, size_t r, size_t count,
                                                                      VU *sound)
{
    VD *row[4], sum[4][4];
    for (size_t i = 0; i < count; i++) {
        row[i] = a + (r + i) * (r + i + 1) / 2;
        for (size_t j = 0; j <= i; j++) sum[i][j] = row[i][r + j];
    }
    for (size_t m = 0; m < r; m++)
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j <= i; j++) sum[i][j] -= row[i][m] * row[j][m];
    for (size_t j = 0; j < count; j++) {
        VD pivot = sum[j][j];
        for (size_t m = 0; m < j; m++) pivot -= sum[j][m] * sum[j][m];
        VU good = (VU)(pivot > row[j][r + j] * MIN_PIVOT);
        *sound &= good;
        /* a lane without a positive pivot continues with 1, which keeps its numbers finite */
        pivot = (VD)((good & (VU)pivot) | (~good & (VU)((VD){0} + 1.0)));
        /* vectors of GCC have no square root, so roots are taken lane by lane */
        double root[LANES] __attribute__((aligned(8 * LANES)));
        *(VD *)root = pivot;
        for (int lane = 0; lane < LANES; lane++) root[lane] = sqrt(root[lane]);
        VD scale = inverse[r + j] = 1.0 / *(VD *)root;
        for (size_t i = j + 1; i < count; i++) {
            for (size_t m = 0; m < j; m++) sum[i][j] -= sum[i][m] * sum[j][m];
            sum[i][j] *= scale;
            row[i][r + j] = sum[i][j];
        }
    }
}

/* Factorises k x k matrices. inverse: receives the reciprocals of the diagonal of the factor. Returns a mask of the
 * lanes whose matrix is positive definite. */
TARGET static VU NAME(factorise)(size_t k, VD *a, VD *inverse)
{
    VU sound = ~(VU){0};
    size_t r = 0;
    for (; r + 4 <= k; r += 4) {
        NAME(panel)(a, inverse, r, 4, r);
        NAME(corner)(a, inverse, r, 4, &sound);
    }
    for (; r < k; r++) {
        NAME(panel)(a, inverse, r, 1, r);
        NAME(corner)(a, inverse, r, 1, &sound);
    }
    return sound;
}

/* Solves L L' x = right side for each lane; the right side is row k below the factor and is overwritten. */
TARGET static void NAME(substitute)(size_t k, VD *a, const VD *inverse, VD *solution)
{
    VD *right = a + k * (k + 1) / 2;
    NAME(panel)(a, inverse, k, 1, k); /* panel() turns a row z below the factor into L^-1 z: here the right side */
    /* backward substitution with L' */
    for (size_t r = k; r-- > 0;) {
        const VD *row = a + r * (r + 1) / 2;
        VD f = solution[r] = right[r] * inverse[r];
        for (size_t m = 0; m < r; m++) right[m] -= row[m] * f;
    }
}
