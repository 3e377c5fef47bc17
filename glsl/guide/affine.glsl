// Applies an affine map given by its rows to p; products are added from first to last, as on the host.
vec3 mapped(vec3 p, vec4 x, vec4 y, vec4 z)
{
    return vec3(x.x * p.x + x.y * p.y + x.z * p.z + x.w, y.x * p.x + y.y * p.y + y.z * p.z + y.w,
                z.x * p.x + z.y * p.y + z.z * p.z + z.w);
}
