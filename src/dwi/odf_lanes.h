/* Matrix product for sampled ODFs, for one instruction set, see util/each_level.h. */

#define VF NAME(vf)
#define FLOATS (2 * LANES)        /* number of floats in a vector */
#define WIDE (LANES == 8 ? 4 : 2) /* number of vectors processed together */

typedef float VF __attribute__((vector_size(4 * FLOATS), may_alias));

/* Computes rows = matrix x in for `count` voxels. matrix: n_rows x n_inputs; in: n_inputs x GLS_ODF_BLOCK; rows:
 * n_stored rows that are `stride` floats apart. */
TARGET static void NAME(multiply)(const float *matrix, size_t n_rows, size_t n_stored, size_t n_inputs, const float *in,
                                  size_t count, float *rows, size_t stride)
{
    for (size_t v = 0; v < n_rows; v += GLS_ODF_ROWS) {
        const float *a = matrix + v * n_inputs;
        for (size_t i = 0; i < count; i += WIDE * FLOATS) {
            VF sum[GLS_ODF_ROWS][WIDE] = {{{0}}};
            for (size_t j = 0; j < n_inputs; j++) {
                const VF *x = (const VF *)(in + j * GLS_ODF_BLOCK + i);
                for (size_t r = 0; r < GLS_ODF_ROWS; r++)
                    for (size_t w = 0; w < WIDE; w++) sum[r][w] += a[r * n_inputs + j] * x[w];
            }
            size_t n = count - i < WIDE * FLOATS ? count - i : WIDE * FLOATS;
            for (size_t r = 0; r < GLS_ODF_ROWS && v + r < n_stored; r++)
                memcpy(rows + (v + r) * stride + i, sum[r], n * sizeof *rows);
        }
    }
}

#undef VF
#undef FLOATS
#undef WIDE
