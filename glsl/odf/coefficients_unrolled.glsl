// ODF from a field of SH coefficients, written out for one invocation.
#include "odf/sh_unrolled.glsl"

float channel[VOLUME_CHANNELS];
float interpolated[N_COEFFICIENTS];

// Interpolates the coefficients at p, and evaluates the ODF at all vertices.
void odf_at(vec3 p)
{
    vec3 base = volume_base(p);
    // A loop instead of rows, because every unrolled texture fetch costs some drivers half a second of compilation.
#define TILES(texture_index, n_tiles, first)              \
    for (int t = 0; t < n_tiles; t++) {                   \
        vec4 value = VOLUME_TILE(texture_index, t, base); \
        channel[first + 4 * t] = value.x;                 \
        channel[first + 4 * t + 1] = value.y;             \
        channel[first + 4 * t + 2] = value.z;             \
        channel[first + 4 * t + 3] = value.w;             \
    }
#include <tile_loops>
#undef TILES
    EACH_COEFFICIENT(interpolated[j] = channel[j];)
    evaluate_odf(interpolated);
}
