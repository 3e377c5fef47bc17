// The disc of curvatures and the search for a curve, the samples dealt out to the lanes. A slot's words: samples of the
// disc, or those of a candidate and the sums over faces; then the supports of the disc's vertices.
const int CHUNK = min(PROBE_SAMPLES, DISC_CHUNK); // places on the arcs of the disc that are sampled at a time
const int SAMPLE_WORDS = max(N_DISC_VERTICES * CHUNK, PROBE_SAMPLES + N_DISC_FACES);
const int SLOT_WORDS = SAMPLE_WORDS + N_DISC_VERTICES;
SLOT_ARRAY(float, slot_words, SLOT_WORDS);
#define SAMPLE(i) SLOT_ELEMENT(slot_words, SLOT_WORDS, i)
#define UPTO(f) SAMPLE(PROBE_SAMPLES + (f))
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

// The first of up to PTT_TRIES drawn curves with enough support: many are drawn together, but mostly the first will do,
// and samples take the time.
bool first_supported(vec3 p, vec3 d, vec3 n, Draw draw, uint total, float start, out vec2 curvature)
{
    mat3 frame = frame_of(d, n);
    for (int from = 0; from < PTT_TRIES; from += LANES) {
        vec2 drawn = draw_curvature(draw_block(draw, uint(from + LANE)), total);
        for (int c = 0; c < LANES; c++) {
            curvature = lane_of(drawn, c);
            float k = length(curvature);
            vec2 bend = k > 0.0 ? curvature / k : vec2(1.0, 0.0);
            for (int q = LANE; q < PROBE_SAMPLES; q += LANES)
                SAMPLE(q) = probe_sample(p, frame, k, bend, q + FIRST_SAMPLE);
            lane_sync();
            bool passes = sum_samples(0, 1, PROBE_SAMPLES, start) >= least_support();
            lane_sync();
            if (passes) return true;
        }
    }
    return false;
}
