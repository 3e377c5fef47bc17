// ODF sampled on the sphere, from a field of amplitudes, written out for one invocation: the ODF is an array of the
// invocation. Channels that pad the last tile repeat the last vertex.
float odf[ODF_CHANNELS];
float odf_max = 0.0, odf_min = 0.0;
vec3 odf_axis = vec3(0.0); // last direction of the streamline; --angular-weight favours vertices near it

// Interpolates the ODF at p for all vertices and finds its largest and smallest value.
void odf_at(vec3 p)
{
    vec3 base = volume_base(p);
#define TILES(texture_index, n_tiles, first)                       \
    for (int t = 0; t < n_tiles; t++) {                            \
        vec4 value = VOLUME_TILE(texture_index, t, base);          \
        odf[first + 4 * t] = value.x;                              \
        odf[first + 4 * t + 1] = value.y;                          \
        odf[first + 4 * t + 2] = value.z;                          \
        odf[first + 4 * t + 3] = value.w;                          \
    }
#include <tile_loops>
#undef TILES
#if ANGULAR_WEIGHT
    // a loop, because the unrolled code takes llvmpipe 25 s to compile for 724 vertices
    for (int v = 0; v < N_VERTICES; v++) odf[v] *= angular_weight(dot(vertex_direction(uint(v)), odf_axis));
#endif
    odf_max = -1e30;
    odf_min = 1e30;
#define CONE(w)
#define VERTEX(v, b) odf_max = max(odf_max, odf[v]); odf_min = min(odf_min, odf[v]);
#include <vertex_rows>
#undef CONE
#undef VERTEX
}
