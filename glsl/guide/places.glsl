// The rows of a map applied to p, products first to last as the host adds them.
vec3 mapped(vec3 p, vec4 x, vec4 y, vec4 z)
{
    return vec3(x.x * p.x + x.y * p.y + x.z * p.z + x.w, y.x * p.x + y.y * p.y + y.z * p.z + y.w,
                z.x * p.x + z.y * p.y + z.z * p.z + z.w);
}
