// Choice of a vertex in loops. Each lane has a stretch of vertices, of odd length so that neighbouring lanes read
// different banks. The stretches of the last lanes begin earlier, so that none passes the last vertex; these lanes skip
// the vertices that other lanes have. STRETCH: length of a stretch if the host knows the number of lanes and the cone
// of a stretch fits one word, else 0.
#if STRETCH == 0
#undef STRETCH
#define STRETCH ((N_VERTICES + LANES - 1) / LANES | 1)
// EACH_OF_STRETCH must not be unrolled: Intel's compiler would then have registers for only 8 lanes instead of 16.
#define EACH_OF_STRETCH for (int i = 0, v = start; v < start + STRETCH; i++, v++)
#else
#define STRETCH_KNOWN
#define EACH_OF_STRETCH for (int i = 0; i < STRETCH; i++)
#endif

#ifdef STRETCH_KNOWN
#define IN_CONE(i) ((bits >> uint(i) & 1u) != 0u)
#else
// Whether vertex v lies in the cone around vertex `from`, by the table of bits.
bool in_cone(int v, uint from)
{
    return (MODEL_UINT(MODEL_CONE + int(from) * CONE_WORDS + v / 32) >> uint(v % 32) & 1u) != 0u;
}
#define IN_CONE(i) (start + (i) >= first && in_cone(start + (i), from))
#endif

// The ODF value x of a vertex, or 0 if the vertex must not be chosen.
float pick_value(float x, bool in_cone, float level) { return in_cone && x >= level ? x : 0.0; }
// Value of vertex start + i, and its integer weight in a draw.
#define PICK_VALUE(i) pick_value(ODF(start + (i)), IN_CONE(i), level)
#define PICK_WEIGHT(i) uint(int(PICK_VALUE(i) * scale))

// Chooses a vertex in the cone around vertex `from` whose value is above 0 and reaches the thresholds; -1 if there is
// none. A draw takes the vertex at which the running sum of the weights passes a random target; each lane sums its own
// stretch, and lane_upto() gives the running sum at its end.
int pick_vertex(uint from, Draw draw)
{
    float level = params.pmf_threshold * odf_max;
#if CUTOFF
    level = max(level, params.fod_cutoff);
#endif
    // first: where the stretch would begin; start: where it begins so that it ends within the vertices.
    int first = LANE * STRETCH, start = min(first, N_VERTICES - STRETCH);
#ifdef STRETCH_KNOWN
    uint bits = MODEL_UINT(MODEL_CONE + int(from) * LANES + LANE);
#endif
    // det: each lane finds its largest value, among equals that of the lowest vertex; then the lanes are compared.
#if DETERMINISTIC
    int best = N_VERTICES;
    float largest = 0.0;
    EACH_OF_STRETCH {
        float x = PICK_VALUE(i);
        if (x > largest) {
            largest = x;
            best = start + i;
        }
    }
    lane_largest(largest, best);
    lane_writes_done();
    return largest > 0.0 ? best : -1;
#else
    // prob: sum up the weights of the stretch.
    float scale = PICK_ONE / odf_max;
    uint sum = 0u;
#ifdef STRETCH_KNOWN
    uint weight[STRETCH];
    EACH_OF_STRETCH {
        weight[i] = PICK_WEIGHT(i);
        sum += weight[i];
    }
#else
    EACH_OF_STRETCH sum += PICK_WEIGHT(i);
#endif
    // target: random, 0 .. total - 1, the same in all lanes. upto: the sum up to the end of this stretch; passed: the
    // sum of the stretches before it.
    uint total, target, low, upto = lane_upto(sum, total);
    umulExtended(draw_block(draw, 0u).x, total, target, low);
    uint passed = upto - sum;
    int vertex = start;
    EACH_OF_STRETCH {
#ifdef STRETCH_KNOWN
        passed += weight[i];
#else
        passed += PICK_WEIGHT(i);
#endif
        if (passed <= target) vertex++;
    }
    // The lane in whose stretch the target lies has the vertex.
    vertex = lane_chosen(vertex, upto > target && upto - sum <= target);
    lane_writes_done();
    return total > 0u ? vertex : -1;
#endif
}

// ODF at vertex v.
float amplitude_of(int v) { return ODF(v); }
