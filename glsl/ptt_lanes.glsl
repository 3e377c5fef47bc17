// The disc of curvatures and the search for a curve, a subgroup together: the disc's vertices are dealt out to the lanes; of the curves then drawn mostly the first will do, so that
// there the samples are dealt out.
const int MAX_SAMPLES = max(64, PROBE_SAMPLES); // at a time
shared float support_of_vertex[SLOTS * N_DISC_VERTICES];
shared uint upto_face[SLOTS * N_DISC_FACES];
shared float probe_samples[SLOTS * MAX_SAMPLES];
#define SUPPORT(v) support_of_vertex[int(SLOT) * N_DISC_VERTICES + (v)]
#define UPTO(f) upto_face[int(SLOT) * N_DISC_FACES + (f)]
#define SAMPLE(i) probe_samples[int(SLOT) * MAX_SAMPLES + (i)]

// One of several probes, added in the order in which probe_support() adds.
float sum_samples(int probe, int n_probes, float start)
{
    float total = start;
    for (int q = 0; q < PROBE_SAMPLES; q++) total += SAMPLE(q * n_probes + probe);
    return total;
}

// The first of up to PTT_TRIES drawn curves with enough support. As many are tried at a time as have room for their samples in the subgroup: mostly the first will do.
bool first_supported(vec3 p, vec3 d, vec3 n, Draw draw, uint total, float start, out vec2 curvature)
{
    vec3 b = cross(d, n);
    int at_once = max(1, min(LANES, 64) / PROBE_SAMPLES), mine = LANE % at_once;
    for (int from = 0; from < PTT_TRIES; from += LANES) {
        vec2 drawn = draw_curvature(draw_block(draw, uint(from + LANE)), total);
        for (int c = 0; c < LANES; c += at_once) {
            vec2 tried = subgroupShuffle(drawn, uint(min(c + mine, LANES - 1)));
            float k = length(tried);
            vec2 bend = k > 0.0 ? tried / k : vec2(1.0, 0.0);
            for (int i = LANE; i < at_once * PROBE_SAMPLES; i += LANES) SAMPLE(i) = probe_sample(p, d, n, b, k, bend, i / at_once + FIRST_SAMPLE);
            lane_sync();
            bool passes = LANE < at_once && c + LANE < LANES && sum_samples(LANE, at_once, start) >= least_support();
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
