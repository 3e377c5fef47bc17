// Choice of the next direction of boot among the peaks of a bootstrap sample.
const uint RETRIES = 4u; // largest number of further samples, after one that gave no direction

// Chooses the peak nearest to d among the n peaks of a sample, if it lies in the cone. Asks for another sample if this
// one has no peak at all; with RETRY_ON_CONE (--boot-retry cone) also if no peak lies in the cone.
uint choose_direction(vec3 d, uint n, inout uvec3 aux, inout vec3 next)
{
    int vertex = closest_peak(d);
    if (vertex >= 0) {
        next = vertex_along(uint(vertex), d);
        aux.x = uint(vertex);
        return DIRECTION_FOUND;
    }
#if RETRY_ON_CONE
    return DIRECTION_RETRY;
#else
    return n == 0u ? DIRECTION_RETRY : DIRECTION_NONE;
#endif
}
