// Pass 1: finds the initial directions of each seed. The lanes of a slot work on one seed. For seed i they write a
// record of 1 + MAX_DIRECTIONS words: the number of directions, then the directions (layout/directions.def). Each
// direction gives one streamline of pass 2; the host lists these streamlines.
//
// Dispatched by initial_piece() of src/track/engine/passes.c. Reads Seeds (binding 0), the model and the field; writes
// Directions (binding 1).
#include "base/common.glsl"
#include "base/grid.glsl"
#include <field>
#include <initial_directions>

#define FIELD(type, name) type name;
struct Seed {
#include "layout/seed.def"
};
#undef FIELD
layout(std430, binding = 0) readonly buffer Seeds { Seed seeds[]; };
#define WORD(name, first, n) const uint name = uint(first);
#include "layout/directions.def"
#undef WORD
layout(std430, binding = 1) writeonly buffer Directions { uint direction[]; };

// Upper 32 bits of the index of every seed of the dispatch; the host never lets a batch cross a multiple of 2^32.
layout(location = 0) uniform uint seed_hi;

// Each slot strides over the seeds, so that any number of work groups does all seeds. Slots of one group leave the loop
// at different seeds only if a slot is a subgroup of its own or a single invocation; no barrier of a work group is then
// used.
void main()
{
    for (uint i = gl_WorkGroupID.x * GROUP_SLOTS + SLOT; i < params.n_items; i += gl_NumWorkGroups.x * GROUP_SLOTS) {
        vec3 p = vec3(seeds[i].x, seeds[i].y, seeds[i].z);
        uint vertex[MAX_DIRECTIONS];
        for (int k = 0; k < MAX_DIRECTIONS; k++) vertex[k] = 0u;
        vertex[0] = seeds[i].direction; // for getters that start along it, see start_direction()
        uint n = initial_directions(p, Draw(0u, 0u, seeds[i].index, draw_stream(seed_hi, 0u)), vertex);
        if (LANE == 0) {
            // A getter never returns more than MAX_DIRECTIONS; min() keeps a faulty number from writing into the next
            // record.
            uint at = i * (DIRECTIONS_VERTEX + uint(MAX_DIRECTIONS));
            direction[at + DIRECTIONS_COUNT] = n;
            for (uint k = 0u; k < min(n, uint(MAX_DIRECTIONS)); k++) direction[at + DIRECTIONS_VERTEX + k] = vertex[k];
        }
    }
}
