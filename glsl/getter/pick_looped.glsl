// Choice of a vertex in loops, the vertices dealt out to the lanes.
float cone_value(int v, uint from, float level)
{
    bool in_cone = (MODEL_UINT(MODEL_CONE + int(from) * CONE_WORDS + v / 32) >> uint(v % 32) & 1u) != 0u;
    float x = ODF(v);
    return in_cone && x >= level ? x : 0.0;
}

#if !DETERMINISTIC
uint pick_weight(int v, uint from, float level, float scale) { return uint(int(cone_value(v, from, level) * scale)); }
#endif

int pick_vertex(uint from, Draw draw)
{
    float level = params.pmf_threshold * odf_max;
#if CUTOFF
    level = max(level, params.fod_cutoff);
#endif
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
    lane_largest(largest, best);
    lane_settle();
    return largest > 0.0 ? best : -1;
#else
    // every lane has a stretch of vertices, of odd length so that neighbouring lanes read different banks of memory
    float scale = PICK_ONE / odf_max;
    int stretch = (N_VERTICES + LANES - 1) / LANES | 1, first = LANE * stretch, end = min(first + stretch, N_VERTICES);
    uint sum = 0u;
    for (int v = first; v < end; v++) sum += pick_weight(v, from, level, scale);
    uint total, target, low, upto = lane_upto(sum, total);
    umulExtended(draw_block(draw, 0u).x, total, target, low);
    uint passed = upto - sum;
    int vertex = first;
    for (int v = first; v < end; v++) {
        passed += pick_weight(v, from, level, scale);
        vertex += passed <= target ? 1 : 0;
    }
    vertex = lane_chosen(vertex, upto > target && upto - sum <= target);
    lane_settle();
    return total > 0u ? vertex : -1;
#endif
}

float amplitude_of(int v) { return ODF(v); }
