// Operations of the lanes of a streamline if there is one lane: each invocation tracks a streamline, arrays are
// private, and nothing is combined. The contracts stand in base/common.glsl.
#define LANE 0
#define LANES 1
#define SLOT gl_LocalInvocationIndex
#define GROUP_SLOTS uint(GROUP_SIZE)

#define SLOT_ARRAY(type, name, size) type name[size]
#define SLOT_ELEMENT(name, size, i) name[i]

void lane_sync() {}
void lane_writes_done() {}
float lane_sum(float x) { return x; }
float lane_max(float x) { return x; }
uint lane_max(uint x) { return x; }
float lane_min(float x) { return x; }
int lane_min(int x) { return x; }
void lane_range(inout float most, inout float least) {}
void lane_largest(inout float x, inout int number) {}
uint lane_upto(uint x, out uint total)
{
    total = x;
    return x;
}
#define LANE_SUMS(x, n, ROOM, size, TARGET) for (int j = 0; j < (n); j++) TARGET(j) = x[j];
#define LANE_LIST(n, i, v, vertex, yes, count, index, store) \
    for (int i = 0; i < int(n); i++) {                     \
        int v = vertex, index = int(count);                \
        bool wanted = yes;                                 \
        if (wanted) { store }                                \
        count += wanted ? 1u : 0u;                         \
    }
#define MAX_COLLECTED 0 // nothing is gained by collecting
#define FEW 0
void lane_ask() {}
int lane_first(bool yes) { return yes ? 0 : 1; }
vec3 lane_of(vec3 x, int lane) { return x; }
int lane_chosen(int x, bool chosen) { return x; }
bool lane_leads() { return true; }
uint lane_lead(uint x) { return x; }
