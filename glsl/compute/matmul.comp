// C = A B, row-major float32, for a rectangle of C and a range of k. The slot `variant` is matmul_tiles.glsl on GPUs
// and matmul_registers.glsl on software renderers. ALIGNED: rows of A and B begin at multiples of 4 elements, so that
// four elements are one load. Dispatched by src/compute/matmul.c.
layout(location = 0) uniform uint rows;      // this run computes rows first_row .. rows - 1 of C
layout(location = 1) uniform uint columns;   // number of columns of B and C
layout(location = 2) uniform uint depth;     // number of columns of A and rows of B
layout(location = 3) uniform uint first_row;
layout(location = 4) uniform uint first_column;
layout(location = 5) uniform uint first_k;   // first of the range of columns of A to multiply, a multiple of 16
layout(location = 6) uniform uint last_k;    // end of the range, a multiple of 16 or equal to depth
layout(location = 7) uniform uint accumulate; // not 0: add to the contents of C

#ifdef ALIGNED
#define ELEMENT vec4
#else
#define ELEMENT float
#endif
layout(std430, binding = 0) readonly buffer A { ELEMENT a[]; };
layout(std430, binding = 1) readonly buffer B { ELEMENT b[]; };
layout(std430, binding = 2) buffer C { ELEMENT c[]; };

#ifdef ALIGNED
// Four elements of a row of A; k is a multiple of 4.
vec4 load_a(uint row, uint k) { return a[(row * depth + k) / 4u]; }
// Four elements of a row of B; column is a multiple of 4.
vec4 load_b(uint k, uint column) { return b[(k * columns + column) / 4u]; }
// Stores four elements of C if they exist; with `accumulate` adds them to the contents of C.
void store_c(uint row, uint column, vec4 sum)
{
    if (row >= rows || column >= columns) return;
    uint at = (row * columns + column) / 4u;
    if (accumulate != 0u) sum += c[at];
    c[at] = sum;
}
// Four elements of a row of A near its edges, without a branch. A row behind the last one gives the elements of the
// last row; store_c() drops its products. A vector behind the end of a row gives the last vector. Elements from last_k
// on are 0.
vec4 edge_a(uint row, uint k)
{
    vec4 x = load_a(min(row, rows - 1u), min(k, depth - 4u));
    return k < last_k ? x : vec4(0.0);
}

// Four elements of a row of B near its edges: a vector behind the end of a row gives the last vector. Rows from last_k
// on are 0.
vec4 edge_b(uint k, uint column)
{
    vec4 x = load_b(min(k, depth - 1u), min(column, columns - 4u));
    return k < last_k ? x : vec4(0.0);
}
#else
// If rows may begin at any element, four elements take four loads, each at an index that exists. Columns of A and rows
// of B from last_k on are 0.
const uvec4 NEXT = uvec4(0u, 1u, 2u, 3u);
vec4 load_a(uint row, uint k)
{
    uvec4 ks = k + NEXT, at = row * depth + min(ks, uvec4(depth - 1u));
    return mix(vec4(0.0), vec4(a[at.x], a[at.y], a[at.z], a[at.w]), lessThan(ks, uvec4(last_k)));
}
vec4 load_b(uint k, uint column)
{
    uvec4 at = min(k, depth - 1u) * columns + min(column + NEXT, uvec4(columns - 1u));
    return mix(vec4(0.0), vec4(b[at.x], b[at.y], b[at.z], b[at.w]), bvec4(k < last_k));
}
// Stores one element of C if its column exists; with `accumulate` adds it to the contents of C.
void store_scalar(uint row, uint column, float sum)
{
    if (column >= columns) return;
    uint at = row * columns + column;
    if (accumulate != 0u) sum += c[at];
    c[at] = sum;
}
// Stores those of four elements of C that exist; with `accumulate` adds them to the contents of C.
void store_c(uint row, uint column, vec4 sum)
{
    if (row >= rows) return;
    store_scalar(row, column, sum.x);
    store_scalar(row, column + 1u, sum.y);
    store_scalar(row, column + 2u, sum.z);
    store_scalar(row, column + 3u, sum.w);
}

// load_a() and load_b() above stay within the columns, so only the row of A is limited here.
vec4 edge_a(uint row, uint k) { return load_a(min(row, rows - 1u), k); }
vec4 edge_b(uint k, uint column) { return load_b(k, column); }
#endif

#include <variant>
