// The search for a curve of ptt.glsl with samples shared among the lanes: samples of several candidates at a time, if
// there are lanes for all of them. Of the candidates that pass, the one with the lowest index is taken, so the result
// does not depend on how many candidates are sampled together.
const int PTT_ROUND = 8;

// Words of a slot: samples of candidates. If several candidates are sampled together, their samples are at most as
// many as lanes, which are at most 128.
const int SLOT_WORDS = max(PROBE_SAMPLES, min(PTT_ROUND * PROBE_SAMPLES, 128));
SLOT_ARRAY(float, slot_words, SLOT_WORDS);
#define SAMPLE(i) SLOT_ELEMENT(slot_words, SLOT_WORDS, i)

// Tries PTT_ROUND candidates from number `tried` on, see ptt_unrolled.glsl. together: candidates sampled at a time;
// mine: index of the lane's candidate among them; first: the first sample that the lane takes.
bool candidate_found(vec3 p, mat3 frame, Draw draw, int tried, float start, out Candidate candidate)
{
    int together = clamp(LANES / PROBE_SAMPLES, 1, PTT_ROUND);
    int mine = together > 1 ? LANE / PROBE_SAMPLES : 0, first = LANE - mine * PROBE_SAMPLES;
    for (int from = 0; from < PTT_ROUND; from += together) {
        bool wanted = mine < together && from + mine < PTT_ROUND, passes = false;
        candidate = draw_candidate(draw, tried + from + mine, start);
        for (int q = first; wanted && q < PROBE_SAMPLES; q += LANES)
            SAMPLE(mine * PROBE_SAMPLES + q) = probe_sample(p, frame, candidate.k, candidate.bend, q + FIRST_SAMPLE);
        lane_ask();
        lane_sync();
        // One lane for each candidate adds up its samples, in their order along the probe.
        if (wanted && first == 0) {
            float total = start;
            for (int q = 0; q < PROBE_SAMPLES; q++) total += SAMPLE(mine * PROBE_SAMPLES + q);
            passes = total >= candidate.least;
        }
        int best = lane_first(passes);
        lane_writes_done();
        if (best < LANES) {
            // The lane that drew the candidate passes the candidate to the other lanes.
            vec3 chosen = lane_of(vec3(candidate.k, candidate.bend), best);
            candidate.k = chosen.x;
            candidate.bend = chosen.yz;
            return true;
        }
    }
    return false;
}
