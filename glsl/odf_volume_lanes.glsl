// ODF sampled on the sphere, from a volume of amplitudes; a subgroup together.
shared float shared_odf[SLOTS * ODF_CHANNELS];
#define ODF(v) shared_odf[int(SLOT) * ODF_CHANNELS + (v)]

float odf_max = 0.0, odf_min = 0.0;

void odf_at(vec3 p)
{
    vec3 base = volume_base(p);
    odf_max = -1e30;
    odf_min = 1e30;
    // channels that fill the last tile repeat the last vertex, so that they change no extreme
#define TILES(texture_index, n_tiles, first)                                                                    \
    for (int t = LANE; t < n_tiles; t += LANES) {                                                               \
        vec4 value = VOLUME_TILE(texture_index, t, base);                                                       \
        ODF(first + 4 * t) = value.x;                                                                           \
        ODF(first + 4 * t + 1) = value.y;                                                                       \
        ODF(first + 4 * t + 2) = value.z;                                                                       \
        ODF(first + 4 * t + 3) = value.w;                                                                       \
        odf_max = max(odf_max, max(max(value.x, value.y), max(value.z, value.w)));                              \
        odf_min = min(odf_min, min(min(value.x, value.y), min(value.z, value.w)));                              \
    }
#include "tile_loops"
#undef TILES
    odf_max = lane_max(odf_max);
    odf_min = lane_min(odf_min);
    lane_sync();
}
