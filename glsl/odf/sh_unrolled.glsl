// ODF from SH coefficients, written out for one invocation: generated rows of literals, orbit by orbit. The basis
// functions fall into four classes by their signs under x -> -x and y -> -y, so that the four members of a reflection
// orbit cost little more than one.
float odf[N_VERTICES];
float odf_max = 0.0, odf_min = 0.0;
vec3 odf_axis = vec3(0.0); // of the soft angular weighting

void note(float x)
{
    odf_max = max(odf_max, x);
    odf_min = min(odf_min, x);
}

#define PP(j, w) pp += w * c[j];
#define MM(j, w) mm += w * c[j];
#define MP(j, w) mp += w * c[j];
#define PM(j, w) pm += w * c[j];
#define ORBIT { float pp = 0.0, mm = 0.0, mp = 0.0, pm = 0.0;
#if ANGULAR_WEIGHT
#define WEIGHTED(v, x) ((x) * angular_weight(dot(vertex_direction(uint(v)), odf_axis)))
#else
#define WEIGHTED(v, x) (x)
#endif
#define PUT(v, x) { float value = WEIGHTED(v, x); odf[v] = value; note(value); }
#define ORBIT_END4(v)                            \
        float a = pp + mm, b = mp + pm, e = pp - mm, f = mp - pm; \
        PUT(v, a + b) PUT(v + 1, e - f) PUT(v + 2, e + f) PUT(v + 3, a - b) }
#define ORBIT_END2(v) PUT(v, pp + mm) PUT(v + 1, pp - mm) }
#define ORBIT_END1(v) PUT(v, pp) }

void evaluate_odf(float c[N_COEFFICIENTS])
{
    odf_max = -1e30;
    odf_min = 1e30;
#include <odf_rows>
}
