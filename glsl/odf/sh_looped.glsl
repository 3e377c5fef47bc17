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

// From c, which are the first channels, too, if they are of a high order.
void evaluate_odf(float c[N_COEFFICIENTS])
{
    odf_max = -1e30;
    odf_min = 1e30;
#if N_ORBITS > 0
    // the basis functions fall into four classes by their signs under x -> -x and y -> -y: the members of a reflection
    // orbit share their sums
    for (int o = LANE; o < N_ORBITS; o += LANES) {
        float pp = 0.0, mp = 0.0, pm = 0.0, mm = 0.0;
#define TERM(sum, j) sum += MODEL_FLOAT(MODEL_ORBITS + j * N_ORBITS + o) * COEFFICIENT(j);
#include <orbit_terms>
#undef TERM
        uint member = MODEL_UINT(MODEL_MEMBERS + o);
        int v = int(member & 0xffffu);
        float a = pp + mm, b = mp + pm, e = pp - mm, f = mp - pm;
        put_odf(v, a + b);
        put_odf(v + int(member >> 16 & 3u), e - f);
        put_odf(v + int(member >> 18 & 3u), e + f);
        put_odf(v + int(member >> 20 & 3u), a - b);
    }
#else
    for (int v = LANE; v < N_VERTICES; v += LANES) {
        float value = 0.0;
        EACH_COEFFICIENT(value += MODEL_FLOAT(MODEL_ODF + j * N_VERTICES + v) * COEFFICIENT(j);)
        put_odf(v, value);
    }
#endif
    lane_range(odf_max, odf_min);
    lane_settle();
}
