// Halves (or, in pass 1, seeds) between dispatches: see layout/work.def.
layout(std430, binding = 0) buffer Work { uint work[]; };

#define WORD(name, first, n) const int name = first;
#include "layout/work.def"
#undef WORD

// A word of a slot.
#define WORK(word, slot) \
    work[params.n_items + (slot) * uint(WORK_GUIDE + GUIDE_WORDS - 1) + uint((word) - 1)]

vec3 work_vector(int word, uint slot)
{
    uvec3 words = uvec3(WORK(word, slot), WORK(word + 1, slot), WORK(word + 2, slot));
    return uintBitsToFloat(words);
}

void set_work_vector(int word, uint slot, vec3 value)
{
    WORK(word, slot) = floatBitsToUint(value.x);
    WORK(word + 1, slot) = floatBitsToUint(value.y);
    WORK(word + 2, slot) = floatBitsToUint(value.z);
}

// The slot of this streamline's lanes; those past the end of the list repeat its last entry and must not write what
// others read.
uint work_index() { return gl_WorkGroupID.x * GROUP_SLOTS + SLOT; }
uint work_slot() { return work[min(work_index(), params.n_active - 1u)]; }
bool work_live() { return work_index() < params.n_active; }
