// Directions in a cone, and the arcs that lead to them: shared by ifod.glsl and null.glsl. Vectors d and across are
// unit vectors along the voxel axes; lengths are in mm.

// Unit vector at a right angle to d, rotated about d by `turn` radians. It is exact for every d (Duff et al. 2017).
vec3 direction_across(vec3 d, float turn)
{
    float side = d.z < 0.0 ? -1.0 : 1.0, a = -1.0 / (side + d.z), b = d.x * d.y * a;
    return cos(turn) * vec3(1.0 + side * d.x * d.x * a, side * b, -side * d.x) +
           sin(turn) * vec3(b, side + d.y * d.y * a, -d.y);
}

// A random number above 0 and up to 1, from the upper 24 bits of a word.
float random_part(uint word) { return (float(word >> 8) + 0.5) * (1.0 / 16777216.0); }

#if OWN_STEPS
// Converts a displacement along the voxel axes from mm to voxels.
vec3 to_voxels(vec3 mm) { return mm * vec3(params.per_mm_x, params.per_mm_y, params.per_mm_z); }

// Position `part` of STEP_PARTS on the arc of one step from p, in voxel coordinates. At p the tangent is d; over the
// whole step it turns by `angle` radians towards `across`, a unit vector at a right angle to d.
vec3 arc_position(vec3 p, vec3 d, float angle, vec3 across, int part)
{
    // k: curvature, 1/mm; turned: angle between d and the tangent at the position, radians.
    float length = params.step_mm * float(part) / float(STEP_PARTS), k = angle / params.step_mm;
    float turned = k * length;
    // for small angles a series, because the closed form loses digits
    float along = turned > 1e-3 ? sin(turned) / k : length * (1.0 - turned * turned / 6.0);
    float aside = turned > 1e-2 ? (1.0 - cos(turned)) / k : length * turned * (0.5 - turned * turned / 24.0);
    return p + to_voxels(along * d + aside * across);
}

// Position `part` of STEP_PARTS of a step along the arc whose tangent is `before` at p and d at the end of the step.
vec3 step_position(vec3 p, vec3 before, vec3 d, int part)
{
    // The component of d at a right angle to `before` gives the side of the bend; its length, with the component along
    // `before`, gives the angle.
    vec3 across = d - dot(before, d) * before;
    float s = length(across);
    return arc_position(p, before, atan(s, dot(before, d)), across / max(s, 1e-20), part);
}
#endif
