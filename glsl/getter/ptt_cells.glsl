// Amplitudes for parallel transport from a field in buffers, whose cells of eight voxels hold all directions
// (odf/cells.glsl).
#include "odf/cells.glsl"

// The ODF at p along the vertex nearest to t, 0 outside the grid. p: voxel coordinates; t: unit vector along the voxel
// axes.
float amplitude(vec3 p, vec3 t)
{
    bool in_grid = all(lessThan(abs(p - 0.5 * (GRID - 1.0)), 0.5 * GRID));
    return in_grid ? cell_value(cell_at(p), nearest_vertex(t)) : 0.0;
}
