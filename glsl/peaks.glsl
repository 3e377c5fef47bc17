// Local maxima of the ODF and the choice among them.
#include "sphere.glsl"
#include "odf_mapping.glsl"
#include "peaks_mapping.glsl"

// The peak nearest to d, -1 if none lies inside the cone.
int closest_peak(vec3 d)
{
    int closest = -1, best = take_strongest();
    float nearest = -1.0;
    while (best >= 0) {
        float c = separation_cosine(dot(CANDIDATE_DIRECTION(best), d));
        if (c > nearest) {
            nearest = c;
            closest = int(CANDIDATE(best));
        }
        best = take_strongest();
    }
    return nearest >= params.cos_max_angle ? closest : -1;
}

// All peaks, strongest first.
uint list_peaks(inout uint vertex[MAX_DIRECTIONS])
{
    int best = take_strongest();
    uint found = 0u;
    while (best >= 0 && found < params.max_directions) {
        vertex[found++] = CANDIDATE(best);
        best = take_strongest();
    }
    return found;
}
