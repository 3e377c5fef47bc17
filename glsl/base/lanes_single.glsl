// What the lanes of a streamline do together, where it has one lane: one invocation a streamline.
#define LANE 0
#define LANES 1
#define SLOT gl_LocalInvocationIndex
#define GROUP_SLOTS uint(GROUP_SIZE)

#define SLOT_ARRAY(type, name, size) type name[size]
#define SLOT_ELEMENT(name, size, i) name[i]

void lane_sync() {}
float lane_sum(float x) { return x; }
float lane_max(float x) { return x; }
uint lane_max(uint x) { return x; }
float lane_min(float x) { return x; }
int lane_min(int x) { return x; }
uint lane_upto(uint x) { return x; }
uint lane_last(uint x) { return x; }
int lane_place(bool wanted, inout uint count)
{
    count += wanted ? 1u : 0u;
    return int(count) - 1;
}
vec2 lane_of(vec2 x, int lane) { return x; }
int lane_chosen(int x, bool chosen) { return x; }
vec3 lane_chosen(vec3 x, bool chosen) { return x; }
bool lane_leads() { return true; }
uint lane_lead(uint x) { return x; }
