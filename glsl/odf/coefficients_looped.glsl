// ODF from a field of SH coefficients, in loops.
#include "odf/channels.glsl"
#include "odf/sh_looped.glsl"

// Interpolates the coefficients at p, the lanes together, and evaluates the ODF at all vertices.
void odf_at(vec3 p)
{
    vec3 base = volume_base(p);
#define TILES CHANNEL_TILES
#include <tile_loops>
#undef TILES
    lane_sync();
    float c[N_COEFFICIENTS];
    EACH_COEFFICIENT(c[j] = CHANNEL(j);)
    evaluate_odf(c);
}
