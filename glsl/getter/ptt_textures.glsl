// Amplitudes for parallel transport from textures with one channel in a texel: each tile holds the ODF along one
// vertex.
//
// The ODF at p along the vertex nearest to t, 0 outside the grid. p: voxel coordinates; t: unit vector along the voxel
// axes. Only the texture that holds the vertex is sampled.
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
