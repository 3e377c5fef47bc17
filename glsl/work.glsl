// Halves (or, in pass 1, seeds) between the two stages of a turn. The buffer holds the list of active slots, then one array for each field below, then the fitted
// coefficients; each array has params.n_items words.
layout(std430, binding = 0) buffer Work { uint work[]; };

#define WORK(field, slot) work[uint((field) + 1) * params.n_items + (slot)]
#define WORK_POSITION 0
#define WORK_DIRECTION 3
#define WORK_SEED 6
#define WORK_STREAM 7
#define WORK_STEP 8
#define WORK_FLAGS 9 // attempt | joint << 8
#define WORK_POINTS 10
#define WORK_BLOCK 11
#define WORK_COEFFICIENTS 12

vec3 work_vector(int field, uint slot)
{
    return vec3(uintBitsToFloat(WORK(field, slot)), uintBitsToFloat(WORK(field + 1, slot)), uintBitsToFloat(WORK(field + 2, slot)));
}

void set_work_vector(int field, uint slot, vec3 value)
{
    WORK(field, slot) = floatBitsToUint(value.x);
    WORK(field + 1, slot) = floatBitsToUint(value.y);
    WORK(field + 2, slot) = floatBitsToUint(value.z);
}

// The slot of this invocation; those past the end of the list repeat its last entry and must not write what others read.
uint work_slot() { return work[min(gl_GlobalInvocationID.x, params.n_active - 1u)]; }
bool work_live() { return gl_GlobalInvocationID.x < params.n_active; }
