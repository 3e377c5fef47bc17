// Stopping criterion of runs without regions and tissue: a half-streamline ends where the stop map falls to the
// threshold. Nothing has to be remembered.
#include "guide/stop_map.glsl"

// End of a half-streamline at p, or GUIDE_GO_ON. Positions within a step count as well as points that are stored.
uint guide_point(vec3 p, bool stored, uint number, Draw draw, inout uint memory[GUIDE_ROOM])
{
    return stops_at(p) ? GLS_END_STOP_MAP : GUIDE_GO_ON;
}

// Whether guide_point() lets the half-streamline go on at q, as it did at p, and changes no memory.
bool guide_same(vec3 p, vec3 q) { return !stops_at(q); }
