// Peaks of the ODF in loops, the vertices dealt out to the lanes.
SLOT_ARRAY(uint, candidate_vertex, N_VERTICES);
SLOT_ARRAY(float, candidate_value, MAX_CANDIDATES);

#define CANDIDATE(i) SLOT_ELEMENT(candidate_vertex, N_VERTICES, i)
#define CANDIDATE_DIRECTION(i) vertex_direction(CANDIDATE(i))
#define VALUE(i) SLOT_ELEMENT(candidate_value, MAX_CANDIDATES, i)

// Whether the ODF at a vertex is at least level and no neighbour's is larger.
bool is_peak(uint v, float level)
{
    float value = ODF(v);
    bool peak = value >= level;
    // compilers write out a few turns; of more, as at the pole of a grid of angles, few may be made: software renderers
    // limit them
    if (peak)
        for (int q = 0; q < NEIGHBOUR_QUADS && (peak || NEIGHBOUR_QUADS <= 4); q++) {
            uvec4 pairs = MODEL_QUAD(MODEL_NEIGHBOURS + q * N_VERTICES + int(v));
            uvec4 one = pairs & 0xffffu, other = pairs >> 16;
            vec4 most = max(vec4(ODF(one.x), ODF(one.y), ODF(one.z), ODF(one.w)),
                            vec4(ODF(other.x), ODF(other.y), ODF(other.z), ODF(other.w)));
            peak = value >= max(max(most.x, most.y), max(most.z, most.w)) && peak;
        }
    return peak;
}

// Lists the local maxima that can be peaks at all, in ascending order; returns how many.
uint find_peaks()
{
    float floor_value = params.pmf_threshold * odf_max;
    float lowest = odf_min < floor_value ? 0.0 : max(odf_min, 0.0);
    // a flat or a nowhere positive ODF has no peak
    float above = max(floor_value, lowest + params.peak_threshold * (odf_max - lowest));
#if SEED_CUTOFF
    above = max(above, params.seed_cutoff);
#endif
    float level = odf_max > max(odf_min, 0.0) ? above : 3e38;
    uint n_high = 0u, count = 0u;
#if VOTES_ARE_BARRIERS
    n_high = uint(N_VERTICES);
#else
    // vertices that are high enough are listed first, since few are: neighbours are looked at by full rounds of lanes
    for (int first = 0; first < N_VERTICES; first += LANES) {
        int v = min(first + LANE, N_VERTICES - 1);
        bool high = first + LANE < N_VERTICES && ODF(v) >= level;
        int place = lane_place(high, n_high);
        if (high) CANDIDATE(place) = uint(v);
    }
    lane_sync();
#endif
    for (int first = 0; first < int(n_high); first += LANES) {
        int k = min(first + LANE, int(n_high) - 1);
#if VOTES_ARE_BARRIERS
        uint v = uint(k);
#else
        uint v = CANDIDATE(k);
#endif
        bool peak = first + LANE < int(n_high) && is_peak(v, level);
        // peaks take places that have been looked at
        int place = lane_place(peak, count);
        if (peak && place < MAX_CANDIDATES) {
            CANDIDATE(place) = v;
            VALUE(place) = ODF(v);
        }
    }
    lane_sync();
    return min(count, uint(MAX_CANDIDATES));
}

int n_candidates = 0;

void list_candidates(uint n)
{
    n_candidates = int(n);
}

// Takes the strongest candidate left, drops those too near to it; -1 if none is left.
int take_strongest()
{
    float value = -1.0;
    int best = n_candidates;
    for (int i = LANE; i < n_candidates; i += LANES) {
        if (VALUE(i) > value) {
            value = VALUE(i);
            best = i;
        }
    }
    float strongest = lane_max(value);
    if (strongest <= -1.0) return -1;
    best = lane_min(value == strongest ? best : n_candidates);
    vec3 direction = vertex_direction(CANDIDATE(best));
    lane_sync();
    for (int i = LANE; i < n_candidates; i += LANES) {
        float c = separation_cosine(dot(vertex_direction(CANDIDATE(i)), direction));
        if (i == best || c > params.cos_separation) VALUE(i) = -1.0;
    }
    lane_sync();
    return best;
}
