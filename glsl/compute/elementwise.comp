// Four elements an invocation, loaded and stored as vectors. DECLARATIONS: the arrays as blocks, the scalars as
// uniforms, and the statements as a function; BODY: the vectors, a call for each element, and what was written put
// back.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform uint gls_count;
#include <declarations>

// elements i to i + 3, of which the first `left` are there
void gls_four(uint q, uint i, uint left)
{
#include <body>
}

void main()
{
    // rows of work groups, since one axis may hold 65535 of them only
    uint q = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * uint(GROUP_SIZE) + gl_LocalInvocationID.x;
    if (q < gls_count / 4u + min(gls_count % 4u, 1u)) gls_four(q, 4u * q, gls_count - 4u * q);
}
