// Half-streamlines (in pass 1: seeds) between the dispatches of step.comp, or of sample.comp and turn.comp; layout:
// layout/work.def. The host fills the slots once and then rewrites only the list of active slots.
layout(std430, binding = 0) buffer Work { uint work[]; };

#define WORD(name, first, n) const int name = first;
#include "layout/work.def"
#undef WORD

// Word `word` (see layout/work.def) of a slot.
#define WORK(word, slot) \
    work[params.n_items + (slot) * uint(WORK_GUIDE + GUIDE_WORDS - 1) + uint((word) - 1)]

// The vector that begins at word `word` of a slot.
vec3 work_vector(int word, uint slot)
{
    uvec3 words = uvec3(WORK(word, slot), WORK(word + 1, slot), WORK(word + 2, slot));
    return uintBitsToFloat(words);
}

// Stores a vector from word `word` of a slot on.
void set_work_vector(int word, uint slot, vec3 value)
{
    WORK(word, slot) = floatBitsToUint(value.x);
    WORK(word + 1, slot) = floatBitsToUint(value.y);
    WORK(word + 2, slot) = floatBitsToUint(value.z);
}

// The entry of the list of active slots that this streamline's lanes handle. Lanes behind the end of the list get the
// slot of the last entry; they must not write what others read.
// - work_index: index of the entry; it may lie behind the end.
// - work_slot: the slot that the entry names.
// - work_live: whether the entry exists, so that results may be stored.
uint work_index() { return gl_WorkGroupID.x * GROUP_SLOTS + SLOT; }
uint work_slot() { return work[min(work_index(), params.n_active - 1u)]; }
bool work_live() { return work_index() < params.n_active; }
