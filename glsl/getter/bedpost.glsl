// Direction getter along samples of the directions of fibres (Behrens et al. 2007), as FSL's probtrackx2 has it: each
// step draws a voxel around the point and a sample in it, and follows the fibre of this sample that is nearest to the
// last direction.
//
// A fibre is a tile (four channels) of the field: a unit vector along the voxel axes, and its fraction; all 0 where
// half-streamlines end. The fibres of a sample lie one behind the other, then the fibres of the next sample.
#include "base/packed.glsl"
#include "base/model.glsl"
#include "base/start.glsl"

#if GUIDE_AMPLITUDE
#define GETTER_AMPLITUDE
float direction_amplitude = 0.0; // fraction of the fibre that was followed
#endif

void prepare_getter() {}

const uint RETRIES = 0u;

vec4 fibre[FIBRES]; // the sample that was drawn

// A random number from 0 up to but not including 1.
float unit(uint word) { return float(word >> 8) * (1.0 / 16777216.0); }

// Draws a voxel, along each axis one of the two voxels next to the point, in proportion to nearness; and one of its
// samples. The first and the last sample have half the chance of the other samples.
void draw_fibres(vec3 p, uvec4 words)
{
    for (int k = 0; k < FIBRES; k++) fibre[k] = vec4(0.0);
    // u decides along each axis whether the upper neighbour is drawn.
    vec3 low = floor(p), u = vec3(unit(words.x), unit(words.y), unit(words.z));
    vec3 voxel = low + vec3(lessThan(u, p - low));
    if (any(lessThan(voxel, vec3(0.0))) || any(greaterThanEqual(voxel, GRID))) return;
    ivec3 texel = ivec3(volume_base(voxel) / vec3(VOLUME_SCALE_X, VOLUME_SCALE_Y, VOLUME_SCALE_Z));
    // Rounding to the nearest sample gives the first and the last sample half the chance of the other samples.
    int tile = FIBRES * int(floor(unit(words.w) * float(SAMPLES - 1) + 0.5));
#define TILES(i, n_tiles, first)                                                                                  \
    for (int k = 0; k < FIBRES; k++) {                                                                            \
        int t = tile + k - first / 4;                                                                             \
        if (t >= 0 && t < n_tiles)                                                                                \
            fibre[k] = texelFetch(volume[i], texel + ivec3(t * int(VOLUME_STRIP_WIDTH), 0, 0), 0);                \
    }
#include <tile_loops>
#undef TILES
}

// The fibre above the cutoff with the smallest angle to the line of d, the first of equals; the first fibre if none is
// above the cutoff.
vec4 nearest_fibre(vec3 d)
{
    vec4 best = fibre[0];
    float largest = 0.0;
    for (int k = 0; k < FIBRES; k++) {
        float c = abs(dot(fibre[k].xyz, d));
        if (fibre[k].w > params.fod_cutoff && c > largest) {
            largest = c;
            best = fibre[k];
        }
    }
    return best;
}

// The fibre along which a half-streamline begins. u: random, 0 .. 1. START_FIBRE, a gls_start_fibre: 0 takes the first
// fibre; 1 draws one of the fibres above the cutoff; 2 does so in proportion to their fractions; 3 draws one of all
// fibres. If no fibre is above the cutoff, 1 and 2 take the first.
vec4 start_fibre(float u)
{
    float weight[FIBRES], total = 0.0;
    for (int k = 0; k < FIBRES; k++) {
        bool above = fibre[k].w > params.fod_cutoff;
        weight[k] = START_FIBRE == 3 ? 1.0 : !above ? 0.0 : START_FIBRE == 2 ? fibre[k].w : 1.0;
        total += weight[k];
    }
    vec4 best = fibre[0];
    if (START_FIBRE == 0 || FIBRES == 1 || total == 0.0) return best;
    // Take the first fibre at which the running sum of the weights exceeds u times their total.
    float left = u * total;
    bool found = false;
    for (int k = 0; k < FIBRES; k++) {
        if (weight[k] > 0.0 && !found) best = fibre[k];
        found = found || left < weight[k];
        left -= weight[k];
    }
    return best;
}

// The first direction of the streamline, and in w the fraction of its fibre. Its sense is the sense of the given
// direction, or else random. wanted: where each seed has a direction of its own, this direction, or the one that it led
// to. Returns 0 if the fibre lies outside the cone around the given direction. The draws are the
// same in both half-streamlines and in pass 1.
vec4 first_fibre(vec3 p, Draw draw, vec3 wanted)
{
    draw.block = 0u;
    draw.step = 0u;
    draw_fibres(p, draw_block(draw, 0u));
#if START_GIVEN
#if START_GIVEN == 1
    wanted = start_direction(0u);
#endif
    vec4 first = nearest_fibre(wanted);
    float c = dot(first.xyz, wanted);
    if (!(abs(c) > params.cos_max_angle)) return vec4(0.0);
    return vec4(c < 0.0 ? -first.xyz : first.xyz, first.w);
#else
    uvec4 words = draw_block(draw, 1u);
    vec4 first = start_fibre(unit(words.x));
    return vec4((words.y & 1u) != 0u ? -first.xyz : first.xyz, first.w);
#endif
}

// The first step finds the fibre of the seed again, which is the same in both half-streamlines and gives d. A forward
// half-streamline follows this fibre; the first step of a backward one draws another sample, as each later step does. A
// step that would bend by more than the largest angle ends the half-streamline.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    // begins: this is the first step of the half-streamline.
    bool begins = (draw.step & ~STEP_BACKWARD) == 1u, backward = (draw.step & STEP_BACKWARD) != 0u;
    vec4 chosen = vec4(0.0);
    if (begins) {
        chosen = first_fibre(p, draw, d);
        if (chosen.w == 0.0) return DIRECTION_NONE;
        d = backward ? -normalize(chosen.xyz) : normalize(chosen.xyz);
    }
    // All steps but the first of a forward half-streamline draw a voxel and a sample of their own.
    if (!begins || backward) {
        draw_fibres(p, draw_block(draw, 0u));
        chosen = begins ? start_fibre(unit(draw_block(draw, 1u).x)) : nearest_fibre(d);
    }
    if (chosen.w == 0.0) return DIRECTION_NONE;
#if STOP_BY_FRACTION
    // The half-streamline goes on with a probability equal to the fraction of the fibre; in the first step, of the
    // first fibre of the sample.
    float fraction = begins ? fibre[0].w : chosen.w;
    if (!(fraction > unit(draw_block(draw, 1u).z) * params.whole_fraction)) return DIRECTION_NONE;
#endif
    vec3 towards = normalize(chosen.xyz);
    // A fibre is an axis: it is followed in the sense of d.
    float c = dot(towards, d);
    if (!(abs(c) > params.cos_max_angle)) return DIRECTION_NONE;
#if GUIDE_AMPLITUDE
    direction_amplitude = chosen.w;
#endif
    next = c < 0.0 ? -towards : towards;
    d = next;
    return DIRECTION_FOUND;
}

// Returns one direction, or none if the seed lies outside the grid or the fraction of its fibre is below the cutoff of
// seeds. With a given direction also none if the fraction is 0 or the fibre lies outside the cone around this
// direction; otherwise a streamline from a fibre of fraction 0 has one point.
uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    if (!inside(p)) return 0u;
    vec3 wanted = vec3(0.0);
#if START_GIVEN
    wanted = start_direction(vertex[0]);
#endif
    vec4 first = first_fibre(p, draw, wanted);
#if START_GIVEN
    if (first.w == 0.0) return 0u;
#endif
    if (first.w < params.seed_cutoff) return 0u;
    vertex[0] = pack_direction(first.w > 0.0 ? first.xyz : vec3(0.0, 0.0, 1.0));
    return 1u;
}
