// Weights of the soft angular weighting where vertices are unrolled: directions are literals, because llvmpipe takes
// 14 s to compile 724 reads of a table.
#if ANGULAR_WEIGHT
#define AXIS(x, y, z) vec3(x, y, z),
#define LAST_AXIS(x, y, z) vec3(x, y, z)
const vec3 vertex_axes[N_VERTICES] = vec3[N_VERTICES](
#include <axis_rows>
);
#undef AXIS
#undef LAST_AXIS
#define WEIGHTED(v, x) ((x) * angular_weight(dot(vertex_axes[v], odf_axis)))
#else
#define WEIGHTED(v, x) (x)
#endif
