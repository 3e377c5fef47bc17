// Stopping criterion: a half-streamline ends at the stop map, at the border of masks and at regions, and remembers the
// regions it visited.
#include "guide/stop_map.glsl"
#include "guide/region_rules.glsl"

#if ORDERED_REGIONS > 0 || STOP_AT_ALL || LEAVING_REGIONS > 0
#define GUIDE_STARTS
// The seed counts as point 0 for the order of visits, for a stop after all regions are visited, and for leaving a
// region.
void guide_start(vec3 seed, inout uint memory[GUIDE_ROOM])
{
    for (int w = 0; w < GUIDE_WORDS; w++) memory[w] = 0u;
    note_regions(regions_at(seed), 0u, memory);
#if LEAVING_REGIONS > 0
    start_in_regions(regions_at(seed), memory);
#endif
}
#endif

// Returns the end of the half-streamline at p, or GUIDE_GO_ON; see the slot `guide` in slots.txt. A position that does
// not become a point of the streamline is tested against the mask and the stop map only.
uint guide_point(vec3 p, bool stored, uint number, Draw draw, inout uint memory[GUIDE_ROOM])
{
    uint bits = regions_at(p);
    if (left_mask(bits)) return GLS_END_MASK;
    if (stops_at(p)) return GLS_END_STOP_MAP;
    if (!stored) return GUIDE_GO_ON;
    if (left_tracking_mask(bits)) return GLS_END_MASK;
    return end_in_regions(bits, number, memory);
}

// Whether guide_point() lets the half-streamline go on at q, as it did at p, and changes no memory.
bool guide_same(vec3 p, vec3 q) { return same_regions(p, q) && !stops_at(q); }
