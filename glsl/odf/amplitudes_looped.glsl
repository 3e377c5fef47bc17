// ODF sampled on the sphere, from a field of amplitudes, in loops.
SLOT_ARRAY(float, odf, ODF_CHANNELS);
#define ODF(v) SLOT_ELEMENT(odf, ODF_CHANNELS, v)

float odf_max = 0.0, odf_min = 0.0;
vec3 odf_axis = vec3(0.0); // last direction of the streamline; --angular-weight favours vertices near it

#if ANGULAR_WEIGHT
// Angular weights of the vertices v to v + 3.
vec4 weights(int v)
{
    vec4 w;
    for (int c = 0; c < 4; c++) w[c] = angular_weight(dot(vertex_direction(uint(v + c)), odf_axis));
    return w;
}
#else
#define weights(v) vec4(1.0)
#endif

// Interpolates the ODF at p for all vertices, into shared memory, and finds its largest value and, if ODF_EXTREMES
// needs it, its smallest.
void odf_at(vec3 p)
{
    vec3 base = volume_base(p);
    odf_max = -1e30;
    odf_min = 1e30;
    // channels that pad the last tile repeat the last vertex, so that they do not change the extremes
#if TILE_CHANNELS == 1
#define TILES(texture_index, n_tiles, first)                                      \
    for (int t = LANE; t < n_tiles; t += LANES) {                                 \
        float value = VOLUME_TILE(texture_index, t, base).r * weights(first + t).x; \
        ODF(first + t) = value;                                                   \
        odf_max = max(odf_max, value);                                            \
        odf_min = min(odf_min, value);                                            \
    }
#else
#define TILES(texture_index, n_tiles, first)                                                                    \
    for (int t = LANE; t < n_tiles; t += LANES) {                                                               \
        vec4 value = VOLUME_TILE(texture_index, t, base) * weights(first + 4 * t);                              \
        ODF(first + 4 * t) = value.x;                                                                           \
        ODF(first + 4 * t + 1) = value.y;                                                                       \
        ODF(first + 4 * t + 2) = value.z;                                                                       \
        ODF(first + 4 * t + 3) = value.w;                                                                       \
        odf_max = max(odf_max, max(max(value.x, value.y), max(value.z, value.w)));                              \
        odf_min = min(odf_min, min(min(value.x, value.y), min(value.z, value.w)));                              \
    }
#endif
#include <tile_loops>
#undef TILES
    ODF_EXTREMES
    lane_writes_done();
}
