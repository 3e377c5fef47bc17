// ODF from SH coefficients, written out for one invocation as generated rows of literals
// (src/track/shader/kernel_inputs.c), orbit by orbit: an orbit is a vertex with its mirror images under x -> -x and y
// -> -y. Basis functions fall into four classes by their signs under these reflections, so that the four members of an
// orbit cost little more than one.
float odf[N_VERTICES];
float odf_max = 0.0, odf_min = 0.0;
vec3 odf_axis = vec3(0.0); // last direction of the streamline; --angular-weight favours vertices near it
#include "odf/axes.glsl"

// Larger and smaller of two numbers that are not NaN. CPU renderers need three instructions for max() and min(), which
// never return NaN, but one for these expressions, unless their compiler recognises them as max() and min().
#ifdef GL_ES
#define AS_WRITTEN
#else
#define AS_WRITTEN precise
#endif
float larger(float a, float b)
{
    AS_WRITTEN float x = a > b ? a : b;
    return x;
}

float smaller(float a, float b)
{
    AS_WRITTEN float x = a < b ? a : b;
    return x;
}

// Includes the values of an orbit in the extremes of the ODF.
void note(float least, float most)
{
    odf_max = max(odf_max, most);
    odf_min = min(odf_min, least);
}

// The rows add w times coefficient j to the sum of a class: pp, mm, mp, pm, named by the signs under x -> -x and y ->
// -y (in orbits of two members, pp and mm are the even and the odd functions). ORBIT_END4, ORBIT_END2 and ORBIT_END1
// combine the sums into the values of the members of an orbit, which are neighbours in odf[].
#define PP(j, w) pp += w * c[j];
#define MM(j, w) mm += w * c[j];
#define MP(j, w) mp += w * c[j];
#define PM(j, w) pm += w * c[j];
#define ORBIT { float pp = 0.0, mm = 0.0, mp = 0.0, pm = 0.0;
#define STORE(v, x) odf[v] = WEIGHTED(v, x);
#define OF_TWO(f, v) f(odf[v], odf[v + 1])
#define ORBIT_END4(v)                                                       \
        float a = pp + mm, b = mp + pm, e = pp - mm, f = mp - pm;           \
        STORE(v, a + b) STORE(v + 1, e - f) STORE(v + 2, e + f) STORE(v + 3, a - b) \
        note(smaller(OF_TWO(smaller, v), OF_TWO(smaller, v + 2)),           \
             larger(OF_TWO(larger, v), OF_TWO(larger, v + 2))); }
#define ORBIT_END2(v) STORE(v, pp + mm) STORE(v + 1, pp - mm) note(OF_TWO(smaller, v), OF_TWO(larger, v)); }
#define ORBIT_END1(v) STORE(v, pp) note(odf[v], odf[v]); }

// Evaluates the ODF at all vertices from its SH coefficients c, with its largest and smallest value.
void evaluate_odf(float c[N_COEFFICIENTS])
{
    odf_max = -1e30;
    odf_min = 1e30;
#include <odf_rows>
}
