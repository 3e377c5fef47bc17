// C = A B, row-major float32, for a rectangle of C and a range of k. VARIANT: matmul_tiles.glsl (hardware) or matmul_registers.glsl (software renderers).
// ALIGNED: rows of A and B begin at multiples of 4 elements, so that four of them are one load.
layout(location = 0) uniform uint rows;      // of A and C, up to the last one of this run
layout(location = 1) uniform uint columns;   // of B and C
layout(location = 2) uniform uint depth;     // columns of A, rows of B
layout(location = 3) uniform uint first_row;
layout(location = 4) uniform uint first_column;
layout(location = 5) uniform uint first_k;   // a multiple of 16
layout(location = 6) uniform uint last_k;    // behind the last, a multiple of 16 or depth
layout(location = 7) uniform uint accumulate; // not 0: add to what C holds

#ifdef ALIGNED
#define ELEMENT vec4
#else
#define ELEMENT float
#endif
layout(std430, binding = 0) readonly buffer A { ELEMENT a[]; };
layout(std430, binding = 1) readonly buffer B { ELEMENT b[]; };
layout(std430, binding = 2) buffer C { ELEMENT c[]; };

#ifdef ALIGNED
vec4 load_a(uint row, uint k) { return a[(row * depth + k) / 4u]; }
vec4 load_b(uint k, uint column) { return b[(k * columns + column) / 4u]; }
void store_c(uint row, uint column, vec4 sum)
{
    if (row >= rows || column >= columns) return;
    uint at = (row * columns + column) / 4u;
    if (accumulate != 0u) sum += c[at];
    c[at] = sum;
}
#else
float scalar_a(uint row, uint k) { return k < last_k ? a[row * depth + k] : 0.0; }
float scalar_b(uint k, uint column) { return column < columns ? b[k * columns + column] : 0.0; }
vec4 load_a(uint row, uint k) { return vec4(scalar_a(row, k), scalar_a(row, k + 1u), scalar_a(row, k + 2u), scalar_a(row, k + 3u)); }
vec4 load_b(uint k, uint column) { return vec4(scalar_b(k, column), scalar_b(k, column + 1u), scalar_b(k, column + 2u), scalar_b(k, column + 3u)); }
void store_scalar(uint row, uint column, float sum)
{
    if (column >= columns) return;
    uint at = row * columns + column;
    if (accumulate != 0u) sum += c[at];
    c[at] = sum;
}
void store_c(uint row, uint column, vec4 sum)
{
    if (row >= rows) return;
    store_scalar(row, column, sum.x);
    store_scalar(row, column + 1u, sum.y);
    store_scalar(row, column + 2u, sum.z);
    store_scalar(row, column + 3u, sum.w);
}
#endif

// zeros beyond the edges: a row, column or k that is not there adds nothing
vec4 edge_a(uint row, uint k) { return row < rows && k < last_k ? load_a(row, k) : vec4(0.0); }
vec4 edge_b(uint k, uint column) { return k < last_k && column < columns ? load_b(k, column) : vec4(0.0); }

#include "variant"
