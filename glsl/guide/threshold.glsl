// Stopping criterion: a half-streamline ends where the stop map falls to the threshold. Without regions and tissue the
// guide remembers nothing.
#include "guide/stop_map.glsl"

// The negated comparison also ends the half where the map is NaN.
uint guide_point(vec3 p, bool stored, uint number, Draw draw, inout uint memory[GUIDE_ROOM])
{
    return !(stop_value(p) > params.stop_threshold) ? GLS_END_STOP_MAP : GUIDE_GO_ON;
}
