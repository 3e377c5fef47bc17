// A half in the work buffer.
Half load_half(uint slot)
{
    uint flags = WORK(WORK_FLAGS, slot);
    uvec3 aux = uvec3(WORK(WORK_AUX, slot), WORK(WORK_AUX + 1, slot), WORK(WORK_AUX + 2, slot));
    Draw draw = Draw(0u, WORK(WORK_STEP, slot), WORK(WORK_SEED, slot), WORK(WORK_STREAM, slot));
    return Half(slot, work_vector(WORK_POSITION, slot), work_vector(WORK_DIRECTION, slot), aux, draw, flags & 0xffu, (flags & 0x100u) != 0u, WORK(WORK_POINTS, slot),
                WORK(WORK_BLOCK, slot));
}

void store_half(uint slot, Half h)
{
    if (LANE != 0) return;
    set_work_vector(WORK_POSITION, slot, h.p);
    set_work_vector(WORK_DIRECTION, slot, h.d);
    WORK(WORK_AUX, slot) = h.aux.x;
    WORK(WORK_AUX + 1, slot) = h.aux.y;
    WORK(WORK_AUX + 2, slot) = h.aux.z;
    WORK(WORK_STEP, slot) = h.draw.step;
    WORK(WORK_FLAGS, slot) = h.attempt | (h.joint ? 0x100u : 0u);
    WORK(WORK_POINTS, slot) = h.n_points;
    WORK(WORK_BLOCK, slot) = h.block;
}
