// The bootstrap's choice among the peaks of a sample.
const uint DIRECTION_FOUND = 0u, DIRECTION_RETRY = 1u, DIRECTION_NONE = 2u;

uint choose_direction(vec3 d, uint n, inout vec3 next)
{
    int vertex = closest_peak(d);
    if (vertex >= 0) {
        next = vertex_direction(uint(vertex));
        if (dot(next, d) < 0.0) next = -next;
        return DIRECTION_FOUND;
    }
#if RETRY_ON_CONE
    return DIRECTION_RETRY;
#else
    return n == 0u ? DIRECTION_RETRY : DIRECTION_NONE;
#endif
}
