// One element an invocation. DECLARATIONS: the arrays as blocks and the scalars as uniforms; BODY: the elements as variables, the statements, and what was
// written put back.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform uint gls_count;
#include "declarations"

void gls_element(uint i)
{
#include "body"
}

void main()
{
    // rows of work groups, since one axis may hold 65535 of them only
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint first = group * uint(GROUP_SIZE);
    uint i = first + gl_LocalInvocationID.x;
    // a group that lies behind the last element may have a number that wraps around
    if (first / uint(GROUP_SIZE) == group && i >= first && i < gls_count) gls_element(i);
}
