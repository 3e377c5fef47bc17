// Finds local maxima of the ODF and chooses among them.
#include "odf/sphere.glsl"
#define ODF_EXTREMES lane_range(odf_max, odf_min);
#include <odf>
#include <peaks>

// Each loop below contains one call of take_strongest(), because a second copy costs seconds of compilation.

// The peak nearest to d; -1 if none lies inside the cone.
int closest_peak(vec3 d)
{
    // usually there is one candidate, which is the strongest
    bool only = n_candidates == 1;
    int closest = only ? int(CANDIDATE(0)) : -1, best = only ? -1 : 0;
    float nearest = only ? separation_cosine(dot(CANDIDATE_DIRECTION(0), d)) : -1.0;
    while (best >= 0) {
        best = take_strongest();
        float c = best >= 0 ? separation_cosine(dot(CANDIDATE_DIRECTION(max(best, 0)), d)) : -2.0;
        if (c > nearest) {
            nearest = c;
            closest = int(CANDIDATE(max(best, 0)));
        }
    }
    return nearest >= params.cos_max_angle ? closest : -1;
}

// Lists the peaks, strongest first, at most params.max_directions.
uint list_peaks(inout uint vertex[MAX_DIRECTIONS])
{
    int best = 0;
    uint found = 0u;
    while (best >= 0 && found < params.max_directions) {
        best = take_strongest();
        if (best >= 0) vertex[found++] = CANDIDATE(best);
    }
    return found;
}
