// ODF from SH coefficients, in loops. A lane evaluates whole orbits (the mirror images of a vertex under x -> -x and y
// -> -y), or single vertices where no orbits of the sphere are known. The ODF lies in shared memory.
#include "odf/channels.glsl"
SLOT_ARRAY(float, odf, ODF_CHANNELS);
#define ODF(v) SLOT_ELEMENT(odf, ODF_CHANNELS, v)

float odf_max = 0.0, odf_min = 0.0;
vec3 odf_axis = vec3(0.0); // last direction of the streamline; --angular-weight favours vertices near it

// Stores the ODF at vertex v, weighted, and includes the value in the extremes of this lane.
void store_odf(int v, float value)
{
#if ANGULAR_WEIGHT
    value *= angular_weight(dot(vertex_direction(uint(v)), odf_axis));
#endif
    ODF(v) = value;
    odf_max = max(odf_max, value);
    odf_min = min(odf_min, value);
}

// Coefficients of a high order are read from shared memory: with a register for each, a GPU could track only half as
// many streamlines at a time.
#if N_COEFFICIENTS > 15
#define COEFFICIENT(j) CHANNEL(j)
#else
#define COEFFICIENT(j) c[j]
#endif

#if N_ORBITS > 0
// Stores the values of the members of orbit o, from the sums over the four classes.
void store_orbit(int o, float pp, float mp, float pm, float mm)
{
    uvec4 member = MODEL_QUAD(MODEL_MEMBERS + o);
    float a = pp + mm, b = mp + pm, e = pp - mm, f = mp - pm;
    store_odf(int(member.x), a + b);
    store_odf(int(member.y), e - f);
    store_odf(int(member.z), e + f);
    store_odf(int(member.w), a - b);
}

// Two orbits at a time share the coefficients that are read, if there are enough registers: for low orders on NVIDIA's
// GPUs, which have many for each lane. Radeons keep 5 to 16 waves with one orbit and 4 to 10 with two; Intel's compiler
// uses 16 lanes with one and 8 with two. The last orbit is repeated if the number is odd.
#define WEIGHTS(q, o) MODEL_FLOATS(MODEL_ORBITS + (q) * N_ORBITS + (o))
#if N_COEFFICIENTS > 15 || !LANES_IN_STEP
#define ORBITS_AT_ONCE 1
#define QUAD(q) { vec4 w0 = WEIGHTS(q, o);
#define TERM(sums, j, part) sums.x += w0.part * COEFFICIENT(j);
#else
#define ORBITS_AT_ONCE 2
#define QUAD(q) { vec4 w0 = WEIGHTS(q, o), w1 = WEIGHTS(q, next);
#define TERM(sums, j, part) sums += vec2(w0.part, w1.part) * COEFFICIENT(j);
#endif
#define QUAD_END }
#endif

// Evaluates the ODF from c; of a high order, the coefficients are read from the first channels.
void evaluate_odf(float c[N_COEFFICIENTS])
{
    odf_max = -1e30;
    odf_min = 1e30;
#if N_ORBITS > 0
    // Basis functions fall into four classes by their signs under x -> -x and y -> -y, so that members of a reflection
    // orbit share sums.
    for (int o = LANE; o < N_ORBITS; o += ORBITS_AT_ONCE * LANES) {
        int next = min(o + LANES, N_ORBITS - 1);
        vec2 pp = vec2(0.0), mp = vec2(0.0), pm = vec2(0.0), mm = vec2(0.0);
#include <orbit_terms>
        store_orbit(o, pp.x, mp.x, pm.x, mm.x);
#if ORBITS_AT_ONCE == 2
        store_orbit(next, pp.y, mp.y, pm.y, mm.y);
#endif
    }
#else
    for (int v = LANE; v < N_VERTICES; v += LANES) {
        float value = 0.0;
        EACH_COEFFICIENT(value += MODEL_FLOAT(MODEL_ODF + j * N_VERTICES + v) * COEFFICIENT(j);)
        store_odf(v, value);
    }
#endif
    // Combine the extremes of the lanes.
    ODF_EXTREMES
    lane_writes_done();
}
