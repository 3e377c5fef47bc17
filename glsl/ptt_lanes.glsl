// The disc of curvatures and the search for a curve, a subgroup together: samples are dealt out to the lanes. Of the curves drawn mostly the first will do.
// A slot's words: samples of the disc, or those of candidates and the sums over faces; then the supports of the disc's vertices.
const int CHUNK = min(PROBE_SAMPLES, DISC_CHUNK); // places on the arcs of the disc that are sampled at a time
const int CANDIDATE_SAMPLES = max(64, PROBE_SAMPLES), SAMPLE_WORDS = max(N_DISC_VERTICES * CHUNK, CANDIDATE_SAMPLES + N_DISC_FACES);
const int SLOT_WORDS = SAMPLE_WORDS + N_DISC_VERTICES;
shared float slot_words[SLOTS * SLOT_WORDS];
#define SAMPLE(i) slot_words[int(SLOT) * SLOT_WORDS + (i)]
#define UPTO(f) SAMPLE(CANDIDATE_SAMPLES + (f))
#define SUPPORT(v) SAMPLE(SAMPLE_WORDS + (v))

// The samples of one of several probes, n of them, added in the order in which probe_support() adds.
float sum_samples(int probe, int n_probes, int n, float start)
{
    float total = start;
    for (int q = 0; q < n; q++) total += SAMPLE(q * n_probes + probe);
    return total;
}

void disc_support(vec3 p, vec3 t, vec3 n, Draw draw, bool first, float start)
{
    mat3 frame = frame_of(t, n);
    for (int from = 0; from < PROBE_SAMPLES; from += CHUNK) {
        int places = min(CHUNK, PROBE_SAMPLES - from);
        for (int i = LANE; i < N_DISC_VERTICES * places; i += LANES) {
            if (first) frame = frame_of(t, disc_normal(t, draw, i % N_DISC_VERTICES));
            SAMPLE(i) = disc_sample(p, frame, N_DISC_VERTICES * from + i);
        }
        lane_sync();
        for (int v = LANE; v < N_DISC_VERTICES; v += LANES) {
            float total = sum_samples(v, N_DISC_VERTICES, places, from == 0 ? start : SUPPORT(v));
            SUPPORT(v) = from + CHUNK < PROBE_SAMPLES ? total : enough(total);
        }
        lane_sync();
    }
}

// The first of up to PTT_TRIES drawn curves with enough support. As many are tried at a time as have room for their samples in the subgroup: mostly the first will do.
bool first_supported(vec3 p, vec3 d, vec3 n, Draw draw, uint total, float start, out vec2 curvature)
{
    mat3 frame = frame_of(d, n);
    int at_once = max(1, min(LANES, 64) / PROBE_SAMPLES), mine = LANE % at_once;
    for (int from = 0; from < PTT_TRIES; from += LANES) {
        vec2 drawn = draw_curvature(draw_block(draw, uint(from + LANE)), total);
        for (int c = 0; c < LANES; c += at_once) {
            vec2 tried = subgroupShuffle(drawn, uint(min(c + mine, LANES - 1)));
            float k = length(tried);
            vec2 bend = k > 0.0 ? tried / k : vec2(1.0, 0.0);
            for (int i = LANE; i < at_once * PROBE_SAMPLES; i += LANES) SAMPLE(i) = probe_sample(p, frame, k, bend, i / at_once + FIRST_SAMPLE);
            lane_sync();
            bool passes = LANE < at_once && c + LANE < LANES && sum_samples(LANE, at_once, PROBE_SAMPLES, start) >= least_support();
            uvec4 votes = subgroupBallot(passes);
            lane_sync();
            if (votes != uvec4(0u)) {
                curvature = subgroupShuffle(drawn, uint(c) + subgroupBallotFindLSB(votes));
                return true;
            }
        }
    }
    return false;
}
