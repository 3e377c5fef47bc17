// The voxel grid of all fields and of the stop map. Voxel centres have integer coordinates; a voxel reaches half a
// voxel to each side.
const vec3 GRID = vec3(GRID_X, GRID_Y, GRID_Z);

// Whether p, in voxel coordinates, lies in a voxel of the grid.
bool inside(vec3 p)
{
    return all(greaterThanEqual(p, vec3(-0.5))) && all(lessThan(p, GRID - 0.5));
}
