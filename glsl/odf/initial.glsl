// Initial directions from a field of ODFs: the peaks of the ODF at the seed.
#include "odf/peaks.glsl"

uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    if (!inside(p)) return 0u;
    odf_at(p);
    list_candidates(find_peaks());
    return list_peaks(vertex);
}
