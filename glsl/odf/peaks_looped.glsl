// Peaks of the ODF in loops, the vertices dealt out to the lanes.
SLOT_ARRAY(uint, candidate_vertex, N_VERTICES);
SLOT_ARRAY(float, candidate_value, MAX_CANDIDATES);

#define CANDIDATE(i) SLOT_ELEMENT(candidate_vertex, N_VERTICES, i)
#define CANDIDATE_DIRECTION(i) vertex_direction(CANDIDATE(i))
#define VALUE(i) SLOT_ELEMENT(candidate_value, MAX_CANDIDATES, i)

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
    // vertices that are high enough are listed first, since few are: neighbours are looked at by full rounds of lanes
    uint n_high = 0u, count = 0u;
    for (int first = 0; first < N_VERTICES; first += LANES) {
        int v = first + LANE;
        bool high = v < N_VERTICES && ODF(min(v, N_VERTICES - 1)) >= level;
        int place = lane_place(high, n_high);
        if (high) CANDIDATE(place) = uint(v);
    }
    lane_sync();
    for (int first = 0; first < int(n_high); first += LANES) {
        int k = first + LANE;
        bool peak = k < int(n_high);
        uint v = CANDIDATE(peak ? k : 0);
        float value = ODF(v);
        // compilers write out a few turns; of more, as at the pole of a grid of angles, few may be made: software
        // renderers limit them
        for (int q = 0; q < NEIGHBOUR_QUADS && (peak || NEIGHBOUR_QUADS <= 4); q++) {
            uvec4 pairs = MODEL_QUAD(MODEL_NEIGHBOURS + q * N_VERTICES + int(v));
            uvec4 one = pairs & 0xffffu, other = pairs >> 16;
            vec4 most = max(vec4(ODF(one.x), ODF(one.y), ODF(one.z), ODF(one.w)),
                            vec4(ODF(other.x), ODF(other.y), ODF(other.z), ODF(other.w)));
            peak = peak && value >= max(max(most.x, most.y), max(most.z, most.w));
        }
        // peaks take places that have been looked at
        int place = lane_place(peak, count);
        if (peak && place < MAX_CANDIDATES) {
            CANDIDATE(place) = v;
            VALUE(place) = value;
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
