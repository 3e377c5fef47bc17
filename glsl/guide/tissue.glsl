// Stopping criterion: tissue decides whether a half-streamline goes on (ACT, Smith et al. 2012, or partial volume maps,
// Girard et al. 2014), beside the stop map and regions. The host side, with the verdict on whole streamlines, is
// src/track/guide/tissue_stop.c.
#include "guide/stop_map.glsl"
#include "guide/affine.glsl"
#if WITH_REGIONS
#include "guide/region_rules.glsl"
#endif

// Fractions: cortical grey matter, deep grey matter, white matter, CSF; for partial volume maps: good ends, 0, 0, bad
// ends.
layout(binding = TISSUE_UNIT) uniform sampler3D tissue;
#if TISSUE_PATH
layout(binding = PATH_UNIT) uniform sampler3D pathology;
#endif

// The tissue at a point.
struct Tissue {
    bool inside, valid; // inside: in the tissue image; valid: there is tissue
    vec4 part;          // interpolated fractions in the order of the texture, each 0 .. 1
    float path;         // fraction of pathological tissue, 0 .. 1
};

// Interpolates in single precision, because the texture unit's weights have 8 bits.
Tissue tissue_at(vec3 p)
{
    const ivec3 n = ivec3(TISSUE_NX, TISSUE_NY, TISSUE_NZ);
    // Trilinear blend of eight voxels. `valid` needs tissue in the nearest voxel, and fractions that add up to one half
    // or more.
    Tissue t = Tissue(false, false, vec4(0.0), 0.0);
    vec3 q = mapped(p, TISSUE_X, TISSUE_Y, TISSUE_Z);
    if (!(all(greaterThan(q, vec3(-0.5))) && all(lessThan(q, vec3(n) - 0.5)))) return t;
    t.inside = true;
    vec3 f = floor(q), w = q - f;
    ivec3 low = ivec3(f), near = clamp(ivec3(floor(q + 0.5)), ivec3(0), n - 1);
    bool found = false;
    for (int k = 0; k < 8; k++) {
        ivec3 bit = ivec3(k & 1, k >> 1 & 1, k >> 2), at = clamp(low + bit, ivec3(0), n - 1);
        vec3 side = mix(1.0 - w, w, vec3(bit));
        float weight = side.x * side.y * side.z;
        vec4 part = texelFetch(tissue, at, 0);
        t.part += weight * part;
        bool any_part = part != vec4(0.0);
#if TISSUE_PATH
        float path = texelFetch(pathology, at, 0).r;
        t.path += weight * path;
        any_part = any_part || path != 0.0;
#endif
        found = found || (any_part && at == near);
    }
    t.part = clamp(t.part, 0.0, 1.0);
    t.path = clamp(t.path, 0.0, 1.0);
    t.valid = found && t.part.x + t.part.y + t.part.z + t.part.w + t.path >= 0.5;
    return t;
}

// TISSUE_RULE: 0 is ACT, 1 ends where a fraction exceeds 0.5 (PVE), 2 draws ends at random (CMC).
#if TISSUE_RULE == 0
// The functions is_...() say whether a tissue has the largest fraction. On equal fractions CSF wins over all other
// tissues, grey matter over white matter, and pathological tissue over cortical, deep grey and white matter.
bool is_csf(Tissue t)
{
    vec4 v = t.part;
    return v.w >= v.x && v.w >= v.y && v.w >= v.z && v.w >= t.path;
}

// Grey matter is the sum of cortical and deep grey matter.
bool is_gm(Tissue t)
{
    float gm = t.part.x + t.part.y;
    return gm >= t.part.z && gm > t.part.w && gm > t.path;
}

// Whether deep grey matter, without cortical grey matter, has the largest fraction.
bool is_sgm(Tissue t)
{
    vec4 v = t.part;
    return v.y > v.x && v.y >= v.z && v.y > v.w && v.y > t.path;
}

// Pathological tissue wins a tie with all tissues but CSF.
bool is_path(Tissue t)
{
    vec4 v = t.part;
    return t.path >= v.x && t.path >= v.y && t.path >= v.z && t.path > v.w;
}

// Word GUIDE_TISSUE: number of points in deep grey matter since the half-streamline entered it, and flags.
const uint DEPTH = 0x00ffffffu;

#if TISSUE_SGM
// Notes the last point if it has the smallest amplitude in deep grey matter so far: a half-streamline that ends because
// it leaves deep grey matter is cut back to this point. number: of the point, counted in parts of steps; amplitude: the
// amplitude there.
void guide_leave(uint number, float amplitude, inout uint memory[GUIDE_ROOM])
{
    if ((memory[GUIDE_TISSUE] & DEPTH) == 0u || !(amplitude < uintBitsToFloat(memory[GUIDE_LEAST]))) return;
    memory[GUIDE_LEAST] = floatBitsToUint(amplitude);
    memory[GUIDE_KEEP] = number;
#if WITH_REGIONS && REGIONS_REMEMBERED
    memory[GUIDE_KEEP_MET] = memory[GUIDE_MET];
#endif
#if WITH_REGIONS && ORDERED_REGIONS > 0
    memory[GUIDE_KEEP_ORDER] = memory[GUIDE_ORDER];
#endif
}

// A half-streamline that ends because it leaves deep grey matter is cut at the point with the smallest amplitude.
// Returns the number of that point, in parts of steps. The regions visited behind it no longer count.
#define GUIDE_CUTS
uint guide_cut(inout uint memory[GUIDE_ROOM])
{
#if WITH_REGIONS && REGIONS_REMEMBERED
    memory[GUIDE_MET] = memory[GUIDE_KEEP_MET];
#endif
#if WITH_REGIONS && ORDERED_REGIONS > 0
    memory[GUIDE_ORDER] = memory[GUIDE_KEEP_ORDER];
#endif
    return memory[GUIDE_KEEP];
}

// A point in deep grey matter: the half-streamline goes on. At the first such point the search for the smallest
// amplitude begins.
uint deep_grey(uint number, inout uint memory[GUIDE_ROOM])
{
    if ((memory[GUIDE_TISSUE] & DEPTH) == 0u) {
        memory[GUIDE_LEAST] = floatBitsToUint(1e30);
        memory[GUIDE_KEEP] = number;
    }
    memory[GUIDE_TISSUE]++;
    return GUIDE_GO_ON;
}

// A point outside grey matter: ends the half-streamline if its last point lies in deep grey matter. But if the seed
// lies in deep grey matter, the half-streamline may leave it once.
uint leave_deep_grey(inout uint memory[GUIDE_ROOM])
{
    uint flags = memory[GUIDE_TISSUE];
    if ((flags & DEPTH) == 0u) return GUIDE_GO_ON;
    if ((flags & TISSUE_SEED_SGM) == 0u || (flags & TISSUE_LEFT) != 0u) return GLS_END_SGM_EXIT;
    memory[GUIDE_TISSUE] = (flags & ~DEPTH) | TISSUE_LEFT;
    memory[GUIDE_LEFT_KEEP] = memory[GUIDE_KEEP];
#if WITH_REGIONS && REGIONS_REMEMBERED
    memory[GUIDE_LEFT_MET] = memory[GUIDE_KEEP_MET];
#endif
    return GUIDE_GO_ON;
}

// Whether the last point lies in deep grey matter.
bool in_deep_grey(uint memory[GUIDE_ROOM]) { return (memory[GUIDE_TISSUE] & DEPTH) != 0u; }
#else
uint deep_grey(uint number, inout uint memory[GUIDE_ROOM]) { return GUIDE_GO_ON; }
uint leave_deep_grey(inout uint memory[GUIDE_ROOM]) { return GUIDE_GO_ON; }
bool in_deep_grey(uint memory[GUIDE_ROOM]) { return false; }
#endif

// ACT at a stored point (Smith et al. 2012): a half-streamline ends on entering cortical grey matter or CSF, and goes
// on in white, deep grey and pathological tissue. A half-streamline that leaves deep grey matter is cut back to a point
// inside; but from a seed in deep grey matter it may leave once.
uint end_in_tissue(vec3 p, uint number, Draw draw, inout uint memory[GUIDE_ROOM])
{
    Tissue t = tissue_at(p);
    if (!t.valid) return GLS_END_TISSUE_OUTSIDE;
#if TISSUE_PATH
    memory[GUIDE_TISSUE] = (memory[GUIDE_TISSUE] & ~TISSUE_ON_PATH) | (is_path(t) ? TISSUE_ON_PATH : 0u);
#endif
    if (is_csf(t)) return in_deep_grey(memory) ? GLS_END_SGM_EXIT : GLS_END_CSF;
    if (!is_gm(t)) return leave_deep_grey(memory);
    return t.part.x >= t.part.y ? GLS_END_CGM : deep_grey(number, memory);
}

#if BACKTRACK
// Whether ACT counts this end as bad.
bool end_is_bad(uint end, uint memory[GUIDE_ROOM])
{
#if TISSUE_PATH
    if ((memory[GUIDE_TISSUE] & TISSUE_ON_PATH) != 0u) return end == GLS_END_CSF;
#endif
    return end == GLS_END_CSF || end == GLS_END_NO_DIRECTION || end == GLS_END_STOP_MAP;
}
#endif

// End of a half-streamline that can go no further: in deep grey matter this is a good end.
uint end_stuck(uint end, uint memory[GUIDE_ROOM]) { return in_deep_grey(memory) ? GLS_END_SGM_IN : end; }
#else
// End at a point by the maps of good and bad ends, or GUIDE_GO_ON. Uses the random numbers of the step and, where a
// half-streamline is filtered, of the particle. CMC (Girard et al. 2014): with the fractions good, bad and rest, the
// half-streamline goes on with probability (rest / (rest + good + bad))^(step / voxel side), so that the chance to end
// does not depend on the step size; an end is good with probability good / (good + bad).
uint end_in_maps(Tissue t, uint number, Draw draw)
{
    // PVE decides by the fractions alone; CMC by two random numbers, the first for going on, the second for the kind of
    // end.
    float good = t.part.x, bad = t.part.w;
    if (!t.inside) return GLS_END_TISSUE_OUTSIDE;
#if TISSUE_RULE == 1
    return good > 0.5 ? GLS_END_CGM : bad > 0.5 ? GLS_END_CSF : GUIDE_GO_ON;
#else
    float sum = good + bad, rest = max(0.0, 1.0 - sum);
    if (!(sum > 0.0)) return GUIDE_GO_ON;
    uint part = (number - 1u) % uint(STEP_PARTS); // each position of a step is decided by random numbers of its own
#if PARTICLES
    uint first = draw.block;
#else
    uint first = 0u;
#endif
    uvec4 word = draw_block(Draw(first, draw.step, draw.seed_lo, draw.seed_hi), TISSUE_DRAW + part);
    vec2 u = vec2(word.xy >> 8) * (1.0 / 16777216.0);
    if (rest > 0.0 && u.x < pow(rest / (rest + sum), CMC_POWER / float(STEP_PARTS))) return GUIDE_GO_ON;
    return u.y < good / sum ? GLS_END_CGM : GLS_END_CSF;
#endif
}

#if PARTICLES
float guide_bad = 0.0; // probability of a bad end at the last position that guide_point() tested, for the particles

// Whether a run of the particle filter is at work on the half-streamline: guide_point() then tests the position of a
// particle.
bool filter_at_work(uint memory[GUIDE_ROOM]) { return memory[GUIDE_BACKTRACK + int(FILTER_TURN)] != 0u; }

// White matter fraction: what the maps of good and bad ends leave. Word FILTER_MOST of the memory holds its largest
// value at any point of the half-streamline so far.
float white_matter(Tissue t) { return t.inside ? 1.0 - t.part.x - t.part.w : 0.0; }

// Raises word FILTER_MOST to the white matter fraction at a point, if this is larger.
void note_white_matter(Tissue t, inout uint memory[GUIDE_ROOM])
{
    const int most = GUIDE_BACKTRACK + int(FILTER_MOST);
    memory[most] = floatBitsToUint(max(uintBitsToFloat(memory[most]), white_matter(t)));
}
#endif

// PVE and CMC at a stored point: an end by the maps, or GUIDE_GO_ON.
uint end_in_tissue(vec3 p, uint number, Draw draw, inout uint memory[GUIDE_ROOM])
{
    Tissue t = tissue_at(p);
    uint end = end_in_maps(t, number, draw);
#if PARTICLES
    guide_bad = t.inside ? t.part.w : 0.0;
    if (filter_at_work(memory)) return end;
#endif
#if PARTICLES && FILTER_WHITE
    // --pft-min-wm: before it has met enough white matter, a half-streamline passes good ends where there is any white
    // matter
    note_white_matter(t, memory);
    float white = white_matter(t), most = uintBitsToFloat(memory[GUIDE_BACKTRACK + int(FILTER_MOST)]);
    if (end == GLS_END_CGM && most < FILTER_MIN_WHITE && white > 0.0) return GUIDE_GO_ON;
#endif
    return end;
}

#if PARTICLES
// Whether this end starts a filter run: in CSF, without a direction, or at the stop map.
bool end_is_bad(uint end)
{
    return end == GLS_END_CSF || end == GLS_END_NO_DIRECTION || end == GLS_END_STOP_MAP;
}
#endif

uint end_stuck(uint end, uint memory[GUIDE_ROOM]) { return end; }
#endif
#define GUIDE_STUCK

#if TISSUE_SGM || TISSUE_PATH || (WITH_REGIONS && (ORDERED_REGIONS > 0 || STOP_AT_ALL || LEAVING_REGIONS > 0))
#define GUIDE_STARTS
// The seed counts as point 0: notes its tissue and its regions.
void guide_start(vec3 seed, inout uint memory[GUIDE_ROOM])
{
    for (int w = 0; w < GUIDE_WORDS; w++) memory[w] = 0u;
#if TISSUE_SGM || TISSUE_PATH
    Tissue t = tissue_at(seed);
#endif
#if TISSUE_PATH
    if (t.valid && is_path(t)) memory[GUIDE_TISSUE] |= TISSUE_ON_PATH;
#endif
#if TISSUE_SGM
    if (t.valid && is_sgm(t)) memory[GUIDE_TISSUE] |= TISSUE_SEED_SGM | 1u;
    memory[GUIDE_LEAST] = floatBitsToUint(1e30);
#endif
#if WITH_REGIONS && (ORDERED_REGIONS > 0 || STOP_AT_ALL)
    note_regions(regions_at(seed), 0u, memory);
#endif
#if WITH_REGIONS && LEAVING_REGIONS > 0
    start_in_regions(regions_at(seed), memory);
#endif
}
#endif

// Returns the end of the half-streamline at p, or GUIDE_GO_ON; see the slot `guide` in slots.txt. The first of these
// that ends it is reported: --mask, stop map, tissue, --tracking-mask, other regions. But at a good end (GLS_END_CGM) a
// region that rejects the streamline is reported instead. For particles, --tracking-mask is tested together with
// --mask, and other regions are not tested.
uint guide_point(vec3 p, bool stored, uint number, Draw draw, inout uint memory[GUIDE_ROOM])
{
#if WITH_REGIONS
    uint bits = regions_at(p);
    bool left = left_mask(bits);
#if PARTICLES
    left = left || (filter_at_work(memory) && left_tracking_mask(bits));
#endif
    if (left) return GLS_END_MASK;
#endif
    if (!(stop_value(p) > params.stop_threshold)) return end_stuck(GLS_END_STOP_MAP, memory);
    if (!stored) return GUIDE_GO_ON;
    uint end = end_in_tissue(p, number, draw, memory);
    if (end != GUIDE_GO_ON && end != GLS_END_CGM) return end;
#if PARTICLES
    if (filter_at_work(memory)) return end;
#endif
#if WITH_REGIONS
    if (end == GUIDE_GO_ON && left_tracking_mask(bits)) return GLS_END_MASK;
    uint region_end = end_in_regions(bits, number, memory);
    if (end == GUIDE_GO_ON || end_rejects(region_end)) end = region_end;
#endif
    return end;
}

#if PARTICLES
// Notes regions and white matter at a particle's point that becomes a point of the half-streamline. Returns the end of
// the half-streamline there, or GUIDE_GO_ON.
uint guide_taken(vec3 p, uint number, inout uint memory[GUIDE_ROOM])
{
#if FILTER_WHITE
    note_white_matter(tissue_at(p), memory);
#endif
#if WITH_REGIONS
    return end_in_regions(regions_at(p), number, memory);
#else
    return GUIDE_GO_ON;
#endif
}
#endif
