// Direction getters fact and eudx, along peaks: the peak of the nearest voxel that is closest to the last direction
// (Mori et al. 1999), or, with PEAK_MEAN, the mean of such peaks of the eight voxels around the point (Garyfallidis
// 2012).
//
// A peak is a tile of the field: a unit vector along the voxel axes, and its amplitude, 0 if there is no peak. Texels
// are fetched, not interpolated, because peaks must not be mixed. src/track/getter/peak_getters.c fills the field.
#include "base/packed.glsl"
#include "base/math.glsl"
#include "base/model.glsl"
#include "base/start.glsl"

#if GUIDE_AMPLITUDE
#define GETTER_AMPLITUDE
float direction_amplitude = 0.0; // amplitude of the peaks that were followed
#endif

void prepare_getter() {}

const uint RETRIES = 0u;

// Texel of a voxel in tile 0 of the first texture.
ivec3 texel_of(vec3 voxel)
{
    return ivec3(volume_base(voxel) / vec3(VOLUME_SCALE_X, VOLUME_SCALE_Y, VOLUME_SCALE_Z));
}

// Peak t of texture i in the voxel whose texel is `texel`.
#define PEAK_TILE(i, t) texelFetch(volume[i], texel + ivec3(t * int(VOLUME_STRIP_WIDTH), 0, 0), 0)

// Returns, of the peaks of a voxel, the one at the smallest angle to the line of d, flipped if it points away from d,
// with its amplitude in w. Only peaks above `least` and within the cone count; w is 0 if there is none. any_peak:
// whether the voxel has any peak.
vec4 nearest_peak(vec3 voxel, vec3 d, float least, out bool any_peak)
{
    ivec3 texel = texel_of(voxel);
    vec4 best = vec4(0.0);
    float largest = 0.0;
    any_peak = false;
#define TILE(i, t, first)                                                                                         \
    {                                                                                                             \
        vec4 peak = PEAK_TILE(i, t);                                                                              \
        float c = dot(peak.xyz, d);                                                                               \
        any_peak = any_peak || peak.w > 0.0;                                                                      \
        if (peak.w > least && abs(c) >= params.cos_max_angle && abs(c) > largest) {                               \
            largest = abs(c);                                                                                     \
            best = vec4(c < 0.0 ? -peak.xyz : peak.xyz, peak.w);                                                  \
        }                                                                                                         \
    }
#include <tile_rows>
#undef TILE
    return best;
}

#if !PEAK_MEAN
#include "base/remainder.glsl"

// Voxel whose centre is nearest to p.
vec3 voxel_at(vec3 p, vec3 remainder)
{
    vec3 low = floor(p);
    return low + vec3(greaterThanEqual(from_centre(p, remainder, low), vec3(0.5)));
}

// Positions beyond the grid count as in its outermost voxels.
vec3 nearest_voxel(vec3 p, uint remainder)
{
    return clamp(voxel_at(p, unpack_remainder(remainder)), vec3(0.0), GRID - 1.0);
}
#endif

#if PEAK_MEAN
// EuDX: the mean of the nearest peaks of the eight voxels around p, weighted trilinearly. A voxel takes part if a peak
// above the cutoff lies within the cone around d.
const float MIN_WEIGHT = 0.5; // minimum total weight of the voxels that take part

// Trilinear mean of the peaks that are nearest to d at the eight voxels around p, as unit vectors weighted by the
// weights of the voxels. No direction if these weights add up to less than MIN_WEIGHT.
uint next_direction(vec3 p, vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    vec3 low = floor(p), f = p - low, sum = vec3(0.0);
    float total = 0.0, amplitude = 0.0;
    for (int corner = 0; corner < 8; corner++) {
        bvec3 high = bvec3((corner & 1) != 0, (corner & 2) != 0, (corner & 4) != 0);
        vec3 voxel = low + vec3(high), w = mix(1.0 - f, f, vec3(high));
        if (any(lessThan(voxel, vec3(0.0))) || any(greaterThanEqual(voxel, GRID))) continue;
        bool any_peak;
        vec4 peak = nearest_peak(voxel, d, params.fod_cutoff, any_peak);
        // Voxels without a peak in the cone do not enter the mean.
        float weight = peak.w > 0.0 ? w.x * w.y * w.z : 0.0;
        total += weight;
        amplitude += weight * peak.w;
        sum += weight * peak.xyz;
    }
    float size = length(sum);
    if (total < MIN_WEIGHT || size == 0.0) return DIRECTION_NONE;
#if GUIDE_AMPLITUDE
    direction_amplitude = amplitude / total;
#endif
    next = sum / size;
    return DIRECTION_FOUND;
}
#else
// Three independent normal random numbers, of variance 1, by the method of Box and Muller.
vec3 normal_vector(uvec4 words)
{
    vec4 u = (vec4(words >> 8) + 0.5) * (1.0 / 16777216.0);
    vec2 r = sqrt(-2.0 * vec2(ln(u.x), ln(u.y))), turn = 6.28318531 * u.zw;
    return vec3(r.x * cos(turn.x), r.x * sin(turn.x), r.y * cos(turn.y));
}

// FACT: the peak of the voxel at p that is nearest to d. aux.x is the remainder of p. With VOXEL_RUNS aux.y becomes 1
// if further steps in the voxel go the same way: if the peak is also the nearest peak to its own direction, which
// rounding may prevent. With noise a random vector is added to the step, which changes its length, too.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    if (draw.step == (1u | STEP_BACKWARD)) d = -d;
    bool any_peak;
    vec3 voxel = nearest_voxel(p, aux.x);
    vec4 peak = nearest_peak(voxel, d, 0.0, any_peak);
    if (!any_peak) return DIRECTION_OUTSIDE; // a voxel without peaks counts as outside of the image, as in MRtrix3
    if (peak.w == 0.0 || peak.w < params.fod_cutoff) return DIRECTION_NONE;
#if GUIDE_AMPLITUDE
    direction_amplitude = peak.w;
#endif
    next = normalize(peak.xyz);
#if VOXEL_RUNS
    bool any_again;
    aux.y = nearest_peak(voxel, next, 0.0, any_again) == peak ? 1u : 0u;
#endif
#if WITH_NOISE
    next += STEP_NOISE * normal_vector(draw_block(draw, 0u));
    d = normalize(next);
#else
    d = next;
#endif
    return DIRECTION_FOUND;
}
#endif

// Lists the peaks of the voxel that reach the cutoff of seeds, at most MAX_DIRECTIONS, strongest first; equal peaks in
// the order of the image.
uint list_peaks(vec3 voxel, inout uint vertex[MAX_DIRECTIONS])
{
    ivec3 texel = texel_of(voxel);
    // A selection sort: each iteration finds the strongest peak behind the last one, by amplitude and then by index.
    float last = 3e38;
    int last_number = -1;
    for (int n = 0; n < MAX_DIRECTIONS; n++) {
        vec4 best = vec4(0.0);
        int best_number = -1, number = 0;
#define TILE(i, t, first)                                                                                         \
    {                                                                                                             \
        vec4 peak = PEAK_TILE(i, t);                                                                              \
        bool left = peak.w < last || (peak.w == last && number > last_number);                                    \
        if (left && peak.w > best.w && peak.w >= params.seed_cutoff) {                                            \
            best = peak;                                                                                          \
            best_number = number;                                                                                 \
        }                                                                                                         \
        number++;                                                                                                 \
    }
#include <tile_rows>
#undef TILE
        if (best_number < 0) return uint(n);
        vertex[n] = pack_direction(best.xyz);
        last = best.w;
        last_number = best_number;
    }
    return uint(MAX_DIRECTIONS);
}

// Finds the peak nearest to the direction that the caller gave for all seeds, or, for fact with one direction for each
// seed, nearest to a random direction. In all other cases lists the peaks of the voxel.
uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    if (!inside(p)) return 0u;
#if PEAK_MEAN
    vec3 voxel = clamp(roundEven(p), vec3(0.0), GRID - 1.0); // as DIPY rounds
#else
    vec3 voxel = nearest_voxel(p, 0u);
#endif
#if START_GIVEN || (MAX_DIRECTIONS == 1 && !PEAK_MEAN)
#if START_GIVEN
    vec3 d = start_direction(vertex[0]);
#else
    vec3 d = random_direction(draw_block(draw, 0u));
#endif
    bool any_peak;
    vec4 peak = nearest_peak(voxel, d, 0.0, any_peak);
    if (peak.w == 0.0 || peak.w < params.seed_cutoff) return 0u;
    vertex[0] = pack_direction(peak.xyz);
    return 1u;
#else
    return list_peaks(voxel, vertex);
#endif
}
