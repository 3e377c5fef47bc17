/* The guide for regions: ends half-streamlines at the stop map and at regions, and rejects streamlines that miss or
 * enter regions. glsl/guide/region_rules.glsl tests points on the device; this file judges whole streamlines. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/guide/region_stop.h"
#include "image/region_set.h"
#include "track/guide/guide.h"
#include "track/guide/threshold_stop.h"
#include "util/status.h"
#include "util/text.h"

/* How the first point in a region of a role affects its half-streamline and its streamline. */
typedef struct point_rule {
    gls_region_role role;
    uint32_t end;           /* a GLS_END_... value, or GUIDE_GO_ON */
    const char *end_symbol; /* NULL: points in the region end nothing */
    gls_verdict verdict;
} point_rule;
#define GOES_ON GUIDE_GO_ON, NULL, GLS_VERDICT_KEPT
#define ENDS_AS(end, verdict) end, #end, verdict
#define ENDS_BEHIND(end) end, NULL, GLS_VERDICT_KEPT
static const point_rule point_rules[] = {
#define GLS_REGION_ROW(symbol, value, field, option, bits, where, reach, point, ...) {symbol, point},
#include <glslines/regions.def>
};
#define N_POINT_RULES (sizeof point_rules / sizeof *point_rules)

/* Bits of the regions whose points reject a streamline. */
static uint32_t rejecting_bits(const gls_regions *r)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < N_POINT_RULES; i++)
        if (point_rules[i].verdict != GLS_VERDICT_KEPT) bits |= gls_regions_bits(r, point_rules[i].role);
    return bits;
}

/* Verdict on a streamline that met the regions of these bits; GLS_VERDICT_KEPT if no region rejects it. */
static gls_verdict verdict_on(const gls_regions *r, uint32_t met)
{
    for (size_t i = 0; i < N_POINT_RULES; i++)
        if (point_rules[i].verdict != GLS_VERDICT_KEPT && (met & gls_regions_bits(r, point_rules[i].role)))
            return point_rules[i].verdict;
    return GLS_VERDICT_KEPT;
}

/* Bits that a streamline has to meet, all of them: one for each include region, and the one of all include-any regions
 * together. They are neighbours. */
static uint32_t wanted_bits(const gls_regions *r)
{
    return gls_regions_bits(r, GLS_REGION_INCLUDE) | gls_regions_bits(r, GLS_REGION_INCLUDE_ANY);
}

gls_verdict gls_guide_regions_verdict_of(gls_end end)
{
    for (size_t i = 0; i < N_POINT_RULES; i++)
        if (point_rules[i].end == (uint32_t)end) return point_rules[i].verdict;
    return GLS_VERDICT_KEPT;
}

bool gls_guide_regions_gave(gls_verdict verdict)
{
    for (size_t i = 0; i < N_POINT_RULES; i++)
        if (verdict != GLS_VERDICT_KEPT && point_rules[i].verdict == verdict) return true;
    return false;
}

/* Texels of a line of the texture of regions, one word each, if the device allows so many. */
#define SIDE 1024u

/* Size of the texture for all words of the regions: lines of `side` words, layers of `side` lines. A single layer may
 * have fewer lines. */
static void texture_size(const gls_regions *r, uint32_t side, uint32_t size[3])
{
    size_t lines = r->n_words / side + 1;
    size[0] = side;
    size[1] = lines < side ? (uint32_t)lines : side;
    size[2] = (uint32_t)((lines + side - 1) / side);
}

/* Plans two textures, the stop map and the regions, and the words that half-streamlines remember of regions. */
static gls_status plan(const gls_track_params *params, const gls_device_info *limits, const gls_track_input *input,
                       gls_guide_plan *plan)
{
    const gls_regions *r = input->regions;
    gls_status status = gls_guide_threshold.plan(params, limits, input, plan);
    if (status) return status;
    uint32_t side = limits->max_texture_3d < SIDE ? limits->max_texture_3d : SIDE;
    if (r->n_words >= (uint64_t)side * side * limits->max_texture_3d || r->n_words > INT32_MAX)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "the boxes around all regions have %zu voxels, more than the device's 3D textures hold: give "
                        "smaller regions",
                        r->n_words);
    uint32_t size[3], include = wanted_bits(r);
    plan->remembers = gls_regions_bits_where(r, GLS_REGION_POINTS) != 0;
    if (plan->remembers) plan->met = plan->n_words++;
    if (gls_regions_bits(r, GLS_REGION_INCLUDE_ORDERED)) plan->order = plan->n_words++;
    plan->leaving = plan->n_words;
    if (gls_regions_bits(r, GLS_REGION_STOP_LEAVING)) plan->n_words += 2;
    plan->visits = plan->n_words;
    plan->n_visits = (uint32_t)__builtin_popcount(include);
    plan->n_words += plan->n_visits;
    plan->n_textures++;
    plan->side = side;
    texture_size(r, side, size);
    plan->bytes += sizeof(uint32_t) * (uint64_t)size[0] * size[1] * size[2];
    return GLS_OK;
}

/* Creates the two textures: the stop map, then the regions. */
static gls_status create(gls_guide *guide, gls_device *device, const gls_track_input *input)
{
    const gls_regions *r = input->regions;
    uint32_t size[3];
    texture_size(r, guide->plan.side, size);
    gls_status status = gls_guide_threshold.create(guide, device, input);
    if (!status) status = gls_texture_create(device, GLS_TEXTURE_R32UI, size, "regions", &guide->texture[1]);
    if (status) return status;
    /* Upload layer by layer; what lies behind the last word is never read. */
    size_t layer = (size_t)size[0] * size[1];
    uint32_t *words = calloc(layer, sizeof *words);
    if (!words) return gls_fail(GLS_ERR_MEMORY, "out of memory for regions");
    for (uint32_t z = 0; z < size[2] && !status; z++) {
        size_t first = z * layer, n = r->n_words - first < layer ? r->n_words - first : layer;
        memcpy(words, r->word + first, n * sizeof *words);
        status = gls_texture_write_texels(guide->texture[1], (const uint32_t[3]){0, 0, z},
                                          (const uint32_t[3]){size[0], size[1], 1}, words);
    }
    free(words);
    return status;
}

/* Appends the three rows of an affine map as vec4 literals. */
static void append_map(gls_text *out, const float map[3][4])
{
    for (int a = 0; a < 3; a++) {
        char text[4][40];
        for (int c = 0; c < 4; c++) gls_glsl_float(map[a][c], text[c]);
        gls_text_printf(out, "vec4(%s, %s, %s, %s), ", text[0], text[1], text[2], text[3]);
    }
}

/* Returns rows of source, GROUP and SPHERE, for all grids and spheres of the regions; the caller frees the text. */
static char *rows_of(const gls_regions *r)
{
    gls_text out = {0};
    for (size_t i = 0; i < r->n_groups; i++) {
        const gls_region_group *g = &r->group[i];
        gls_text_puts(&out, "GROUP(");
        append_map(&out, (const float(*)[4])g->map);
        gls_text_printf(&out, "ivec3(%d, %d, %d), %zu)\n", g->size[0], g->size[1], g->size[2], g->first);
    }
    for (size_t i = 0; i < r->n_spheres; i++) {
        const gls_region_sphere *s = &r->sphere[i];
        char text[4][40];
        for (int a = 0; a < 3; a++) gls_glsl_float((float)s->centre[a], text[a]);
        gls_glsl_float((float)fmin(s->radius * s->radius, FLT_MAX), text[3]);
        gls_text_puts(&out, "SPHERE(");
        append_map(&out, (const float(*)[4])r->world);
        gls_text_printf(&out, "vec3(%s, %s, %s), %s, %uu)\n", text[0], text[1], text[2], text[3], s->bits);
    }
    return gls_text_take(&out);
}

/* Returns a row of source for each role whose regions end half-streamlines, if the input has such regions; the caller
 * frees the text. */
static char *end_rows_of(const gls_regions *r)
{
    gls_text out = {0};
    for (size_t i = 0; i < N_POINT_RULES; i++) {
        const point_rule *rule = &point_rules[i];
        uint32_t bits = gls_regions_bits(r, rule->role);
        if (bits && rule->end_symbol)
            gls_text_printf(&out, "REGION_END(%uu, %s, %s)\n", bits, rule->end_symbol,
                            rule->verdict != GLS_VERDICT_KEPT ? "true" : "false");
    }
    return gls_text_take(&out);
}

/* Defines `name` as an unsigned number. */
static void define_bits(gls_define_list *d, const char *name, uint32_t bits, const char *reason)
{
    gls_text text = {0};
    gls_text_printf(&text, "%uu", bits);
    gls_define_text(d, name, gls_text_take(&text), reason);
}

/* Index of the lowest bit that is set; 0 if there is none. */
static int first_bit(uint32_t bits)
{
    return bits ? __builtin_ctz(bits) : 0;
}

/* Adds the definitions and rows that glsl/guide/region_rules.glsl needs. */
static void define(const gls_guide_plan *plan, const gls_track_params *params, const gls_track_input *input,
                   gls_define_list *d)
{
    const gls_regions *r = input->regions;
    uint32_t include = wanted_bits(r), ordered = gls_regions_bits(r, GLS_REGION_INCLUDE_ORDERED);
    define_bits(d, "REGIONS_INCLUDE", include, "bits of the include regions");
    gls_define_int(d, "INCLUDE_FIRST", first_bit(include), "lowest bit of the include regions");
    gls_define_int(d, "ORDERED_REGIONS", __builtin_popcount(ordered), "regions that must be met in order");
    gls_define_int(d, "ORDERED_FIRST", first_bit(ordered), "lowest bit of the ordered regions");
    gls_define_int(d, "VISITED_REGIONS", plan->n_visits, "regions whose first visit is remembered");
    gls_define_int(d, "STOP_AT_ALL", params->stop_at_all,
                   "a half-streamline ends where all include regions have been met");
    gls_define_int(d, "REGIONS_REMEMBERED", plan->remembers, "regions that were met are remembered");
    gls_define_int(d, "GUIDE_MET", plan->met, "word of the regions that were met");
    gls_define_int(d, "GUIDE_ORDER", plan->order, "word of the next region in order");
    gls_define_int(d, "GUIDE_VISITS", plan->visits, "first word of the first visits");
    gls_define_int(d, "GUIDE_LEAVING", plan->leaving, "first word of the regions that half-streamlines may not leave");
    gls_define_int(d, "LEAVING_REGIONS", __builtin_popcount(gls_regions_bits(r, GLS_REGION_STOP_LEAVING)),
                   "number of regions that half-streamlines may not leave");
    define_bits(d, "REGIONS_LEAVING", gls_regions_bits(r, GLS_REGION_STOP_LEAVING),
                "bits of the regions that half-streamlines may not leave");
    define_bits(d, "REGIONS_REJECTING", rejecting_bits(r), "bits of regions that reject streamlines");
    gls_define_int(d, "REGION_SIDE", plan->side, "texels along the axes of the texture of regions");
    define_bits(d, "REGIONS_MASK", gls_regions_bits(r, GLS_REGION_MASK), "bits of the mask regions");
    define_bits(d, "REGIONS_TRACKING", gls_regions_bits(r, GLS_REGION_TRACKING_MASK),
                "bits of the tracking-mask regions");
    gls_define_slot(d, "region_rows", rows_of(r), "grids and spheres of the regions");
    gls_define_slot(d, "region_ends", end_rows_of(r), "regions that end a half-streamline");
}

/* Whether `bits`, those of a point, include all bits of a role. Regions of a role may share a bit; a role without
 * regions has none. */
static bool has_all(const gls_regions *r, gls_region_role role, uint32_t bits)
{
    uint32_t wanted = gls_regions_bits(r, role);
    return (bits & wanted) == wanted;
}

/* Whether streamlines may start at a seed: the seed lies in the mask and in the tracking mask, if there are such
 * regions, and in no region that rejects streamlines. */
static bool admits(const gls_guide *guide, const float seed[3])
{
    const gls_regions *r = guide->regions;
    uint32_t bits = gls_regions_at(r, seed);
    return has_all(r, GLS_REGION_MASK, bits) && has_all(r, GLS_REGION_TRACKING_MASK, bits) &&
           verdict_on(r, bits) == GLS_VERDICT_KEPT;
}

/* If a half-streamline has more than `points` parts of steps, cuts it to `points` parts and sets its end to `end`;
 * otherwise changes nothing. */
static void cut(gls_guide_half *half, uint32_t points, gls_end end)
{
    if (half->parts <= points) return;
    half->parts = points;
    half->end = end;
}

/* For stop_at_all: cuts the backward half-streamline where it has met all include regions that are not in `seen`, the
 * bits of regions that the seed and the forward half-streamline met. */
static void stop_at_all(const gls_guide *guide, uint32_t seen, gls_guide_half half[2])
{
    const gls_guide_plan *plan = &guide->plan;
    uint32_t include = wanted_bits(guide->regions), last = 0;
    int first = first_bit(include);
    if (!include || !gls_guide_was_tracked(&half[0])) return;
    for (uint32_t i = 0; i < plan->n_visits; i++) {
        uint32_t visit = half[0].memory[plan->visits + i];
        if (seen >> (first + (int)i) & 1) continue;
        if (visit == 0 || visit > half[0].parts) return;
        if (visit > last) last = visit;
    }
    cut(&half[0], last, GLS_END_ALL_INCLUDED);
}

/* --- Half-streamlines that are judged each by itself, as by probtrackx2. */

/* WAITS: the half-streamline counts if the other half-streamline meets the missing regions. */
typedef enum half_verdict { COUNTS, WAITS, REJECTED } half_verdict;

/* Returns which include regions a half-streamline met after the seed: bit i stands for the i-th of them, from 0. */
static uint32_t include_met(const gls_guide_plan *plan, const gls_guide_half *half)
{
    uint32_t met = 0;
    for (uint32_t i = 0; i < plan->n_visits && gls_guide_was_tracked(half); i++)
        met |= (half->memory[plan->visits + i] > 0) << i;
    return met;
}

/* Whether a half-streamline met include regions in the order in which they were given: when it first met a region, it
 * had met all regions given earlier, except those in `met`, which the other half-streamline met. Those of --include-any
 * count as one that was given last. */
static bool keeps_order(const gls_guide_plan *plan, const gls_guide_half *half, uint32_t met)
{
    for (uint32_t i = 0; i < plan->n_visits; i++)
        for (uint32_t k = 0; k < i && half->memory[plan->visits + i] > 0; k++) {
            const uint32_t visit = half->memory[plan->visits + k];
            if (!(met >> k & 1) && (visit == 0 || visit > half->memory[plan->visits + i])) return false;
        }
    return true;
}

/* Returns the verdict on a half-streamline. *met: a bit for each include region that the other half-streamline met, as
 * far as that counts; adds the bits of those that this one met. A half-streamline that ended in an exclude region, or
 * was not tracked, is rejected and adds none. */
static half_verdict on_half(const gls_guide *guide, const gls_guide_half *half, uint32_t *met)
{
    const uint32_t all = (uint32_t)((UINT64_C(1) << guide->plan.n_visits) - 1);
    if (!gls_guide_was_tracked(half) || half->end == GLS_END_EXCLUDE) return REJECTED;
    const bool ordered =
        guide->params.region_rule != GLS_REGION_RULE_HALVES_ORDERED || keeps_order(&guide->plan, half, *met);
    *met |= include_met(&guide->plan, half);
    if (!ordered) return REJECTED;
    if (*met == all) return COUNTS;
    if (*met == 0) return REJECTED;
    return guide->params.region_rule == GLS_REGION_RULE_HALVES_ANY ? COUNTS : WAITS;
}

/* Returns the verdict on a streamline whose half-streamlines are judged each by itself, and sets the parts of each that
 * does not count to 0. The forward half-streamline is judged first, and may have to wait for the backward one. */
static gls_verdict judge_halves(const gls_guide *guide, gls_guide_half half[2])
{
    uint32_t met = 0;
    const half_verdict first = on_half(guide, &half[1], &met);
    if (guide->params.region_rule == GLS_REGION_RULE_HALVES_ONE_WAY) met = 0;
    const half_verdict second = on_half(guide, &half[0], &met);
    const bool counts[2] = {second == COUNTS, first == COUNTS || (first == WAITS && second == COUNTS)};
    for (int h = 0; h < 2; h++)
        if (!counts[h]) half[h].parts = 0;
    if (counts[0] || counts[1]) return GLS_VERDICT_KEPT;
    return half[0].end == GLS_END_EXCLUDE || half[1].end == GLS_END_EXCLUDE ? GLS_VERDICT_EXCLUDED
                                                                            : GLS_VERDICT_MISSED_INCLUDE;
}

/* The verdict of the regions on a streamline. Include regions are left to includes(), unless half-streamlines are
 * judged each by itself. */
static gls_verdict judge(const gls_guide *guide, const float seed[3], uint32_t max_parts, gls_guide_half half[2],
                         uint32_t *met)
{
    (void)max_parts;
    const gls_regions *r = guide->regions;
    const gls_guide_plan *plan = &guide->plan;
    uint32_t ordered = gls_regions_bits(r, GLS_REGION_INCLUDE_ORDERED);
    /* The seed belongs to both half-streamlines. The forward one comes first, because the backward one may be cut where
     * the two together have met all regions. */
    *met = gls_regions_at(r, seed);
    for (int h = 1; h >= 0; h--) {
        if (h == 0 && guide->params.stop_at_all) stop_at_all(guide, *met, half);
        if (plan->remembers && gls_guide_was_tracked(&half[h])) *met |= half[h].memory[plan->met];
    }
    /* Judge whole streamlines or half-streamlines, as region_rule says; then the order of the ordered regions. */
    gls_verdict verdict =
        guide->params.region_rule != GLS_REGION_RULE_STREAMLINE ? judge_halves(guide, half) : verdict_on(r, *met);
    if (verdict != GLS_VERDICT_KEPT || !ordered) return verdict;
    return half[1].memory[plan->order] == (uint32_t)__builtin_popcount(ordered) ? GLS_VERDICT_KEPT
                                                                                : GLS_VERDICT_WRONG_ORDER;
}

/* Whether the streamline, after every cut, meets all include regions; true without include regions, and where
 * half-streamlines are judged each by itself. */
static bool includes(const gls_guide *guide, const float seed[3], const gls_guide_half half[2], uint32_t *met)
{
    const gls_regions *r = guide->regions;
    const gls_guide_plan *plan = &guide->plan;
    const uint32_t include = wanted_bits(r);
    if (!include) return true;
    /* A visit counts only if the half-streamline keeps its point. */
    uint32_t seen = gls_regions_at(r, seed) & include;
    for (int h = 0; h < 2; h++)
        for (uint32_t i = 0; i < plan->n_visits && gls_guide_was_tracked(&half[h]); i++) {
            const uint32_t visit = half[h].memory[plan->visits + i];
            if (visit > 0 && visit <= half[h].parts) seen |= 1u << ((uint32_t)first_bit(include) + i);
        }
    *met = (*met & ~include) | seen;
    return seen == include || guide->params.region_rule != GLS_REGION_RULE_STREAMLINE;
}

const gls_guide_kind gls_guide_regions = {
    .name = "regions",
    .shader = "guide/regions.glsl",
    .by_voxel = true,
    .plan = plan,
    .define = define,
    .create = create,
    .uniforms = gls_stop_map_uniforms,
    .admits = admits,
    .judge = judge,
    .includes = includes,
};
