// Lists the references whose nearest points may be within a limit of those of a streamline. A work group takes one
// streamline and looks at all references of a range: boxes first, then, for those whose boxes are near enough, the
// distances of all pairs of points. The distances are within 2^-15 of their values, which src/geometry/nearest_device.c
// proves; the host, which dispatches this kernel, computes those that it needs anew. FINAL: distances in double follow,
// and only those whose error leaves two results are computed anew. POINTS: points of a streamline; LARGEST: the largest
// of the distances from nearest points, else the mean of both means.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform uint n_stored; // references in the buffer
layout(location = 1) uniform uint begin;    // the range of references, inside the buffer
layout(location = 2) uniform uint end;
layout(location = 3) uniform uint first_place; // place of the first reference in the buffer
layout(location = 4) uniform uint most_found;  // entries for which there is room
#ifdef FINAL
layout(location = 5) uniform uint radius_low; // the radius, mm, a double in two words
layout(location = 6) uniform uint radius_high;
#endif

// Rows of n_stored values: coordinates x, y, z of each point, then the least x, y, z, then the largest.
layout(std430, binding = 0) readonly buffer References { float stored[]; };
// For each streamline its points and its limit, which is negative where nothing is sought.
layout(std430, binding = 1) readonly buffer Queries { float query[]; };
// Numbers of entries and of runs of entries, also of those for which there was no room. Then, from word 4 on, the runs:
// the streamline, the first entry, the number of entries.
layout(std430, binding = 2) buffer Runs { uint run[]; };
// Entries: the place of a reference, and its distance; FINAL: rounded, or negative where the error leaves two results.
layout(std430, binding = 3) writeonly buffer Found { uvec2 found[]; };

#define ROOM (2 * GROUP_SIZE)

shared vec3 point[POINTS];
shared float limit;
shared uint listed[ROOM]; // references whose boxes are near enough
shared uint n_listed;
shared uvec2 kept[ROOM]; // entries that are not stored yet
shared uint n_kept;
shared uint entry, n_entries;

vec3 stored_point(uint i, uint p)
{
    uint row = 3u * p * n_stored + i;
    return vec3(stored[row], stored[row + n_stored], stored[row + 2u * n_stored]);
}

// Lowers the squared distances of four points from the nearest one to those from another point.
void nearer(vec3 at, vec4 x, vec4 y, vec4 z, inout vec4 least)
{
    vec4 dx = x - at.x, dy = y - at.y, dz = z - at.z;
    least = min(least, dx * dx + dy * dy + dz * dz);
}

// Sums or maxima over points: of four squared distances, from point p on, and of all.
#ifdef LARGEST
vec4 added(vec4 total, vec4 square, uint p) { return max(total, square); }
float result(vec4 total) { return sqrt(max(max(total.x, total.y), max(total.z, total.w))); }
float both(float there, float back) { return max(there, back); }
#else
vec4 added(vec4 total, vec4 square, uint p)
{
    return total + mix(vec4(0.0), sqrt(square), lessThan(uvec4(p) + uvec4(0u, 1u, 2u, 3u), uvec4(POINTS)));
}
float result(vec4 total) { return ((total.x + total.y) + (total.z + total.w)) / float(POINTS); }
float both(float there, float back) { return 0.5 * (there + back); }
#endif

// Mean or largest distance of the points of one set from the nearest point of the other set. OWN(p), OTHER(p): point p.
// Eight points at a time lie in registers; the last one fills up the eight.
#define FROM_NEAREST(name, OWN, OTHER)                                                                             \
    float name(uint i)                                                                                             \
    {                                                                                                              \
        const uint last = uint(POINTS) - 1u;                                                                       \
        vec4 total = vec4(0.0);                                                                                    \
        for (uint p = 0u; p <= last; p += 8u) {                                                                    \
            vec3 a = OWN(p), b = OWN(min(p + 1u, last)), c = OWN(min(p + 2u, last)), d = OWN(min(p + 3u, last));   \
            vec4 x0 = vec4(a.x, b.x, c.x, d.x), y0 = vec4(a.y, b.y, c.y, d.y), z0 = vec4(a.z, b.z, c.z, d.z);      \
            a = OWN(min(p + 4u, last)), b = OWN(min(p + 5u, last));                                                \
            c = OWN(min(p + 6u, last)), d = OWN(min(p + 7u, last));                                                \
            vec4 x1 = vec4(a.x, b.x, c.x, d.x), y1 = vec4(a.y, b.y, c.y, d.y), z1 = vec4(a.z, b.z, c.z, d.z);      \
            vec4 least0 = vec4(3e38), least1 = vec4(3e38);                                                         \
            for (uint q = 0u; q <= last; q++) {                                                                    \
                vec3 at = OTHER(q);                                                                                \
                nearer(at, x0, y0, z0, least0);                                                                    \
                nearer(at, x1, y1, z1, least1);                                                                    \
            }                                                                                                      \
            total = added(total, least0, p);                                                                       \
            total = added(total, least1, p + 4u);                                                                  \
        }                                                                                                          \
        return result(total);                                                                                      \
    }

#define OF_QUERY(p) point[p]
#define OF_REFERENCE(p) stored_point(i, p)
FROM_NEAREST(from_reference, OF_REFERENCE, OF_QUERY)
FROM_NEAREST(from_query, OF_QUERY, OF_REFERENCE)

#ifdef FINAL
// Mean or largest distance as above, in double: of the points that in single precision are as near as the nearest one,
// the nearest one in double. Its square in single precision is within 2^-20 of the least one.
#define FROM_NEAREST_FINAL(name, OWN, OTHER)                                          \
    double name(uint i)                                                               \
    {                                                                                 \
        double total = 0.0lf;                                                         \
        for (uint p = 0u; p < uint(POINTS); p++) {                                    \
            vec3 own = OWN(p);                                                        \
            float least = 3e38;                                                       \
            for (uint q = 0u; q < uint(POINTS); q++) {                                \
                vec3 gap = own - OTHER(q);                                            \
                least = min(least, dot(gap, gap));                                    \
            }                                                                         \
            least *= 1.0 + 1.0 / 65536.0;                                             \
            double square = 1e300lf;                                                  \
            for (uint q = 0u; q < uint(POINTS); q++) {                                \
                vec3 other = OTHER(q), gap = own - other;                             \
                if (dot(gap, gap) > least) continue;                                  \
                dvec3 exact = dvec3(own) - dvec3(other);                              \
                square = min(square, dot(exact, exact));                              \
            }                                                                         \
            total = added_final(total, square);                                       \
        }                                                                             \
        return result_final(total);                                                   \
    }

#ifdef LARGEST
double added_final(double total, double square) { return max(total, square); }
double result_final(double total) { return sqrt(total); }
double both_final(double there, double back) { return max(there, back); }
#else
double added_final(double total, double square) { return total + sqrt(square); }
double result_final(double total) { return total / double(POINTS); }
double both_final(double there, double back) { return 0.5lf * (there + back); }
#endif

FROM_NEAREST_FINAL(final_from_reference, OF_REFERENCE, OF_QUERY)
FROM_NEAREST_FINAL(final_from_query, OF_QUERY, OF_REFERENCE)

// The distance rounded to single precision; negative where it or whether it is below the radius is not certain.
float final_distance(uint i)
{
    double d = both_final(final_from_reference(i), final_from_query(i)), error = d / 2147483648.0lf + 1e-15lf;
    float mm = float(d);
    double off = abs(double(mm) - d) + 2.0lf * error;
    uint bits = floatBitsToUint(mm);
    bool certain = d + error < packDouble2x32(uvec2(radius_low, radius_high)) &&
                   off < abs(double(uintBitsToFloat(bits + 1u)) - d) && bits > 0u &&
                   off < abs(double(uintBitsToFloat(bits - 1u)) - d);
    return certain ? mm : -1.0;
}
#endif

// Whether the boxes of the streamline and of a reference are near enough.
bool is_near(uint i, vec3 low, vec3 high)
{
    uint row = 3u * uint(POINTS) * n_stored + i;
    vec3 least = vec3(stored[row], stored[row + n_stored], stored[row + 2u * n_stored]);
    row += 3u * n_stored;
    vec3 most = vec3(stored[row], stored[row + n_stored], stored[row + 2u * n_stored]);
    vec3 gap = max(max(least - high, low - most), vec3(0.0));
    return dot(gap, gap) <= limit * limit;
}

// Stores the entries that are kept. Called by all invocations.
void store_kept(uint line, uint lane)
{
    barrier();
    if (lane == 0u) {
        n_entries = n_kept;
        entry = atomicAdd(run[0], n_kept);
        uint k = 4u + 3u * atomicAdd(run[1], 1u);
        if (k + 2u < uint(run.length())) {
            run[k] = line;
            run[k + 1u] = entry;
            run[k + 2u] = n_kept;
        }
        n_kept = 0u;
    }
    barrier();
    for (uint k = lane; k < n_entries; k += uint(GROUP_SIZE))
        if (entry + k < most_found) found[entry + k] = kept[k];
    barrier();
}

// Measures the last of the listed references, one in each invocation. Called by all invocations.
void measure_listed(uint line, uint lane)
{
    uint n = min(n_listed, uint(GROUP_SIZE)), from = n_listed - n;
    if (lane < n) {
        uint i = listed[from + lane];
        float there = from_reference(i);
        if (both(there, 0.0) <= limit) {
            float mm = both(there, from_query(i));
            if (mm <= limit) {
#ifdef FINAL
                mm = final_distance(i);
#endif
                kept[atomicAdd(n_kept, 1u)] = uvec2(first_place + i, floatBitsToUint(mm));
            }
        }
    }
    barrier();
    if (lane == 0u) n_listed = from;
    barrier();
    if (n_kept >= uint(GROUP_SIZE)) store_kept(line, lane);
}

void main()
{
    uint line = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint at = line * (3u * uint(POINTS) + 1u);
    if (query[at + 3u * uint(POINTS)] < 0.0) return;
    for (uint p = lane; p < uint(POINTS); p += uint(GROUP_SIZE))
        point[p] = vec3(query[at + 3u * p], query[at + 3u * p + 1u], query[at + 3u * p + 2u]);
    if (lane == 0u) {
        limit = query[at + 3u * uint(POINTS)];
        n_listed = n_kept = 0u;
    }
    barrier();
    vec3 low = point[0], high = point[0];
    for (uint p = 1u; p < uint(POINTS); p++) {
        low = min(low, point[p]);
        high = max(high, point[p]);
    }
    for (uint from = begin; from < end; from += uint(GROUP_SIZE)) {
        if (from + lane < end && is_near(from + lane, low, high)) listed[atomicAdd(n_listed, 1u)] = from + lane;
        barrier();
        uint n = n_listed;
        barrier();
        if (n >= uint(GROUP_SIZE)) measure_listed(line, lane);
    }
    if (n_listed > 0u) measure_listed(line, lane);
    if (n_kept > 0u) store_kept(line, lane);
}
