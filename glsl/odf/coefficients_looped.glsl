// ODF from a field of SH coefficients, in loops.
#include "odf/channels.glsl"
#include "odf/sh_looped.glsl"

void odf_at(vec3 p)
{
    vec3 base = volume_base(p);
#define TILES(texture_index, n_tiles, first)              \
    for (int t = LANE; t < n_tiles; t += LANES) {         \
        vec4 value = VOLUME_TILE(texture_index, t, base); \
        CHANNEL(first + 4 * t) = value.x;                 \
        CHANNEL(first + 4 * t + 1) = value.y;             \
        CHANNEL(first + 4 * t + 2) = value.z;             \
        CHANNEL(first + 4 * t + 3) = value.w;             \
    }
#include <tile_loops>
#undef TILES
    lane_sync();
    float c[N_COEFFICIENTS];
    EACH_COEFFICIENT(c[j] = CHANNEL(j);)
    evaluate_odf(c);
}
