// Each invocation computes 16 x 16 elements of C in registers and shares nothing. On software renderers a load costs as
// much as many multiplications, so each loaded value must be used often. Array indices are constants and the loop has
// no branches; rows and columns behind the edges repeat the last ones and are not stored.
//
// The macros: GET_A and GET_B load four elements; SUM adds four products to each of four sums; ROW does so for all 16
// sums of a row.
layout(local_size_x = 16) in;

#define SIDE 16u

#define GET_A(i, k) load_a(min(row + uint(i), rows - 1u), k)
#ifdef ALIGNED
#define GET_B(k, j) load_b(k, min(column + uint(j) * 4u, columns - 4u))
#else
#define GET_B(k, j) load_b(k, column + uint(j) * 4u)
#endif

#define SUM(i, j) sum[4 * (i) + (j)] += av.x * b0[j] + av.y * b1[j] + av.z * b2[j] + av.w * b3[j];
#define ROW(i)                                                                                                         \
    {                                                                                                                  \
        vec4 av = GET_A(i, k);                                                                                         \
        SUM(i, 0)                                                                                                      \
        SUM(i, 1)                                                                                                      \
        SUM(i, 2)                                                                                                      \
        SUM(i, 3)                                                                                                      \
    }
#define STORE(i)                                                                                                       \
    store_c(row + uint(i), column, sum[4 * (i)]);                                                                      \
    store_c(row + uint(i), column + 4u, sum[4 * (i) + 1]);                                                             \
    store_c(row + uint(i), column + 8u, sum[4 * (i) + 2]);                                                             \
    store_c(row + uint(i), column + 12u, sum[4 * (i) + 3]);
#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define ZERO(i) sum[4 * (i)] = sum[4 * (i) + 1] = sum[4 * (i) + 2] = sum[4 * (i) + 3] = vec4(0.0);
#define FOUR(q) vec4[4](GET_B(k + q, 0), GET_B(k + q, 1), GET_B(k + q, 2), GET_B(k + q, 3))

void main()
{
    uint row = first_row + gl_WorkGroupID.y * SIDE, column = first_column + gl_GlobalInvocationID.x * SIDE;
    vec4 sum[64]; // [16 rows][4 vectors]
    ALL(ZERO)
    for (uint k = first_k; k < last_k; k += 4u) {
        vec4 b0[4] = FOUR(0u), b1[4] = FOUR(1u), b2[4] = FOUR(2u), b3[4] = FOUR(3u);
        ALL(ROW)
    }
    ALL(STORE)
}
