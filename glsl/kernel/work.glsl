// Halves (or, in pass 1, seeds) between dispatches. The buffer holds the list of active slots, then one array for each field below, then, where a turn is two kernels, the
// fitted coefficients; each array has params.n_items words.
layout(std430, binding = 0) buffer Work { uint work[]; };

#define WORK(field, slot) work[uint((field) + 1) * params.n_items + (slot)]
#define WORK_POSITION 0
#define WORK_DIRECTION 3
#define WORK_AUX 6
#define WORK_SEED 9
#define WORK_STREAM 10
#define WORK_STEP 11
#define WORK_FLAGS 12 // attempt | joint << 8
#define WORK_POINTS 13
#define WORK_BLOCK 14
#define WORK_COEFFICIENTS 15

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

// The slot of this invocation or subgroup; those past the end of the list repeat its last entry and must not write what others read.
uint work_index() { return gl_WorkGroupID.x * GROUP_SLOTS + SLOT; }
uint work_slot() { return work[min(work_index(), params.n_active - 1u)]; }
bool work_live() { return work_index() < params.n_active; }
