// ODF from SH coefficients, in loops.
#include "odf/channels.glsl"
SLOT_ARRAY(float, odf, ODF_CHANNELS);
#define ODF(v) SLOT_ELEMENT(odf, ODF_CHANNELS, v)

float odf_max = 0.0, odf_min = 0.0;
vec3 odf_axis = vec3(0.0); // of the soft angular weighting

void put_odf(int v, float value)
{
#if ANGULAR_WEIGHT
    value *= angular_weight(dot(vertex_direction(uint(v)), odf_axis));
#endif
    ODF(v) = value;
    odf_max = max(odf_max, value);
    odf_min = min(odf_min, value);
}

// Coefficients of a high order are read where they lie in shared memory: with a register for each, a GPU keeps half as
// many streamlines at a time.
#if N_COEFFICIENTS > 15
#define COEFFICIENT(j) CHANNEL(j)
#else
#define COEFFICIENT(j) c[j]
#endif

#if N_ORBITS > 0
// The members of orbit o, from the sums over the four classes.
void put_orbit(int o, float pp, float mp, float pm, float mm)
{
    uvec4 member = MODEL_QUAD(MODEL_MEMBERS + o);
    float a = pp + mm, b = mp + pm, e = pp - mm, f = mp - pm;
    put_odf(int(member.x), a + b);
    put_odf(int(member.y), e - f);
    put_odf(int(member.z), e + f);
    put_odf(int(member.w), a - b);
}

// Several orbits at once share the coefficients that are read; behind the last one it comes again.
#if ORBITS_AT_ONCE == 3
#define ORBITS vec3
#define OF_EACH(x) vec3(w0.x, w1.x, w2.x)
#elif ORBITS_AT_ONCE == 1
#define ORBITS float
#define OF_EACH(x) w0.x
#else
#define ORBITS vec2
#define OF_EACH(x) vec2(w0.x, w1.x)
#endif
#define WEIGHTS(q, o) MODEL_FLOATS(MODEL_ORBITS + (q) * N_ORBITS + (o))
#define QUAD(q) { vec4 w0 = WEIGHTS(q, o0), w1 = WEIGHTS(q, o1), w2 = WEIGHTS(q, o2);
#define TERM(sum, j, x) sum += OF_EACH(x) * COEFFICIENT(j);
#define QUAD_END }
#endif

// From c, which are the first channels, too, if they are of a high order.
void evaluate_odf(float c[N_COEFFICIENTS])
{
    odf_max = -1e30;
    odf_min = 1e30;
#if N_ORBITS > 0
    // the basis functions fall into four classes by their signs under x -> -x and y -> -y: the members of a reflection
    // orbit share their sums
    for (int first = LANE; first < N_ORBITS; first += ORBITS_AT_ONCE * LANES) {
        int o0 = first, o1 = min(first + LANES, N_ORBITS - 1), o2 = min(first + 2 * LANES, N_ORBITS - 1);
        ORBITS pp = ORBITS(0.0), mp = ORBITS(0.0), pm = ORBITS(0.0), mm = ORBITS(0.0);
#include <orbit_terms>
#if ORBITS_AT_ONCE == 1
        put_orbit(o0, pp, mp, pm, mm);
#else
        put_orbit(o0, pp.x, mp.x, pm.x, mm.x);
        put_orbit(o1, pp.y, mp.y, pm.y, mm.y);
#if ORBITS_AT_ONCE == 3
        put_orbit(o2, pp.z, mp.z, pm.z, mm.z);
#endif
#endif
    }
#else
    for (int v = LANE; v < N_VERTICES; v += LANES) {
        float value = 0.0;
        EACH_COEFFICIENT(value += MODEL_FLOAT(MODEL_ODF + j * N_VERTICES + v) * COEFFICIENT(j);)
        put_odf(v, value);
    }
#endif
    odf_max = lane_max(odf_max);
    odf_min = lane_min(odf_min);
    lane_sync();
}
