// Direction getters that take a vertex inside the cone round the last direction: probabilistic (a draw in proportion to
// the ODF) and deterministic (the largest value). The last direction is itself a vertex, aux.x, so that the cone is a
// table of bits.
//
// Weights of a draw are whole numbers, the largest ODF value being PICK_ONE: sums are exact in any order, the same in
// all mappings, and no vertex of weight 0 can be drawn.
#include "odf/sphere.glsl"
#define ODF_EXTREMES odf_max = lane_max(odf_max); // no draw asks for the least
#include <odf>
#include <pick>

#if GUIDE_AMPLITUDE
#define GETTER_AMPLITUDE
float direction_amplitude = 0.0; // of the ODF along the last direction
#endif

void prepare_getter() {}

const uint RETRIES = 0u; // a draw answers at once

uint next_direction(vec3 p, vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    odf_axis = d;
    odf_at(p);
#if GUIDE_AMPLITUDE
    direction_amplitude = amplitude_of(int(aux.x));
#endif
    int vertex = odf_max > 0.0 ? pick_vertex(aux.x, draw) : -1;
    if (vertex < 0) return DIRECTION_NONE;
    next = vertex_along(uint(vertex), d);
    aux.x = uint(vertex);
    return DIRECTION_FOUND;
}
