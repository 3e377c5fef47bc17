// A work group makes a square of TILE x TILE from strips of A and B in shared memory, 8 wide; an invocation makes 8 x 8 of it in registers, in four squares of
// 4 x 4 half a tile apart, so that neighbours read neighbouring vectors. While a strip is used the next one is on its way. Sums are indexed by constants only:
// they have to stay in registers.
#define STRIP 8u
#define SIDE (TILE / 8u)    // invocations along a side
#define LOADS (128u / TILE) // vectors of a strip that an invocation fetches
layout(local_size_x = INVOCATIONS) in; // SIDE * SIDE

shared vec4 strip_a[STRIP * TILE / 4u]; // [k][row / 4]
shared vec4 strip_b[STRIP * TILE / 4u]; // [k][column / 4]

#define FETCH(from)                                                                                                                       \
    for (uint l = 0u; l < LOADS; l++) {                                                                                                   \
        uint v = me + l * SIDE * SIDE;                                                                                                    \
        next_a[l] = edge_a(row + v / 2u, (from) + v % 2u * 4u);                                                                           \
        next_b[l] = edge_b((from) + v / (TILE / 4u), column + v % (TILE / 4u) * 4u);                                                      \
    }
#define ROW(i, value)                                                                                                                     \
    sum[2 * (i)] += (value) * b0;                                                                                                         \
    sum[2 * (i) + 1] += (value) * b1;
#define ZERO(i) sum[2 * (i)] = sum[2 * (i) + 1] = vec4(0.0);
#define STORE(i)                                                                                                                          \
    store_c(to + uint(i % 4) + uint(i / 4) * (TILE / 2u), column + x * 4u, sum[2 * (i)]);                                                 \
    store_c(to + uint(i % 4) + uint(i / 4) * (TILE / 2u), column + x * 4u + TILE / 2u, sum[2 * (i) + 1]);
#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

void main()
{
    uint me = gl_LocalInvocationID.x;
    uint row = first_row + gl_WorkGroupID.y * TILE, column = first_column + gl_WorkGroupID.x * TILE;
    uint x = me % SIDE, y = me / SIDE;
    vec4 sum[16]; // [8 rows][2 vectors]
    vec4 next_a[LOADS], next_b[LOADS]; // the next strip
    ALL(ZERO)
    FETCH(first_k)
    for (uint k = first_k; k < last_k; k += STRIP) {
        for (uint l = 0u; l < LOADS; l++) {
            uint v = me + l * SIDE * SIDE, r = v / 2u, at = v % 2u * TILE + r / 4u;
            strip_a[at][r % 4u] = next_a[l].x;
            strip_a[at + TILE / 4u][r % 4u] = next_a[l].y;
            strip_a[at + TILE / 2u][r % 4u] = next_a[l].z;
            strip_a[at + TILE / 4u * 3u][r % 4u] = next_a[l].w;
            strip_b[v] = next_b[l];
        }
        barrier();
        FETCH(k + STRIP)
        for (uint q = 0u; q < STRIP; q++) {
            uint at = q * (TILE / 4u);
            vec4 a0 = strip_a[at + y], a1 = strip_a[at + SIDE + y], b0 = strip_b[at + x], b1 = strip_b[at + SIDE + x];
            ROW(0, a0.x)
            ROW(1, a0.y)
            ROW(2, a0.z)
            ROW(3, a0.w)
            ROW(4, a1.x)
            ROW(5, a1.y)
            ROW(6, a1.z)
            ROW(7, a1.w)
        }
        barrier();
    }
    uint to = row + y * 4u;
    ALL(STORE)
}
