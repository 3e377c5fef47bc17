// Keeps a half-streamline in the work buffer between the dispatches of step.comp or turn.comp. The members of struct
// Half that are not stored follow from the stored ones: the item is the slot, and the block of random numbers starts
// again at each direction.
//
// Loads the half-streamline of a slot; every lane gets the same copy.
Half load_half(uint slot)
{
    uint flags = WORK(WORK_FLAGS, slot);
    Half h;
    h.item = slot;
    h.p = work_vector(WORK_POSITION, slot);
    h.d = work_vector(WORK_DIRECTION, slot);
    h.aux = uvec3(WORK(WORK_AUX, slot), WORK(WORK_AUX + 1, slot), WORK(WORK_AUX + 2, slot));
    h.draw = Draw(0u, WORK(WORK_STEP, slot), WORK(WORK_SEED, slot), WORK(WORK_STREAM, slot));
    h.attempt = flags & FLAG_ATTEMPT;
    h.joint = (flags & FLAG_JOINT) != 0u;
    h.n_points = WORK(WORK_POINTS, slot);
    h.block = WORK(WORK_BLOCK, slot);
    h.how = HALF_RUNNING;
    h.memory[0] = 0u;
    for (int w = 0; w < GUIDE_WORDS; w++) h.memory[w] = WORK(WORK_GUIDE + w, slot);
    return h;
}

// Stores the half-streamline of a slot; lane 0 alone writes. Seed and stream of the random numbers never change.
void store_half(uint slot, Half h)
{
    if (LANE != 0) return;
    set_work_vector(WORK_POSITION, slot, h.p);
    set_work_vector(WORK_DIRECTION, slot, h.d);
    WORK(WORK_AUX, slot) = h.aux.x;
    WORK(WORK_AUX + 1, slot) = h.aux.y;
    WORK(WORK_AUX + 2, slot) = h.aux.z;
    WORK(WORK_STEP, slot) = h.draw.step;
    WORK(WORK_FLAGS, slot) = h.attempt | (h.joint ? FLAG_JOINT : 0u);
    WORK(WORK_POINTS, slot) = h.n_points;
    WORK(WORK_BLOCK, slot) = h.block;
    for (int w = 0; w < GUIDE_WORDS; w++) WORK(WORK_GUIDE + w, slot) = h.memory[w];
}
