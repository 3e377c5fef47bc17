// Loop check (--loop-check): ends half-streamlines that come back to a cube of 5 x 5 x 5 voxels against the direction
// that they last had there, as FSL's probtrackx2 does. The points of the half-streamline are read again from the pool
// whenever it enters a cube; the seed has no direction.

// Call it after a block got its first point: stores in the record of the block its previous block and the position
// before this point.
void loop_note_block(Half h, uint previous, vec3 before)
{
    if (LANE != 0) return;
    uint record = block_record(h.block);
    state[record + BLOCK_PREVIOUS] = previous;
    for (int a = 0; a < 3; a++) state[record + BLOCK_BEFORE + uint(a)] = floatBitsToUint(before[a]);
}

// Index of the cube of 5 x 5 x 5 voxels in which p lies: its centre has the coordinates 5 x index. FSL counts x from
// the other side if the voxel axes are right-handed; LOOP_MIRROR is then the largest x, else -1.
ivec3 loop_cube(vec3 p)
{
    if (LOOP_MIRROR >= 0.0) p.x = LOOP_MIRROR - p.x;
    return ivec3(floor(p * 0.2 + 0.5));
}

// Point k of a block, in voxel coordinates.
vec3 loop_point(uint block, uint k)
{
    uint at = (block * POOL_BLOCK + k) * 3u;
    return vec3(uintBitsToFloat(pool[at]), uintBitsToFloat(pool[at + 1u]), uintBitsToFloat(pool[at + 2u]));
}

// The point before the first one of a block, which loop_note_block() stored: the last point of the previous block, or
// the seed.
vec3 loop_before(uint block)
{
    uint at = block_record(block) + BLOCK_BEFORE;
    return vec3(uintBitsToFloat(state[at]), uintBitsToFloat(state[at + 1u]), uintBitsToFloat(state[at + 2u]));
}

// Whether a step along d, a direction in mm, to q closes a loop. Only a step that enters another cube can close one.
// The last visit to that cube is searched for from the newest point back; the direction there, in mm, decides.
bool loop_closes(Half h, vec3 q, vec3 d)
{
    ivec3 cube = loop_cube(q);
    uint closes = 0u;
    if (LANE == 0 && h.n_points > 0u && loop_cube(h.p) != cube) {
        // Walk back over the points p, the newest first; `before` is the position from which the half-streamline came
        // to p.
        uint block = h.block, i = h.n_points;
        vec3 p = h.p;
        while (i > 0u) {
            i--;
            vec3 before = i % POOL_BLOCK == 0u ? loop_before(block) : loop_point(block, i % POOL_BLOCK - 1u);
            // The newest point in the cube decides: the direction of the step that led to it, in mm, against d.
            if (loop_cube(p) == cube) {
                vec3 mm = (p - before) / vec3(params.per_mm_x, params.per_mm_y, params.per_mm_z);
                closes = dot(mm, d) < 0.0 ? 1u : 0u;
                i = 0u;
            } else if (i % POOL_BLOCK == 0u && i > 0u) {
                block = state[block_record(block) + BLOCK_PREVIOUS];
            }
            p = before;
        }
    }
    return lane_lead(closes) != 0u;
}
