// Direction getter: parallel transport tractography (Aydogan and Shi 2021). A streamline carries a frame (d, n, b);
// candidates for the next stretch are arcs of constant curvature (k1, k2) in that frame, drawn from a disc in
// proportion to the data that support them.
//
// The field holds ODFs normalised voxel by voxel to a maximum of 1: a channel, in a tile of its own, for each vertex,
// or cells (see odf/cells.glsl).
#include "odf/sphere.glsl"

// Tables that every sample reads: from shared memory where there is room for them.
#if TABLES_SHARED
shared uint tables[TABLE_WORDS];
#define TABLE_UINT(i) tables[i]
void prepare_getter()
{
    for (uint i = gl_LocalInvocationIndex; i < uint(TABLE_WORDS); i += uint(GROUP_SIZE))
        tables[i] = MODEL_UINT(MODEL_TABLES + int(i));
    barrier();
}
#else
#define TABLE_UINT(i) MODEL_UINT(MODEL_TABLES + (i))
void prepare_getter() {}
#endif
#define TABLE_FLOAT(i) uintBitsToFloat(TABLE_UINT(i))

const int PTT_TRIES = 1024;      // candidates of a turn
const int PTT_FIRST_ROUND = 32;  // candidates compared for the first frame
const int PTT_FIRST_ROUNDS = 32;
const uint PTT_NORMALS = 0x8000u; // block of random numbers for the disc's normals at the first frame

// Where the vertex nearest to t lies in the field: the hemisphere's octahedron seen from above, its square turned to
// fill the map, of which two entries share a word.
int nearest_vertex(vec3 t)
{
    vec2 a = (t.z < 0.0 ? -t.xy : t.xy) * (1.0 / (abs(t.x) + abs(t.y) + abs(t.z)));
    vec2 at_side = vec2(a.x + a.y, a.x - a.y) * 0.5 + 0.5;
    ivec2 cell = clamp(ivec2(at_side * float(NEAREST_SIZE)), 0, NEAREST_SIZE - 1);
    uint at = uint(cell.y * NEAREST_SIZE + cell.x);
#if !ANTIPODAL
    if (t.z < 0.0) at += uint(NEAREST_SIZE * NEAREST_SIZE);
#endif
    return int(TABLE_UINT(TABLE_NEAREST + int(at / 2u)) >> (at % 2u * 16u) & 0xffffu);
}

// float amplitude(vec3 p, vec3 t): the ODF along t at p, 0 outside the grid.
#include <ptt_amplitude>

// How far an arc of curvature k has gone after a length a: along its first tangent, sin(ka)/k, and across, towards its
// centre, (1 - cos(ka))/k.
vec2 arc_gone(float k, float a)
{
    float angle = k * a;
    // series where the closed form loses digits
    return vec2(angle > 1e-3 ? sin(angle) / k : a * (1.0 - angle * angle / 6.0),
                angle > 1e-2 ? (1.0 - cos(angle)) / k : a * angle * (0.5 - angle * angle / 24.0));
}

vec3 to_voxels(vec3 mm) { return mm * vec3(params.per_mm_x, params.per_mm_y, params.per_mm_z); }

// Data along the probe are PROBE_STEPS + 1 amplitudes. A probe of one thread starts at the same amplitude whatever its
// curvature.
#if PROBE_COUNT > 1
const int FIRST_SAMPLE = 0;
float probe_start(vec3 p, vec3 t) { return 0.0; }
#else
const int FIRST_SAMPLE = 1;
float probe_start(vec3 p, vec3 t) { return amplitude(p, t); }
#endif
const int PROBE_SAMPLES = PROBE_STEPS + 1 - FIRST_SAMPLE; // those that differ

// A place on a probe: how far it has gone and where it points, along the frame (t, n, b) of its beginning, and the
// direction of its bend among n and b.
struct Place {
    vec3 gone, heading;
    vec2 bend;
};

// The ODF there; with several threads the mean of theirs on a circle.
float sample_at(vec3 p, mat3 frame, Place place)
{
    vec3 gone = frame * place.gone, heading = frame * place.heading;
#if PROBE_COUNT > 1
    vec3 m = frame[1] * place.bend.x + frame[2] * place.bend.y;
    vec3 turn = (place.heading.x - 1.0) * m - dot(place.heading.yz, place.bend) * frame[0];
    vec3 n = frame[1] + place.bend.x * turn, b = frame[2] + place.bend.y * turn;
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

// Sample q of a probe of any curvature k along bend.
float probe_sample(vec3 p, mat3 frame, float k, vec2 bend, int q)
{
    float length = float(q) * params.probe_step, angle = k * length;
    vec2 gone = arc_gone(k, length);
    return sample_at(p, frame, Place(vec3(gone.x, gone.y * bend), vec3(cos(angle), sin(angle) * bend), bend));
}

// The sum of all samples, start being probe_start().
float probe_support(vec3 p, mat3 frame, vec2 curvature, float start)
{
    float k = length(curvature), total = start;
    vec2 bend = k > 0.0 ? curvature / k : vec2(1.0, 0.0);
    for (int q = FIRST_SAMPLE; q <= PROBE_STEPS; q++) total += probe_sample(p, frame, k, bend, q);
    return total;
}

mat3 frame_of(vec3 t, vec3 n) { return mat3(t, n, cross(t, n)); }

float least_support() { return float(PROBE_STEPS) * params.pmf_threshold; }

// A unit vector at a right angle to t, turned by angle.
vec3 normal_at(vec3 t, float angle)
{
    vec3 axis = abs(t.x) < 0.6 ? vec3(1.0, 0.0, 0.0) : vec3(0.0, 1.0, 0.0);
    vec3 e = normalize(cross(t, axis));
    return cos(angle) * e + sin(angle) * cross(t, e);
}

float random_angle(uint word) { return 6.283185307 * float(word >> 8) * (1.0 / 16777216.0); }

// A normal of its own for each vertex of the disc at the first frame.
vec3 disc_normal(vec3 t, Draw draw, int v)
{
    return normal_at(t, random_angle(draw_block(draw, PTT_NORMALS + uint(v)).x));
}

vec2 draw_curvature(uvec4 words, uint total);

// Sample s of the disc's vertices, N_DISC_VERTICES for each place along their arcs: from a table, since nothing but the
// frame changes.
const int N_DISC_SAMPLES = N_DISC_VERTICES * PROBE_SAMPLES;
#define ARC(part, s) TABLE_FLOAT(TABLE_ARCS + (part) * N_DISC_SAMPLES + (s))
#define FACE(part, f) (TABLE_FACES + (part) * N_DISC_FACES + (f))
float disc_sample(vec3 p, mat3 frame, int s)
{
#if PROBE_COUNT > 1
    vec2 bend = vec2(ARC(6, s), ARC(7, s));
#else
    vec2 bend = vec2(0.0);
#endif
    vec3 gone = vec3(ARC(0, s), ARC(1, s), ARC(2, s)), heading = vec3(ARC(3, s), ARC(4, s), ARC(5, s));
    return sample_at(p, frame, Place(gone, heading, bend));
}

float enough(float support) { return support >= least_support() ? support : 0.0; }

// Defines SUPPORT and UPTO, of the disc's vertices and faces, disc_support(), which sets SUPPORT, and
// first_supported(), the search for a curve.
#include <ptt_search>

// Support at the disc's vertices and the running sums over its faces (area times mean support, 0 where a corner lacks
// support); returns the sum. first: every vertex has a random normal of its own.
uint weigh_disc(vec3 p, vec3 t, vec3 n, Draw draw, bool first, float start)
{
    disc_support(p, t, n, draw, first, start);
    uint total = 0u;
    for (int from = 0; from < N_DISC_FACES; from += LANES) {
        int f = from + LANE;
        uint weight = 0u;
        if (f < N_DISC_FACES) {
            uint corners = TABLE_UINT(FACE(0, f));
            float x = SUPPORT(int(corners & 0xffu)), y = SUPPORT(int(corners >> 8 & 0xffu));
            float z = SUPPORT(int(corners >> 16));
            // areas sum to 2^26 / (3 (PROBE_STEPS + 1)), so that the sum of all weights stays below 2^32
            weight = min(min(x, y), z) > 0.0 ? uint(TABLE_FLOAT(FACE(1, f)) * (x + y + z)) : 0u;
        }
        uint upto = total + lane_upto(weight);
        if (f < N_DISC_FACES) UPTO(f) = uintBitsToFloat(upto);
        total = lane_last(upto);
    }
    lane_sync();
    return total;
}

vec2 draw_curvature(uvec4 words, uint total)
{
    uint target, low;
    umulExtended(words.z, total, target, low);
    // the first face whose sum exceeds the target
    int f = 0;
    for (int half_width = DISC_FACES_POWER / 2; half_width > 0; half_width /= 2) {
        int next = f + half_width;
        if (next < N_DISC_FACES && floatBitsToUint(UPTO(next - 1)) <= target) f = next;
    }
    float r1 = float(words.x >> 8) * (1.0 / 16777216.0), r2 = float(words.y >> 8) * (1.0 / 16777216.0);
    if (r1 + r2 > 1.0) {
        r1 = 1.0 - r1;
        r2 = 1.0 - r2;
    }
    vec2 corner = vec2(TABLE_FLOAT(FACE(2, f)), TABLE_FLOAT(FACE(3, f)));
    vec2 edge1 = vec2(TABLE_FLOAT(FACE(4, f)), TABLE_FLOAT(FACE(5, f)));
    vec2 edge2 = vec2(TABLE_FLOAT(FACE(6, f)), TABLE_FLOAT(FACE(7, f)));
    return params.max_curvature * (corner + r1 * edge1 + r2 * edge2);
}

// The normal of the best supported of many random frames and curves; false if none has enough support.
bool first_normal(vec3 p, vec3 t, Draw draw, uint total, float start, out vec3 normal)
{
    float least = least_support();
    for (int round = 0; round < PTT_FIRST_ROUNDS; round++) {
        float best = -1.0;
        int best_candidate = PTT_TRIES;
        vec3 best_normal = vec3(0.0);
        for (int c = LANE; c < PTT_FIRST_ROUND; c += LANES) {
            int candidate = round * PTT_FIRST_ROUND + c;
            uvec4 words = draw_block(draw, uint(candidate));
            vec3 n = normal_at(t, random_angle(words.w));
            float s = probe_support(p, frame_of(t, n), draw_curvature(words, total), start);
            if (s > best) {
                best = s;
                best_candidate = candidate;
                best_normal = n;
            }
        }
        float winner = lane_max(best);
        int candidate = lane_min(best == winner ? best_candidate : PTT_TRIES);
        if (winner >= least) {
            normal = lane_chosen(best_normal, best_candidate == candidate);
            return true;
        }
    }
    return false;
}

// A half's first turn, and its second where only -d has support, make the frame and do not move: so that the long code
// of the search stands here once. Both halves of a streamline find the same frame, since they draw the same numbers;
// the backward one turns it round.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    bool framing = aux == uvec3(0u), opposite = framing && draw.block != 0u;
    bool backward = (draw.step & STEP_BACKWARD) != 0u;
    vec3 t = opposite ? -d : d, n = uintBitsToFloat(aux);
    draw.block = opposite ? 0x10000u : 0u;
    if (framing) draw.step = 0u;
    float start = probe_start(p, t);
    uint total = weigh_disc(p, t, n, draw, framing, start);
    vec2 curvature = vec2(0.0);
    bool found = false;
    if (total > 0u) {
        if (framing) found = first_normal(p, t, draw, total, start, n);
        else found = first_supported(p, t, n, draw, total, start, curvature);
    }
    if (framing) {
        if (!found) return opposite ? DIRECTION_NONE : DIRECTION_RETRY;
        // forward (t, n, b); backward (-t, -n, b)
        bool turned = backward != opposite;
        d = turned ? -t : t;
        aux = floatBitsToUint(turned ? -n : n);
        return DIRECTION_RETRY;
    }
    if (!found) return DIRECTION_NONE;
    float k = length(curvature), angle = k * params.short_step;
    vec3 m = k > 0.0 ? (curvature.x * n + curvature.y * cross(d, n)) / k : n;
    vec2 gone = arc_gone(k, params.short_step);
    next = normalize(gone.x * d + gone.y * m);
    n += dot(n, m) * ((cos(angle) - 1.0) * m - sin(angle) * d); // carried along without twist
    d = normalize(cos(angle) * d + sin(angle) * m);
    n = normalize(n - dot(n, d) * d);
    aux = floatBitsToUint(n);
    return DIRECTION_FOUND;
}
