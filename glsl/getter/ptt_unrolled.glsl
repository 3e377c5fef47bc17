// The search for a curve of ptt.glsl, for one invocation without shared memory.
//
// Tries PTT_ROUND candidates from number `tried` on. Returns true with the first one whose samples along the probe add
// up to candidate.least or more. start: the sample at the start of the probe, which all candidates share, see
// probe_start().
const int PTT_ROUND = 2;

bool candidate_found(vec3 p, mat3 frame, Draw draw, int tried, float start, out Candidate candidate)
{
    for (int c = tried; c < tried + PTT_ROUND; c++) {
        candidate = draw_candidate(draw, c, start);
        float total = start;
        // stop once samples of 1 up to the end of the probe, plus rounding, could not reach `least`
        float least = candidate.least;
        for (int q = FIRST_SAMPLE; q <= PROBE_STEPS && total + 1.001 * float(PROBE_STEPS + 1 - q) >= least; q++)
            total += probe_sample(p, frame, candidate.k, candidate.bend, q);
        if (total >= candidate.least) return true;
    }
    return false;
}
