// Direction getter ptt: parallel transport tractography (Aydogan and Shi 2021). A streamline carries a frame (d, n, b).
// Candidates for the next stretch are arcs of constant curvature (k1, k2) in this frame, drawn from a disc in
// proportion to the data that support them, by rejection.
//
// The field holds ODFs normalised in each voxel to a maximum of 1: one channel, in a tile of its own, for each vertex,
// or cells (see odf/cells.glsl).
#include "odf/sphere.glsl"

// The map of nearest vertices, which every sample reads: from shared memory if there is room.
#if TABLES_SHARED
shared uint nearest_map[NEAREST_WORDS];
#define NEAREST_WORD(i) nearest_map[i]
// Copies the map to shared memory. All invocations of the group must call it, because it has a barrier.
void prepare_getter()
{
    for (uint i = gl_LocalInvocationIndex; i < uint(NEAREST_WORDS); i += uint(GROUP_SIZE))
        nearest_map[i] = MODEL_UINT(MODEL_NEAREST + int(i));
    barrier();
}
#else
#define NEAREST_WORD(i) MODEL_UINT(MODEL_NEAREST + (i))
void prepare_getter() {}
#endif

// Numbers of curves tried for a step: first from the whole disc of curvatures; then from ever smaller discs, because
// curves with enough support may be too rare to be found by chance. The last curve is straight.
const int PTT_TRIES = 4096, PTT_NARROW_TRIES = 256;
const float PTT_HALVINGS = 8.0;  // how often the radius of the disc is halved over the narrow tries
const uint PTT_NORMAL = 0x8000u; // block of random numbers for the first normal

// Index of the vertex nearest to t, from a map of the hemisphere (a map of each hemisphere if ODFs are asymmetric): the
// octahedron seen from above, its square rotated to fill the map. Two entries share a word. gls_ptt_table_nearest() of
// src/track/getter/ptt.c makes the map.
int nearest_vertex(vec3 t)
{
    vec2 a = (t.z < 0.0 ? -t.xy : t.xy) * (1.0 / (abs(t.x) + abs(t.y) + abs(t.z)));
    vec2 at_side = vec2(a.x + a.y, a.x - a.y) * 0.5 + 0.5;
    ivec2 cell = clamp(ivec2(at_side * float(NEAREST_SIZE)), 0, NEAREST_SIZE - 1);
    uint at = uint(cell.y * NEAREST_SIZE + cell.x);
#if !ANTIPODAL
    if (t.z < 0.0) at += uint(NEAREST_SIZE * NEAREST_SIZE);
#endif
    return int(NEAREST_WORD(int(at / 2u)) >> (at % 2u * 16u) & 0xffffu);
}

// Defines float amplitude(vec3 p, vec3 t): the ODF along t at p, 0 outside the grid.
#include <ptt_amplitude>

// Displacement on an arc of curvature k after a length a: along its first tangent, sin(ka)/k, and towards its centre,
// (1 - cos(ka))/k.
vec2 arc_gone(float k, float a)
{
    float angle = k * a;
    // for small angles a series, because the closed form loses digits
    return vec2(angle > 1e-3 ? sin(angle) / k : a * (1.0 - angle * angle / 6.0),
                angle > 1e-2 ? (1.0 - cos(angle)) / k : a * angle * (0.5 - angle * angle / 24.0));
}

// Converts a displacement along the voxel axes from mm to voxels.
vec3 to_voxels(vec3 mm) { return mm * vec3(params.per_mm_x, params.per_mm_y, params.per_mm_z); }

// A probe has PROBE_STEPS + 1 samples. If the probe is a single curve (PROBE_COUNT 1), its sample at the start is the
// same at any curvature, and is taken once for all candidates.
#if PROBE_COUNT > 1
const int FIRST_SAMPLE = 0;
float probe_start(vec3 p, vec3 t) { return 0.0; }
#else
const int FIRST_SAMPLE = 1;
float probe_start(vec3 p, vec3 t) { return amplitude(p, t); }
#endif
const int PROBE_SAMPLES = PROBE_STEPS + 1 - FIRST_SAMPLE; // number of samples taken for each candidate

// A point on a probe: displacement and tangent in the frame (t, n, b) at its start, and the direction of its bend
// between n and b.
struct ProbePoint {
    vec3 gone, heading;
    vec2 bend;
};

// ODF at the point; with PROBE_COUNT > 1 the mean over the curves of the probe, which lie on a circle round the point.
float sample_at(vec3 p, mat3 frame, ProbePoint at)
{
    vec3 gone = frame * at.gone, heading = frame * at.heading;
#if PROBE_COUNT > 1
    // Transport the normal and the binormal of the frame to the point, without twist; the circle lies in their plane.
    vec3 m = frame[1] * at.bend.x + frame[2] * at.bend.y;
    vec3 turn = (at.heading.x - 1.0) * m - dot(at.heading.yz, at.bend) * frame[0];
    vec3 n = frame[1] + at.bend.x * turn, b = frame[2] + at.bend.y * turn;
    float ring = 0.0;
    for (int c = 0; c < PROBE_COUNT; c++) {
        float angle = 6.283185307 * float(c) / float(PROBE_COUNT);
        ring += amplitude(p + to_voxels(gone + params.probe_radius * (cos(angle) * n + sin(angle) * b)), heading);
    }
    return ring / float(PROBE_COUNT);
#else
    return amplitude(p + to_voxels(gone), heading);
#endif
}

// The ODF at sample q of a probe that has curvature k and bends towards `bend`.
float probe_sample(vec3 p, mat3 frame, float k, vec2 bend, int q)
{
    float length = float(q) * params.probe_step, angle = k * length;
    vec2 gone = arc_gone(k, length);
    return sample_at(p, frame, ProbePoint(vec3(gone.x, gone.y * bend), vec3(cos(angle), sin(angle) * bend), bend));
}

// The frame (tangent, normal, binormal) from unit vectors t and n at a right angle to each other.
mat3 frame_of(vec3 t, vec3 n) { return mat3(t, n, cross(t, n)); }

// Smallest sum of the samples of a probe that supports a curve.
float min_support() { return float(PROBE_STEPS) * params.pmf_threshold; }

// A unit vector at a right angle to t, rotated by angle.
vec3 normal_at(vec3 t, float angle)
{
    vec3 axis = abs(t.x) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    vec3 e = normalize(cross(t, axis));
    return cos(angle) * e + sin(angle) * cross(t, e);
}

// Random numbers: from 0 up to but not including 1, and an angle in radians.
float random_part(uint word) { return float(word >> 8) * (1.0 / 16777216.0); }
float random_angle(uint word) { return 6.283185307 * float(word >> 8) * (1.0 / 16777216.0); }

// A candidate curve is taken with a probability in proportion to its support, the sum of the samples along its probe:
// the support must reach `least`. Each sample is at most 1.
struct Candidate {
    float k;      // curvature, 1/mm
    vec2 bend;    // direction of the bend between n and b
    float least;
};

// Candidate number c of this step. The square root makes curvatures uniform over the disc (k1, k2). The last candidate
// is the straight line, which is taken whenever the data support it at all.
Candidate draw_candidate(Draw draw, int c, float start)
{
    uvec4 words = draw_block(draw, uint(c));
    int narrow = c - PTT_TRIES + 1; // > 0: number of the try in ever smaller discs
    float radius = params.max_curvature;
    if (narrow > 0) radius *= exp2(-PTT_HALVINGS * float(narrow) / float(PTT_NARROW_TRIES));
    bool straight = narrow >= PTT_NARROW_TRIES;
    if (straight) radius = 0.0;
    float share = straight ? 0.0 : float((words.z >> 8) + 1u) * (1.0 / 16777216.0), angle = random_angle(words.y);
    Candidate candidate;
    candidate.k = radius * sqrt(random_part(words.x));
    candidate.bend = vec2(cos(angle), sin(angle));
    candidate.least = max(min_support(), share * (start + float(PROBE_SAMPLES)));
    return candidate;
}

// Defines PTT_ROUND and candidate_found(), which tries PTT_ROUND candidates from a given one on.
#include <ptt_search>

// One call of next_direction() tries PTT_ROUND candidates, so that streamlines that found a curve need not wait.
const uint RETRIES = uint((PTT_TRIES + PTT_NARROW_TRIES) / PTT_ROUND - 1);

#if GUIDE_AMPLITUDE
#define GETTER_AMPLITUDE
float direction_amplitude = 0.0; // ODF along the last direction
#endif

// Moves the frame by one substep of params.short_step mm along the chosen curve. aux holds the normal as the bits of
// floats, 0 at the seed. next gets the unit vector along the chord of the substep, along which the caller moves the
// point.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    // The number of the attempt, from 0, says how often this step has tried PTT_ROUND candidates.
    int tried = int(draw.block >> 16) * PTT_ROUND;
    draw.block = 0u;
    if (aux == uvec3(0u)) {
        // at the seed the disc is round, so any normal will do
        if ((draw.step & STEP_BACKWARD) != 0u) d = -d;
        aux = floatBitsToUint(normal_at(d, random_angle(draw_block(draw, PTT_NORMAL).x)));
    }
#if GUIDE_AMPLITUDE
    direction_amplitude = amplitude(p, d);
#endif
    vec3 n = uintBitsToFloat(aux);
    Candidate chosen;
    if (!candidate_found(p, frame_of(d, n), draw, tried, probe_start(p, d), chosen)) return DIRECTION_RETRY;
    // The substep: `next` is the direction of the chord; the tangent and the normal turn about the axis of the bend.
    float angle = chosen.k * params.short_step;
    vec3 m = chosen.bend.x * n + chosen.bend.y * cross(d, n);
    vec2 gone = arc_gone(chosen.k, params.short_step);
    next = normalize(gone.x * d + gone.y * m);
    n += dot(n, m) * ((cos(angle) - 1.0) * m - sin(angle) * d); // the normal is transported without twist
    d = normalize(cos(angle) * d + sin(angle) * m);
    // Rounding must not let the frame drift from a right angle.
    n = normalize(n - dot(n, d) * d);
    aux = floatBitsToUint(n);
    return DIRECTION_FOUND;
}
