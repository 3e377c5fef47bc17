// Fields of the uniform block of the tracking kernels: one list for C and GLSL, scalars only, so that both lay them out
// alike.
FIELD(uint, key_lo) // random seed of the user
FIELD(uint, key_hi)
FIELD(uint, n_items)     // seeds in pass 1, half-streamlines in pass 2
FIELD(uint, pool_blocks) // capacity of the pool of points, blocks
FIELD(uint, max_steps)   // of a half-streamline
FIELD(float, step_x)     // step along each voxel axis, voxels
FIELD(float, step_y)
FIELD(float, step_z)
FIELD(float, cos_max_angle)
FIELD(float, cos_separation)
FIELD(float, stop_threshold)
FIELD(float, pmf_threshold)
FIELD(float, peak_threshold)
FIELD(float, min_signal)     // in units of the volume
FIELD(uint, max_directions)  // of a seed
FIELD(uint, n_active)        // staged: slots in the list
FIELD(uint, turns)           // staged: directions drawn before the host looks
FIELD(uint, is_initial)      // staged: 1 in pass 1
FIELD(float, angular_weight) // soft angular weighting of the ODF, 0 in pass 1
FIELD(float, per_mm_x)       // voxels
FIELD(float, per_mm_y)
FIELD(float, per_mm_z)
FIELD(float, short_step)    // PTT: mm
FIELD(float, probe_step)    // PTT: mm
FIELD(float, probe_radius)  // PTT: mm
FIELD(float, max_curvature) // PTT: 1/mm
FIELD(uint, reserved_0)     // whole 16 bytes
FIELD(uint, reserved_1)
