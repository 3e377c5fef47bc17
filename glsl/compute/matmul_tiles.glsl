// A work group computes a square of TILE x TILE elements of C. Its invocations form SLICES slices; each slice sums over
// a part of the depth: it loads every SLICES-th strip of A and B, STRIP wide, into shared memory. Each invocation of a
// slice computes PER x PER elements in registers, as squares of 4 x 4 that lie far apart, so that neighbours read
// neighbouring vectors. While one strip is used the next is loaded. At the end the sums of the slices are added. Sums
// are indexed only by constants, so that they stay in registers. Defined outside: TILE, a multiple of 4 PER and a
// divisor of 2 PER PER; PER, 4 or 8; SLICES; INVOCATIONS.
#define STRIP 8u
#define SIDE (TILE / uint(PER))    // number of invocations along a side
#define SHARE (SIDE * SIDE)        // number of invocations of a slice
#define VECTORS (STRIP * TILE / 4u) // number of vectors in a strip
#define LOADS (VECTORS / SHARE)    // number of vectors of a strip that an invocation loads
#define PARTS (PER / 4)            // number of 4 x 4 squares along a side of an invocation's elements
layout(local_size_x = INVOCATIONS) in; // SHARE * SLICES

shared vec4 strip_a[SLICES * VECTORS]; // [slice][k][row / 4]
shared vec4 strip_b[SLICES * VECTORS]; // [slice][k][column / 4]

// Loads this invocation's vectors of the strips of A and B that begin at depth `from`.
#define FETCH(from)                                                                                                    \
    for (uint l = 0u; l < LOADS; l++) {                                                                                \
        uint v = me + l * SHARE;                                                                                       \
        next_a[l] = edge_a(row + v / 2u, (from) + v % 2u * 4u);                                                        \
        next_b[l] = edge_b((from) + v / (TILE / 4u), column + v % (TILE / 4u) * 4u);                                   \
    }

// All rows and parts are written out, because some compilers do not unroll a loop over them.
#define ROWS4(DO, from, part) DO(from, part) DO(from + 1, part) DO(from + 2, part) DO(from + 3, part)
#if PER == 8
#define ALL(DO) ROWS4(DO, 0, 0) ROWS4(DO, 0, 1) ROWS4(DO, 4, 0) ROWS4(DO, 4, 1)
#else
#define ALL(DO) ROWS4(DO, 0, 0)
#endif
#define SUM(i, j) sum[(i) * PARTS + (j)]
#define ZERO(i, j) SUM(i, j) = vec4(0.0);
// Adds vector (i, j) of each invocation over all slices, by way of the memory of the strips. That has room for a vector
// of every invocation, because each loaded at least one vector into it.
#define JOIN(i, j)                                                                                                     \
    strip_a[gl_LocalInvocationID.x] = SUM(i, j);                                                                       \
    barrier();                                                                                                         \
    if (slice == 0u)                                                                                                   \
        for (uint s = 1u; s < SLICES; s++) SUM(i, j) += strip_a[s * SHARE + me];                                       \
    barrier();
#define STORE(i, j)                                                     \
    store_c(row + y * 4u + uint((i) % 4) + uint((i) / 4) * (TILE / 2u), \
            column + x * 4u + uint(j) * (TILE / 2u), SUM(i, j));

void main()
{
    // me: number of the invocation in its slice; x, y: its position in the square; own: where the strips of the slice
    // begin.
    uint slice = gl_LocalInvocationID.x / SHARE, me = gl_LocalInvocationID.x % SHARE;
    uint row = first_row + gl_WorkGroupID.y * TILE, column = first_column + gl_WorkGroupID.x * TILE;
    uint x = me % SIDE, y = me / SIDE, own = slice * VECTORS;
    vec4 sum[PER * PARTS]; // [PER rows][PARTS vectors]
    vec4 next_a[LOADS], next_b[LOADS]; // vectors of the next strip
    ALL(ZERO)
    FETCH(first_k + slice * STRIP)
    for (uint k = first_k; k < last_k; k += STRIP * SLICES) {
        for (uint l = 0u; l < LOADS; l++) {
            // Store the strips that were loaded: A transposed, so that four rows of one k are a vector.
            uint v = me + l * SHARE, r = v / 2u, at = own + v % 2u * TILE + r / 4u;
            strip_a[at][r % 4u] = next_a[l].x;
            strip_a[at + TILE / 4u][r % 4u] = next_a[l].y;
            strip_a[at + TILE / 2u][r % 4u] = next_a[l].z;
            strip_a[at + TILE / 4u * 3u][r % 4u] = next_a[l].w;
            strip_b[own + v] = next_b[l];
        }
        barrier();
        // Start the loads of the next strips, then multiply the strips in shared memory.
        FETCH(k + (SLICES + slice) * STRIP)
        for (uint q = 0u; q < STRIP; q++) {
            vec4 a[PARTS], b[PARTS];
            for (int i = 0; i < PARTS; i++) {
                a[i] = strip_a[own + q * (TILE / 4u) + uint(i) * SIDE + y];
                b[i] = strip_b[own + q * (TILE / 4u) + uint(i) * SIDE + x];
            }
#define ADD(i, j) SUM(i, j) += a[(i) / 4][(i) % 4] * b[j];
            ALL(ADD)
        }
        barrier();
    }
    if (SLICES > 1u) {
        ALL(JOIN)
        if (slice > 0u) return;
    }
    ALL(STORE)
}
