// Direction getter: the peak of the ODF that is nearest to the last direction, as DIPY's closest peak.
#include "odf/peaks.glsl"

void prepare_getter() {}

const uint RETRIES = 0u;

// aux.x gets the vertex of the chosen peak. No random numbers are drawn.
uint next_direction(vec3 p, vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    odf_axis = d;
    odf_at(p);
    list_candidates(find_peaks());
    int vertex = closest_peak(d);
    if (vertex < 0) return DIRECTION_NONE;
    next = vertex_along(uint(vertex), d);
    aux.x = uint(vertex);
    return DIRECTION_FOUND;
}
