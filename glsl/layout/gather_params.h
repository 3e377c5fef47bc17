// Fields of the uniform block of gather.comp: one list for C and GLSL. The map takes voxel coordinates to the output
// space.
FIELD(float, xx)
FIELD(float, xy)
FIELD(float, xz)
FIELD(float, xt)
FIELD(float, yx)
FIELD(float, yy)
FIELD(float, yz)
FIELD(float, yt)
FIELD(float, zx)
FIELD(float, zy)
FIELD(float, zz)
FIELD(float, zt)
FIELD(uint, n_blocks) // of the pool in use
FIELD(uint, n_lines)  // streamlines placed: only these are gathered
FIELD(uint, n_items)  // half-streamlines of the batch, placed or not
FIELD(uint, reserved_0)
