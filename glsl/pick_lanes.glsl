// Choice of a vertex, a subgroup together.
float cone_value(int v, uint from, float level)
{
    bool in_cone = (MODEL_UINT(MODEL_CONE + int(from) * CONE_WORDS + v / 32) >> uint(v % 32) & 1u) != 0u;
    float x = ODF(v);
    return in_cone && x >= level ? x : 0.0;
}

int pick_vertex(uint from, Draw draw)
{
    float level = params.pmf_threshold * odf_max;
#if DETERMINISTIC
    int best = N_VERTICES;
    float largest = 0.0;
    for (int v = LANE; v < N_VERTICES; v += LANES) {
        float x = cone_value(v, from, level);
        if (x > largest) {
            largest = x;
            best = v;
        }
    }
    float winner = subgroupMax(largest);
    best = subgroupMin(largest == winner ? best : N_VERTICES);
    lane_sync();
    return winner > 0.0 ? best : -1;
#else
    float scale = PICK_ONE / odf_max;
    uint total = 0u;
    for (int v = LANE; v < N_VERTICES; v += LANES) total += uint(int(cone_value(v, from, level) * scale));
    total = subgroupAdd(total);
    uint target, low, sum = 0u;
    umulExtended(draw_block(draw, 0u).x, total, target, low);
    int vertex = -1;
    for (int first = 0; first < N_VERTICES && vertex < 0; first += LANES) {
        int v = first + LANE;
        uint weight = v < N_VERTICES ? uint(int(cone_value(v, from, level) * scale)) : 0u;
        uint upto = sum + subgroupInclusiveAdd(weight);
        uvec4 votes = subgroupBallot(upto > target);
        if (subgroupBallotBitCount(votes) > 0u) vertex = first + int(subgroupBallotFindLSB(votes));
        sum += subgroupAdd(weight);
    }
    lane_sync();
    return total > 0u ? vertex : -1;
#endif
}
