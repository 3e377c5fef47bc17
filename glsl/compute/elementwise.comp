// Element-wise kernel: four elements for each invocation, loaded and stored as vectors. The slot `declarations`
// declares the arrays as blocks, the scalars as uniforms, and the statements as a function; `body` declares the
// vectors, calls the function for each element and stores the results. src/compute/elementwise.c writes both slots and
// dispatches the kernel.
layout(local_size_x = GROUP_SIZE) in;

// Number of elements of each array.
layout(location = 0) uniform uint gls_count;
#include <declarations>

// Computes elements i to i + 3, which are vector q of each array. left: number of elements from i on, at least 1;
// elements behind the last one are not stored.
void gls_four(uint q, uint i, uint left)
{
#include <body>
}

void main()
{
    // work groups are arranged in rows, because one axis may have only 65535 of them
    uint q = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * uint(GROUP_SIZE) + gl_LocalInvocationID.x;
    if (q < gls_count / 4u + min(gls_count % 4u, 1u)) gls_four(q, 4u * q, gls_count - 4u * q);
}
