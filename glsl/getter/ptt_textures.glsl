// Amplitudes for parallel transport from textures with one channel in a texel.
float amplitude(vec3 p, vec3 t)
{
    int vertex = nearest_vertex(t);
    vec3 base = volume_base(p);
    float value = 0.0;
#define TILES(texture_index, n_tiles, first) \
    if (vertex >= first && vertex < first + n_tiles) value = VOLUME_TILE(texture_index, vertex - first, base).r;
#include <tile_loops>
#undef TILES
    return inside(p) ? value : 0.0;
}
