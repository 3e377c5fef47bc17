// Direction getters prob and det choose a vertex inside the cone around the last direction: by a draw in proportion to
// the ODF, or the largest value. The last direction is itself a vertex, aux.x, so the cone is a table of bits.
//
// Weights of a draw are integers; the largest ODF value becomes PICK_ONE. Sums are then exact in any order and equal
// however many lanes compute them, and a vertex of weight 0 cannot be drawn.
#include "odf/sphere.glsl"
#define ODF_EXTREMES odf_max = lane_max(odf_max); // a draw does not need the minimum
#include <odf>
#include <pick>

#if GUIDE_AMPLITUDE
#define GETTER_AMPLITUDE
float direction_amplitude = 0.0; // ODF along the last direction
#endif

void prepare_getter() {}

const uint RETRIES = 0u; // the choice of a vertex is never repeated

// aux.x: the vertex of d; becomes the chosen vertex.
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
