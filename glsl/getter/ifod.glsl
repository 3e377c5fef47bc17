// Direction getters iFOD1 and iFOD2: first and second order integration over FODs (Tournier et al. 2012 and 2010).
// Draws a direction of the cone in proportion to the FOD along it (IFOD_ARCS 0), or to the product of powers of the FOD
// at STEP_PARTS positions of the arc that leads to the direction (IFOD_ARCS 1).
//
// Method: rejection. The largest weight of a few fixed candidates, times a factor, bounds the weights of all
// candidates, see src/track/getter/fod_getters.h. Candidates are numbered, fixed ones first, and the first random one
// that passes is taken, so the result does not depend on how many are examined together.
#include "base/packed.glsl"
#include "base/math.glsl"
#include "base/model.glsl"
#include "base/start.glsl"
#define OWN_POSITIONS IFOD_ARCS
#define TILES_IN_TURN (IFOD_ARCS && IFOD_LOOPED)
#include "odf/sh_direction.glsl"
#include "getter/arc.glsl"

// Does nothing, because the getter has no tables in shared memory.
void prepare_getter() {}

const uint RETRIES = 0xffffu;             // more than a search takes: candidates run out before that
const int CANDIDATES = IFOD_GRID + IFOD_TRIALS;
const float NO_WEIGHT = -1e30;            // weights are logarithms

// A direction in the cone around d. angle: its angle to d; across: unit vector at a right angle to d, on the side of
// the direction.
struct Candidate {
    float angle;
    vec3 across;
    float share;    // random, 0 .. 1: the candidate is taken if its weight reaches this share of the upper bound
};

// asin(x) for 0 <= x <= 0.71, with an error of 2e-8.
float small_asin(float x)
{
    float w = x * x;
    return x * (1.0 + w * (0.16666993 + w * (0.07486847 + w * (0.04663622 + w * (0.0158279 + w * (0.07822892 +
           w * (-0.09404628 + w * 0.1119609)))))));
}

// Candidate number c of this step: a direction of the fixed grid if c < IFOD_GRID, else a random one, uniform over the
// cone.
Candidate candidate_of(int c, vec3 d, Draw draw)
{
    uvec4 words = draw_block(draw, uint(c));
    // uniform over the cone, because 1 - cos(angle) is uniform
    float fall = random_part(words.x) * (1.0 - params.cos_max_angle), turn = 6.283185307 * random_part(words.y);
    Candidate candidate = Candidate(2.0 * small_asin(sqrt(0.5 * fall)), vec3(0.0), random_part(words.z));
    if (c < IFOD_GRID) {
        candidate.angle = MODEL_FLOAT(MODEL_GRID + 2 * c);
        turn = MODEL_FLOAT(MODEL_GRID + 2 * c + 1);
    }
    candidate.across = direction_across(d, turn);
    return candidate;
}

// Unit vector of a candidate.
vec3 direction_of(Candidate candidate, vec3 d)
{
    return normalize(cos(candidate.angle) * d + sin(candidate.angle) * candidate.across);
}

// Whether a candidate is above the FOD cutoff so far, below it, or on a path that leaves the grid.
const int PASSED = 0, BELOW = 1, LEFT_GRID = 2;

// weigh_part() computes a candidate's weight, a logarithm, and returns PASSED, BELOW or LEFT_GRID. For iFOD2 each call
// adds one part of the arc: the weight is the logarithm of the product of FOD^fod_power over the parts, in which the
// end of the arc counts half, as in the trapezoid rule; the start of the arc, the same for all candidates, is left out.
#if IFOD_ARCS
// iFOD2: part 1 .. STEP_PARTS of the arc. The FOD must be positive and not below the cutoff at each of them.
int weigh_part(vec3 p, vec3 d, Candidate candidate, int part, bool fixed_one, inout float weight)
{
    vec3 q = arc_position(p, d, candidate.angle, candidate.across, part);
    float angle = candidate.angle * float(part) / float(STEP_PARTS);
    take_coefficients(q);
    float f = amplitude_along(cos(angle) * d + sin(angle) * candidate.across);
    weight += params.fod_power * (part < STEP_PARTS ? 1.0 : 0.5) * ln(max(f, 1e-30));
    return !has_fod(q) ? LEFT_GRID : f >= params.fod_cutoff && f > 0.0 ? PASSED : BELOW;
}
#else
int weigh_part(vec3 p, vec3 d, Candidate candidate, int part, bool fixed_one, inout float weight)
{
    // iFOD1: the weight is the logarithm of the FOD at p along the candidate. Fixed candidates need only be above 0,
    // because they only bound weights.
    float f = amplitude_along(direction_of(candidate, d));
    weight = ln(max(f, 1e-30));
    return f > (fixed_one ? 0.0 : params.fod_cutoff) ? PASSED : BELOW;
}
#endif

// The test of rejection sampling, in logarithms: share < weight / (most x ratio), where `most` is the largest weight of
// the fixed candidates and ratio times it bounds all weights.
bool passes(Candidate candidate, float weight, float most)
{
    return ln(candidate.share) < weight - most - IFOD_LN_RATIO;
}

// Takes a step to direction e. iFOD1 goes straight along e; iFOD2 goes along the arc that starts in direction d and
// ends in direction e.
uint take(vec3 e, inout vec3 d, inout vec3 next)
{
    next = IFOD_ARCS != 0 ? d : e;
    d = e;
    return DIRECTION_FOUND;
}

// Between calls aux.x holds the largest weight of the fixed candidates, aux.y and aux.z the state of the search.
#if IFOD_LOOPED
// Few candidates are examined before one is taken, so one lane for each candidate would leave most lanes idle. If
// there are enough lanes, a candidate gets a lane for each of its parts. aux.z: number of candidates examined.
const float NOT_PASSED = 1e30; // more than any weight
#if IFOD_ARCS
#define MAX_LANES 128 // largest number of lanes of a streamline
SLOT_ARRAY(float, part_weight, MAX_LANES);
#define PART_WEIGHT(i) SLOT_ELEMENT(part_weight, MAX_LANES, i)
int part_lanes() { return STEP_PARTS <= LANES ? STEP_PARTS : 1; }

// Combines what the lanes of a candidate found, part by part: the first part that does not pass decides.
void join_parts(inout float weight, inout int found)
{
    int parts = part_lanes(), first = LANE / parts * parts;
    PART_WEIGHT(LANE) = found == PASSED ? weight : float(found) * NOT_PASSED;
    lane_sync();
    if (parts == 1) return;
    weight = 0.0;
    found = PASSED;
    for (int i = 0; i < parts && found == PASSED; i++) {
        float term = PART_WEIGHT(min(first + i, LANES - 1));
        if (term >= NOT_PASSED)
            found = int(term / NOT_PASSED + 0.5);
        else
            weight += term;
    }
}
#else
int part_lanes() { return 1; }
void join_parts(inout float weight, inout int found) { lane_sync(); }
#endif

// Examines one candidate for each lane, or for each group of STEP_PARTS lanes. `parts`: lanes of a candidate; abreast:
// candidates examined together; c: index of the lane's candidate.
uint search(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    int parts = part_lanes(), abreast = LANES / parts;
    int from = int(aux.z), c = from + LANE / parts, found = PASSED;
    bool counts = LANE < abreast * parts, fixed_one = counts && c < IFOD_GRID;
    Candidate candidate = candidate_of(c, d, draw);
    float weight = 0.0;
    for (int part = LANE % parts + 1; part <= STEP_PARTS && found == PASSED; part += parts)
        found = weigh_part(p, d, candidate, part, fixed_one, weight);
    lane_ask();
    join_parts(weight, found);
    float most = uintBitsToFloat(aux.x);
    // Fixed candidates: take the largest weight. A fixed candidate that leaves the grid ends the half-streamline.
    if (from < IFOD_GRID) {
        float shown = found == PASSED ? weight : found == LEFT_GRID ? NOT_PASSED : NO_WEIGHT;
        most = max(most, lane_max(fixed_one ? shown : NO_WEIGHT));
        if (most >= NOT_PASSED) return DIRECTION_OUTSIDE;
    }
    aux.x = floatBitsToUint(most);
    aux.z = uint(from + abreast);
    if (from + abreast < IFOD_GRID) return DIRECTION_RETRY;
    if (most == NO_WEIGHT) return DIRECTION_NONE;
    // Take the random candidate with the lowest index among those that pass.
    bool passed = counts && !fixed_one && c < CANDIDATES && found == PASSED && passes(candidate, weight, most);
    int first = lane_first(passed);
    if (first < LANES) return take(lane_of(direction_of(candidate, d), first), d, next);
    return from + abreast < CANDIDATES ? DIRECTION_RETRY : DIRECTION_NONE;
}
#else
// Examines one part of one candidate in each call, so that no invocation waits for another one with more parts. aux.y:
// weight of the candidate so far; aux.z: parts examined or skipped.
uint search(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    // The candidate and the part of its arc at which the search stands.
    int c = int(aux.z) / STEP_PARTS, part = int(aux.z) % STEP_PARTS + 1;
    bool fixed_one = c < IFOD_GRID;
    Candidate candidate = candidate_of(c, d, draw);
    float most = uintBitsToFloat(aux.x), weight = uintBitsToFloat(aux.y);
    int found = weigh_part(p, d, candidate, part, fixed_one, weight);
    bool whole = found == PASSED && part == STEP_PARTS;
    bool ended = found != PASSED || whole;
    // Advance to the next part, or to the next candidate where this one is decided.
    if (fixed_one && whole) most = max(most, weight);
    aux = uvec3(floatBitsToUint(most), ended ? 0u : floatBitsToUint(weight),
                ended ? uint((c + 1) * STEP_PARTS) : aux.z + 1u);
    if (!ended) return DIRECTION_RETRY;
    if (fixed_one && found == LEFT_GRID) return DIRECTION_OUTSIDE;
    if (c == IFOD_GRID - 1 && most == NO_WEIGHT) return DIRECTION_NONE;
    if (!fixed_one && whole && passes(candidate, weight, most))
        return take(direction_of(candidate, d), d, next);
    return c + 1 < CANDIDATES ? DIRECTION_RETRY : DIRECTION_NONE;
}
#endif

// aux is the state of the search within a step; the first attempt resets it. An attempt calls search() at most
// IFOD_LOOKS times, and asks for another attempt (DIRECTION_RETRY) if the step is not decided then.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    if (draw.block == 0u) {
        if (draw.step == (1u | STEP_BACKWARD)) d = -d;
        aux = uvec3(floatBitsToUint(NO_WEIGHT), 0u, 0u);
    }
    draw.block = 0u;
#if !IFOD_ARCS
    if (!has_fod(p)) return DIRECTION_OUTSIDE;
    take_coefficients(p);
#endif
    uint outcome = DIRECTION_RETRY;
    for (int look = 0; look < IFOD_LOOKS && outcome == DIRECTION_RETRY; look++)
        outcome = search(p, d, aux, draw, next);
    return outcome;
}

// A random direction for the start: uniform in the cone around the seed's own direction, else over the sphere.
vec3 random_start(uint own, uvec4 words)
{
#if START_GIVEN == 2
    vec3 d = start_direction(own);
    float fall = random_part(words.x) * (1.0 - params.cos_max_angle);
    float along = 1.0 - fall, aside = sqrt(fall * (2.0 - fall));
    return normalize(along * d + aside * direction_across(d, 6.283185307 * random_part(words.y)));
#else
    return random_direction(words);
#endif
}

// Finds one direction along which the FOD is above the cutoff of seeds: the direction that the caller gave for all
// seeds, or else the first of up to SEED_TRIES random directions, see random_start().
uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    if (!has_fod(p)) return 0u;
    take_coefficients(p);
#if START_GIVEN == 1
    vec3 d = start_direction(vertex[0]);
    vertex[0] = pack_direction(d);
    return amplitude_along(d) > params.seed_cutoff ? 1u : 0u;
#else
    uint own = vertex[0];
    for (int from = 0; from < SEED_TRIES; from += LANES) {
        int number = from + LANE;
        bool enough = amplitude_along(random_start(own, draw_block(draw, uint(number)))) > params.seed_cutoff;
        int first = lane_min(enough && number < SEED_TRIES ? number : SEED_TRIES);
        if (first < SEED_TRIES) {
            vertex[0] = pack_direction(random_start(own, draw_block(draw, uint(first))));
            return 1u;
        }
    }
    return 0u;
#endif
}
