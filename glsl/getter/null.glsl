// Direction getters nulldist1, nulldist2 and seedtest, which look at no image; their streamlines show what arises by
// chance (null distribution, Morris et al. 2008). Each step draws a direction, uniform within the cone around the last
// one. NULL_STEPS 1: the step goes straight along that direction; 2: along the arc that ends in it; 0: there is no
// step, so each streamline is only its seed.
#include "base/packed.glsl"
#include "base/model.glsl"
#include "getter/arc.glsl"

void prepare_getter() {}

const uint RETRIES = 0u;

// Draws a direction uniformly from the cone around d.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    if (draw.step == (1u | STEP_BACKWARD)) d = -d;
    if (NULL_STEPS == 0) return DIRECTION_NONE;
    uvec4 words = draw_block(draw, 0u);
    // fall: 1 - cos(angle), uniform; sqrt(fall (2 - fall)) is sin(angle).
    float fall = random_part(words.x) * (1.0 - params.cos_max_angle);
    vec3 across = direction_across(d, 6.283185307 * random_part(words.y));
    vec3 e = normalize((1.0 - fall) * d + sqrt(fall * (2.0 - fall)) * across);
    next = NULL_STEPS == 2 ? d : e;
    d = e;
    return DIRECTION_FOUND;
}

// One direction for each seed in the grid, uniform over the sphere.
uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    vertex[0] = pack_direction(random_direction(draw_block(draw, 0u)));
    return inside(p) ? 1u : 0u;
}
