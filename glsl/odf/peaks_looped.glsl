// Peaks of the ODF in loops, with vertices shared among the lanes. With LISTED_FIRST a list of the vertices that are
// high enough for a peak comes first. It takes shared memory, which limits how many streamlines are tracked side by
// side: it has space for half of the vertices, but for 512 at most and for MAX_CANDIDATES at least.
#if N_VERTICES <= MAX_COLLECTED
#define LISTED_FIRST 1
const int LIST_ROOM = max(MAX_CANDIDATES, min(N_VERTICES / 2, 512));
#else
#define LISTED_FIRST 0
const int LIST_ROOM = MAX_CANDIDATES;
#endif
SLOT_ARRAY(uint, candidate_vertex, LIST_ROOM);
SLOT_ARRAY(float, candidate_value, MAX_CANDIDATES);

#define CANDIDATE(i) SLOT_ELEMENT(candidate_vertex, LIST_ROOM, i)
#define CANDIDATE_DIRECTION(i) vertex_direction(CANDIDATE(i))
#define VALUE(i) SLOT_ELEMENT(candidate_value, MAX_CANDIDATES, i)

// Whether the ODF at vertex v is at least `level` and no neighbour has a larger value.
bool is_peak(int v, float level)
{
    float value = ODF(v);
    bool peak = value >= level;
    // Compilers unroll up to 4 iterations if none can end the loop. With more neighbours, as at the pole of a grid of
    // angles, the loop ends early instead, because software renderers limit iterations.
    if (peak)
        for (int q = 0; q < NEIGHBOUR_QUADS && (peak || NEIGHBOUR_QUADS <= 4); q++) {
            uvec4 pairs = MODEL_QUAD(MODEL_NEIGHBOURS + q * N_VERTICES + v);
            uvec4 one = pairs & 0xffffu, other = pairs >> 16;
            vec4 most = max(vec4(ODF(one.x), ODF(one.y), ODF(one.z), ODF(one.w)),
                            vec4(ODF(other.x), ODF(other.y), ODF(other.z), ODF(other.w)));
            peak = value >= max(max(most.x, most.y), max(most.z, most.w)) && peak;
        }
    return peak;
}

// Stores vertex v with its value at this index of the list; indices behind the end are dropped.
void store_candidate(int index, int v)
{
    if (index >= MAX_CANDIDATES) return;
    CANDIDATE(index) = uint(v);
    VALUE(index) = ODF(v);
}

// Lists the local maxima that can be peaks, at most MAX_CANDIDATES, by ascending vertex. Returns their number.
uint find_peaks()
{
    // `above` is the smallest value of a peak: the larger of pmf_threshold x maximum and of lowest + peak_threshold x
    // (maximum - lowest), DIPY's relative peak threshold; with SEED_CUTOFF at least the cutoff of seeds. lowest: the
    // smallest value of the ODF, or 0 if that is below pmf_threshold x maximum.
    float floor_value = params.pmf_threshold * odf_max;
    float lowest = odf_min < floor_value ? 0.0 : max(odf_min, 0.0);
    // an ODF that is flat or nowhere positive has no peak
    float above = max(floor_value, lowest + params.peak_threshold * (odf_max - lowest));
#if SEED_CUTOFF
    above = max(above, params.seed_cutoff);
#endif
    float level = odf_max > max(odf_min, 0.0) ? above : 3e38;
    uint count = 0u;
#if LISTED_FIRST
    // First list the few vertices that are high enough, so that all lanes have one to compare with its neighbours.
    // Peaks overwrite entries of the list that have been compared already.
    uint n_high = 0u;
    LANE_COLLECT(N_VERTICES, v, ODF(v) >= level, n_high, index, if (index < LIST_ROOM) CANDIDATE(index) = uint(v);)
    lane_sync();
    bool listed = n_high <= uint(LIST_ROOM);
    LANE_LIST(listed ? n_high : uint(N_VERTICES), i, v, listed ? int(CANDIDATE(min(i, LIST_ROOM - 1))) : i,
              is_peak(v, level), count, index, store_candidate(index, v);)
#else
    LANE_LIST(N_VERTICES, i, v, i, is_peak(v, level), count, index, store_candidate(index, v);)
#endif
    lane_sync();
    return min(count, uint(MAX_CANDIDATES));
}

int n_candidates = 0;

// Only stores the number n of candidates, because find_peaks() has listed them already.
void list_candidates(uint n)
{
    n_candidates = int(n);
}

// Takes the strongest remaining candidate and drops the candidates too near to it. Returns -1 if none remains.
int take_strongest()
{
    float value = -1.0;
    int best = n_candidates;
    // Few candidates are read by every lane; else each lane looks at its own and the lanes are compared.
    bool few = FEW > 0 && n_candidates <= FEW;
    for (int i = few ? 0 : LANE; i < n_candidates; i += few ? 1 : LANES) {
        if (VALUE(i) > value) {
            value = VALUE(i);
            best = i;
        }
    }
    if (!few) lane_largest(value, best);
    if (value <= -1.0) return -1;
    vec3 direction = vertex_direction(CANDIDATE(best));
    if (few) lane_sync();
    else lane_writes_done();
    // Values of -1 mark candidates that are used, or too near to a stronger one.
    for (int i = LANE; i < n_candidates; i += LANES) {
        float c = separation_cosine(dot(vertex_direction(CANDIDATE(i)), direction));
        if (i == best || c > params.cos_separation) VALUE(i) = -1.0;
    }
    lane_sync();
    return best;
}
